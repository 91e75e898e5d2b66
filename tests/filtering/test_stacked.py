"""Profiles with an online stack: against plain NumPy, stored and replayed, queries as before."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, log_ndtr

from bayesift.errors import DataError
from bayesift.filtering import Filter, Profile, ProfileSettings, ProfileState, Strategy
from bayesift.filtering.engine import replay_events
from bayesift.filtering.profile import row_vector
from bayesift.filtering.simulation import play
from tests.filtering.test_profile import documents
from tests.filtering.worlds import engine, same_state, stream
from tests.oracles.online_stack import Regression, Stack

STACKED = ProfileSettings(model="stack")


def rows_of(X):
    rows = sparse.csr_array(X)
    rows.indptr, rows.indices = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
    return rows


def test_probabilities_are_those_of_plain_numpy():
    X, labels = documents(n=80)
    rows, n_batch = rows_of(X), 40
    plain, profile = (
        Profile("grain", ProfileSettings(n_epochs=1)),
        Profile("grain", ProfileSettings(n_epochs=1, model="stack")),
    )
    plain.learn_batch(rows[:n_batch], labels[:n_batch])
    profile.learn_batch(rows[:n_batch], labels[:n_batch])
    stack, mixer = Stack(X.shape[1], 1), Regression([1, 0, 0], [0.1, 0.1, 0.1])
    fresh = Profile("grain", ProfileSettings(n_epochs=1))
    fresh.set_terms(plain.terms)
    fresh.posterior.grow(1 + len(plain.terms), fresh.dynamics)
    for i in range(len(labels)):
        model = fresh if i < n_batch else plain
        vector = row_vector(rows, i, str(i))
        mean, variance = model.field(vector)
        u = mean / np.sqrt(variance)
        z = np.array(
            [
                log_ndtr(u) - log_ndtr(-u),
                np.clip(stack.learn(X[i], labels[[i]].astype(float))[0], -12, 12),
                1.0,
            ]
        )
        if i >= n_batch:
            assert profile.probability(vector) == pytest.approx(
                expit(mixer.output(z)), rel=1e-7
            )
            profile.judge(vector, bool(labels[i]))
            plain.judge(vector, bool(labels[i]))
        else:
            sign = np.array([1.0 if labels[i] else -1.0])
            fresh.posterior.learn(fresh._row(vector), sign, fresh.likelihood, fresh.dynamics)
        mixer.learn(z, float(labels[i]))


def test_a_scan_finds_what_the_probabilities_say_and_what_the_posterior_asks_for():
    X, labels = documents(n=300, seed=1)
    rows = rows_of(X)
    for name in ("plain", "+ig", "+roi", "+rnd"):
        strategy = Strategy.of(name, stream_length=100)
        profile = Profile("grain", ProfileSettings(model="stack", strategy=strategy))
        profile.learn_batch(rows[:100], labels[:100])
        draws = profile.draws([str(i) for i in range(300)])
        likely = profile.probabilities(rows) > profile.threshold
        asked = None if name == "plain" else profile._scan(rows, 100, draws)
        first = 100 + int(np.argmax(likely[100:]))
        hit = profile.scan(rows, 100, draws)
        assert hit.row == (first if asked is None else min(first, asked.row))
        assert (hit.why == 1) == bool(likely[hit.row])


def test_a_stack_starts_as_the_posterior_and_learns_more_words():
    X, labels = documents(n=400, seed=2)
    rows = rows_of(X)
    blank = Profile("grain", STACKED, prior={0: 5.0})
    alone = Profile("grain", ProfileSettings(), prior={0: 5.0})
    np.testing.assert_array_equal(
        blank.probabilities(rows) > 0.5, alone.probabilities(rows) > 0.5
    )
    runs = {}
    for model in ("perceptron", "stack"):
        profile = Profile(
            "grain", ProfileSettings(model=model, cut=200.0)
        )  # no word is informative enough
        profile.learn_batch(rows[:100], labels[:100])
        runs[model] = play(profile, rows[100:], labels[100:], [str(i) for i in range(300)])
    assert runs["stack"].relevant.sum() > runs["perceptron"].relevant.sum()


def test_states_are_stored_and_replayed_bit_for_bit():
    made = engine("+rel+ig", model="stack")
    running = Filter(made)
    items, labels = stream(60, seed=3)
    for item, label in zip(items, labels, strict=True):
        for event in running.observe([item]):
            running.judge(event.profile, event.id, label)
    profile = made.profiles["grain0"]
    state = ProfileState.of(profile)
    assert same_state(ProfileState.of(state.profile()), state)
    assert same_state(
        ProfileState.of(
            replay_events(made.starts["grain0"].profile(), running.log.of_profile("grain0"))
        ),
        state,
    )
    judged = next(iter(profile.judgements))
    running.take_back("grain0", judged)
    assert not same_state(ProfileState.of(made.profiles["grain0"]), state)
    with pytest.raises(DataError, match="not the state of a profile"):
        ProfileState(
            {k: v for k, v in state.header.items() if k != "stack"}, state.arrays
        ).profile()
    with pytest.raises(ValueError, match="model must be"):
        ProfileSettings(model="forest")
