"""Baselines of the field: support vector machines, nearest neighbours, Rocchio, hybrids."""

from bayesift.models.baselines.centred import NaiveBayesLogisticClassifier
from bayesift.models.baselines.hybrid import HybridClassifier
from bayesift.models.baselines.neighbors import NeighborsClassifier, RocchioClassifier
from bayesift.models.baselines.svm import KernelSVM, LinearSVM, NBSVMClassifier

__all__ = [
    "HybridClassifier",
    "KernelSVM",
    "LinearSVM",
    "NBSVMClassifier",
    "NaiveBayesLogisticClassifier",
    "NeighborsClassifier",
    "RocchioClassifier",
]
