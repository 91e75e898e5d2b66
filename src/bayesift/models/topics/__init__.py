"""Topics: sparse non-negative codes of documents, similarity and classifiers."""

from bayesift.models.topics.classifier import TopicSimilarityClassifier, TopicSVMClassifier
from bayesift.models.topics.inspection import (
    npmi_coherence,
)
from bayesift.models.topics.similarity import (
    RankedDocument,
    TopicReason,
    TopicSimilarity,
    more_like_this,
)
from bayesift.models.topics.sparse_nmf import SparseNMF

__all__ = [
    "RankedDocument",
    "SparseNMF",
    "TopicReason",
    "TopicSVMClassifier",
    "TopicSimilarity",
    "TopicSimilarityClassifier",
    "more_like_this",
    "npmi_coherence",
]
