"""Members of every kind that speak as one, and categories that listen to one another."""

import json
from itertools import product

import numpy as np
import pytest
from scipy import optimize, sparse
from scipy.special import expit, logit
from sklearn.svm import LinearSVC

from bayesift.errors import DataError
from bayesift.models import JelinekMercer, JuryClassifier, NaiveBayesClassifier, NeighborsClassifier, OnlinePerceptron
from bayesift.models.committee.consulting import Consultation, consultation_of, couplings_of
from bayesift.models.committee.hearing import Hearing
from bayesift.models.committee.jury import JURORS
from bayesift.models.committee.stacking import shares_of


def documents(n=150, n_terms=30, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.poisson(0.5, size=(n, n_terms)).astype(float)
    pull = X[:, :3] - 0.5 + generator.normal(size=(n, 3))
    return X, pull.argmax(axis=1), (pull > 0.3).astype(int)


def family(n=600, seed=0):
    """Scores of a parent and its two children, which exclude each other; the labels keep to that, the scores do not."""
    generator = np.random.default_rng(seed)
    child = generator.integers(0, 4, n)
    Y = np.column_stack([child < 2, child == 0, child == 1])
    return 1.5 * (2 * Y - 1) + 1.5 * generator.normal(size=Y.shape), Y


def heard(scores, Y):
    return Hearing(scores[np.newaxis], Y, np.ones(len(Y)))


def test_scores_are_the_shares_of_the_members_scores():
    X, _, Y = documents()
    y = Y[:, 0]
    members = ("margin", "neighbors", "perceptron", "naive-bayes")
    model = JuryClassifier(members=members, n_folds=3, k=7).fit(X, y)
    order = np.random.default_rng(0).permutation(len(X))
    machine = LinearSVC(dual=False, max_iter=20_000).fit(X, y)
    odds = logit(NeighborsClassifier(k=7).fit(X, y).predict_proba(X)[:, 1])
    perceptron = OnlinePerceptron(covariance="diagonal", prior_variance=4.0).fit(X[order], y[order])
    bayes = NaiveBayesClassifier(smoothing=JelinekMercer(0.5)).fit(X, sparse.csr_array(Y[:, :1]))
    prior = np.log((y.sum() + 0.5) / (len(y) - y.sum() + 0.5))
    said = [
        machine.decision_function(X),
        odds,
        perceptron.predict_fields(X)[0][:, 0],
        (X @ bayes.log_odds_coef_.T)[:, 0] + prior,
    ]
    np.testing.assert_allclose(model.decision_function(X), model.shares_ @ said + model.offset_, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(model.decision_function(X)))


def test_a_member_that_only_knows_the_noise_of_another_is_discounted():
    generator = np.random.default_rng(0)
    Y = generator.integers(0, 2, size=(400, 2))
    noise = 2.0 * generator.normal(size=Y.shape)
    scores = np.stack([2.0 * Y - 1.0 + noise, noise])
    free, _ = shares_of(scores, Y, np.ones(len(Y)), exclusive=False, signed=True)
    kept, _ = shares_of(scores, Y, np.ones(len(Y)), exclusive=False)
    assert free[0] > 1.0
    assert free[1] < -1.0
    assert kept[1] == 0.0


def test_couplings_are_log_odds_ratios():
    _, Y = family(60)
    found = couplings_of(sparse.csr_array(Y.astype(np.int8)))
    for c, k in product(range(3), repeat=2):
        table = (
            np.array([[np.sum((Y[:, c] == a) & (Y[:, k] == b)) for b in (True, False)] for a in (True, False)]) + 0.5
        )
        expected = 0.0 if c == k else np.log(table[0, 0] * table[1, 1] / (table[0, 1] * table[1, 0]))
        assert found[c, k] == pytest.approx(expected)


def test_the_second_round_is_its_formula():
    generator = np.random.default_rng(0)
    scores, couplings, rates = generator.normal(size=(5, 3)), generator.normal(size=(3, 3)), generator.random(3)
    said = Consultation(couplings, rates, np.array([0.9, -0.3, 0.2]), 0.1)(scores)
    for d, c in product(range(5), range(3)):
        p = 1 / (1 + np.exp(-scores[d]))
        elsewhere = np.log(0.01 + sum(p[k] for k in range(3) if k != c))
        pull = sum(couplings[k, c] * (p[k] - rates[k]) for k in range(3))
        assert said[d, c] == pytest.approx(0.9 * scores[d, c] - 0.3 * elsewhere + 0.2 * pull + 0.1)


def test_the_second_round_is_where_the_posterior_is_highest():
    scores, Y = family()
    members = sparse.csr_array(Y.astype(float))
    found = consultation_of(heard(scores, Y), scores, members)

    def negative_log_posterior(point):
        z = Consultation(found.couplings, found.rates, point[:3], point[3])(scores)
        return np.logaddexp(0, np.where(Y, -z, z)).sum() + np.sum((point - [1, 0, 0, 0]) ** 2) / 2

    here = np.append(found.shares, found.offset)
    other = optimize.minimize(negative_log_posterior, [1.0, 0.0, 0.0, 0.0], method="Nelder-Mead", tol=1e-10)
    assert negative_log_posterior(here) <= other.fun + 1e-4


def test_categories_that_listen_to_one_another_foretell_more():
    (scores, Y), (unseen, truth) = family(seed=1), family(seed=2)
    second = consultation_of(heard(scores, Y), scores, sparse.csr_array(Y.astype(float)))

    def loss(z):
        return np.logaddexp(0, np.where(truth, -z, z)).mean()

    straightened, offset = shares_of(scores[np.newaxis], Y, np.ones(len(Y)), exclusive=False, signed=True)
    assert loss(second(unseen)) < 0.9 * loss(straightened[0] * unseen + offset)


@pytest.mark.parametrize("kind", ["two classes", "classes", "indicator", "one category"])
def test_probabilities_decisions_and_explanations_agree(kind):
    X, labels, indicator = documents()
    kinds = {
        "two classes": labels > 0,
        "classes": labels,
        "indicator": indicator,
        "one category": sparse.csr_array(indicator[:, :1]),
    }
    model = JuryClassifier(n_folds=2).fit(X, kinds[kind])
    P, scores = model.predict_proba(X), model.decision_function(X)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), P)
    if model.multilabel_:
        np.testing.assert_array_equal(model.predict(X), P > 0.5)
    else:
        np.testing.assert_allclose(P.sum(axis=1), 1.0)
        np.testing.assert_array_equal(model.predict(X), model.classes_[P.argmax(axis=1)])
    assert (model.consultation_ is not None) == (kind == "indicator")
    terms, rest = model.contributions(X, model.classes_[-1])
    np.testing.assert_allclose(terms.sum(axis=1) + rest, scores if scores.ndim == 1 else scores[:, -1])
    if kind == "classes":
        terms, rest = model.contributions(X, 1, against=2)
        np.testing.assert_allclose(terms.sum(axis=1) + rest, scores[:, 1] - scores[:, 2])


def test_neighbours_may_sit_alone():
    X, labels, _ = documents()
    model = JuryClassifier(members=("neighbors",), n_folds=2, k=9).fit(X, labels)
    alone = NeighborsClassifier(k=9).fit(X, np.eye(3, dtype=int)[labels])
    np.testing.assert_allclose(model.decision_function(X), model.shares_[0] * logit(alone.predict_proba(X)), atol=1e-10)


def test_progress_counts_every_fit():
    X, labels, _ = documents()
    told = []
    JuryClassifier(n_folds=2, progress=lambda done, total: told.append((done, total))).fit(X, labels)
    n_fits = 3 * len(JURORS)
    assert told == [(k, n_fits) for k in range(1, n_fits + 1)]


@pytest.mark.parametrize("members", [(), ("crowd",), ("margin", "margin")])
def test_bad_members_are_refused(members):
    X, labels, _ = documents()
    with pytest.raises(ValueError, match="members must be some of margin, neighbors"):
        JuryClassifier(members=members).fit(X, labels)


def damaged_states():
    """What breaks a state, by a name."""
    return {
        "shares": lambda parameters, arrays: parameters.update(shares=[1.0]),
        "not numbers": lambda parameters, arrays: parameters.update(shares=["1"] * len(JURORS)),
        "members": lambda parameters, arrays: parameters["settings"].update(members=["crowd"]),
        "no neighbours": lambda parameters, arrays: parameters.pop("neighbors"),
        "other neighbours": lambda parameters, arrays: arrays.update(
            {f"neighbors.{name}": array for name, array in fitted(n_terms=9).get_state()[1].items() if "." not in name}
        ),
        "couplings": lambda parameters, arrays: arrays.update(couplings=np.zeros((2, 2))),
        "no couplings": lambda parameters, arrays: arrays.pop("couplings"),
        "infinite rates": lambda parameters, arrays: arrays.update(rates=np.full(3, np.inf)),
    }


def fitted(n_terms=30):
    X, _, Y = documents(n_terms=n_terms)
    return JuryClassifier(n_folds=2).fit(X, Y)


@pytest.mark.parametrize("damage", damaged_states())
def test_a_damaged_state_is_refused(damage):
    parameters, arrays = fitted().get_state()
    parameters = json.loads(json.dumps(parameters))
    damaged_states()[damage](parameters, arrays)
    with pytest.raises(DataError):
        JuryClassifier.from_state(parameters, arrays)
