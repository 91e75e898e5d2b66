"""Compiles kernels and caches them on disk, in a folder named by a digest of this package's sources, Numba and Python.

A cached kernel does not notice a change in a kernel it calls; a new folder does. `BAYESIFT_CACHE` names another place.
Where nothing can be written, every process compiles its kernels. Folders unused for 30 days are removed.
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
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import platformdirs
from numba.core import config

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

_DIGEST = re.compile("[0-9a-f]{16}")
_UNUSED_SECONDS = 30 * 24 * 3600.0


def kernel(function: Kernel) -> Kernel:
    """Compile `function` without the GIL, cached on disk where that is possible."""
    return _compiled(function)


def vectorised(function: Kernel) -> Kernel:
    """As `kernel`, but division by 0 gives infinity, not an exception: a loop of divisions becomes vector code."""
    return _compiled(function, error_model="numpy")


def tight(function: Kernel) -> Kernel:
    """As `vectorised`, with fused products and sums: their order stays, a product is not rounded before its sum."""
    return _compiled(function, error_model="numpy", fastmath={"contract"})


def inlined(function: Kernel) -> Kernel:
    """Compile `function` into the body of each kernel that calls it."""
    return cast(Kernel, numba.njit(function, nogil=True, forceinline=True))


def _compiled(function: Kernel, **options: Any) -> Kernel:
    if _CACHE is None:
        return cast(Kernel, numba.njit(function, nogil=True, **options))
    # Numba reads its cache folder when a function is decorated; leave the setting as it was for others.
    others, config.CACHE_DIR = config.CACHE_DIR, _CACHE  # type: ignore[attr-defined]
    try:
        return cast(Kernel, numba.njit(function, nogil=True, cache=True, **options))
    finally:
        config.CACHE_DIR = others  # type: ignore[attr-defined]


def inlined_in_any_order(function: Kernel) -> Kernel:
    """As `inlined`, for sums that may be taken in any order (vector units); their last digits depend on the machine."""
    return cast(Kernel, numba.njit(function, nogil=True, forceinline=True, fastmath={"reassoc", "contract"}))


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
    """Remove folders unused for long; each is renamed first, so that of several processes only one removes it."""
    for folder in current.parent.iterdir():
        try:
            if folder.suffix == ".removed":
                shutil.rmtree(folder, ignore_errors=True)
            elif folder != current and _DIGEST.fullmatch(folder.name) and _age(folder) > _UNUSED_SECONDS:
                shutil.rmtree(folder.rename(folder.with_name(f"{folder.name}.{os.getpid()}.removed")))
        except OSError:
            continue


def _age(folder: Path) -> float:
    return time.time() - folder.stat().st_mtime


def _sources_digest() -> str:
    digest = hashlib.sha256(f"{numba.__version__} {platform.python_version()}".encode())
    for source in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


_CACHE = _cache_folder()
