import copy
import json
import shutil
from contextlib import suppress

import numpy as np
import pytest

from bayesift.classifier import TextClassifier
from bayesift.errors import DataError
from bayesift.features import SelectTerms
from bayesift.models import LEARNERS, is_storable, make_learner
from bayesift.models.naive_bayes import JelinekMercer, NaiveBayesClassifier
from bayesift.text import TermVectorizer
from bayesift.thresholds import THRESHOLD_RULES
from tests.classifier.test_text_classifier import LABELS, NEW, SETS, TEXTS

VARIANTS = [
    (TextClassifier(), LABELS),
    (TextClassifier(threshold="max-f1", threshold_cv=2), SETS),
    (
        TextClassifier(
            vectorizer=TermVectorizer(weighting="ltc", stop_words=["and"], ngram_range=(1, 2))
        ),
        SETS,
    ),
    (TextClassifier(selection=SelectTerms("chi2", k=4, per_category=True)), SETS),
    (TextClassifier(model=NaiveBayesClassifier(smoothing=JelinekMercer(lambda_=0.3))), LABELS),
    (TextClassifier(model="online-gp", selection=SelectTerms(k=4, per_category=True)), SETS),
    *((TextClassifier(threshold=name), SETS) for name in THRESHOLD_RULES),
]


@pytest.mark.parametrize(("classifier", "labels"), VARIANTS)
@pytest.mark.parametrize("name", ["model", "model.zip"])
def test_round_trip_gives_identical_probabilities(tmp_path, classifier, labels, name):
    classifier.fit(TEXTS, labels).save(tmp_path / name)
    again = TextClassifier.load(tmp_path / name)
    np.testing.assert_array_equal(again.predict_proba(NEW), classifier.predict_proba(NEW))
    np.testing.assert_array_equal(again.decide(NEW)[0], classifier.decide(NEW)[0])
    assert list(again.predict(NEW)) == list(classifier.predict(NEW))
    assert again.explain("corn oil") == classifier.explain("corn oil")
    assert again.terms() == classifier.terms()


@pytest.mark.parametrize("labels", [LABELS, SETS], ids=["labels", "sets"])
@pytest.mark.parametrize(
    "model", [name for name in LEARNERS if is_storable(make_learner(name))]
)
def test_every_learner_that_can_be_stored_comes_back(tmp_path, model, labels):
    vectorizer = TermVectorizer(weighting=LEARNERS[model].weighting)
    fitted = TextClassifier(model=model, vectorizer=vectorizer).fit(TEXTS, labels)
    fitted.save(tmp_path / "model")
    restored = TextClassifier.load(tmp_path / "model")
    for ours, theirs in zip(fitted.decide(NEW), restored.decide(NEW), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_saving_again_is_the_same_file(tmp_path):
    TextClassifier().fit(TEXTS, SETS).save(tmp_path / "a.zip")
    TextClassifier.load(tmp_path / "a.zip").save(tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_header_can_be_read_by_people(tmp_path):
    TextClassifier(model="naive-bayes").fit(TEXTS, SETS).save(tmp_path / "model")
    header = json.loads((tmp_path / "model" / "model.json").read_text())["model"]
    assert header["categories"] == ["crude", "grain", "trade"]
    assert header["thresholds"]["thresholds_"]["values"] == [0.5, 0.5, 0.5]
    assert (tmp_path / "model" / "vocabulary.txt").read_text().split()[:2] == ["and", "by"]


def mutated(value, rng):
    """The JSON value with one thing in it changed."""
    value = copy.deepcopy(value)
    holders = []

    def walk(node):
        if isinstance(node, dict | list) and node:
            holders.append(node)
            for child in node.values() if isinstance(node, dict) else node:
                walk(child)

    walk(value)
    holder = holders[rng.integers(len(holders))]
    keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
    key = keys[rng.integers(len(keys))]
    if rng.random() < 0.2:
        del holder[key]
    else:
        surprises = [
            None,
            True,
            -1,
            10**30,
            0.5,
            "",
            "never",
            "__class__",
            [],
            {},
            [[1]],
            "é" * 50,
            1e308,
        ]
        holder[key] = surprises[rng.integers(len(surprises))]
    return value


@pytest.mark.parametrize("labels", [LABELS, SETS])
def test_mutated_headers_are_refused_or_valid(tmp_path, labels):
    classifier = TextClassifier(selection=SelectTerms(k=5)).fit(TEXTS, labels)
    classifier.save(tmp_path / "model")
    header = json.loads((tmp_path / "model" / "model.json").read_text())
    rng = np.random.default_rng(0)
    for _ in range(300):
        (tmp_path / "model" / "model.json").write_text(json.dumps(mutated(header, rng)))
        with suppress(DataError):
            loaded = TextClassifier.load(tmp_path / "model")
            assert loaded.predict_proba(NEW).shape == (len(NEW), len(loaded.categories_))
            loaded.predict(NEW)
            loaded.explain("corn")


def test_mutated_bytes_are_refused_or_valid(tmp_path):
    TextClassifier().fit(TEXTS, SETS).save(tmp_path / "model")
    rng = np.random.default_rng(1)
    for name in ("model.json", "arrays.safetensors", "vocabulary.txt"):
        for _ in range(70):
            shutil.rmtree(tmp_path / "copy", ignore_errors=True)
            shutil.copytree(tmp_path / "model", tmp_path / "copy")
            data = bytearray((tmp_path / "copy" / name).read_bytes())
            action = rng.integers(3)
            at = int(rng.integers(len(data)))
            if action == 0:
                data[at] = rng.integers(256)
            elif action == 1:
                del data[at:]
            else:
                data[at:at] = rng.bytes(5)
            (tmp_path / "copy" / name).write_bytes(data)
            with suppress(DataError):
                TextClassifier.load(tmp_path / "copy").predict(NEW)


def test_parts_of_two_models_do_not_mix(tmp_path):
    TextClassifier(model="naive-bayes").fit(TEXTS, LABELS).save(tmp_path / "a")
    TextClassifier(model="naive-bayes").fit(TEXTS[:2], LABELS[:2]).save(tmp_path / "b")
    shutil.copy(tmp_path / "b" / "vocabulary.txt", tmp_path / "a" / "vocabulary.txt")
    with pytest.raises(DataError, match=r"vocabulary\.txt is not what was saved"):
        TextClassifier.load(tmp_path / "a")
