"""The journal: whole writes, chained digests, torn ends, files of older versions, one writer."""

import errno
import json
import os
import subprocess
import sys

import pytest

from bayesift.errors import DataError
from bayesift.journal import Journal

ENTRIES = [json.dumps({"n": n, "text": "wörd " * n}).encode() for n in range(4)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "log.jsonl"


def write(path, entries=ENTRIES, **options):
    with Journal(path, writing=True, **options) as journal:
        for entry in entries:
            journal.append([entry])
    return path.read_bytes()


def read(path, **options):
    with Journal(path, **options) as journal:
        return [content for _, content in journal.entries()]


def test_entries_come_back_and_every_line_is_json(path):
    write(path)
    assert read(path) == ENTRIES
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert lines[0]["format"] == "bayesift-journal"
    assert [line["n"] for line in lines[1:]] == [0, 1, 2, 3]
    assert len({line["digest"] for line in lines}) == 5
    with Journal(path) as journal, pytest.raises(DataError, match="reading only"):
        journal.append([b"{}"])
    with pytest.raises(DataError, match="cannot be read"):
        Journal(path.with_name("none"))


def test_the_bytes_do_not_depend_on_how_entries_are_grouped(path, tmp_path):
    with Journal(tmp_path / "one", writing=True) as journal:
        journal.append(ENTRIES)
        assert journal.end.n_entries == 4
    assert write(path) == (tmp_path / "one").read_bytes()


@pytest.mark.parametrize("bit", range(8))
def test_no_flipped_bit_is_served(path, bit):
    whole = write(path)
    for position in range(len(whole)):
        changed = bytearray(whole)
        changed[position] ^= 1 << bit
        path.write_bytes(changed)
        with pytest.raises(DataError, match=r"log\.jsonl:\d: is damaged"):
            read(path)


def test_the_changed_line_is_named(path):
    whole = write(path)
    path.write_bytes(whole.replace(b'"n": 2', b'"n": 7'))
    with pytest.raises(DataError, match=r"log\.jsonl:4: is damaged"):
        read(path)


@pytest.mark.parametrize("line", [0, 1, 3])
def test_lines_that_were_lost_or_swapped_are_noticed(path, line):
    lines = write(path).splitlines(True)
    path.write_bytes(b"".join(lines[:line] + lines[line + 1 :]))
    with pytest.raises(DataError, match=rf"log\.jsonl:{line + 1}: is damaged"):
        read(path)
    lines[line], lines[line + 1] = lines[line + 1], lines[line]
    path.write_bytes(b"".join(lines))
    with pytest.raises(DataError, match=rf"log\.jsonl:{line + 1}: is damaged"):
        read(path)


def test_a_torn_end_is_ignored_by_readers_and_removed_with_a_note(path):
    whole = write(path)
    ends = [end + 1 for end, byte in enumerate(whole) if byte == ord("\n")]
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        kept = max(sum(end <= cut for end in ends) - 1, 0)
        assert read(path) == ENTRIES[:kept]
        with Journal(path, writing=True) as journal:
            assert bool(journal.note) == (cut not in (0, *ends))
            journal.append(ENTRIES[kept:])
        assert path.read_bytes() == whole


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_lines_lost_at_the_end_are_noticed_by_the_mark(path, tmp_path, cut):
    mark = tmp_path / "mark"
    lines = write(path, mark=mark).splitlines(True)
    assert read(path, mark=mark) == ENTRIES
    path.write_bytes(b"".join(lines[:-cut]))
    for writing in (False, True):
        with pytest.raises(DataError, match=f"has {4 - cut} entries, but 4 were written"):
            Journal(path, mark=mark, writing=writing)
    mark.unlink()
    assert read(path, mark=mark) == ENTRIES[:-cut]


def test_a_journal_that_was_begun_anew_is_noticed_by_the_mark(path, tmp_path):
    mark = tmp_path / "mark"
    write(path, mark=mark)
    path.unlink()
    write(path, [*ENTRIES[:3], b'{"n": "other"}'])
    with pytest.raises(DataError, match=r"log\.jsonl:5: is damaged"):
        read(path, mark=mark)
    mark.write_bytes(b"x")
    with pytest.raises(DataError, match="delete it"):
        read(path, mark=mark)
    mark.write_bytes(b"\0\0\0")
    assert len(read(path, mark=mark)) == 4


class FailingWrites:
    """An `os.write` that writes few bytes at a time, and fails at one of them."""

    def __init__(self, size, fail_at=None, error=errno.EIO):
        self.size = size
        self.fail_at = fail_at
        self.error = error
        self.calls = 0
        self.write = os.write

    def __call__(self, file, data):
        self.calls += 1
        if self.calls == self.fail_at:
            raise OSError(self.error, os.strerror(self.error))
        return self.write(file, bytes(data)[: self.size])


def test_short_writes_are_finished(path, tmp_path, monkeypatch):
    whole = write(path)
    monkeypatch.setattr(os, "write", FailingWrites(7))
    assert write(tmp_path / "short") == whole


@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC, errno.EINTR])
def test_a_failed_write_is_taken_back_wherever_it_fails(path, monkeypatch, error):
    whole = write(path)
    first = whole[: whole.index(b"\n", whole.index(b"\n") + 1) + 1]
    n_writes = FailingWrites(7)
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", n_writes)
        path.write_bytes(first)
        with Journal(path, writing=True) as journal:
            journal.append(ENTRIES[1:])
    for fail_at in range(1, n_writes.calls + 1):
        path.write_bytes(first)
        with Journal(path, writing=True) as journal:
            with monkeypatch.context() as patched:
                patched.setattr(os, "write", FailingWrites(7, fail_at, error))
                with pytest.raises(DataError, match=r"log\.jsonl: cannot be written"):
                    journal.append(ENTRIES[1:])
            assert path.read_bytes() == first
            assert journal.end.n_entries == 1
            journal.append(ENTRIES[1:])
        assert path.read_bytes() == whole


def test_a_failed_sync_is_taken_back(path, monkeypatch):
    write(path, ENTRIES[:1])

    def fail(file):
        raise OSError(errno.EIO, "no disk")

    with Journal(path, writing=True) as journal:
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", fail)
            with pytest.raises(DataError, match="no disk"):
                journal.append(ENTRIES[1:])
        assert read(path) == ENTRIES[:1]
        journal.append(ENTRIES[1:])
    assert read(path) == ENTRIES


def test_nothing_is_appended_behind_a_line_that_could_not_be_removed(path, monkeypatch):
    write(path, ENTRIES[:2])

    def fail(*arguments):
        raise OSError(errno.EIO, "no disk")

    with Journal(path, writing=True) as journal:
        with monkeypatch.context() as patched:
            patched.setattr(os, "write", FailingWrites(7, 3))
            patched.setattr(os, "truncate", fail)
            with pytest.raises(DataError, match="cannot be written"):
                journal.append(ENTRIES[2:])
        torn = path.read_bytes()
        with pytest.raises(DataError, match="open it again"):
            journal.append(ENTRIES[2:])
        assert path.read_bytes() == torn
    assert write(path, ENTRIES[2:]).count(b"\n") == 5
    assert read(path) == ENTRIES


def test_an_interrupt_is_taken_back(path, monkeypatch):
    write(path, ENTRIES[:1])
    before = path.read_bytes()

    def interrupted(file, data):
        real(file, data[:9])
        raise KeyboardInterrupt

    real = os.write
    with Journal(path, writing=True) as journal, monkeypatch.context() as patched:
        patched.setattr(os, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            journal.append(ENTRIES[1:])
        assert path.read_bytes() == before


def test_files_without_digests_are_read_as_they_are_and_upgraded_by_the_first_write(path):
    old = b"".join(entry + b"\n" for entry in ENTRIES[:3])
    path.write_bytes(old)
    assert read(path) == ENTRIES[:3]
    with Journal(path, writing=True) as journal:
        assert journal.is_old
        assert [line for line, _ in journal.entries()] == [1, 2, 3]
        assert path.read_bytes() == old
        journal.append(ENTRIES[3:])
        assert not journal.is_old
    upgraded = path.read_bytes()
    path.unlink()
    assert write(path) == upgraded


def test_an_upgrade_that_fails_leaves_the_old_file(path, monkeypatch):
    old = ENTRIES[0] + b"\n"
    path.write_bytes(old)

    def fail(file):
        raise OSError(errno.ENOSPC, "full")

    with Journal(path, writing=True) as journal:
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", fail)
            with pytest.raises(DataError, match="full"):
                journal.append(ENTRIES[1:])
        assert path.read_bytes() == old
        journal.append(ENTRIES[1:])
    assert read(path) == ENTRIES
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_old_and_new_lines_are_not_mixed(path):
    lines = write(path).splitlines(True)
    old = ENTRIES[0] + b"\n"
    path.write_bytes(old + lines[2])
    with pytest.raises(DataError, match=r"log\.jsonl:2: is damaged"):
        read(path)
    path.write_bytes(lines[0] + old)
    with pytest.raises(DataError, match=r"log\.jsonl:2: is damaged"):
        read(path)


def test_headers_and_versions(path):
    with Journal.create(path, {"after": 7}, ENTRIES[:1]) as journal:
        journal.append(ENTRIES[1:])
        assert journal.header == {"after": 7}
    with Journal(path) as journal:
        assert journal.header == {"after": 7}
    with pytest.raises(DataError, match="reads version 1"):
        Journal.create(path, {"version": 9})


def test_entries_after_the_first_ones_can_be_removed(path):
    whole = write(path)
    with Journal(path, writing=True, keep=2) as journal:
        assert journal.end.n_entries == 2
        journal.append(ENTRIES[2:])
    assert path.read_bytes() == whole
    Journal(path, writing=True, keep=0).close()
    assert write(path) == whole


WRITER = """
import sys
from bayesift.journal import Journal
with Journal(sys.argv[1], writing=True) as journal:
    journal.append([b'{"by": "another"}'])
    print("open", flush=True)
    sys.stdin.readline()
"""


@pytest.mark.parametrize("old", [False, True])
def test_two_processes_do_not_write_at_once(path, old):
    if old:
        path.write_bytes(b'{"by": "an old one"}\n')
    command = [sys.executable, "-c", WRITER, str(path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as other:
        assert other.stdout.readline() == "open\n"
        with pytest.raises(DataError, match="another program"):
            Journal(path, writing=True)
        assert read(path)[-1] == b'{"by": "another"}'
        other.communicate("\n")
    write(path, [b'{"by": "me"}'])
    assert len(read(path)) == 2 + old
