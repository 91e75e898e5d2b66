"""Plots of a classifier: reliability, confusion, words, and learning curves.

Every plot is a chart: notebooks show it, and `save` writes it as an SVG file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from bayesift.arrays import Array, IntArray
from bayesift.charts import (
    Axis,
    Band,
    Bars,
    Cells,
    Chart,
    Figure,
    Frame,
    Layer,
    Line,
    Panel,
)
from bayesift.charts.svg import shortened
from bayesift.classifier import TextClassifier, evaluate
from bayesift.classifier.labels import Labels, check_lengths, read_labels
from bayesift.classifier.model_options import vectorizer_for
from bayesift.classifier.texts import Texts, read_texts
from bayesift.errors import DataError
from bayesift.evaluation import (
    Scores,
    reliability_curve,
    reliability_diagram,
    top_label_curve,
)
from bayesift.folds import NEVER_HELD_OUT, deal_folds, join_groups
from bayesift.report.content import Confusion
from bayesift.report.gather import confusion_of
from bayesift.text.near_copies import group_copies, group_equal_rows
from bayesift.validation import check_groups

_ROW = 18.0  # height of a bar
_CELL = 26.0  # width and height of a cell of a confusion matrix
_CHARACTER = 6.2  # width of a character of a small label
_LONGEST_NAME = 26
_PANELS_PER_ROW = 2
_PANEL_WIDTH = 300.0
_N_PARTS = 16  # into which training texts are dealt
_TRAINING_SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)


def plot_reliability(classifier: TextClassifier, X: Any = None, y: Any = None) -> Chart:
    """Draw how often probabilities came true, by texts and labels or by those held out in `fit`.

    Parameters
    ----------
    classifier : fitted
    X, y : labelled texts, as in `evaluate`; without them the documents that the model "auto" held
        out

    Examples
    --------
    >>> from bayesift import plot_reliability
    >>> texts = ["wheat and corn", "corn exports", "crude oil prices", "oil tankers"]
    >>> classifier = TextClassifier().fit(texts, ["grain", "grain", "crude", "crude"])
    >>> plot_reliability(classifier, ["corn", "oil"], ["grain", "crude"]).title
    'Reliability of the probabilities'
    """
    if not classifier.has_probabilities_:
        raise DataError(f"a {type(classifier.model_).__name__} has no probabilities")
    if X is None:
        quality = classifier.expected_quality_
        if quality is None:
            raise DataError("no documents were held out in fit: give labelled texts, X and y")
        return reliability_diagram({_forecasts(classifier): quality.reliability})
    evaluation = evaluate(classifier, X, y)
    truth = evaluation.truth.toarray().astype(bool)
    curve_of = reliability_curve if classifier.multilabel_ else top_label_curve
    return reliability_diagram(
        {_forecasts(classifier): curve_of(truth, evaluation.scores, n_bins=10)}
    )


def _forecasts(classifier: TextClassifier) -> str:
    return "all categories" if classifier.multilabel_ else "the most probable category"


def plot_confusion(
    classifier: TextClassifier, X: Any, y: Any = None, *, n_categories: int = 15
) -> Chart:
    """Draw how often texts of one category were assigned to another.

    Parameters
    ----------
    classifier : fitted, with one label per text
    X, y : labelled texts, as in `evaluate`
    n_categories : at most so many, the most confused ones

    Examples
    --------
    >>> from bayesift import plot_confusion
    >>> texts = ["wheat and corn", "corn exports", "crude oil prices", "oil tankers"]
    >>> classifier = TextClassifier().fit(texts, ["grain", "grain", "crude", "crude"])
    >>> print(plot_confusion(classifier, ["corn", "oil"], ["grain", "crude"]).description)
    no text was assigned to another category
    """
    evaluation = evaluate(classifier, X, y)
    confusion = confusion_of(classifier, evaluation, n_categories)
    if confusion is None:
        raise DataError("a confusion matrix needs one label per text")
    return _confusion_figure(confusion)


def _confusion_figure(confusion: Confusion) -> Figure:
    names = [
        f"{shortened(name, _LONGEST_NAME)} ({number})"
        for number, name in enumerate(confusion.categories, 1)
    ]
    n = len(names)
    left = 30 + _CHARACTER * max(map(len, names))
    frame = Frame(left, left + n * _CELL, 24.0, 24.0 + n * _CELL)
    edges = (0.0, float(n))
    panel = Panel(
        Axis("assigned", edges, numbered=False),
        Axis("", edges, numbered=False),
        [Cells(names, confusion.counts)],
        frame,
        y_shown=False,
    )
    largest = [
        f"{count:,} of {true!r} were assigned to {assigned!r}"
        for true, assigned, count in confusion.largest(5)
    ]
    caption = "Rows are true categories; columns, by number, the assigned ones."
    if n < confusion.n_categories:
        caption += f" Shown are the {n} most confused of {confusion.n_categories:,}."
    return Figure(
        "Confusion matrix, true categories in rows",
        [panel],
        caption=caption,
        description="; ".join(largest) or "no text was assigned to another category",
        width=max(round(frame.right + 14), 240),
        height=round(frame.bottom + 44),
    )


def plot_top_terms(
    classifier: TextClassifier, n: int = 8, *, categories: Sequence[Any] | None = None
) -> Chart:
    """Draw the n most informative words of categories.

    Parameters
    ----------
    classifier : fitted
    n : words of each category
    categories : those to show; by default the first eight that have words

    Examples
    --------
    >>> from bayesift import plot_top_terms
    >>> texts = ["wheat and corn", "corn exports", "crude oil prices", "oil tankers"]
    >>> classifier = TextClassifier().fit(texts, ["grain", "grain", "crude", "crude"])
    >>> print(plot_top_terms(classifier, 1).description)
    crude: oil; grain: corn
    """
    found = {row.category: row.words for row in classifier.top_terms(n) if row.words}
    wanted = list(found)[:8] if categories is None else [str(name) for name in categories]
    for name in wanted:
        if name not in found:
            raise DataError(f"no category {name!r} with words; there are: {', '.join(found)}")
    panels = []
    height = 34 + n * _ROW
    for index, name in enumerate(wanted):
        row, column = divmod(index, _PANELS_PER_ROW)
        left = 130 + column * _PANEL_WIDTH
        top = 30 + row * height
        words = found[name]
        longest = max(word.weight for word in words)
        bars = Bars([(word.word, word.weight, f"{word.weight:.2g}") for word in words], _ROW)
        frame = Frame(left, left + 120, top, top + len(words) * _ROW)
        x = Axis("", (0.0, longest))
        y = Axis("", (0.0, 1.0))
        panels.append(
            Panel(x, y, [bars], frame, title=shortened(name, 22), x_shown=False, y_shown=False)
        )
    n_rows = -(-len(wanted) // _PANELS_PER_ROW)
    n_columns = min(len(wanted), _PANELS_PER_ROW)
    listed = (f"{name}: {', '.join(word.word for word in found[name])}" for name in wanted)
    return Figure(
        "The most informative words",
        panels,
        caption="Bars are weights: frequent in the category, and more so than in the others.",
        description="; ".join(listed),
        width=round(n_columns * _PANEL_WIDTH),
        height=round(10 + n_rows * height),
    )


class _Point(NamedTuple):
    """A measure of models of so many texts: mean, least and largest over the folds."""

    n_texts: float
    mean: float
    low: float
    high: float


def plot_learning_curve(
    classifier: TextClassifier,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    n_folds: int = 4,
    random_state: int = 0,
) -> Chart:
    """Draw how good models of more and more texts are on texts held out.

    In each fold, clones of the classifier learn from 1/16, 1/8, 1/4, 1/2 and all of the other
    texts. Texts that repeat one another, or nearly, and texts of one group are held out together.

    Parameters
    ----------
    classifier : fitted or not
    X, y : labelled texts, as in `fit`
    groups : the group of each text, such as its author; None or NaN for none
    n_folds : how many parts are held out in turn
    random_state : seed of the folds

    Examples
    --------
    >>> from bayesift import plot_learning_curve
    >>> texts = [f"{word} no{k} case{k}" for k in range(16) for word in ("corn", "oil")]
    >>> classifier = TextClassifier(model="naive-bayes")
    >>> chart = plot_learning_curve(classifier, texts, ["grain", "crude"] * 16, n_folds=2)
    >>> chart.title
    'Learning curve on texts held out'
    """
    columns = classifier.columns
    besides = [columns] if isinstance(columns, str) else list(columns)
    texts = read_texts(X, besides=besides).whole()
    labels = read_labels(y)
    check_lengths(texts, labels, None)
    known_groups = check_groups(groups, labels.n_given)
    labels = labels.where(texts.have_text())
    texts = texts.take(labels.rows)
    if known_groups is not None:
        known_groups = known_groups[labels.rows]
    _, indicator = labels.form.named_indicator(labels)
    positive = indicator[labels.rows] > 0
    units = join_groups(known_groups, _copies(classifier, texts))
    if units is None:
        units = np.arange(len(labels.rows))
    if len(np.unique(units)) < 2 * n_folds:
        raise DataError(f"{n_folds} folds need {2 * n_folds} texts that do not repeat others")
    folds = deal_folds(positive, n_folds=n_folds, random_state=random_state, groups=units)
    measured: dict[float, list[tuple[int, Scores]]] = {}
    for fold in range(n_folds):
        test = np.flatnonzero(folds == fold)
        others = np.flatnonzero(folds != fold)
        # The other texts in sixteen parts, each with its share of every category.
        n_parts = min(_N_PARTS, len(np.unique(units[others])))
        parts = deal_folds(
            positive[others],
            n_folds=n_parts,
            random_state=random_state,
            groups=units[others],
        )
        for share in _TRAINING_SHARES:
            if len(test) and share * n_parts >= 1:
                train = others[(parts < share * n_parts) | (parts == NEVER_HELD_OUT)]
                scores = _measured(classifier, texts, labels, train, test)
                measured.setdefault(share, []).append((len(train), scores))
    return _learning_figure(list(measured.values()), multilabel=labels.form.multilabel)


def _measured(
    classifier: TextClassifier, texts: Texts, labels: Labels, train: IntArray, test: IntArray
) -> Scores:
    """Measure a clone that learned from some texts on others."""
    options = {"categories": labels.form.classes} if labels.form.multilabel else {}
    model = clone(classifier).fit(texts.take(train), labels.y[train], **options)
    return evaluate(model, texts.take(test), labels.y[test]).measures


def _copies(classifier: TextClassifier, texts: Texts) -> IntArray:
    """Return the groups of texts that repeat one another, or of equal vectors."""
    if texts.are_vectors:
        return group_equal_rows(texts.values)
    vectorizer = vectorizer_for(classifier.model, classifier.vectorizer)
    return group_copies(vectorizer.fit_transform(texts.values))


def _learning_figure(
    measured: Sequence[Sequence[tuple[int, Scores]]], *, multilabel: bool
) -> Figure:
    values: dict[str, list[_Point]] = {}
    for folds in measured:
        sizes = np.array([n_texts for n_texts, _ in folds])
        scores = [found for _, found in folds]
        if multilabel:
            shown = {"micro F1": np.array([found.micro.f1 for found in scores])}
        else:
            shown = {"accuracy": np.array([found.accuracy for found in scores])}
        losses = [found.probabilities.log_loss for found in scores if found.probabilities]
        if losses:
            shown["log loss"] = np.array(losses)
        for name, each in shown.items():
            values.setdefault(name, []).append(_point(sizes, each))
    panels = []
    for index, (name, points) in enumerate(values.items()):
        bottom = 230.0 + 262 * index
        panels.append(_learning_panel(name, points, Frame(58, 340, bottom - 210, bottom)))
    described = (
        f"{name} {point.mean:.3f} of {point.n_texts:,.0f} texts"
        for name, points in values.items()
        for point in points
    )
    return Figure(
        "Learning curve on texts held out",
        panels,
        caption="Lines are means over the folds, bands reach from the worst fold to the best. "
        "Texts that repeat one another are held out together.",
        description="; ".join(described),
        height=round(16 + 262 * len(panels)),
    )


def _point(sizes: Array, each: Array) -> _Point:
    return _Point(float(sizes.mean()), float(each.mean()), float(each.min()), float(each.max()))


def _learning_panel(name: str, points: Sequence[_Point], frame: Frame) -> Panel:
    lower = [(point.n_texts, point.low) for point in points]
    upper = [(point.n_texts, point.high) for point in points]
    line = Line([(point.n_texts, point.mean) for point in points], marked=True)
    layers: list[Layer] = [line, Band(lower, upper)]
    x = Axis.over("training texts", [point.n_texts for point in points], log=True)
    y = Axis.over(name, [value for _, value in (*lower, *upper)])
    return Panel(x, y, layers, frame)
