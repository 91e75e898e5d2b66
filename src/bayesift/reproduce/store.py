"""Results kept by content: what was measured, on which corpus, by which code."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from bayesift.files import whole_file
from bayesift.reproduce.corpora import corpus_fingerprint
from bayesift.reproduce.experiment import Result, Task
from bayesift.reproduce.versions import code_version

_fingerprint = cache(corpus_fingerprint)


def content_key(task: Task) -> str:
    """A digest of everything a result depends on: function, settings, corpora, code.

    Examples
    --------
    >>> key = content_key(Task.of(content_key, "a", x=1))
    >>> len(key), key == content_key(Task.of(content_key, "another label", x=1))
    (64, True)
    """
    parts = {
        "measure": f"{task.measure.__module__}:{task.measure.__qualname__}",
        "settings": task.settings,
        "corpora": {name: _fingerprint(name) for name in task.corpora},
        "code": code_version(task.measure.__module__, *task.modules),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Store:
    """A folder of results, one file a task, and beside it one with the seconds they took.

    Files appear whole or not at all, so that whatever is there can be used again.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(Path(folder))
    ...     store.keep("0a", {"f1": [0.5, 0.4, 0.6]}, {"total": 1.5})
    ...     store.result("0a"), store.result("0b"), store.seconds("0a")
    ({'f1': [0.5, 0.4, 0.6]}, None, {'total': 1.5})
    """

    folder: Path

    def result(self, key: str) -> Result | None:
        """What was measured, or None."""
        return _read(self.folder / "results" / f"{key}.json")

    def seconds(self, key: str) -> dict[str, float]:
        """How long it took, by part; empty if unknown."""
        return _read(self.folder / "seconds" / f"{key}.json") or {}

    def keep(self, key: str, result: Result, seconds: dict[str, float]) -> None:
        """Write a result and its times; the result comes last, so that one that is there has its times."""
        for kind, content in (("seconds", seconds), ("results", result)):
            with whole_file(self.folder / kind / f"{key}.json", "w") as stream:
                json.dump(content, stream, sort_keys=True, ensure_ascii=False)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    return found
