"""Rules that choose the scale of a prior, by name and as model files hold them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from bayesift.models.linear.cross_validation import CrossValidation, ScaleSearch
from bayesift.models.linear.evidence import Evidence
from bayesift.models.linear.scale import FixedScale, NormBased, ScaleRule
from bayesift.models.state import Parameters

SCALE_RULES: dict[str, ScaleRule] = {
    "norm": NormBased(),
    "cross-validation": CrossValidation(),
    "one-standard-error": CrossValidation(rule="one-standard-error"),
    "search": ScaleSearch(),
    "evidence": Evidence(),
}
_KINDS: dict[str, type[Any]] = {rule.kind: rule for rule in (NormBased, CrossValidation, ScaleSearch, Evidence)}


def scale_rule_of(prior_scale: Any) -> ScaleRule:
    """The rule of that name, a rule as it is, or the scale that a number fixes.

    Examples
    --------
    >>> scale_rule_of("evidence"), scale_rule_of(2.0)
    (Evidence(shared=False), FixedScale(factor=2.0))
    """
    if isinstance(prior_scale, str):
        if prior_scale not in SCALE_RULES:
            raise ValueError(f"no prior_scale {prior_scale!r}; there are: {', '.join(SCALE_RULES)}, or a number")
        return SCALE_RULES[prior_scale]
    if isinstance(prior_scale, int | float | np.integer | np.floating) and not isinstance(prior_scale, bool):
        return FixedScale(float(prior_scale))
    if _KINDS.get(getattr(prior_scale, "kind", "")) is not type(prior_scale):
        raise ValueError(f"prior_scale must be None, a number or one of {', '.join(SCALE_RULES)}, got {prior_scale!r}")
    rule: ScaleRule = prior_scale
    return rule


def describe_scale_rule(prior_scale: Any) -> Any:
    """The parameter `prior_scale` as JSON can hold it.

    Examples
    --------
    >>> describe_scale_rule(Evidence(shared=True)), describe_scale_rule("norm")
    ({'kind': 'evidence', 'shared': True}, 'norm')
    """
    if prior_scale is None or isinstance(prior_scale, str):
        return prior_scale
    rule = scale_rule_of(prior_scale)
    return rule.factor if isinstance(rule, FixedScale) else {"kind": rule.kind, **asdict(rule)}  # type: ignore[call-overload]


def described_scale_rule(description: Any) -> Any:
    """The inverse of `describe_scale_rule`; raises ValueError or TypeError for what is no scale.

    Examples
    --------
    >>> described_scale_rule({"kind": "search", "folds": 5})
    ScaleSearch(folds=5, shared=False, random_state=0)
    """
    if description is None:
        return None
    if not isinstance(description, dict):
        scale_rule_of(description)
        return description
    fields: Parameters = dict(description)
    kind = fields.pop("kind", None)
    if kind not in _KINDS:
        raise ValueError(f"no scale rule {kind!r:.40}")
    return _KINDS[kind](**fields)
