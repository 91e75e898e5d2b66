"""Classifiers with one hyperplane a category and no probabilities."""

from bayesift.models.baselines.hybrid import HybridClassifier
from bayesift.models.baselines.linear_svm import LinearSVM
from bayesift.models.baselines.nbsvm import NBSVMClassifier
from bayesift.models.baselines.rocchio import RocchioClassifier

__all__ = ["HybridClassifier", "LinearSVM", "NBSVMClassifier", "RocchioClassifier"]
