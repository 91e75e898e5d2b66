import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

from papers.experiment import Task
from papers.running import carry_out, rounded
from papers.store import Store, content_key
from tests.papers import work

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys
from pathlib import Path
from papers.experiment import Task
from papers.running import carry_out
from papers.store import Store
from tests.papers import work

if __name__ == "__main__":
    marks, store, seconds, jobs = sys.argv[1:]
    tasks = [
        Task.of(work.mark, f"{n}", number=n, folder=marks, seconds=float(seconds))
        for n in range(8)
    ]
    outcomes = carry_out(tasks, Store(Path(store)), jobs=int(jobs))
    print(outcomes.reused, [outcomes.results[task]["value"][0] for task in tasks])
"""


def start(tmp_path, program, *arguments):
    script = tmp_path / "program.py"
    script.write_text(program)
    path = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, str(script), *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        start_new_session=True,
    )


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_killed_run_goes_on_without_doing_again_what_was_done(tmp_path, jobs):
    marks, store = tmp_path / "marks", tmp_path / "store"
    marks.mkdir()
    running = start(tmp_path, PROGRAM, marks, store, 0.4, jobs)
    wait_for(lambda: len(list((store / "results").glob("*.json"))) >= 3)
    os.kill(running.pid, signal.SIGKILL)
    running.communicate(
        timeout=60
    )  # returns when its workers have ended too: they hold the same pipe
    kept = len(list((store / "results").glob("*.json")))
    assert 3 <= kept < 8

    again = start(tmp_path, PROGRAM, marks, store, 0.4, jobs)
    out, _ = again.communicate(timeout=60)
    assert out.split()[0] == str(kept)
    begun = [len(path.read_text()) for path in marks.glob("*.begun")]
    assert len(begun) == 8
    assert sum(begun) - 8 <= jobs, "only what was running may be begun again"


def test_every_task_is_done_once_and_then_read(tmp_path):
    tasks = [Task.of(work.mark, str(n), number=n, folder=str(tmp_path)) for n in range(3)]
    store = Store(tmp_path / "store")
    first = carry_out(tasks, store)
    files = {
        path.name: path.read_bytes() for path in (tmp_path / "store" / "results").iterdir()
    }
    second = carry_out(tasks, store)
    assert (first.reused, second.reused) == (0, 3)
    assert first.results == second.results
    assert {
        path.name: path.read_bytes() for path in (tmp_path / "store" / "results").iterdir()
    } == files
    assert [len((tmp_path / f"{n}.begun").read_text()) for n in range(3)] == [1, 1, 1]


def test_seconds_are_kept_apart_from_results(tmp_path):
    task = Task.of(work.mark, "0", number=0, folder=str(tmp_path))
    store = Store(tmp_path / "store")
    outcomes = carry_out([task], store)
    assert set(outcomes.results[task]) == {"value"}
    assert set(outcomes.seconds[task]) == {"fit", "total"}
    assert set(store.seconds(content_key(task))) == {"fit", "total"}


def test_results_do_not_hang_on_the_threads_of_blas(tmp_path):
    task = Task.of(work.multiply, "a product", seed=0)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(carry_out([task], Store(tmp_path / str(threads))).results[task])
    assert found[0] == found[1]
    assert found[0]["threads"] == [1]


def test_one_failure_leaves_the_others_standing(tmp_path, capsys):
    bad, good = (
        Task.of(work.fail, "bad", number=1),
        Task.of(work.mark, "good", number=1, folder=str(tmp_path)),
    )
    outcomes = carry_out([bad, good], Store(tmp_path / "store"))
    assert outcomes.failures == {bad: "ValueError: no number 1"}
    assert list(outcomes.results) == [good]
    assert "no number 1" in capsys.readouterr().err


def test_a_corpus_that_is_not_there_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("BAYESIFT_DATA", str(tmp_path))
    task = Task.of(
        work.mark, "needs Reuters", corpora=("reuters",), number=1, folder=str(tmp_path)
    )
    assert "Reuters-21578" in carry_out([task], Store(tmp_path / "store")).failures[task]


def test_results_are_plain_numbers():
    assert (
        json.dumps(rounded({"a": (1 / 3, 2, None, "x")}))
        == '{"a": [0.3333333333, 2, null, "x"]}'
    )
