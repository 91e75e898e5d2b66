"""Naive Bayes: class language models and their smoothings."""

from bayesift.models.naive_bayes.classifier import NaiveBayesClassifier
from bayesift.models.naive_bayes.language_models import (
    SMOOTHINGS,
    AbsoluteDiscounting,
    Bags,
    CategoryCounts,
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
