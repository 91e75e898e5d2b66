"""The queue of a review: orders, words, undo, saving."""

import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from bayesift.errors import DataError
from bayesift.screening.queue import UNDO_STEPS, ReviewQueue
from bayesift.screening.relevance import RelevanceModel, RelevanceSettings
from bayesift.screening.simulation import ReviewCurve, simulate_review, stop_points
from bayesift.screening.stopping.remaining import Forecast
from bayesift.text import TermVectorizer

TOPICS = {
    "trial": "randomised trial placebo patients dose blind",
    "animal": "mice rats tissue cells receptor binding",
    "cost": "cost hospital insurance economic price model",
}


@pytest.fixture(scope="module")
def texts():
    rng = np.random.default_rng(0)
    words = {name: words.split() for name, words in TOPICS.items()}
    common = ["study", "results", "methods", "effect", "analysis", "data", "group", "level"]
    names = rng.choice(list(TOPICS), size=150, p=[0.15, 0.5, 0.35])
    return names, [
        " ".join([*rng.choice(words[name], 5), *rng.choice(common, 8)]) for name in names
    ]


@pytest.fixture
def queue(texts):
    names, documents = texts
    queue = ReviewQueue.of_texts(documents)
    for name in ("trial", "animal"):
        queue.judge(str(np.flatnonzero(names == name)[0]), name == "trial")
    queue.refit()
    return queue


def state(queue):
    queue.refit()
    return queue.labels.tobytes(), queue.scores.tobytes(), queue.next_documents(10)


def test_reading_the_scores_computes_nothing(queue, monkeypatch):
    before = queue.scores
    fits = []
    monkeypatch.setattr(RelevanceModel, "fit", lambda *args: fits.append(1) or args[2])
    queue.judge("9", True)
    assert queue.scores is before
    assert not queue.is_current
    assert not fits
    queue.refit()
    queue.refit()
    assert len(fits) == 1
    assert queue.is_current


def test_a_fit_that_was_overtaken_is_not_taken_in(queue, texts):
    again = ReviewQueue.of_texts(texts[1])
    for row in np.flatnonzero(queue.labels):
        again.judge(str(row), bool(queue.labels[row] > 0))
    again.refit()
    queue.judge("9", True)
    late = queue.fitting()
    queue.judge("11", False)
    queue.install(late())
    assert not queue.is_current
    queue.refit()
    for name, relevant in (("9", True), ("11", False)):
        again.judge(name, relevant)
    again.refit()
    np.testing.assert_array_equal(queue.scores, again.scores)


def test_relevant_documents_come_first(queue, texts):
    names, _ = texts
    for _ in range(10):
        (name,) = queue.next_documents()
        queue.judge(name, bool(names[int(name)] == "trial"))
    assert queue.n_found >= 10


@pytest.mark.parametrize("graded", [False, True])
def test_scores_are_those_of_scikit_learn(queue, texts, graded):
    names, _ = texts
    grades = np.where(np.arange(len(queue)) % 3, 1.0, 0.2) if graded else np.ones(len(queue))
    for row in range(60):
        queue.judge(str(row), bool(names[row] == "trial"))
    settings = RelevanceSettings(variance=2.0, share=0.8, intercept_spread=0.5)
    model = RelevanceModel(queue.model.rows(slice(None)), settings)
    duals = np.zeros(len(queue))
    for _ in range(200):
        duals = model.fit(queue.labels, duals, np.zeros(len(queue)), grades if graded else None)
    judged = np.flatnonzero(queue.labels)
    y = queue.labels[judged] > 0
    relevant = grades[judged] / grades[judged][y].sum()
    importance = np.where(y, 0.8 * len(y) * relevant, 0.2 * len(y) / (~y).sum())
    design = sparse.hstack(
        [queue.model.rows(slice(None)), np.full((len(queue), 1), np.sqrt(0.5))]
    ).tocsr()
    peer = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-10, max_iter=10_000)
    peer.fit(design[judged], y, sample_weight=importance)
    ours = model.scores(queue.labels, duals, np.zeros(len(queue)))
    np.testing.assert_allclose(ours, peer.decision_function(design), atol=1e-4)


def test_covariance_is_that_of_the_inverse_hessian(queue):
    X = queue.model.rows(slice(None)).toarray()
    scores, settings = queue.scores, queue.model.settings
    design = np.hstack([X, np.full((len(queue), 1), np.sqrt(settings.intercept_spread))])
    judged = np.flatnonzero(queue.labels)
    p = 1 / (1 + np.exp(-scores[judged]))
    bend = (
        np.where(queue.labels[judged] > 0, settings.share * 2, (1 - settings.share) * 2)
        * p
        * (1 - p)
    )
    hessian = (design[judged].T * bend) @ design[judged] + np.eye(
        design.shape[1]
    ) / settings.variance
    rows = np.arange(20, 40)
    exact = design[rows] @ np.linalg.inv(hessian) @ design[rows].T
    np.testing.assert_allclose(
        queue.model.covariance(rows, queue.labels, scores), exact, atol=1e-9
    )


def test_information_gain_is_the_drop_of_entropy(queue):
    rows = queue.unseen[:5]
    scores = queue.scores
    variances = np.diagonal(queue.model.covariance(rows, queue.labels, scores))
    rng = np.random.default_rng(0)
    p = 1 / (
        1 + np.exp(-(scores[rows] + np.sqrt(variances) * rng.standard_normal((400_000, 5))))
    )
    entropy = lambda q: -q * np.log(q) - (1 - q) * np.log(1 - q)  # noqa: E731
    sampled = entropy(p.mean(axis=0)) - entropy(p).mean(axis=0)
    np.testing.assert_allclose(queue.information_gain(rows), sampled, atol=2e-3)


@pytest.mark.parametrize("by", ["relevance", "information", "mixture"])
def test_orders_are_repeatable_and_without_repetition(texts, by):
    def play():
        queue = ReviewQueue.of_texts(texts[1])
        shown = []
        for _ in range(8):
            names = queue.next_documents(5, by=by)
            for name in names:
                queue.judge(name, bool(texts[0][int(name)] == "trial"))
            shown += names
        return shown

    first = play()
    assert first == play()
    assert len(set(first)) == len(first) == 40


def test_information_in_a_batch_is_no_sheaf_of_copies():
    X = np.repeat(np.eye(4), 5, axis=0)
    names = ReviewQueue(X).next_documents(4, by="information")
    assert sorted(int(name) // 5 for name in names) == [0, 1, 2, 3]


def test_mixture_holds_both(queue):
    shown = queue.next_documents(10, by="mixture", information_share=0.3)
    assert len(set(shown) & set(queue.next_documents(7))) >= 7
    assert shown != queue.next_documents(10)
    assert queue.next_documents(
        10, by="mixture", information_share=0.0
    ) == queue.next_documents(10)


def test_words_move_their_documents_up_at_once(queue, texts):
    names, _ = texts
    costs = np.flatnonzero(names == "cost")
    places = lambda: np.mean([queue.next_documents(200).index(str(row)) for row in costs])  # noqa: E731
    before = places()
    coverage = queue.set_words({"insurance": 4, "Economic": 4, "unheard": 1})
    assert coverage.used == 2
    assert coverage.missing == {"relevant": ("unheard",)}
    after = places()
    assert after < before - 5
    queue.set_words({"insurance": -4, "economic": -4})
    assert places() > after
    queue.set_words({})
    assert places() == before


def test_words_alone_rank_a_pool_without_judgements(texts):
    queue = ReviewQueue.of_texts(texts[1])
    queue.set_words({"placebo": 2})
    assert all("placebo" in texts[1][int(name)] for name in queue.next_documents(5))


def test_undo_is_as_if_nothing_had_been(queue):
    before = state(queue)
    for name in queue.next_documents(3):
        queue.judge(name, True)
        queue.next_documents()
    for _ in range(3):
        queue.undo()
    assert state(queue) == before


def test_undo_of_a_changed_judgement_brings_back_the_first(queue):
    (name,) = queue.next_documents()
    queue.judge(name, True)
    before = state(queue)
    queue.judge(name, False)
    assert queue.n_judged == 3
    assert state(queue) != before
    assert queue.undo() == name
    assert state(queue) == before


def test_grades_and_the_order_of_judgements_are_undone_and_saved(queue, texts, tmp_path):
    queue.judge("100", True, grade=0.2)
    queue.judge("101", False)
    queue.judge("102", False)
    assert queue.since_find == 2
    before = state(queue)
    queue.judge("100", True)
    assert state(queue) != before
    assert queue.since_find == 2
    queue.undo()
    assert state(queue) == before
    queue.save(tmp_path / "graded")
    again = ReviewQueue.of_texts(texts[1])
    again.resume(tmp_path / "graded")
    assert state(again) == before
    assert again.since_find == 2
    again.withdraw("101")
    assert again.since_find == 1
    again.judge("103", True)
    assert again.since_find == 0
    with pytest.raises(ValueError, match="grade must lie above 0"):
        queue.judge("1", True, grade=0.0)


def test_a_long_run_without_finds_explores(texts):
    """Every tenth from 30 on is the document least like the judged, by brute force.

    A find ends it.
    """
    queue = ReviewQueue.of_texts(texts[1], titles=texts[1])
    queue.judge("0", True)
    assert not queue.explores()
    for row in range(1, 31):
        queue.judge(str(row), False)
    assert queue.explores()
    begin = sum(part.n_columns for part in queue.model.parts[:2])
    Z = queue._X[:, begin : begin + queue.model.parts[2].n_columns].toarray()
    likeness = (Z[31:] @ Z[:31].T).max(axis=1)
    (name,) = queue.next_documents()
    assert likeness[int(name) - 31] == pytest.approx(likeness.min(), abs=1e-6)
    assert queue.next_documents(2)[1] != name
    queue.judge(name, False)
    assert not queue.explores()
    queue.undo()
    assert queue.next_documents() == [name]
    queue.judge(name, True)
    assert not queue.explores()


def test_undo_ends():
    queue = ReviewQueue(np.eye(UNDO_STEPS + 5))
    for name in queue.ids:
        queue.judge(name, True)
    for _ in range(UNDO_STEPS):
        queue.undo()
    with pytest.raises(DataError, match="no judgement to take back"):
        queue.undo()


@pytest.mark.parametrize("asked_before", [False, True])
def test_a_resumed_queue_goes_on_bit_for_bit(queue, texts, tmp_path, asked_before):
    names, documents = texts
    queue.set_words({"placebo": 1.5})
    for name in queue.next_documents(6):
        queue.judge(name, bool(names[int(name)] == "trial"))
        if asked_before:
            queue.next_documents()
    queue.save(tmp_path / "review.zip")
    again = ReviewQueue.of_texts(documents)
    again.resume(tmp_path / "review.zip")
    assert state(again) == state(queue)
    assert again.words == {"placebo": 1.5}
    assert again.undo() == queue.undo()
    assert state(again) == state(queue)


def test_files_of_others_and_damaged_ones_are_refused(queue, texts, tmp_path):
    queue.save(tmp_path / "review")
    other = ReviewQueue.of_texts(texts[1][:-1])
    with pytest.raises(DataError, match="another pool"):
        other.resume(tmp_path / "review")
    header = json.loads((tmp_path / "review" / "model.json").read_text())
    for change in (
        {"kind": "filter"},
        {"settings": {"variance": -1}},
        {"settings": {"x": 1}},
        {"steps_fitted": 3},
    ):
        (tmp_path / "review" / "model.json").write_text(
            json.dumps(header | {"model": header["model"] | change})
        )
        with pytest.raises(DataError):
            queue.resume(tmp_path / "review")


def test_bad_use_is_refused(queue):
    with pytest.raises(DataError, match="no document 'nobody'"):
        queue.judge("nobody", True)
    with pytest.raises(ValueError, match="by must be one of"):
        queue.next_documents(by="chance")
    with pytest.raises(DataError, match="without their terms"):
        ReviewQueue(np.eye(2)).set_words({"corn": 1})
    with pytest.raises(DataError, match="1 different ids for 2 documents"):
        ReviewQueue(np.eye(2), ids=["a", "a"])


def test_measures_of_a_curve():
    curve = ReviewCurve.of([2, 4, 3, 5], [1, 0, 1, 0, 1, 1, 0, 0, 0, 0], start=[0, 1])
    assert curve.positions.tolist() == [1, 2, 4]
    assert curve.average_time_to_discovery == pytest.approx(7 / 3)
    assert curve.work_saved(0.95) == pytest.approx(1 - 4 / 8 - 0.05)
    assert curve.work_saved(0.6) == pytest.approx(1 - 2 / 8 - 0.4)
    with pytest.raises(DataError, match="1 of 2 relevant"):
        ReviewCurve.of([0], [1, 1])


def test_a_review_played_back(texts):
    names, documents = texts
    relevant = names == "trial"
    X = TermVectorizer(weighting="ltc").fit_transform(documents)
    start = [int(np.flatnonzero(relevant)[0]), int(np.flatnonzero(~relevant)[0])]
    curve = simulate_review(X, relevant, start=start)
    assert curve.average_time_to_discovery < 0.7 * relevant.sum() + 5
    stopped = stop_points(curve)
    assert max(point.n_read for point in stopped.values()) <= curve.n_documents
    assert stopped["sample check"].recall >= 0.95


def test_forecasts_are_calibrated_where_the_model_is_true():
    """Labels drawn from a logistic model: intervals of 90% hold about nine times in ten."""
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(60):
        Z = rng.standard_normal((400, 5)) / np.sqrt(5)
        labels = np.where(
            rng.random(400) < 1 / (1 + np.exp(2 - Z @ rng.normal(0, 3, 5))), 1, -1
        )
        shown = np.where(np.arange(400) < 200, labels, 0)
        low, high = Forecast(sparse.csr_array(Z)).remaining(shown).interval(0.9)
        inside += low <= np.sum(labels[200:] > 0) <= high
    assert inside >= 48
