"""What a scorer needs to know of a fitted classifier, as a dictionary that JSON can hold.

Whatever `scorer.js` cannot do as Python does is refused here.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse

import bayesift
from bayesift.arrays import Array, IntArray
from bayesift.classifier import TextClassifier
from bayesift.classifier.features import TextFeatures
from bayesift.errors import DataError
from bayesift.kernels.likelihoods import LOGIT, PROBIT
from bayesift.models.baselines import HybridClassifier, LinearSVM, NBSVMClassifier
from bayesift.models.ensemble import AutoClassifier, StackedClassifier
from bayesift.models.linear import SparseBayesClassifier, SpikeSlabClassifier
from bayesift.models.linear.links import link_of
from bayesift.models.naive_bayes import NaiveBayesClassifier
from bayesift.text import TermVectorizer, stop_words_of
from bayesift.text.scripts import (
    N_CODE_POINTS,
    character_kinds,
    white_space,
    word_characters,
)
from bayesift.thresholds import Bayes, ThresholdRule

_STACKED = (AutoClassifier, StackedClassifier)
_LINEAR = (SparseBayesClassifier, SpikeSlabClassifier)
_WITHOUT_PROBABILITIES = (LinearSVM, NBSVMClassifier, HybridClassifier)
_EXPORTED = (*_STACKED, *_LINEAR, *_WITHOUT_PROBABILITIES, NaiveBayesClassifier)
_LINKS = {LOGIT: "logit", PROBIT: "probit"}
_OF_LENGTH_ONE = ("sublinear-tf-idf", "ltc")
# Shared characters of two terms are written as one character from this one on.
_FIRST_OF_SHARED = ord("!")
_MOST_SHARED = 90
_CASED, _IGNORABLE = 1, 2


def content_of(classifier: TextClassifier, name: str) -> dict[str, Any]:
    """Return what a scorer of this classifier holds; refuse what it cannot do as Python does."""
    features = classifier.features_
    model = classifier.model_
    _check_features(features)
    _check_model(model, features)
    is_bayes = isinstance(model, NaiveBayesClassifier)
    weights, intercepts = _linear_form(model)
    words = features.vectorizer
    assert words is not None
    chosen = np.arange(len(words.vocabulary_))
    if features.selection is not None:
        chosen = np.flatnonzero(features.selection.get_support())
    sizes = [len(chosen), *features.block_sizes().values()]
    if sum(sizes) != weights.shape[1]:
        raise DataError("the model has other columns than its vectorizer; fit it again")
    ends = np.cumsum(sizes)
    parts = [weights[:, end - size : end] for size, end in zip(sizes, ends, strict=True)]
    exact = is_bayes or not _has_length_one(words)
    content: dict[str, Any] = {
        "name": name,
        "version": bayesift.__version__,
        "quality": [],
        "categories": list(classifier.categories_),
        "multilabel": classifier.multilabel_,
        "link": _link(classifier),
        "is_bayes": is_bayes,
        "calibration": None,
        "intercepts": _base64(intercepts, "<f8"),
        "thresholds": _base64(_thresholds(classifier), "<f8"),
        "characters": _characters(),
        "words": _terms(words, chosen, _packed(parts[0], exact=exact)),
        "spelling": None,
        "table": None,
    }
    if classifier.expected_quality_ is not None:
        content["quality"] = classifier.expected_quality_.describe()
    calibration = getattr(model, "calibration_", None)
    if calibration is not None:
        content["calibration"] = asdict(calibration)
    if features.characters is not None:
        every = np.arange(sizes[1])
        exact = not _has_length_one(features.characters)
        packed = _packed(parts[1], exact=exact)
        content["spelling"] = _terms(features.characters, every, packed)
    if features.table is not None:
        content["table"] = {
            "columns": [asdict(column) for column in features.table.columns],
            "names": features.table.names,
            "weights": _packed(parts[-1], exact=True),
        }
    return content


def _check_features(features: TextFeatures) -> None:
    words = features.vectorizer
    if words is None:
        raise DataError("a model of vectors cannot be exported: a scorer reads texts")
    if features.embedder is not None:
        raise DataError(
            "a model with word vectors cannot be exported; fit one without: --vectors none"
        )
    for vectorizer in (words, features.characters):
        if vectorizer is None:
            continue
        if vectorizer.tokenizer is not None:
            raise DataError("a model with a tokenizer of its own cannot be exported")
        if vectorizer.stemmer is not None:
            raise DataError("a model of stems cannot be exported; fit one without a stemmer")
        if vectorizer.strip_html:
            raise DataError("a model that strips HTML cannot be exported; give it plain texts")


def _check_model(model: Any, features: TextFeatures) -> None:
    name = type(model).__name__
    if type(model) not in _EXPORTED:
        raise DataError(
            f"a {name} cannot be exported; the learners auto, committee, naive-bayes, logistic-, "
            "probit- and linear svm can"
        )
    if isinstance(model, StackedClassifier):
        is_linear = model.neighbors_ is None and model.online_stack_ is None
        if not is_linear or model.label_coupling_ is not None:
            raise DataError(
                "of stacked models only linear ones can be exported, such as committee"
            )
    if isinstance(model, _LINEAR) and link_of(model.link).code not in _LINKS:
        raise DataError("a model with the log-F link cannot be exported")
    if isinstance(model, NaiveBayesClassifier) and features.kinds:
        raise DataError("naive Bayes with other columns than words cannot be exported")


def _linear_form(model: Any) -> tuple[Any, Array]:
    """Return the weights (categories x columns) and the intercepts."""
    if not isinstance(model, NaiveBayesClassifier):
        return model.coef_, model.intercept_
    if model.multilabel_:
        return model.log_odds_coef_, model.log_odds_intercept_
    return model.feature_log_prob_, model.class_log_prior_


def _link(classifier: TextClassifier) -> str | None:
    """Return what makes probabilities of scores; None for a model without."""
    model = classifier.model_
    if isinstance(model, _WITHOUT_PROBABILITIES):
        return None
    is_one_of_several = not classifier.multilabel_ and len(model.classes_) > 2
    if isinstance(model, NaiveBayesClassifier):
        return "logit" if model.multilabel_ else "softmax"
    if isinstance(model, _LINEAR):
        return "softmax" if model.softmax_ else _LINKS[link_of(model.link).code]
    return "softmax" if is_one_of_several else "logit"


def _thresholds(classifier: TextClassifier) -> Array:
    """Return the thresholds, if the decision on a document does not depend on others."""
    rule = classifier.estimator_.rule_
    decides = type(rule).decide is ThresholdRule.decide
    own = type(rule).thresholds_for not in (ThresholdRule.thresholds_for, Bayes.thresholds_for)
    if not decides or (own and getattr(rule, "batch", True)):
        raise DataError(
            f"the rule {type(rule).__name__} cannot be exported: it decides on documents together"
        )
    return np.asarray(rule.thresholds_)


def _has_length_one(vectorizer: TermVectorizer) -> bool:
    return vectorizer.cosine or vectorizer.weighting in _OF_LENGTH_ONE


def _terms(
    vectorizer: TermVectorizer, chosen: IntArray, weights: dict[str, Any]
) -> dict[str, Any]:
    """Return the vocabulary, the chosen terms first, and how texts become counts and weights.

    Terms without a weight stay: they count in the length of documents, and as known words.
    """
    stop_words = vectorizer.stop_words or ()
    if isinstance(stop_words, str):
        stop_words = stop_words_of(stop_words)
    n_terms = len(vectorizer.vocabulary_)
    others = np.setdiff1d(np.arange(n_terms), chosen)
    order = np.concatenate([chosen, others]).astype(np.intp)
    names = vectorizer.vocabulary_.names
    return {
        "options": {
            "weighting": vectorizer.weighting or "tf",
            "has_length_one": _has_length_one(vectorizer),
            "separate_ngrams": vectorizer.separate_ngrams,
            "ngram_range": list(vectorizer.ngram_range),
            "lowercase": vectorizer.lowercase,
            "min_length": vectorizer.min_length,
            "analyzer": vectorizer.analyzer,
            "kinds": _runs(character_kinds(vectorizer.characters, vectorizer.unspaced)),
            "stop_words": sorted(stop_words),
        },
        "terms": _shortened([names[column] for column in order]),
        "n_known": len(chosen),
        "document_frequencies": vectorizer.document_frequencies_[order].tolist(),
        "n_documents": vectorizer.n_documents_,
        "weights": weights,
    }


def _shortened(terms: Sequence[str]) -> list[str]:
    """Write each term as how many characters it shares with the one before, and the rest."""
    written = []
    before = ""
    for term in terms:
        shared = min(_n_shared(before, term), _MOST_SHARED)
        written.append(chr(_FIRST_OF_SHARED + shared) + term[shared:])
        before = term
    return written


def _n_shared(one: str, other: str) -> int:
    """Count the characters that both begin with."""
    shared = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        shared += 1
    return shared


def _packed(weights: Any, *, exact: bool) -> dict[str, Any]:
    """Return the weights of columns: all of them, or if that is shorter those other than 0.

    Numbers of 32 bits are enough for documents of length one, whose scores are small.
    """
    number = "<f8" if exact else "<f4"
    size = np.dtype(number).itemsize
    n_rows, n_columns = weights.shape
    n_used = weights.nnz if sparse.issparse(weights) else np.count_nonzero(weights)
    packed: dict[str, Any] = {"n_rows": n_rows, "exact": exact, "counts": None, "rows": None}
    if (size + 4) * n_used < size * n_rows * n_columns:
        by_column = sparse.csr_array(sparse.csc_array(weights).T)
        packed["counts"] = np.diff(by_column.indptr).tolist()
        packed["rows"] = _base64(by_column.indices, "<u4")
        packed["values"] = _base64(by_column.data, number)
    else:
        dense = weights.toarray() if sparse.issparse(weights) else weights
        packed["values"] = _base64(dense.T, number)
    return packed


def _base64(array: Array, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode()


@cache
def _characters() -> dict[str, Any]:
    """Return Python's own tables of characters: engines may have another version of Unicode."""
    characters = [chr(point) for point in range(N_CODE_POINTS)]
    lowered = {each: each.lower() for each in characters if each.lower() != each}
    # The final sigma tells of the characters before it which are cased, and which do not matter.
    cased = np.array([(each + "Σ").lower()[-1] == "ς" for each in characters])
    passed = np.array([("a" + each + "Σ").lower()[-1] == "ς" for each in characters])
    cases = np.select([cased, passed], [_CASED, _IGNORABLE], 0)
    return {
        "lowered": lowered,
        "cases": _runs(cases),
        "spaces": _runs(white_space()),
        "words": _runs(word_characters("words")),
    }


def _runs(values: Array) -> list[int]:
    """Return the lengths and values of runs: [length, value, length, value, ...]."""
    starts = np.flatnonzero(np.diff(values, prepend=-1))
    lengths = np.diff(starts, append=len(values))
    pairs: list[int] = np.column_stack([lengths, values[starts]]).ravel().tolist()
    return pairs
