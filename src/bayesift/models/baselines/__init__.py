"""Classifiers with one hyperplane a category and no probabilities."""

from bayesift.models.baselines.hybrid import HybridClassifier
from bayesift.models.baselines.neighbors import RocchioClassifier
from bayesift.models.baselines.svm import LinearSVM, NBSVMClassifier

__all__ = ["HybridClassifier", "LinearSVM", "NBSVMClassifier", "RocchioClassifier"]
