import json
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from bayesift.errors import DataError
from bayesift.models.baselines import (
    HybridClassifier,
    LinearSVM,
    NBSVMClassifier,
    RocchioClassifier,
    svm,
)
from bayesift.models.baselines.hybrid import _likeliest, heaviest
from bayesift.models.linear import GaussianPrior, SparseBayesClassifier
from bayesift.models.naive_bayes import Laplace, NaiveBayesClassifier


def documents(seed=0, n_documents=200, n_terms=30):
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 2, n_documents)
    rates = np.where(
        y[:, None] == 1, np.linspace(0.1, 1.0, n_terms), np.linspace(1.0, 0.1, n_terms)
    )
    return generator.poisson(rates).astype(float), y


def dense(weights):
    return weights.toarray() if sparse.issparse(weights) else weights


def test_support_vectors_are_scikit_learns():
    X, y = documents()
    ours = LinearSVM(C=0.5, tol=1e-8).fit(X, y)
    peer = LinearSVC(C=0.5, dual=False, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(dense(ours.coef_), peer.coef_, rtol=1e-6)
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X), rtol=1e-6)


def test_support_vectors_by_blocks_are_scikit_learns(monkeypatch):
    monkeypatch.setattr(svm, "_LEAST_BLOCK_WORK", 0)
    X, _ = documents()
    Y = np.column_stack([X[:, :5] > 0.5, np.zeros(len(X)), np.ones(len(X))]).astype(int)
    weights = np.random.default_rng(3).integers(0, 3, len(X)).astype(float)
    mask = np.random.default_rng(4).random((7, X.shape[1])) < 0.7
    for settings, given in (
        ({}, {}),
        ({"class_weight": "balanced", "C": "scale"}, {"feature_mask": mask}),
    ):
        ours = LinearSVM(tol=1e-7, **settings).fit(X, Y, weights, **given)
        with monkeypatch.context() as patch:
            patch.setattr(svm, "_LEAST_BLOCK_WORK", np.inf)
            peer = LinearSVM(dual=False, tol=1e-9, **settings).fit(X, Y, weights, **given)
        np.testing.assert_allclose(dense(ours.coef_), dense(peer.coef_), atol=1e-5)
        np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=1e-5)


def test_support_vectors_by_blocks_say_when_they_do_not_converge(monkeypatch):
    monkeypatch.setattr(svm, "_LEAST_BLOCK_WORK", 0)
    monkeypatch.setitem(svm._MAX_ITER, "squared_hinge", 1)
    with pytest.warns(ConvergenceWarning, match="1 machines did not converge"):
        LinearSVM(tol=1e-9).fit(*documents())


def test_hinge_loss_with_scaled_cost_is_scikit_learns():
    X, _ = documents()
    Y = (X[:, :3] > 0.5).astype(int)
    ours = LinearSVM(loss="hinge", C="scale").fit(X, Y).decision_function(X)
    cost = 1 / np.mean((X**2).sum(axis=1))
    for c in range(3):
        peer = LinearSVC(loss="hinge", C=cost, random_state=0, max_iter=100_000).fit(
            sparse.csr_array(X), Y[:, c]
        )
        np.testing.assert_allclose(ours[:, c], peer.decision_function(X), atol=5e-3)


@pytest.mark.parametrize("settings", [{"C": 2.0}, {"C": "scale", "loss": "hinge"}])
def test_feature_mask_limits_the_terms_of_each_hyperplane(settings):
    X, _ = documents()
    Y = (X[:, :3] > 0.5).astype(int)
    feature_mask = np.random.default_rng(1).random((3, X.shape[1])) < 0.5
    scores = LinearSVM(**settings).fit(X, Y, feature_mask=feature_mask).decision_function(X)
    for c in range(3):
        alone = LinearSVM(**settings).fit(X[:, feature_mask[c]], Y)
        np.testing.assert_allclose(
            scores[:, c], alone.decision_function(X[:, feature_mask[c]])[:, c], atol=1e-9
        )


@pytest.mark.parametrize("wrong", [{"loss": "log"}, {"C": 0.0}, {"C": "auto"}])
def test_wrong_parameters_of_a_linear_svm_are_refused(wrong):
    X, y = documents()
    with pytest.raises(ValueError, match="must be"):
        LinearSVM(**wrong).fit(X, y)


@pytest.mark.parametrize("model", [LinearSVM(), RocchioClassifier()], ids=str)
def test_weights_that_are_mostly_0_are_never_dense(model):
    generator = np.random.default_rng(0)
    rows, n_terms, n_categories = np.repeat(np.arange(400), 5), 40_000, 200
    X = sparse.csr_array(
        (np.ones(2000), (rows, generator.integers(0, n_terms, 2000))), shape=(400, n_terms)
    )
    Y = sparse.csr_array(
        (np.ones(400, dtype=int), (np.arange(400), np.arange(400) % n_categories))
    )
    tracemalloc.start()
    model.fit(X, Y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sparse.issparse(model.coef_)
    assert peak < 0.9 * 8 * n_terms * n_categories


def test_a_category_of_nothing_or_of_everything_has_no_hyperplane():
    X, _ = documents()
    Y = np.zeros((len(X), 3), dtype=int)
    Y[:, 1], Y[:5, 2] = 1, 1
    predicted = LinearSVM().fit(X, Y).predict(X)
    assert not predicted[:, 0].any()
    assert predicted[:, 1].all()


def test_balanced_classes_count_the_same():
    X, y = documents()
    y = np.where(np.cumsum(y) <= 10, y, 0)
    ours = LinearSVM(class_weight="balanced", tol=1e-8).fit(X, y)
    peer = LinearSVC(class_weight="balanced", dual=False, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(
        ours.decision_function(X), peer.decision_function(X), rtol=1e-5, atol=1e-8
    )


def test_rocchio_by_hand():
    X = np.array([[3.0, 0.0, 4.0], [0.0, 2.0, 0.0], [1.0, 0.0, 0.0]])
    model = RocchioClassifier(positive=16, negative=4).fit(
        X, np.array([[1, 0], [0, 1], [0, 1]])
    )
    units = X / np.linalg.norm(X, axis=1, keepdims=True)
    first = np.maximum(16 * units[0] - 4 * units[1:].mean(axis=0), 0)
    second = np.maximum(16 * units[1:].mean(axis=0) - 4 * units[0], 0)
    expected = np.stack([first / np.linalg.norm(first), second / np.linalg.norm(second)])
    np.testing.assert_allclose(dense(model.coef_), expected)


def test_nbsvm_by_hand():
    X, y = documents()
    X = np.sign(X)
    positive, negative = X[y == 1].sum(axis=0), X[y == 0].sum(axis=0)
    alpha = (
        2 * positive.sum() / X.sum(),
        2 * negative.sum() / X.sum(),
    )  # shared in proportion to the counts
    positive, negative = positive + alpha[0], negative + alpha[1]
    ratios = np.log(positive / positive.sum()) - np.log(negative / negative.sum())
    machine = LinearSVC(C=0.1, dual=False, tol=1e-8).fit(X * ratios, y)
    mean = np.abs(machine.coef_[0]).mean()
    ours = NBSVMClassifier(tol=1e-8).fit(X, y)
    np.testing.assert_allclose(
        dense(ours.coef_)[0], ratios * (0.75 * mean + 0.25 * machine.coef_[0]), rtol=1e-5
    )
    prior = np.log((y.sum() + 0.5) / (len(y) - y.sum() + 0.5))
    np.testing.assert_allclose(
        ours.intercept_, 0.75 * mean * prior + 0.25 * machine.intercept_, rtol=1e-5
    )


def test_nbsvm_without_weights_of_the_machine_decides_as_naive_bayes():
    X, y = documents()
    X = np.sign(X)
    bayes = NaiveBayesClassifier(smoothing=Laplace(1e-6)).fit(X, y)
    ours = NBSVMClassifier(alpha=1e-6, beta=0.0).fit(X, y)
    assert np.mean(ours.predict(X) == bayes.predict(X)) > 0.995


def many_classes(seed=0, n_classes=40, n_terms=1200):
    """Documents of few words and forty classes, the largest thirty times the smallest."""
    generator = np.random.default_rng(seed)
    background = 1.0 / np.arange(1, n_terms + 1)
    topics = np.array(
        [
            0.7 * background / background.sum()
            + 0.3 * generator.dirichlet(np.full(n_terms, 0.01))
            for _ in range(n_classes)
        ]
    )
    sizes = np.geomspace(6, 180, n_classes).astype(int)
    y = np.repeat(np.arange(n_classes), 2 * sizes)
    X = np.array([np.sign(generator.multinomial(12, topics[c])) for c in y], dtype=float)
    train = np.concatenate([np.arange(2 * n) < n for n in sizes])
    return sparse.csr_array(X[train]), y[train], sparse.csr_array(X[~train]), y[~train]


def test_nbsvm_keeps_up_with_the_machine_on_many_classes():
    X, y, X_new, y_new = many_classes()
    machine = LinearSVM(C=0.1).fit(X, y).score(X_new, y_new)
    assert NBSVMClassifier().fit(X, y).score(X_new, y_new) > machine - 0.01


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
    np.testing.assert_allclose(
        dense(model.coef_)[0], 0.7 * parts[0] + 0.3 * parts[1], rtol=1e-4, atol=1e-8
    )
    assert model.intercept_.tolist() == [0.0]


def test_hybrid_keeps_the_bias_on_request():
    X, y = documents()
    model = HybridClassifier(alpha=1.0, keep=1.0, bias=True, tol=1e-8).fit(X, y)
    machine = LinearSVC(dual=False, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(
        model.intercept_, machine.intercept_ / np.abs(machine.coef_).sum(), rtol=1e-4
    )
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
    model = HybridClassifier(
        first=ridge, second=LinearSVC(dual=False), alpha=0.5, keep=1.0
    ).fit(X, y)
    assert np.mean(model.predict(X) == y) > 0.9
    with pytest.raises(DataError, match="a LinearSVC cannot be saved"):
        model.get_state()


@pytest.mark.parametrize(
    ("keep", "kept"), [(0.5, [False, True, True, False]), (0.01, [False, True, False, False])]
)
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
    model = LinearSVM().fit(X, labels)
    for name, sign in (("grain", 1.0), ("crude", -1.0)):
        terms, intercept = model.contributions(X, name)
        np.testing.assert_allclose(
            terms.sum(axis=1) + intercept, sign * model.decision_function(X)
        )
    with pytest.raises(ValueError, match="no category"):
        model.contributions(X, "corn")


@pytest.mark.parametrize(
    "damage",
    [
        lambda parameters, arrays: parameters.update(unknown=1),
        lambda parameters, arrays: parameters.update(alpha_="much"),
        lambda parameters, arrays: parameters.update(multilabel_=None),
        lambda parameters, arrays: parameters["classes_"].update(
            values=["b", "a"], dtype="<U1"
        ),
        lambda parameters, arrays: arrays.update(intercept_=np.array([np.nan])),
        lambda parameters, arrays: arrays.pop("intercept_"),
    ],
)
def test_damaged_files_are_refused(damage):
    X, y = documents()
    parameters, arrays = HybridClassifier(alpha=0.2).fit(X, y).get_state()
    parameters = json.loads(json.dumps(parameters))
    damage(parameters, arrays)
    with pytest.raises(DataError):
        HybridClassifier.from_state(parameters, arrays)


def test_weights_of_numbered_classes_keep_their_keys():
    X, y = documents()
    model = LinearSVM(class_weight={0: 2.0, 1: 1.0}).fit(X, y)
    parameters, arrays = model.get_state()
    restored = LinearSVM.from_state(json.loads(json.dumps(parameters)), arrays)
    assert restored.class_weight == {0: 2.0, 1: 1.0}
    np.testing.assert_array_equal(restored.fit(X, y).coef_, model.coef_)


def test_the_hybrid_takes_the_hinge_loss_and_either_intercept():
    X, y = documents()
    svm = LinearSVC(C=0.7, loss="hinge", tol=1e-8, max_iter=1_000_000, random_state=0).fit(X, y)
    scale = np.abs(svm.coef_).sum()
    settings = {"alpha": 1.0, "keep": 1.0, "C": 0.7, "loss": "hinge", "tol": 1e-8}
    with_bias, without = (
        HybridClassifier(bias=bias, **settings).fit(X, y) for bias in ("second", "first")
    )
    np.testing.assert_allclose(
        with_bias.decision_function(X), svm.decision_function(X) / scale, atol=1e-4
    )
    assert without.intercept_[0] == 0.0
    prior = HybridClassifier(bias="first", **{**settings, "alpha": 0.0}).fit(X, y)
    naive = NaiveBayesClassifier().fit(X, y)
    expected = naive.log_odds_intercept_ / np.abs(naive.log_odds_coef_).sum()
    np.testing.assert_allclose(prior.intercept_, expected, rtol=1e-9)


def test_the_likeliest_share_is_that_of_logistic_regression_on_both_scores():
    """With positive weights the line through mixed scores is a logistic regression on both."""
    generator = np.random.default_rng(0)
    truth = generator.random(2000) < 0.4
    scores = np.stack(
        [truth + generator.normal(size=2000), 2 * truth + 3 * generator.normal(size=2000)]
    )
    joint = LogisticRegression(C=1e6).fit(scores.T, truth).coef_[0]
    alphas, likelihoods = _likeliest(truth[:, np.newaxis], scores[:, :, np.newaxis])
    assert alphas[np.argmax(likelihoods)] == pytest.approx(joint[1] / joint.sum(), abs=2e-3)


def test_a_share_chosen_by_likelihood():
    X, y = documents()
    model = HybridClassifier(alpha="likelihood").fit(X, y)
    assert 0 <= model.alpha_ <= 1
    assert np.max(model.validation_scores_) >= max(
        model.validation_scores_[0], model.validation_scores_[-1]
    )
    assert np.mean(model.predict(X) == y) > 0.9
    for parameters in ({"alpha": "best"}, {"bias": "third"}):
        with pytest.raises(ValueError, match=next(iter(parameters))):
            HybridClassifier(**parameters).fit(X, y)
