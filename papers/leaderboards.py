"""Leaderboards: all models and their peers on five corpora under one protocol.

Every contender scores the training documents out of fold, with each of its settings, by three-fold
cross-validation. From these scores two choices are made, each evaluated on folds it was not fitted
to: setting and threshold rule for decisions (the mean of micro and macro F1), and setting and
source of probabilities for forecasts (log loss). Thresholds are those with the best F1 (SCut),
shrunk towards the one of all categories together; documents of one class get the class with the
highest score. Probabilities are the contender's own, or its scores put through a fitted line. Then
the contender is fitted to all training documents, and the test documents are classified once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from bayesift.arrays import Array
from bayesift.evaluation import (
    bootstrap_f1,
    bootstrap_mean,
    expected_calibration_error,
    significance_table,
)
from bayesift.text import TermVectorizer
from bayesift.thresholds import SCut, category_folds
from papers.contenders import OURS, PEERS, Contender, contender, definition_of
from papers.corpora import corpus_part, matrix_of
from papers.experiment import (
    Absent,
    Experiment,
    Extent,
    Grid,
    Reading,
    Task,
    TimeRatio,
    reading,
)
from papers.forecasts import PlattLines, Temperature, losses

N_FOLDS = 3
SHRINKAGES = (0.0, 2.0, 5.0, 10.0, 30.0)
MEASURES = ("micro F1", "macro F1", "log loss", "ECE")
REFERENCE = "sklearn_logistic"
_QUICK_SETTINGS = 2


class Split(NamedTuple):
    """Vectors and categories (indicators) of training and test documents."""

    X: Any
    Y: Array
    X_test: Any
    Y_test: Array
    multilabel: bool

    @property
    def target(self) -> Array:
        """The target of estimators: the indicator, or the number of the class."""
        return self.Y if self.multilabel else np.argmax(self.Y, axis=1)


@lru_cache(maxsize=2)
def split_of(name: str, weighting: Any, quick: bool) -> Split:
    """Return a corpus as vectors of stems in at least two documents; RCV1 comes weighted."""
    corpus = corpus_part(name, quick)
    train, test = corpus.split("train"), corpus.split("test")
    Y, Y_test = train.indicator.toarray(), test.indicator.toarray()
    if corpus.vectors is None:
        vectorizer = TermVectorizer(weighting=weighting, stemmer="porter", min_df=2)
        X, X_test = vectorizer.fit_transform(train.texts), vectorizer.transform(test.texts)
    else:
        assert train.vectors is not None
        assert test.vectors is not None
        X, X_test = train.vectors, test.vectors
        if weighting == "binary":
            X, X_test = X.sign(), X_test.sign()
    learned = Y.any(axis=0)
    return Split(
        X, Y[:, learned], X_test, Y_test[:, learned], multilabel=not corpus.is_single_label
    )


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores of documents, and probabilities if the contender has its own."""

    scores: Array
    probabilities: Array | None


def measure_contender(*, corpus: str, name: str, quick: bool, seed: int) -> dict[str, Any]:
    """All measures of one contender on one corpus."""
    entry = contender(name)
    split = split_of(corpus, entry.weighting, quick)
    folds = category_folds(split.Y, n_folds=N_FOLDS, random_state=seed)
    settings = list(entry.settings)[:_QUICK_SETTINGS] if quick else list(entry.settings)
    tried = [_out_of_fold(entry, setting, split, folds) for setting in settings]
    decider, shrinkage = _best(tried, lambda held: _decision_scores(held, split, folds))
    forecaster, own = _best(tried, lambda held: _forecast_scores(held, split, folds))
    fitted = {
        place: _final(entry, settings[place], split, folds) for place in {decider, forecaster}
    }
    decisions = _decide(split, folds, tried[decider], fitted[decider], shrinkage)
    probabilities = _forecast(split, folds, tried[forecaster], fitted[forecaster], own)
    return {
        **_measured(split, decisions, probabilities, seed),
        "size": fitted[decider].size,
        "setting": _described(settings[decider])
        + ("" if not split.multilabel else f"; shrinkage {shrinkage:g}"),
        "forecast setting": _described(settings[forecaster])
        + ("; own probabilities" if own else "; from scores"),
        "decisions": np.flatnonzero(decisions).tolist(),
        "seconds": {"fit": fitted[decider].seconds},
    }


def truth_of(*, corpus: str, quick: bool, seed: int) -> dict[str, Any]:
    """Return the labels of the test documents, for the sign tests."""
    split = split_of(corpus, "binary", quick)
    return {"shape": list(split.Y_test.shape), "labels": np.flatnonzero(split.Y_test).tolist()}


def _out_of_fold(
    entry: Contender, setting: Mapping[str, Any], split: Split, folds: Array
) -> Scored:
    """Scores of documents by models that were not fitted to them.

    Rows of documents in no fold stay 0.
    """
    scores = np.zeros(split.Y.shape)
    probabilities = np.zeros(split.Y.shape)
    own = True
    for fold in range(N_FOLDS):
        train, held = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        model = entry.make(setting, split.multilabel).fit(split.X[train], split.target[train])
        found = _score(model, split.X[held], split)
        scores[held] = found.scores
        own = found.probabilities is not None
        if found.probabilities is not None:
            probabilities[held] = found.probabilities
    return Scored(scores, probabilities if own else None)


def _score(model: Any, X: Any, split: Split) -> Scored:
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


def _best(tried: list[Scored], values: Callable[[Scored], dict[Any, float]]) -> tuple[int, Any]:
    """Return the index of the best setting and the best way to use it; ties take the first."""
    found = {
        (place, way): value
        for place, held in enumerate(tried)
        for way, value in values(held).items()
    }
    return max(found, key=lambda choice: found[choice])


def _decision_scores(held: Scored, split: Split, folds: Array) -> dict[float, float]:
    """Return the mean of micro and macro F1 by shrinkage.

    Thresholds of a fold are fitted on the others.
    """
    if not split.multilabel:
        return {0.0: _f1(split.Y[folds >= 0], _one_class(held.scores[folds >= 0]))}
    values = {}
    for shrinkage in SHRINKAGES:
        decided = np.zeros(split.Y.shape, dtype=bool)
        for fold in range(N_FOLDS):
            others, here = (folds >= 0) & (folds != fold), folds == fold
            decided[here] = (
                _rule(shrinkage)
                .fit(split.Y[others], held.scores[others])
                .decide(held.scores[here])
            )
        values[shrinkage] = _f1(split.Y[folds >= 0], decided[folds >= 0])
    return values


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


def _forecast_scores(held: Scored, split: Split, folds: Array) -> dict[bool, float]:
    """Return minus the log loss of a model's own probabilities (True) and of its scores (False).

    Scores are put through a line that is fitted on the other folds.
    """
    made = np.zeros(split.Y.shape)
    for fold in range(N_FOLDS):
        others, here = (folds >= 0) & (folds != fold), folds == fold
        made[here] = (
            _line(split)
            .fit(held.scores[others], split.Y[others])
            .probabilities(held.scores[here])
        )
    ways = (
        {False: made} if held.probabilities is None else {True: held.probabilities, False: made}
    )
    rows = folds >= 0
    return {
        way: -float(losses(split.Y[rows], forecast[rows], multilabel=split.multilabel).mean())
        for way, forecast in ways.items()
    }


def _line(split: Split) -> Any:
    return PlattLines() if split.multilabel else Temperature()


@dataclass(frozen=True, eq=False)
class _Fitted:
    kept: Array  # scores of the documents in no fold
    test: Scored
    size: int
    seconds: float


def _final(entry: Contender, setting: Mapping[str, Any], split: Split, folds: Array) -> _Fitted:
    start = time.process_time()
    model = entry.make(setting, split.multilabel).fit(split.X, split.target)
    seconds = time.process_time() - start
    never = np.flatnonzero(folds < 0)
    kept = (
        _score(model, split.X[never], split).scores
        if len(never)
        else np.zeros((0, split.Y.shape[1]))
    )
    return _Fitted(kept, _score(model, split.X_test, split), size_of(model), seconds)


def _all_scores(folds: Array, held: Scored, fitted: _Fitted) -> Array:
    """Scores out of fold; documents in no fold have the scores of the final model."""
    scores = held.scores.copy()
    scores[folds < 0] = fitted.kept
    return scores


def _decide(
    split: Split, folds: Array, held: Scored, fitted: _Fitted, shrinkage: float
) -> Array:
    if not split.multilabel:
        return _one_class(fitted.test.scores)
    rule = _rule(shrinkage).fit(split.Y, _all_scores(folds, held, fitted))
    return np.asarray(rule.decide(fitted.test.scores), dtype=bool)


def _forecast(split: Split, folds: Array, held: Scored, fitted: _Fitted, own: bool) -> Array:
    if own:
        assert fitted.test.probabilities is not None
        return fitted.test.probabilities
    probabilities: Array = (
        _line(split)
        .fit(_all_scores(folds, held, fitted), split.Y)
        .probabilities(fitted.test.scores)
    )
    return probabilities


def _measured(
    split: Split, decisions: Array, probabilities: Array, seed: int
) -> dict[str, Any]:
    found = bootstrap_f1(split.Y_test, decisions, random_state=seed)
    loss = bootstrap_mean(
        losses(split.Y_test, probabilities, multilabel=split.multilabel), random_state=seed
    )
    error = expected_calibration_error(split.Y_test, np.clip(probabilities, 0.0, 1.0))
    return {
        "micro F1": found.micro.times(100),
        "macro F1": found.macro.times(100),
        "log loss": loss.times(1000),
        "ECE": 1000 * float(error),
    }


def _described(setting: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in setting.items()) or "nothing to set"


def size_of(model: Any, seen: set[int] | None = None) -> int:
    """Bytes of all arrays that a model holds, at any depth.

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
        return (
            int(model.nbytes)
            if model.dtype != object
            else sum(size_of(part, seen) for part in model.ravel())
        )
    if sparse.issparse(model):
        return sum(
            size_of(getattr(model, name, None), seen) for name in ("data", "indices", "indptr")
        )
    parts: list[Any] = []
    if isinstance(model, dict):
        parts = list(model.values())
    elif isinstance(model, list | tuple | set):
        parts = list(model)
    else:
        slots = [
            name for kind in type(model).__mro__ for name in getattr(kind, "__slots__", ())
        ]
        parts = [
            *getattr(model, "__dict__", {}).values(),
            *(getattr(model, name, None) for name in slots),
        ]
    return sum(size_of(part, seen) for part in parts if not callable(part))


def compact_letters(names: Sequence[str], differ: Callable[[str, str], bool]) -> dict[str, str]:
    """Return the compact letter display: systems that share a letter do not differ.

    Parameters
    ----------
    names : the best first
    differ : whether two differ

    Examples
    --------
    >>> compact_letters("xyz", lambda a, b: {a, b} == {"x", "z"})
    {'x': 'a', 'y': 'ab', 'z': 'b'}
    """
    groups = [frozenset(names)]
    for place, first in enumerate(names):
        for second in names[place + 1 :]:
            if differ(first, second):
                groups = _absorbed(
                    [part for group in groups for part in _divided(group, first, second)]
                )
    order = sorted(groups, key=lambda group: [name not in group for name in names])
    return {
        name: "".join(_letter(i) for i, group in enumerate(order) if name in group)
        for name in names
    }


def _divided(group: frozenset[str], first: str, second: str) -> list[frozenset[str]]:
    return [group - {first}, group - {second}] if {first, second} <= group else [group]


def _absorbed(groups: list[frozenset[str]]) -> list[frozenset[str]]:
    distinct = list(dict.fromkeys(groups))
    return [group for group in distinct if not any(group < other for other in distinct)]


def _letter(place: int) -> str:
    return chr(ord("a") + place) if place < 26 else f"({place + 1})"


def _board(corpus: str) -> Experiment:
    """Return the leaderboard of a corpus, a row per contender."""

    def tasks(extent: Extent) -> dict[str, Task]:
        return {
            name: _task(corpus, name, extent)
            for name in (*OURS, *PEERS)
            if contender(name).is_installed
        }

    def ratios(extent: Extent) -> dict[str, TimeRatio]:
        found = tasks(extent)
        return {
            _row(name): TimeRatio(task, found[REFERENCE], "fit") for name, task in found.items()
        }

    return Experiment(
        f"leaderboard:{corpus}",
        lambda extent: _grid(corpus, tasks(extent), extent),
        ratios=ratios,
    )


def _task(corpus: str, name: str, extent: Extent) -> Task:
    return Task.of(
        measure_contender,
        f"leaderboard: {corpus}: {contender(name).name}",
        corpora=(corpus,),
        also=(definition_of(name),),
        corpus=corpus,
        name=name,
        **extent.settings,
    )


def _row(name: str) -> str:
    entry = contender(name)
    return f"{entry.name} ({entry.package})"


def _grid(corpus: str, tasks: dict[str, Task], extent: Extent) -> Grid:
    grid: Grid = {}
    truth = Task.of(
        truth_of,
        f"leaderboard: {corpus}: labels",
        corpora=(corpus,),
        corpus=corpus,
        **extent.settings,
    )
    letters = _Letters(list(tasks))
    for name in (*OURS, *PEERS):
        if name not in tasks:
            reason = Absent(f"{contender(name).module} is not installed")
            grid |= {(_row(name), measure): reason for measure in MEASURES}
            continue
        task = tasks[name]
        grid |= {(_row(name), measure): reading(task, measure) for measure in MEASURES}
        grid[_row(name), "letters"] = Reading(
            (truth, *tasks.values()), letters.of(name), tolerant=True
        )
        grid[_row(name), "kB"] = Reading(
            (task,), lambda result: f"{result['size'] / 1000:,.0f}"
        )
        grid[_row(name), "chosen for decisions"] = reading(task, "setting")
        grid[_row(name), "chosen for forecasts"] = reading(task, "forecast setting")
    return grid


class _Letters:
    """Letters by the micro sign test between all pairs, corrected by Holm.

    Computed once for all rows.
    """

    def __init__(self, names: list[str]) -> None:
        self._names = names
        self._letters: dict[str, str] = {}

    def of(self, name: str) -> Any:
        """Return the function that picks the letters of one contender."""

        def pick(truth: Any, *results: Any) -> str:
            measured = {
                known: found
                for known, found in zip(self._names, results, strict=True)
                if found is not None
            }
            if truth is None or name not in measured:
                return ""
            if not self._letters:
                self._letters = self._computed(truth, measured)
            return self._letters[name]

        return pick

    def _computed(self, truth: Any, results: dict[str, Any]) -> dict[str, str]:
        shape = truth["shape"]
        decided = {
            name: matrix_of(result["decisions"], shape) for name, result in results.items()
        }
        table = significance_table(
            matrix_of(truth["labels"], shape), decided, alternative="two-sided"
        )
        order = sorted(results, key=lambda name: -results[name]["micro F1"][0])
        return compact_letters(order, lambda a, b: table.symbols(a, b)[0] != "~")


EXPERIMENTS = [
    _board(corpus)
    for corpus in ("reuters", "20newsgroups", "rcv1-sample", "ohsumed", "sms-spam")
]
