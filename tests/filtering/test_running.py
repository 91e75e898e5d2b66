"""A filter in a pipe that is killed decides the same as one that is not."""

import json
import os
import random
import subprocess
import sys
import time

import pytest

from bayesift.filtering import FilterRun, ProfileState, create_filter, engine_of, open_filter
from bayesift.filtering.saving import OutputMark
from bayesift.model_file import load_model
from bayesift.state import decode, encode
from tests.filtering.worlds import PROFILES, same_state, stream


def lines_of(n, seed=0):
    """Documents with judgements late, unordered, repeated, changed, withdrawn or missing."""
    documents, labels = stream(n, seed=seed)
    rng = random.Random(seed)
    lines = []
    for i, document in enumerate(documents):
        lines.append({"id": document.id, "text": document.text})
        if i > 20 and rng.random() < 0.4:
            past = i - rng.randrange(20)
            order = {
                "profile": rng.choice(["grain", "oil"]),
                "id": f"d{past}",
                "relevant": labels[past],
            }
            order["text"] = documents[past].text
            lines += [{"judge": order}] * rng.choice([1, 1, 2])
            lines += [{"judge": {**order, "relevant": not labels[past]}}] * (rng.random() < 0.1)
            lines += [{"undo": order}] * (rng.random() < 0.1)
        if rng.random() < 0.05:
            lines.append(
                {
                    "teach": {
                        "profile": "oil",
                        "word": rng.choice(["rig", "opec"]),
                        "strength": i % 3,
                    }
                }
            )
            lines.append({rng.choice(["pause", "resume", "resume"]): {"profile": "oil"}})
    return [json.dumps(line) for line in lines]


@pytest.fixture(params=["running", "fixed"])
def profiles(request, tmp_path):
    """With document frequencies that go with the stream, and with those of a background."""
    path = tmp_path / "profiles.yaml"
    background = tmp_path / "background.jsonl"
    background.write_text(
        "".join(json.dumps({"text": d.text}) + "\n" for d in stream(40, seed=4)[0])
    )
    path.write_text(
        PROFILES if request.param == "running" else f"background: {background.name}\n{PROFILES}"
    )
    return path


def play(folder, profiles, lines, *, die_after=None, **options):
    """Run from the start of the stream.

    Die after so many answers, as a process does: nothing is closed in order.
    """
    answers = folder.with_suffix(".out")
    known = (folder / "start").exists()
    opened = (
        open_filter(folder, roll_back=True)
        if known
        else create_filter(folder, engine_of(profiles))
    )
    with opened.log, answers.open("a") as output:
        if known:
            assert opened.output.cut(output)
        run = FilterRun(folder, opened, report=[].append, output=output, **options)
        feeding = run.feed(lines, skip=opened.position)
        for number, answer in enumerate(feeding):
            if number == die_after:
                feeding.close()
                break
            print(answer, file=output)
    return {name: ProfileState.of(profile) for name, profile in run.engine.profiles.items()}


@pytest.mark.parametrize(("batch", "save_every"), [(1, 10), (7, 30), (256, 50)])
def test_a_run_that_died_anywhere_ends_as_one_that_did_not(
    tmp_path, profiles, batch, save_every
):
    lines, rng = lines_of(150), random.Random(batch)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    wanted = play(whole, profiles, lines, batch=batch)
    for _ in range(6):
        play(
            parts,
            profiles,
            lines,
            die_after=rng.randrange(40),
            batch=batch,
            save_every=save_every,
        )
        checkpoint = open_filter(parts, roll_back=False)
        checkpoint.log.close()
        spoil(parts, checkpoint.output.size, rng)
    found = play(parts, profiles, lines, batch=batch, save_every=save_every)
    assert parts.with_suffix(".out").read_bytes() == whole.with_suffix(".out").read_bytes()
    assert (parts / "events.jsonl").read_bytes() == (whole / "events.jsonl").read_bytes()
    assert all(same_state(found[name], wanted[name]) for name in wanted)
    assert sorted(path.name for path in parts.iterdir()) == [
        "checkpoint.zip",
        "events.jsonl",
        "start",
    ]
    assert len(whole.with_suffix(".out").read_text().splitlines()) > 60


def spoil(folder, certain, rng):
    """Leave what a killed process leaves: unwritten answers, and an event written in part."""
    answers = folder.with_suffix(".out")
    os.truncate(answers, rng.randint(certain, answers.stat().st_size))
    with (folder / "events.jsonl").open("a") as log:
        log.write('{"event": "retrie')
    (folder / ".checkpoint.zip.x7").write_bytes(b"PK")


def command(profiles, *options):
    code = "from bayesift.cli import main; main()"
    return [
        sys.executable,
        "-c",
        code,
        "filter",
        "run",
        str(profiles),
        "-q",
        "--skip-bad",
        *options,
    ]


@pytest.mark.parametrize("profiles", ["running"], indirect=True)
def test_a_process_that_is_killed_loses_nothing_and_says_nothing_twice(tmp_path, profiles):
    given, rng = tmp_path / "stream.jsonl", random.Random(1)
    given.write_text("\n".join(lines_of(200)) + "\n")
    play(tmp_path / "whole", profiles, lines_of(200), batch=1)
    folder, answers = tmp_path / "killed", tmp_path / "killed.out"
    events = (tmp_path / "whole" / "events.jsonl").read_bytes()
    options = ["--state", str(folder), "--stream", "--from-start", "--save-every", "70"]
    for _ in range(2):
        _run_and_kill(
            command(profiles, *options),
            given,
            answers,
            folder / "events.jsonl",
            size=rng.randrange(len(events)),
        )
    with given.open() as source, answers.open("a") as output:
        subprocess.run(command(profiles, *options), stdin=source, stdout=output, check=True)
    assert answers.read_bytes() == (tmp_path / "whole.out").read_bytes()
    assert (folder / "events.jsonl").read_bytes() == events


def _run_and_kill(arguments, given, answers, log, size):
    """Kill as soon as the log has a size, or let it end."""
    with given.open() as source, answers.open("a") as output:
        process = subprocess.Popen(arguments, stdin=source, stdout=output)
        while process.poll() is None and not (log.exists() and log.stat().st_size >= size):
            time.sleep(0.001)
        process.kill()
        process.wait()


@pytest.mark.parametrize("profiles", ["running"], indirect=True)
def test_a_process_that_is_told_to_stop_finishes_what_it_read(tmp_path, profiles):
    lines = [line + "\n" for line in lines_of(60)]
    play(tmp_path / "whole", profiles, lines, batch=1)
    folder, answers = tmp_path / "stopped", tmp_path / "stopped.out"
    running = command(profiles, "--state", str(folder), "--stream")
    with answers.open("a") as output:
        with subprocess.Popen(
            [*running, "--save-every", "1"], stdin=subprocess.PIPE, stdout=output, text=True
        ) as process:
            process.stdin.write("".join(lines[:40]))
            process.stdin.flush()
            while process.poll() is None and position(folder) < 40:
                time.sleep(0.01)
            process.terminate()
            assert process.wait() == 130
        subprocess.run(running, input="".join(lines[40:]), stdout=output, text=True, check=True)
    assert answers.read_bytes() == (tmp_path / "whole.out").read_bytes()


def position(folder):
    """Lines read until the last checkpoint."""
    checkpoint = folder / "checkpoint.zip"
    return load_model(checkpoint).header["position"] if checkpoint.exists() else 0


def test_only_the_file_that_was_marked_is_cut(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    with one.open("a") as stream:
        stream.write("kept")
        mark = OutputMark.of(stream)
        stream.write(" and more")
    with other.open("a") as stream:
        stream.write("of someone else")
        stream.flush()
        assert not mark.cut(stream)
    with one.open("r+") as stream:
        assert not mark.cut(stream)
    with one.open("a") as stream:
        assert mark.cut(stream)
    assert (one.read_text(), other.read_text()) == ("kept", "of someone else")
    one.write_text("")
    with one.open("a") as stream:
        assert not mark.cut(stream)
    assert decode(encode(mark)) == mark
