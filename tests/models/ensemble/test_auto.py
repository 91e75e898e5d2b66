import copy
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, log_softmax

from bayesift import DataWarning, TextClassifier
from bayesift.features import FeatureBlock
from bayesift.models.ensemble import AutoClassifier
from bayesift.models.ensemble.calibration import BetaCalibration
from bayesift.models.ensemble.members import (
    LogisticMember,
    NaiveBayesMember,
    NBLogisticMember,
    SVMMember,
)
from bayesift.text import TermVectorizer

pytestmark = pytest.mark.filterwarnings("error")


def texts_of(n_documents=120, n_classes=3, seed=0):
    """Texts of words that are more frequent in their class, and the classes."""
    generator = np.random.default_rng(seed)
    classes = generator.integers(0, n_classes, n_documents)
    words = [[f"own{c}{i}" for i in range(8)] for c in range(n_classes)]
    common = [f"common{i}" for i in range(40)]
    texts = [
        " ".join(
            [
                *generator.choice(words[c], 2),
                *generator.choice(common, 8),
                *generator.choice(np.ravel(words), 2),
            ]
        )
        for c in classes
    ]
    return texts, classes


@pytest.fixture(scope="module")
def fitted():
    texts, classes = texts_of()
    return TextClassifier().fit(texts, classes)


def test_is_the_default_and_a_linear_model(fitted):
    model = fitted.model_
    assert isinstance(model, AutoClassifier)
    X = fitted.vectors(["own01 common3"])
    scores = X @ sparse.csr_array(model.coef_).toarray().T + model.intercept_
    np.testing.assert_allclose(model.predict_log_proba(X), log_softmax(scores, axis=1))


def test_members_of_a_kind_are_described_together(fitted):
    model = copy.copy(fitted.model_)
    model.members_ = (
        NaiveBayesMember(0.5),
        NBLogisticMember(),
        LogisticMember(),
        NaiveBayesMember(0.9),
        SVMMember(),
    )
    model.shares_ = np.array([0.3, 0.2, 0.155, 0.342, 0.003])
    model.kinds_ = ("words", "pairs")
    assert (
        model.describe()
        == "a stack of naive Bayes 64%, logistic regression 36%; words and word pairs"
    )


def test_weights_are_not_negative_and_shares_add_up(fitted):
    model = fitted.model_
    assert np.all(model.weights_ > 0)
    assert len(model.weights_) == len(model.shares_) == len(model.members_)
    assert "%" in model.describe() or len(model.members_) == 1


def test_held_out_predictions_are_honest_where_labels_say_nothing():
    texts, classes = texts_of(300, 2, seed=1)
    shuffled = np.random.default_rng(2).permutation(classes)
    quality = TextClassifier().fit(texts, shuffled).expected_quality_
    assert quality.low < 0.55
    assert quality.value < 0.62
    assert quality.log_loss > 0.65


def test_expectation_holds_on_new_documents(fitted):
    quality = fitted.expected_quality_
    texts, classes = texts_of(1000, seed=9)
    accuracy = np.mean(fitted.predict(texts) == classes)
    assert quality.measure == "accuracy"
    assert quality.low - 0.05 < accuracy < quality.high + 0.05


def test_word_pairs_are_used_only_where_they_pay():
    generator = np.random.default_rng(0)
    words = [f"word{i}" for i in range(12)]
    texts, labels = [], []
    for _ in range(400):  # the label is whether "not" stands before "good" or elsewhere
        noise = list(generator.choice(words, 6))
        label = int(generator.integers(2))
        texts.append(
            " ".join(["not good", *noise] if label else ["good", *noise[:3], "not", *noise[3:]])
        )
        labels.append(label)
    classifier = TextClassifier().fit(texts, labels)
    assert "pairs" in classifier.model_.kinds_
    assert "not good" in classifier.vectorizer_.vocabulary_.names
    assert classifier.expected_quality_.value > 0.95
    plain, classes = texts_of()
    without = TextClassifier().fit(plain, classes)
    assert "pairs" not in without.model_.kinds_
    assert without.vectorizer_.ngram_range == (1, 1)
    assert without.estimator_.n_features_in_ == len(without.vectorizer_.vocabulary_)


def test_blocks_of_pairs_leave_the_weights_of_words_alone():
    texts, _ = texts_of(30)
    both = TermVectorizer(
        weighting="sublinear-tf-idf", ngram_range=(1, 2), separate_ngrams=True
    )
    X, words = both.fit_transform(texts), TermVectorizer(weighting="sublinear-tf-idf")
    single = np.flatnonzero(both.ngram_lengths_ == 1)
    np.testing.assert_allclose(X[:, single].toarray(), words.fit_transform(texts).toarray())
    pairs = X[:, np.flatnonzero(both.ngram_lengths_ == 2)]
    lengths = np.sqrt(pairs.power(2).sum(axis=1))
    np.testing.assert_allclose(lengths[lengths > 0], 1.0)
    assert both.document_frequencies_[both.ngram_lengths_ == 2].min() == 2
    np.testing.assert_allclose(
        both.only_words().transform(texts).toarray(), words.transform(texts).toarray()
    )


def test_several_labels_get_calibrated_probabilities_and_thresholds(tmp_path):
    texts, classes = texts_of(400)
    generator = np.random.default_rng(3)
    labels = [
        [f"c{c}"] + (["rare"] if generator.random() < 0.2 and c == 1 else []) for c in classes
    ]
    classifier = TextClassifier().fit(texts, labels)
    assert isinstance(classifier.model_.calibration_, BetaCalibration)
    assert type(classifier.estimator_.rule_).__name__ == "MaxF1"
    quality = classifier.expected_quality_
    assert quality.measure == "micro F1"
    assert quality.low < quality.value < quality.high
    classifier.save(tmp_path / "model.zip")
    restored = TextClassifier.load(tmp_path / "model.zip")
    np.testing.assert_array_equal(
        restored.predict_proba(texts), classifier.predict_proba(texts)
    )
    assert restored.predict(texts[:20]) == classifier.predict(texts[:20])
    model, X = classifier.model_, classifier.vectors(texts[:3])
    terms, rest = model.contributions(X, 0)
    np.testing.assert_allclose(terms.sum(axis=1) + rest, model.decision_function(X)[:, 0])


def test_beta_calibration_is_the_mode_that_scipy_finds():
    generator = np.random.default_rng(0)
    scores = generator.normal(size=(200, 3))
    labels = generator.random((200, 3)) < expit(0.5 * scores - 0.3)
    found = BetaCalibration.fit(scores, labels, np.ones(200))

    def objective(point):
        z = BetaCalibration(*point)(scores)
        prior = np.sum((point - [1.0, 1.0, 0.0, 0.0]) ** 2) / 2
        return np.sum(np.logaddexp(0, np.where(labels, -z, z))) + prior

    best = minimize(
        objective, [1, 1, 0.1, 0], bounds=[(0, None)] * 3 + [(None, None)], tol=1e-12
    )
    np.testing.assert_allclose(
        [found.positive, found.negative, found.others, found.offset], best.x, atol=2e-3
    )


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        (["corn", "oil"], ["a", "b"]),
        (["corn"] * 10, ["a", "b"] * 5),
        (["!", "?", "corn", "oil"], ["a", "b", "a", "b"]),  # texts without words
        (["corn x1", "oil x2", "gas x3"], ["a", "b", "c"]),
        (["corn"] * 50 + ["oil"], ["a"] * 50 + ["b"]),
        (["corn x", "oil y", "gas z"] * 4, [["a"], ["b", "c"], []] * 4),
        ([f"w{i} corn" for i in range(30)], [f"c{i // 2}" for i in range(30)]),
    ],
)
def test_small_and_strange_data(texts, labels):
    classifier = TextClassifier().fit(texts, labels)
    probabilities = classifier.predict_proba([*texts, "", "new words"])
    assert np.all(np.isfinite(probabilities))
    quality = classifier.expected_quality_
    assert quality is None or 0 <= quality.low <= quality.value <= quality.high <= 1


def test_blank_texts_are_left_out():
    with pytest.warns(DataWarning, match="2 texts without any text"):
        classifier = TextClassifier().fit(["", "", "corn", "oil"], ["a", "b", "a", "b"])
    assert np.all(np.isfinite(classifier.predict_proba(["", "corn"])))


@pytest.mark.parametrize(("label", "shown"), [("a", "'a'"), (1, "1"), (True, "True")])
def test_one_class_is_refused_in_one_line(label, shown):
    with pytest.raises(ValueError, match=f"only one class, {shown}; a classifier needs two"):
        TextClassifier().fit(["corn", "oil"], [label, label])


def test_order_by_label_does_not_matter_much():
    texts, classes = texts_of(200)
    order = np.argsort(classes, kind="stable")
    by_label = TextClassifier().fit([texts[i] for i in order], classes[order])
    mixed = TextClassifier().fit(texts, classes)
    new, truth = texts_of(500, seed=5)
    assert abs(by_label.score(new, truth) - mixed.score(new, truth)) < 0.05


def test_budget_and_effort():
    texts, classes = texts_of()
    X = TermVectorizer(weighting="sublinear-tf-idf").fit_transform(texts)
    steps = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AutoClassifier(
            effort="quick", progress=lambda done, total: steps.append((done, total))
        ).fit(X, classes)
    assert steps[-1][0] == steps[-1][1]
    for parameters in ({"effort": "much"}, {"budget": 0}):
        with pytest.raises(ValueError, match=r"effort|budget"):
            AutoClassifier(**parameters).fit(X, classes)


def test_blocks_hold_each_column_once():
    blocks = [FeatureBlock("words", "words", np.arange(2))]
    with pytest.raises(ValueError, match="exactly once"):
        AutoClassifier().fit(sparse.eye_array(4).tocsr(), [0, 1, 0, 1], blocks=blocks)
    with pytest.raises(ValueError, match="kind of a block"):
        FeatureBlock("words", "letters", np.arange(2))


def test_a_model_without_members_is_described():
    """No word of these documents says anything of the others."""
    model = AutoClassifier().fit(np.eye(6), ["grain", "crude"] * 3)
    assert model.members_ == ()
    assert model.describe() == "the shares of the categories alone"
