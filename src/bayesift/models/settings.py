"""Settings of learners by plain names: their parameters, and those of their priors and parts."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from sklearn.base import clone

from bayesift.errors import nearest
from bayesift.models.baselines import NaiveBayesLogisticClassifier
from bayesift.models.linear import SparseBayesClassifier, SpikeSlabClassifier
from bayesift.models.linear.links import LINKS
from bayesift.models.linear.priors import PRIORS
from bayesift.models.naive_bayes import SMOOTHINGS, NaiveBayesClassifier
from bayesift.models.online import OnlineGaussianProcess, OnlinePerceptron
from bayesift.models.online.covariances import COVARIANCES
from bayesift.models.online.likelihoods import LIKELIHOODS
from bayesift.models.topics import TopicSimilarity
from bayesift.models.topics.sparse_nmf import encoder_for_categories

# They have options of their own, or do not change the model.
_NOT_LISTED = {"n_jobs", "progress", "random_state", "tell", "warm_start"}

# Parameters whose value is a part with settings of its own, and what may stand there by name.
_KINDS: dict[type[Any], dict[str, dict[str, type[Any]]]] = {
    NaiveBayesClassifier: {"smoothing": SMOOTHINGS},
    NaiveBayesLogisticClassifier: {"smoothing": SMOOTHINGS},
    SparseBayesClassifier: {"link": LINKS, "prior": PRIORS},
    SpikeSlabClassifier: {"link": LINKS},
    OnlineGaussianProcess: {"kernel": COVARIANCES, "likelihood": LIKELIHOODS},
    OnlinePerceptron: {"likelihood": LIKELIHOODS},
}
_SECTION = re.compile(r"^(\w+)\n-{4,}\n", re.MULTILINE)
_DOCUMENTED = re.compile(r"^(\w+(?:, \w+)*) : (.*(?:\n    .*)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Setting:
    """What may be set of a learner.

    Parameters
    ----------
    name : what users write
    value : what it is unless it is set
    meaning : what the documentation says of it
    part : the parameter whose value it belongs to, such as "prior"; "" for one of the learner
    """

    name: str
    value: Any
    meaning: str
    part: str = ""


def settings_of(estimator: Any) -> list[Setting]:
    """Return the settings of an unfitted estimator, then those of its parts.

    Examples
    --------
    >>> for setting in settings_of(NaiveBayesClassifier()):
    ...     print(setting.part or "-", setting.name, setting.value)
    - priors empirical
    - smoothing laplace
    smoothing alpha 1.0
    """
    parts = _parts_of(estimator)
    meanings = _meanings(type(estimator))
    found = []
    for name, value in estimator.get_params(deep=False).items():
        if name not in _NOT_LISTED:
            shown = getattr(parts.get(name), "kind", value)
            found.append(Setting(name, shown, meanings.get(name, "")))
    for parameter, part in parts.items():
        meanings = _meanings(type(part))
        formula = _summary(type(part)).partition("\n")[0]
        for name, value in _values(part).items():
            found.append(Setting(name, value, meanings.get(name, formula), parameter))
    return found


def described(estimator: Any) -> str:
    """Return what the documentation says of an estimator and its parts, with the references."""
    paragraphs = [_summary(type(estimator))]
    for part in _parts_of(estimator).values():
        paragraphs.append(f"{type(part).__name__}: {_summary(type(part))}")
    references = _section(type(estimator), "References")
    return "\n\n".join(paragraphs) + (f"\n\nReferences: {references}" if references else "")


def configure(estimator: Any, settings: Mapping[str, Any]) -> Any:
    """Return an unfitted copy of an estimator with other settings.

    Where several parts have a setting of the same name, the part comes first: "prior.shape".

    Examples
    --------
    >>> configure(SparseBayesClassifier(), {"prior": "gaussian", "variance": 2, "link": "probit"})
    SparseBayesClassifier(link='probit',
                          prior=GaussianPrior(variance=2, mode=0.0, sign=0))
    >>> configure(SparseBayesClassifier(), {"varience": 2, "prior": "gaussian"})
    Traceback (most recent call last):
    ValueError: no setting 'varience'; did you mean 'variance'?
    """
    made = clone(estimator)
    own = made.get_params(deep=False)
    kinds = _KINDS.get(type(made), {})
    for name, value in settings.items():
        if name in kinds and isinstance(value, str):
            if value not in kinds[name]:
                raise ValueError(f"no {name} {value!r}; {nearest(value, list(kinds[name]))}")
            named = isinstance(own[name], str)  # what stands there takes names itself
            made.set_params(**{name: value if named else kinds[name][value]()})
        elif name in own:
            made.set_params(**{name: value})
    parts = _parts_of(made)
    changes: dict[str, dict[str, Any]] = {}
    for name, value in settings.items():
        if name not in own:
            part, plain = _owner_of(name.rstrip("_"), parts, made)
            changes.setdefault(part, {})[plain] = value
    made.set_params(**{name: _changed(parts[name], changes[name]) for name in changes})
    return made


def _owner_of(name: str, parts: Mapping[str, Any], estimator: Any) -> tuple[str, str]:
    """Return the part that has a setting, and its name there: of "shape" or "prior.shape"."""
    named, _, plain = name.rpartition(".")
    owners = [
        parameter
        for parameter, part in parts.items()
        if plain in _values(part) and named in ("", parameter)
    ]
    if len(owners) > 1:
        ways = " or ".join(f"{owner}.{plain}" for owner in owners)
        raise ValueError(f"{plain!r} is a setting of several parts: write {ways}")
    if not owners:
        known = [setting.name for setting in settings_of(estimator)]
        raise ValueError(f"no setting {name!r}; {nearest(name, known)}")
    return owners[0], plain


def _parts_of(estimator: Any) -> dict[str, Any]:
    """Return the parts of an estimator by the parameter that holds them."""
    parts = {}
    kinds = _KINDS.get(type(estimator), {})
    for name, value in estimator.get_params(deep=False).items():
        if name in kinds:
            parts[name] = kinds[name][value]() if isinstance(value, str) else value
        elif name == "encoder":
            parts[name] = encoder_for_categories(value)
        elif name == "similarity":
            parts[name] = TopicSimilarity() if value is None else value
    return parts


def _values(part: Any) -> dict[str, Any]:
    """Return the settings of a part; "lambda_" is "lambda" to users."""
    if is_dataclass(part):
        named = {field.name: getattr(part, field.name) for field in fields(part)}
    else:
        named = part.get_params(deep=False)
    return {name.rstrip("_"): value for name, value in named.items() if name not in _NOT_LISTED}


def _changed(part: Any, changes: Mapping[str, Any]) -> Any:
    if is_dataclass(part) and not isinstance(part, type):
        names = {field.name.rstrip("_"): field.name for field in fields(part)}
        return replace(part, **{names[name]: value for name, value in changes.items()})
    return clone(part).set_params(**changes)


def _meanings(kind: type[Any]) -> dict[str, str]:
    """Return what the documentation of a class says of each parameter."""
    found = {}
    for match in _DOCUMENTED.finditer(_section(kind, "Parameters")):
        for name in match[1].split(", "):
            found[name.rstrip("_")] = " ".join(match[2].split())
    return found


def _summary(kind: type[Any]) -> str:
    """Return the documentation of a class before its first section."""
    return _SECTION.split(inspect.getdoc(kind) or "")[0].strip()


def _section(kind: type[Any], title: str) -> str:
    """Return a section of the documentation of a class, or nothing."""
    _, *sections = _SECTION.split(inspect.getdoc(kind) or "")
    return dict(zip(sections[::2], sections[1::2], strict=True)).get(title, "").strip()
