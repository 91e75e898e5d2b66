"""Topics: sparse non-negative codes of documents, a similarity learned on them, and classifiers on both."""

from bayesift.models.topics.classifier import TopicSimilarityClassifier, TopicSVMClassifier
from bayesift.models.topics.coherence import npmi_coherence
from bayesift.models.topics.plots import hoyer_sparsity, sparsity_curves, topic_bars
from bayesift.models.topics.ranking import RankedDocument, TopicReason, more_like_this
from bayesift.models.topics.similarity import TopicSimilarity
from bayesift.models.topics.sparse_nmf import SparseNMF

__all__ = [
    "RankedDocument",
    "SparseNMF",
    "TopicReason",
    "TopicSVMClassifier",
    "TopicSimilarity",
    "TopicSimilarityClassifier",
    "hoyer_sparsity",
    "more_like_this",
    "npmi_coherence",
    "sparsity_curves",
    "topic_bars",
]
