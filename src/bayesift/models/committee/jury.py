"""Members of every kind who speak as one, and categories that listen to one another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin

from bayesift.errors import DataError
from bayesift.models.categories import models_of
from bayesift.models.committee.consulting import Consultation, consultation_of
from bayesift.models.committee.hearing import Hearing, Progress, Report, hear
from bayesift.models.committee.members import (
    Hyperplanes,
    InformedMember,
    MarginMember,
    Member,
    NaiveBayesMember,
    Neighborhood,
    NeighborsMember,
    PerceptronMember,
    Sample,
    blend,
)
from bayesift.models.committee.stacking import shares_of
from bayesift.models.committee.verdicts import Verdicts
from bayesift.models.neighbors import NeighborsClassifier
from bayesift.models.state import Arrays, Parameters, expect
from bayesift.validation import check_targets, check_terms

Array = np.ndarray[Any, Any]

_PREFIX = "neighbors."

JURORS: Mapping[str, Callable[[Any], Member]] = MappingProxyType(
    {
        "margin": lambda jury: MarginMember(jury.C, jury.random_state),
        "neighbors": lambda jury: NeighborsMember(jury.k),
        "perceptron": lambda jury: PerceptronMember(4.0, jury.random_state, jury.n_jobs),
        "naive-bayes": lambda jury: NaiveBayesMember(0.5),
        "smooth-naive-bayes": lambda jury: NaiveBayesMember(0.9),
        "informed": lambda jury: InformedMember(3.0, 0.05, jury.tol, jury.n_jobs),
    }
)


class JuryClassifier(Verdicts, ClassifierMixin, BaseEstimator):
    """A support vector machine, neighbours, a Bayesian perceptron, naive Bayes twice and a logistic regression as one.

        z(d, c) = sum_m a_m s_m(d, c) + b

    Each member is asked about documents that it has not seen, fold by fold, and has the share that foretells their
    labels best, the same for all categories (stacking). Shares may be negative: a member whose errors others share is
    heard to be discounted. With an indicator matrix a second round follows, in which the categories of a document
    listen to one another (`committee.consulting`). Meant for weights such as ltc; naive Bayes takes negative ones
    for 0.

    It remembers its documents, for the neighbours; `CommitteeClassifier` is smaller, one linear model, and knows sample
    weights.

    Parameters
    ----------
    members : names of `JURORS`: "margin" (support vector machine), "neighbors", "perceptron" (online, one look at every
        document), "naive-bayes", "smooth-naive-bayes" (nearly the collection), "informed" (logistic, its prior listens
        to naive Bayes)
    C : what a document on the wrong side costs the support vector machine
    k : how many neighbours vote
    n_folds : how many times documents are held out
    tol : of the logistic regression
    random_state : deals the folds, and orders documents
    n_jobs : threads over categories; -1 for all cores
    progress : called with how much of the work is done and how much there is

    Attributes
    ----------
    shares_, offset_ : what multiplies the scores of the members, in the order of `members`, and what is added
    consultation_ : the second round; None for class labels
    neighbors_ : the documents remembered; None without neighbours
    classes_, multilabel_ : as in `LinearScores`
    coef_, intercept_ : the linear members as one

    References
    ----------
    Wolpert (1992), Stacked generalization.

    Examples
    --------
    >>> X, y = [[2, 1, 0], [1, 0, 0], [0, 1, 3], [0, 0, 1]], ["grain", "grain", "crude", "crude"]
    >>> model = JuryClassifier(n_folds=2).fit(X, y)
    >>> model.predict([[1, 0, 0], [0, 0, 1]]).tolist()
    ['grain', 'crude']
    """

    def __init__(
        self,
        *,
        members: Sequence[str] = tuple(JURORS),
        C: float = 1.0,
        k: int = 45,
        n_folds: int = 5,
        tol: float = 1e-2,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.members = members
        self.C = C
        self.k = k
        self.n_folds = n_folds
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X: Any, y: Any) -> Self:
        """Ask the members about documents held out, then fit them to all."""
        targets = check_targets(y)
        rows = check_terms(self, X, n_documents=targets.n_documents)
        sample = Sample(rows, sparse.csr_array(models_of(targets).T), np.ones(targets.n_documents))
        members = self._jurors()
        n_folds = min(self.n_folds, targets.n_documents)
        report = Report(self.progress, len(members) * (n_folds + 1))
        heard = hear(members, sample, n_folds=n_folds, random_state=self.random_state, report=report)
        exclusive = not targets.multilabel and len(targets.classes) > 2
        self.shares_, self.offset_ = _shares(heard, exclusive)
        self.consultation_ = None
        if targets.multilabel and len(targets.classes) > 1:
            first = np.tensordot(self.shares_, heard.scores, 1) + self.offset_
            self.consultation_ = consultation_of(heard, first, sample.members)
        opinions = {name: report.after(member.fit(sample)) for name, member in zip(self.members, members, strict=True)}
        self.neighbors_: Any = opinions.pop("neighbors", None)
        blended = self._blended(opinions, (sample.members.shape[1], rows.shape[1]))
        return self._keep(targets, blended.weights, blended.intercepts + self.offset_)

    def contributions(self, X: Any, category: Any, *, against: Any = None) -> tuple[sparse.csr_array, Array]:
        """What each term adds to the score of a category through the linear members, and all the rest.

        The rest is what the neighbours, the other categories of the document and the intercept add.

        Parameters
        ----------
        X : documents x terms
        category : one of `classes_`
        against : the class to compare with (labels only)
        """
        terms, _ = super().contributions(X, category, against=against)
        if self.consultation_ is not None:
            terms *= self.consultation_.shares[0]
        scores = self._scores(X)
        place, sign = self._place(category)
        whole = sign * scores[:, place]
        if against is not None and not self._is_binary():
            whole = whole - scores[:, self._place(against)[0]]
        return terms, whole - terms.sum(axis=1)

    def get_state(self) -> tuple[Parameters, Arrays]:
        """All that `from_state` needs: parameters that JSON can hold, and arrays."""
        parameters, arrays = super().get_state()
        parameters["shares"], parameters["offset"] = self.shares_.tolist(), self.offset_
        if self.neighbors_ is not None:
            memory, documents = self.neighbors_.memory.get_state()
            parameters["neighbors"] = memory
            arrays |= {_PREFIX + name: array for name, array in documents.items()}
        if (round_two := self.consultation_) is not None:
            parameters["consultation"] = {"shares": round_two.shares.tolist(), "offset": round_two.offset}
            arrays |= {"couplings": round_two.couplings, "rates": round_two.rates}
        return parameters, arrays

    @classmethod
    def from_state(cls, parameters: Parameters, arrays: Arrays) -> Self:
        """The classifier of `get_state`, with identical scores; refuses what does not fit together."""
        model = super().from_state(parameters, {k: v for k, v in arrays.items() if not k.startswith(_PREFIX)})
        model.shares_ = _numbers(parameters, "shares", len(model.members))
        model.offset_ = expect(parameters, "offset", float)
        model.neighbors_ = model.consultation_ = None
        n_models = len(model.intercept_)
        if ("neighbors" in model.members) != ("neighbors" in parameters):
            raise DataError("its neighbours are not those of its members")
        if "neighbors" in parameters:
            documents = {k.removeprefix(_PREFIX): v for k, v in arrays.items() if k.startswith(_PREFIX)}
            memory = NeighborsClassifier.from_state(expect(parameters, "neighbors", dict), documents)
            if memory.n_features_in_ != model.n_features_in_ or len(memory.classes_) != n_models:
                raise DataError("its neighbours have other terms or categories")
            model.neighbors_ = Neighborhood(memory)
        if "consultation" in parameters:
            model.consultation_ = _consultation_from(expect(parameters, "consultation", dict), arrays, n_models)
        return model

    def _jurors(self) -> list[Member]:
        unknown = [name for name in self.members if name not in JURORS]
        if unknown or not self.members or len(set(self.members)) < len(self.members):
            raise ValueError(f"members must be some of {', '.join(JURORS)}, each once; got {self.members!r}")
        return [JURORS[name](self) for name in self.members]

    def _blended(self, linear: Mapping[str, Any], shape: tuple[int, int]) -> Hyperplanes:
        """The linear members as one; without any, hyperplanes that say nothing."""
        shares = dict(zip(self.members, self.shares_, strict=True))
        silent = Hyperplanes(np.zeros(shape), np.zeros(shape[0]))
        return blend([silent, *linear.values()], np.array([0.0, *(shares[name] for name in linear)]))

    def _scores(self, X: Any) -> Array:
        scores = super()._scores(X)
        if self.neighbors_ is not None:
            share = self.shares_[list(self.members).index("neighbors")]
            scores = scores + share * self.neighbors_.scores(check_terms(self, X, reset=False))
        return scores if self.consultation_ is None else self.consultation_(scores)

    def _settings(self) -> Parameters:
        return super()._settings() | {"members": list(self.members), "progress": None}

    @classmethod
    def _constructed(cls, settings: Parameters) -> Parameters:
        members = expect(settings, "members", list)
        if not all(isinstance(name, str) and name in JURORS for name in members):
            raise DataError("members of a jury that are not known")
        return settings | {"members": tuple(members)}


def _shares(heard: Hearing, exclusive: bool) -> tuple[Array, float]:
    """Shares of the members; their scores, some of them margins, are weighed in units of their root mean square."""
    units = np.sqrt(np.mean(heard.scores**2, axis=(1, 2)))
    units[units == 0.0] = 1.0
    shares, offset = shares_of(
        heard.scores / units[:, np.newaxis, np.newaxis],
        heard.labels,
        heard.importance,
        exclusive=exclusive,
        signed=True,
    )
    return shares / units, offset


def _consultation_from(parameters: Parameters, arrays: Arrays, n_models: int) -> Consultation:
    couplings, rates = (arrays.get(name, np.zeros(0)) for name in ("couplings", "rates"))
    if couplings.shape != (n_models, n_models) or rates.shape != (n_models,):
        raise DataError("its second round is of other categories")
    if not all(array.dtype == np.float64 and np.all(np.isfinite(array)) for array in (couplings, rates)):
        raise DataError("its second round must be finite numbers")
    return Consultation(couplings, rates, _numbers(parameters, "shares", 3), expect(parameters, "offset", float))


def _numbers(parameters: Parameters, name: str, count: int) -> Array:
    given = expect(parameters, name, list)
    if len(given) != count or not all(isinstance(number, float) and np.isfinite(number) for number in given):
        raise DataError(f"{name} must be {count} numbers")
    return np.array(given)
