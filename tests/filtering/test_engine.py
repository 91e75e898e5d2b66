import gc
import weakref
from unittest.mock import ANY

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesift.errors import DataError
from bayesift.filtering import (
    FilterEngine,
    Judged,
    MemoryLog,
    Paused,
    ProfileState,
    TakenBack,
    create_filter,
    engine_of,
    open_filter,
    save_checkpoint,
)
from bayesift.filtering.engine import replay_events
from bayesift.filtering.saving import FileLog
from bayesift.records import Document
from bayesift.service.filters.schemas import FilterIn
from bayesift.text import WordVectors
from tests.filtering.worlds import engine, logged, replayed, same_state, stream

quick = settings(max_examples=15, deadline=None)


def states(made):
    return {name: ProfileState.of(profile) for name, profile in made.engine.profiles.items()}


def same(one, other):
    return one.keys() == other.keys() and all(
        same_state(one[name], other[name]) for name in one
    )


def documents_of(engine):
    """All documents in memory, relevant and pending ones."""
    return [
        d
        for profile in engine.profiles.values()
        for d in (*profile.kept, *profile.pending.values())
    ]


class Actions:
    """Turns numbers into the events of a filter: documents and judgements.

    Judgements come early and late, twice, and are withdrawn.
    """

    def __init__(self, made):
        self.filter = made
        self.documents, labels = stream(60, seed=5)
        self.labels = {d.id: label for d, label in zip(self.documents, labels, strict=True)}
        self.at = 0

    def do(self, choice, which):
        profile = self.filter.engine.profiles["grain0"]
        if choice <= 2 and self.at < len(self.documents):
            self.filter.observe([self.documents[self.at]])
            self.at += 1
        elif choice == 3 and profile.pending:
            name = list(profile.pending)[which % len(profile.pending)]
            self.filter.judge("grain0", name, self.labels[name])
        elif choice == 4 and profile.judgements:
            name = list(profile.judgements)[which % len(profile.judgements)]
            self.filter.judge("grain0", name, bool(which % 2))
        elif choice == 5 and profile.judgements:
            self.filter.take_back(
                "grain0", list(profile.judgements)[which % len(profile.judgements)]
            )
        elif choice == 6:
            self.filter.teach("grain0", ["wheat", "oil", "unheard"][which % 3], which % 4 - 1)
        elif choice == 7:
            self.filter.pause("grain0", bool(which % 2))


actions = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 100)), max_size=40)


@quick
@given(actions)
def test_state_is_a_function_of_the_events(happening):
    acted = Actions(logged())
    for step in happening:
        acted.do(*step)
    for name, state in states(acted.filter).items():
        assert same_state(ProfileState.of(replayed(acted.filter, name)), state)


@quick
@given(actions, st.integers(0, 40), st.booleans())
def test_a_filter_that_was_saved_and_resumed_is_the_same_bit_for_bit(
    tmp_path_factory, happening, cut, checkpoint
):
    whole = Actions(logged())
    for step in happening:
        whole.do(*step)
    folder = tmp_path_factory.mktemp("filter")
    parted = Actions(logged())
    parted.filter = create_filter(folder, parted.filter.engine)
    with parted.filter.log as log:
        for step in happening[:cut]:
            parted.do(*step)
        if checkpoint:
            save_checkpoint(folder, parted.filter.engine, log)
        for step in happening[cut : cut + 3]:
            parted.do(*step)
    opened = open_filter(folder)
    with opened.log:
        parted.filter = opened
        for step in happening[cut + 3 :]:
            parted.do(*step)
        assert same(states(parted.filter), states(whole.filter))


@quick
@given(actions, st.booleans())
def test_taking_a_judgement_back_gives_what_was_before(happening, relevant):
    acted = Actions(logged())
    for step in happening:
        acted.do(*step)
    new = Document("new", "wheat corn oil and something else")
    before = states(acted.filter)
    acted.filter.judge("grain0", new, relevant)
    assert not same(states(acted.filter), before)
    acted.filter.take_back("grain0", "new")
    assert same(states(acted.filter), before)


def test_a_judgement_given_twice_counts_once_and_another_one_replaces_it():
    once, twice, changed = (logged() for _ in range(3))
    document = Document("x", "wheat corn")
    once.judge("grain0", document, True)
    twice.judge("grain0", document, True)
    twice.judge("grain0", "x", True)
    changed.judge("grain0", document, False)
    changed.judge("grain0", "x", True)
    assert same(states(once), states(twice))
    assert same(states(once), states(changed))


@quick
@given(actions, st.sampled_from(["barley", "never seen before"]))
def test_taking_a_word_back_gives_what_was_before(happening, word):
    acted = Actions(logged())
    for step in happening:
        acted.do(*step)
    before = states(acted.filter)
    acted.filter.teach("grain0", word, -0.5)
    assert not same(states(acted.filter), before)
    acted.filter.teach("grain0", word, 0)
    assert same(states(acted.filter), before)


def test_a_word_that_is_taught_moves_the_prior_and_keeps_what_documents_said():
    acted = Actions(logged())
    for step in [(0, 0), (0, 0), (3, 0), (0, 0), (4, 1)] * 6:
        acted.do(*step)
    profile = acted.filter.engine.profiles["grain0"]
    precision = np.linalg.inv(profile.posterior.covariance())
    before = precision @ profile.posterior.mean()
    place = profile.lookup[acted.filter.engine.space.columns_of("wheat")[0]]
    assert place > 0
    acted.filter.teach("grain0", "wheat", 0.4)
    moved = precision @ profile.posterior.mean() - before
    wanted = np.zeros(len(moved))
    wanted[place] = 0.4 * 15.0 / profile.settings.prior_variance
    np.testing.assert_allclose(moved, wanted, atol=1e-8)
    np.testing.assert_allclose(np.linalg.inv(profile.posterior.covariance()), precision)


def test_a_blank_profile_that_is_taught_a_word_is_one_that_starts_from_it():
    made = logged()
    made.engine.add_profile("start", words={"wheat": 1.0})
    made.engine.add_profile("later")
    made.teach("later", "Wheat", 1.0)
    start, later = (
        ProfileState.of(made.engine.profiles[name]).arrays for name in ("start", "later")
    )
    assert all(np.array_equal(array, later[name]) for name, array in start.items())


def test_a_word_taught_in_the_stream_takes_effect_at_once():
    made = logged()
    made.engine.add_profile("nothing")
    made.teach("nothing", "barley", 1)
    made.teach("nothing", "oil", -3)
    events = made.observe(
        [Document("1", "barley"), Document("2", "barley with oil oil"), Document("3", "oil")]
    )
    assert [event.id for event in events if event.profile == "nothing"] == ["1"]


def test_a_paused_profile_retrieves_nothing_and_still_learns():
    made = logged(n_profiles=2)
    documents, _ = stream(60, seed=8)
    made.pause("grain0")
    taken = made.observe(documents[:30])
    assert {event.profile for event in taken} == {"grain1"}
    made.judge("grain0", documents[0], True)
    assert same_state(
        ProfileState.of(replayed(made, "grain0")),
        ProfileState.of(made.engine.profiles["grain0"]),
    )
    made.pause("grain0", False)
    assert {event.profile for event in made.observe(documents[30:])} == {"grain0", "grain1"}


def test_the_engine_holds_no_more_documents_than_its_profiles_keep(tmp_path):
    made = logged("+rel+ig", n_profiles=3, max_pending=4)
    made.log = FileLog(tmp_path / "events.jsonl", made.engine.space)
    documents, labels = stream(120, seed=9)
    alive = [weakref.ref(vector) for vector in documents_of(made.engine)]
    for document, label in zip(documents, labels, strict=True):
        for profile in [event.profile for event in made.observe([document])]:
            alive.append(weakref.ref(made.engine.profiles[profile].pending[document.id]))
            if int(document.id[1:]) % 3:
                made.judge(profile, document.id, label)
    made.log.close()
    gc.collect()
    held = {id(vector) for vector in documents_of(made.engine)}
    assert {id(ref()) for ref in alive if ref() is not None} <= held
    kept = sum(len(profile.kept) for profile in made.engine.profiles.values())
    waiting = sum(len(profile.pending) for profile in made.engine.profiles.values())
    assert len(held) <= kept + waiting
    assert max(len(profile.pending) for profile in made.engine.profiles.values()) <= 4
    assert all(profile.kept for profile in made.engine.profiles.values())


def decided(event):
    return event.profile, event.id, event.why, event.probability, event.gain


def test_many_documents_at_once_are_decided_as_one_by_one():
    one, many = logged(n_profiles=2), logged(n_profiles=2)
    documents, _ = stream(80, seed=4)
    singly = [event for document in documents for event in one.observe([document])]
    assert list(map(decided, many.observe(documents))) == list(map(decided, singly))
    assert same(states(one), states(many))
    assert singly


def test_retrievals_say_why():
    made = logged("+ig")
    documents, _ = stream(40, seed=8)
    events = [event for document in documents for event in made.observe([document])]
    assert 0 < len(events) < 40
    assert {event.why for event in events} <= {"relevant", "queried"}
    for event in events:
        assert (event.probability > 0.5) is (event.why == "relevant")
        assert event.why == "relevant" or event.gain > 0


def test_the_engine_returns_its_events_and_keeps_none():
    made, kept = engine("+rel+ig"), MemoryLog()
    documents, labels = stream(40, seed=8)
    events = []

    def keep(returned):
        events.extend(returned)
        kept.extend(returned)

    for document, label in zip(documents, labels, strict=True):
        for event in made.observe(document):
            keep([event])
            keep(made.judge("grain0", event.id, label, kept))
    judged = next(event for event in events if isinstance(event, Judged))
    keep(made.judge("grain0", judged.id, not judged.relevant, kept))
    assert events[-2:] == [
        TakenBack("grain0", judged.id),
        Judged("grain0", judged.id, not judged.relevant, ANY),
    ]
    keep(made.take_back("grain0", judged.id, kept))
    keep(made.teach("grain0", "wheat", 1.0, kept))
    keep(made.teach("grain0", "wheat", 0.5, kept))
    keep(made.pause("grain0"))
    assert events[-1] == Paused("grain0", True)
    assert made.pause("grain0") == made.teach("grain0", "wheat", 0.5, kept) == []
    assert not hasattr(made, "log")
    again = replay_events(made.starts["grain0"].profile(), events)
    assert same_state(ProfileState.of(again), ProfileState.of(made.profiles["grain0"]))


def test_a_late_judgement_of_a_document_that_was_let_go_is_found_in_the_log():
    made = logged("+ig", max_pending=1)
    documents, labels = stream(60, seed=8)
    taken = [event.id for event in made.observe(documents)]
    truth = {d.id: label for d, label in zip(documents, labels, strict=True)}
    assert len(taken) > 1
    made.judge("grain0", taken[0], truth[taken[0]])
    assert taken[0] in made.engine.profiles["grain0"].judgements
    assert same_state(
        ProfileState.of(replayed(made, "grain0")),
        ProfileState.of(made.engine.profiles["grain0"]),
    )


def test_profiles_learn_from_a_query_from_words_and_from_nothing():
    made = logged()
    made.engine.add_profile("query", query="wheat and corn")
    made.engine.add_profile("words", words={"wheat": 3.0, "oil": -3.0})
    made.engine.add_profile("nothing")
    reasons = {
        event.profile: event.why
        for event in made.observe([Document("x", "wheat corn harvest")])
    }
    assert reasons["query"] == reasons["words"] == "relevant"
    assert "nothing" not in reasons
    assert "words" not in {
        event.profile for event in made.observe([Document("y", "oil and crude")])
    }


def test_labelled_examples_start_a_profile():
    made = logged()
    documents, labels = stream(60, seed=3)
    profile = made.engine.add_profile(
        "examples",
        examples=[(d.full_text, label) for d, label in zip(documents, labels, strict=True)],
    )
    assert profile.n_relevant == sum(labels)
    assert profile.n_terms > 0
    new, truth = stream(100, seed=11)
    taken = {event.id for event in made.observe(new) if event.profile == "examples"}
    precision = np.mean([truth[int(name[1:])] for name in taken])
    assert precision > 0.8


def test_a_topic_statement_may_count_as_a_relevant_document():
    made = logged()
    profile = made.engine.add_profile("statement", query="wheat", query_as_example=True)
    assert profile.n_relevant == 1


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda made: made.judge("nobody", "1", True), "no profile"),
        (lambda made: made.judge("grain0", "never", True), "never retrieved"),
        (lambda made: made.take_back("grain0", "never"), "no judgement"),
        (lambda made: made.teach("nobody", "wheat", 1), "no profile"),
        (lambda made: made.teach("grain0", "the", 1), "no word"),
        (lambda made: made.teach("grain0", "wheat", float("nan")), "finite"),
        (lambda made: made.pause("nobody"), "no profile"),
    ],
)
def test_what_cannot_be_done_is_refused(act, message):
    with pytest.raises(DataError, match=message):
        act(logged())


def test_a_name_is_taken_once():
    made = logged()
    with pytest.raises(ValueError, match="already"):
        made.engine.add_profile("grain0")


def test_a_query_can_be_expanded_by_meaning(tmp_path, monkeypatch):
    vectors = WordVectors.of(["corn", "maize", "oil"], [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    document = Document("1", "maize")
    plain, expanded = FilterEngine(), FilterEngine()
    plain.add_profile("grain", query="corn")
    expanded.add_profile("grain", query="corn", expand=vectors)
    by_hand = FilterEngine()
    by_hand.add_profile("grain", query="corn", words=vectors.expand("corn"))
    chances = [
        made.profiles["grain"].probability(made.space.vector("1", document.text))
        for made in (plain, expanded, by_hand)
    ]
    assert chances[0] < chances[1] == chances[2]
    monkeypatch.setattr(WordVectors, "installed", classmethod(lambda cls: vectors))
    (tmp_path / "profiles.yaml").write_text(
        "profiles: [{name: grain, query: corn, expand: true}]"
    )
    described = engine_of(tmp_path / "profiles.yaml")
    assert (
        described.profiles["grain"].probability(described.space.vector("1", "maize"))
        == chances[1]
    )
    assert FilterIn(name="grain", query="corn", expand=True, words={"oil": -1}).definition()[
        "words"
    ] == {
        **vectors.expand("corn"),
        "oil": -1.0,
    }
    monkeypatch.setattr(WordVectors, "installed", classmethod(lambda cls: None))
    with pytest.raises(DataError, match="no word vectors here"):
        FilterIn(name="grain", query="corn", expand=True).definition()
