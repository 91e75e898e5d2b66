from xml.etree import ElementTree

import numpy as np
import pytest

from bayesift.evaluation import (
    PrecisionRecallCurve,
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
    return ElementTree.fromstring(figure.to_svg()) is not None


def test_reliability_diagram(outcome):
    curve = reliability_curve(*outcome)
    figure = reliability_diagram(
        {"naive Bayes": curve, "constant": reliability_curve([0, 0], [0.5, 0.5])}
    )
    assert drawn(figure)
    assert drawn(reliability_diagram(curve))
    upper, lower = figure.panels
    assert (upper.y.name, upper.x.name, lower.y.name) == (
        "observed frequency",
        "predicted probability",
        "forecasts",
    )
    assert [key.name for key in figure.legend] == [
        "naive Bayes",
        "constant",
        "perfect calibration",
    ]
    assert figure.legend[0].value == f"{curve.expected_calibration_error:.4f}"


def test_precision_recall_plot(outcome):
    Y, p = outcome
    figure = precision_recall_plot(
        {f"topic {j}": PrecisionRecallCurve.of(Y[:, j], p[:, j]) for j in range(9)}
    )
    assert drawn(figure)
    (panel,) = figure.panels
    assert (panel.x.name, panel.y.name) == ("recall", "precision")
    assert [key.name for key in figure.legend] == [f"topic {j}" for j in range(9)]


def test_long_curves_are_thinned_and_keep_their_shape():
    random = np.random.default_rng(0)
    scores = random.random(50_000)
    truth = random.random(50_000) < scores
    curve = PrecisionRecallCurve.of(truth, scores).thinned()
    assert len(curve.recall) <= 301
    assert list(curve.recall) == sorted(curve.recall)
    assert curve.recall[-1] == 1
    assert np.max(np.diff(curve.recall)) < 0.01
