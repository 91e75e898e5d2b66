import io
import sys

import numpy as np
import pytest

from bayesift.errors import MissingExtraError
from bayesift.evaluation import (
    PrecisionRecallCurve,
    category_f1_bars,
    evaluate_decisions,
    precision_recall_plot,
    reliability_curve,
    reliability_diagram,
)


@pytest.fixture(scope="module")
def outcome():
    random = np.random.default_rng(0)
    p = random.random((200, 40))
    return random.random(p.shape) < p, p


def drawn(figure):
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue().startswith(b"\x89PNG")


def test_reliability_diagram(outcome):
    curve = reliability_curve(*outcome)
    figure = reliability_diagram({"naive Bayes": curve, "constant": reliability_curve([0, 0], [0.5, 0.5])})
    assert drawn(figure)
    upper, lower = figure.axes
    assert (upper.get_ylabel(), lower.get_xlabel(), lower.get_ylabel()) == (
        "share that came true",
        "probability",
        "forecasts",
    )
    names = [text.get_text() for text in upper.get_legend().get_texts()]
    assert names[1].startswith("naive Bayes (calibration error 0.")


def test_precision_recall_plot(outcome):
    Y, p = outcome
    figure = precision_recall_plot({f"topic {j}": PrecisionRecallCurve.of(Y[:, j], p[:, j]) for j in range(9)})
    assert drawn(figure)
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("recall", "precision")
    assert len(axes.get_legend().get_texts()) == 9


def test_category_f1_bars(outcome):
    Y, p = outcome
    scores = evaluate_decisions(Y, p > 0.5)
    figure = category_f1_bars(scores, limit=10)
    assert drawn(figure)
    (axes,) = figure.axes
    common = sorted(scores.categories, key=lambda row: (-row.positives, row.category))[:10]
    assert [bar.get_width() for bar in axes.patches] == [row.f1 for row in common]
    assert axes.get_title(loc="left") == "the 10 most common of 40 categories"
    assert category_f1_bars(scores, limit=40).axes[0].get_title(loc="left") == ""


def test_matplotlib_is_asked_for_only_when_drawing(monkeypatch, outcome):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"bayesift\[plots\]"):
        reliability_diagram(reliability_curve(*outcome))
