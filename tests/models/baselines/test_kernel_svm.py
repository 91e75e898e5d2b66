import numpy as np
import pytest
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesift.models.baselines import KernelSVM, svm

KERNELS = ["polynomial", "rbf"]


@pytest.mark.filterwarnings("default")
@parametrize_with_checks([KernelSVM(kernel=kernel) for kernel in KERNELS])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def documents(n_documents=60, n_terms=10):
    generator = np.random.default_rng(0)
    X = generator.random((n_documents, n_terms)) * (
        generator.random((n_documents, n_terms)) < 0.4
    )
    return X, np.column_stack([X[:, 0] > 0.2, X[:, 1] + X[:, 2] > 0.5, X[:, 3] > 0.9]).astype(
        int
    )


def test_margins_are_those_of_scikit_learn_with_the_papers_kernels():
    X, Y = documents()
    for kernel, function in (
        ("polynomial", lambda A, B: (A @ B.T + 1) ** 2),
        ("rbf", lambda A, B: np.exp(-0.5 * ((A[:, np.newaxis] - B) ** 2).sum(axis=2))),
    ):
        ours = KernelSVM(kernel=kernel).fit(X, Y).decision_function(X)
        for c in range(3):
            origin = np.zeros((1, X.shape[1]))
            distances = (
                np.diag(function(X, X))
                - 2 * function(X, origin)[:, 0]
                + function(origin, origin)[0, 0]
            )
            peer = SVC(kernel=function, C=1 / distances.mean()).fit(X, Y[:, c])
            np.testing.assert_allclose(ours[:, c], peer.decision_function(X), atol=5e-3)


@pytest.mark.parametrize("kernel", ["polynomial", "rbf"])
def test_kernel_values_shared_by_all_models_give_the_margins_of_each_alone(kernel, monkeypatch):
    X, Y = documents()
    more, _ = documents(n_documents=23)
    together = KernelSVM(kernel=kernel).fit(X, Y)
    monkeypatch.setattr(svm, "_BLOCK_DOCUMENTS", 7)
    blocks = KernelSVM(kernel=kernel).fit(X, Y)
    np.testing.assert_allclose(
        blocks.decision_function(more), together.decision_function(more), atol=1e-12
    )
    monkeypatch.setattr(svm, "_MOST_SHARED_DOCUMENTS", 0)
    alone = KernelSVM(kernel=kernel).fit(X, Y)
    assert [machine.kernel for machine in together.machines_] == ["precomputed"] * 3
    assert "precomputed" not in [machine.kernel for machine in alone.machines_]
    np.testing.assert_allclose(
        together.decision_function(more), alone.decision_function(more), atol=5e-3
    )


def test_feature_mask_limits_the_terms_of_each_category():
    X, Y = documents()
    feature_mask = np.random.default_rng(1).random((3, X.shape[1])) < 0.5
    model = KernelSVM(C=2.0).fit(X, Y, feature_mask=feature_mask)
    for c in range(3):
        alone = KernelSVM(C=2.0).fit(X[:, feature_mask[c]], Y)
        np.testing.assert_allclose(
            model.decision_function(X)[:, c],
            alone.decision_function(X[:, feature_mask[c]])[:, c],
            atol=1e-9,
        )


@pytest.mark.parametrize("kernel", KERNELS)
def test_categories_with_no_or_all_documents_are_constant(kernel):
    X, Y = documents()
    Y[:, 0], Y[:, 1] = 0, 1
    margins = KernelSVM(kernel=kernel).fit(X, Y).decision_function(X)
    assert np.all(margins[:, 0] == -1)
    assert np.all(margins[:, 1] == 1)


def test_threads_give_the_same():
    X, Y = documents()
    np.testing.assert_array_equal(
        KernelSVM().fit(X, Y).decision_function(X),
        KernelSVM(n_jobs=2).fit(X, Y).decision_function(X),
    )


@pytest.mark.parametrize("wrong", [{"kernel": "cubic"}, {"C": 0.0}, {"C": "auto"}])
def test_wrong_parameters_are_refused(wrong):
    X, Y = documents()
    with pytest.raises(ValueError, match="must be"):
        KernelSVM(**wrong).fit(X, Y)
