"""Results stored by content: what was measured, on which corpus, by which code.

A result of a measuring function depends on

- the definitions of `papers` that the function reaches by name, in its own module and in those it
  imports from. A change of a table, a label, a comment or another function of the module makes no
  result old;
- the files of `bayesift` that these definitions import, directly or indirectly. Imports inside
  functions count, imports for type checkers do not;
- its arguments, the files of its corpora and the versions of the numeric libraries.

A definition that is looked up by a string cannot be seen: tasks name it (`Task.also`).
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bayesift.files import whole_file
from papers.corpora import corpus_fingerprint
from papers.experiment import Result, Task

_FILES, _DEFINITIONS = (
    "bayesift",
    "papers",
)  # packages that count by the file, and by the definition
_CHARTS = "bayesift.charts"  # draw results and do not change them
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "PyStemmer")

_fingerprint = cache(corpus_fingerprint)


@dataclass
class Outcomes:
    """Results and seconds of tasks, the reasons of failures, and the number of reused results."""

    results: dict[Task, Result] = field(default_factory=dict)
    seconds: dict[Task, dict[str, float]] = field(default_factory=dict)
    failures: dict[Task, str] = field(default_factory=dict)
    reused: int = 0


@dataclass(frozen=True)
class Store:
    """A folder with one file per result, and one with the seconds it took.

    Files appear whole or not at all.
    """

    folder: Path

    def result(self, key: str) -> Result | None:
        """Return the stored result, or None."""
        return _read(self.folder / "results" / f"{key}.json")

    def seconds(self, key: str) -> dict[str, float]:
        """How long it took, by part; empty if unknown."""
        return _read(self.folder / "seconds" / f"{key}.json") or {}

    def keep(self, key: str, result: Result, seconds: dict[str, float]) -> None:
        """Write the times, then the result, so that every stored result has its times."""
        for kind, content in (("seconds", seconds), ("results", result)):
            with whole_file(self.folder / kind / f"{key}.json", "w") as stream:
                json.dump(content, stream, sort_keys=True, ensure_ascii=False)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    return found


def content_key(task: Task) -> str:
    """SHA-256 of everything a result depends on."""
    function = f"{task.measure.__module__}:{task.measure.__qualname__}"
    parts = {
        "measure": function,
        "settings": task.settings,
        "corpora": {name: _fingerprint(name) for name in task.corpora},
        "code": code_version(function, *task.also),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@cache
def code_version(*names: str) -> str:
    """Return the SHA-256 of the code that "module:name" definitions reach and of versions."""
    digest = hashlib.sha256()
    for name, source in sorted(reached_code(*names).items()):
        digest.update(f"{name}\0{source}\n".encode())
    for library in _LIBRARIES:
        digest.update(f"{library} {version(library)}\n".encode())
    return digest.hexdigest()


def reached_code(*names: str) -> dict[str, str]:
    """Return sources by "papers.module:name" for definitions, "bayesift.module" for files."""
    found: dict[str, str] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        module, _, definition = name.partition(":")
        package = module.partition(".")[0]
        if package == _FILES:
            name, definition = module, ""
        if (
            name not in found
            and package in (_FILES, _DEFINITIONS)
            and not module.startswith(_CHARTS)
        ):
            found[name], reached = (
                _definition(module, definition) if definition else _file(module)
            )
            waiting += reached
    return found


@cache
def _file(module: str) -> tuple[str, list[str]]:
    """Return the source of a file, and the names of its imports."""
    path = _path(module)
    assert path is not None, module
    text = path.read_text("utf-8")
    return text, [
        name
        for node in _running(ast.parse(text))
        for names in _imported(node).values()
        for name in names
    ]


@cache
def _definition(module: str, name: str) -> tuple[str, list[str]]:
    """Return the source of a definition without comments, and the names it reaches."""
    source = ""
    reached: list[str] = []
    for statement in _running(ast.parse(_file(module)[0]), deep=False):
        if name not in _bound(statement):
            continue
        imports = _imported(statement)
        if name in imports:
            reached += imports[name]
            continue
        source += ast.unparse(statement) + "\n"
        nodes = list(ast.walk(statement))
        names = {
            node.id
            for node in nodes
            if isinstance(node, ast.Name) and node.id in _names(module)
        }
        reached += [f"{module}:{other}" for other in sorted(names - {name})]
        reached += [
            target
            for node in nodes
            for targets in _imported(node).values()
            for target in targets
        ]
    return source, reached


@cache
def _names(module: str) -> set[str]:
    return {
        name
        for node in _running(ast.parse(_file(module)[0]), deep=False)
        for name in _bound(node)
    }


def _bound(statement: ast.AST) -> set[str]:
    """Return the names that a statement of a module defines or imports."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
        targets = [statement.target]
    else:
        return set(_imported(statement))
    return {
        node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)
    }


def _imported(node: ast.AST) -> dict[str, list[str]]:
    """Return what the names of an import stand for: modules, or definitions of modules."""
    if isinstance(node, ast.Import):
        return {
            alias.asname or alias.name.partition(".")[0]: [alias.name] for alias in node.names
        }
    if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(
        (_FILES, _DEFINITIONS)
    ):
        return {}
    found = {}
    for alias in node.names:
        module = f"{node.module}.{alias.name}"
        definition = f"{node.module}:{alias.name}"
        found[alias.asname or alias.name] = (
            [str(node.module), module] if _is_module(module) else [definition]
        )
    return found


def _running(tree: ast.AST, *, deep: bool = True) -> Iterator[ast.AST]:
    """All nodes below (or only the statements of) a tree, without what only type checkers see."""
    for node in ast.iter_child_nodes(tree):
        if (
            isinstance(node, ast.If)
            and isinstance(node.test, ast.Name)
            and node.test.id == "TYPE_CHECKING"
        ):
            continue
        yield node
        if deep:
            yield from _running(node)


@cache
def _is_module(name: str) -> bool:
    parent = importlib.util.find_spec(name.rpartition(".")[0])
    return (
        parent is not None
        and parent.submodule_search_locations is not None
        and _path(name) is not None
    )


def _path(module: str) -> Path | None:
    found = importlib.util.find_spec(module)
    return None if found is None or found.origin is None else Path(found.origin)
