import json

import numpy as np
import pytest
from scipy import optimize, sparse
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from bayesift.errors import DataError
from bayesift.models.linear import (
    GammaPrior,
    GaussianPrior,
    JeffreysPrior,
    LaplacePrior,
    SparseBayesClassifier,
)


def documents(n=150, d=20, k=4, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.poisson(0.5, size=(n, d)).astype(float)
    return X, np.argmax(
        X @ generator.normal(size=(d, k)) + generator.gumbel(size=(n, k)), axis=1
    )


def softmax(**parameters):
    return SparseBayesClassifier(multiclass="softmax", **parameters)


def dense(weights):
    return weights.toarray() if sparse.issparse(weights) else weights


def loss(X, y, weights, intercepts, importance=1.0):
    scores = X @ weights.T + intercepts
    return np.sum(importance * (logsumexp(scores, axis=1) - scores[np.arange(len(y)), y]))


def pulls(X, y, weights, intercepts, importance):
    """Minus the gradient of the loss for weights and intercepts."""
    scores = X @ weights.T + intercepts
    residuals = np.eye(len(weights))[y] - np.exp(
        scores - logsumexp(scores, axis=1, keepdims=True)
    )
    residuals *= importance[:, None]
    return residuals.T @ X, residuals.sum(axis=0)


def best_by_proximal_gradient(X, y, absolute, mode, lower, upper, importance, rounds=4_000):
    """A slow and obvious oracle of the Laplace case: FISTA with a step that never overshoots."""
    classes = absolute.shape[0]
    design = np.hstack([X, np.ones((len(X), 1))])
    rate = 0.5 * np.linalg.norm(np.sqrt(importance)[:, None] * design, 2) ** 2
    now = np.hstack(
        [np.broadcast_to(np.clip(mode, lower, upper), absolute.shape), np.zeros((classes, 1))]
    )
    ahead, momentum = now, 1.0
    for _ in range(rounds):
        inner, outer = pulls(X, y, ahead[:, :-1], ahead[:, -1], importance)
        moved = ahead + np.hstack([inner, outer[:, None]]) / rate
        distance = moved[:, :-1] - mode
        shrunk = mode + np.sign(distance) * np.maximum(np.abs(distance) - absolute / rate, 0)
        new = np.hstack([np.clip(shrunk, lower, upper), moved[:, -1:]])
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead, now, momentum = new + (momentum - 1) / following * (new - now), new, following
    return now[:, :-1], now[:, -1]


@pytest.mark.parametrize("solver", ["newton", "coordinate", "lbfgs", "variational-mode", "em"])
@pytest.mark.parametrize(
    "intercept",
    ["flat", GaussianPrior(variance=0.5, mode=0.3), None],
    ids=["flat", "normal", "no"],
)
def test_gaussian_mode_is_that_of_scipy(solver, intercept):
    X, y = documents()
    generator = np.random.default_rng(1)
    variance, mode = generator.uniform(0.5, 4, size=(4, 20)), generator.normal(size=(4, 20))
    importance = generator.integers(0, 4, size=150).astype(float)
    tol = 1e-10 if solver in ("newton", "coordinate") else 1e-7
    model = softmax(
        prior=GaussianPrior(variance=variance, mode=mode),
        intercept=intercept,
        solver=solver,
        tol=tol,
        max_iter=5000,
    ).fit(X, y, sample_weight=importance)

    free, precision = (
        float(intercept is not None),
        2.0 if isinstance(intercept, GaussianPrior) else 0.0,
    )

    def objective(flat):
        weights, biases = flat[:80].reshape(4, 20), free * flat[80:]
        cost = np.sum((weights - mode) ** 2 / (2 * variance)) + 0.5 * precision * np.sum(
            (biases - 0.3) ** 2
        )
        return cost + loss(X, y, weights, biases, importance)

    def gradient(flat):
        weights, biases = flat[:80].reshape(4, 20), free * flat[80:]
        inner, outer = pulls(X, y, weights, biases, importance)
        return np.append(
            (weights - mode) / variance - inner, free * (precision * (biases - 0.3) - outer)
        )

    best = optimize.minimize(
        objective, np.zeros(84), jac=gradient, options={"gtol": 1e-8}, method="BFGS"
    )
    ours = np.append(model.coef_, model.intercept_)
    assert objective(ours) <= best.fun + 1e-9
    assert np.all(np.diff(model.solutions_[0].objective) <= 1e-9 * abs(best.fun))
    np.testing.assert_allclose(model.coef_.ravel(), best.x[:80], atol=1e-5)
    np.testing.assert_allclose(model.solutions_[0].objective[-1], objective(ours), rtol=1e-12)
    if intercept == "flat":
        np.testing.assert_allclose(model.intercept_.mean(), 0, atol=1e-12)


def test_probabilities_are_those_of_scikit_learn():
    X, y = documents()
    ours = softmax(prior=GaussianPrior(variance=3.0), tol=1e-9).fit(X, y)
    theirs = LogisticRegression(C=3.0, tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    ours = softmax(prior=LaplacePrior(gamma=4.0), tol=1e-7).fit(X, y)
    theirs = LogisticRegression(
        C=0.5, l1_ratio=1.0, solver="saga", tol=1e-9, max_iter=100_000
    ).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)
    np.testing.assert_allclose(
        np.abs(dense(ours.coef_)).sum(), np.abs(theirs.coef_).sum(), rtol=1e-5
    )


@pytest.mark.parametrize("constrained", [False, True])
def test_laplace_mode_is_that_of_proximal_gradients(constrained):
    X, y = documents(n=90, d=12, k=3, seed=3)
    generator = np.random.default_rng(2)
    absolute, mode = generator.uniform(0.3, 3, size=(3, 12)), np.zeros((3, 12))
    sign = np.zeros((3, 12), dtype=int)
    if constrained:
        mode, sign = (
            generator.normal(size=(3, 12)).round(1),
            generator.integers(-1, 2, size=(3, 12)),
        )
        mode = np.where(sign * mode < 0, 0.0, mode)
    importance = generator.uniform(0.2, 2, size=90)
    prior = LaplacePrior(gamma=absolute**2, mode=mode, sign=sign)
    model = softmax(prior=prior, tol=1e-8).fit(X, y, sample_weight=importance)
    lower, upper = np.where(sign > 0, 0, -np.inf), np.where(sign < 0, 0, np.inf)
    weights, intercepts = best_by_proximal_gradient(
        X, y, absolute, mode, lower, upper, importance
    )

    def objective(weights, intercepts):
        return loss(X, y, weights, intercepts, importance) + np.sum(
            absolute * np.abs(weights - mode)
        )

    ours = dense(model.coef_)
    assert np.all((ours >= lower) & (ours <= upper))
    np.testing.assert_allclose(
        objective(ours, model.intercept_), objective(weights, intercepts), rtol=1e-8
    )
    np.testing.assert_allclose(ours, weights, atol=1e-3)
    assert np.count_nonzero(ours == mode) > 5


@pytest.mark.parametrize("gamma", [0.01, 1.0, 30.0])
def test_optimality_conditions_hold(gamma):
    X, y = documents(n=300, d=80, k=5, seed=4)
    model = softmax(prior=LaplacePrior(gamma=gamma), tol=1e-4).fit(X, y)
    weights, rate = dense(model.coef_), np.sqrt(gamma)
    pull, common = pulls(X, y, weights, model.intercept_, np.ones(len(y)))
    slack = 1.001e-4 * rate
    assert np.abs(common).max() <= slack
    assert np.all(np.abs(pull)[weights == 0] <= rate + slack)
    assert np.all(np.abs(pull - rate * np.sign(weights))[weights != 0] <= slack)


def test_two_classes_of_softmax_are_a_binary_model_of_twice_the_variance():
    """Weights (-beta/2, beta/2) cost beta^2 / (4 s): a normal prior of beta of variance 2 s."""
    X, y = documents(k=2)
    binary = softmax(prior=GaussianPrior(variance=2.0), tol=1e-10).fit(X, y)
    three = np.append(y, 2)  # a third class whose one document has no weight
    three_classes = softmax(prior=GaussianPrior(variance=1.0), tol=1e-10, intercept="flat")
    three_classes.fit(
        np.vstack([X, X[:1]]), three, sample_weight=np.append(np.ones(len(y)), 0.0)
    )
    np.testing.assert_allclose(
        three_classes.coef_[1] - three_classes.coef_[0], binary.coef_[0], atol=1e-6
    )
    np.testing.assert_allclose(
        three_classes.predict_proba(X)[:, 1], binary.predict_proba(X)[:, 1], atol=1e-6
    )


def test_jeffreys_mode_is_sparse_and_stationary():
    X, y = documents(n=400, d=30, k=3, seed=5)
    model = softmax(prior=JeffreysPrior(), tol=1e-5).fit(X, y)
    weights = dense(model.coef_)
    used = weights != 0
    assert 0 < used.sum() < 0.5 * used.size
    pull, common = pulls(X, y, weights, model.intercept_, np.ones(len(y)))
    np.testing.assert_allclose(pull[used], 1 / weights[used], atol=1e-3)
    np.testing.assert_allclose(common, 0, atol=1e-3)
    assert model.score(X, y) > 0.6


def test_em_finds_the_laplace_mode():
    X, y = documents()
    prior = LaplacePrior(gamma=9.0, mode=np.where(np.arange(20) < 3, 0.5, 0.0))
    exact = softmax(prior=prior, tol=1e-8).fit(X, y)
    model = softmax(prior=prior, solver="em", tol=1e-5, max_iter=20_000).fit(X, y)
    assert np.all(np.diff(model.solutions_[0].objective) <= 1e-8)  # weights that become 0
    np.testing.assert_allclose(
        model.solutions_[0].objective[-1], exact.solutions_[0].objective[-1], atol=1e-3
    )
    np.testing.assert_allclose(model.predict_proba(X), exact.predict_proba(X), atol=2e-3)


def test_a_gamma_prior_without_shape_and_rate_is_jeffreys():
    X, y = documents(n=200, d=10, k=3)
    ours = softmax(prior=GammaPrior(), tol=1e-3).fit(X, y)
    theirs = softmax(prior=JeffreysPrior(), tol=1e-3).fit(X, y)
    np.testing.assert_allclose(dense(ours.coef_), dense(theirs.coef_), atol=1e-12)


def test_em_under_student_t_is_stationary():
    X, y = documents(n=200, d=10, k=3)
    model = softmax(prior=GammaPrior(shape=1.0, rate=0.5), tol=1e-5).fit(X, y)
    weights = dense(model.coef_)
    pull, common = pulls(X, y, weights, model.intercept_, np.ones(len(y)))
    np.testing.assert_allclose(pull, 1.5 * weights / (0.5 + weights**2 / 2), atol=1e-4)
    np.testing.assert_allclose(common, 0, atol=1e-4)


def small_softmax(n=25, k=3):
    generator = np.random.default_rng(2)
    X = generator.normal(size=(n, 1))
    y = np.argmax(X * generator.normal(size=k) + generator.gumbel(size=(n, k)), axis=1)
    return (
        X,
        y,
        softmax(
            prior=GaussianPrior(0.8),
            intercept=None,
            solver="variational",
            tol=1e-6,
            max_iter=5000,
        ),
    )


def test_the_variational_bound_rises_and_stays_below_the_evidence():
    X, y, model = small_softmax()
    model.fit(X, y)
    bounds = -model.solutions_[0].objective
    assert np.all(np.diff(bounds) >= -1e-9)
    grid = np.linspace(-4, 4, 61)
    weights = np.stack(np.meshgrid(grid, grid, grid, indexing="ij"), axis=-1)
    logs = np.sum(-0.5 * weights**2 / 0.8 - 0.5 * np.log(2 * np.pi * 0.8), axis=-1)
    for x, label in zip(X[:, 0], y, strict=True):
        scores = x * weights
        logs += scores[..., label] - logsumexp(scores, axis=-1)
    evidence = logsumexp(logs) + 3 * np.log(grid[1] - grid[0])
    assert (
        bounds[-1] < evidence < bounds[-1] + 0.82 * len(y)
    )  # at scores of 0 it is log 6.75 instead of log 3
    mass = np.exp(logs - logsumexp(logs))
    mean = np.tensordot(mass, weights, axes=3)
    np.testing.assert_allclose(model.coef_.ravel(), mean, rtol=0.35)


def test_the_normals_of_the_bound_are_their_own_best():
    """The bound is a function of a and xi alone; SciPy finds no higher one."""
    X, y, model = small_softmax()
    model.fit(X, y)

    def minus_bound(parameters):
        log_sum, xi = parameters[:25], np.exp(parameters[25:].reshape(25, 3))
        curvature = np.tanh(xi / 2) / (4 * xi)
        total = 0.0
        for c in range(3):
            precision = 1 / 0.8 + 2 * np.sum(curvature[:, c] * X[:, 0] ** 2)
            target = np.sum(((y == c) - 0.5 + 2 * curvature[:, c] * log_sum) * X[:, 0])
            total += 0.5 * (target**2 / precision - np.log(0.8 * precision))
        lines = (
            (log_sum[:, None] + xi) / 2
            - curvature * (log_sum[:, None] ** 2 - xi**2)
            - np.logaddexp(0, xi)
        )
        return -(total + np.sum(lines) - np.sum(log_sum))

    best = optimize.minimize(
        minus_bound,
        np.zeros(100),
        method="L-BFGS-B",
        options={"maxiter": 5000, "maxfun": 10**6},
    )
    assert model.solutions_[0].objective[-1] == pytest.approx(best.fun, abs=1e-3)


def test_class_weights_are_sample_weights():
    X, y = documents()
    weighted = softmax(prior="gaussian", class_weight={1: 3.0}, tol=1e-9).fit(X, y)
    by_hand = softmax(prior="gaussian", tol=1e-9).fit(
        X, y, sample_weight=np.where(y == 1, 3.0, 1.0)
    )
    np.testing.assert_allclose(weighted.coef_, by_hand.coef_, atol=1e-7)
    balanced = softmax(prior="gaussian", class_weight="balanced", tol=1e-9).fit(X, y)
    theirs = LogisticRegression(class_weight="balanced", tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(balanced.coef_, theirs.coef_, atol=1e-5)


@pytest.mark.parametrize(
    "prior", [GaussianPrior(), LaplacePrior(), JeffreysPrior()], ids=lambda prior: prior.kind
)
def test_supports_limit_the_terms_of_each_class(prior):
    X, y = documents()
    feature_mask = np.zeros((4, 20), dtype=bool)
    feature_mask[:, :8] = True
    tol = 1e-3 if prior.kind == "jeffreys" else 1e-6
    model = softmax(prior=prior, tol=tol).fit(X, y, feature_mask=feature_mask)
    alone = softmax(prior=prior, tol=tol).fit(X[:, :8], y)
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X[:, :8]), atol=1e-4)
    feature_mask[2] = False
    model.fit(X, y, feature_mask=feature_mask)
    assert not np.any(dense(model.coef_)[2])
    assert not np.any(dense(model.coef_)[:, 8:])


@pytest.mark.parametrize(
    "prior", [GaussianPrior(), LaplacePrior()], ids=lambda prior: prior.kind
)
def test_warm_starts_begin_where_the_last_fit_ended(prior):
    X, y = documents()
    model = softmax(prior=prior, warm_start=True, tol=1e-6).fit(X, y)
    first = dense(model.coef_).copy()
    assert model.fit(X, y).n_iter_ == 1
    np.testing.assert_allclose(dense(model.coef_), first, atol=1e-9)


def test_scores_far_from_zero_stay_finite():
    X = 200.0 * np.repeat(np.eye(3), 4, axis=0)
    y = np.repeat(np.arange(3), 4)
    for prior in (GaussianPrior(variance=100.0), LaplacePrior(gamma=1e-4)):
        model = softmax(prior=prior).fit(X, y)
        assert np.all(np.isfinite(model.predict_proba(5 * X)))
        assert model.score(X, y) == 1.0


def test_contributions_add_up_to_scores_and_their_differences():
    X, y = documents()
    model = softmax().fit(X, y)
    terms, prior = model.contributions(X, 1, against=3)
    scores = model.decision_function(X)
    np.testing.assert_allclose(terms.sum(axis=1) + prior, scores[:, 1] - scores[:, 3])
    np.testing.assert_allclose(
        np.log(model.predict_proba(X)), scores - logsumexp(scores, axis=1, keepdims=True)
    )


def test_which_models_are_softmax():
    X, y = documents()
    assert softmax().fit(X, y).softmax_
    assert not softmax().fit(X, y > 1).softmax_
    rest = SparseBayesClassifier().fit(X, y)
    indicator = softmax().fit(X, np.eye(4, dtype=int)[y])
    assert not rest.softmax_
    assert not indicator.softmax_
    np.testing.assert_array_equal(dense(rest.coef_), dense(indicator.coef_))
    for wrong, message in (
        ({"multiclass": "pairs"}, "multiclass must be"),
        ({"link": "probit"}, "needs the logit link"),
        ({"solver": "lbfgs"}, "solvers auto, coordinate, em"),
        ({"solver": "coordinate", "prior": "jeffreys"}, "solvers auto, em"),
    ):
        with pytest.raises(ValueError, match=message):
            SparseBayesClassifier(**{"multiclass": "softmax", **wrong}).fit(X, y)


def test_softmax_models_are_stored():
    X, y = documents()
    model = softmax(prior=LaplacePrior(gamma=20.0)).fit(X, np.array(["a", "b", "c", "d"])[y])
    parameters, arrays = model.get_state()
    other = SparseBayesClassifier.from_state(json.loads(json.dumps(parameters)), arrays)
    np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
    assert other.softmax_
    for damaged in ({"softmax_": "yes"}, {"multilabel_": True}):
        with pytest.raises(DataError):
            SparseBayesClassifier.from_state({**parameters, **damaged}, arrays)


@pytest.mark.parametrize("prior", [GaussianPrior(variance=3.0), LaplacePrior(gamma=1.0)])
def test_the_number_of_blas_threads_changes_no_bit(prior):
    """BLAS splits sums of more than 10,000 numbers among its threads."""
    generator = np.random.default_rng(0)
    X, y = (
        sparse.random_array((400, 3_000), density=0.02, rng=generator, format="csr"),
        generator.integers(8, size=400),
    )
    fitted = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            fitted.append(softmax(prior=prior, tol=1e-3).fit(X, y).predict_proba(X))
    np.testing.assert_array_equal(*fitted)
