"""A refused call changes nothing: the state of an online classifier before and after."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from bayesift.models.linear import SparseBayesClassifier
from bayesift.models.naive_bayes import NaiveBayesClassifier
from bayesift.models.online import (
    OnlineGaussianProcess,
    OnlinePerceptron,
    OnlineStackedClassifier,
)
from bayesift.models.online.laplace import OnlineLaplaceClassifier
from bayesift.state import encode

X = np.array([[1.0, 0.2, 0.0], [0.9, 0.0, 0.1], [0.1, 1.0, 0.0], [0.0, 0.8, 0.3]])
LABELS = np.array(["crude", "crude", "grain", "grain"])
INDICATOR = np.array([[1, 0, 0], [1, 0, 1], [0, 1, 0], [0, 1, 1]])

MODELS: dict[str, Any] = {
    "perceptron": OnlinePerceptron(covariance="diagonal"),
    "full perceptron": OnlinePerceptron(),
    "gaussian process": OnlineGaussianProcess(max_basis=3),
    "online stack": OnlineStackedClassifier(),
    "online laplace": OnlineLaplaceClassifier(),
    "sparse bayes": SparseBayesClassifier(),
    "naive bayes": NaiveBayesClassifier(),
}

WITH_NAN = np.where(X == 1.0, np.nan, X)
REFUSED: dict[str, tuple[Any, Any, str]] = {
    "NaN": (WITH_NAN, LABELS, "contains NaN"),
    "NaN in new columns": (np.hstack([X, WITH_NAN]), LABELS, "contains NaN"),
    "fewer columns": (X[:, :2], LABELS, "X has 2 features"),
    "fewer labels": (np.hstack([X, X]), LABELS[1:3], "inconsistent numbers of samples"),
    "labels missing": (np.hstack([X, X]), None, "requires y to be passed"),
    "an indicator": (np.hstack([X, X]), INDICATOR, "indicator matrix before"),
    "numbers for names": (np.hstack([X, X]), np.arange(4), "cannot be both names and numbers"),
    "no documents": (X[:0], LABELS[:0], "0 sample|minimum of 1|only one class"),
}
REFUSED_AT_FIRST = ("NaN", "NaN in new columns", "fewer labels", "labels missing")


def state_of(model: Any) -> Any:
    """All that a file would hold, and the plain attributes beside it."""
    plain = (bool, int, float, str, tuple, type(None))
    beside = {name: value for name, value in vars(model).items() if isinstance(value, plain)}
    return encode(model), beside, sorted(vars(model))


def started(name: str) -> Any:
    return clone(MODELS[name]).partial_fit(X, LABELS)


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("name", MODELS)
def test_a_refused_batch_changes_nothing(name: str, case: str) -> None:
    model = started(name)
    before, probabilities = state_of(model), model.predict_proba(X)
    documents, labels, reason = REFUSED[case]
    with pytest.raises(ValueError, match=reason):
        model.partial_fit(documents, labels)
    assert state_of(model) == before
    assert np.array_equal(model.predict_proba(X), probabilities)
    assert np.array_equal(
        model.partial_fit(X, LABELS).predict_proba(X),
        started(name).partial_fit(X, LABELS).predict_proba(X),
    )


@pytest.mark.parametrize("case", REFUSED_AT_FIRST)
@pytest.mark.parametrize("name", MODELS)
def test_a_refused_first_batch_leaves_an_unfitted_model(name: str, case: str) -> None:
    model = clone(MODELS[name])
    before = sorted(vars(model))
    documents, labels, reason = REFUSED[case]
    with pytest.raises(ValueError, match=reason):
        model.partial_fit(documents, labels)
    assert sorted(vars(model)) == before


@pytest.mark.parametrize("name", ["perceptron", "full perceptron", "gaussian process"])
def test_a_refused_class_changes_nothing(name: str) -> None:
    model = started(name)
    before = state_of(model)
    for more in ({}, {"classes": ["crude", "gold", "grain"]}):
        with pytest.raises(ValueError, match="new classes"):
            model.partial_fit(np.hstack([X, X]), ["gold", "crude", "grain", "gold"], **more)
        assert state_of(model) == before


@pytest.mark.parametrize("name", ["perceptron", "full perceptron", "gaussian process"])
def test_a_refused_feature_mask_changes_nothing(name: str) -> None:
    model = clone(MODELS[name]).partial_fit(X, LABELS, feature_mask=[[True, False, True]])
    before = state_of(model)
    for mask in ([[True]], np.ones((2, 6)), np.ones((1, 3))):
        with pytest.raises(ValueError, match="feature_mask"):
            model.partial_fit(np.hstack([X, X]), LABELS, feature_mask=mask)
        assert state_of(model) == before


@pytest.mark.parametrize("weights", [[1.0], [-1.0] * 4, [np.nan] * 4])
def test_refused_weights_change_nothing(weights: list[float]) -> None:
    model = started("naive bayes")
    before = state_of(model)
    with pytest.raises(ValueError, match=r"sample.weight"):
        model.partial_fit(np.hstack([X, X]), ["gold"] * 4, sample_weight=weights)
    assert state_of(model) == before


def test_refused_priors_change_nothing() -> None:
    model = NaiveBayesClassifier(priors=[0.5, 0.5]).partial_fit(X, LABELS)
    before = state_of(model)
    with pytest.raises(ValueError, match="priors must be 3 probabilities"):
        model.partial_fit(np.hstack([X, X]), ["gold"] * 4)
    assert state_of(model) == before


def test_a_refused_batch_begins_no_new_pass() -> None:
    model = started("sparse bayes")
    before = encode(model.stream_)
    with pytest.raises(ValueError, match="contains NaN"):
        model.partial_fit(WITH_NAN, LABELS, new_pass=True)
    assert encode(model.stream_) == before
