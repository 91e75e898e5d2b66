"""Two logs of one review that both grew: one order, nothing lost, disagreements shown."""

from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesift.errors import DataError
from bayesift.references import Reference
from bayesift.screening import Duplicates, Project, ReviewLog
from bayesift.screening.merging import merge_logs, new_events
from bayesift.screening.review_log import Event
from tests.screening.test_project import RECORDS

TITLES = ("Corn", "Gold", "Corn", "Wheat", "Gold")
GROUPS = [1, 2, 1, 3, 2]


def new_log(events=()):
    return ReviewLog([Reference(title=title) for title in TITLES], list(GROUPS), None, events)


def at(minute):
    return f"2026-01-01T08:{minute:02d}:00.000Z"


def decide(by, record, verdict, minute):
    return Event("decide", at(minute), by, record, {"verdict": verdict})


def both(common, mine, theirs, by="ann"):
    """Merge, and return what both logs hold then, with what was found."""
    here = new_log([*common, *mine])
    there = new_log([*common, *theirs])
    found = merge_logs(here, there.events, by)
    here.accept(found.here)
    there.accept(found.there)
    assert here.events == there.events
    assert state(here) == state(there)
    return here, found


def state(log):
    values = dict(vars(log))
    del values["events"]
    return values


def test_one_log_that_only_has_more_is_taken_as_it_is():
    common = [decide("ann", "1", "included", 1)]
    more = [decide("ann", "2", "excluded", 2), Event("undo", at(3), "ann", "2")]
    for mine, theirs in ((more, []), ([], more), (more, more)):
        log, found = both(common, mine, theirs)
        assert log.events == [*common, *more]
        assert not found.conflicts
        assert not found.left_out


def test_events_are_ordered_by_time_and_the_later_decision_of_a_person_holds():
    mine = [decide("ann", "1", "included", 1), decide("ann", "2", "maybe", 5)]
    theirs = [decide("ann", "1", "excluded", 3), decide("ben", "2", "included", 4)]
    log, found = both([], mine, theirs)
    assert log.events[:4] == [mine[0], theirs[0], theirs[1], mine[1]]
    assert log.decisions_on("1")["ann"].verdict == "excluded"
    assert [str(each) for each in found.conflicts] == [
        "record 1: ann: included, ann: excluded",
        "record 2: ann: maybe, ben: included",
    ]
    assert log.events[-1].data["conflicts"] == ["1", "2"]
    assert log.status("2") == "conflict"


def test_what_cannot_follow_is_listed_and_kept():
    mine = [decide("ann", "1", "included", 1), Event("undo", at(9), "ann", "1")]
    theirs = [decide("ann", "2", "excluded", 5)]
    log, found = both([], mine, theirs)
    assert [each.event for each in found.left_out] == [mine[1]]
    assert "undo by ann on record 1" in str(found.left_out[0])
    assert log.events[-1].data["left_out"] == [mine[1].values]
    assert sorted(log.decisions) == ["1", "2"]


def test_what_was_left_out_is_tried_again_by_the_next_merge():
    undo = Event("undo", at(9), "ann", "1")
    mine = [decide("ann", "1", "included", 1), undo]
    theirs = [decide("ann", "2", "excluded", 5)]
    log, _ = both([], mine, theirs)
    taken_back = Event("undo", at(7), "ann", "2")
    again, found = both([], log.events, [*theirs, taken_back])
    assert not found.left_out
    assert not again.decisions


def test_a_number_that_both_logs_gave_to_other_records_is_not_mistaken():
    mine = [Event("split", at(1), "ann", "1"), decide("ann", "4", "included", 3)]
    theirs = [Event("split", at(2), "ben", "2"), decide("ben", "4", "excluded", 4)]
    log, found = both([], mine, theirs)
    assert log.records["4"].reference.title == "Corn"
    assert log.decisions_on("4").keys() == {"ann"}
    (left,) = found.left_out
    assert left.event == theirs[1]
    assert "another one" in left.why


def test_a_log_that_was_merged_goes_on_and_is_merged_again():
    mine = [decide("ann", "1", "included", 1)]
    theirs = [decide("ben", "2", "included", 2)]
    log, _ = both([], mine, theirs)
    grown = [*log.events, decide("ann", "3", "maybe", 30)]
    for old in (mine, theirs, log.events):
        again, found = both([], grown, old)
        assert again.events == grown
        assert not found.here
    once_more, _ = both([], grown, [*theirs, decide("ben", "3", "maybe", 31)])
    assert [event.by for event in once_more.events] == ["ann", "ben", "ann", "ben", "ann"]


def test_merges_that_no_program_writes_are_refused():
    log = new_log([decide("ann", "1", "included", 1)])
    whole = {"since": 0, "merged": [], "left_out": [], "conflicts": []}
    nested = Event("merge", at(1), "ann", "", whole).values
    for wrong in (
        {"since": 2},
        {"since": -1},
        {"since": True},
        {"since": None},
        {"merged": None},
        {"merged": [5]},
        {"merged": [nested]},
        {"merged": [{"type": "dream"}]},
        {"merged": [decide("ann", "9", "included", 1).values]},
        {"left_out": [{"type": "decide"}]},
        {"conflicts": [5]},
    ):
        with pytest.raises(ValueError, match=r"."):
            log.check(Event("merge", at(2), "ann", "", whole | wrong))


def test_new_events_of_another_log_do_not_bring_its_bookkeeping():
    common = [decide("ann", "1", "included", 1)]
    imported = Event("import", at(2), "ann", "", {"file": "x", "events": 1})
    new = decide("ann", "2", "included", 3)
    assert new_events([*common, imported], [*common, new]) == ([new], [*common, imported, new])
    assert new_events(common, [*common, imported, new]) == ([new], [*common, new])


@st.composite
def lives(draw):
    """Events of some people, each of which could follow those before it."""
    common = draw(acts(new_log(), 0))
    mine = draw(acts(new_log(common), len(common)))
    theirs = draw(acts(new_log(common), len(common)))
    return common, mine, theirs


@st.composite
def acts(draw, log, first):
    before = len(log.events)
    kinds = st.sampled_from(["decide"] * 4 + ["undo", "note", "split", "join", "resolve"])
    for number in range(draw(st.integers(0, 8))):
        kind = draw(kinds)
        by = draw(st.sampled_from(["ann", "ben"]))
        record = draw(st.sampled_from(sorted(log.records)))
        data = {}
        if kind in ("decide", "resolve"):
            data["verdict"] = draw(st.sampled_from(["included", "excluded", "maybe"]))
        elif kind == "note":
            data["text"] = "seen"
        elif kind == "join":
            data["records"] = [draw(st.sampled_from(sorted(log.records)))]
        elif kind == "undo":
            record = log.last_decision(by) or record
        minute = min(59, first + number + draw(st.integers(0, 4)))
        event = Event(kind, at(minute), by, record, data)
        try:
            log.check(event)
        except DataError:
            continue
        log.accept([event])
    return log.events[before:]


@settings(max_examples=300, deadline=None)
@given(lives())
def test_both_logs_hold_the_same_and_every_event_is_there_or_listed(life):
    common, mine, theirs = life
    log, found = both(common, mine, theirs)
    held = [event for event in log.events if event.type != "merge"]
    listed = [each.event for each in found.left_out]
    for event in (*common, *mine, *theirs):
        assert event in held or event in listed
    times = [datetime.fromisoformat(event.at) for event in held[len(common) :]]
    if not found.left_out and all(map(is_sorted, (mine, theirs))) and mine and theirs:
        assert times == sorted(times) or not found.here or not found.there
    again = new_log(log.events)
    assert state(again) == state(log)


def is_sorted(events):
    times = [event.at for event in events]
    return times == sorted(times)


@settings(max_examples=150, deadline=None)
@given(lives())
def test_it_does_not_matter_which_log_is_merged_into_which(life):
    common, mine, theirs = life
    if not (is_sorted(mine) and is_sorted(theirs)) or any(event in theirs for event in mine):
        return
    one, _ = both(common, mine, theirs)
    other, _ = both(common, theirs, mine)
    assert [event for event in one.events if event.type != "merge"] == [
        event for event in other.events if event.type != "merge"
    ]


def test_a_folder_keeps_a_merge(tmp_path):
    alone = Duplicates(tuple((place,) for place in range(4)), ())
    with Project.create(tmp_path / "review", RECORDS, duplicates=alone) as project:
        project.append("decide", by="ann", record="1", verdict="included")
        other = [decide("ben", "2", "excluded", 1)]
        project.extend(merge_logs(project, other, "ann").here)
        project.append("decide", by="ann", record="3", verdict="maybe")
        events = project.events
    with Project(tmp_path / "review", writing=True) as project:
        assert project.events == events
        assert [event.by for event in events] == ["ben", "ann", "ann", "ann"]
        before = list(project.events)
        project.append("decide", by="ann", record="4", verdict="maybe")
        project.take_back(before)
        assert project.events == before
    with Project(tmp_path / "review") as project:
        assert project.events == events
