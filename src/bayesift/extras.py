"""Optional packages, imported only when they are used."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from bayesift.errors import MissingExtraError


def require(module: str, *, extra: str) -> ModuleType:
    """Import `module`; the error names the extra to install."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f'this needs {module.partition(".")[0]}, not installed yet; run: pip install "bayesift[{extra}]"'
        ) from error
