"""The parts of a text classifier before they are fitted, and what is checked of its input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils import compute_sample_weight, get_tags
from sklearn.utils.validation import has_fit_parameter

from bayesift.arrays import Array
from bayesift.classifier.labels import Labels
from bayesift.classifier.texts import Texts
from bayesift.errors import DataError
from bayesift.features import SelectTerms
from bayesift.models import make_learner, weighting_of
from bayesift.text import TermVectorizer, TextEmbedder, WordVectors
from bayesift.validation import check_sample_weight


def model_for(model: Any, *, multilabel: bool) -> Any:
    """The model by name or as it is; one that takes no indicator matrix is to be fitted to each category in turn."""
    if isinstance(model, str):
        return make_learner(model, multilabel=multilabel)
    able = isinstance(model, MetaEstimatorMixin) or get_tags(model).classifier_tags.multi_label
    return OneVsRestClassifier(model) if multilabel and not able else model


def vectorizer_for(model: Any, vectorizer: TermVectorizer | None) -> TermVectorizer:
    """An unfitted copy of the vectorizer with the weighting that the model wants, unless it has its own."""
    made: TermVectorizer = TermVectorizer() if vectorizer is None else clone(vectorizer)
    return made if made.weighting is not None else made.set_params(weighting=weighting_of(model))


def may_use_pairs(model: Any, vectorizer: TermVectorizer) -> bool:
    """Whether a model can try word pairs, and the vectorizer makes plain words of texts."""
    plain = vectorizer.analyzer == "word" and vectorizer.tokenizer is None and tuple(vectorizer.ngram_range) == (1, 1)
    able = has_fit_parameter(model, "ngram_lengths") and model.effort != "quick"
    return plain and able and vectorizer.weighting == "sublinear-tf-idf"


def embedder_for(embedder: TextEmbedder | str | None, model: Any, given: Texts) -> TextEmbedder | None:
    """An unfitted copy of the embedder, or by "auto" that of the extra `embeddings` for a model that weighs vectors."""
    if isinstance(embedder, str):
        if embedder != "auto":
            raise ValueError(f"embedder must be a TextEmbedder, 'auto' or None, got {embedder!r}")
        able = not given.are_vectors and has_fit_parameter(model, "ngram_lengths") and model.effort != "quick"
        return TextEmbedder() if able and WordVectors.installed() is not None else None
    if embedder is not None and given.are_vectors:
        raise DataError("an embedder needs texts; the documents are vectors")
    return None if embedder is None else TextEmbedder(**embedder.get_params(deep=False))


def beside(rows: Any, dense: Array, ngram_lengths: Array | None = None) -> tuple[sparse.csr_array, Array]:
    """Terms and, behind them, columns of vectors; and the number of words of each column, 0 for vectors."""
    joined = sparse.csr_array(sparse.hstack([rows, sparse.csr_array(dense)]))
    lengths = np.ones(rows.shape[1], dtype=np.int64) if ngram_lengths is None else ngram_lengths
    return joined, np.append(lengths, np.zeros(dense.shape[1], dtype=np.int64))


def used_columns(model: Any, ngram_lengths: Array) -> Array:
    """Which columns a model that was given their numbers of words uses."""
    of_words = (ngram_lengths == 1) | (ngram_lengths > 1) & model.uses_pairs_
    used: Array = of_words | (ngram_lengths == 0) & model.uses_vectors_
    return used


def feature_masks(model: Any, selection: SelectTerms | None, *, multilabel: bool) -> dict[str, Any]:
    """The `feature_mask` argument of `fit`, for a model that accepts it and a selection per category."""
    if selection is None or not selection.per_category or not has_fit_parameter(model, "feature_mask"):
        return {}
    kept = np.flatnonzero(selection.get_support())
    feature_mask = sparse.csr_array(sparse.csc_array(selection.feature_mask_)[:, kept])
    # Two classes share one model, that of the second.
    return {"feature_mask": feature_mask if multilabel or len(selection.classes_) > 2 else feature_mask[[1]]}


def weigh_classes(
    model: Any, class_weight: Mapping[Any, float] | str | None, target: Labels, weights: Array | None
) -> tuple[Any, Array | None]:
    """The model and the weights of the texts, with the weights of the classes in the one or the other."""
    if isinstance(class_weight, Mapping):
        unknown = [label for label in class_weight if label not in target.form.classes]
        if unknown:
            raise DataError(f"class_weight names {unknown[0]!r}, which no text has for a label")
    if class_weight is not None and "class_weight" in model.get_params(deep=False):
        return clone(model).set_params(class_weight=class_weight), weights
    takes_weights = has_fit_parameter(model, "sample_weight")
    if class_weight is not None:
        if target.form.multilabel or not takes_weights:
            raise DataError(f"a {type(model).__name__} takes no class_weight")
        of_classes = compute_sample_weight(class_weight, target.y)
        weights = of_classes if weights is None else weights * of_classes
    if weights is not None and not takes_weights:
        raise DataError(f"a {type(model).__name__} takes no sample_weight")
    return model, weights


def check_lengths(given: Texts, target: Labels, sample_weight: Any) -> Array | None:
    """The sample weights as an array; refuses texts, labels and weights of different numbers."""
    if given.n_texts is not None and given.n_texts != target.n_given:
        raise DataError(f"{given.n_texts:,} texts, but {target.n_given:,} labels")
    return None if sample_weight is None else check_sample_weight(sample_weight, target.n_given)


def missing_message(target: Labels) -> str:
    """What is said of texts without a label."""
    texts = f"{target.n_missing:,} {'text' if target.n_missing == 1 else 'texts'} without a label"
    if len(target.rows) == target.n_given:
        return f"{texts} kept as texts of no category"
    return f"{texts} left out; multilabel=True (--multilabel) keeps them as texts of no category"
