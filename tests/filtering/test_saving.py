import json
import re

import numpy as np
import pytest

from bayesift.errors import DataError
from bayesift.filtering import (
    FilterRun,
    Judged,
    ProfileState,
    Retrieved,
    VectorSpace,
    create_filter,
    engine_of,
    open_filter,
)
from bayesift.filtering.events import ProfileState as State
from bayesift.filtering.saving import FileLog
from tests.filtering.worlds import PROFILES, engine, same_state, stream

YAML = f"""{PROFILES}\
    examples: oil.jsonl
    settings: {{max_terms: 50}}
    options: {{gain: exact}}
"""


@pytest.fixture
def profiles(write):
    examples = [
        ("oil crude rig", True),
        ("bank loan", False),
        ("opec barrel crude", True),
        ("wheat", False),
    ] * 3
    write(
        "oil.jsonl", "".join(json.dumps({"text": t, "relevant": r}) + "\n" for t, r in examples)
    )
    return write("profiles.yaml", YAML)


def lines_of(n=80, *, seed=2, judge=True):
    """Documents with a judgement of every third, some lines later, given twice, some withdrawn."""
    documents, labels = stream(n, seed=seed)
    lines = []
    for i, document in enumerate(documents):
        lines.append(json.dumps({"id": document.id, "text": document.text}))
        if judge and i > 5 and i % 3 == 0:
            order = {"profile": "grain", "id": documents[i - 5].id, "relevant": labels[i - 5]}
            lines.append(json.dumps({"judge": {**order, "text": documents[i - 5].text}}))
        if judge and i % 17 == 16:
            lines.append(json.dumps({"undo": {"profile": "grain", "id": documents[i - 5].id}}))
        if judge and i % 13 == 12:
            lines.append(
                json.dumps({"teach": {"profile": "oil", "word": "rig", "strength": i % 3}})
            )
            lines.append(json.dumps({"pause" if i % 2 else "resume": {"profile": "grain"}}))
    return lines


def feed(folder, profiles, lines, **options):
    opened = (
        open_filter(folder)
        if (folder / "start").exists()
        else create_filter(folder, engine_of(profiles))
    )
    with opened.log:
        run = FilterRun(folder, opened, report=[].append, **options)
        answers = list(run.feed(lines))
        return run, answers


def states(run):
    return {name: ProfileState.of(profile) for name, profile in run.engine.profiles.items()}


def same(one, other):
    return one.keys() == other.keys() and all(
        same_state(one[name], other[name]) for name in one
    )


def with_background(profiles):
    """Fixed frequencies: what is looked at together makes no difference."""
    background = profiles.parent / "background.jsonl"
    background.write_text("".join(line + "\n" for line in lines_of(40, seed=4, judge=False)))
    profiles.write_text(f"background: {background.name}\n{YAML}")
    return profiles


@pytest.mark.parametrize("batch", [1, 7, 256])
def test_a_run_in_two_parts_is_one_run(tmp_path, profiles, batch):
    lines = lines_of()
    with_background(profiles)
    whole, answers = feed(tmp_path / "whole", profiles, lines, batch=1)
    first, early = feed(tmp_path / "parts", profiles, lines[:41], batch=batch)
    first.save()
    second, late = feed(tmp_path / "parts", profiles, lines[41:], batch=batch)
    assert early + late == answers
    assert same(states(whole), states(second))
    assert {json.loads(answer)["profile"] for answer in answers} == {"grain", "oil"}


def test_a_run_that_was_killed_goes_on_with_new_lines_from_its_log(tmp_path, profiles):
    with_background(profiles)
    lines = lines_of()
    whole, answers = feed(tmp_path / "whole", profiles, lines, batch=5)
    opened = create_filter(tmp_path / "killed", engine_of(profiles))
    run = FilterRun(tmp_path / "killed", opened, batch=5, report=[].append, save_every=30)
    given = iter(lines)
    feeding = run.feed(next(given) for _ in range(60))
    early = [next(feeding) for _ in range(25)]
    feeding.close()
    opened.log.close()
    with (tmp_path / "killed" / "events.jsonl").open("a") as log:
        log.write('{"event": "retrie')
    resumed = open_filter(tmp_path / "killed")
    assert 0 < resumed.position <= 60
    with resumed.log:
        again = FilterRun(tmp_path / "killed", resumed, batch=5, report=[].append)
        late = list(again.feed(lines, skip=resumed.position))
        assert same(states(whole), states(again))
        retrieved = [e for e, _ in resumed.log.events() if isinstance(e, Retrieved)]
    # An answer that never left the process is in the log.
    assert set(early + late) <= set(answers)
    told = sorted(
        (json.loads(answer)["id"], json.loads(answer)["profile"]) for answer in answers
    )
    assert sorted((event.document.id, event.profile) for event in retrieved) == told


def test_bad_lines_are_told_with_their_number(tmp_path, profiles):
    opened = create_filter(tmp_path / "f", engine_of(profiles))
    problems = []
    bad = [
        "nonsense",
        "[]",
        '{"text": "no id"}',
        '{"judge": {"profile": "grain"}}',
        '{"undo": 3}',
        '{"id": 1, "text": 2}',
        '{"teach": {"profile": "oil", "word": "rig", "strength": "much"}}',
        '{"teach": {"profile": "oil", "word": "rig", "strength": 1%s}}' % ("0" * 400),
        '{"pause": {}}',
    ]
    orders = [
        '{"judge": {"profile": "nobody", "id": "1", "relevant": true}}',
        '{"undo": {"profile": "oil", "id": "z"}}',
        '{"teach": {"profile": "oil", "word": "the", "strength": 1}}',
    ]
    with opened.log:
        run = FilterRun(tmp_path / "f", opened, report=problems.append)
        assert list(run.feed([*bad, "", *orders])) == []
        assert [problem.line for problem in problems] == [*range(1, 10), 11, 12, 13]
        with pytest.raises(DataError, match="not JSON"):
            list(FilterRun(tmp_path / "f", opened).feed(["nonsense"]))


def test_a_bad_line_that_ends_a_run_loses_no_document_before_it(tmp_path, profiles):
    opened = create_filter(tmp_path / "f", engine_of(profiles))
    with opened.log, pytest.raises(DataError, match="not JSON"):
        list(
            FilterRun(tmp_path / "f", opened).feed(
                ['{"id": "1", "text": "wheat corn"}', "nonsense"]
            )
        )
    assert opened.log.position == 1
    assert [event.document.id for event in opened.log.of_profile("grain")] == ["1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- 1", "list profiles"),
        ("profiles: []", "list profiles"),
        ("profiles: [{query: x}]", "name"),
        ("profiles: [{name: x, colour: red}]", "colour"),
        ("profiles: [{name: x, strategy: +other}]", "no strategy"),
        ("profiles: [{name: x, goal: {luck: 3}}]", "goal"),
        ("profiles: [{name: x, settings: {kappa: 2}}]", "kappa"),
        ("profiles: [{name: x, settings: {nonsense: 2}}]", "nonsense"),
        ("profiles: [{name: x, examples: none.jsonl}]", "cannot be read"),
        ("profiles: [{name: x}, {name: x}]", "already"),
        ("profiles: [", "YAML"),
        ("profiles: [{name: x, words: {corn: much}}]", "much"),
    ],
)
def test_profiles_that_make_no_sense_are_refused(write, text, message):
    with pytest.raises(DataError, match=message):
        engine_of(write("p.yaml", text))


def spoilt(state, **changes):
    header = {
        **state.header,
        **{name: value for name, value in changes.items() if name in state.header},
    }
    arrays = {
        **state.arrays,
        **{
            name.replace("__", "."): a
            for name, a in changes.items()
            if name not in state.header
        },
    }
    return State(header, arrays)


@pytest.mark.parametrize(
    "changes",
    [
        {"settings": {}},
        {"settings": None},
        {"threshold": 3},
        {"threshold": "x"},
        {"counters": {"nonsense": 1}},
        {"kept": []},
        {"n_relevant": 0},
        {"terms": np.array([0, 0], dtype=np.int32)},
        {"terms": np.zeros(1)},
        {"triangle": np.zeros(3)},
        {"mean": np.array([np.nan])},
        {"relevant_counts": np.array([-1], dtype=np.int32)},
        {"kept__ends": np.array([9], dtype=np.int64)},
        {"kept__columns": np.array([-1], dtype=np.int32)},
        {"kept__weights": np.array([np.inf])},
        {"verdicts": 3},
    ],
)
def test_a_spoilt_profile_is_refused(changes):
    state = ProfileState.of(engine().profiles["grain0"])
    with pytest.raises(DataError):
        spoilt(state, **changes).profile()


BAD_EVENTS = (
    "nonsense",
    '{"event": "judged", "profile": "grain", "id": "1", "relevant": 1, "position": 3}',
    "[]",
    '{"event": "taught", "profile": "grain", "word": "the", "strength": 1, "position": 3}',
    '{"event": "taught", "profile": "grain", "word": "corn", "strength": NaN, "position": 3}',
    '{"event": "taught", "profile": "grain", "word": 3, "strength": 1, "position": 3}',
    '{"event": "paused", "profile": "grain", "paused": 1, "position": 3}',
)


def test_a_spoilt_log_is_refused(tmp_path, profiles):
    feed(tmp_path / "f", profiles, lines_of(20))
    (tmp_path / "f" / "checkpoint.zip").unlink()
    log = tmp_path / "f" / "events.jsonl"
    for line in BAD_EVENTS:
        log.write_text(line + "\n")
        with pytest.raises(DataError, match="not an event"):
            open_filter(tmp_path / "f")
    log.write_text('{"event": "taken back", "profile": "nobody", "id": "1", "position": 3}\n')
    with pytest.raises(DataError, match="never started"):
        open_filter(tmp_path / "f")


def test_a_log_tells_profiles_apart_whatever_their_names(tmp_path):
    names = ["grain", 'a "b" \\ c', "Übersee", "in \u2028 between"]
    with FileLog(tmp_path / "events.jsonl", VectorSpace()) as log:
        for name in names:
            log.extend([Judged(name, "grain", True)])
        for name in names:
            assert list(log.of_profile(name)) == [Judged(name, "grain", True)]
    lines = log.path.read_text(encoding="utf-8").splitlines(True)[1:]
    text = "".join(re.sub(', "digest": "[0-9a-f]+"', "", line) for line in lines)
    log.path.write_text(text.replace("Übersee", "\\u00dcbersee"), encoding="utf-8")
    with FileLog(log.path, VectorSpace()) as old:
        assert list(old.of_profile("Übersee")) == [Judged("Übersee", "grain", True)]


def test_a_log_that_lost_what_the_checkpoint_knows_is_refused(tmp_path, profiles):
    run, _ = feed(tmp_path / "f", profiles, lines_of(40))
    run.save()
    log = tmp_path / "f" / "events.jsonl"
    lines = log.read_bytes().splitlines(True)
    log.write_bytes(b"".join(lines[:-1]))
    with pytest.raises(DataError, match="the checkpoint"):
        open_filter(tmp_path / "f")
    log.write_bytes(b"".join(lines).replace(b'"position": 1', b'"position": 2', 1))
    with pytest.raises(DataError, match=r"events\.jsonl:\d+: is damaged"):
        open_filter(tmp_path / "f")


def test_a_folder_holds_one_filter(tmp_path, profiles):
    create_filter(tmp_path / "f", engine_of(profiles)).log.close()
    with pytest.raises(DataError, match="already"):
        create_filter(tmp_path / "f", engine_of(profiles))
