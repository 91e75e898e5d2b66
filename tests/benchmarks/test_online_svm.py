"""The exact incremental SVM against LIBLINEAR and the conditions of its optimum."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import LinearSVC

from benchmarks.online_svm import IncrementalSVM, kernel_of


def documents(n=80, n_terms=10, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, n_terms))
    y = np.where(X[:, 0] + generator.normal(size=n) > 0, 1.0, -1.0)
    return sparse.csr_array(X / np.linalg.norm(X, axis=1, keepdims=True)), y


@pytest.mark.parametrize("C", [0.1, 1.0, 20.0])
def test_each_document_leaves_the_exact_machine(C):
    X, y = documents()
    kernel = kernel_of(X)
    machine = IncrementalSVM(kernel, y, C)
    for i in range(len(y)):
        machine.learn(i)
        alpha = machine.alpha[: i + 1]
        slopes = y[: i + 1] * machine.scores(np.arange(i + 1)) - 1.0
        assert np.all((alpha >= -1e-9) & (alpha <= C + 1e-9))
        assert np.all(slopes[alpha < 1e-9] > -1e-6)
        assert np.all(slopes[alpha > C - 1e-9] < 1e-6)
        assert np.all(np.abs(slopes[(alpha > 1e-9) & (alpha < C - 1e-9)]) < 1e-6)
    batch = LinearSVC(loss="hinge", C=C, tol=1e-10, max_iter=10**6).fit(X.toarray(), y)
    np.testing.assert_allclose(
        machine.scores(np.arange(len(y))), batch.decision_function(X.toarray()), atol=1e-4
    )
    assert machine.n_support == np.count_nonzero(machine.alpha > 0)


def test_documents_that_are_the_same_do_no_harm():
    X, y = documents(n=20)
    twice = sparse.vstack([X, X, X]).tocsr()
    machine = IncrementalSVM(kernel_of(twice), np.r_[y, y, y], 1.0)
    for i in range(60):
        machine.learn(i)
    batch = LinearSVC(loss="hinge", C=1.0, tol=1e-10, max_iter=10**6).fit(
        twice.toarray(), np.r_[y, y, y]
    )
    np.testing.assert_allclose(
        machine.scores(np.arange(60)), batch.decision_function(twice.toarray()), atol=1e-3
    )
