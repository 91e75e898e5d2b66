import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

from bayesift.errors import DataError
from bayesift.models.topics import SparseNMF
from bayesift.models.topics.factorisation import (
    STARTS,
    UPDATES,
    Objective,
    factorise,
    importance_of,
    multiplicative_basis,
    multiplicative_codes,
)

PENALTIES = ["squared", "absolute", "log", "exponential"]
QUADRATIC = ["squared", "absolute"]
MONOTONE = ["coordinate", "multiplicative"]
DELTA = 0.7
ACTIVITY = {
    "squared": lambda x: x**2,
    "absolute": lambda x: x,
    "log": lambda x: np.log(1 + x**2 / DELTA**2),
    "exponential": lambda x: -np.exp(-(x**2) / DELTA**2),
}
SLOPES = {
    "squared": lambda x: 2 * x,
    "absolute": lambda x: 1.0,
    "log": lambda x: 2 * x / (DELTA**2 + x**2),
    "exponential": lambda x: 2 * x / DELTA**2 * np.exp(-(x**2) / DELTA**2),
}


def documents(n_documents=40, n_terms=25, seed=0):
    generator = np.random.default_rng(seed)
    V = generator.poisson(0.6, size=(n_documents, n_terms)) * generator.random(
        (n_documents, n_terms)
    )
    V[3], V[:, 5] = 0, 0
    return V


def plain_objective(V, H, W, w, alpha, penalty):
    """Equation 8, term by term, over a dense matrix."""
    R = H @ W.T
    V, R, w = V[:, w > 0], R[:, w > 0], w[w > 0]
    logs = np.zeros_like(V)
    logs[V > 0] = V[V > 0] * np.log(V[V > 0] / R[V > 0])
    return np.sum(w * (logs - V + R)) + alpha * np.sum(ACTIVITY[penalty](H))


def problem(alpha=0.0, penalty="squared", importance="variance", seed=0, n_topics=4, V=None):
    V = documents(seed=seed) if V is None else V
    rows = sparse.csr_array(V)
    objective = Objective.of(rows, importance_of(rows, importance), alpha, penalty, DELTA)
    generator = np.random.default_rng(seed + 1)
    H, W = generator.random((len(V), n_topics)), generator.random((V.shape[1], n_topics))
    W[objective.importance == 0] = 0
    return V, objective, H, W / W.sum(axis=0)


def test_importance_is_the_variance():
    V = documents()
    importance = importance_of(sparse.csr_array(V), "variance")
    np.testing.assert_allclose(
        importance / importance.sum(), V.var(axis=0) / V.var(axis=0).sum(), rtol=1e-12
    )
    assert np.count_nonzero(importance) == pytest.approx(importance.sum())


def test_terms_that_never_occur_have_no_importance():
    rows = sparse.csr_array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    assert importance_of(rows, "variance").tolist() == [1.0, 0.0, 0.0]
    assert importance_of(rows, "uniform").tolist() == [1.0, 1.0, 0.0]


@pytest.mark.parametrize("start", STARTS)
def test_starts_are_positive_and_topics_sum_to_one(start):
    codes, basis = STARTS[start](sparse.csr_array(np.eye(3)), 2, np.random.RandomState(0))
    assert codes.shape == (3, 2)
    assert np.all(codes > 0)
    np.testing.assert_allclose(basis.sum(axis=0), 1.0)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("importance", ["variance", "uniform"])
def test_objective_is_equation_8(penalty, importance):
    V, objective, H, W = problem(0.7, penalty, importance)
    assert objective.value(H, W) == pytest.approx(
        plain_objective(V, H, W, objective.importance, 0.7, penalty), rel=1e-12
    )


@given(
    alpha=st.one_of(st.just(0.0), st.floats(1e-8, 1e6)),
    penalty=st.sampled_from(PENALTIES),
    importance=st.sampled_from(["variance", "uniform"]),
    n_topics=st.integers(1, 9),
    scale=st.floats(1e-4, 1e4),
    sparsity=st.floats(0, 0.9),
    seed=st.integers(0, 10_000),
)
@pytest.mark.parametrize("solver", MONOTONE)
@settings(deadline=None, max_examples=150)
def test_objective_never_rises(
    solver, alpha, penalty, importance, n_topics, scale, sparsity, seed
):
    """Any alpha, any start, at every single iteration, topics of sum one at each."""
    generator = np.random.default_rng(seed)
    V = generator.gamma(0.5, scale, (12, 9)) * (generator.random((12, 9)) > sparsity)
    _, objective, _, _ = problem(alpha, penalty, importance, V=V)
    H, W = (
        generator.gamma(0.3, scale, (12, n_topics)) + 1e-6,
        generator.gamma(0.3, 1.0, (9, n_topics)) + 1e-6,
    )
    result = factorise(objective, H, W, max_iter=25, tol=-np.inf, check_every=1, solver=solver)
    slack = 1e-11 * (np.abs(result.objectives[:-1]) + abs(objective.constant))
    assert np.all(np.diff(result.objectives) <= slack)
    if V.any():
        np.testing.assert_allclose(result.basis.sum(axis=0), 1, rtol=1e-9)


@pytest.mark.parametrize("solver", UPDATES)
def test_one_topic_has_the_sums_of_rows_and_columns(solver):
    """The closed form without penalty and importance."""
    V, objective, H, W = problem(importance="uniform", n_topics=1)
    result = factorise(objective, H, W, max_iter=200, tol=-np.inf, solver=solver)
    np.testing.assert_allclose(result.codes[:, 0], V.sum(axis=1), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(
        result.basis[:, 0], V.sum(axis=0) / V.sum(), rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize("penalty", QUADRATIC)
@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_where_coordinate_steps_rest_multiplicative_ones_gain_nothing(penalty, alpha):
    """The converse need not hold: an entry multiplied down to 0 stays 0, a step brings it back."""
    _, objective, H, W = problem(alpha, penalty)
    rest = factorise(
        objective, H, W, max_iter=2000, tol=-np.inf, check_every=1000, solver="coordinate"
    )
    further = factorise(
        objective, rest.codes, rest.basis, max_iter=20, tol=-np.inf, solver="multiplicative"
    )
    assert further.objectives[-1] == pytest.approx(rest.objectives[-1], rel=1e-6)


def test_printed_rules_are_those_of_the_paper_and_may_raise_the_objective():
    """Rules 9 to 11 as printed, over dense matrices: W is terms x topics, H topics x documents."""
    V, objective, H, W = problem(0.5)
    w, codes, basis, values = (
        objective.importance,
        H.T.copy(),
        W.copy(),
        [objective.value(H, W)],
    )
    result = factorise(
        objective, H, W, max_iter=10, tol=-np.inf, check_every=1, solver="printed"
    )
    for _ in range(10):
        products = basis @ codes
        ratios = np.divide(V.T, products, out=np.zeros_like(products), where=products > 0)
        b = (w @ basis)[:, np.newaxis]
        beta = 8 * 0.5 * codes * (basis.T @ (w[:, np.newaxis] * ratios))
        codes = (-b + np.sqrt(b**2 + beta)) / (4 * 0.5)
        products = basis @ codes
        ratios = np.divide(V.T, products, out=np.zeros_like(products), where=products > 0)
        basis = basis * (ratios @ codes.T) / codes.sum(axis=1)
        basis = basis / basis.sum(axis=0)
        values.append(objective.value(np.ascontiguousarray(codes.T), basis))
    np.testing.assert_allclose(result.objectives, values, rtol=1e-8)
    longer = factorise(
        objective, H, W, max_iter=200, tol=-np.inf, check_every=1, solver="printed"
    )
    assert np.any(np.diff(longer.objectives) > 1e-6)


def test_concave_penalties_favour_few_large_parts():
    def spread(penalty):
        nmf = SparseNMF(n_components=4, alpha=0.3, penalty=penalty, max_iter=5000).fit(
            documents()
        )
        codes = nmf.transform(documents())
        codes = codes[codes.sum(axis=1) > 0]
        return np.mean(
            codes.sum(axis=1) ** 2 / np.sum(codes**2, axis=1)
        )  # the effective number of parts

    assert max(spread("log"), spread("exponential")) < spread("squared")


def test_coordinate_steps_reach_zero():
    _, objective, H, W = problem(importance="uniform")
    result = factorise(objective, H, W, max_iter=40, tol=-np.inf, solver="coordinate")
    assert np.mean(result.codes == 0) > 0.1
    assert np.mean(result.basis == 0) > 0.1


def test_one_iteration_is_scikit_learns_for_uniform_importance_without_penalty():
    V, objective, H, W = problem(importance="uniform")
    peer = NMF(4, init="custom", solver="mu", beta_loss="kullback-leibler", max_iter=1, tol=0)
    codes = peer.fit_transform(V, W=H.copy(), H=np.ascontiguousarray(W.T))
    multiplicative_codes(objective, H, W)
    multiplicative_basis(objective, H, W)
    np.testing.assert_allclose(H @ W.T, codes @ peer.components_, rtol=1e-6, atol=1e-9)


def test_nndsvda_starts_where_scikit_learn_does():
    V, objective, _, _ = problem(importance="uniform", V=np.delete(documents(), 5, axis=1))
    peer = NMF(
        4,
        init="nndsvda",
        solver="mu",
        beta_loss="kullback-leibler",
        max_iter=3,
        tol=1e-300,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        codes = peer.fit_transform(sparse.csr_matrix(V))
    start = STARTS["nndsvda"](sparse.csr_array(V), 4, np.random.RandomState(0))
    ours = factorise(objective, *start, max_iter=3, tol=-np.inf, solver="multiplicative")
    np.testing.assert_allclose(
        ours.codes @ ours.basis.T, codes @ peer.components_, rtol=1e-5, atol=1e-7
    )


def test_scikit_learns_solution_has_our_objective_and_stays():
    V, objective, H, W = problem(importance="uniform")
    peer = NMF(
        4, init="custom", solver="mu", beta_loss="kullback-leibler", max_iter=4000, tol=1e-12
    )
    codes = peer.fit_transform(V, W=H.copy(), H=np.ascontiguousarray(W.T))
    scales = peer.components_.sum(axis=1)
    codes, basis = codes * scales, np.ascontiguousarray((peer.components_ / scales[:, None]).T)
    theirs = objective.value(codes, basis)
    assert theirs == pytest.approx(peer.reconstruction_err_**2 / 2, rel=1e-5)
    multiplicative_codes(objective, codes, basis)
    multiplicative_basis(objective, codes, basis)
    assert objective.value(codes, basis) == pytest.approx(theirs, rel=1e-5)


@pytest.mark.parametrize("penalty", QUADRATIC)
@pytest.mark.parametrize("alpha", [0.0, 0.3, 20.0])
def test_basis_step_minimises_its_bound(penalty, alpha):
    """Compare with SciPy on the bound in a topic's column and the scale of its codes.

    The constraint is substituted.
    """
    _, objective, H, W = problem(alpha, penalty, n_topics=3)
    dense = objective.rows.toarray()
    ratios = np.divide(dense, H @ W.T, out=np.zeros_like(dense), where=dense > 0)
    C = W * (ratios.T @ H)
    w, used = objective.importance, objective.importance > 0
    codes, basis = H.copy(), W.copy()
    multiplicative_basis(objective, codes, basis)
    for a in range(3):
        h, q = H[:, a].sum(), np.sum(H[:, a] ** 2)

        def bound(column, scale, a=a, h=h, q=q):
            """Column of sum one, codes times scale."""
            cost = alpha * (q * scale**2 if penalty == "squared" else h * scale)
            return (
                -np.sum(C[used, a] * np.log(scale * column))
                + scale * h * (w[used] @ column)
                + cost
            )

        def free(logarithms, bound=bound):
            column = np.exp(logarithms)
            return bound(column / column.sum(), column.sum())

        found = minimize(free, np.log(W[used, a]), method="BFGS", options={"gtol": 1e-9})
        scale = codes[:, a].sum() / h
        assert bound(basis[used, a], scale) <= found.fun + 1e-8 * abs(found.fun)
        np.testing.assert_allclose(
            basis[used, a], np.exp(found.x) / np.exp(found.x).sum(), rtol=1e-3, atol=1e-6
        )


@pytest.mark.parametrize("penalty", PENALTIES)
def test_free_scales_gain_at_least_as_much_as_fixed_codes(penalty):
    """The constrained step with fixed codes: W = c w / (w h + l), l from the sum of one."""
    from scipy.optimize import brentq

    _, objective, H, W = problem(0.5, penalty)
    dense, w = objective.rows.toarray(), objective.importance
    C = W * (np.divide(dense, H @ W.T, out=np.zeros_like(dense), where=dense > 0).T @ H)
    used, fixed = w > 0, np.zeros_like(W)
    for a in range(W.shape[1]):
        bottom = w[used] * H[:, a].sum()
        pole = -bottom[C[used, a] > 0].min()
        root = brentq(
            lambda x, a=a, bottom=bottom: np.sum(C[used, a] / (bottom + x)) - 1,
            pole + 1e-12,
            1e6,
        )
        fixed[used, a] = C[used, a] / (bottom + root)
    ours, basis = H.copy(), W.copy()
    multiplicative_basis(objective, ours, basis)
    assert objective.value(ours, basis) <= objective.value(H, fixed) + 1e-9
    assert objective.value(H, fixed) <= objective.value(H, W)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("alpha", [0.0, 0.05, 2.0])
def test_codes_meet_the_optimality_conditions(penalty, alpha):
    """H >= 0, gradient >= 0, their product 0."""
    V = documents()
    nmf = SparseNMF(
        n_components=4, alpha=alpha, penalty=penalty, delta=DELTA, code_tol=1e-10, max_iter=5000
    ).fit(V)
    codes, W, w = nmf.transform(V), nmf.components_, nmf.importance_
    products = codes @ W
    ratios = np.divide(V * w, products, out=np.zeros_like(V), where=(V > 0) & (products > 0))
    penalty_slope = alpha * SLOPES[penalty](codes)
    gradient = W @ w + penalty_slope - ratios @ W.T
    spoken = V.sum(axis=1) > 0
    assert np.all(codes >= 0)
    assert np.all(gradient[spoken] > -1e-3 * (W @ w).max())
    assert np.abs(codes * gradient)[spoken].max() < 1e-4
    assert np.all(codes[~spoken] == 0)


def test_sparse_matrices_are_never_made_dense():
    rows = sparse.random_array(
        (3000, 200_000), density=2e-5, rng=np.random.default_rng(0), format="csr"
    )
    nmf = SparseNMF(n_components=3, max_iter=10, start="random", tol=0).fit(
        rows
    )  # dense: 4.8 GB
    assert nmf.transform(rows).shape == (3000, 3)


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("solver", UPDATES)
@pytest.mark.parametrize("importance", ["variance", "uniform"])
def test_planted_topics_are_found_and_named(start, solver, importance):
    generator = np.random.default_rng(0)
    names = [f"{topic}{i}" for topic in "abc" for i in range(5)]
    rates = np.kron(np.eye(3), np.arange(9, 4, -1.0)) + 0.02
    V = generator.poisson(rates[np.arange(90) % 3])
    nmf = SparseNMF(
        n_components=3, start=start, solver=solver, importance=importance, max_iter=500
    ).fit(V)
    words = nmf.topic_words(names, 4)
    assert sorted("".join(sorted({word[0] for word in topic})) for topic in words) == [
        "a",
        "b",
        "c",
    ]


def test_relevance_is_the_formula_of_sievert_and_shirley():
    nmf = SparseNMF(n_components=3, max_iter=500).fit(documents())
    shares = nmf.components_
    for weight in (0.0, 0.6, 1.0):
        with np.errstate(divide="ignore", invalid="ignore"):
            slow = weight * np.log(shares) + (1 - weight) * np.log(shares / shares.mean(axis=0))
        found = nmf.relevance(weight)
        np.testing.assert_allclose(found[shares > 0], slow[shares > 0])
        assert np.all(np.isneginf(found[shares == 0]))
    largest = np.argsort(-shares, axis=1, kind="stable")[:, :4]
    np.testing.assert_array_equal(nmf.topic_terms(4, relevance=1), largest)
    with pytest.raises(ValueError, match="between 0 and 1"):
        nmf.topic_words(relevance=2)


def test_squared_penalty_fills_codes():
    V = documents(200, 40)
    active = [
        np.count_nonzero(
            SparseNMF(n_components=8, alpha=alpha, tol=0, max_iter=150).fit_transform(V)
        )
        for alpha in (0.0, 0.3, 3.0)
    ]
    assert active[0] < active[1] < active[2]


def test_absolute_penalty_divides_codes_when_importance_is_uniform():
    """At every multiplicative update; the two problems are one up to scale."""
    V = documents()
    free, shrunk = (
        SparseNMF(
            n_components=4,
            solver="multiplicative",
            penalty="absolute",
            alpha=alpha,
            max_iter=100,
            tol=0,
            code_tol=1e-9,
        ).fit(V)
        for alpha in (0.0, 3.0)
    )
    np.testing.assert_allclose(shrunk.components_, free.components_, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(shrunk.transform(V), free.transform(V) / 4, rtol=1e-6)


def test_unseen_terms_and_empty_documents_say_nothing():
    nmf = SparseNMF(n_components=2, max_iter=500).fit(documents())
    new = np.zeros((3, 25))
    new[0, 5] = 4  # no training document held it
    new[1, [0, 5]] = [2, 4]
    new[2, 0] = 2
    codes = nmf.transform(new)
    assert not codes[0].any()
    np.testing.assert_array_equal(codes[1], codes[2])


@pytest.mark.parametrize("solver", UPDATES)
def test_same_seed_same_topics(solver):
    first, second, other = (
        SparseNMF(
            n_components=3, start="random", solver=solver, random_state=seed, max_iter=500
        ).fit(documents())
        for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(first.components_, second.components_)
    assert not np.array_equal(first.components_, other.components_)


def test_a_solver_is_stored_with_the_topics():
    nmf = SparseNMF(n_components=3, solver="coordinate", max_iter=500).fit(documents())
    parameters, arrays = nmf.get_state()
    again = SparseNMF.from_state(json.loads(json.dumps(parameters)), arrays)
    assert again.solver == "coordinate"
    assert (
        SparseNMF.from_state(
            {k: v for k, v in parameters.items() if k != "solver"}, arrays
        ).n_components
        == 3
    )
    np.testing.assert_array_equal(again.transform(documents()), nmf.transform(documents()))


def test_shares_add_up_to_the_code():
    V = documents()
    for penalty in PENALTIES:
        nmf = SparseNMF(
            n_components=4, alpha=0.3, penalty=penalty, code_tol=1e-9, max_iter=500
        ).fit(V)
        code = nmf.transform(V[:1])[0]
        np.testing.assert_allclose(
            nmf.shares(V[:1], code).sum(axis=1), code, rtol=1e-3, atol=1e-6
        )


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_components": 0},
        {"alpha": -1.0},
        {"penalty": "cubic"},
        {"delta": 0.0},
        {"importance": "mine"},
        {"start": "nowhere"},
        {"solver": "magic"},
        {"max_iter": 0},
        {"tol": np.nan},
    ],
)
def test_bad_parameters_are_refused(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        SparseNMF(**parameters).fit(documents())


def test_negative_values_and_wrong_names_are_refused():
    with pytest.raises(ValueError, match="Negative values"):
        SparseNMF().fit([[1.0, -1.0]])
    with pytest.raises(ValueError, match="2 names for 25 terms"):
        SparseNMF(n_components=2, max_iter=500).fit(documents()).topic_words(["a", "b"])


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("components_", lambda a: -a),
        ("components_", lambda a: a * np.nan),
        ("components_", lambda a: a[:, 1:]),
        ("components_", lambda a: a[1:]),
        ("components_", lambda a: a.astype(np.float32)),
        ("importance_", lambda a: a[1:]),
        ("importance_", lambda a: a.reshape(1, -1)),
    ],
)
def test_stored_arrays_that_do_not_fit_are_refused(name, change):
    parameters, arrays = SparseNMF(n_components=2, max_iter=500).fit(documents()).get_state()
    arrays = {**arrays, name: change(arrays[name])}
    with pytest.raises(DataError):
        SparseNMF.from_state(json.loads(json.dumps(parameters)), arrays)


@pytest.mark.parametrize(
    ("name", "value"), [("alpha", "much"), ("start", []), ("n_components", None), ("extra", 1)]
)
def test_stored_parameters_that_do_not_fit_are_refused(name, value):
    parameters, arrays = SparseNMF(n_components=2, max_iter=500).fit(documents()).get_state()
    with pytest.raises(DataError):
        SparseNMF.from_state({**parameters, name: value}, arrays)
