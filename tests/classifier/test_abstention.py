"""Texts that a classifier is unsure of: the abstention rate, foreign texts, reasons, old files."""

import csv
import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import roc_auc_score

from bayesift import TermVectorizer, TextClassifier
from bayesift.classifier import Abstention, Doubts, Predictions
from bayesift.classifier.abstention import abstention_from_fit
from bayesift.cli import main
from bayesift.errors import DataError


def sentences(n_texts, topics, seed):
    """Texts of ten words: six common ones, four of a topic, most of them of the text's own."""
    generator = np.random.default_rng(seed)
    labels = generator.choice(topics, n_texts)
    texts = []
    for label in labels:
        owners = [
            label if own else generator.choice(topics) for own in generator.random(4) < 0.5
        ]
        common = [f"common{i}" for i in generator.zipf(1.5, 6)]
        texts.append(
            " ".join(
                common
                + [
                    f"{topic}{i}"
                    for topic, i in zip(owners, generator.zipf(1.4, 4), strict=True)
                ]
            )
        )
    return texts, labels.tolist()


@pytest.fixture(scope="module")
def fitted():
    return TextClassifier().fit(*sentences(600, ["crude", "earn", "grain"], 0))


def test_doubt_is_the_odds_against_the_best_category_times_the_unseen_share():
    doubts = Doubts(np.array([[0.8, 0.2], [0.5, 0.5]]), np.array([9, 0]), np.array([6, 0]))
    assert doubts.scores[0] == pytest.approx(np.log(0.2 / 0.8 * 3.5 / 10))
    assert doubts.scores[1] == np.inf


def test_terms_of_held_out_documents_are_those_that_the_others_have():
    texts, _ = sentences(60, ["crude", "earn"], 1)
    X = TermVectorizer().fit_transform(texts)
    n_known = [
        len(
            set(text.split())
            & {word for j, other in enumerate(texts) if j != i for word in other.split()}
        )
        for i, text in enumerate(texts)
    ]
    n_terms = np.array([len(set(text.split())) for text in texts])
    probabilities = np.random.default_rng(0).uniform(0.1, 0.9, (60, 1))

    class Model:
        class held_out_:  # noqa: N801
            documents = np.arange(60)

    Model.held_out_.probabilities = probabilities
    found = abstention_from_fit(Model, X, n_terms, multilabel=False)
    expected = Doubts(np.hstack([1 - probabilities, probabilities]), n_terms, np.array(n_known))
    np.testing.assert_allclose(found.doubts, np.sort(expected.scores), rtol=1e-12)


def test_the_rate_is_that_of_texts_like_the_training_texts(fitted):
    texts, _ = sentences(1500, ["crude", "earn", "grain"], 2)
    for rate in (0.05, 0.1, 0.3):
        unsure = np.equal(fitted.predict(texts, abstain=rate), None)
        assert np.mean(unsure) == pytest.approx(rate, abs=0.05)
    assert not np.equal(fitted.predict(texts, abstain=0.0), None).any()


def test_foreign_texts_are_unsure_and_decided_texts_are_more_often_right(fitted):
    texts, labels = sentences(500, ["crude", "earn", "grain"], 3)
    foreign, _ = sentences(500, ["ship", "trade"], 4)
    truth = np.repeat([0, 1], 500)
    uncertainty = fitted.uncertainty(texts + foreign)
    assert roc_auc_score(truth, uncertainty) > 0.9
    sure = uncertainty[:500] <= 0.9
    right = fitted.predict(texts) == np.array(labels)
    assert right[sure].mean() > right.mean()


def test_texts_of_no_known_word_are_the_most_unsure(fitted):
    assert fitted.uncertainty(["", "zzz", "zzz yyy"]).tolist() == [1.0, 1.0, 1.0]
    assert fitted.predict([""], abstain=0.01).tolist() == [None]


def test_models_come_back_from_their_files(fitted, tmp_path):
    texts, _ = sentences(100, ["crude", "ship"], 5)
    fitted.save(tmp_path / "model.zip")
    loaded = TextClassifier.load(tmp_path / "model.zip")
    np.testing.assert_array_equal(loaded.uncertainty(texts), fitted.uncertainty(texts))


def test_without_held_out_documents_the_least_sure_of_the_texts_are_left_out():
    classifier = TextClassifier(model="naive-bayes").fit(*sentences(100, ["crude", "earn"], 0))
    assert classifier.abstention_ is None
    texts, _ = sentences(40, ["crude", "earn", "ship"], 6)
    doubts = classifier.doubts(texts)
    unsure = np.equal(classifier.predict(texts, abstain=0.25), None)
    assert unsure.sum() == 10
    assert doubts.scores[unsure].min() >= doubts.scores[~unsure].max()
    np.testing.assert_allclose(
        classifier.uncertainty(texts), 1 - doubts.best * (1 - doubts.unseen)
    )
    classifier.fit_abstention(sentences(300, ["crude", "earn"], 7)[0])
    more, _ = sentences(500, ["crude", "earn"], 8)
    assert np.mean(classifier.uncertainty(more) > 0.9) == pytest.approx(0.1, abs=0.05)


def test_labels_keep_their_form():
    texts, labels = sentences(60, ["crude", "earn"], 0)
    new = ["", "crude1 crude2"]
    numbers = TextClassifier(model="naive-bayes").fit(
        texts, [int(label == "earn") for label in labels]
    )
    assert numbers.predict(new, abstain=0.5).tolist() == [None, 0]
    several = TextClassifier(model="naive-bayes").fit(texts, [(label,) for label in labels])
    assert list(several.predict(new, abstain=0.5)) == [None, ("crude",)]
    matrix = TextClassifier(model="naive-bayes").fit(
        texts, np.array([[label == "earn", label == "crude"] for label in labels], dtype=int)
    )
    with pytest.raises(DataError, match="cannot hold None"):
        matrix.predict(new, abstain=0.5)


def test_models_without_probabilities_and_bad_rates_are_refused(fitted):
    machine = TextClassifier(model="svm").fit(["corn", "oil"], ["grain", "crude"])
    with pytest.raises(DataError, match="no probabilities"):
        machine.predict(["corn"], abstain=0.1)
    with pytest.raises(ValueError, match="between 0 and 1"):
        fitted.predict(["corn"], abstain=10)
    with pytest.raises(DataError, match="at least 20"):
        TextClassifier(model="naive-bayes").fit(
            ["corn", "oil"], ["grain", "crude"]
        ).fit_abstention(["corn"])


def test_damaged_files_are_refused(fitted):
    with pytest.raises(DataError, match="sorted"):
        Abstention(
            fitted.abstention_.doubts[::-1], fitted.abstention_.best, fitted.abstention_.unseen
        )._post_load()


def test_reasons_name_unknown_words_or_rival_categories(fitted):
    predictions = Predictions.of(
        fitted, ["crude1 grain1 common1 common2", "zzz yyy crude1", ""], abstain=1.0
    )
    assert predictions.unsure[1] == "1 of 3 words known"
    assert predictions.unsure[2] == "no words"
    assert " or " in predictions.unsure[0]
    assert not predictions.decisions.any()


@pytest.fixture(scope="module")
def model_file(fitted, tmp_path_factory):
    path = tmp_path_factory.mktemp("abstention") / "model.zip"
    fitted.save(path)
    return path


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_classify_writes_why_it_is_unsure(model_file, tmp_path, kind):
    (tmp_path / "texts.csv").write_text("id,text\na,crude1 crude2 crude1\nb,zzz yyy\n")
    out = tmp_path / f"out.{kind}"
    with pytest.raises(SystemExit) as end:
        main(
            [
                "classify",
                str(model_file),
                str(tmp_path / "texts.csv"),
                "-o",
                str(out),
                "--abstain",
                "0.1",
                "--quiet",
            ]
        )
    assert end.value.code in (0, None)
    if kind == "csv":
        rows = list(csv.DictReader(out.read_text().splitlines()))
        assert [(row["categories"], row["unsure"]) for row in rows] == [
            ("crude", ""),
            ("", "0 of 2 words known"),
        ]
    else:
        rows = (
            pq.read_table(out).to_pylist()
            if kind == "parquet"
            else list(map(json.loads, out.read_text().splitlines()))
        )
        assert [(list(row["categories"]), row["unsure"]) for row in rows] == [
            (["crude"], None),
            ([], "0 of 2 words known"),
        ]


def test_classify_says_what_a_model_without_held_out_documents_does(tmp_path, capsys):
    TextClassifier(model="naive-bayes").fit(*sentences(60, ["crude", "earn"], 0)).save(
        tmp_path / "model.zip"
    )
    (tmp_path / "texts.csv").write_text("id,text\na,crude1\nb,zzz\n")
    command = [
        "classify",
        str(tmp_path / "model.zip"),
        str(tmp_path / "texts.csv"),
        "--abstain",
        "0.5",
    ]
    with pytest.raises(SystemExit) as end:
        main(command)
    assert end.value.code in (0, None)
    assert "kept no documents held out" in capsys.readouterr().err
    with pytest.raises(SystemExit) as end:
        main([*command, "--stream"])
    assert end.value.code == 1
