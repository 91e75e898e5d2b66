"""The online Gaussian process against NumPy and against scikit-learn's batch classifier."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import log_ndtr
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics import f1_score

from bayesift.arrays import Array
from bayesift.corpora import load_reuters
from bayesift.features import SelectTerms
from bayesift.models.online import OnlineGaussianProcess
from bayesift.text import TermVectorizer
from benchmarks.corpora import if_present
from benchmarks.harness import Benchmark, Comparison, Contender, Dataset

Data = tuple[Any, Array, Any, Array, Any]

CATEGORIES, BATCH = ("ship", "corn", "gold", "cpi"), ("earn",)
TOLERANCE, SIGMA0, JITTER = 1e-3, 0.5, 1e-4


@cache
@if_present
def _reuters(n_documents: int, names: tuple[str, ...]) -> Data:
    """Vectors and labels of training and test documents, and the terms of each category."""
    corpus = load_reuters(subset="modapte")
    train, test = corpus.split("train"), corpus.split("test")
    vectorizer = TermVectorizer(weighting="ltc", stop_words="english", stemmer="porter")
    X, X_test = vectorizer.fit_transform(train.texts), vectorizer.transform(test.texts)
    places = [corpus.categories.index(name) for name in names]
    Y, Y_test = train.indicator[:, places].toarray(), test.indicator[:, places].toarray()
    selection = SelectTerms(by="likelihood-ratio", threshold=12.13, k=300, per_category=True)
    selection.fit(X, sparse.csr_array(Y))  # a dense single column would count as class labels
    return X[:n_documents], Y[:n_documents], X_test, Y_test, selection.feature_mask_


def _ours(data: Data, n_epochs: int) -> Array:
    X, Y, X_test, _, feature_mask = data
    model = OnlineGaussianProcess(
        kernel="rbf", max_basis="terms", n_epochs=n_epochs, tolerance=TOLERANCE, shuffle=False
    )
    return model.fit(X, sparse.csr_array(Y), feature_mask=feature_mask).predict_proba(X_test)


def _covariances(x: Array, rows: Array) -> Array:
    distances: Array = ((rows - x) ** 2).sum(axis=1)
    values: Array = np.exp(-0.5 * distances) + JITTER * (distances == 0)
    return values


def _numpy(data: Data) -> Array:
    """Run the same updates one document at a time in vectorised NumPy."""
    X, Y, X_test, _, feature_mask = data
    columns = []
    for c in range(Y.shape[1]):
        terms = feature_mask.indices[feature_mask.indptr[c] : feature_mask.indptr[c + 1]]
        basis, alpha, C = _learn_by_numpy(
            X[:, terms].toarray(), 2.0 * Y[:, c] - 1.0, len(terms) + 1
        )
        k = np.array([_covariances(x, basis) for x in X_test[:, terms].toarray()])
        variances = 1.0 + JITTER + np.einsum("ij,ij->i", k @ C, k)
        columns.append(np.exp(log_ndtr(k @ alpha / np.sqrt(SIGMA0**2 + variances))))
    return np.column_stack(columns)


def _learn_by_numpy(X: Array, labels: Array, budget: int) -> tuple[Array, Array, Array]:
    basis, alpha, C, Q = (
        np.empty((0, X.shape[1])),
        np.empty(0),
        np.empty((0, 0)),
        np.empty((0, 0)),
    )
    own = 1.0 + JITTER
    for x, y in zip(X, labels, strict=True):
        k = _covariances(x, basis)
        s, e = C @ k, Q @ k
        sigma = np.sqrt(SIGMA0**2 + own + k @ s)
        u = y * (k @ alpha) / sigma
        ratio = np.exp(-0.5 * u * u - 0.5 * np.log(2.0 * np.pi) - log_ndtr(u))
        g, q, gamma = y * ratio / sigma, -(u * ratio + ratio * ratio) / sigma**2, own - k @ e
        if gamma <= TOLERANCE * own:
            s = s + e
            alpha, C = alpha + g * s, C + q * np.outer(s, s)
            continue
        s, e = np.append(s, 1.0), np.append(e, -1.0)
        basis, alpha = np.vstack([basis, x]), np.append(alpha, 0.0) + g * s
        C, Q = (
            np.pad(C, (0, 1)) + q * np.outer(s, s),
            np.pad(Q, (0, 1)) + np.outer(e, e) / gamma,
        )
        if len(alpha) > budget:
            basis, alpha, C, Q = _delete_by_numpy(basis, alpha, C, Q)
    return basis, alpha, C


def _delete_by_numpy(
    basis: Array, alpha: Array, C: Array, Q: Array
) -> tuple[Array, Array, Array, Array]:
    r = int(np.argmin(alpha**2 / (np.diagonal(Q) + np.diagonal(C))))
    a, b = np.delete(Q[r], r), np.delete(C[r], r)
    q_star, c_star, alpha_star = Q[r, r], C[r, r], alpha[r]
    rest = np.delete(np.arange(len(alpha)), r)
    cross = np.outer(a, b)
    C = C[np.ix_(rest, rest)] + c_star * np.outer(a, a) / q_star**2 - (cross + cross.T) / q_star
    return (
        basis[rest],
        alpha[rest] - alpha_star * a / q_star,
        C,
        Q[np.ix_(rest, rest)] - np.outer(a, a) / q_star,
    )


def _batch(data: Data) -> Array:
    """One category by scikit-learn's Laplace approximation over all documents."""
    X, Y, X_test, _, feature_mask = data
    terms = feature_mask.indices[feature_mask.indptr[0] : feature_mask.indptr[1]]
    model = GaussianProcessClassifier(kernel=RBF(1.0), optimizer=None)
    probabilities: Array = model.fit(X[:, terms].toarray(), Y[:, 0]).predict_proba(
        X_test[:, terms].toarray()
    )
    return probabilities[:, [1]]


def _check_same(results: dict[str, Any]) -> None:
    np.testing.assert_allclose(results["bayesift"], results["NumPy"], atol=1e-6)


def _check_accuracy(results: dict[str, Any]) -> None:
    """Ours decides at least as well as the batch classifier, give or take two points of F1."""
    data = _reuters(1500, BATCH)
    assert data is not None
    names = ("bayesift", "GaussianProcessClassifier")
    ours, theirs = (f1_score(data[3][:, 0], results[name][:, 0] > 0.5) for name in names)
    if ours < theirs - 0.02:
        raise AssertionError(f"F1 {ours:.3f}, the batch classifier's {theirs:.3f}")


BENCHMARK = Benchmark(
    name="online-gp",
    objective="an RBF process of each of four categories of Reuters, one pass over 3,000 "
    "documents, test probabilities",
    datasets=[
        Dataset(
            "3,000 Reuters documents, at most 300 terms", lambda: _reuters(3000, CATEGORIES)
        )
    ],
    contenders=[
        Contender("bayesift", lambda data: _ours(data, n_epochs=1)),
        Contender("NumPy", _numpy),
    ],
    comparisons=[Comparison("bayesift", "NumPy")],
    check=_check_same,
    repeats=3,
)

BENCHMARK_BATCH = Benchmark(
    name="online-gp-batch",
    objective="probabilities of a category of Reuters from 1,500 documents, F1 no worse than the "
    "batch classifier's",
    datasets=[Dataset("1,500 Reuters documents, earn", lambda: _reuters(1500, BATCH))],
    contenders=[
        Contender("bayesift", lambda data: _ours(data, n_epochs=3)),
        Contender("GaussianProcessClassifier", _batch),
    ],
    comparisons=[Comparison("bayesift", "GaussianProcessClassifier")],
    check=_check_accuracy,
    repeats=3,
)
