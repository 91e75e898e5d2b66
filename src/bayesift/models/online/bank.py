"""The posteriors of all models over one shared matrix; threads take a model each."""

from __future__ import annotations

import numbers
import operator
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import numpy as np
from scipy import sparse

from bayesift.errors import DataError
from bayesift.kernels.online_perceptron import restrict
from bayesift.models.online.likelihoods import likelihood_of
from bayesift.models.online.low_rank import LowRankPosterior
from bayesift.models.online.posteriors import DiagonalPosterior, Dynamics, FullPosterior, floats
from bayesift.models.state import Arrays

Array = np.ndarray[Any, Any]

POSTERIORS: dict[str, type[Any]] = {
    posterior.kind: posterior for posterior in (FullPosterior, DiagonalPosterior, LowRankPosterior)
}


def check_settings(settings: Any) -> None:
    """Refuse parameters of a perceptron that make no sense.

    Examples
    --------
    >>> from bayesift.models.online import OnlinePerceptron
    >>> check_settings(OnlinePerceptron(passes=1))
    """
    likelihood_of(settings.likelihood)
    if settings.covariance not in POSTERIORS:
        raise ValueError(f"no covariance {settings.covariance!r}; there are: {', '.join(POSTERIORS)}")
    for name in ("rank", "passes"):
        value = getattr(settings, name)
        if not isinstance(value, numbers.Integral) or value < 1:
            raise ValueError(f"{name} must be a whole number, at least 1, got {value!r}")
    if not _is_positive(settings.prior_variance):
        raise ValueError(f"prior_variance must be above 0, got {settings.prior_variance!r}")
    if not (isinstance(settings.bias, numbers.Real) and np.isfinite(float(settings.bias))):
        raise ValueError(f"bias must be a number, got {settings.bias!r}")
    if settings.half_life is not None and not _is_positive(settings.half_life):
        raise ValueError(f"half_life must be above 0, got {settings.half_life!r}")
    if settings.n_jobs is not None and not isinstance(settings.n_jobs, numbers.Integral):
        raise ValueError(f"n_jobs must be a whole number or None, got {settings.n_jobs!r}")


def _is_positive(value: Any) -> bool:
    return isinstance(value, numbers.Real) and 0 < float(value) < np.inf


class PosteriorBank:
    """One posterior a model, and the terms each may use.

    Attributes
    ----------
    posteriors : one a model
    terms : the columns of X each model knows, in the order of its weights; None if all know all
    scales : the prior scale of each of these, in units of the root of the prior variance
    n_terms : columns of X
    evidence : log evidence so far, one a model
    last_fields : means and variances before each update of the last `learn`, models x 2 x documents

    Examples
    --------
    >>> from bayesift.models.online import OnlinePerceptron
    >>> bank = PosteriorBank()
    >>> bank.grow(2, 3, None, OnlinePerceptron())
    >>> [posterior.size for posterior in bank.posteriors]
    [4, 4]
    """

    def __init__(self) -> None:
        self.posteriors: list[Any] = []
        self.terms: list[Array] | None = None
        self.scales: list[Array] = []
        self.n_terms = 0
        self.evidence: Array = np.zeros(0)
        self.last_fields: Array = np.empty((0, 2, 0))

    def grow(self, n_models: int, n_terms: int, supports: Any, settings: Any) -> None:
        """Add models, columns and the terms of `supports` at the prior; nothing else moves."""
        if supports is not None and self.terms is None:
            if self.posteriors:
                raise ValueError("the models know all terms already; supports come with the first documents")
            self.terms = []
        if self.terms is not None:
            self.terms, self.scales = _more_terms(self.terms, self.scales, supports, n_models, n_terms)
        dynamics = _dynamics(settings)
        sizes = [1 + (n_terms if self.terms is None else len(self.terms[m])) for m in range(n_models)]
        for m, size in enumerate(sizes):
            if m == len(self.posteriors):
                self.posteriors.append(_at_prior(size, dynamics, settings))
            elif size > self.posteriors[m].size:
                self.posteriors[m].grow(size, dynamics)
        self.n_terms = n_terms
        self.evidence = np.pad(self.evidence, (0, n_models - len(self.evidence)))

    def learn(self, rows: sparse.csr_array, signs: Array, settings: Any) -> None:
        """Update every model with each document in turn."""
        likelihood, dynamics = likelihood_of(settings.likelihood), _dynamics(settings)

        def work(model: int, local: sparse.csr_array) -> Any:
            return self.posteriors[model].learn(local, signs[model], likelihood, dynamics)

        learned = self._over_models(work, rows, settings)
        self.evidence = self.evidence + np.array([total for total, _ in learned])
        self.last_fields = np.stack([fields for _, fields in learned])

    def fields(self, rows: sparse.csr_array, settings: Any) -> Array:
        """Means and variances of the fields, models x 2 x documents."""
        work = self._over_models(lambda model, local: self.posteriors[model].fields(local), rows, settings)
        return np.stack(work)

    def means(self, models: list[int] | None = None) -> Array:
        """The mean weights of models (all without), models x (bias and terms); 0 for terms a model does not know."""
        wanted = range(len(self.posteriors)) if models is None else models
        weights = np.zeros((len(wanted), 1 + self.n_terms))
        for place, m in enumerate(wanted):
            mean = self.posteriors[m].mean()
            weights[place, 0] = mean[0]
            if self.terms is None:
                weights[place, 1:] = mean[1:]
            else:
                weights[place, 1 + self.terms[m]] = self.scales[m] * mean[1:]
        return weights

    def to_arrays(self) -> Arrays:
        """Plain arrays for a file."""
        arrays: Arrays = {"n_terms": np.array([self.n_terms]), "evidence": self.evidence}
        for m, posterior in enumerate(self.posteriors):
            arrays |= {f"{m}.{name}": array for name, array in posterior.to_arrays().items()}
            if self.terms is not None:
                arrays |= {f"{m}.terms": self.terms[m], f"{m}.scales": self.scales[m]}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Arrays, settings: Any) -> Self:
        """The inverse of `to_arrays`; refuses what does not fit together."""
        bank = cls()
        try:
            check_settings(settings)
            bank.evidence, bank.n_terms = floats(arrays, "evidence"), operator.index(arrays["n_terms"].item())
            kind = POSTERIORS[settings.covariance]
            parts = [_part(arrays, m) for m in range(len(bank.evidence))]
            bank.posteriors = [kind.from_arrays(part) for part in parts]
            if any("terms" in part for part in parts):
                bank.terms = [_checked_terms(part["terms"], bank.n_terms) for part in parts]
                bank.scales = [_checked_scales(floats(part, "scales"), part["terms"]) for part in parts]
        except (KeyError, IndexError, TypeError, ValueError, OverflowError) as error:
            raise DataError(f"not the state of an online perceptron: {error}") from error
        known = [1 + bank.n_terms] * len(parts) if bank.terms is None else [1 + len(terms) for terms in bank.terms]
        if bank.evidence.ndim != 1 or [posterior.size for posterior in bank.posteriors] != known:
            raise DataError("the weights do not fit the terms")
        if settings.covariance == "low-rank" and any(p.rank != settings.rank for p in bank.posteriors):
            raise DataError("the weights do not have the rank that is named")
        return bank

    def _over_models(
        self, work: Callable[[int, sparse.csr_array], Any], rows: sparse.csr_array, settings: Any
    ) -> list[Any]:
        """What `work` gives for each model and its local rows."""
        shared = _local_rows(rows, settings.bias) if self.terms is None else None

        def of_model(model: int) -> Any:
            if self.terms is None:
                return work(model, shared)
            return work(model, _local_rows(rows, settings.bias, self.terms[model], self.scales[model]))

        models = range(len(self.posteriors))
        threads = min(len(models), (os.cpu_count() or 1) if settings.n_jobs == -1 else settings.n_jobs or 1)
        if threads <= 1:
            return [of_model(model) for model in models]
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(of_model, models))


def _at_prior(size: int, dynamics: Dynamics, settings: Any) -> Any:
    extra = {"rank": settings.rank} if settings.covariance == "low-rank" else {}
    return POSTERIORS[settings.covariance].at_prior(size, dynamics, **extra)


def _dynamics(settings: Any) -> Dynamics:
    keep = 1.0 if settings.half_life is None else float(0.5 ** (1.0 / settings.half_life))
    return Dynamics(float(settings.prior_variance), keep)


def _more_terms(
    terms: list[Array], scales: list[Array], supports: Any, n_models: int, n_terms: int
) -> tuple[list[Array], list[Array]]:
    """Terms and scales of each model: those it has in their order, then those that `supports` adds."""
    missing = n_models - len(terms)
    terms = terms + [np.empty(0, dtype=np.int32)] * missing
    scales = scales + [np.empty(0)] * missing
    if supports is None:
        return terms, scales
    rows = sparse.csr_array(supports, dtype=np.float64)
    if rows.shape != (n_models, n_terms):
        raise ValueError(f"supports must be models x terms, {(n_models, n_terms)}, not {rows.shape}")
    if not np.all(np.isfinite(rows.data)) or np.any(rows.data < 0):
        raise ValueError("supports must be True where a model may use a term, or the scale of its prior, 0 or above")
    for m in range(n_models):
        row = slice(rows.indptr[m], rows.indptr[m + 1])
        new = (rows.data[row] > 0) & ~np.isin(rows.indices[row], terms[m])
        order = np.argsort(rows.indices[row][new])
        terms[m] = np.concatenate([terms[m], rows.indices[row][new][order].astype(np.int32)])
        scales[m] = np.concatenate([scales[m], rows.data[row][new][order]])
    return terms, scales


_UNSCALED = np.empty(0)


def _local_rows(
    rows: sparse.csr_array, bias: float, terms: Array | None = None, scales: Array = _UNSCALED
) -> sparse.csr_array:
    """Documents in a model's own columns: the bias, then its terms, each times the scale of its prior."""
    lookup = np.arange(1, rows.shape[1] + 1, dtype=np.int32)
    if terms is not None:
        lookup[:] = -1
        lookup[terms] = np.arange(1, len(terms) + 1)
    indptr = np.empty(rows.shape[0] + 1, dtype=np.int64)
    indices, data = restrict(rows.indptr, rows.indices, rows.data, lookup, scales, float(bias), indptr)
    local = sparse.csr_array((rows.shape[0], 1 + (rows.shape[1] if terms is None else len(terms))))
    local.indptr, local.indices, local.data = indptr, indices, data
    return local


def _part(arrays: Arrays, model: int) -> Arrays:
    prefix = f"{model}."
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _checked_terms(terms: Array, n_terms: int) -> Array:
    if terms.dtype != np.int32 or terms.ndim != 1 or len(np.unique(terms)) != len(terms):
        raise DataError("the terms of a model are not distinct columns")
    if len(terms) and not 0 <= terms.min() <= terms.max() < n_terms:
        raise DataError("a model uses a term that is not there")
    return terms.copy()


def _checked_scales(scales: Array, terms: Array) -> Array:
    if scales.shape != terms.shape or np.any(scales <= 0):
        raise DataError("the scales of a model's priors do not fit its terms")
    return scales
