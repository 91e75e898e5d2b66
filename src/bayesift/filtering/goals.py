"""What a reader wants, as a threshold on the probability of relevance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from bayesift.errors import DataError
from bayesift.filtering.strategies import Strategy
from bayesift.thresholds import PrecisionTarget, RecallTarget, Utility

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class TargetCount:
    """About so many documents, as relevant as can be: what TREC-9's T9P measures.

    The threshold stays 1/2 and the schedule of queries aims at the number, as Chai, Ng & Chieu do.

    Examples
    --------
    >>> TargetCount(20).threshold([], [])
    0.5
    """

    count: int = 50
    kind: ClassVar[str] = "target"

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ValueError(f"a target must be at least 1, got {self.count!r}")

    def threshold(self, y: Any, probabilities: Any) -> float:
        """One half."""
        return 0.5

    def adapt(self, strategy: Strategy) -> Strategy:
        """The strategy with queries that aim at the number."""
        return replace(strategy, target=self.count)


@dataclass(frozen=True, slots=True)
class LinearUtility:
    """The highest sum of gains [[rejected, alarm], [missed, found]]; the default is TREC-9's 2 R+ - N+.

    Examples
    --------
    >>> round(LinearUtility().threshold([], []), 4)
    0.3333
    """

    gains: Sequence[Sequence[float]] = ((0.0, -1.0), (0.0, 2.0))
    kind: ClassVar[str] = "utility"

    def __post_init__(self) -> None:
        self.threshold([], [])

    def threshold(self, y: Any, probabilities: Any) -> float:
        """The probability at which a document breaks even."""
        return float(Utility(gains=self.gains).fit([[0]], [[0.5]]).thresholds_[0])

    def adapt(self, strategy: Strategy) -> Strategy:
        """The strategy as it is."""
        return strategy


@dataclass(frozen=True, slots=True)
class PrecisionFloor:
    """At least this share of what is retrieved is relevant, and as much of it as that allows.

    The threshold is taken on the labelled documents the profile started with, each scored before it was learned;
    without any, it is the floor itself, which holds when the probabilities are right.

    Examples
    --------
    >>> PrecisionFloor(0.5).threshold([1, 0, 1, 0], [0.875, 0.75, 0.5, 0.25]), PrecisionFloor(0.8).threshold([], [])
    (0.375, 0.8)
    """

    floor: float = 0.8
    kind: ClassVar[str] = "precision"

    def __post_init__(self) -> None:
        _check_share(self.floor)

    def threshold(self, y: Any, probabilities: Any) -> float:
        """The lowest threshold that keeps the floor."""
        if not np.any(y):
            return self.floor
        return float(PrecisionTarget(precision=self.floor).fit(y, probabilities).thresholds_[0])

    def adapt(self, strategy: Strategy) -> Strategy:
        """The strategy as it is."""
        return strategy


@dataclass(frozen=True, slots=True)
class RecallFloor:
    """At least this share of what is relevant is retrieved, with as little else as that allows.

    The threshold is taken on the labelled documents the profile started with, each scored before it was learned;
    without any it is one half.

    Examples
    --------
    >>> RecallFloor(1.0).threshold([1, 0, 1, 0], [0.875, 0.75, 0.5, 0.25])
    0.375
    """

    floor: float = 0.9
    kind: ClassVar[str] = "recall"

    def __post_init__(self) -> None:
        _check_share(self.floor)

    def threshold(self, y: Any, probabilities: Any) -> float:
        """The highest threshold that keeps the floor."""
        if not np.any(y):
            return 0.5
        return float(RecallTarget(recall=self.floor).fit(y, probabilities).thresholds_[0])

    def adapt(self, strategy: Strategy) -> Strategy:
        """The strategy as it is."""
        return strategy


Goal = TargetCount | LinearUtility | PrecisionFloor | RecallFloor
GOALS: dict[str, type[Any]] = {goal.kind: goal for goal in (TargetCount, LinearUtility, PrecisionFloor, RecallFloor)}


def describe_goal(goal: Goal) -> dict[str, Any]:
    """A goal as JSON can hold it.

    Examples
    --------
    >>> describe_goal(TargetCount(20))
    {'kind': 'target', 'count': 20}
    """
    return {"kind": goal.kind, **asdict(goal)}


def described_goal(description: dict[str, Any]) -> Goal:
    """The inverse of `describe_goal`.

    Examples
    --------
    >>> described_goal({"kind": "precision", "floor": 0.7})
    PrecisionFloor(floor=0.7)
    """
    fields = dict(description)
    kind = fields.pop("kind", None)
    if not isinstance(kind, str) or kind not in GOALS:
        raise DataError(f"no goal {kind!r:.40}; there are: {', '.join(GOALS)}")
    try:
        goal: Goal = GOALS[kind](**fields)
    except (TypeError, ValueError) as error:
        raise DataError(f"not a goal of the kind {kind!r}: {error}") from error
    return goal


def _check_share(share: float) -> None:
    if not 0 < share <= 1:
        raise ValueError(f"a floor must lie above 0 and be at most 1, got {share!r}")
