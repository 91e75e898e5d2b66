import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from bayesift.errors import DataError
from bayesift.models import STORABLE, make_learner
from bayesift.models.base import scores_of
from bayesift.models.linear import (
    GaussianPrior,
    JeffreysPrior,
    LaplacePrior,
    LogF,
    SparseBayesClassifier,
)


def documents(n=120, d=15, k=4, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.poisson(0.5, size=(n, d)).astype(float)
    scores = X @ generator.normal(size=(d, k)) + generator.logistic(size=(n, k))
    return X, (scores > 1).astype(int), np.argmax(scores, axis=1)


def restored(model):
    parameters, arrays = model.get_state()
    return SparseBayesClassifier.from_state(
        json.loads(json.dumps(parameters)), {k: v.copy() for k, v in arrays.items()}
    )


def test_gaussian_weights_are_those_of_scikit_learn():
    X, Y, _ = documents()
    ours = SparseBayesClassifier(prior=GaussianPrior(variance=3.0), tol=1e-9).fit(X, Y)
    for c in range(Y.shape[1]):
        theirs = LogisticRegression(C=3.0, tol=1e-10, max_iter=10_000).fit(X, Y[:, c])
        np.testing.assert_allclose(ours.coef_[c], theirs.coef_[0], atol=1e-5)
        np.testing.assert_allclose(
            ours.predict_proba(X)[:, c], theirs.predict_proba(X)[:, 1], atol=1e-5
        )


def test_two_labels_are_one_model_and_probabilities_sum_to_one():
    X, Y, labels = documents()
    binary = SparseBayesClassifier().fit(X, np.array(["no", "yes"])[Y[:, 0]])
    assert binary.coef_.shape == (1, 15)
    assert binary.decision_function(X).shape == (120,)
    np.testing.assert_allclose(binary.predict_proba(X).sum(axis=1), 1)
    several = SparseBayesClassifier(link="probit").fit(X, labels)
    np.testing.assert_allclose(several.predict_proba(X).sum(axis=1), 1)
    np.testing.assert_array_equal(
        several.predict(X), np.argmax(several.predict_proba(X), axis=1)
    )


@pytest.mark.parametrize("link", ["logit", "probit", LogF(shape=0.5)], ids=str)
def test_contributions_and_intercept_add_up_to_the_score(link):
    X, Y, labels = documents()
    model = SparseBayesClassifier(link=link).fit(X, Y)
    terms, prior = model.contributions(X, 2)
    np.testing.assert_allclose(terms.sum(axis=1) + prior, model.decision_function(X)[:, 2])
    binary = SparseBayesClassifier(link=link).fit(X, labels > 1)
    terms, prior = binary.contributions(X, False)
    np.testing.assert_allclose(terms.sum(axis=1) + prior, -binary.decision_function(X))
    single = SparseBayesClassifier(link=link).fit(X, labels)
    terms, prior = single.contributions(X, 0, against=3)
    scores = single.decision_function(X)
    np.testing.assert_allclose(terms.sum(axis=1) + prior, scores[:, 0] - scores[:, 3])
    with pytest.raises(ValueError, match="no category 9"):
        single.contributions(X, 9)


def test_sparse_and_dense_weights_score_the_same():
    X, Y, _ = documents()
    model = SparseBayesClassifier(prior=LaplacePrior(gamma=200.0)).fit(X, Y)
    assert sparse.issparse(model.coef_)
    dense = scores_of(sparse.csr_array(X), model.coef_.toarray(), model.intercept_)
    np.testing.assert_allclose(model.decision_function(X), dense)


@pytest.mark.parametrize(
    "model",
    [
        SparseBayesClassifier(
            prior=LaplacePrior(gamma=np.full((4, 1), 200.0), sign=1), class_weight="balanced"
        ),
        SparseBayesClassifier(
            link=LogF(shape=0.2), prior=GaussianPrior(), intercept=GaussianPrior(variance=4.0)
        ),
        SparseBayesClassifier(
            link="probit", prior=JeffreysPrior(), intercept=None, max_iter=30_000
        ),
    ],
    ids=["laplace", "log-f", "jeffreys"],
)
def test_everything_is_stored(model):
    X, Y, _ = documents()
    other = restored(model.fit(X, Y))
    np.testing.assert_array_equal(other.predict_log_proba(X), model.predict_log_proba(X))
    assert repr(other.get_params()) == repr(
        {**model.get_params(), "link": other.link, "prior": other.prior}
    )
    assert STORABLE["sparse-bayes"] is SparseBayesClassifier


@pytest.mark.parametrize(
    ("where", "name", "value", "message"),
    [
        ("parameters", "link", {"kind": "cauchit-link"}, "unknown kind 'cauchit-link'"),
        ("parameters", "link", {"kind": "probit-noise", "sigma0": 1.0}, "not a link"),
        ("parameters", "link", 3, "not a link"),
        (
            "parameters",
            "prior",
            {"kind": "laplace-prior", "gamma": -1},
            "gamma must be positive",
        ),
        (
            "parameters",
            "prior",
            {"kind": "laplace-prior", "mode": "high"},
            "mode must be a number",
        ),
        ("parameters", "tol", "tight", "'tol' of a sparse-bayes must be float"),
        ("parameters", "magic", 1, "has no 'magic'"),
        ("parameters", "posteriors_", [1], "one per model|posterior"),
        ("arrays", "intercept_", np.zeros(3), "fit together"),
        ("arrays", "coef_", np.full((4, 15), np.nan), "finite"),
    ],
)
def test_damaged_states_are_refused(where, name, value, message):
    X, Y, _ = documents()
    parameters, arrays = (
        SparseBayesClassifier(prior=GaussianPrior(), posterior="normal").fit(X, Y).get_state()
    )
    target = arrays if where == "arrays" else parameters
    target[name] = value
    with pytest.raises(DataError, match=message):
        SparseBayesClassifier.from_state(parameters, arrays)


def test_damaged_sparse_weights_are_refused():
    X, Y, _ = documents()
    model = SparseBayesClassifier(prior=LaplacePrior(gamma=200.0)).fit(X, Y)
    for name, value in (
        ("indices", np.array([99])),
        ("indptr", np.array([0, 5, 2, 3, 4])),
        ("data", np.ones(2)),
    ):
        parameters, arrays = model.get_state()
        arrays[f"coef_.{name}"] = value
        with pytest.raises(DataError):
            SparseBayesClassifier.from_state(parameters, arrays)


def test_supports_limit_the_terms_of_each_category():
    X, Y, _ = documents()
    feature_mask = np.zeros((4, 15), dtype=bool)
    feature_mask[:, :5] = True
    model = SparseBayesClassifier(prior=GaussianPrior(), tol=1e-6).fit(
        X, Y, feature_mask=feature_mask
    )
    alone = SparseBayesClassifier(prior=GaussianPrior(), tol=1e-6).fit(X[:, :5], Y)
    np.testing.assert_allclose(model.coef_[:, :5], alone.coef_, atol=1e-4)
    assert not np.any(model.coef_[:, 5:])
    with pytest.raises(ValueError, match="models x terms"):
        model.fit(X, Y, feature_mask=feature_mask[:2])


def test_warm_start_takes_fewer_rounds():
    X, Y, _ = documents()
    model = SparseBayesClassifier(warm_start=True).fit(X, Y)
    first = model.coef_
    again = model.fit(X, Y)
    assert again.n_iter_ == 1
    np.testing.assert_allclose(again.coef_, first, atol=1e-12)


def test_categories_without_documents_are_never_assigned():
    X, Y, _ = documents()
    Y[:, 1] = 0
    model = SparseBayesClassifier().fit(X, Y)
    assert not model.predict(X)[:, 1].any()
    assert model.predict_proba(X)[:, 1].max() < 1e-6


def test_not_converged_is_said_and_nonsense_refused():
    X, Y, _ = documents()
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        SparseBayesClassifier(max_iter=1, tol=1e-9).fit(X, Y)
    for wrong, message in (
        ({"link": "cauchit"}, "no link"),
        ({"prior": "horseshoe"}, "no prior"),
        ({"intercept": "steep"}, "intercept must be"),
        ({"class_weight": "heavy"}, "class_weight must be"),
        ({"solver": "magic"}, "no solver"),
    ):
        with pytest.raises(ValueError, match=message):
            SparseBayesClassifier(**wrong).fit(X, Y)


@pytest.mark.parametrize("name", ["logistic-laplace", "probit-jeffreys"])
def test_registered_learners_take_parameters(name):
    assert make_learner(name, tol=0.1).tol == 0.1
