from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.naive_bayes import BernoulliNB

from papers.contenders import OURS, PEERS, InRandomOrder, contender, pairs_of
from papers.experiment import Extent
from papers.forecasts import PlattLines, Temperature, losses
from papers.leaderboards import compact_letters
from papers.running import reproduce


@pytest.mark.parametrize("name", [*OURS, *PEERS])
def test_contenders_can_be_made_and_have_settings(name):
    entry = contender(name)
    assert entry.settings
    if entry.is_installed:
        for multilabel in (True, False):
            assert hasattr(entry.make(entry.settings[0], multilabel), "fit")


def test_learners_in_random_order_keep_their_methods():
    learner = InRandomOrder(BernoulliNB()).fit(np.eye(3), np.array([0, 1, 1]))
    assert learner.predict(np.eye(3)).tolist() == [0, 1, 1]
    assert not hasattr(learner, "decision_function")


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e4])
def test_platt_lines_are_those_of_logistic_regression_on_any_scale(unit):
    random = np.random.default_rng(0)
    scores = random.normal(size=(3000, 2)) * [1.0, 3.0]
    Y = (random.random(scores.shape) < expit(scores * [2.0, 0.5] - 0.5)).astype(int)
    lines = PlattLines().fit(unit * scores, Y)
    for c in range(2):
        peer = LogisticRegression(C=np.inf).fit(scores[:, [c]], Y[:, c])
        assert unit * lines.slopes_[c] == pytest.approx(peer.coef_[0, 0], abs=2e-3)
        assert lines.intercepts_[c] == pytest.approx(peer.intercept_[0], abs=2e-3)


def test_separable_scores_do_not_run_away():
    lines = PlattLines().fit(
        np.array([[-1.0], [-0.5], [0.5], [1.0]]), np.array([[0], [0], [1], [1]])
    )
    assert np.isfinite(lines.slopes_).all()
    assert np.isfinite(lines.probabilities(np.array([[0.1]]))).all()


@pytest.mark.parametrize("unit", [4.0, 1e-6, 1e6])
def test_temperature_finds_the_scale(unit):
    random = np.random.default_rng(1)
    logits = random.normal(size=(4000, 3))
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    y = np.array([random.choice(3, p=row) for row in probabilities])
    assert unit * Temperature().fit(unit * logits, np.eye(3)[y]).factor_ == pytest.approx(
        1.0, abs=0.08
    )


def test_losses_are_those_of_scikit_learn():
    random = np.random.default_rng(2)
    forecast = random.dirichlet(np.ones(4), size=50)
    y = random.integers(4, size=50)
    Y = np.eye(4)[y]
    assert losses(Y, forecast, multilabel=False).mean() == pytest.approx(log_loss(y, forecast))
    each = [log_loss(Y[:, c], forecast[:, c], labels=[0, 1]) for c in range(4)]
    assert losses(Y, forecast, multilabel=True).mean() == pytest.approx(np.mean(each))


def test_letters_are_shared_exactly_by_those_that_do_not_differ():
    random = np.random.default_rng(3)
    names = [f"s{i}" for i in range(7)]
    for _ in range(30):
        apart = {pair for pair in combinations(names, 2) if random.random() < 0.4}
        letters = compact_letters(
            names, lambda a, b, apart=apart: (a, b) in apart or (b, a) in apart
        )
        for a, b in combinations(names, 2):
            assert bool(set(letters[a]) & set(letters[b])) == ((a, b) not in apart)


@pytest.mark.parametrize("multilabel", [True, False])
def test_vowpal_wabbit_scores_as_its_own_predictions_say(multilabel, tmp_path):
    workspace = pytest.importorskip("vowpalwabbit").Workspace
    random = np.random.default_rng(4)
    X = sparse.random_array((300, 40), density=0.2, rng=random, format="csr")
    scores = X @ random.normal(size=(40, 5))
    y = (scores > 0.8).astype(int) if multilabel else np.argmax(scores, axis=1)
    model = contender("vowpal_wabbit").make({"passes": 1, "rate": 0.5}, multilabel).fit(X, y)
    order = np.random.default_rng(0).permutation(300)  # of InRandomOrder
    labels = (
        [",".join(map(str, np.flatnonzero(row))) or "5" for row in y]
        if multilabel
        else [str(c + 1) for c in y]
    )
    lines = [" ".join(f"t{j}:{x:.6g}" for j, x in pairs) for pairs in pairs_of(X)]
    (tmp_path / "data").write_text("".join(f"{labels[i]} | {lines[i]}\n" for i in order))
    reduction = "--multilabel_oaa 6" if multilabel else "--oaa 5"
    own = workspace(
        f"{reduction} --loss_function logistic --quiet --holdout_off --data {tmp_path / 'data'}"
    )
    for line, row in zip(lines, model.decision_function(X), strict=True):
        said = own.predict(f"| {line}")
        assert (
            sorted(set(said) - {5}) == np.flatnonzero(row > 0).tolist()
            if multilabel
            else said == np.argmax(row) + 1
        )


@pytest.mark.corpus("sms-spam")
def test_a_quick_board(tmp_path):
    made = reproduce(["leaderboard:sms-spam"], folder=tmp_path, extent=Extent(quick=True))
    assert not made.failures
    cells = {(cell.row, cell.column): cell.ours for cell in made.findings[0].cells}
    for name in (*OURS, *PEERS):
        entry = contender(name)
        if entry.is_installed:
            row = f"{entry.name} ({entry.package})"
            assert cells[row, "micro F1"] > 85
            assert cells[row, "log loss"] < 400
            assert cells[row, "letters"]
    assert made.findings[0].ratios
