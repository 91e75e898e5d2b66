"""Which candidates `auto` spends its time on."""

import time

import numpy as np
import pytest
from scipy import sparse

from bayesift import DataWarning
from bayesift.features import Design
from bayesift.models.ensemble import AutoClassifier, auto, stacking
from bayesift.models.ensemble.members import (
    LogisticMember,
    Member,
    NaiveBayesMember,
    Sample,
    Settings,
    Size,
    SoftmaxMember,
)
from bayesift.models.ensemble.plan import Plan, Prospect, usual_seconds
from bayesift.models.ensemble.stacking import Candidate, CrossFitting

WORDS, PAIRS = ("words",), ("words", "pairs")


def prospects(*given):
    """Prospects by kinds of blocks, gain and seconds."""
    return [Prospect(Candidate(Member(), kinds, gain), cost) for kinds, gain, cost in given]


def order(plan):
    """The candidates of a plan, each of them scored by two fits."""
    found = []
    while (index := plan.next()) is not None:
        found.append(index)
        for _ in range(2):
            plan.fitted(index)
        plan.keep(index)
    return found


def test_candidates_come_by_gain_per_second_and_the_first_of_a_kind_before_the_others():
    given = prospects(
        (WORDS, 1.0, 5.0), (WORDS, 0.2, 0.1), (PAIRS, 0.2, 9.0), (PAIRS, 0.1, 0.1)
    )
    assert order(Plan(given, 3, 100.0)) == [1, 0, 2, 3]


def test_without_a_budget_modelled_seconds_are_spent(monkeypatch):
    given = prospects((WORDS, 1.0, 2.0), (WORDS, 0.2, 0.1), (PAIRS, 0.2, 4.0))
    monkeypatch.setattr(time, "perf_counter", lambda: 1e6)
    assert order(Plan(given, 3, 6.3)) == [1, 0]
    assert order(Plan(given, 3, 18.3)) == [1, 0, 2]
    assert order(Plan(given, 3, 1e-9)) == [1]  # the cheapest one always
    dear = prospects((WORDS, 99.0, 5.0), (WORDS, 0.2, 0.1))
    assert order(Plan(dear, 3, 1.0)) == [1]


def test_with_a_budget_the_pace_of_earlier_fits_counts(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])

    def tried(seconds):
        clock[0] = 0.0
        given = prospects((WORDS, 1.0, 1.0), (WORDS, 0.2, 1.0), (WORDS, 0.1, 3.0))
        plan = Plan(given, 3, seconds / 0.95, begun=0.0)
        found = []
        while (index := plan.next()) is not None:
            found.append(index)
            for _ in range(2):  # fits take twice as long as modelled
                clock[0] += 2.0 * given[index].seconds
                plan.fitted(index)
            plan.keep(index)
        return found

    assert tried(11.9) == [0]
    assert tried(12.1) == [0, 1]
    assert tried(30.1) == [0, 1, 2]


def test_a_plan_ends_when_progress_says_so_but_not_without_a_model():
    told = []

    def progress(done, total):
        told.append((done, total))
        return True

    given = prospects((WORDS, 1.0, 1.0), (WORDS, 0.2, 1.0))
    plan = Plan(given, 3, 100.0, progress=progress)
    assert order(plan) == [0]
    assert all(done <= total for done, total in told)
    assert not plan.goes_on(1, 1)


def test_costs_grow_with_documents_and_categories():
    small, large = Size(1_000, 5e4, 9_000, 10), Size(2_000, 1e5, 9_000, 20)
    for member in (LogisticMember(), SoftmaxMember(), NaiveBayesMember()):
        assert member.seconds(small) < member.seconds(large)
    assert usual_seconds(1e-3, 100.0) < usual_seconds(1e-3, 1e6) < 60.0
    assert usual_seconds(1e-3, 100.0) < usual_seconds(50.0, 100.0) < 600.0
    assert usual_seconds(1e6, 1e9) == 600.0


def documents(n_documents=300, n_categories=12):
    """Documents with some words of each of their categories, and the categories."""
    generator = np.random.default_rng(0)
    labels = generator.random((n_documents, n_categories)) < 0.15
    rates = 0.01 + labels @ (generator.random((n_categories, 600)) < 0.03)
    counts = generator.poisson(rates).astype(np.float64)
    counts[:, 0] = 1.0
    return sparse.csr_array(counts / np.linalg.norm(counts, axis=1)[:, np.newaxis]), labels


def test_a_budget_that_is_too_short_is_said():
    rows, labels = documents()
    with pytest.warns(DataWarning, match="even the quickest model takes"):
        model = AutoClassifier(budget=1e-6).fit(rows, labels[:, 0])
    assert len(model.members_) == 1


def test_where_time_is_short_some_folds_are_held_out(monkeypatch):
    rows, labels = documents()
    classes = labels[:, 0].astype(int)
    monkeypatch.setattr(auto, "usual_seconds", lambda one_fit, n_entries: 5.0 * one_fit)
    monkeypatch.setattr(auto, "_ENOUGH_DOCUMENTS", 60)
    short = AutoClassifier().fit(rows, classes)
    assert len(short.held_out_.documents) == 60
    assert short.held_out_.alone == 0.0
    monkeypatch.undo()
    assert len(AutoClassifier().fit(rows, classes).held_out_.documents) == 300


def five_categories_at_a_time(monkeypatch):
    monkeypatch.setattr(stacking, "_MANY_WEIGHTS", 3_000)
    monkeypatch.setattr(stacking, "_BLOCK_WEIGHTS", 3_000)


@pytest.mark.parametrize("member", [NaiveBayesMember(0.5), LogisticMember(30.0)])
def test_categories_in_blocks_have_nearly_the_same_scores(monkeypatch, member):
    rows, labels = documents()
    sample = Sample(Design.of_words(rows), sparse.csr_array(labels.astype(float)), np.ones(300))

    def fitted():
        fitting = CrossFitting(
            [Candidate(member, WORDS)], sample, Settings(1e-2, 0, None), n_folds=3, enough=300
        )
        fitting.score(0)
        planes, _ = fitting.combine(np.ones(1))
        return fitting.held_out.scores[0], planes.scores_checked(rows)

    whole = fitted()
    five_categories_at_a_time(monkeypatch)
    for expected, found in zip(whole, fitted(), strict=True):
        correlation = np.corrcoef(expected.ravel(), found.ravel())[0, 1]
        assert correlation > 0.98


def test_many_categories_are_learned_and_saved_in_blocks(monkeypatch, tmp_path):
    rows, labels = documents()
    expected = AutoClassifier().fit(rows, labels.astype(int))
    five_categories_at_a_time(monkeypatch)
    model = AutoClassifier().fit(rows, labels.astype(int))
    assert sparse.issparse(model.coef_)
    agreement = np.mean(model.predict(rows) == expected.predict(rows))
    assert agreement > 0.97
    restored = AutoClassifier.from_state(*model.get_state())
    np.testing.assert_array_equal(restored.predict_proba(rows), model.predict_proba(rows))


def test_samples_of_folds_are_shared_only_while_they_are_small_and_change_nothing(monkeypatch):
    rows, labels = documents()
    sample = Sample(Design.of_words(rows), sparse.csr_array(labels.astype(float)), np.ones(300))
    members = [Candidate(member, WORDS) for member in (NaiveBayesMember(0.5), LogisticMember())]

    def fitted():
        fitting = CrossFitting(members, sample, Settings(1e-2, 0, None), n_folds=3, enough=300)
        for index in range(2):
            fitting.score(index)
        return fitting

    shared = fitted()
    assert len(shared.splits) == 3
    monkeypatch.setattr(stacking, "_MAX_SHARED_ENTRIES", 0)
    alone = fitted()
    assert not alone.splits
    np.testing.assert_array_equal(shared.held_out.scores, alone.held_out.scores)
