import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse
from scipy.special import xlogy

from bayesift.filtering import (
    DocumentVector,
    Profile,
    ProfileSettings,
    RecallFloor,
    Strategy,
    strategies,
)
from bayesift.filtering import profile as profile_module
from bayesift.filtering.profile import REGION_SIZE, row_vector
from bayesift.filtering.simulation import play
from bayesift.kernels.filtering import decision_gain
from tests.filtering.worlds import SlowPerceptron, likelihood_ratio


def documents(n=60, n_columns=25, seed=0, share=0.3):
    rng = np.random.default_rng(seed)
    labels = rng.random(n) < share
    chances = np.where(labels[:, None], np.linspace(0.6, 0.02, n_columns), 0.15)
    X = (rng.random((n, n_columns)) < chances) * rng.uniform(0.5, 1.5, (n, n_columns))
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(lengths > 0, lengths, 1), labels


def slow_terms(X, labels, cut):
    held = X != 0
    a, c = held[labels].sum(0), held[~labels].sum(0)
    ratios = [
        likelihood_ratio(
            int(a[j]), int(labels.sum() - a[j]), int(c[j]), int((~labels).sum() - c[j])
        )
        if a[j] + c[j]
        else 0
        for j in range(X.shape[1])
    ]
    return [j for j, ratio in enumerate(ratios) if ratio > cut]


def local(x, terms):
    return np.concatenate([[1.0], x[terms]])


def test_batch_phase_is_the_slow_perceptron():
    X, labels = documents()
    profile = Profile("t", ProfileSettings(cut=4.0))
    profile.learn_batch(sparse.csr_array(X), labels)
    terms = slow_terms(X, labels, 4.0)
    assert profile.terms.tolist() == terms
    slow = SlowPerceptron(1 + len(terms))
    for _ in range(3):
        for x, label in zip(X, labels, strict=True):
            slow.learn(local(x, terms), 1 if label else -1)
    assert np.allclose(profile.posterior.mean(), slow.mean, atol=1e-9)
    assert np.allclose(profile.posterior.covariance(), slow.covariance, atol=1e-9)
    assert [d.id for d in profile.kept] == [f"batch/{i}" for i in np.flatnonzero(labels)]


def region_gain(slow, x, region):
    def field(d):
        return d @ slow.mean, np.sqrt(d @ slow.covariance @ d)

    (h, s), gains = field(x), []
    for r in region:
        k, t = field(r)
        gains.append(decision_gain(0.1, h / s, k / t, x @ slow.covariance @ r / (s * t)))
    return np.mean(gains)


@pytest.mark.parametrize(
    "strategy", ["plain", "+rel", "+ig", "+rel+ig", "+roi", "+rel+roi", "+rnd"]
)
def test_a_stream_is_read_as_the_slow_perceptron_reads_it(strategy):
    X, labels = documents(40, seed=1)
    stream, truth = documents(80, seed=2)
    chosen = Strategy.of(strategy, target=15, stream_length=80, seed=3)
    settings = ProfileSettings(strategy=chosen, cut=4.0)
    settings = ProfileSettings(strategy=chosen, cut=4.0, goal=type(settings.goal)(15))
    profile = Profile("t", settings)
    profile.learn_batch(sparse.csr_array(X), labels)
    ids = [str(i) for i in range(len(stream))]
    draws = profile.draws(ids)
    run = play(profile, sparse.csr_array(stream), truth, ids)

    terms = slow_terms(X, labels, 4.0)
    slow = SlowPerceptron(1 + len(terms))
    for _ in range(3):
        for x, label in zip(X, labels, strict=True):
            slow.learn(local(x, terms), 1 if label else -1)
    seen, verdicts = list(X), list(labels)
    kept, turn, retrieved = list(X[labels]), 0, []
    for i, x in enumerate(stream):
        here = local(x, terms)
        theta, region = (
            chosen.theta(len(retrieved)),
            [local(r, terms) for r in kept[-REGION_SIZE:]],
        )
        asked = (
            (chosen.query == "gain" and slow.gain(here) >= theta)
            or (chosen.query == "region" and region_gain(slow, here, region) >= theta)
            or (chosen.query == "random" and draws[i] < chosen.rate(len(retrieved)))
        )
        if not (slow.probability(here) > 0.5 or asked):
            continue
        retrieved.append(i)
        seen.append(x)
        verdicts.append(truth[i])
        new = [j for j in slow_terms(np.array(seen), np.array(verdicts), 4.0) if j not in terms]
        terms = terms + new
        slow.grow(len(new))
        slow.learn(local(x, terms), 1 if truth[i] else -1)
        if truth[i]:
            kept.append(x)
        elif chosen.retrain:
            slow.learn(local(kept[turn % len(kept)], terms), 1)
            turn += 1
    assert run.rows.tolist() == retrieved
    assert profile.terms.tolist() == terms
    assert np.allclose(profile.posterior.mean(), slow.mean, atol=1e-8)
    assert len(retrieved) >= 5


def test_a_threshold_is_one_on_the_probability():
    X, labels = documents()
    profile = Profile("t", ProfileSettings(cut=4.0))
    profile.learn_batch(sparse.csr_array(X), labels)
    rows = sparse.csr_array(X)
    probabilities = np.array(
        [profile.probability(row_vector(rows, i, "")) for i in range(len(X))]
    )
    for threshold in (0.05, 0.2, 0.5, 0.7, 0.95):
        profile.set_threshold(threshold)
        found, start = [], 0
        while (hit := profile.scan(rows, start)) is not None:
            found.append(hit.row)
            start = hit.row + 1
        assert found == np.flatnonzero(probabilities > threshold).tolist()


def test_words_that_no_document_held_before_can_join():
    X, labels = documents(40)
    profile = Profile("t", ProfileSettings(cut=4.0))
    profile.learn_batch(sparse.csr_array(X), labels)
    for i in range(30):
        columns = np.array([100] if i % 2 else [3], dtype=np.int32)
        profile.judge(DocumentVector(str(i), columns, np.ones(1)), bool(i % 2))
    assert 100 in profile.terms


def test_no_more_words_join_than_allowed():
    X, labels = documents()
    profile = Profile("t", ProfileSettings(cut=0.0, max_terms=5))
    profile.learn_batch(sparse.csr_array(X), labels)
    assert profile.n_terms == 5


def test_recent_documents_are_learned_again_more_often():
    profile = Profile("t", ProfileSettings(strategy=Strategy(retrain=True, half_life=2.0)))
    profile.kept = [
        DocumentVector(str(i), np.zeros(0, np.int32), np.zeros(0)) for i in range(8)
    ]
    drawn = [int(profile._past_relevant().id) for _ in range(4000)]
    shares = np.bincount(drawn, minlength=8) / len(drawn)
    expected = 0.5 ** (np.arange(7, -1, -1) / 2)
    assert np.allclose(shares, expected / expected.sum(), atol=0.03)


def test_the_goal_takes_its_threshold_on_the_batch():
    X, labels = documents(200)
    wide = Profile("t", ProfileSettings(cut=4.0, goal=RecallFloor(1.0)))
    wide.learn_batch(sparse.csr_array(X), labels)
    narrow = Profile("t", ProfileSettings(cut=4.0, goal=RecallFloor(0.5)))
    narrow.learn_batch(sparse.csr_array(X), labels)
    assert wide.threshold < narrow.threshold


@pytest.mark.parametrize(
    "wrong",
    [
        {"kappa": 0.5},
        {"prior_variance": 0},
        {"cut": -1},
        {"n_epochs": 0},
        {"max_terms": 0},
        {"max_pending": 0},
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match="must"):
        ProfileSettings(**wrong)


def test_scores_are_means_over_standard_deviations():
    profile = Profile("grain", ProfileSettings(), prior={0: 3.0})
    scores = profile.scores(sparse.csr_array([[1.0], [0.0]]))
    np.testing.assert_allclose(scores, [3.0 / np.sqrt(2.0), 0.0])


def test_every_thread_gets_a_table_that_is_long_enough(monkeypatch):
    """Also while another one computes a shorter table slowly."""
    small_began, large_done = threading.Event(), threading.Event()
    tables = {}

    def slow(numbers, same):
        if len(numbers) < 100:
            small_began.set()
            large_done.wait(0.3)
        return xlogy(numbers, same)

    def small():
        tables[10] = profile_module._n_log_n(10)

    monkeypatch.setattr(profile_module, "xlogy", slow)
    profile_module._table.cache_clear()
    thread = threading.Thread(target=small)
    thread.start()
    small_began.wait()
    tables[1000] = profile_module._n_log_n(1000)
    large_done.set()
    thread.join()
    assert all(len(table) > n for n, table in tables.items())
    numbers = np.arange(len(tables[1000]))
    np.testing.assert_array_equal(tables[1000], xlogy(numbers, numbers))


def test_threads_compute_the_gains_of_a_grid_once(monkeypatch):
    calls = []

    def counted(self, *arguments, **options):
        calls.append(self)
        time.sleep(0.05)
        return np.linspace(0.1, 0.0, strategies._GRID_SIZE)

    monkeypatch.setattr(strategies.FlipNoise, "expected_information_gain", counted)
    strategies._gains_on_grid.cache_clear()
    with ThreadPoolExecutor(4) as pool:
        reaches = set(
            pool.map(lambda _: strategies.query_reach(0.123, "exact", 0.05), range(4))
        )
    strategies._gains_on_grid.cache_clear()
    assert len(calls) == len(reaches) == 1
