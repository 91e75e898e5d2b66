"""Which state of the code a result belongs to: a digest of the modules that a measuring function reaches."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

_PACKAGE = "bayesift"
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "PyStemmer")


@cache
def code_version(*modules: str) -> str:
    """SHA-256 of the sources of bayesift that modules import, directly or not, and of the versions of libraries.

    Pages, commands and other papers' experiments are not among them: to change them makes no result old.

    Examples
    --------
    >>> len(code_version("bayesift.files"))
    64
    """
    digest = hashlib.sha256()
    for name in sorted(set().union(*(reached_modules(module) for module in modules))):
        digest.update(f"{name}\0".encode() + _source(name).read_bytes())
    for library in _LIBRARIES:
        digest.update(f"{library} {version(library)}\n".encode())
    return digest.hexdigest()


def reached_modules(name: str) -> set[str]:
    """The modules of bayesift that one names in imports, with theirs; imports inside functions count.

    Examples
    --------
    >>> sorted(reached_modules("bayesift.files"))
    ['bayesift.errors', 'bayesift.files']
    """
    found: set[str] = set()
    waiting = [name]
    while waiting:
        module = waiting.pop()
        if module in found or not module.startswith(_PACKAGE):
            continue
        found.add(module)
        waiting += _imported(module)
    return found


@cache
def _imported(module: str) -> tuple[str, ...]:
    """Modules that one names in imports."""
    return tuple(dict.fromkeys(_named(module)))


def _named(module: str) -> Iterator[str]:
    for node in _running(ast.parse(_source(module).read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith(_PACKAGE))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_PACKAGE):
            assert node.module is not None
            yield node.module
            submodules = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (submodule for submodule in submodules if _is_module(submodule))


def _running(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that only type checkers see."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        yield node
        yield from _running(node)


@cache
def _is_module(name: str) -> bool:
    parent = importlib.util.find_spec(name.rpartition(".")[0])
    return parent is not None and parent.submodule_search_locations is not None and _find(name) is not None


def _find(name: str) -> Path | None:
    found = importlib.util.find_spec(name)
    return None if found is None or found.origin is None else Path(found.origin)


@cache
def _source(name: str) -> Path:
    path = _find(name)
    assert path is not None, name
    return path
