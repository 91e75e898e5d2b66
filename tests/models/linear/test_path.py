import threading

import numpy as np
import pytest
from scipy import sparse

from bayesift.models.linear import (
    GaussianPrior,
    LaplacePrior,
    SparseBayesClassifier,
    default_scales,
)
from bayesift.threads import in_threads

PRIORS = [
    LaplacePrior(gamma=4.0),
    GaussianPrior(variance=0.5),
    LaplacePrior(gamma=np.linspace(1.0, 3.0, 12)),
]


def documents(n_documents=80, n_terms=12, n_categories=3, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.poisson(0.5, size=(n_documents, n_terms)) * generator.random(
        (n_documents, n_terms)
    )
    scores = X @ generator.normal(size=(n_terms, n_categories)) + generator.normal(
        size=(n_documents, n_categories)
    )
    return X, (scores > np.quantile(scores, [0.5, 0.7, 0.85], axis=0).diagonal()).astype(int)


def dense(weights):
    return weights.toarray() if sparse.issparse(weights) else weights


@pytest.mark.parametrize("prior", PRIORS, ids=str)
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_the_path_passes_through_cold_fits(prior, class_weight):
    X, Y = documents()
    model = SparseBayesClassifier(prior=prior, tol=1e-9, class_weight=class_weight)
    scales = [0.2, 1.0, 5.0]
    path = model.path(X, Y, scales=scales)
    for step, scale in enumerate(scales):
        cold = SparseBayesClassifier(
            prior=prior, prior_scale=scale, tol=1e-9, class_weight=class_weight
        ).fit(X, Y)
        np.testing.assert_allclose(dense(path.coefficients[step]), dense(cold.coef_), atol=1e-5)
        np.testing.assert_allclose(path.intercepts[step], cold.intercept_, atol=1e-5)
    assert path.converged.all()
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "n_features_in_")


def test_a_scale_multiplies_standard_deviations():
    X, Y = documents()
    for prior, same in (
        (LaplacePrior(gamma=4.0), LaplacePrior(gamma=1.0)),
        (GaussianPrior(variance=0.5), GaussianPrior(variance=2.0)),
    ):
        scaled = SparseBayesClassifier(prior=prior, prior_scale=2.0, tol=1e-9).fit(X, Y)
        plain = SparseBayesClassifier(prior=same, tol=1e-9).fit(X, Y)
        np.testing.assert_allclose(dense(scaled.coef_), dense(plain.coef_), atol=1e-8)
        np.testing.assert_array_equal(scaled.prior_scale_, [2.0] * 3)


def test_the_default_path_begins_where_the_first_weight_leaves_its_mode():
    X, Y = documents()
    model = SparseBayesClassifier(prior=LaplacePrior(gamma=4.0), tol=1e-8)
    problem = model.problem(X, Y)
    first = default_scales(problem, 2)[0]
    share = Y.mean(axis=0)
    rate = np.abs(X.T @ (Y - share)).max(axis=0)  # the classical largest lambda
    np.testing.assert_allclose(2.0 / first, rate, rtol=1e-8)
    path = model.path(X, Y, scales=np.array([0.999, 1.02])[:, None] * first)
    assert path.sizes[0].tolist() == [0, 0, 0]
    assert path.sizes[1].min() >= 1


def test_two_classes_and_threads_and_supports():
    X, Y = documents()
    model = SparseBayesClassifier(tol=1e-6)
    labels = np.array(["ham", "spam"])[Y[:, 0]]
    assert model.path(X, labels, n_scales=4).intercepts.shape == (4, 1)
    one, two = (
        model.path(X, Y, n_scales=4),
        SparseBayesClassifier(tol=1e-6, n_jobs=2).path(X, Y, n_scales=4),
    )
    for left, right in zip(one.coefficients, two.coefficients, strict=True):
        np.testing.assert_array_equal(dense(left), dense(right))
    feature_mask = np.zeros((3, X.shape[1]), dtype=int)
    feature_mask[:, :4] = 1
    for weights in model.path(X, Y, n_scales=4, feature_mask=feature_mask).coefficients:
        assert not np.any(dense(weights)[:, 4:])


def test_a_path_has_the_modes_of_single_fits():
    X, Y = documents()
    scales = np.geomspace(0.3, 20.0, 12)
    path = SparseBayesClassifier(prior=LaplacePrior(gamma=1.0), tol=1e-8).path(
        X, Y, scales=scales
    )
    for scale, weights in zip(scales, path.coefficients, strict=True):
        alone = SparseBayesClassifier(prior=LaplacePrior(gamma=scale**-2.0), tol=1e-8).fit(X, Y)
        np.testing.assert_allclose(dense(weights), dense(alone.coef_), atol=1e-5)


def test_progress_counts_up_to_the_total():
    X, Y = documents()
    calls = []
    SparseBayesClassifier(progress=lambda *counts: calls.append(counts)).path(X, Y, n_scales=4)
    assert calls == [(4, 12), (8, 12), (12, 12)]  # a category at a time


def test_an_interrupt_stops_the_threads_and_drops_what_has_not_begun():
    begun = []

    def work(item):
        begun.append(item)
        if item == 2:
            raise KeyboardInterrupt
        return item

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        list(in_threads(work, range(1000), 2))
    assert len(begun) < 1000
    assert threading.active_count() == before


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupted_fit_leaves_the_classifier_as_it_was(n_jobs):
    X, Y = documents()

    def stop(done, total):
        raise KeyboardInterrupt

    new = SparseBayesClassifier(progress=stop, n_jobs=n_jobs)
    with pytest.raises(KeyboardInterrupt):
        new.fit(X, Y)
    assert not any(name.endswith("_") for name in vars(new))

    fitted = SparseBayesClassifier(n_jobs=n_jobs).fit(X, Y)
    before = dict(vars(fitted))
    fitted.set_params(progress=stop, prior_scale="cross-validation")
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(X[:, :5], Y)
    for name, value in before.items():
        assert name in ("progress", "prior_scale") or vars(fitted)[name] is value
    assert fitted.predict(X).shape == Y.shape
