"""The classes a model file may hold, by the kind it names; a new learner that can be saved is added here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bayesift.models.committee import CommitteeClassifier, JuryClassifier
from bayesift.models.hyperplanes import (
    HybridClassifier,
    NBSVMClassifier,
    RocchioClassifier,
    SupportVectorClassifier,
)
from bayesift.models.linear import SparseBayesClassifier
from bayesift.models.naive_bayes import NaiveBayesClassifier
from bayesift.models.neighbors import NeighborsClassifier
from bayesift.models.online import OnlineGaussianProcess, OnlinePerceptron
from bayesift.models.specialised import SpecialisedClassifier
from bayesift.models.state import Storable
from bayesift.models.topics import TopicSimilarityClassifier, TopicSVMClassifier

STORABLE: Mapping[str, type[Storable]] = MappingProxyType(
    {
        "naive-bayes": NaiveBayesClassifier,
        "sparse-bayes": SparseBayesClassifier,
        "support-vectors": SupportVectorClassifier,
        "committee": CommitteeClassifier,
        "jury": JuryClassifier,
        "nbsvm": NBSVMClassifier,
        "hybrid": HybridClassifier,
        "rocchio": RocchioClassifier,
        "neighbors": NeighborsClassifier,
        "topics-similarity": TopicSimilarityClassifier,
        "topics-svm": TopicSVMClassifier,
        "online-gp": OnlineGaussianProcess,
        "specialised": SpecialisedClassifier,
        "online-perceptron": OnlinePerceptron,
    }
)


def is_storable(model: object) -> bool:
    """Whether a model file may hold such an estimator.

    Examples
    --------
    >>> is_storable(NaiveBayesClassifier()), is_storable(object())
    (True, False)
    """
    return type(model) in STORABLE.values()
