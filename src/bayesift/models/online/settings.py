"""The settings of an online perceptron as model files hold them."""

from __future__ import annotations

from typing import Any

from bayesift.errors import DataError
from bayesift.models.online.likelihoods import describe_likelihood, described_likelihood, likelihood_of
from bayesift.models.state import Parameters

_PLAIN: dict[str, tuple[type, ...]] = {
    "covariance": (str,),
    "rank": (int,),
    "passes": (int,),
    "bias": (float, int),
    "prior_variance": (float, int),
    "half_life": (float, int, type(None)),
    "n_jobs": (int, type(None)),
}


def describe_settings(settings: Parameters) -> Parameters:
    """The parameters of a perceptron as JSON can hold them; names stay names.

    Examples
    --------
    >>> from bayesift.models.online.likelihoods import FlipNoise
    >>> describe_settings({"likelihood": FlipNoise(0.2), "passes": 3})
    {'likelihood': {'kind': 'flip', 'kappa': 0.2}, 'passes': 3}
    """
    likelihood = settings["likelihood"]
    return {**settings, "likelihood": likelihood if isinstance(likelihood, str) else describe_likelihood(likelihood)}


def described_settings(description: Parameters) -> Parameters:
    """The inverse of `describe_settings`; refuses what no perceptron has.

    Examples
    --------
    >>> described_settings({"likelihood": {"kind": "flip", "kappa": 0.2}, "passes": 3})
    {'likelihood': FlipNoise(kappa=0.2), 'passes': 3}
    """
    settings: dict[str, Any] = dict(description)
    for name, value in settings.items():
        if name != "likelihood" and name not in _PLAIN:
            raise DataError(f"an online perceptron has no {name!r:.40}")
        if name in _PLAIN and (not isinstance(value, _PLAIN[name]) or isinstance(value, bool)):
            raise DataError(f"{value!r:.40} is no {name}")
    try:
        if isinstance(settings.get("likelihood"), dict):
            settings["likelihood"] = described_likelihood(settings["likelihood"])
        likelihood_of(settings.get("likelihood"))
    except ValueError as error:
        raise DataError(f"not the settings of an online perceptron: {error}") from error
    return settings
