"""The posteriors of all models over one shared matrix; threads take a model each."""

from __future__ import annotations

import numbers
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from bayesift.arrays import Array, FloatArray, IntArray, SparseRows
from bayesift.errors import DataError
from bayesift.kernels.entries import entries_of
from bayesift.kernels.online_perceptron import restrict
from bayesift.models.linear.scale import BlockScales
from bayesift.models.online.likelihoods import likelihood_of
from bayesift.models.online.posteriors import (
    DiagonalPosterior,
    Dynamics,
    FullPosterior,
    LowRankPosterior,
    MovingPosterior,
)
from bayesift.state import expect_array, storable

POSTERIORS: dict[str, type[Any]] = {
    posterior.kind: posterior
    for posterior in (FullPosterior, DiagonalPosterior, LowRankPosterior)
}

PRIORS = ("fixed", "likelihood-ratio")


def check_settings(settings: Any) -> None:
    """Refuse parameters of a perceptron that make no sense."""
    likelihood_of(settings.likelihood)
    if settings.covariance not in POSTERIORS:
        raise ValueError(
            f"no covariance {settings.covariance!r}; there are: {', '.join(POSTERIORS)}"
        )
    for name in ("rank", "n_epochs"):
        value = getattr(settings, name)
        if not isinstance(value, numbers.Integral) or value < 1:
            raise ValueError(f"{name} must be a whole number, at least 1, got {value!r}")
    if settings.prior not in PRIORS:
        raise ValueError(f"no prior {settings.prior!r}; there are: {', '.join(PRIORS)}")
    if settings.prior != "fixed" and (
        settings.covariance != "diagonal" or settings.half_life is not None
    ):
        raise ValueError(
            f"prior={settings.prior!r} needs covariance='diagonal' and no half_life"
        )
    if not _is_positive(settings.prior_variance):
        raise ValueError(f"prior_variance must be above 0, got {settings.prior_variance!r}")
    if settings.prior_scale is not None and not isinstance(settings.prior_scale, BlockScales):
        raise ValueError(
            f"prior_scale must be None or a BlockScales, got {settings.prior_scale!r}"
        )
    if not (isinstance(settings.bias, numbers.Real) and np.isfinite(float(settings.bias))):
        raise ValueError(f"bias must be a number, got {settings.bias!r}")
    if settings.half_life is not None and not _is_positive(settings.half_life):
        raise ValueError(f"half_life must be above 0, got {settings.half_life!r}")
    if settings.n_jobs is not None and not isinstance(settings.n_jobs, numbers.Integral):
        raise ValueError(f"n_jobs must be a whole number or None, got {settings.n_jobs!r}")


def _is_positive(value: Any) -> bool:
    return isinstance(value, numbers.Real) and 0 < float(value) < np.inf


@storable("posterior-bank")
@dataclass(eq=False)
class PosteriorBank:
    """One posterior per model, and the terms each may use.

    Attributes
    ----------
    terms : the columns of X each model knows, in the order of its weights; None if all know all
    scales : the prior scale of each of these, in units of the root of the prior variance
    n_terms : columns of X
    evidence : log evidence so far, one per model
    last_fields : means and variances before each update of the last `learn`, models x 2 x documents
    """

    posteriors: list[Any] = field(default_factory=list)
    terms: list[Array] | None = None
    scales: list[Array] = field(default_factory=list)
    n_terms: int = 0
    evidence: FloatArray = field(default_factory=lambda: np.zeros(0))
    last_fields: Array = field(default_factory=lambda: np.empty((0, 2, 0)), init=False)

    def grow(self, n_models: int, n_terms: int, feature_mask: Any, settings: Any) -> None:
        """Add models, columns and the terms of `feature_mask` at the prior; nothing else moves."""
        if feature_mask is not None and self.terms is None:
            if self.posteriors:
                raise ValueError(
                    "the models know all terms already; feature_mask come with the first documents"
                )
            self.terms = []
        if self.terms is not None:
            self.terms, self.scales = _more_terms(
                self.terms, self.scales, feature_mask, n_models, n_terms
            )
        dynamics = _dynamics(settings)
        sizes = [
            1 + (n_terms if self.terms is None else len(self.terms[m])) for m in range(n_models)
        ]
        for m, size in enumerate(sizes):
            if m == len(self.posteriors):
                self.posteriors.append(_at_prior(size, dynamics, settings))
            elif size > self.posteriors[m].size:
                self.posteriors[m].grow(size, dynamics)
        self.n_terms = n_terms
        self.evidence = np.pad(self.evidence, (0, n_models - len(self.evidence)))

    def learn(self, rows: SparseRows, signs: FloatArray, settings: Any) -> None:
        """Update every model with each document in turn."""
        likelihood = likelihood_of(settings.likelihood)
        dynamics = _dynamics(settings)

        def work(model: int, local: SparseRows) -> Any:
            return self.posteriors[model].learn(local, signs[model], likelihood, dynamics)

        learned = self._over_models(work, rows, settings)
        self.evidence = self.evidence + np.array([total for total, _ in learned])
        self.last_fields = np.stack([fields for _, fields in learned])

    def fields(self, rows: SparseRows, settings: Any) -> FloatArray:
        """Means and variances of the fields, models x 2 x documents."""
        work = self._over_models(
            lambda model, local: self.posteriors[model].fields(local), rows, settings
        )
        return np.stack(work)

    def means(self, models: list[int] | None = None) -> FloatArray:
        """Return the mean weights of models (None for all), models x (bias and terms).

        0 for terms a model does not know.
        """
        wanted = range(len(self.posteriors)) if models is None else models
        weights = np.zeros((len(wanted), 1 + self.n_terms))
        for index, m in enumerate(wanted):
            mean = self.posteriors[m].mean()
            weights[index, 0] = mean[0]
            if self.terms is None:
                weights[index, 1:] = mean[1:]
            else:
                weights[index, 1 + self.terms[m]] = self.scales[m] * mean[1:]
        return weights

    def check(self, settings: Any) -> None:
        """Refuse stored posteriors that do not fit together, or not the settings."""
        check_settings(settings)
        expect_array(self.evidence, "evidence", np.float64, (len(self.posteriors),))
        if not all(isinstance(posterior, _kind_of(settings)) for posterior in self.posteriors):
            raise DataError(f"the posteriors are not {settings.covariance}")
        sizes = [self.n_terms] * len(self.posteriors)
        if self.terms is not None:
            for terms, scales in zip(self.terms, self.scales, strict=True):
                _check_terms(terms, scales, self.n_terms)
            sizes = [len(terms) for terms in self.terms]
        if [posterior.size - 1 for posterior in self.posteriors] != sizes:
            raise DataError("the weights do not fit the terms")
        if settings.covariance == "low-rank" and any(
            p.rank != settings.rank for p in self.posteriors
        ):
            raise DataError("the weights do not have the rank that is named")

    def _over_models(
        self, work: Callable[[int, SparseRows], Any], rows: SparseRows, settings: Any
    ) -> list[Any]:
        """Call `work` for each model and its local rows."""
        shared = _local_rows(rows, settings.bias) if self.terms is None else None

        def of_model(model: int) -> Any:
            if self.terms is None:
                return work(model, shared)
            return work(
                model, _local_rows(rows, settings.bias, self.terms[model], self.scales[model])
            )

        models = range(len(self.posteriors))
        threads = min(
            len(models),
            (os.cpu_count() or 1) if settings.n_jobs == -1 else settings.n_jobs or 1,
        )
        if threads <= 1:
            return [of_model(model) for model in models]
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(of_model, models))


def _at_prior(size: int, dynamics: Dynamics, settings: Any) -> Any:
    extra = {"rank": settings.rank} if settings.covariance == "low-rank" else {}
    return _kind_of(settings).at_prior(size, dynamics, **extra)


def _kind_of(settings: Any) -> type[Any]:
    if settings.prior == "likelihood-ratio":
        return MovingPosterior
    return POSTERIORS[settings.covariance]


def _dynamics(settings: Any) -> Dynamics:
    keep = 1.0 if settings.half_life is None else float(0.5 ** (1.0 / settings.half_life))
    return Dynamics(float(settings.prior_variance), keep)


def _more_terms(
    terms: list[Array], scales: list[Array], feature_mask: Any, n_models: int, n_terms: int
) -> tuple[list[Array], list[Array]]:
    """Return terms and scales of each model: its own, then those `feature_mask` adds."""
    missing = n_models - len(terms)
    terms = terms + [np.empty(0, dtype=np.int32)] * missing
    scales = scales + [np.empty(0)] * missing
    if feature_mask is None:
        return terms, scales
    rows = sparse.csr_array(feature_mask, dtype=np.float64)
    if rows.shape != (n_models, n_terms):
        raise ValueError(
            f"feature_mask must be models x terms, {(n_models, n_terms)}, not {rows.shape}"
        )
    if not np.all(np.isfinite(rows.data)) or np.any(rows.data < 0):
        raise ValueError(
            "feature_mask must hold True where a model may use a term, or a prior scale of 0 "
            "or above"
        )
    for m in range(n_models):
        row = slice(rows.indptr[m], rows.indptr[m + 1])
        new = (rows.data[row] > 0) & ~np.isin(rows.indices[row], terms[m])
        order = np.argsort(rows.indices[row][new])
        terms[m] = np.concatenate([terms[m], rows.indices[row][new][order].astype(np.int32)])
        scales[m] = np.concatenate([scales[m], rows.data[row][new][order]])
    return terms, scales


_UNSCALED = np.empty(0)


def _local_rows(
    rows: SparseRows,
    bias: float,
    terms: IntArray | None = None,
    scales: FloatArray = _UNSCALED,
) -> SparseRows:
    """Return documents in a model's own columns: bias, then terms times prior scales."""
    lookup = np.arange(1, rows.shape[1] + 1, dtype=np.int32)
    if terms is not None:
        lookup[:] = -1
        lookup[terms] = np.arange(1, len(terms) + 1)
    indptr = np.empty(rows.shape[0] + 1, dtype=np.int64)
    indices, data = restrict(entries_of(rows), lookup, scales, float(bias), indptr)
    local = sparse.csr_array(
        (rows.shape[0], 1 + (rows.shape[1] if terms is None else len(terms)))
    )
    local.indptr = indptr
    local.indices = indices
    local.data = data
    return local


def _check_terms(terms: IntArray, scales: FloatArray, n_terms: int) -> None:
    expect_array(terms, "terms", np.int32, (None,))
    expect_array(scales, "scales", np.float64, terms.shape)
    if len(np.unique(terms)) != len(terms) or np.any((terms < 0) | (terms >= n_terms)):
        raise DataError("the terms of a model are not distinct columns")
    if np.any(scales <= 0):
        raise DataError("the scales of a model's priors must be above 0")
