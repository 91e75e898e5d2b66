"""Estimators: categories from term vectors; `state` says how they are stored without pickle."""

from bayesift.models.committee import CommitteeClassifier, JuryClassifier
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
from bayesift.models.margin import MarginClassifier
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
from bayesift.models.online import (
    FlipNoise,
    LogitNoise,
    OnlineGaussianProcess,
    OnlinePerceptron,
    ProbitNoise,
    select_by_evidence,
)
from bayesift.models.registry import LEARNERS, Learner, make_learner, register
from bayesift.models.specialised import SpecialisedClassifier
from bayesift.models.state import Storable
from bayesift.models.storable import STORABLE, is_storable
from bayesift.models.topics import SparseNMF, TopicSimilarity, TopicSimilarityClassifier, TopicSVMClassifier

__all__ = [
    "LEARNERS",
    "STORABLE",
    "AbsoluteDiscounting",
    "CommitteeClassifier",
    "Dirichlet",
    "FlipNoise",
    "GaussianPrior",
    "HierarchicalShrinkage",
    "HybridClassifier",
    "JeffreysPrior",
    "JelinekMercer",
    "JuryClassifier",
    "Laplace",
    "LaplacePrior",
    "Learner",
    "LogF",
    "Logit",
    "LogitNoise",
    "MarginClassifier",
    "MaximumLikelihood",
    "NBSVMClassifier",
    "NaiveBayesClassifier",
    "NeighborsClassifier",
    "OnlineGaussianProcess",
    "OnlinePerceptron",
    "Probit",
    "ProbitNoise",
    "RocchioClassifier",
    "SparseBayesClassifier",
    "SparseNMF",
    "SpecialisedClassifier",
    "Storable",
    "SupportVectorClassifier",
    "TopicSVMClassifier",
    "TopicSimilarity",
    "TopicSimilarityClassifier",
    "is_storable",
    "make_learner",
    "register",
    "select_by_evidence",
]
