"""Naive Bayes: class language models and their smoothings."""

from bayesift.models.naive_bayes.classifier import NaiveBayesClassifier
from bayesift.models.naive_bayes.counts import Bags, CategoryCounts
from bayesift.models.naive_bayes.smoothing import (
    SMOOTHINGS,
    AbsoluteDiscounting,
    Dirichlet,
    HierarchicalShrinkage,
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
