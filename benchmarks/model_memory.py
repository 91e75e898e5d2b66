"""Measure the memory of a server with one model and with twenty.

The models are `auto`, fitted to the training documents of 20 Newsgroups, with weights that differ
a little so that no file is shared. A real server (`bayesift serve`) loads them at its start; then
each classifies texts, and each explains one. Private memory is what the server needs for itself;
the arrays of models are mapped, so that the system shares them between servers and may drop them.

    python -m benchmarks.model_memory
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from bayesift import TextClassifier
from bayesift.corpora import load
from bayesift.models.ensemble import AutoClassifier
from benchmarks.service import _Caller, _server

N_MODELS = 20
_BUDGET = 60.0  # seconds of the fit
_TEXTS = ("NASA launched the shuttle again", "the goalie of the Bruins", "a driver for Windows")


class Memory(NamedTuple):
    """Megabytes of a process: its own, and those of files that are mapped."""

    private: float
    mapped: float


def memory_of(pid: int) -> Memory:
    """Read the memory of a process as the system counts it."""
    kilobytes = {}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
        name, value = line.split(":")
        kilobytes[name] = int(value.split()[0])
    anonymous = kilobytes["Anonymous"]
    return Memory(anonymous / 1e3, (kilobytes["Rss"] - anonymous) / 1e3)


def fitted() -> TextClassifier:
    """Return the model."""
    corpus = load("20newsgroups").split("train")
    model = AutoClassifier(budget=_BUDGET)
    return TextClassifier(model=model, embedder=None).fit(corpus.texts, corpus.labels)


def write_models(classifier: TextClassifier, folder: Path) -> float:
    """Write models whose weights differ a little; return the megabytes of one."""
    model = classifier.model_
    for number in range(N_MODELS):
        model.intercept_ = model.intercept_ + 1e-9
        classifier.save(folder / f"model-{number:02}.zip")
    return (folder / "model-00.zip").stat().st_size / 1e6


def measure(models: list[Path], folder: Path) -> list[Memory]:
    """Return the memory after the start, after each model classified, and after each explained."""
    found = []
    with _server(folder) as (_, port, token, _):
        caller = _Caller(port, token)
        for path in models:
            caller.ask("POST", f"/api/models?name={path.stem}", path.read_bytes())
    with _server(folder) as (process, port, token, _):
        caller = _Caller(port, token)
        found.append(memory_of(process.pid))
        asked = {
            "classify": json.dumps({"texts": _TEXTS}).encode(),
            "explain": json.dumps({"text": _TEXTS[0]}).encode(),
        }
        for what, body in asked.items():
            for path in models:
                caller.ask("POST", f"/api/models/{path.stem}/{what}", body)
            found.append(memory_of(process.pid))
    return found


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        (root / "models").mkdir()
        classifier = TextClassifier.load(sys.argv[1]) if len(sys.argv) > 1 else fitted()
        size = write_models(classifier, root / "models")
        models = sorted((root / "models").iterdir())
        print(
            f"{classifier.model_.n_features_in_:,} columns "
            f"({', '.join(classifier.model_.kinds_)}) x {len(classifier.categories_)} "
            f"categories; {size:.1f} MB a file"
        )
        print("| models | at the start | classified | explained |")
        print("|---|---|---|---|", flush=True)
        for n in (0, 1, N_MODELS):
            row = measure(models[:n], root / f"service-{n}")
            cells = [f"{each.private:,.0f} MB, {each.mapped:,.0f} MB mapped" for each in row]
            print(f"| {n} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
