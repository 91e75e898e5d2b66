"""Gaussian processes as plain arrays and settings as JSON can hold them, and back; nothing that is read is trusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from bayesift.errors import DataError
from bayesift.models.online.covariances import describe_covariance, described_covariance
from bayesift.models.online.likelihoods import describe_likelihood, described_likelihood, likelihood_of
from bayesift.models.online.process import ProcessSettings, SparseProcess
from bayesift.models.state import Arrays, Parameters, classes_of, expect

Array = np.ndarray[Any, Any]

_PLAIN: dict[str, tuple[type, ...]] = {
    "passes": (int,),
    "max_basis": (int, str),
    "tolerance": (float, int),
    "drift_tolerance": (float, int),
    "n_jobs": (int, type(None)),
}
_FLOATS = ("alpha", "C", "Q", "data", "log_evidence")
_INTEGERS = ("sizes", "n_updates", "indptr", "indices")
_INEXACT = 1e-3  # how far Q K of a stored process may be from the identity


@dataclass(frozen=True)
class DescribedModel:
    """What the parameters of a stored classifier say."""

    settings: Parameters
    multilabel: bool
    classes: Array
    n_terms: int
    n_models: int


def settings_of(settings: Parameters) -> Parameters:
    """The parameters of a classifier as JSON can hold them; names stay names.

    Examples
    --------
    >>> settings_of({"kernel": "linear", "likelihood": "flip", "passes": 3})
    {'kernel': 'linear', 'likelihood': 'flip', 'passes': 3}
    """
    plain = dict(settings)
    plain["kernel"] = describe_covariance(plain["kernel"])
    if not isinstance(plain["likelihood"], str):
        plain["likelihood"] = describe_likelihood(plain["likelihood"])
    return plain


def described_model(parameters: Parameters) -> DescribedModel:
    """What stored parameters say; refuses what no classifier has.

    Examples
    --------
    >>> settings = {"kernel": "linear", "likelihood": "probit"}
    >>> classes = {"dtype": "<i8", "labels": [0, 1]}
    >>> described_model({"settings": settings, "classes": classes, "multilabel": False, "n_terms": 3}).n_models
    1
    """
    settings = _described_settings(expect(parameters, "settings", dict))
    multilabel = expect(parameters, "multilabel", bool)
    labels = expect(expect(parameters, "classes", dict), "labels", list)
    classes = classes_of(parameters["classes"], len(labels))
    if not multilabel and (len(classes) < 2 or not np.array_equal(classes, np.unique(classes))):
        raise DataError("its classes are not two or more, sorted")
    n_terms = expect(parameters, "n_terms", int)
    if isinstance(n_terms, bool) or not 0 <= n_terms < 2**31:
        raise DataError(f"{n_terms!r} is no number of terms")
    n_models = 1 if len(classes) == 2 and not multilabel else len(classes)
    return DescribedModel(settings, multilabel, classes, n_terms, n_models)


def _described_settings(description: Parameters) -> Parameters:
    settings = dict(description)
    for name, value in settings.items():
        if name in _PLAIN and (not isinstance(value, _PLAIN[name]) or isinstance(value, bool)):
            raise DataError(f"{value!r:.40} is no {name}")
        if name not in _PLAIN and name not in ("kernel", "likelihood"):
            raise DataError(f"an online Gaussian process has no {name!r:.40}")
    settings["kernel"] = described_covariance(settings.get("kernel"))
    likelihood = settings.get("likelihood")
    try:
        settings["likelihood"] = described_likelihood(likelihood) if isinstance(likelihood, dict) else likelihood
        likelihood_of(settings["likelihood"])
    except (TypeError, ValueError) as error:
        raise DataError(f"not the settings of an online Gaussian process: {error}") from error
    return settings


def processes_to(processes: list[SparseProcess], terms: list[Array] | None) -> Arrays:
    """Plain arrays of all processes, one after the other.

    Examples
    --------
    >>> sorted(processes_to([SparseProcess.empty()], None))
    ['C', 'Q', 'alpha', 'data', 'indices', 'indptr', 'log_evidence', 'n_updates', 'sizes']
    """
    lengths = [np.diff(process.rows[0]) for process in processes]
    arrays = {
        "sizes": np.array([process.size for process in processes], dtype=np.int64),
        "n_updates": np.array([process.n_updates for process in processes], dtype=np.int64),
        "log_evidence": np.array([process.log_evidence for process in processes]),
        "alpha": np.concatenate([process.alpha for process in processes]),
        "C": np.concatenate([process.C.ravel() for process in processes]),
        "Q": np.concatenate([process.Q.ravel() for process in processes]),
        "indptr": np.concatenate(([0], np.cumsum(np.concatenate(lengths)))).astype(np.int64),
        "indices": np.concatenate([process.rows[1] for process in processes]),
        "data": np.concatenate([process.rows[2] for process in processes]),
    }
    if terms is not None:
        arrays["terms"] = np.concatenate(terms)
        arrays["n_terms"] = np.array([len(columns) for columns in terms], dtype=np.int64)
    return arrays


def processes_from(
    arrays: Arrays, n_models: int, n_terms: int, settings: ProcessSettings
) -> tuple[list[SparseProcess], list[Array] | None]:
    """The inverse of `processes_to`; refuses what does not fit together.

    Examples
    --------
    >>> from bayesift.models.online.covariances import LinearCovariance
    >>> from bayesift.models.online.likelihoods import ProbitNoise
    >>> settings = ProcessSettings(LinearCovariance(), ProbitNoise())
    >>> processes_from(processes_to([SparseProcess.empty()], None), 1, 5, settings)[0][0].size
    0
    """
    parts = {name: _numbers(arrays, name, np.float64) for name in _FLOATS}
    parts |= {name: _numbers(arrays, name, np.int32 if name == "indices" else np.int64) for name in _INTEGERS}
    sizes = parts["sizes"]
    if len(sizes) != n_models or np.any(sizes < 0) or np.any(sizes > len(parts["alpha"])):
        raise DataError("its processes are not one a category")
    squares = int((sizes * sizes).sum())
    wanted = {"n_updates": n_models, "log_evidence": n_models, "alpha": int(sizes.sum()), "C": squares, "Q": squares}
    if any(len(parts[name]) != length for name, length in wanted.items()) or np.any(parts["n_updates"] < sizes):
        raise DataError("its processes do not fit together")
    basis = _basis(parts, (wanted["alpha"], n_terms))
    vectors, places = np.concatenate(([0], np.cumsum(sizes))), np.concatenate(([0], np.cumsum(sizes * sizes)))
    processes = []
    for c, m in enumerate(sizes):
        rows = basis[vectors[c] : vectors[c + 1]]
        C, Q = (parts[name][places[c] : places[c + 1]].reshape(m, m) for name in ("C", "Q"))
        process = SparseProcess(
            (rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data),
            parts["alpha"][vectors[c] : vectors[c + 1]],
            C,
            Q,
            int(parts["n_updates"][c]),
            float(parts["log_evidence"][c]),
        )
        _check_posterior(process, settings, n_terms)
        processes.append(process)
    return processes, _terms(arrays, n_models, n_terms)


def _check_posterior(process: SparseProcess, settings: ProcessSettings, n_terms: int) -> None:
    """Q is the inverse it should be, and every basis vector has a mean and a variance."""
    with np.errstate(all="ignore"):
        means, covariance = process.marginal(settings, n_terms)
        variances = np.diagonal(covariance)
        sound = process.drift(settings, n_terms) < _INEXACT and np.all(np.isfinite(means))
        if not (sound and np.all(np.isfinite(covariance)) and np.all(variances > -_INEXACT)):
            raise DataError("not the state of a Gaussian process: its matrices do not belong to its basis vectors")


def _basis(parts: Arrays, shape: tuple[int, int]) -> sparse.csr_array:
    try:
        rows = sparse.csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=shape)
        rows.check_format(full_check=True)
    except ValueError as error:
        raise DataError(f"its basis vectors do not fit together: {error}") from error
    if not rows.has_canonical_format:
        raise DataError("its basis vectors are not sorted")
    return rows


def _terms(arrays: Arrays, n_models: int, n_terms: int) -> list[Array] | None:
    if "terms" not in arrays:
        return None
    columns, lengths = _numbers(arrays, "terms", np.int32), _numbers(arrays, "n_terms", np.int64)
    if len(lengths) != n_models or np.any(lengths < 0) or lengths.sum() != len(columns):
        raise DataError("its terms are not those of its categories")
    if np.any(columns < 0) or np.any(columns >= n_terms):
        raise DataError("its terms are not among the columns")
    return np.split(columns, np.cumsum(lengths)[:-1])


def _numbers(arrays: Arrays, name: str, dtype: Any) -> Array:
    if name not in arrays:
        raise DataError(f"a Gaussian process lacks {name}")
    array = np.array(arrays[name])
    if array.dtype != dtype or array.ndim != 1 or not np.all(np.isfinite(array)):
        raise DataError(f"{name} must be a row of finite numbers")
    return array
