"""Rules by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from bayesift.thresholds.bayes import Bayes
from bayesift.thresholds.empirical import MaxF1, MinimumErrors, PrecisionTarget, RecallTarget, SCut
from bayesift.thresholds.expected_f1 import ExpectedF1
from bayesift.thresholds.ranks import PCut, RCut
from bayesift.thresholds.rule import ThresholdRule
from bayesift.thresholds.sign import Sign
from bayesift.thresholds.utility import Utility

THRESHOLD_RULES: Mapping[str, type[ThresholdRule]] = MappingProxyType(
    {
        "bayes": Bayes,
        "sign": Sign,
        "max-f1": MaxF1,
        "expected-f1": ExpectedF1,
        "minimum-errors": MinimumErrors,
        "scut": SCut,
        "rcut": RCut,
        "pcut": PCut,
        "utility": Utility,
        "precision-target": PrecisionTarget,
        "recall-target": RecallTarget,
    }
)


def threshold_rule(name: str, **parameters: Any) -> ThresholdRule:
    """A new rule of this name.

    Examples
    --------
    >>> threshold_rule("max-f1", shrinkage=5)
    MaxF1(shrinkage=5)
    """
    if name not in THRESHOLD_RULES:
        raise ValueError(f"no threshold rule {name!r}; there are: {', '.join(THRESHOLD_RULES)}")
    return THRESHOLD_RULES[name](**parameters)
