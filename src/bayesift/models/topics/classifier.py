"""Categories of the documents that are nearest in topics."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from bayesift.errors import DataError
from bayesift.models.state import Arrays, Parameters, classes_of, describe_classes, expect
from bayesift.models.topics.neighbours import chosen_neighbours, nearest, weighted_votes
from bayesift.models.topics.nested import encoder_for_categories, part_of, prefixed
from bayesift.models.topics.similarity import TopicSimilarity
from bayesift.models.topics.sparse_nmf import SparseNMF
from bayesift.validation import check_targets, check_terms

Array = np.ndarray[Any, Any]


class TopicSimilarityClassifier(ClassifierMixin, BaseEstimator):
    """The categories of the nearest documents, by the probability that they share a category.

        P(c | d) = (pi_c + sum_n P(d ~ n) [n in c]) / (1 + sum_n P(d ~ n))

    n runs over the nearest training documents, P(d ~ n) is their `TopicSimilarity`, pi_c the share of category c: what
    would be said of a document that resembles none.

    Parameters
    ----------
    encoder : a `SparseNMF`; None takes one with the paper's importance and penalty
    similarity : a `TopicSimilarity`; None takes one with its defaults
    n_neighbors : how many of the nearest documents have a say; None chooses by leave-one-out on training documents
    t : with an indicator matrix, `predict` assigns the t most probable categories (RCut); None those above one half

    Attributes
    ----------
    classes_ : labels, sorted; or the numbers of the indicator's columns
    multilabel_ : whether y was an indicator matrix
    encoder_, similarity_ : the fitted parts
    n_neighbors_ : how many documents have a say
    points_ : the training documents, scaled so that distances are what the similarity wants
    members_ : categories x training documents

    References
    ----------
    Qiu, Huang & Wu, "Probabilistic text categorization using sparse topical encoding".

    Examples
    --------
    >>> X = [[3, 2, 0, 0], [1, 1, 0, 0], [0, 0, 2, 2], [0, 0, 1, 1]]
    >>> model = TopicSimilarityClassifier(encoder=SparseNMF(n_components=2), n_neighbors=2)
    >>> model.fit(X, ["grain", "grain", "crude", "crude"]).predict([[1, 0, 0, 0], [0, 0, 0, 1]]).tolist()
    ['grain', 'crude']
    """

    classes_: Array
    multilabel_: bool
    encoder_: SparseNMF
    similarity_: TopicSimilarity
    points_: Array
    members_: sparse.csr_array

    def __init__(
        self,
        *,
        encoder: SparseNMF | None = None,
        similarity: TopicSimilarity | None = None,
        n_neighbors: int | None = None,
        t: int | None = 1,
    ) -> None:
        self.encoder = encoder
        self.similarity = similarity
        self.n_neighbors = n_neighbors
        self.t = t

    def fit(self, X: Any, y: Any) -> Self:
        """Find topics, learn which of them tell categories apart, and keep the codes of the documents."""
        targets = check_targets(y)
        rows = check_terms(self, X, n_documents=targets.n_documents, non_negative=True)
        self._check_parameters()
        if not targets.multilabel and len(targets.classes) < 2:
            raise ValueError(f"y has only one class, {targets.classes[0]!r}; a classifier needs two")
        self.encoder_ = encoder_for_categories(self.encoder)
        codes = self.encoder_.fit_transform(rows)
        self.similarity_ = clone(TopicSimilarity() if self.similarity is None else self.similarity)
        self.similarity_.fit(codes, targets)
        self.points_ = self.similarity_.points(codes)
        self.members_ = targets.members
        self.n_neighbors_ = self.n_neighbors or chosen_neighbours(
            self.points_, self.members_, self._likeness, check_random_state(self.similarity_.random_state)
        )
        self.classes_, self.multilabel_ = targets.classes, targets.multilabel
        return self

    def predict_proba(self, X: Any) -> Array:
        """P(c | d), documents x categories."""
        places, distances = self.neighbours(X)
        likeness = self._likeness(distances)
        votes = weighted_votes(places, likeness, sparse.csr_array(self.members_.T, dtype=np.float64))
        priors = np.diff(self.members_.indptr) / self.members_.shape[1]
        total = 1.0 + likeness.sum(axis=1, keepdims=True)
        probabilities: Array = (votes + priors) / total
        return np.minimum(probabilities, 1.0)

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of P(c | d), documents x categories."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> Array:
        """The most probable class, or the indicator of the `t` most probable categories."""
        probabilities = self.predict_proba(X)
        if not self.multilabel_:
            classes: Array = self.classes_[np.argmax(probabilities, axis=1)]
            return classes
        if self.t is None:
            return (probabilities > 0.5).astype(np.int64)
        chosen = np.argsort(-probabilities, axis=1, kind="stable")[:, : self.t]
        decisions = np.zeros(probabilities.shape, dtype=np.int64)
        np.put_along_axis(decisions, chosen, 1, axis=1)
        return decisions

    def neighbours(self, X: Any) -> tuple[Array, Array]:
        """The rows of the nearest training documents, nearest first, and their squared distances."""
        check_is_fitted(self)
        rows = check_terms(self, X, reset=False, non_negative=True)
        return nearest(self.similarity_.points(self.encoder_.transform(rows)), self.points_, self.n_neighbors_)

    def get_state(self) -> tuple[Parameters, Arrays]:
        """All that `from_state` needs: parameters that JSON can hold, and arrays."""
        check_is_fitted(self)
        encoder, encoder_arrays = self.encoder_.get_state()
        similarity, similarity_arrays = self.similarity_.get_state()
        parameters: Parameters = {
            "n_neighbors": [None if self.n_neighbors is None else int(self.n_neighbors), int(self.n_neighbors_)],
            "t": None if self.t is None else int(self.t),
            "encoder": encoder,
            "similarity": similarity,
            "given": [self.encoder is not None, self.similarity is not None],
            "classes": describe_classes(self.classes_),
            "multilabel": self.multilabel_,
        }
        members = {"indices": self.members_.indices, "indptr": self.members_.indptr}
        own = {"points": self.points_, **members}
        return parameters, {**own, **prefixed("encoder", encoder_arrays), **prefixed("similarity", similarity_arrays)}

    @classmethod
    def from_state(cls, parameters: Parameters, arrays: Arrays) -> Self:
        """The classifier of `get_state`, with identical probabilities; refuses what does not fit together."""
        encoder = SparseNMF.from_state(expect(parameters, "encoder", dict), part_of(arrays, "encoder"))
        similarity = TopicSimilarity.from_state(expect(parameters, "similarity", dict), part_of(arrays, "similarity"))
        given, neighbours = expect(parameters, "given", list), expect(parameters, "n_neighbors", list)
        if (
            len(given) != 2
            or len(neighbours) != 2
            or not all(_is_count(n) for n in (neighbours[0] or 1, neighbours[1]))
        ):
            raise DataError("not a stored TopicSimilarityClassifier")
        model = cls(
            encoder=clone(encoder) if given[0] else None,
            similarity=clone(similarity) if given[1] else None,
            n_neighbors=neighbours[0],
            t=None if parameters.get("t") is None else expect(parameters, "t", int),
        )
        model.encoder_, model.similarity_, model.n_neighbors_ = encoder, similarity, neighbours[1]
        model.points_, model.members_ = _documents(arrays)
        model.multilabel_ = expect(parameters, "multilabel", bool)
        model.classes_ = classes_of(expect(parameters, "classes", dict), model.members_.shape[0])
        model.n_features_in_ = encoder.n_features_in_
        try:
            model._check_parameters()
        except ValueError as error:
            raise DataError(f"not a stored TopicSimilarityClassifier: {error}") from error
        if not model.points_.shape[1] == len(similarity.weights_) == encoder.components_.shape[0]:
            raise DataError("its topics do not fit together")
        if not model.multilabel_ and not np.array_equal(model.classes_, np.unique(model.classes_)):
            raise DataError("its classes are not sorted")
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.poor_score = True  # of two features, codes of length one keep only an angle
        return tags

    def _likeness(self, distances: Array) -> Array:
        return np.asarray(expit(self.similarity_.log_odds_at(distances)))

    def _check_parameters(self) -> None:
        if self.n_neighbors is not None and self.n_neighbors < 1:
            raise ValueError(f"n_neighbors must be at least 1 or None, got {self.n_neighbors!r}")
        if self.t is not None and self.t < 1:
            raise ValueError(f"t must be at least 1 or None, got {self.t!r}")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _documents(arrays: Arrays) -> tuple[Array, sparse.csr_array]:
    """The points of the training documents and the documents of each category."""
    try:
        points, indices, indptr = (np.array(arrays[name]) for name in ("points", "indices", "indptr"))
        if points.dtype != np.float64 or points.ndim != 2 or not np.all(np.isfinite(points)) or not len(points):
            raise DataError("its documents must be finite numbers")
        if any(part.dtype.kind != "i" or part.ndim != 1 for part in (indices, indptr)) or len(indptr) < 2:
            raise DataError("the documents of its categories must be whole numbers")
        ones = np.ones(len(indices), dtype=np.int8)
        members = sparse.csr_array((ones, indices, indptr), shape=(len(indptr) - 1, len(points)))
        members.check_format()
        if np.any(np.diff(members.indptr) < 0) or not members.has_canonical_format:
            raise DataError("the documents of its categories are not in order")
    except KeyError as error:
        raise DataError(f"its arrays lack {error.args[0]}") from error
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"not the documents of a classifier: {error}") from error
    return points, members
