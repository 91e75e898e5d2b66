"""Why a text was put where it was put."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class TermContribution:
    """What one term adds to the log odds of a category.

    Parameters
    ----------
    term : its name
    weight : its weight in the text's vector
    contribution : what it adds; negative speaks against the category
    deviation : the standard deviation of the contribution, where the model knows how sure its weights are
    """

    term: str
    weight: float
    contribution: float
    deviation: float | None = None


@dataclass(frozen=True, slots=True)
class CategoryExplanation:
    """Why a text belongs to a category, or does not.

    Parameters
    ----------
    category : its name
    score : its probability, or the score of a classifier without probabilities
    threshold : above which the category is assigned; None where the largest score decides
    assigned : the decision
    prior : the log odds before any word is read
    terms : contributions, the largest in size first
    integrated : the probability averaged over all weights the model holds possible, where it knows how sure it is
    interval : between which values 90% of those probabilities lie
    """

    category: str
    score: float
    threshold: float | None
    assigned: bool
    prior: float
    terms: tuple[TermContribution, ...]
    integrated: float | None = None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a text was put where it was put.

    Parameters
    ----------
    categories : the explained ones, the most probable first
    known, unseen : how many terms of the text the model knows, and how many it does not
    unseen_terms : those it does not know
    """

    categories: tuple[CategoryExplanation, ...]
    known: int
    unseen: int
    unseen_terms: tuple[str, ...]

    @property
    def unseen_share(self) -> float:
        """The share of the text the model does not know."""
        return self.unseen / max(1, self.known + self.unseen)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "unseen_share": self.unseen_share}
