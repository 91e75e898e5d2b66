"""Estimators: categories from term vectors; `state` says how they are stored without pickle."""

from bayesift.models.naive_bayes import (
    AbsoluteDiscounting,
    Dirichlet,
    HierarchicalShrinkage,
    JelinekMercer,
    Laplace,
    MaximumLikelihood,
    NaiveBayesClassifier,
)
from bayesift.models.registry import LEARNERS, Learner, make_learner, register
from bayesift.models.state import Storable

__all__ = [
    "LEARNERS",
    "AbsoluteDiscounting",
    "Dirichlet",
    "HierarchicalShrinkage",
    "JelinekMercer",
    "Laplace",
    "Learner",
    "MaximumLikelihood",
    "NaiveBayesClassifier",
    "Storable",
    "make_learner",
    "register",
]
