"""Compile kernels on their first call and cache them on disk.

The cache is named by a digest of these sources, Numba and Python.

Importing a kernel imports no compiler: commands that call none, and small inputs that need none,
never load Numba. A cached kernel does not notice a change in a kernel it calls; a new folder does.
Files are named by kernel and not by place, so that environments with the same versions share them.
`BAYESIFT_CACHE` names another place. Where nothing can be written, every process compiles its
kernels. Folders unused for 30 days are removed.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import cache, update_wrapper
from importlib.metadata import version
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar, cast

import platformdirs

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

_DIGEST = re.compile("[0-9a-f]{16}")
_UNUSED_SECONDS = 30 * 24 * 3600.0
_LOCK = RLock()


def kernel(function: Kernel) -> Kernel:
    """Compile `function` without the GIL, cached on disk where that is possible."""
    return cast(Kernel, _LazyKernel(function, cached=True))


def brief(function: Kernel) -> Kernel:
    """Compile as `kernel`, with the GIL, for calls of microseconds beside other threads.

    A thread that gave it up would wait for it far longer than the call takes.
    """
    return cast(Kernel, _LazyKernel(function, cached=True, nogil=False))


def vectorised(function: Kernel) -> Kernel:
    """Compile as `kernel`, but division by 0 gives infinity, not an exception.

    A loop of divisions becomes vector code.
    """
    return cast(Kernel, _LazyKernel(function, cached=True, error_model="numpy"))


def tight(function: Kernel) -> Kernel:
    """Compile as `vectorised`, with fused products and sums.

    Their order stays, but a product is not rounded before its sum.
    """
    return cast(
        Kernel, _LazyKernel(function, cached=True, error_model="numpy", fastmath={"contract"})
    )


def inlined(function: Kernel) -> Kernel:
    """Compile `function` into the body of each kernel that calls it."""
    return cast(Kernel, _LazyKernel(function, cached=False, forceinline=True))


def inlined_tight(function: Kernel) -> Kernel:
    """As `inlined`, with divisions, products and sums as in `tight`."""
    options: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}}
    return cast(Kernel, _LazyKernel(function, cached=False, forceinline=True, **options))


def inlined_in_any_order(function: Kernel) -> Kernel:
    """As `inlined`, for sums that may be taken in any order (vector units).

    Their last digits depend on the machine.
    """
    return cast(
        Kernel,
        _LazyKernel(function, cached=False, forceinline=True, fastmath={"reassoc", "contract"}),
    )


def intrinsic(generator: Kernel) -> Kernel:
    """Make a function for kernels whose machine code `generator` writes.

    See `numba.extending.intrinsic`.
    """
    return cast(Kernel, _LazyIntrinsic(generator))


class _Lazy:
    """A function for kernels and Python to call, which is given to Numba when it is first used."""

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._made: Any = None

    def _make(self) -> Any:
        raise NotImplementedError

    @property
    def made(self) -> Any:
        """What Numba knows the function as."""
        if self._made is None:
            with _LOCK:
                self._made = self._make() if self._made is None else self._made
        return self._made

    def __reduce__(self) -> str:
        return self.py_func.__qualname__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.made, name)


class _LazyKernel(_Lazy):
    def __init__(self, function: Callable[..., Any], *, cached: bool, **options: Any) -> None:
        super().__init__(function)
        self._cached, self._options = cached, options

    def __call__(self, *arguments: Any) -> Any:
        return (self._made or self.made)(*arguments)

    @property
    def is_ready(self) -> bool:
        """Whether this process has called it before: it is compiled."""
        return self._made is not None and bool(self._made.signatures)

    @property
    def _numba_type_(self) -> Any:  # what Numba asks for when it meets the name in a kernel
        return self.made._numba_type_

    def _make(self) -> Any:
        import numba

        dispatcher = numba.njit(self.py_func, **{"nogil": True, **self._options})
        if self._cached and cache_folder() is not None:
            dispatcher._cache = _cache_class()(self.py_func)
        return dispatcher


class _LazyIntrinsic(_Lazy):
    @property
    def _numba_type_(self) -> Any:
        from numba.core.registry import cpu_target

        cpu_target.typing_context.refresh()
        return cpu_target.typing_context.resolve_value_type(self.made)

    def _make(self) -> Any:
        from numba.extending import intrinsic as numba_intrinsic

        return numba_intrinsic(self.py_func)


@cache
def _cache_class() -> Any:
    """Numba's cache of a function, in our folder and without the path of the source."""
    from numba.core import caching

    class Locator(caching._CacheLocator):
        def __init__(self, line: int) -> None:
            self._line = line

        def get_cache_path(self) -> str | None:
            return cache_folder()

        def get_source_stamp(self) -> str:
            return ""  # the folder is named by the sources

        def get_disambiguator(self) -> str:
            return str(self._line)

        @classmethod
        def from_function(cls, function: Any, path: str) -> Any:
            return cls(function.__code__.co_firstlineno)

    class Results(caching.CompileResultCacheImpl):
        _locator_classes: list[Any] = [Locator]  # noqa: RUF012

    class FunctionCache(caching.FunctionCache):
        _impl_class = Results

    return FunctionCache


@cache
def cache_folder() -> str | None:
    """Return the folder of this process."""
    return _cache_folder()


def _cache_folder() -> str | None:
    root = os.environ.get("BAYESIFT_CACHE") or platformdirs.user_cache_dir("bayesift")
    folder = Path(root) / "kernels" / _sources_digest()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            os.utime(folder)  # in use
    except OSError:
        return None
    _remove_unused(folder)
    return str(folder)


def _remove_unused(current: Path) -> None:
    """Remove folders unused for long.

    Each is renamed first, so that of several processes only one removes it.
    """
    for folder in current.parent.iterdir():
        try:
            if folder.suffix == ".removed":
                shutil.rmtree(folder, ignore_errors=True)
            elif (
                folder != current
                and _DIGEST.fullmatch(folder.name)
                and _age(folder) > _UNUSED_SECONDS
            ):
                shutil.rmtree(
                    folder.rename(folder.with_name(f"{folder.name}.{os.getpid()}.removed"))
                )
        except OSError:
            continue


def _age(folder: Path) -> float:
    return time.time() - folder.stat().st_mtime


def _sources_digest() -> str:
    digest = hashlib.sha256(f"{version('numba')} {platform.python_version()}".encode())
    for source in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]
