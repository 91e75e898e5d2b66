"""Classifiers with one hyperplane a category and no probabilities."""

from bayesift.models.hyperplanes.hybrid import HybridClassifier
from bayesift.models.hyperplanes.nbsvm import NBSVMClassifier
from bayesift.models.hyperplanes.rocchio import RocchioClassifier
from bayesift.models.hyperplanes.support_vectors import SupportVectorClassifier

__all__ = ["HybridClassifier", "NBSVMClassifier", "RocchioClassifier", "SupportVectorClassifier"]
