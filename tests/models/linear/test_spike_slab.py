"""`SpikeSlabClassifier` against Gibbs sampling, finite differences, and planted words."""

import json

import numpy as np
import pytest
from scipy import sparse
from scipy.integrate import quad
from scipy.special import expit, log_expit, ndtr, xlogy
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning

from bayesift.classifier import TextClassifier
from bayesift.cli.explain import print_explanation
from bayesift.errors import DataError
from bayesift.kernels.spike_slab import expected_likelihood
from bayesift.models import make_learner
from bayesift.models.linear import (
    LaplacePrior,
    LinearProblem,
    LogF,
    Solution,
    SpikeSlab,
    SpikeSlabClassifier,
    inclusion_posterior,
)
from bayesift.models.linear.links import link_of, log_likelihoods
from tests.oracles.spike_slab import inclusion_by_gibbs

SETTINGS = [
    {"link": "logit"},
    {"link": "logit", "bound": "tangent"},
    {"link": "logit", "bound": "curvature"},
    {"link": "probit"},
    {"link": "probit", "bound": "curvature"},
    {"link": LogF(shape=0.5)},
    {"link": "logit", "spike_variance": 0.2},
    {"link": "probit", "spike_variance": 0.2, "intercept": False},
]
PSI = {"logit": expit, "probit": ndtr}


def planted(n, p, *, link="logit", inclusion=0.1, slab=4.0, density=0.1, seed=0):
    """Counts of words, labels, and which words were given a weight."""
    generator = np.random.default_rng(seed)
    X = (generator.random((n, p)) < density) * (1.0 + generator.poisson(0.5, size=(n, p)))
    matter = generator.random(p) < inclusion
    scores = X @ (matter * generator.normal(scale=np.sqrt(slab), size=p)) - 0.5
    return X, (generator.random(n) < PSI[link](scores)).astype(int), matter


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_bound_of_the_evidence_never_falls(settings):
    X, y, _ = planted(200, 40, density=0.3)
    model = SpikeSlabClassifier(
        inclusion=0.2, slab_variance=4.0, tol=1e-6, max_iter=2000, **settings
    ).fit(X, y)
    elbo = model.elbo_[0]
    assert len(elbo) > 3
    assert np.all(np.diff(elbo) >= -1e-9 * np.abs(elbo[-1]))


def fitted(link, X, y, **settings):
    return SpikeSlabClassifier(
        link=link, tol=1e-6, max_iter=2000, background_variance=0.0, **settings
    ).fit(X, y)


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_inclusion_probabilities_are_near_those_of_a_long_gibbs_run(link):
    """Factors are surer than the joint posterior."""
    differences = []
    for seed in (3, 5):
        X, y, _ = planted(150, 8, link=link, inclusion=0.4, slab=2.0, density=0.4, seed=seed)
        exact, means = inclusion_by_gibbs(
            link, X, y, inclusion=0.3, slab=2.0, n_draws=800, n_burn=200
        )
        model = fitted(link, X, y, inclusion=0.3, slab_variance=2.0)
        ours = model.inclusion_of(1)
        differences.append(np.abs(ours - exact))
        assert np.all(ours[exact > 0.99] > 0.99)
        np.testing.assert_allclose(
            np.ravel(sparse.csr_array(model.coef_).toarray()), means, atol=0.3
        )
    assert np.mean(differences) < 0.08


def expectation(link, margins, variances):
    """The mean log-likelihood of normal margins and its derivatives.

    They are by the mean, and -2 times by the variance.
    """
    distances = np.sqrt(3 * np.maximum(variances, 1e-8))
    logs, slopes, _ = log_likelihoods(
        link_of(link), margins + distances * np.array([[-1.0], [0.0], [1.0]])
    )
    weights = np.array([1.0, 4.0, 1.0]) / 6
    return weights @ logs, weights @ slopes, (slopes[0] - slopes[2]) / (2 * distances)


@pytest.mark.parametrize("link", ["logit", "probit", LogF(shape=0.5)])
def test_mean_likelihoods_are_near_the_integral_and_agree_with_their_derivatives(link):
    generator, n = np.random.default_rng(0), 40
    scores, spreads, signs = (
        generator.normal(scale=2.0, size=n),
        generator.random(n),
        generator.choice([-1.0, 1.0], n),
    )
    importance, common, found = generator.random(n) + 0.5, 0.3, link_of(link)
    residuals, curvatures = np.empty((2, n))

    def total(scores, spreads, residuals, curvatures):
        arguments = signs, importance, scores, spreads, common, residuals, curvatures
        return expected_likelihood(found.code, found.parameters, *arguments)

    value = total(scores, spreads, residuals, curvatures)
    for i in range(n):
        nudge, unused = 1e-5 * (np.arange(n) == i), np.empty(n)
        rise = total(scores + nudge, spreads, unused, unused) - total(
            scores - nudge, spreads, unused, unused
        )
        assert rise / 2e-5 == pytest.approx(residuals[i], abs=1e-7)
        widening = total(scores, spreads + nudge, unused, unused) - total(
            scores, spreads - nudge, unused, unused
        )
        assert -widening / 1e-5 == pytest.approx(curvatures[i], abs=1e-7)

    def integral(score, variance, sign):
        deviation = np.sqrt(variance)

        def integrand(z):
            return log_likelihoods(found, np.array([sign * (score + deviation * z)]))[0][
                0
            ] * norm.pdf(z)

        return quad(integrand, -9, 9)[0]

    exact = [integral(*each) for each in zip(scores, spreads + common, signs, strict=True)]
    assert value == pytest.approx(importance @ exact, rel=5e-3)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("link", ["logit", "probit"])
def test_the_background_is_the_best_of_two_directions_beside_the_words_that_matter(
    link, intercept
):
    """Two conjugate directions span (s, D^-1 H s), s = D^-1 g; their best combination by NumPy."""
    X, y, _ = planted(200, 15, link=link, density=0.3)
    weights = np.random.default_rng(1).integers(1, 3, 200).astype(float)
    settings = {
        "link": link,
        "inclusion": 0.1,
        "slab_variance": 4.0,
        "tol": 1e-7,
        "intercept": intercept,
    }
    mask = np.arange(15)[np.newaxis] < 12
    fit = {"sample_weight": weights, "feature_mask": mask}
    without = SpikeSlabClassifier(background_variance=0.0, **settings).fit(X, y, **fit)
    model = SpikeSlabClassifier(background_variance=0.5, **settings).fit(X, y, **fit)
    np.testing.assert_array_equal(model.inclusion_.toarray(), without.inclusion_.toarray())
    assert not np.any(model.coef_[0, 12:])

    n_used = 13 if intercept else 12
    problem = LinearProblem(
        sparse.csr_array(X), sparse.csr_array(y[np.newaxis]), weights, link_of(link),
        LaplacePrior(),
        np.array([1.0, 1e-3, 0.0]) if intercept else np.zeros(3), [np.arange(12, dtype=np.int32)],
        1e-7,
    )  # fmt: skip
    start = Solution(np.zeros(15), 0.0, np.empty(0), 0, True)
    beta = inclusion_posterior(problem, 0, start, prior=SpikeSlab(0.1, 4.0, 0.0))
    scores, variances = (
        X @ beta.means + beta.intercept,
        X**2 @ beta.variances + beta.intercept_variance,
    )
    signs, design = 2.0 * y - 1.0, np.column_stack([X[:, :12], np.ones(200)])[:, :n_used]
    _, slopes, curvatures = expectation(link, signs * scores, variances)
    precisions = np.append(np.full(12, 2.0), 1e-3)[:n_used]
    gradient = (
        design.T @ (weights * signs * slopes)
        - np.append(np.zeros(12), 1e-3 * beta.intercept)[:n_used]
    )
    hessian = design.T @ (design * (weights * curvatures)[:, np.newaxis]) + np.diag(precisions)
    first = gradient / np.diag(hessian)
    span = np.column_stack([first, hessian @ first / np.diag(hessian)])
    expected = span @ np.linalg.solve(span.T @ hessian @ span, span.T @ gradient)
    found = np.append(
        np.ravel(model.coef_)[:12] - beta.means[:12], model.intercept_ - beta.intercept
    )[:n_used]
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_a_background_that_would_lower_the_likelihood_is_shortened():
    """One document far on the wrong side: its curvature is small, so the whole step is too long."""
    X, y = np.eye(2)[[0] * 60 + [1]], np.array([1, 0] * 30 + [1])
    settings = {"inclusion": 1e-9, "slab_variance": 1.0}
    model = SpikeSlabClassifier(background_variance=1e6, **settings).fit(
        np.append(X, [[8.0, 0.0]], axis=0), [*y, 0]
    )
    assert np.all(np.isfinite(model.coef_))
    assert np.all(np.abs(model.decision_function(X)) < 50)


def test_one_word_is_included_as_quadrature_says():
    """With one word and no intercept the factors are exact but for the bound of the likelihood."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 1))
    y = (generator.random(60) < expit(0.9 * X[:, 0])).astype(int)

    def likelihood(weight):
        return np.exp(np.log(2 * expit((2 * y - 1) * X[:, 0] * weight)).sum())

    slab = quad(lambda b: likelihood(b) * np.exp(-(b**2) / 2) / np.sqrt(2 * np.pi), -8, 8)[0]
    exact = 0.3 * slab / (0.3 * slab + 0.7)
    model = fitted("logit", X, y, inclusion=0.3, slab_variance=1.0, intercept=False)
    assert 0.2 < exact < 0.97
    assert model.inclusion_of(1)[0] == pytest.approx(exact, abs=0.05)


@pytest.mark.parametrize("settings", SETTINGS[:5], ids=str)
def test_the_posterior_is_a_maximum_of_the_bound_by_numpy(settings):
    X, y, _ = planted(80, 5, density=0.4)
    rows, members = sparse.csr_array(X), sparse.csr_array(y[np.newaxis])
    link = link_of(settings["link"])
    problem = LinearProblem(
        rows, members, np.ones(80), link, LaplacePrior(), np.array([1.0, 0, 0]), tolerance=1e-9
    )
    start = Solution(np.zeros(5), 0.0, np.empty(0), 0, True)
    bound = settings.get("bound", "expected")
    found = inclusion_posterior(problem, 0, start, prior=SpikeSlab(0.3, 2.0, 0.0), bound=bound)
    means = found.means / found.inclusion
    variances = (found.variances + found.means**2) / found.inclusion - means**2
    best = np.concatenate(
        [found.inclusion, means, variances, [found.intercept, found.intercept_variance]]
    )

    def value(posterior):
        a, m, s = posterior[:15].reshape(3, 5)
        b, spread = posterior[15:]
        scores, v = X @ (a * m) + b, X**2 @ (a * (s + m**2) - (a * m) ** 2) + spread
        margins, xi = (2 * y - 1) * scores, np.sqrt(scores**2 + v)
        likelihood = {
            "expected": expectation(link, margins, v)[0],
            "tangent": log_expit(xi) + (margins - xi) / 2,
            "curvature": log_likelihoods(link, margins)[0] - 0.5 * link.curvature_bound * v,
        }[bound]
        divergence = xlogy(a, a / 0.3) + xlogy(1 - a, (1 - a) / 0.7)
        divergence += [
            p * _gaussian_divergence(*moments, 2.0) for p, *moments in zip(a, m, s, strict=True)
        ]
        return likelihood.sum() - divergence.sum() + 0.5 * np.log(spread)

    highest = value(best)
    assert found.elbo[-1] == pytest.approx(highest, rel=1e-8)
    for place in range(len(best)):
        for factor in (0.99, 1.01):
            moved = best.copy()
            moved[place] *= factor
            assert moved[:5].max() >= 1.0 or value(moved) <= highest + 1e-7


def _gaussian_divergence(mean, variance, prior):
    def integrand(b):
        density = np.exp(-((b - mean) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)
        other = -(b**2) / (2 * prior) - 0.5 * np.log(2 * np.pi * prior)
        return density * (
            -((b - mean) ** 2) / (2 * variance) - 0.5 * np.log(2 * np.pi * variance) - other
        )

    return quad(integrand, mean - 12 * np.sqrt(variance), mean + 12 * np.sqrt(variance))[0]


@pytest.mark.parametrize("density", [0.05, 0.2])
@pytest.mark.parametrize("link", ["logit", "probit"])
def test_inclusion_probabilities_are_calibrated_on_planted_words(link, density):
    """Expected calibration error at most 0.05."""
    found, truth = [], []
    for seed in range(5):
        X, y, matter = planted(
            800, 300, link=link, inclusion=0.05, slab=4.0, density=density, seed=seed
        )
        model = SpikeSlabClassifier(link=link, inclusion=0.05, slab_variance=4.0).fit(X, y)
        found.append(model.inclusion_of(1))
        truth.append(matter)
    found, truth = np.concatenate(found), np.concatenate(truth)
    bins = np.minimum((10 * found).astype(int), 9)
    error = sum(abs((found - truth)[bins == b].sum()) for b in range(10)) / len(found)
    assert error <= 0.05
    assert truth[found > 0.9].mean() > 0.9


def test_sparse_matrices_labels_and_masks():
    X, y, _ = planted(200, 20, density=0.3)
    names = np.array(["crude", "grain"])[y]
    dense, thin = (
        SpikeSlabClassifier(inclusion=0.1).fit(form, names) for form in (X, sparse.csr_array(X))
    )
    np.testing.assert_array_equal(dense.inclusion_of("grain"), thin.inclusion_of("crude"))
    mask = np.arange(20)[np.newaxis] < 7
    masked = SpikeSlabClassifier(inclusion=0.1).fit(X, names, feature_mask=mask)
    assert not masked.inclusion_.toarray()[0, 7:].any()


def test_saved_and_restored():
    X, y, _ = planted(200, 20, density=0.3)
    model = SpikeSlabClassifier(inclusion=0.1).fit(X, y)
    parameters, arrays = model.get_state()
    again = SpikeSlabClassifier.from_state(json.loads(json.dumps(parameters)), arrays)
    np.testing.assert_array_equal(
        again.predict_proba_integrated(X), model.predict_proba_integrated(X)
    )
    np.testing.assert_array_equal(again.inclusion_of(1), model.inclusion_of(1))
    arrays["inclusion_.data"] = arrays["inclusion_.data"] + 2.0
    with pytest.raises(DataError, match="probability"):
        SpikeSlabClassifier.from_state(parameters, arrays)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"inclusion": 0.0}, "inclusion must lie between"),
        ({"slab_variance": 1.0, "spike_variance": 2.0}, "spike < slab"),
        ({"bound": "loose"}, "bound must be one of"),
        ({"link": "probit", "bound": "tangent"}, "logit link"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        SpikeSlabClassifier(**settings).fit([[1.0], [0.0]], [0, 1])


def test_a_model_that_still_moves_is_warned_about():
    X, y, _ = planted(100, 20, density=0.3)
    with pytest.warns(ConvergenceWarning, match="still moved"):
        SpikeSlabClassifier(inclusion=0.1, tol=1e-9, max_iter=1).fit(X, y)


def test_words_that_matter_are_shown(capsys):
    from rich.console import Console

    texts = ["wheat and corn", "wheat exports", "crude oil prices", "oil tankers"] * 10
    model = make_learner("logistic-spike-slab")
    classifier = TextClassifier(model=model).fit(
        texts, ["grain", "grain", "crude", "crude"] * 10
    )
    words = {
        word.word: word.inclusion
        for category in classifier.top_terms(5)
        for word in category.words
    }
    assert max(words["wheat"], words["oil"]) > 0.9
    explanation = classifier.explain("wheat and corn", categories=["grain"])
    assert {term.term: term.inclusion for term in explanation.categories[0].terms}[
        "wheat"
    ] == words["wheat"]
    print_explanation(Console(width=120), explanation)
    assert "matters" in capsys.readouterr().out
