"""A corpus that needs no download: documentation strings of Python's standard library."""

from __future__ import annotations

import ast
import hashlib
import inspect
import sys
import sysconfig
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bayesift.errors import DataError
from bayesift.records import Corpus, Document

MIN_DOCUMENTS = 40
TEST_SHARE = 0.3

# Not part of the library proper, or present only with some systems and packagings of Python.
LEFT_OUT = frozenset(
    {"antigravity", "distutils", "ensurepip", "idlelib", "lib2to3", "msilib"}
    | {"test", "this", "tkinter", "turtle", "turtledemo", "venv"}
)
# Modules in C whose documentation is in a Python twin.
TWINS = {"datetime": "_pydatetime", "decimal": "_pydecimal", "io": "_pyio"}
_LEFT_OUT_INSIDE = frozenset({"test", "tests", "idle_test", "site-packages", "__pycache__"})

_Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def load_pydocs(*, min_documents: int = MIN_DOCUMENTS) -> Corpus:
    """Load one document per documented class, function and method of the standard library.

    The category is the top-level module; the split is a hash of the name. The sources are parsed,
    not imported, so that the corpus depends only on the version of Python.

    Parameters
    ----------
    min_documents : modules with fewer are left out

    Examples
    --------
    >>> corpus = load_pydocs()
    >>> document = next(d for d in corpus if d.id == "logging.Logger.info")
    >>> document.categories, document.text.splitlines()[0]
    (('logging',), "Log 'msg % args' with severity 'INFO'.")
    """
    library = Path(sysconfig.get_path("stdlib"))
    documents = [
        document
        for module in sorted(sys.stdlib_module_names - LEFT_OUT)
        if not module.startswith("_")
        for document in _read_module(library, module)
    ]
    counts = Counter(document.categories[0] for document in documents)
    kept = sorted(module for module, count in counts.items() if count >= min_documents)
    if not kept:
        raise DataError("Python's standard library is here without its sources", file=library)
    chosen = tuple(document for document in documents if document.categories[0] in set(kept))
    return Corpus(chosen, tuple(kept), name="pydocs")


def _read_module(library: Path, module: str) -> Iterator[Document]:
    seen: set[str] = set()
    for file in _source_files(library, module):
        path = [module, *file.relative_to(library).with_suffix("").parts[1:]]
        prefix = ".".join(path[:-1] if path[-1] == "__init__" else path)
        for name, text in _documented(_parse(file), prefix):
            # A name can be defined once for each platform; the first definition counts.
            if name not in seen:
                seen.add(name)
                yield Document(name, text, categories=(module,), split=_split(name))


def _source_files(library: Path, module: str) -> list[Path]:
    names = (module, TWINS.get(module, module))
    single = [
        library / f"{name}.py"
        for name in dict.fromkeys(names)
        if (library / f"{name}.py").is_file()
    ]
    if single:
        return single
    files = (library / module).rglob("*.py")
    return sorted(file for file in files if _is_public(file.relative_to(library)))


def _is_public(file: Path) -> bool:
    if not _LEFT_OUT_INSIDE.isdisjoint(file.parts):
        return False
    return file.stem == "__init__" or not any(
        part.startswith("_") for part in file.with_suffix("").parts
    )


def _parse(file: Path) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old escapes in the library's own sources
        return ast.parse(file.read_bytes(), filename=file.name)


def _documented(tree: ast.AST, prefix: str) -> Iterator[tuple[str, str]]:
    """Yield qualified name and text of the public definitions of a module or class."""
    for node in _definitions(tree):
        if node.name.startswith("_") and not node.name.endswith("__"):
            continue
        name = f"{prefix}.{node.name}"
        text = ast.get_docstring(node, clean=False)
        if text and text.strip():
            yield name, inspect.cleandoc(text).strip()
        if isinstance(node, ast.ClassDef):
            yield from _documented(node, name)


def _definitions(tree: ast.AST) -> Iterator[_Definition]:
    """Yield the definitions in a body, including those under `if` and `try`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, _Definition):
            yield node
        elif isinstance(node, ast.If | ast.Try | ast.ExceptHandler | ast.With):
            yield from _definitions(node)


def _split(name: str) -> str:
    digest = hashlib.sha256(name.encode()).digest()
    if int.from_bytes(digest[:8], "big") < TEST_SHARE * 2**64:
        return "test"
    return "train"
