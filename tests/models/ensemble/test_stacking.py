"""Stacked classifiers: members, weights, label coupling, and the presets."""

import json
import tracemalloc
from itertools import product

import numpy as np
import pytest
from scipy import optimize, sparse
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from bayesift import TermVectorizer
from bayesift.errors import DataError
from bayesift.features import Design
from bayesift.models.baselines import NeighborsClassifier
from bayesift.models.ensemble import (
    COMMITTEE,
    JURY,
    LabelCoupling,
    Member,
    NBLogisticMember,
    NeighborsMember,
    OnlineStackMember,
    StackedClassifier,
    SVMMember,
)
from bayesift.models.ensemble.calibration import label_couplings
from bayesift.models.ensemble.members import Hyperplanes, Sample, Settings
from bayesift.models.ensemble.stacking import (
    Candidate,
    CrossFitting,
    OutOfFold,
    stacking_weights,
)
from bayesift.models.linear import GaussianPrior, SparseBayesClassifier
from bayesift.models.naive_bayes import JelinekMercer, NaiveBayesClassifier
from bayesift.models.online import OnlinePerceptron, OnlineStackedClassifier


def words(X):
    return Design.of_words(sparse.csr_array(X))


def documents(n=120, n_terms=30, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.poisson(0.5, size=(n, n_terms)).astype(float)
    pull = X[:, :3] - 0.5 + generator.normal(size=(n, 3))
    return X, pull.argmax(axis=1), (pull > 0.3).astype(int)


def test_scores_of_a_committee_are_the_weighted_sum_of_its_members():
    X, _, Y = documents()
    model = StackedClassifier.committee(weights=(0.7, 0.0, 0.2), tol=1e-10).fit(X, Y)
    logistic = SparseBayesClassifier(prior=GaussianPrior(variance=30.0), tol=1e-10).fit(X, Y)
    bayes = NaiveBayesClassifier(smoothing=JelinekMercer(0.9)).fit(X, Y)
    odds = X @ bayes.log_odds_coef_.T + np.log(
        (Y.sum(axis=0) + 0.5) / (len(Y) - Y.sum(axis=0) + 0.5)
    )
    expected = 0.7 * logistic.decision_function(X) + 0.2 * odds
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.predict_proba(X), expit(expected), rtol=1e-6)


def test_a_prior_scaled_by_naive_bayes_ratios_is_a_regression_on_scaled_features():
    X, _, Y = documents()
    positive, alpha = Y[:, 0] == 1, 0.05
    counts = np.stack([X[positive].sum(axis=0), X[~positive].sum(axis=0)]) + alpha
    ratios = np.log(counts[0] / counts[0].sum()) - np.log(counts[1] / counts[1].sum())
    sample = Sample(words(X), sparse.csr_array(Y[:, :1]), np.ones(len(X)))
    member = NBLogisticMember(variance=2.0, alpha=alpha).fit(sample, Settings(1e-12, 0, None))
    scaled = X * np.where(np.abs(ratios) < 0.03, 0.03, ratios)
    peer = LogisticRegression(C=2.0, tol=1e-12, max_iter=10_000).fit(scaled, positive)
    np.testing.assert_allclose(
        member.scores_checked(sample.rows)[:, 0], peer.decision_function(scaled), atol=1e-5
    )


@pytest.mark.parametrize("exclusive", [False, True])
def test_weights_are_where_the_posterior_is_highest(exclusive):
    _, labels, indicator = documents()
    Y = np.eye(3)[labels] if exclusive else indicator
    generator = np.random.default_rng(1)
    noisy = [
        (2 * Y - 1) * strength + generator.normal(size=Y.shape) for strength in (1.0, 0.4, 0.0)
    ]
    scores, importance = np.stack([*noisy, -noisy[0]]), generator.uniform(0.5, 1.5, len(Y))

    def negative_log_posterior(point):
        z = np.einsum("m,mdc->dc", point[:4], scores) + point[4]
        p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True) if exclusive else expit(z)
        likelihoods = (
            (p**Y).prod(axis=1) if exclusive else (p**Y * (1 - p) ** (1 - Y)).prod(axis=1)
        )
        prior = np.sum((point[:4] - 0.25) ** 2) + point[4] ** 2
        return -importance @ np.log(likelihoods) + prior / 2

    weights, offset = stacking_weights(scores, Y, importance, exclusive=exclusive)
    found = negative_log_posterior(np.append(weights, offset))
    bounds = [(0, None)] * 4 + [(None, None)]
    other = optimize.minimize(
        negative_log_posterior, np.full(5, 0.5), bounds=bounds, method="Powell", tol=1e-10
    )
    assert found <= other.fun + 1e-6
    assert weights[0] > weights[1] > weights[2]
    assert weights[3] == 0.0


@pytest.mark.parametrize("exclusive", [False, True])
def test_the_number_of_blas_threads_changes_no_bit_of_the_weights(exclusive):
    generator = np.random.default_rng(0)
    labels = np.eye(6, dtype=int)[generator.integers(6, size=20_000)]
    scores, found = labels + generator.normal(size=(4, 20_000, 6)), []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            found.append(
                np.append(
                    *stacking_weights(scores, labels, np.ones(20_000), exclusive=exclusive)
                )
            )
    np.testing.assert_array_equal(*found)


def test_weights_are_fitted_to_documents_that_members_were_not_fitted_to():
    generator = np.random.default_rng(0)
    X = generator.poisson(0.1, size=(80, 400)).astype(
        float
    )  # noise, which every member can fit
    y = generator.integers(0, 2, 80)
    model = StackedClassifier.committee().fit(X, y)
    assert (
        np.abs(model.decision_function(X)).max()
        < np.abs(
            StackedClassifier.committee(weights=(1 / 3, 1 / 3, 1 / 3))
            .fit(X, y)
            .decision_function(X)
        ).max()
    )
    assert model.weights_.sum() < 0.5


@pytest.mark.parametrize("kind", ["two classes", "classes", "indicator"])
def test_probabilities_and_decisions_of_a_committee_agree(kind):
    X, labels, indicator = documents()
    y = {"two classes": labels > 0, "classes": labels, "indicator": indicator}[kind]
    model = StackedClassifier.committee(n_folds=3).fit(X, y)
    P = model.predict_proba(X)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), P)
    if kind == "indicator":
        np.testing.assert_array_equal(model.predict(X), P > 0.5)
    else:
        np.testing.assert_allclose(P.sum(axis=1), 1.0)
        np.testing.assert_array_equal(model.predict(X), model.classes_[P.argmax(axis=1)])


def test_progress_of_a_committee_counts_every_fit():
    X, labels, _ = documents()
    reported = []
    StackedClassifier.committee(
        n_folds=2, progress=lambda done, total: reported.append((done, total))
    ).fit(X, labels)
    assert reported == [(k, 9) for k in range(1, 10)]


@pytest.mark.parametrize("weights", [(1.0,), (1.0, -1.0, 0.0)])
def test_bad_weights_are_refused(weights):
    X, labels, _ = documents()
    with pytest.raises(ValueError, match="weights must be 3 numbers of at least 0"):
        StackedClassifier.committee(weights=weights).fit(X, labels)


def family(n=600, seed=0):
    """Scores of a parent and its two children, which exclude each other.

    The labels keep to that, the scores do not.
    """
    generator = np.random.default_rng(seed)
    child = generator.integers(0, 4, n)
    Y = np.column_stack([child < 2, child == 0, child == 1])
    return 1.5 * (2 * Y - 1) + 1.5 * generator.normal(size=Y.shape), Y


def coupling_of(scores, Y):
    sample = Sample(
        words(sparse.csr_array((len(Y), 1))), sparse.csr_array(Y.astype(float)), np.ones(len(Y))
    )
    return LabelCoupling.fit(
        scores, OutOfFold(scores[np.newaxis], np.arange(len(Y)), Y, sample.weights), sample
    )


def test_scores_of_a_jury_are_the_weighted_sum_of_its_members():
    X, _, Y = documents(150)
    y = Y[:, 0]
    members = (SVMMember(), NeighborsMember(7), *JURY[2:4])
    model = StackedClassifier(members=members, n_folds=3).fit(X, y)
    order = np.random.default_rng(0).permutation(len(X))
    machine = LinearSVC(dual=False, max_iter=20_000).fit(X, y)
    odds = logit(NeighborsClassifier(n_neighbors=7).fit(X, y).predict_proba(X)[:, 1])
    perceptron = OnlinePerceptron(covariance="diagonal", prior_variance=4.0, shuffle=False).fit(
        X[order], y[order]
    )
    bayes = NaiveBayesClassifier(smoothing=JelinekMercer(0.5)).fit(
        X, sparse.csr_array(Y[:, :1])
    )
    prior = np.log((y.sum() + 0.5) / (len(y) - y.sum() + 0.5))
    scores = [
        machine.decision_function(X),
        odds,
        perceptron.predict_fields(X)[0][:, 0],
        (X @ bayes.log_odds_coef_.T)[:, 0] + prior,
    ]
    np.testing.assert_allclose(
        model.decision_function(X),
        model.weights_ @ scores + model.offset_,
        rtol=1e-3,
        atol=1e-3,
    )
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(model.decision_function(X)))


def test_a_member_that_shares_only_the_noise_of_another_has_a_negative_weight():
    generator = np.random.default_rng(0)
    Y = generator.integers(0, 2, size=(400, 2))
    noise = 2.0 * generator.normal(size=Y.shape)
    scores = np.stack([2.0 * Y - 1.0 + noise, noise])
    free, _ = stacking_weights(scores, Y, np.ones(len(Y)), exclusive=False, signed=True)
    kept, _ = stacking_weights(scores, Y, np.ones(len(Y)), exclusive=False)
    assert free[0] > 1.0
    assert free[1] < -1.0
    assert kept[1] == 0.0


def test_couplings_are_log_odds_ratios():
    _, Y = family(60)
    found = label_couplings(sparse.csr_array(Y.astype(np.int8)), np.ones(len(Y)))
    for c, k in product(range(3), repeat=2):
        table = (
            np.array(
                [
                    [np.sum((Y[:, c] == a) & (Y[:, k] == b)) for b in (True, False)]
                    for a in (True, False)
                ]
            )
            + 0.5
        )
        expected = (
            0.0 if c == k else np.log(table[0, 0] * table[1, 1] / (table[0, 1] * table[1, 0]))
        )
        assert found[c, k] == pytest.approx(expected)


def test_label_coupling_is_its_formula():
    generator = np.random.default_rng(0)
    scores, couplings, rates = (
        generator.normal(size=(5, 3)),
        generator.normal(size=(3, 3)),
        generator.random(3),
    )
    coupled = LabelCoupling(couplings, rates, np.array([0.9, -0.3, 0.2]), 0.1)(scores)
    for d, c in product(range(5), range(3)):
        p = 1 / (1 + np.exp(-scores[d]))
        elsewhere = np.log(0.01 + sum(p[k] for k in range(3) if k != c))
        related = sum(couplings[k, c] * (p[k] - rates[k]) for k in range(3))
        assert coupled[d, c] == pytest.approx(
            0.9 * scores[d, c] - 0.3 * elsewhere + 0.2 * related + 0.1
        )


def test_without_couplings_scores_stay():
    coupling = LabelCoupling(np.zeros((2, 2)), np.full(2, 0.5), np.array([1.0, 0.0, 0.0]), 0.0)
    assert coupling([[3.0, -1.0]]).tolist() == [[3.0, -1.0]]


def test_label_coupling_is_where_the_posterior_is_highest():
    scores, Y = family()
    found = coupling_of(scores, Y)

    def negative_log_posterior(point):
        z = LabelCoupling(found.couplings, found.rates, point[:3], point[3])(scores)
        return (
            np.logaddexp(0, np.where(Y, -z, z)).sum() + np.sum((point - [1, 0, 0, 0]) ** 2) / 2
        )

    here = np.append(found.weights, found.offset)
    other = optimize.minimize(
        negative_log_posterior, [1.0, 0.0, 0.0, 0.0], method="Nelder-Mead", tol=1e-10
    )
    assert negative_log_posterior(here) <= other.fun + 1e-4


def test_label_coupling_lowers_the_loss_on_other_documents():
    (scores, Y), (unseen, truth) = family(seed=1), family(seed=2)
    coupling = coupling_of(scores, Y)

    def loss(z):
        return np.logaddexp(0, np.where(truth, -z, z)).mean()

    scaled, offset = stacking_weights(
        scores[np.newaxis], Y, np.ones(len(Y)), exclusive=False, signed=True
    )
    assert loss(coupling(unseen)) < 0.9 * loss(scaled[0] * unseen + offset)


@pytest.mark.parametrize("kind", ["two classes", "classes", "indicator", "one category"])
def test_probabilities_decisions_and_explanations_agree(kind):
    X, labels, indicator = documents(150)
    kinds = {
        "two classes": labels > 0,
        "classes": labels,
        "indicator": indicator,
        "one category": sparse.csr_array(indicator[:, :1]),
    }
    model = StackedClassifier.jury(n_folds=2).fit(X, kinds[kind])
    P, scores = model.predict_proba(X), model.decision_function(X)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), P)
    if model.multilabel_:
        np.testing.assert_array_equal(model.predict(X), P > 0.5)
    else:
        np.testing.assert_allclose(P.sum(axis=1), 1.0)
        np.testing.assert_array_equal(model.predict(X), model.classes_[P.argmax(axis=1)])
    assert (model.label_coupling_ is not None) == (kind == "indicator")
    terms, rest = model.contributions(X, model.classes_[-1])
    np.testing.assert_allclose(
        terms.sum(axis=1) + rest, scores if scores.ndim == 1 else scores[:, -1]
    )
    if kind == "classes":
        terms, rest = model.contributions(X, 1, against=2)
        np.testing.assert_allclose(terms.sum(axis=1) + rest, scores[:, 1] - scores[:, 2])


def test_neighbours_may_be_the_only_member():
    X, labels, _ = documents(150)
    model = StackedClassifier(members=(NeighborsMember(9),), n_folds=2).fit(X, labels)
    alone = NeighborsClassifier(n_neighbors=9).fit(X, np.eye(3, dtype=int)[labels])
    np.testing.assert_allclose(
        model.decision_function(X),
        model.weights_[0] * logit(alone.predict_proba(X)),
        atol=1e-10,
    )


def test_progress_of_a_jury_counts_every_fit():
    X, labels, _ = documents()
    reported = []
    StackedClassifier.jury(
        n_folds=2, progress=lambda done, total: reported.append((done, total))
    ).fit(X, labels)
    n_fits = 3 * len(JURY)
    assert reported == [(k, n_fits) for k in range(1, n_fits + 1)]


@pytest.mark.parametrize("binary", [False, True])
def test_an_online_stack_may_be_a_member(binary):
    X, labels, Y = documents(150)
    y = (labels > 0).astype(int) if binary else Y
    members = (OnlineStackMember(), NBLogisticMember())
    model = StackedClassifier(members=members, weights=(0.6, 0.3), tol=1e-8).fit(X, y)
    indicator = y[:, np.newaxis] if binary else y
    alone = OnlineStackedClassifier().fit(X, sparse.csr_array(indicator))
    sample = Sample(words(X), sparse.csr_array(indicator), np.ones(len(X)))
    linear = NBLogisticMember().fit(sample, Settings(1e-8, 0, None))
    expected = 0.6 * alone.predict_log_odds(X) + 0.3 * linear.scores_checked(sample.rows)
    np.testing.assert_allclose(
        model.decision_function(X), expected[:, 0] if binary else expected, rtol=1e-9
    )
    state, arrays = model.get_state()
    restored = StackedClassifier.from_state(json.loads(json.dumps(state)), arrays)
    np.testing.assert_array_equal(restored.predict_proba(X), model.predict_proba(X))
    terms, rest = model.contributions(X, model.classes_[-1])
    np.testing.assert_allclose(terms.sum(axis=1) + rest, expected[:, -1], rtol=1e-9)
    with pytest.raises(DataError, match="online stack is not that of its members"):
        StackedClassifier.from_state({**state, "online_stack_": None}, arrays)


def test_weights_of_an_online_stack_are_fitted_to_held_out_documents():
    X, labels, _ = documents(300)
    model = StackedClassifier(members=(OnlineStackMember(), SVMMember()), n_folds=3).fit(
        X, labels
    )
    assert model.weights_[0] > 0
    assert model.online_stack_.n_seen_ == 300
    assert np.mean(model.predict(X) == labels) > 0.6


@pytest.mark.parametrize(
    "members",
    [
        (),
        ("crowd",),
        (NeighborsMember(3), NeighborsMember(5)),
        (OnlineStackMember(), OnlineStackMember()),
    ],
)
def test_bad_members_are_refused(members):
    X, labels, _ = documents()
    with pytest.raises(
        ValueError, match="members must be models of an ensemble, at most one of neighbours"
    ):
        StackedClassifier(members=members).fit(X, labels)


@pytest.mark.parametrize("kind", ["labels", "indicator"])
def test_documents_of_weight_0_are_left_out(kind):
    X, labels, indicator = documents()
    y = labels if kind == "labels" else indicator
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(X)) * (np.arange(len(X)) % 3 > 0)
    kept = weights > 0
    whole = StackedClassifier.jury(n_folds=2).fit(X, y, sample_weight=weights)
    part = StackedClassifier.jury(n_folds=2).fit(X[kept], y[kept], sample_weight=weights[kept])
    np.testing.assert_array_equal(whole.decision_function(X), part.decision_function(X))


def test_label_couplings_count_weights():
    X, _, indicator = documents()
    times = np.random.default_rng(0).integers(1, 4, len(X))
    repeated = sparse.csr_array(np.repeat(indicator, times, axis=0))
    once, ones = sparse.csr_array(indicator), np.ones(times.sum())
    np.testing.assert_allclose(
        label_couplings(once, times.astype(float)), label_couplings(repeated, ones)
    )


def test_stacking_weights_of_a_jury_follow_sample_weights():
    X, labels, _ = documents()
    equal = StackedClassifier.jury(n_folds=2).fit(X, labels)
    same = StackedClassifier.jury(n_folds=2).fit(X, labels, sample_weight=np.ones(len(X)))
    other = StackedClassifier.jury(n_folds=2).fit(
        X, labels, sample_weight=np.where(labels == 0, 3.0, 1.0)
    )
    np.testing.assert_array_equal(same.decision_function(X), equal.decision_function(X))
    assert not np.allclose(other.weights_, equal.weights_)
    assert other.predict_proba(X)[:, 0].mean() > equal.predict_proba(X)[:, 0].mean()


def test_presets_are_members_with_settings():
    assert StackedClassifier.jury().get_params() == StackedClassifier().get_params()
    assert StackedClassifier.jury(C=2.0, n_neighbors=9).members == (
        SVMMember(2.0),
        NeighborsMember(9),
        *JURY[2:],
    )
    committee = StackedClassifier.committee(n_folds=3)
    assert committee.members == COMMITTEE
    assert (
        committee.signed,
        committee.scale_scores,
        committee.couple_labels,
        committee.n_folds,
    ) == (
        False,
        False,
        False,
        3,
    )


class Constant(Member):
    """Scores 1 for every document and category."""

    def fit(self, sample, settings):
        return Hyperplanes(
            np.zeros((sample.labels.shape[1], sample.rows.shape[1])),
            np.ones(sample.labels.shape[1]),
        )


def test_out_of_fold_scores_are_in_memory_once():
    generator = np.random.default_rng(0)
    labels = sparse.csr_array((generator.random((4000, 40)) < 0.1).astype(np.int8))
    sample = Sample(words(np.ones((4000, 2))), labels, np.ones(4000))
    tracemalloc.start()
    fitting = CrossFitting(
        [Candidate(Constant())] * 8, sample, Settings(1e-2, 0, None), n_folds=2, enough=4000
    )
    for place in range(8):
        fitting.score(place)
    held_out = fitting.held_out
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(held_out.scores, 1.0)
    assert peak < 1.6 * held_out.scores.nbytes


def damaged_states():
    """What breaks a state, by a name."""
    one = {"kind": "array", "dtype": "<f8", "values": [1.0]}
    return {
        "weights": lambda parameters, arrays: parameters.update(weights_=one),
        "not numbers": lambda parameters, arrays: parameters.update(weights_=["1"] * len(JURY)),
        "no weights": lambda parameters, arrays: parameters.update(weights_=None),
        "members": lambda parameters, arrays: parameters.update(members=["crowd"]),
        "no members": lambda parameters, arrays: parameters.update(members=[]),
        "no neighbours": lambda parameters, arrays: parameters.update(neighbors_=None),
        "unfitted neighbours": lambda parameters, arrays: parameters.update(
            neighbors_={"kind": "neighbors"}
        ),
        "other neighbours": lambda parameters, arrays: other_neighbors(parameters, arrays),
        "couplings": lambda parameters, arrays: arrays.update(
            {"label_coupling_.couplings": np.zeros((2, 2))}
        ),
        "no couplings": lambda parameters, arrays: arrays.pop("label_coupling_.couplings"),
        "infinite rates": lambda parameters, arrays: arrays.update(
            {"label_coupling_.rates": np.full(3, np.inf)}
        ),
    }


def other_neighbors(parameters, arrays):
    others, more = fitted(n_terms=9).get_state()
    parameters["neighbors_"] = others["neighbors_"]
    arrays.update(
        {name: array for name, array in more.items() if name.startswith("neighbors_.")}
    )


def fitted(n_terms=30):
    X, _, Y = documents(n_terms=n_terms)
    return StackedClassifier.jury(n_folds=2).fit(X, Y)


@pytest.mark.parametrize("damage", damaged_states())
def test_a_damaged_state_is_refused(damage):
    parameters, arrays = fitted().get_state()
    parameters = json.loads(json.dumps(parameters))
    damaged_states()[damage](parameters, arrays)
    with pytest.raises(DataError):
        StackedClassifier.from_state(parameters, arrays)


@pytest.mark.parametrize("cosine", [True, False])
def test_rows_held_out_are_those_of_a_vectorizer_that_has_not_seen_them(cosine):
    training, held_out = (
        ["corn wheat", "corn corn oil", "oil wheat"],
        ["corn maize wheat oil oil", "maize", ""],
    )
    settings = {"weighting": "tf", "cosine": cosine}
    whole, fitted = (
        TermVectorizer(**settings).fit(training + held_out),
        TermVectorizer(**settings).fit(training),
    )
    rows = words(whole.transform(held_out)).as_new_to(whole.transform(training)).toarray()
    columns = [whole.vocabulary_.names.index(name) for name in fitted.vocabulary_.names]
    np.testing.assert_allclose(
        rows[:, columns], fitted.transform(held_out).toarray(), rtol=1e-12
    )
    np.testing.assert_array_equal(np.delete(rows, columns, axis=1), 0)


def test_held_out_documents_have_only_words_of_the_training_folds():
    texts = [f"{('corn', 'oil')[i % 2]} own{i} own{i + 100}" for i in range(12)]
    X = TermVectorizer(weighting="tf", cosine=True).fit_transform(texts)
    labels = sparse.csr_array(np.arange(12)[:, np.newaxis] % 2)
    fitting = CrossFitting(
        [Candidate(SVMMember())],
        Sample(words(X), labels, np.ones(12)),
        Settings(1e-2, 0, None),
        n_folds=3,
        enough=12,
    )
    fitting.score(0)
    for fold in range(3):
        part, rest = (
            np.flatnonzero(fitting.folds == fold),
            np.flatnonzero(fitting.folds != fold),
        )
        training = TermVectorizer(weighting="tf", cosine=True).fit([texts[i] for i in rest])
        rows = training.transform([texts[i] for i in rest])
        member = SVMMember().fit(
            Sample(words(rows), labels[rest], np.ones(len(rest))), fitting.settings
        )
        expected = member.scores_checked(training.transform([texts[i] for i in part]))
        np.testing.assert_allclose(fitting.held_out.scores[0, part], expected, rtol=1e-4)


def test_folds_beyond_enough_documents_are_not_held_out():
    X, labels, _ = documents(200)
    sample = Sample(words(X), sparse.csr_array(np.eye(3)[labels]), np.ones(200))
    settings = Settings(1e-2, 0, None)
    some = CrossFitting(
        [Candidate(JURY[3])], sample, settings, n_folds=5, enough=50, some_folds=True
    )
    assert some.used_folds.tolist() == [0, 1]
    assert len(some.held_out.documents) == 50
    every = CrossFitting([Candidate(JURY[3])], sample, settings, n_folds=5, enough=50)
    assert every.used_folds.tolist() == [0, 1, 2, 3, 4]
    assert len(every.held_out.documents) == 50


def test_neighbours_that_would_take_longer_than_the_others_are_left_out(monkeypatch):
    X, labels, _ = documents()
    assert StackedClassifier.jury(n_folds=2).fit(X, labels).neighbors_ is not None
    monkeypatch.setattr("bayesift.models.ensemble.members._MAX_COMPARISONS", 10)
    model = StackedClassifier.jury(n_folds=2).fit(X, labels)
    assert model.neighbors_ is None
    assert model.weights_[1] == 0.0
    restored = StackedClassifier.from_state(*model.get_state())
    np.testing.assert_array_equal(restored.predict_proba(X), model.predict_proba(X))
