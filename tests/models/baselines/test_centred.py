"""The logistic regression centred on naive Bayes, against closed forms and a general optimizer."""

import numpy as np
import pytest
from scipy import optimize
from scipy.special import expit, log_expit

from bayesift.models.baselines import NaiveBayesLogisticClassifier


def counts(n_documents, n_terms, seed):
    """Counts of words whose rates differ between two classes."""
    random = np.random.default_rng(seed)
    y = random.integers(2, size=n_documents)
    rates = random.gamma(0.5, size=(2, n_terms))
    return random.poisson(rates[y]).astype(float), y


def log_odds(X, y):
    """Log odds of each word by naive Bayes that adds one to every count."""
    ones, zeros = X[y == 1].sum(axis=0) + 1, X[y == 0].sum(axis=0) + 1
    return np.log(ones / ones.sum()) - np.log(zeros / zeros.sum())


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_weights_are_the_mode_about_a_share_of_the_log_odds(share):
    X, y = counts(60, 8, seed=3)
    model = NaiveBayesLogisticClassifier(share=share, tol=1e-8).fit(X, y)
    centre = share * log_odds(X, y)
    variance = model.prior_scale_[0] ** 2

    def objective(parameters):
        weights, intercept = parameters[:-1], parameters[-1]
        signs = 2 * y - 1
        fit = log_expit(signs * (X @ weights + intercept)).sum()
        return np.sum((weights - centre) ** 2) / (2 * variance) - fit

    best = optimize.minimize(objective, np.append(centre, 0.0), method="BFGS", tol=1e-10)
    assert model.coef_.ravel() == pytest.approx(best.x[:-1], abs=1e-4)
    assert model.intercept_[0] == pytest.approx(best.x[-1], abs=1e-4)


def test_the_share_has_the_lowest_loss_on_documents_held_out():
    X, y = counts(300, 40, seed=5)
    model = NaiveBayesLogisticClassifier().fit(X, y)
    losses = model.validation_losses_
    assert set(losses) == {1.0, 0.5, 0.25, 0.125}
    assert losses[model.share_] == min(losses.values())
    assert model.set_params(share=0.5).fit(X, y).validation_losses_ == {}


def test_repeated_words_make_naive_bayes_too_sure_and_the_share_small():
    # Each word stands for four copies of itself: naive Bayes counts every one as new evidence.
    X, y = counts(400, 10, seed=7)
    copied = np.repeat(X, 4, axis=1)
    alone = NaiveBayesLogisticClassifier().fit(X, y)
    together = NaiveBayesLogisticClassifier().fit(copied, y)
    assert together.share_ < alone.share_


def test_probabilities_of_two_classes_are_those_of_the_score():
    X, y = counts(80, 12, seed=1)
    model = NaiveBayesLogisticClassifier(share=0.5).fit(X, y)
    assert model.predict_proba(X)[:, 1] == pytest.approx(expit(model.decision_function(X)))


def test_few_documents_are_enough():
    model = NaiveBayesLogisticClassifier().fit([[2, 0], [0, 1], [1, 0]], ["a", "b", "a"])
    assert model.predict([[1, 0], [0, 3]]).tolist() == ["a", "b"]
    assert model.share_ == 0.5
    assert model.validation_losses_ == {}


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_is_a_share(share):
    model = NaiveBayesLogisticClassifier(share=share)
    with pytest.raises(ValueError, match="share must be None or lie between 0 and 1"):
        model.fit([[1, 0], [0, 1]], [0, 1])
