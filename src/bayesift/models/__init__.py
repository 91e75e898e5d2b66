"""Estimators: categories from term vectors; `state` says how they are stored without pickle."""

from bayesift.models.hyperplanes import (
    HybridClassifier,
    NBSVMClassifier,
    RocchioClassifier,
    SupportVectorClassifier,
)
from bayesift.models.linear import (
    GaussianPrior,
    JeffreysPrior,
    LaplacePrior,
    LogF,
    Logit,
    Probit,
    SparseBayesClassifier,
)
from bayesift.models.naive_bayes import (
    AbsoluteDiscounting,
    Dirichlet,
    HierarchicalShrinkage,
    JelinekMercer,
    Laplace,
    MaximumLikelihood,
    NaiveBayesClassifier,
)
from bayesift.models.neighbors import NeighborsClassifier
from bayesift.models.registry import LEARNERS, Learner, make_learner, register
from bayesift.models.state import Storable
from bayesift.models.storable import STORABLE, is_storable
from bayesift.models.topics import SparseNMF, TopicSimilarity, TopicSimilarityClassifier, TopicSVMClassifier

__all__ = [
    "LEARNERS",
    "STORABLE",
    "AbsoluteDiscounting",
    "Dirichlet",
    "GaussianPrior",
    "HierarchicalShrinkage",
    "HybridClassifier",
    "JeffreysPrior",
    "JelinekMercer",
    "Laplace",
    "LaplacePrior",
    "Learner",
    "LogF",
    "Logit",
    "MaximumLikelihood",
    "NBSVMClassifier",
    "NaiveBayesClassifier",
    "NeighborsClassifier",
    "Probit",
    "RocchioClassifier",
    "SparseBayesClassifier",
    "SparseNMF",
    "Storable",
    "SupportVectorClassifier",
    "TopicSVMClassifier",
    "TopicSimilarity",
    "TopicSimilarityClassifier",
    "is_storable",
    "make_learner",
    "register",
]
