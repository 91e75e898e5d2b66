import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import LinearSVC

from bayesift.errors import DataError
from bayesift.models import (
    GaussianPrior,
    HybridClassifier,
    NaiveBayesClassifier,
    NBSVMClassifier,
    RocchioClassifier,
    SparseBayesClassifier,
    SupportVectorClassifier,
)
from bayesift.models.hyperplanes.hybrid import heaviest
from bayesift.models.hyperplanes.plots import alpha_figure, kept_figure


def documents(seed=0, n_documents=200, n_terms=30):
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 2, n_documents)
    rates = np.where(y[:, None] == 1, np.linspace(0.1, 1.0, n_terms), np.linspace(1.0, 0.1, n_terms))
    return generator.poisson(rates).astype(float), y


def dense(weights):
    return weights.toarray() if sparse.issparse(weights) else weights


def test_support_vectors_are_scikit_learns():
    X, y = documents()
    ours = SupportVectorClassifier(C=0.5, tol=1e-8).fit(X, y)
    peer = LinearSVC(C=0.5, dual=False, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(dense(ours.coef_), peer.coef_, rtol=1e-6)
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X), rtol=1e-6)


def test_a_category_of_nothing_or_of_everything_has_no_hyperplane():
    X, _ = documents()
    Y = np.zeros((len(X), 3), dtype=int)
    Y[:, 1], Y[:5, 2] = 1, 1
    predicted = SupportVectorClassifier().fit(X, Y).predict(X)
    assert not predicted[:, 0].any()
    assert predicted[:, 1].all()


def test_balanced_classes_count_the_same():
    X, y = documents()
    y = np.where(np.cumsum(y) <= 10, y, 0)
    ours = SupportVectorClassifier(class_weight="balanced", tol=1e-8).fit(X, y)
    peer = LinearSVC(class_weight="balanced", dual=False, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X), rtol=1e-5, atol=1e-8)


def test_rocchio_by_hand():
    X = np.array([[3.0, 0.0, 4.0], [0.0, 2.0, 0.0], [1.0, 0.0, 0.0]])
    model = RocchioClassifier(positive=16, negative=4).fit(X, np.array([[1, 0], [0, 1], [0, 1]]))
    units = X / np.linalg.norm(X, axis=1, keepdims=True)
    first = np.maximum(16 * units[0] - 4 * units[1:].mean(axis=0), 0)
    second = np.maximum(16 * units[1:].mean(axis=0) - 4 * units[0], 0)
    expected = np.stack([first / np.linalg.norm(first), second / np.linalg.norm(second)])
    np.testing.assert_allclose(dense(model.coef_), expected)


def test_nbsvm_is_a_machine_on_scaled_features():
    X, y = documents()
    X = (X > 0).astype(float)
    positive, negative = 1 + X[y == 1].sum(axis=0), 1 + X[y == 0].sum(axis=0)
    ratios = np.log(positive / positive.sum()) - np.log(negative / negative.sum())
    machine = LinearSVC(C=1.0, dual=False, tol=1e-8).fit(X * ratios, y)
    mixed = 0.75 * np.abs(machine.coef_[0]).mean() + 0.25 * machine.coef_[0]
    ours = NBSVMClassifier(tol=1e-8).fit(X, y)
    np.testing.assert_allclose(dense(ours.coef_)[0], ratios * mixed, rtol=1e-5)
    np.testing.assert_allclose(ours.intercept_, machine.intercept_, rtol=1e-5)


def test_hybrid_by_hand():
    X, y = documents()
    bayes = NaiveBayesClassifier().fit(X, y).log_odds_coef_[0]
    machine = LinearSVC(dual=False, tol=1e-6).fit(X, y).coef_[0]
    parts = []
    for weights in (bayes, machine):
        cut = np.median(np.abs(weights))
        kept = np.where(np.abs(weights) > cut, weights, 0.0)
        parts.append(kept / np.abs(kept).sum())
    model = HybridClassifier(alpha=0.3, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(dense(model.coef_)[0], 0.7 * parts[0] + 0.3 * parts[1], rtol=1e-4, atol=1e-8)
    assert model.intercept_.tolist() == [0.0]


def test_hybrid_keeps_the_bias_on_request():
    X, y = documents()
    model = HybridClassifier(alpha=1.0, keep=1.0, bias=True, tol=1e-8).fit(X, y)
    machine = LinearSVC(dual=False, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(model.intercept_, machine.intercept_ / np.abs(machine.coef_).sum(), rtol=1e-4)
    assert np.array_equal(model.predict(X), machine.predict(X))


@pytest.mark.parametrize("validation", [5, 0.25])
def test_alpha_is_the_best_on_documents_held_out(validation):
    X, y = documents(n_documents=120)
    model = HybridClassifier(validation=validation).fit(X, y)
    best = model.validation_scores_.max()
    assert model.validation_scores_[np.searchsorted(model.alphas_, model.alpha_)] == best
    again = HybridClassifier(validation=validation).fit(X, y)
    assert again.alpha_ == model.alpha_
    np.testing.assert_array_equal(dense(again.coef_), dense(model.coef_))


def test_several_classes_and_indicators():
    generator = np.random.default_rng(3)
    y = generator.integers(0, 3, 150)
    X = generator.poisson(0.2 + 2.0 * (np.arange(9) // 3 == y[:, None])).astype(float)
    assert np.mean(HybridClassifier().fit(X, y).predict(X) == y) > 0.9
    Y = (y[:, None] == np.arange(3)).astype(int)
    model = HybridClassifier(validation=0.3, bias=True).fit(X, Y)
    assert np.mean(np.argmax(model.decision_function(X), axis=1) == y) > 0.9


def test_any_two_linear_models_can_be_mixed():
    X, y = documents()
    ridge = SparseBayesClassifier(prior=GaussianPrior(variance=1.0))
    model = HybridClassifier(first=ridge, second=LinearSVC(dual=False), alpha=0.5, keep=1.0).fit(X, y)
    assert np.mean(model.predict(X) == y) > 0.9
    with pytest.raises(DataError, match="of your own"):
        model.get_state()


@pytest.mark.parametrize(("keep", "kept"), [(0.5, [False, True, True, False]), (0.01, [False, True, False, False])])
def test_heaviest_features_stay(keep, kept):
    assert (heaviest(np.array([[1.0, -3.0, 2.0, 0.5]]), keep)[0] != 0).tolist() == kept


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"alpha": 1.5}, "alpha"), ({"keep": 0.0}, "keep"), ({"validation": 1.0}, "validation")],
)
def test_bad_settings_are_refused(parameters, message):
    X, y = documents(n_documents=20)
    with pytest.raises(ValueError, match=message):
        HybridClassifier(**parameters).fit(X, y)


def test_contributions_add_up_to_the_score():
    X, y = documents()
    labels = np.array(["crude", "grain"])[y]
    model = SupportVectorClassifier().fit(X, labels)
    for name, sign in (("grain", 1.0), ("crude", -1.0)):
        terms, intercept = model.contributions(X, name)
        np.testing.assert_allclose(terms.sum(axis=1) + intercept, sign * model.decision_function(X))
    with pytest.raises(ValueError, match="no category"):
        model.contributions(X, "corn")


@pytest.mark.parametrize(
    "damage",
    [
        lambda parameters, arrays: parameters["settings"].update(unknown=1),
        lambda parameters, arrays: parameters["settings"].update(learned_alpha="much"),
        lambda parameters, arrays: parameters.update(multilabel=None),
        lambda parameters, arrays: parameters["classes"].update(labels=["b", "a"], dtype="<U1"),
        lambda parameters, arrays: arrays.update(intercepts=np.array([np.nan])),
        lambda parameters, arrays: arrays.pop("intercepts"),
    ],
)
def test_damaged_files_are_refused(damage):
    X, y = documents()
    parameters, arrays = HybridClassifier(alpha=0.2).fit(X, y).get_state()
    parameters = json.loads(json.dumps(parameters))
    damage(parameters, arrays)
    with pytest.raises(DataError):
        HybridClassifier.from_state(parameters, arrays)


def test_pictures():
    assert alpha_figure(np.linspace(0, 1, 3), np.array([0.9, 0.95, 0.8])).axes[0].get_legend() is not None
    assert len(kept_figure(np.array([0.5, 1.0]), {"SVM": np.ones(2), "NBC": np.ones(2)}).axes[0].lines) == 2
