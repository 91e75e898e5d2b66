"""Contenders: a module each, with a `CONTENDER`; `leaderboard.field` lists them.

A contender says which vectors it reads, between which settings cross-validation may choose, and how it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal


@dataclass(frozen=True)
class Contender:
    """A way to learn, as the leaderboard sees it.

    Parameters
    ----------
    name : for readers
    package : what it comes from; bayesift for ours
    make : takes a setting and whether the labels are an indicator matrix, and gives an estimator with scikit-learn's
        manners: `fit(X, y)`, and `predict_proba`, `decision_function` or both
    settings : what cross-validation on the training documents chooses from
    weighting : of the vectors it reads, a name of `bayesift.text.WEIGHTINGS`
    module : what must be importable

    Examples
    --------
    >>> contender("sklearn_svc").is_installed
    True
    """

    name: str
    package: str
    make: Callable[[Mapping[str, Any], bool], Any]
    settings: Sequence[Mapping[str, Any]]
    weighting: Literal["binary", "tf", "log-tf", "tf-idf", "ltc"] = "ltc"
    module: str = "sklearn"

    @property
    def is_installed(self) -> bool:
        """Whether its package is there."""
        return find_spec(self.module) is not None


def module_of(name: str) -> str:
    """The module of a contender."""
    return f"{__name__}.{name}"


def contender(name: str) -> Contender:
    """The contender of that module."""
    found: Contender = import_module(module_of(name)).CONTENDER
    return found
