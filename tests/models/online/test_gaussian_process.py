import json

import numpy as np
import pytest
from scipy import sparse
from scipy.special import ndtr
from sklearn.gaussian_process.kernels import RBF, DotProduct

from bayesift.errors import DataError
from bayesift.models.online import (
    FlipNoise,
    LinearCovariance,
    LogitNoise,
    OnlineGaussianProcess,
    PolynomialCovariance,
    ProbitNoise,
    RBFCovariance,
)
from bayesift.models.online.covariances import covariance_of
from bayesift.models.online.process import ProcessSettings, SparseProcess, restricted
from tests.oracles.online import flip_moments, full_recursion, probit_moments
from tests.oracles.online_gp import Basis, exact_recursion, gram

KINDS = ["linear", "polynomial", "rbf"]


def documents(n_documents=80, n_terms=12, seed=0, density=0.3):
    generator = np.random.default_rng(seed)
    X = generator.random((n_documents, n_terms)) * (
        generator.random((n_documents, n_terms)) < density
    )
    weights = generator.normal(size=n_terms)
    signs = np.where(X @ weights + generator.normal(scale=0.3, size=n_documents) > 0, 1.0, -1.0)
    return X, signs


def rows_of(X):
    matrix = sparse.csr_array(X)
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data


def settings(kernel, likelihood=None, tolerance=1e-3, drift_tolerance=1e-8, least_error=0.0):
    gates = tolerance, drift_tolerance, least_error
    return ProcessSettings(covariance_of(kernel), likelihood or ProbitNoise(0.5), *gates)


def learned(X, signs, chosen, budget, n_epochs=1):
    return SparseProcess.empty().learn(
        rows_of(X), signs, chosen, budget=budget, n_terms=X.shape[1], n_epochs=n_epochs
    )


@pytest.mark.parametrize(
    ("likelihood", "moments"),
    [(ProbitNoise(0.5), probit_moments), (FlipNoise(0.1), flip_moments)],
    ids=["probit", "flip"],
)
@pytest.mark.parametrize("kind", KINDS)
def test_without_deletions_it_is_exact_moment_matching(kind, likelihood, moments):
    X, signs = documents()
    chosen = settings(kind, likelihood, tolerance=1e-9)
    process = learned(X, signs, chosen, budget=100, n_epochs=2)
    mean, covariance, evidence = exact_recursion(gram(kind, X, X), signs, moments, n_epochs=2)
    means, variances = process.fields(rows_of(X), chosen, X.shape[1])
    np.testing.assert_allclose(means, mean, atol=1e-9)
    np.testing.assert_allclose(variances, np.diag(covariance), atol=1e-9)
    np.testing.assert_allclose(process.log_evidence, evidence.sum(), rtol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("budget", [1, 5, 12])
def test_projection_and_deletion_are_those_of_direct_computation(kind, budget):
    X, signs = documents()
    chosen = settings(kind, tolerance=0.05)
    process = learned(X, signs, chosen, budget)
    direct = Basis(kind, X.shape[1])
    for x, y in zip(X, signs, strict=True):
        direct.learn(x, y, budget, tolerance=0.05)
    assert process.size == len(direct.vectors)
    means, variances = process.fields(rows_of(X), chosen, X.shape[1])
    expected = direct.fields(X)
    np.testing.assert_allclose(means, expected[0], atol=1e-9)
    np.testing.assert_allclose(variances, expected[1], atol=1e-9)
    K = gram(kind, direct.vectors, direct.vectors)
    np.testing.assert_allclose(
        np.sort(np.diag(process.Q)), np.sort(np.diag(np.linalg.inv(K))), rtol=1e-9
    )


@pytest.mark.parametrize("kind", KINDS)
def test_admission_by_the_error_of_the_paper(kind):
    """|epsilon| = |gamma d ln p / d mean|: a document that the process expects does not enter."""
    X, signs = documents()
    chosen = settings(kind, tolerance=1e-6, least_error=0.2)
    process, direct = learned(X, signs, chosen, 100), Basis(kind, X.shape[1])
    for x, y in zip(X, signs, strict=True):
        direct.learn(x, y, 100, tolerance=1e-6, least_error=0.2)
    assert (
        0
        < process.size
        == len(direct.vectors)
        < learned(X, signs, settings(kind, tolerance=1e-6), 100).size
    )
    np.testing.assert_allclose(
        process.fields(rows_of(X), chosen, X.shape[1])[0], direct.fields(X)[0], atol=1e-9
    )


def test_deletion_is_the_nearest_sparser_process():
    """The sparser process has the least Kullback-Leibler distance from the fuller one.

    It is compared with all processes over the vectors that stay.
    """
    X, signs = documents(n_documents=6)
    full = Basis("rbf", X.shape[1])
    for x, y in zip(X, signs, strict=True):
        full.learn(x, y, budget=6, tolerance=0.0)
    K = gram("rbf", X, X)
    mean, covariance = K @ full.alpha, K + K @ full.C @ K
    full.delete(2)

    def distance(alpha, C):
        k = gram("rbf", X, full.vectors)
        other = K + k @ C @ k.T
        gap = mean - k @ alpha
        weighted = np.linalg.solve(other, covariance)
        _, logarithm = np.linalg.slogdet(weighted)
        return 0.5 * (
            np.trace(weighted) + gap @ np.linalg.solve(other, gap) - len(X) - logarithm
        )

    least = distance(full.alpha, full.C)
    generator = np.random.default_rng(0)
    for _ in range(200):
        nudge = generator.normal(scale=1e-3, size=(5, 5))
        assert (
            distance(
                full.alpha + generator.normal(scale=1e-3, size=5), full.C + nudge @ nudge.T * 10
            )
            > least
        )
        assert distance(full.alpha, full.C * (1 + generator.normal(scale=1e-3))) > least


def test_linear_kernel_is_the_perceptron():
    X, signs = documents(n_documents=300)
    chosen = settings(LinearCovariance(jitter=0.0), tolerance=1e-9)
    process = learned(X, signs, chosen, budget=13)
    assert process.size == 13
    design = np.column_stack([np.ones(len(X)), X])
    mean, covariance, evidence = full_recursion(design, signs)
    means, variances = process.fields(rows_of(X), chosen, X.shape[1])
    np.testing.assert_allclose(means, design @ mean, atol=1e-7)
    np.testing.assert_allclose(
        variances, np.einsum("ij,jk,ik->i", design, covariance, design), atol=1e-7
    )
    np.testing.assert_allclose(process.log_evidence, evidence.sum(), rtol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_one_update_has_the_moments_of_numerical_integration(kind):
    X = np.array([[0.8, 0.1], [0.3, 0.6]])
    chosen = settings(kind)
    process = learned(X[:1], np.array([1.0]), chosen, budget=5)
    factor = np.linalg.cholesky(gram(kind, X, X))
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    z = np.stack(np.meshgrid(nodes, nodes, indexing="ij")).reshape(2, -1)
    fields = factor @ z
    mass = np.outer(weights, weights).ravel() * ndtr(fields[0] / 0.5)
    mass /= mass.sum()
    expected = fields @ mass
    spread = ((fields - expected[:, np.newaxis]) ** 2) @ mass
    means, variances = process.fields(rows_of(X), chosen, 2)
    np.testing.assert_allclose(means, expected, rtol=1e-6)
    np.testing.assert_allclose(variances, spread, rtol=1e-6)


@pytest.mark.parametrize(
    "kernel", [*KINDS, PolynomialCovariance(degree=3, constant=0.5), RBFCovariance(length=0.4)]
)
@pytest.mark.parametrize(
    "likelihood", [ProbitNoise(0.5), LogitNoise(), FlipNoise(0.05)], ids=str
)
def test_one_by_one_in_batches_and_at_once_are_identical(kernel, likelihood):
    X, signs = documents(n_documents=300)
    models = []
    for sizes in ([300], [1] * 150 + [50, 100], [7, 130, 163]):
        model = OnlineGaussianProcess(kernel=kernel, likelihood=likelihood, max_basis=20)
        for start, size in zip(np.cumsum([0, *sizes]), sizes, strict=False):
            model.partial_fit(
                X[start : start + size], signs[start : start + size], classes=[-1.0, 1.0]
            )
        models.append(model)
    once = OnlineGaussianProcess(
        kernel=kernel, likelihood=likelihood, max_basis=20, n_epochs=1, shuffle=False
    ).fit(X, signs)
    for model in models:
        assert_identical(model, once)


def assert_identical(left, right):
    for ours, theirs in zip(left.processes_, right.processes_, strict=True):
        for name in ("alpha", "C", "Q"):
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
        for mine, other in zip(ours.rows, theirs.rows, strict=True):
            np.testing.assert_array_equal(mine, other)
        assert (ours.n_updates, ours.log_evidence) == (theirs.n_updates, theirs.log_evidence)


def test_passes_are_repeated_streams():
    X, signs = documents()
    three = OnlineGaussianProcess(kernel="rbf", max_basis=15, shuffle=False).fit(X, signs)
    stream = OnlineGaussianProcess(kernel="rbf", max_basis=15)
    for _ in range(3):
        stream.partial_fit(X, signs)
    assert_identical(stream, three)


def test_fit_takes_the_documents_in_one_random_order():
    X, signs = documents()
    order = np.random.default_rng(5).permutation(len(X))
    ordered = OnlineGaussianProcess(kernel="rbf", max_basis=15, shuffle=False).fit(
        X[order], signs[order]
    )
    assert_identical(
        OnlineGaussianProcess(kernel="rbf", max_basis=15, random_state=5).fit(X, signs), ordered
    )


def test_threads_give_the_same():
    X, _ = documents()
    Y = (np.random.default_rng(0).random((len(X), 5)) < 0.4).astype(int)
    one, two = (OnlineGaussianProcess(n_jobs=n).fit(X, Y) for n in (None, 2))
    assert_identical(one, two)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


@pytest.mark.parametrize("kernel", KINDS)
def test_a_hundred_thousand_updates_stay_sound(kernel):
    X, signs = documents(n_documents=2000, n_terms=40, density=0.15)
    n_epochs, budget = 50, 41
    results = {}
    for drift_tolerance in (1e-8, 0.0):
        chosen = settings(kernel, drift_tolerance=drift_tolerance)
        process = learned(X, signs, chosen, budget, n_epochs=n_epochs)
        assert process.n_updates == 100_000
        _, covariance = process.marginal(chosen, X.shape[1])
        assert np.linalg.eigvalsh(covariance).min() > 0
        assert process.drift(chosen, X.shape[1]) < 1e-6
        results[drift_tolerance] = ndtr(
            np.divide(*_standardised(*process.fields(rows_of(X), chosen, X.shape[1])))
        )
    np.testing.assert_allclose(results[1e-8], results[0.0], atol=1e-6)


def _standardised(means, variances):
    return means, np.sqrt(0.25 + variances)


def test_a_drifted_inverse_is_computed_anew():
    X, signs = documents(n_documents=1023)
    chosen = settings("rbf")
    process = learned(X, signs, chosen, budget=12)
    noise = np.random.default_rng(0).normal(scale=1e-5, size=process.Q.shape)
    drifted = SparseProcess(
        process.rows, process.alpha, process.C, process.Q + noise + noise.T, process.n_updates
    )
    assert drifted.drift(chosen, X.shape[1]) > 1e-7
    after = drifted.learn(rows_of(X[:1]), signs[:1], chosen, budget=12, n_terms=X.shape[1])
    assert after.drift(chosen, X.shape[1]) < 1e-10


def test_columns_may_be_added():
    X, signs = documents()
    model = OnlineGaussianProcess(kernel="rbf", max_basis=20).fit(X, signs)
    before = model.predict_log_proba(X)
    wider = np.column_stack([X, np.zeros((len(X), 3))])
    wider[0, -1] = 0.7
    fresh = OnlineGaussianProcess(kernel="rbf", max_basis=20).fit(
        np.column_stack([X, np.zeros((len(X), 3))]), signs
    )
    model.partial_fit(wider[:1], signs[:1])
    fresh.partial_fit(wider[:1], signs[:1])
    assert_identical(model, fresh)
    assert model.n_features_in_ == X.shape[1] + 3
    assert not np.array_equal(model.predict_log_proba(wider), before)


def test_categories_may_be_added():
    X, signs = documents()
    Y = np.column_stack([signs > 0, signs < 0]).astype(int)
    model = (
        OnlineGaussianProcess().partial_fit(X, Y).partial_fit(X, np.column_stack([Y, Y[:, 0]]))
    )
    late = OnlineGaussianProcess().partial_fit(X, Y[:, [0, 1]])
    np.testing.assert_array_equal(model.processes_[2].alpha, late.processes_[0].alpha)
    with pytest.raises(ValueError, match="1 columns, the model 3"):
        model.partial_fit(X, sparse.csr_array(Y[:, :1]))


def test_supports_are_the_terms_of_each_category():
    X, signs = documents()
    Y = np.column_stack([signs > 0, X[:, 3] > 0.2]).astype(int)
    feature_mask = np.zeros((2, X.shape[1]), dtype=bool)
    feature_mask[0, [0, 2, 5, 7]] = True
    feature_mask[1, [3, 4]] = True
    model = OnlineGaussianProcess(max_basis="terms").fit(X, Y, feature_mask=feature_mask)
    assert np.all(model.n_basis_ <= [5, 3])
    for c in range(2):
        alone = OnlineGaussianProcess(max_basis="terms").fit(X * feature_mask[c], Y)
        np.testing.assert_allclose(
            model.predict_proba(X)[:, c],
            alone.predict_proba(X * feature_mask[c])[:, c],
            atol=5e-3,
        )
    more = feature_mask | (np.arange(X.shape[1]) == 9)
    model.partial_fit(X, Y, feature_mask=more)
    assert [columns.tolist() for columns in model.terms_] == [[0, 2, 5, 7, 9], [3, 4, 9]]
    model.partial_fit(X, Y)
    with pytest.raises(ValueError, match="feature_mask must be models x terms"):
        model.partial_fit(X, Y, feature_mask=more[:1])


def test_scikit_learns_kernels_give_what_ours_give():
    X, signs = documents()
    for ours, theirs in (("rbf", RBF(1.0)), ("linear", DotProduct(1.0))):
        left = OnlineGaussianProcess(kernel=ours, max_basis=8).fit(X, signs)
        right = OnlineGaussianProcess(kernel=theirs, max_basis=8).fit(X, signs)
        np.testing.assert_allclose(left.predict_proba(X), right.predict_proba(X), atol=1e-6)
        parameters, arrays = right.get_state()
        again = OnlineGaussianProcess.from_state(json.loads(json.dumps(parameters)), arrays)
        assert again.kernel == theirs
        np.testing.assert_array_equal(again.predict_proba(X), right.predict_proba(X))


def test_evidence_and_gains_are_those_of_the_fields():
    X, signs = documents()
    model = OnlineGaussianProcess(kernel="polynomial").fit(X, signs)
    means, variances = model.predict_fields(X)
    u = signs * means[:, 0] / np.sqrt(0.25 + variances[:, 0])
    np.testing.assert_allclose(
        model.log_evidence(X, signs), [np.log(ndtr(u)).sum()], rtol=1e-10
    )
    np.testing.assert_allclose(
        model.predict_proba(X)[:, 1], ndtr(means[:, 0] / np.sqrt(0.25 + variances[:, 0]))
    )
    yes, no = (model.information_gain(X, np.full(len(X), sign)) for sign in (1.0, -1.0))
    p = model.predict_proba(X)[:, [1]]
    np.testing.assert_allclose(
        model.expected_information_gain(X), p * yes + (1 - p) * no, rtol=1e-8, atol=1e-12
    )


def test_linear_contributions_add_up_to_the_mean_field():
    X, _ = documents()
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0]).astype(int)
    model = OnlineGaussianProcess(kernel=LinearCovariance(constant=2.0, jitter=0.0)).fit(X, Y)
    for c in range(2):
        terms, bias = model.contributions(X, c)
        np.testing.assert_allclose(
            terms.sum(axis=1) + bias, model.predict_fields(X)[0][:, c], atol=1e-8
        )
    assert not hasattr(OnlineGaussianProcess(kernel="rbf"), "contributions")


@pytest.mark.parametrize("kernel", [*KINDS, RBFCovariance(length=0.7)], ids=str)
def test_learning_goes_on_after_a_restart_to_the_bit(kernel):
    X, signs = documents(n_documents=400)
    Y = np.column_stack([signs > 0, X[:, 3] > 0.2]).astype(int)
    feature_mask = np.ones((2, X.shape[1]), dtype=bool)
    feature_mask[1, :5] = False
    whole = OnlineGaussianProcess(
        kernel=kernel, likelihood=LogitNoise(by="probit"), max_basis=10
    )
    whole.partial_fit(X[:150], Y[:150], feature_mask=feature_mask)
    parameters, arrays = whole.get_state()
    resumed = OnlineGaussianProcess.from_state(json.loads(json.dumps(parameters)), arrays)
    for model in (whole, resumed):
        model.partial_fit(X[150:], Y[150:])
    assert_identical(resumed, whole)
    np.testing.assert_array_equal(resumed.predict_log_proba(X), whole.predict_log_proba(X))


def state():
    X, signs = documents()
    Y = np.column_stack([signs > 0, signs < 0]).astype(int)
    feature_mask = np.ones((2, X.shape[1]), dtype=bool)
    model = OnlineGaussianProcess(kernel=RBFCovariance(), likelihood=ProbitNoise(), max_basis=6)
    parameters, arrays = model.fit(X, Y, feature_mask=feature_mask).get_state()
    return json.loads(json.dumps(parameters)), {
        name: array.copy() for name, array in arrays.items()
    }


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("processes_.1.rows.1", lambda a: a + 100),
        ("processes_.1.rows.1", lambda a: -a - 1),
        ("processes_.1.rows.1", lambda a: a[::-1].copy()),
        ("processes_.1.rows.1", lambda a: a.astype(float)),
        ("processes_.1.rows.1", lambda a: a[:-1]),
        ("processes_.1.rows.0", lambda a: a[::-1].copy()),
        ("processes_.1.rows.0", lambda a: a[:-1]),
        ("processes_.1.rows.2", lambda a: a * np.nan),
        ("processes_.1.rows.2", lambda a: a * 1e200),
        ("processes_.1.alpha", lambda a: a[:-1]),
        ("processes_.1.alpha", lambda a: np.full_like(a, 1.7e308)),
        ("processes_.1.C", lambda a: a[:-1]),
        ("processes_.1.C", lambda a: a * np.inf),
        ("processes_.1.C", lambda a: np.full_like(a, -1e300)),
        ("processes_.1.C", lambda a: a.astype(np.float32)),
        ("processes_.1.Q", lambda a: a * 2),
        ("processes_.1.Q", lambda a: np.zeros_like(a)),
        ("terms_.1", lambda a: a + 100),
        ("terms_.1", lambda a: a.astype(float)),
        ("terms_.1", lambda a: -a - 1),
    ],
)
def test_arrays_that_do_not_fit_are_refused(name, change):
    parameters, arrays = state()
    with np.errstate(all="ignore"):
        arrays[name] = change(arrays[name])
    with pytest.raises(DataError):
        OnlineGaussianProcess.from_state(parameters, arrays)


@pytest.mark.parametrize("name", state()[1])
def test_missing_arrays_are_refused(name):
    parameters, arrays = state()
    del arrays[name]
    with pytest.raises(DataError, match=f"lack {name}"):
        OnlineGaussianProcess.from_state(parameters, arrays)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("multilabel_",), 1),
        (("n_features_in_",), -1),
        (("n_features_in_",), True),
        (("n_features_in_",), 3),
        (("n_features_in_",), 2**70),
        (("classes_", "values"), [0]),
        (("classes_", "values"), [0, 0]),
        (("processes_",), []),
        (("processes_", 0), {"kind": "array"}),
        (("processes_", 0, "n_updates"), 0),
        (("processes_", 0, "log_evidence"), None),
        (("processes_", 0, "log_evidence"), {"kind": "float", "value": "nan"}),
        (("processes_", 0, "rows", "items"), []),
        (("terms_",), [{"kind": "array"}]),
        (("kernel",), {"kind": "rbf-covariance", "length": -1}),
        (("kernel",), {"kind": "os.system"}),
        (("kernel",), None),
        (("likelihood",), {"kind": "probit-noise", "sigma0": 0}),
        (("likelihood",), 3),
        (("max_basis",), "many"),
        (("max_basis",), True),
        (("tolerance",), -1.0),
        (("n_epochs",), "3"),
        (("colour",), "red"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(place, value):
    parameters, arrays = state()
    inner = parameters
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    with pytest.raises(DataError):
        OnlineGaussianProcess.from_state(parameters, arrays)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"kernel": "cubic"}, "no kernel 'cubic'; there are: linear, polynomial, rbf"),
        ({"kernel": 3}, "not a kernel: 3"),
        ({"likelihood": "cauchy"}, "no likelihood 'cauchy'"),
        ({"n_epochs": 0}, "n_epochs must be a whole number from 1"),
        ({"max_basis": 0}, "max_basis must be 'terms' or a whole number from 1"),
        ({"tolerance": 1.0}, "tolerance must lie between 0 and 1"),
        ({"drift_tolerance": -1.0}, "drift_tolerance must be a number from 0"),
    ],
)
def test_wrong_parameters_are_refused(wrong, message):
    X, signs = documents()
    with pytest.raises(ValueError, match=message):
        OnlineGaussianProcess(**wrong).fit(X, signs)


def test_labels_must_be_known():
    X, signs = documents()
    model = OnlineGaussianProcess().partial_fit(X, signs)
    with pytest.raises(ValueError, match=r"new classes \[3.0\]"):
        model.partial_fit(X[:2], [1.0, 3.0])
    with pytest.raises(ValueError, match="indicator matrix before"):
        model.partial_fit(X[:2], np.eye(2, dtype=int))
    with pytest.raises(ValueError, match="only one class"):
        OnlineGaussianProcess().fit(X, np.ones(len(X)))


def test_three_classes_are_normalised():
    X, _ = documents()
    labels = np.array(["a", "b", "c"])[np.argmax(X[:, :3], axis=1)]
    model = OnlineGaussianProcess().fit(X, labels)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert np.mean(model.predict(X) == labels) > 0.9


def test_values_of_covariances():
    rows = np.array([0, 1, 2]), np.array([0, 0], dtype=np.int32), np.array([1.0, 2.0])
    gram, own = LinearCovariance().between(rows, 1, 1, 1)
    assert (gram.tolist(), own.tolist()) == ([[3.0]], [5.0001])
    assert covariance_of("rbf") == RBFCovariance(length=1.0, jitter=0.0001)
    with pytest.raises(ValueError, match=r"constant must be a number from 0, got -1\.0"):
        LinearCovariance(constant=-1.0)
    with pytest.raises(ValueError, match=r"length must be a number above 0, got 0\.0"):
        RBFCovariance(length=0.0)


def test_processes_learn_and_restrict_rows():
    settings = ProcessSettings(LinearCovariance(), ProbitNoise(0.5))
    rows = np.array([0, 1, 2]), np.array([0, 1], dtype=np.int32), np.ones(2)
    process = SparseProcess.empty().learn(
        rows, np.array([1.0, -1.0]), settings, budget=9, n_terms=2
    )
    assert process.size == 2
    assert process.fields(rows, settings, 2)[0].round(2).tolist() == [0.74, -0.76]
    both = np.array([0, 2]), np.array([0, 1], dtype=np.int32), np.array([1.0, 2.0])
    assert restricted(both, np.array([False, True]))[2].tolist() == [2.0]
