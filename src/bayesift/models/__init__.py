"""Estimators: categories from term vectors; `state` says how they are stored without pickle."""

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
from bayesift.models.online import FlipNoise, LogitNoise, OnlinePerceptron, ProbitNoise, select_by_evidence
from bayesift.models.registry import LEARNERS, Learner, make_learner, register
from bayesift.models.state import Storable
from bayesift.models.storable import STORABLE, is_storable

__all__ = [
    "LEARNERS",
    "STORABLE",
    "AbsoluteDiscounting",
    "Dirichlet",
    "FlipNoise",
    "GaussianPrior",
    "HierarchicalShrinkage",
    "JeffreysPrior",
    "JelinekMercer",
    "Laplace",
    "LaplacePrior",
    "Learner",
    "LogF",
    "Logit",
    "LogitNoise",
    "MaximumLikelihood",
    "NaiveBayesClassifier",
    "OnlinePerceptron",
    "Probit",
    "ProbitNoise",
    "SparseBayesClassifier",
    "Storable",
    "is_storable",
    "make_learner",
    "register",
    "select_by_evidence",
]
