"""Estimators: categories from term vectors."""

from bayesift.models.baselines import (
    HybridClassifier,
    LinearSVM,
    NBSVMClassifier,
    RocchioClassifier,
)
from bayesift.models.baselines.neighbors import NeighborsClassifier
from bayesift.models.baselines.svm import KernelSVM
from bayesift.models.ensemble import AutoClassifier, CommonRareClassifier, StackedClassifier
from bayesift.models.linear import (
    GammaPrior,
    GaussianPrior,
    JeffreysPrior,
    LaplacePrior,
    LogF,
    Logit,
    Probit,
    SparseBayesClassifier,
    SpikeSlabClassifier,
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
from bayesift.models.online import (
    FlipNoise,
    LogitNoise,
    OnlineGaussianProcess,
    OnlineLaplaceClassifier,
    OnlinePerceptron,
    OnlineStackedClassifier,
    ProbitNoise,
    select_by_evidence,
)
from bayesift.models.registry import (
    LEARNERS,
    STORABLE,
    Learner,
    is_storable,
    make_learner,
    register,
    weighting_of,
)
from bayesift.models.topics import (
    SparseNMF,
    TopicSimilarity,
    TopicSimilarityClassifier,
    TopicSVMClassifier,
)

__all__ = [
    "LEARNERS",
    "STORABLE",
    "AbsoluteDiscounting",
    "AutoClassifier",
    "CommonRareClassifier",
    "Dirichlet",
    "FlipNoise",
    "GammaPrior",
    "GaussianPrior",
    "HierarchicalShrinkage",
    "HybridClassifier",
    "JeffreysPrior",
    "JelinekMercer",
    "KernelSVM",
    "Laplace",
    "LaplacePrior",
    "Learner",
    "LinearSVM",
    "LogF",
    "Logit",
    "LogitNoise",
    "MaximumLikelihood",
    "NBSVMClassifier",
    "NaiveBayesClassifier",
    "NeighborsClassifier",
    "OnlineGaussianProcess",
    "OnlineLaplaceClassifier",
    "OnlinePerceptron",
    "OnlineStackedClassifier",
    "Probit",
    "ProbitNoise",
    "RocchioClassifier",
    "SparseBayesClassifier",
    "SparseNMF",
    "SpikeSlabClassifier",
    "StackedClassifier",
    "TopicSVMClassifier",
    "TopicSimilarity",
    "TopicSimilarityClassifier",
    "is_storable",
    "make_learner",
    "register",
    "select_by_evidence",
    "weighting_of",
]
