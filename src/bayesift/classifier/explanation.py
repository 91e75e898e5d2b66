"""Why a text was put where it was put."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

Array = np.ndarray[Any, Any]


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


class Sureness(NamedTuple):
    """What a model that keeps its posterior adds to the explanation of one text and category.

    Parameters
    ----------
    integrated, interval : as in `CategoryExplanation`
    deviations : of the contribution of each term, in the order of the text's vector
    """

    integrated: float | None = None
    interval: tuple[float, float] | None = None
    deviations: Array | None = None


def sureness_of(model: Any, X: sparse.csr_array, place: int, category: Any) -> Sureness:
    """How sure a model is of a text; nothing of models that do not know.

    Parameters
    ----------
    model : any classifier
    X : the vector of the text, a matrix of one row
    place, category : the column of the category in probabilities, and its name in `contributions`

    Examples
    --------
    >>> from bayesift.models import SparseBayesClassifier
    >>> model = SparseBayesClassifier(prior="gaussian", posterior="normal").fit([[2, 0], [0, 1]], [0, 1])
    >>> sure = sureness_of(model, sparse.csr_array([[0.0, 2.0]]), 1, 1)
    >>> bool(0.5 < sure.integrated < model.predict_proba([[0, 2]])[0, 1] < sure.interval[1])
    True
    """
    if not hasattr(model, "posteriors_"):
        return Sureness()
    low, high = model.probability_interval(X)
    integrated = model.predict_proba_integrated(X)[0, place]
    deviations = model.contribution_std(X, category).data
    return Sureness(float(integrated), (float(low[0, place]), float(high[0, place])), deviations)
