"""The one protocol of the leaderboard.

Every contender is fitted with each of its settings on the training documents without a fold, three times, and scores
the fold. From these scores two choices are made, each judged on folds it was not fitted to: setting and threshold
rule for decisions (the mean of micro and macro F1), and setting and way to probabilities for forecasts (log loss).
Thresholds are those with the best F1 (SCut), drawn by some amount to the one of all categories together; documents of
one class get the class with the highest score. Probabilities are the contender's own, or its scores turned into
probabilities. Then it is fitted to all training documents, and the test documents are judged once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from bayesift.evaluation import bootstrap_f1, bootstrap_mean, expected_calibration_error
from bayesift.reproduce.leaderboard.contenders import Contender, contender
from bayesift.reproduce.leaderboard.data import Split, split_of
from bayesift.reproduce.leaderboard.forecasts import PlattLines, Temperature, losses
from bayesift.thresholds import SCut, category_folds

Array = np.ndarray[Any, Any]
N_FOLDS = 3
SHRINKAGES = (0.0, 2.0, 5.0, 10.0, 30.0)
_QUICK_SETTINGS = 2


@dataclass(frozen=True, eq=False)
class Scored:
    """What a fitted contender says of documents: scores, and probabilities if it has any."""

    scores: Array
    probabilities: Array | None


def measure_contender(*, corpus: str, name: str, quick: bool, seed: int) -> dict[str, Any]:
    """All that the leaderboard shows of one contender on one corpus."""
    entry = contender(name)
    split = split_of(corpus, entry.weighting, quick)
    folds = category_folds(split.Y, n_folds=N_FOLDS, random_state=seed)
    settings = list(entry.settings)[:_QUICK_SETTINGS] if quick else list(entry.settings)
    tried = [_held_out(entry, setting, split, folds) for setting in settings]
    decider, shrinkage = _best(tried, lambda held: _decision_worths(held, split, folds))
    forecaster, own = _best(tried, lambda held: _forecast_worths(held, split, folds))
    fitted = {place: _final(entry, settings[place], split, folds) for place in {decider, forecaster}}
    decisions = _decide(split, folds, tried[decider], fitted[decider], shrinkage)
    probabilities = _forecast(split, folds, tried[forecaster], fitted[forecaster], own)
    return {
        **_measured(split, decisions, probabilities, seed),
        "size": fitted[decider].size,
        "setting": _told(settings[decider]) + ("" if not split.multilabel else f"; shrinkage {shrinkage:g}"),
        "forecast setting": _told(settings[forecaster]) + ("; own probabilities" if own else "; from scores"),
        "decisions": np.flatnonzero(decisions).tolist(),
        "seconds": {"fit": fitted[decider].seconds},
    }


def truth_of(*, corpus: str, quick: bool, seed: int) -> dict[str, Any]:
    """The labels of the test documents, for the sign tests."""
    split = split_of(corpus, "binary", quick)
    return {"shape": list(split.Y_test.shape), "labels": np.flatnonzero(split.Y_test).tolist()}


def _held_out(entry: Contender, setting: Mapping[str, Any], split: Split, folds: Array) -> Scored:
    """What is said of each document when it is held out; rows of documents that never are stay 0."""
    scores = np.zeros(split.Y.shape)
    probabilities = np.zeros(split.Y.shape)
    own = True
    for fold in range(N_FOLDS):
        train, held = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        model = entry.make(setting, split.multilabel).fit(split.X[train], split.target[train])
        said = _say(model, split.X[held], split)
        scores[held] = said.scores
        own = said.probabilities is not None
        if said.probabilities is not None:
            probabilities[held] = said.probabilities
    return Scored(scores, probabilities if own else None)


def _say(model: Any, X: Any, split: Split) -> Scored:
    own = np.asarray(model.predict_proba(X)) if hasattr(model, "predict_proba") else None
    for method in ("predict_log_odds", "decision_function"):
        if hasattr(model, method):
            scores = np.asarray(getattr(model, method)(X))
            break
    else:
        assert own is not None
        clipped = np.clip(own, 1e-15, 1 - 1e-15)
        scores = np.log(clipped) - np.log1p(-clipped) if split.multilabel else np.log(clipped)
    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores])
    return Scored(scores, own)


def _best(tried: list[Scored], worths: Callable[[Scored], dict[Any, float]]) -> tuple[int, Any]:
    """The place of the best setting, and the best way to use it; of equals the first."""
    found = {(place, way): worth for place, held in enumerate(tried) for way, worth in worths(held).items()}
    return max(found, key=lambda choice: found[choice])


def _decision_worths(held: Scored, split: Split, folds: Array) -> dict[float, float]:
    """The mean of micro and macro F1 by shrinkage; a fold is decided by thresholds of the others."""
    if not split.multilabel:
        return {0.0: _f1(split.Y[folds >= 0], _one_class(held.scores[folds >= 0]))}
    worths = {}
    for shrinkage in SHRINKAGES:
        decided = np.zeros(split.Y.shape, dtype=bool)
        for fold in range(N_FOLDS):
            others, here = (folds >= 0) & (folds != fold), folds == fold
            decided[here] = _rule(shrinkage).fit(split.Y[others], held.scores[others]).decide(held.scores[here])
        worths[shrinkage] = _f1(split.Y[folds >= 0], decided[folds >= 0])
    return worths


def _rule(shrinkage: float) -> SCut:
    return SCut() if shrinkage == 0 else SCut(shrinkage=shrinkage, minimum_f1=0.0)


def _f1(Y: Array, decided: Array) -> float:
    true, sizes = (decided & (Y > 0)).sum(axis=0), decided.sum(axis=0) + Y.sum(axis=0)
    each = np.divide(2 * true, sizes, out=np.zeros(len(sizes)), where=sizes > 0)
    return float(true.sum() * 2 / max(sizes.sum(), 1) + each.mean()) / 2


def _one_class(scores: Array) -> Array:
    decided = np.zeros(scores.shape, dtype=bool)
    decided[np.arange(len(scores)), np.argmax(scores, axis=1)] = True
    return decided


def _forecast_worths(held: Scored, split: Split, folds: Array) -> dict[bool, float]:
    """Minus the log loss of own probabilities (True), and of those made of scores by the other folds (False)."""
    made = np.zeros(split.Y.shape)
    for fold in range(N_FOLDS):
        others, here = (folds >= 0) & (folds != fold), folds == fold
        made[here] = _line(split).fit(held.scores[others], split.Y[others]).probabilities(held.scores[here])
    ways = {False: made} if held.probabilities is None else {True: held.probabilities, False: made}
    rows = folds >= 0
    return {
        way: -float(losses(split.Y[rows], forecast[rows], multilabel=split.multilabel).mean())
        for way, forecast in ways.items()
    }


def _line(split: Split) -> Any:
    return PlattLines() if split.multilabel else Temperature()


@dataclass(frozen=True, eq=False)
class _Fitted:
    kept: Array  # scores of the documents that were never held out
    test: Scored
    size: int
    seconds: float


def _final(entry: Contender, setting: Mapping[str, Any], split: Split, folds: Array) -> _Fitted:
    start = time.process_time()
    model = entry.make(setting, split.multilabel).fit(split.X, split.target)
    seconds = time.process_time() - start
    never = np.flatnonzero(folds < 0)
    kept = _say(model, split.X[never], split).scores if len(never) else np.zeros((0, split.Y.shape[1]))
    return _Fitted(kept, _say(model, split.X_test, split), size_of(model), seconds)


def _known(folds: Array, held: Scored, fitted: _Fitted) -> Array:
    """Scores of held-out documents; those that never were have the scores of the model that knew them."""
    scores = held.scores.copy()
    scores[folds < 0] = fitted.kept
    return scores


def _decide(split: Split, folds: Array, held: Scored, fitted: _Fitted, shrinkage: float) -> Array:
    if not split.multilabel:
        return _one_class(fitted.test.scores)
    rule = _rule(shrinkage).fit(split.Y, _known(folds, held, fitted))
    return np.asarray(rule.decide(fitted.test.scores), dtype=bool)


def _forecast(split: Split, folds: Array, held: Scored, fitted: _Fitted, own: bool) -> Array:
    if own:
        assert fitted.test.probabilities is not None
        return fitted.test.probabilities
    probabilities: Array = _line(split).fit(_known(folds, held, fitted), split.Y).probabilities(fitted.test.scores)
    return probabilities


def _measured(split: Split, decisions: Array, probabilities: Array, seed: int) -> dict[str, Any]:
    found = bootstrap_f1(split.Y_test, decisions, random_state=seed)
    loss = bootstrap_mean(losses(split.Y_test, probabilities, multilabel=split.multilabel), random_state=seed)
    error = expected_calibration_error(split.Y_test, np.clip(probabilities, 0.0, 1.0))
    return {
        "micro F1": found.micro.times(100),
        "macro F1": found.macro.times(100),
        "log loss": loss.times(1000),
        "ECE": 1000 * float(error),
    }


def _told(setting: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in setting.items()) or "nothing to set"


def size_of(model: Any, seen: set[int] | None = None) -> int:
    """Bytes of all arrays that a model holds, however deep.

    Examples
    --------
    >>> size_of({"weights": np.zeros(10), "again": [np.zeros(5)]})
    120
    """
    seen = set() if seen is None else seen
    if id(model) in seen:
        return 0
    seen.add(id(model))
    if isinstance(model, np.ndarray):
        return int(model.nbytes) if model.dtype != object else sum(size_of(part, seen) for part in model.ravel())
    if sparse.issparse(model):
        return sum(size_of(getattr(model, name, None), seen) for name in ("data", "indices", "indptr"))
    parts: list[Any] = []
    if isinstance(model, dict):
        parts = list(model.values())
    elif isinstance(model, list | tuple | set):
        parts = list(model)
    else:
        slots = [name for kind in type(model).__mro__ for name in getattr(kind, "__slots__", ())]
        parts = [*getattr(model, "__dict__", {}).values(), *(getattr(model, name, None) for name in slots)]
    return sum(size_of(part, seen) for part in parts if not callable(part))
