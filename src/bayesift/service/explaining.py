"""Why a document is thought relevant or not: its score under a profile, and what each of its words adds to it.

The score is normal, N(m, s^2), under the posterior of the weights, and with flip noise the probability of relevance is
kappa + (1 - 2 kappa) Phi(m / s). `low` and `high` are that probability where the score lies 1.645 standard deviations
lower or higher: near together when the words of the document are well known, far apart when they are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesift.filtering import DocumentVector, Profile, VectorSpace
from bayesift.filtering.engine import stacked
from bayesift.filtering.profile import restricted

Array = np.ndarray[Any, Any]

_SPREAD = 1.6448536269514722  # of a normal distribution, 90% lie within


@dataclass(frozen=True)
class Scores:
    """Of documents under a profile: probability of relevance, its spread, and what their labels would teach (bits)."""

    probability: Array
    low: Array
    high: Array
    gain: Array

    @property
    def worth(self) -> Array:
        """What a look is worth: the chance of a relevant document plus the bits its label teaches."""
        worth: Array = self.probability + self.gain
        return worth


def score(profile: Profile, vectors: Sequence[DocumentVector], n_columns: int) -> Scores:
    """Score documents."""
    rows = restricted(stacked(vectors, n_columns), profile.lookup)
    means, variances = profile.posterior.fields(rows)
    noise = profile.likelihood
    away = _SPREAD * np.sqrt(variances)
    gains = noise.expected_information_gain(means, variances, kind="exact")
    low, high = noise.predictive(means - away, variances), noise.predictive(means + away, variances)
    return Scores(noise.predictive(means, variances), low, high, gains)


def contributions(profile: Profile, vector: DocumentVector) -> dict[int, float]:
    """What each known word of a document adds to its mean score, by column; the largest first."""
    known = vector.columns[vector.columns < len(profile.lookup)]
    weights = vector.weights[vector.columns < len(profile.lookup)]
    local = profile.lookup[known]
    kept = local >= 0
    added = profile.posterior.mean()[local[kept]] * weights[kept]
    order = np.argsort(-np.abs(added), kind="stable")
    return {int(known[kept][place]): float(added[place]) for place in order if added[place]}


def spoken_words(space: VectorSpace, added: dict[int, float], text: str) -> list[dict[str, Any]]:
    """Contributions with the words as they stand in a text."""
    forms = space.forms_of(text)
    terms = space.words_of(added)
    return [
        {"word": forms.get(term, [term])[0], "weight": weight, "forms": forms.get(term, [])}
        for term, weight in zip(terms, added.values(), strict=True)
    ]


def strongest_terms(profile: Profile, limit: int) -> tuple[dict[int, float], dict[int, float]]:
    """The words with the largest mean weights for and against, by column."""
    means = profile.posterior.mean()[1:]
    order = np.argsort(-means, kind="stable")
    speak_for = {int(profile.terms[i]): float(means[i]) for i in order[:limit] if means[i] > 0}
    against = {int(profile.terms[i]): float(means[i]) for i in order[::-1][:limit] if means[i] < 0}
    return speak_for, against
