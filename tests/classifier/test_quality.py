"""What `fit` says of its quality holds on texts it has not seen, with copies and groups too."""

import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from bayesift import TextClassifier
from bayesift.classifier.quality import Repeats, _effective_size, _interval
from bayesift.features import SelectTerms
from bayesift.models.ensemble import AutoClassifier
from bayesift.thresholds import ThresholdedClassifier

TOPICS = ("corn wheat harvest farm", "oil tanker crude barrel", "goal match team player")


def make_texts(n, seed, noise=0.75):
    """Return texts that are told apart with errors: most words belong to no topic."""
    random = np.random.default_rng(seed)
    labels = random.integers(len(TOPICS), size=n)
    texts = []
    for label in labels:
        words = TOPICS[label].split()
        if random.random() < noise / 2:
            words = TOPICS[random.integers(len(TOPICS))].split()
        other = [f"w{k}" for k in random.integers(3000, size=12)]
        texts.append(" ".join([*other, str(random.choice(words))]))
    return texts, np.array([f"topic {label}" for label in labels])


def truth_of(classifier, seed=99):
    texts, labels = make_texts(4000, seed)
    return classifier.score(texts, labels)


def changed(text, random):
    words = text.split()
    words[random.integers(len(words))] = f"w{random.integers(3000)}"
    return " ".join(words)


@pytest.mark.parametrize("kind", ["plain", "three times", "some repeats", "near copies"])
def test_the_interval_holds_whatever_repeats(kind):
    texts, labels = make_texts(600, 1)
    random = np.random.default_rng(2)
    if kind == "three times":
        texts = texts + [text.upper() for text in texts] + texts
        labels = np.tile(labels, 3)
    elif kind == "some repeats":
        texts = texts + texts[:120]
        labels = np.append(labels, labels[:120])
    elif kind == "near copies":
        texts = texts + [changed(text, random) for text in texts]
        labels = np.tile(labels, 2)
    classifier = TextClassifier(embedder=None).fit(texts, labels)
    quality = classifier.expected_quality_
    assert quality.low <= truth_of(classifier) <= quality.high
    expected = {"plain": 0, "three times": 1800, "some repeats": 240, "near copies": 1200}
    assert abs(quality.repeats.n_repeated - expected[kind]) <= 0.02 * len(texts)
    # Copies are no further evidence.
    assert 0.05 < quality.high - quality.low < 0.2


def test_copies_with_other_labels_are_counted():
    texts, labels = make_texts(60, 1)
    other = np.roll(np.unique(labels), 1)[np.searchsorted(np.unique(labels), labels[:4])]
    texts = texts + texts[:10]
    labels = np.concatenate([labels, other, labels[4:10]])
    repeats = TextClassifier(embedder=None).fit(texts, labels).repeats_
    assert repeats == Repeats(70, 20, 8)


def test_rows_with_the_same_text_and_other_columns_are_no_copies():
    rows = []
    for price in range(1, 21):
        rows.append({"text": "a short note", "price": float(price)})
    labels = ["cheap"] * 10 + ["dear"] * 10
    repeats = (
        TextClassifier(columns=["price"]).fit(rows + rows[:3], labels + labels[:3]).repeats_
    )
    assert repeats == Repeats(23, 6, 0)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_equal_vectors_are_held_out_together(form):
    # Labels at random: only a copy of a vector tells its label.
    random = np.random.default_rng(0)
    vectors = random.random((60, 30)) * (random.random((60, 30)) < 0.3)
    labels = random.permutation(["a", "b"] * 30)
    classifier = TextClassifier().fit(form(np.tile(vectors, (3, 1))), np.tile(labels, 3))
    assert classifier.repeats_ == Repeats(180, 180, 0)
    assert classifier.expected_quality_.low < 0.5


def test_terms_selected_by_all_labels_leave_no_expected_quality():
    # Labels at random: terms that were selected by them tell the labels of documents held out.
    texts, _ = make_texts(100, 3)
    labels = np.random.default_rng(0).permutation(["a", "b"] * 50)
    selected = TextClassifier(embedder=None, selection=SelectTerms(k=20)).fit(texts, labels)
    assert selected.expected_quality_ is None
    assert selected.repeats_ == Repeats(100, 0, 0)
    whole = TextClassifier(embedder=None).fit(texts, labels).expected_quality_
    assert whole.low < 0.5 < whole.high


def test_groups_that_people_know_are_held_out_together():
    # A word tells the author, and authors write on one topic: without groups it gives labels away.
    texts, labels = make_texts(300, 3, noise=1.9)
    authors = np.array([f"{label} {row % 20}" for row, label in enumerate(labels)])
    signed = []
    for text, author in zip(texts, authors, strict=True):
        name = author.replace(" ", "")
        signed.append(f"{text} {name}")
    # By their characters the names of authors tell the topic in whatever group.
    classifier = TextClassifier(embedder=None, characters=False)
    plain = classifier.fit(signed, labels).expected_quality_
    grouped = classifier.fit(signed, labels, groups=authors).expected_quality_
    assert plain.value > 0.9
    assert grouped.high < plain.low


def test_the_latest_texts_are_judged_by_a_model_of_the_earlier_ones():
    texts, labels = make_texts(400, 4, noise=0.2)
    times = np.arange("2020-01-01", "2021-02-04", dtype="datetime64[D]")[:400]
    late = np.arange(400) >= 320
    # The labels of the latest texts are shuffled: the future is nothing like the past.
    labels[late] = np.random.default_rng(0).permutation(labels[late])
    quality = TextClassifier(embedder=None).fit(texts, labels, times=times).expected_quality_
    assert quality.later.n_documents == pytest.approx(80, abs=2)
    assert quality.later.high < 0.6 < quality.value
    assert quality.differs_later


def test_what_is_expected_is_kept_in_the_model_file(tmp_path):
    texts, labels = make_texts(120, 5)
    times = np.arange(120)
    classifier = TextClassifier(embedder=None).fit(
        texts + texts[:5], np.append(labels, labels[:5]), times=np.append(times, times[:5])
    )
    classifier.save(tmp_path / "model.zip")
    loaded = TextClassifier.load(tmp_path / "model.zip")
    before = classifier.expected_quality_
    after = loaded.expected_quality_
    assert str(after) == str(before)
    assert after.repeats == before.repeats
    assert str(after.later) == str(before.later)
    np.testing.assert_array_equal(after.category_counts, before.category_counts)
    assert after.reliability.to_dict() == before.reliability.to_dict()
    assert [str(row.recall) for row in after.of_categories()] == [
        str(row.recall) for row in before.of_categories()
    ]


def test_a_model_file_of_before_has_no_expected_quality(tmp_path):
    texts, labels = make_texts(60, 5)
    TextClassifier(embedder=None).fit(texts, labels).save(tmp_path / "model")
    file = tmp_path / "model" / "model.json"
    content = json.loads(file.read_text())
    for name in ("expected_quality", "repeats"):
        del content["model"][name]
    file.write_text(json.dumps(content))
    loaded = TextClassifier.load(tmp_path / "model")
    assert loaded.expected_quality_ is None
    assert loaded.repeats_ is None


def test_documents_that_are_alone_in_their_category_count_as_wrong():
    texts, labels = make_texts(100, 6, noise=0.0)
    labels = np.array([*labels[:90], *(f"rare {row}" for row in range(10))])
    quality = TextClassifier(embedder=None).fit(texts, labels).expected_quality_
    assert quality.n_documents == 90
    assert quality.value <= 0.9


def test_an_interval_is_wider_for_fewer_documents_and_for_groups():
    def width(n_units, squares, total):
        low, high = _interval(0.8, _effective_size(0.8, squares, total, n_units))
        return high - low

    few = width(30, 30 * 0.16, 30)
    many = width(1000, 1000 * 0.16, 1000)
    in_threes = width(1000, 1000 * 9 * 0.16, 3000)
    assert few > 3 * many
    assert in_threes == pytest.approx(many, rel=0.05)


def test_no_errors_do_not_make_the_interval_a_point():
    low, high = _interval(1.0, _effective_size(1.0, 0.0, 50, 50))
    assert 0.8 < low < 0.95
    assert high == pytest.approx(1.0)


def test_thresholds_are_fitted_on_folds_of_whole_groups():
    # The only column is the number of the group: out of fold it says nothing.
    random = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 5)
    y = np.repeat(random.integers(2, size=40), 5)
    X = np.eye(40)[groups]
    model = ThresholdedClassifier(LogisticRegression(C=100.0), rule="max-f1", cv=4)
    model.fit(X, y, groups=groups)
    split = ThresholdedClassifier(LogisticRegression(C=100.0), rule="max-f1", cv=4).fit(X, y)
    scores = model._sample_scores(X, y, y[:, None] == [0, 1], groups, {})
    assert np.corrcoef(scores[:, 0], y)[0, 1] < 0.3
    leaked = split._sample_scores(X, y, y[:, None] == [0, 1], None, {})
    assert np.corrcoef(leaked[:, 0], y)[0, 1] > 0.9


def test_groups_must_be_one_per_text():
    with pytest.raises(ValueError, match="one group for each of the 3 documents"):
        TextClassifier().fit(["a b", "c d", "e f"], ["x", "y", "x"], groups=[1, 2])
    with pytest.raises(ValueError, match="times must be one date or number"):
        AutoClassifier().fit([[1.0], [2.0]], ["x", "y"], times=["a", "b"])
