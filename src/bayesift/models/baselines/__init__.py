"""Classifiers with one hyperplane a category and no probabilities."""

from bayesift.models.baselines.hybrid import HybridClassifier
from bayesift.models.baselines.linear_svm import LinearSVM, NBSVMClassifier
from bayesift.models.baselines.neighbors import RocchioClassifier

__all__ = ["HybridClassifier", "LinearSVM", "NBSVMClassifier", "RocchioClassifier"]
