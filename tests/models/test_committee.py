"""Several linear models that speak as one."""

import numpy as np
import pytest
from scipy import optimize, sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from bayesift.models import (
    CommitteeClassifier,
    GaussianPrior,
    JelinekMercer,
    NaiveBayesClassifier,
    SparseBayesClassifier,
)
from bayesift.models.committee.members import InformedMember, Sample
from bayesift.models.committee.stacking import shares_of


def documents(n=120, n_terms=30, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.poisson(0.5, size=(n, n_terms)).astype(float)
    pull = X[:, :3] - 0.5 + generator.normal(size=(n, 3))
    return X, pull.argmax(axis=1), (pull > 0.3).astype(int)


def test_scores_are_the_shares_of_the_members_scores():
    X, _, Y = documents()
    model = CommitteeClassifier(shares=(0.7, 0.0, 0.2), tol=1e-10).fit(X, Y)
    logistic = SparseBayesClassifier(prior=GaussianPrior(variance=30.0), tol=1e-10).fit(X, Y)
    bayes = NaiveBayesClassifier(smoothing=JelinekMercer(0.9)).fit(X, Y)
    odds = X @ bayes.log_odds_coef_.T + np.log((Y.sum(axis=0) + 0.5) / (len(Y) - Y.sum(axis=0) + 0.5))
    expected = 0.7 * logistic.decision_function(X) + 0.2 * odds
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.predict_proba(X), expit(expected), rtol=1e-6)


def test_a_prior_of_naive_bayes_ratios_is_a_machine_on_scaled_features():
    X, _, Y = documents()
    positive, alpha = Y[:, 0] == 1, 0.05
    counts = np.stack([X[positive].sum(axis=0), X[~positive].sum(axis=0)]) + alpha
    ratios = np.log(counts[0] / counts[0].sum()) - np.log(counts[1] / counts[1].sum())
    sample = Sample(sparse.csr_array(X), sparse.csr_array(Y[:, :1]), np.ones(len(X)))
    member = InformedMember(variance=2.0, alpha=alpha, tol=1e-12, n_jobs=None).fit(sample)
    scaled = X * np.where(np.abs(ratios) < 0.03, 0.03, ratios)
    peer = LogisticRegression(C=2.0, tol=1e-12, max_iter=10_000).fit(scaled, positive)
    np.testing.assert_allclose(member.scores(sample.rows)[:, 0], peer.decision_function(scaled), atol=1e-5)


@pytest.mark.parametrize("exclusive", [False, True])
def test_shares_are_where_the_posterior_is_highest(exclusive):
    _, labels, indicator = documents()
    Y = np.eye(3)[labels] if exclusive else indicator
    generator = np.random.default_rng(1)
    noisy = [(2 * Y - 1) * strength + generator.normal(size=Y.shape) for strength in (1.0, 0.4, 0.0)]
    scores, importance = np.stack([*noisy, -noisy[0]]), generator.uniform(0.5, 1.5, len(Y))

    def negative_log_posterior(point):
        z = np.einsum("m,mdc->dc", point[:4], scores) + point[4]
        p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True) if exclusive else expit(z)
        likelihoods = (p**Y).prod(axis=1) if exclusive else (p**Y * (1 - p) ** (1 - Y)).prod(axis=1)
        prior = np.sum((point[:4] - 0.25) ** 2) + point[4] ** 2
        return -importance @ np.log(likelihoods) + prior / 2

    shares, offset = shares_of(scores, Y, importance, exclusive=exclusive)
    found = negative_log_posterior(np.append(shares, offset))
    bounds = [(0, None)] * 4 + [(None, None)]
    other = optimize.minimize(negative_log_posterior, np.full(5, 0.5), bounds=bounds, method="Powell", tol=1e-10)
    assert found <= other.fun + 1e-6
    assert shares[0] > shares[1] > shares[2]
    assert shares[3] == 0.0


def test_members_are_asked_about_documents_they_have_not_seen():
    generator = np.random.default_rng(0)
    X = generator.poisson(0.1, size=(80, 400)).astype(float)  # noise, which every member can learn by heart
    y = generator.integers(0, 2, 80)
    model = CommitteeClassifier().fit(X, y)
    assert (
        np.abs(model.decision_function(X)).max()
        < np.abs(CommitteeClassifier(shares=(1 / 3, 1 / 3, 1 / 3)).fit(X, y).decision_function(X)).max()
    )
    assert model.shares_.sum() < 0.5


@pytest.mark.parametrize("kind", ["two classes", "classes", "indicator"])
def test_probabilities_and_decisions_agree(kind):
    X, labels, indicator = documents()
    y = {"two classes": labels > 0, "classes": labels, "indicator": indicator}[kind]
    model = CommitteeClassifier(n_folds=3).fit(X, y)
    P = model.predict_proba(X)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), P)
    if kind == "indicator":
        np.testing.assert_array_equal(model.predict(X), P > 0.5)
    else:
        np.testing.assert_allclose(P.sum(axis=1), 1.0)
        np.testing.assert_array_equal(model.predict(X), model.classes_[P.argmax(axis=1)])


def test_progress_counts_every_fit():
    X, labels, _ = documents()
    told = []
    CommitteeClassifier(n_folds=2, progress=lambda done, total: told.append((done, total))).fit(X, labels)
    assert told == [(k, 9) for k in range(1, 10)]


@pytest.mark.parametrize("shares", [(1.0,), (1.0, -1.0, 0.0)])
def test_bad_shares_are_refused(shares):
    X, labels, _ = documents()
    with pytest.raises(ValueError, match="shares must be 3 numbers of at least 0"):
        CommitteeClassifier(shares=shares).fit(X, labels)
