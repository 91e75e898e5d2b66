"""Naive Bayes: class language models and their smoothings."""

from bayesift.models.naive_bayes.bags import Bags
from bayesift.models.naive_bayes.classifier import NaiveBayesClassifier
from bayesift.models.naive_bayes.counts import CategoryCounts
from bayesift.models.naive_bayes.kinds import SMOOTHINGS
from bayesift.models.naive_bayes.shrinkage import HierarchicalShrinkage
from bayesift.models.naive_bayes.smoothing import (
    AbsoluteDiscounting,
    Dirichlet,
    JelinekMercer,
    Laplace,
    MaximumLikelihood,
    Smoothing,
)

__all__ = [
    "SMOOTHINGS",
    "AbsoluteDiscounting",
    "Bags",
    "CategoryCounts",
    "Dirichlet",
    "HierarchicalShrinkage",
    "JelinekMercer",
    "Laplace",
    "MaximumLikelihood",
    "NaiveBayesClassifier",
    "Smoothing",
]
