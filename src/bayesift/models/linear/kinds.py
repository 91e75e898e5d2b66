"""Priors and settings as model files hold them: names, numbers, and arrays under names of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.errors import DataError
from bayesift.models.linear.links import describe_link, described_link, link_of
from bayesift.models.linear.mostly_equal import describe_array, described_arrays
from bayesift.models.linear.priors import PRIORS, Prior, prior_of
from bayesift.models.linear.scale_rules import describe_scale_rule, described_scale_rule
from bayesift.models.state import Arrays, Parameters

_PLAIN: dict[str, tuple[type, ...]] = {
    "solver": (str,),
    "tol": (float, int),
    "max_iter": (int,),
    "multiclass": (str,),
    "warm_start": (bool,),
    "n_jobs": (int, type(None)),
    "class_weight": (str, list, type(None)),
    "posterior": (str,),
}


def describe_prior(prior: Any, prefix: str) -> tuple[Parameters, Arrays]:
    """A prior as JSON can hold it, and its arrays.

    Examples
    --------
    >>> from bayesift.models.linear import GaussianPrior
    >>> describe_prior(GaussianPrior(variance=2.0), "prior")
    ({'kind': 'gaussian', 'variance': 2.0, 'mode': 0.0, 'sign': 0}, {})
    """
    if PRIORS.get(getattr(prior, "kind", "")) is not type(prior):
        raise DataError(f"{prior!r} cannot be stored: its kind is not one of {', '.join(PRIORS)}")
    fields = vars(prior)
    numbers: Parameters = {name: np.asarray(value).item() for name, value in fields.items() if np.ndim(value) == 0}
    arrays: Arrays = {}
    for name, value in fields.items():
        if np.ndim(value):
            numbers |= describe_array(name, np.asarray(value, dtype=float), f"{prefix}.", arrays)
    return {"kind": prior.kind, **numbers}, arrays


def described_prior(description: Parameters, arrays: Arrays, prefix: str) -> Prior:
    """The inverse of `describe_prior`.

    Examples
    --------
    >>> described_prior({"kind": "laplace", "gamma": 4.0}, {}, "prior")
    LaplacePrior(gamma=4.0, mode=0.0, sign=0)
    """
    fields = dict(description)
    kind = fields.pop("kind", None)
    if not isinstance(kind, str) or kind not in PRIORS:
        raise DataError(f"no prior {kind!r}; there are: {', '.join(PRIORS)}")
    try:
        fields = described_arrays(fields, arrays, f"{prefix}.")
        prior: Prior = PRIORS[kind](**fields)
    except (TypeError, ValueError) as error:
        raise DataError(f"not a {kind} prior: {error}") from error
    return prior


def describe_settings(settings: Parameters) -> tuple[Parameters, Arrays]:
    """The parameters of a classifier as JSON can hold them, and their arrays; names stay names.

    Examples
    --------
    >>> describe_settings({"link": "logit", "prior": "laplace", "intercept": None, "class_weight": {0: 2.0}})[0]
    {'link': 'logit', 'prior': 'laplace', 'intercept': None, 'class_weight': [[0, 2.0]]}
    """
    plain, arrays = {name: value for name, value in settings.items() if name != "progress"}, {}
    if not isinstance(plain["link"], str):
        plain["link"] = describe_link(plain["link"])
    for name in ("prior", "intercept"):
        if plain[name] is not None and not isinstance(plain[name], str):
            plain[name], more = describe_prior(plain[name], name)
            arrays.update(more)
    if plain.get("prior_scale") is not None:
        plain["prior_scale"] = describe_scale_rule(plain["prior_scale"])
    if isinstance(plain["class_weight"], dict):
        plain["class_weight"] = [[np.asarray(k).item(), float(v)] for k, v in plain["class_weight"].items()]
    return plain, arrays


def described_settings(description: Parameters, arrays: Arrays) -> Parameters:
    """The inverse of `describe_settings`; refuses what no classifier has.

    Examples
    --------
    >>> described_settings({"link": {"kind": "probit"}, "prior": "jeffreys", "intercept": "flat"}, {})
    {'link': Probit(), 'prior': 'jeffreys', 'intercept': 'flat'}
    """
    settings = dict(description)
    for name, value in settings.items():
        if name in _PLAIN and not isinstance(value, _PLAIN[name]):
            raise DataError(f"{value!r:.40} is no {name}")
        if name not in _PLAIN and name not in ("link", "prior", "intercept", "prior_scale"):
            raise DataError(f"a linear model has no {name!r:.40}")
    try:
        if isinstance(settings.get("link"), dict):
            settings["link"] = described_link(settings["link"])
        for name in ("prior", "intercept"):
            if isinstance(settings.get(name), dict):
                settings[name] = described_prior(settings[name], arrays, name)
        if isinstance(settings.get("class_weight"), list):
            settings["class_weight"] = dict(settings["class_weight"])
        if "prior_scale" in settings:
            settings["prior_scale"] = described_scale_rule(settings["prior_scale"])
        link_of(settings.get("link"))
        prior_of(settings.get("prior"))
    except (TypeError, ValueError) as error:
        raise DataError(f"not the settings of a linear model: {error}") from error
    return settings
