"""How a process ends: interrupts at any moment, closed pipes, and progress on a terminal."""

import contextlib
import os
import re
import signal
import subprocess
import sys

import pytest

from bayesift.cli.console import _Compilation

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")
FIT = (
    "fit",
    "{corpus}",
    "-o",
    "{folder}/model",
    "--text",
    "body",
    "--label",
    "desk",
    "--model",
    "committee",
)
COMPARE = (
    "compare",
    "{corpus}",
    "--text",
    "body",
    "--label",
    "desk",
    "--report",
    "{folder}/report.html",
)
MAIN = "from bayesift.cli import main; {}; main()"


def start(arguments, places, first="pass", **options):
    """Start a command in a process that runs the line `first` before it."""
    command = [
        sys.executable,
        "-c",
        MAIN.format(first),
        *(argument.format(**places) for argument in arguments),
    ]
    return subprocess.Popen(
        command, **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    )


@pytest.mark.parametrize("moment", [0.05, 0.2, 0.5, 0.8, 1.2, 1.6, 2.2, 3.0])
def test_an_interrupt_is_one_line_and_leaves_nothing_half_done(corpus, tmp_path, moment):
    arguments = FIT if moment < 2 else COMPARE
    # A runner in the background hands down that interrupts are ignored.
    first = (
        "import signal; signal.signal(2, signal.default_int_handler); print('ready', "
        "flush=True)"
    )
    with start(arguments, {"corpus": corpus, "folder": tmp_path}, first) as process:
        assert process.stdout.readline() == b"ready\n"
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(moment)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    if process.returncode != 0:  # otherwise it was quicker
        *before, last = err.decode().splitlines()
        assert (process.returncode, last) == (130, "bayesift: interrupted")
        # It may come when the work is done and only the end of the process is left.
        assert before in ([], [f"report: {tmp_path / 'report.html'}"])
        assert {place.name for place in tmp_path.iterdir()} <= {"model", "report.html"}


def test_an_interrupt_when_the_work_is_done_changes_nothing():
    first = (
        "import atexit, os, signal; signal.signal(2, signal.default_int_handler);"
        "atexit.register(lambda: os.kill(os.getpid(), 2))"
    )
    with start(("--version",), {}, first) as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert out.startswith(b"bayesift ")


def test_the_first_interrupt_of_a_long_work_is_noted_and_the_second_ends_it():
    code = """
import os, signal
from bayesift.cli import interrupts
signal.signal(signal.SIGINT, interrupts.end_interrupted)
work = interrupts.NotedInterrupt("ending early")
work.listen()
os.kill(os.getpid(), signal.SIGINT)
print(work.is_noted, flush=True)
work.listen()
os.kill(os.getpid(), signal.SIGINT)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (130, "True\n")
    first, second = done.stderr.splitlines()
    assert first == "bayesift: ending early; interrupt again to end at once"
    assert second == "bayesift: interrupted"


def test_an_interrupt_ends_a_fit_with_the_best_model_so_far(corpus, tmp_path):
    first = (
        "import os, signal; signal.signal(2, signal.default_int_handler);"
        "from bayesift.models.ensemble.plan import Plan; begin = Plan.keep;"
        "keep = lambda plan, index: (os.kill(os.getpid(), 2), begin(plan, index));"
        "Plan.keep = keep"
    )
    arguments = ("fit", "{corpus}", "-o", "{folder}/model", "--text", "body", "--label", "desk")
    with start(arguments, {"corpus": corpus, "folder": tmp_path}, first) as process:
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert b"ending with the best model so far" in err
    assert (tmp_path / "model").exists()
    assert out.startswith(str(tmp_path / "model").encode())


def test_an_interrupt_while_a_model_is_written_leaves_the_old_one(tmp_path):
    code = """
import os, signal, sys
from pathlib import Path
from bayesift.cli.interrupts import end_interrupted
from bayesift.model_file import ModelContent, save_model
signal.signal(signal.SIGINT, end_interrupted)
place = Path(sys.argv[1])
save_model(ModelContent({"kind": "old"}), place)
replace = Path.replace
def interrupted(self, target):
    if target == place and ".old" not in self.name:
        os.kill(os.getpid(), signal.SIGINT)
    return replace(self, target)
Path.replace = interrupted
save_model(ModelContent({"kind": "new"}), place)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "model"], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (130, "bayesift: interrupted\n")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert '"kind": "old"' in (tmp_path / "model" / "model.json").read_text()


def test_warnings_are_one_line(write, tmp_path):
    rows = "".join(f"wheat and corn {k},grain\noil and gas {k},crude\n" for k in range(6))
    corpus = write("half.csv", "text,label\n" + rows + "oats and more,\nbarley and hops,\n")
    with start(
        ("fit", "{corpus}", "-o", "{folder}/model"), {"corpus": corpus, "folder": tmp_path}
    ) as process:
        _, err = process.communicate()
    assert (process.returncode, err.decode().count("\n")) == (0, 1), err
    assert err.startswith(b"bayesift: 2 texts without a label left out")


@pytest.mark.parametrize(
    "arguments", [("models",), ("--help",), ("classify", "{model}", "{many}")]
)
def test_a_reader_that_goes_away_is_no_error(model, tmp_path, arguments):
    many = tmp_path / "many.jsonl"
    many.write_text('{"text": "corn and oil"}\n' * 20_000)
    with start(arguments, {"model": model, "many": many}) as process:
        process.stdout.read(1)
        process.stdout.close()
        err = process.stderr.read().decode()
    assert err == ""
    assert process.returncode in (0, 1)


def on_terminal(arguments, places, first="pass"):
    """The exit code of a command on a terminal, and its stderr without control sequences."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    with start(
        arguments, places, first, stdout=subprocess.DEVNULL, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        written = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)
    return process.returncode, re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", written.decode())


def _read(terminal):
    try:
        return os.read(terminal, 4096)
    except OSError:  # its other end is closed
        return b""


def test_progress_is_counted_on_a_terminal(corpus, tmp_path):
    code, shown = on_terminal(COMPARE, {"corpus": corpus, "folder": tmp_path})
    assert code == 0
    steps = ("starting", "reading", "auto, 1 of", "0 of 9", "learning", "classifying", "3 of 3")
    places = [shown.find(step) for step in steps]
    assert -1 not in places, shown[-2000:]
    assert places[0] == min(places)


def test_quiet_shows_no_progress(corpus, tmp_path):
    assert on_terminal((*FIT, "--quiet"), {"corpus": corpus, "folder": tmp_path}) == (0, "")


def test_a_command_says_that_it_starts_before_heavy_imports(corpus, tmp_path):
    places = {"corpus": corpus, "folder": tmp_path}
    _, shown = on_terminal(FIT, places, first="import sys; sys.modules['numpy'] = None")
    assert -1 < shown.find("starting") < shown.find("import of numpy halted")


def test_compilation_is_said():
    import numba

    compilation = _Compilation()
    assert not compilation.is_recent()
    numba.njit(lambda x: x + 1)(1)
    assert compilation.is_recent()


def test_documents_are_counted_while_they_are_read(write, tmp_path):
    corpus = write("many.csv", "text,label\n" + "wheat corn,grain\noil,crude\n" * 1500)
    arguments = ("datasets", "show", "{corpus}")
    code, shown = on_terminal(arguments, {"corpus": corpus})
    assert code == 0
    counts = re.findall(r"many\.csv \S+ ([\d,]+)", shown)
    assert counts[0] == "0"
    assert counts[-1] == "3,000"
