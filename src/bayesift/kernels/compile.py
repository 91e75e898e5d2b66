"""The one place where kernels are compiled.

Compiled kernels are cached on disk in a folder named after the sources of this package and the
versions of Numba and Python: a cached kernel does not notice a change in a kernel it calls, a new
folder does. `BAYESIFT_CACHE` names another place for it. Where nothing can be written (containers,
executors), kernels are compiled anew in every process instead of failing.
"""

from __future__ import annotations

import hashlib
import os
import platform
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import platformdirs
from numba.core import config

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def kernel(function: Kernel) -> Kernel:
    """Compile `function` without the GIL, cached on disk where that is possible."""
    return _compiled(function)


def vectorised(function: Kernel) -> Kernel:
    """As `kernel`, but division by 0 gives infinity, not an exception: a loop of divisions becomes vector code."""
    return _compiled(function, error_model="numpy")


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
            return str(folder)
    except OSError:
        return None


def _sources_digest() -> str:
    digest = hashlib.sha256(f"{numba.__version__} {platform.python_version()}".encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


_CACHE = _cache_folder()
