import dataclasses
import pickle

import numpy as np
import pytest
from scipy import sparse

from bayesift.errors import DataError
from bayesift.records import Corpus, Document


@pytest.fixture
def corpus():
    return Corpus(
        (
            Document("1", "wheat", title="News", categories=("grain", "wheat"), split="train"),
            Document("2", "oil", categories=("crude",), split="test"),
            Document("3", "", title="Only"),
        ),
        ("wheat", "crude", "grain", "rare"),
        parents={"wheat": "grain"},
        vectors=sparse.csr_array(np.eye(3)),
    )


def test_is_immutable(corpus):
    with pytest.raises(dataclasses.FrozenInstanceError):
        corpus.name = "x"
    with pytest.raises(dataclasses.FrozenInstanceError):
        corpus.documents[0].text = "x"
    with pytest.raises(TypeError):
        corpus.parents["crude"] = "oil"


def test_can_be_pickled(corpus):
    again = pickle.loads(pickle.dumps(corpus))
    assert again.fingerprint == corpus.fingerprint
    assert again.parents == corpus.parents


def test_texts_ids_splits_and_counts(corpus):
    assert corpus.texts == ["News\nwheat", "oil", "Only"]
    assert corpus.ids == ["1", "2", "3"]
    assert corpus.splits == ("train", "test")
    assert corpus.category_counts() == {"wheat": 1, "crude": 1, "grain": 1, "rare": 0}


def test_indicator_follows_the_order_of_categories(corpus):
    assert corpus.indicator.toarray().tolist() == [[1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert corpus.indicator.has_sorted_indices


def test_views(corpus):
    assert corpus.split("test").ids == ["2"]
    assert corpus.split("test").vectors.toarray().tolist() == [[0, 1, 0]]
    assert corpus.labelled().ids == ["1", "2"]
    narrowed = corpus.with_categories(["grain"])
    assert [d.categories for d in narrowed] == [("grain",), (), ()]
    with pytest.raises(DataError, match="no split 'dev'; there are: train, test"):
        corpus.split("dev")


def test_labels_need_exactly_one(corpus):
    assert corpus.split("test").labels == ["crude"]
    with pytest.raises(DataError, match="none or several"):
        corpus.labels  # noqa: B018


def test_fingerprint_tells_contents_apart(corpus):
    assert corpus.fingerprint == dataclasses.replace(corpus, name="other").fingerprint
    for change in ({"text": "rye"}, {"title": ""}, {"categories": ()}, {"split": "test"}):
        documents = (dataclasses.replace(corpus.documents[0], **change), *corpus.documents[1:])
        assert (
            dataclasses.replace(corpus, documents=documents).fingerprint != corpus.fingerprint
        )
    moved = dataclasses.replace(corpus, vectors=corpus.vectors * 2)
    assert moved.fingerprint != corpus.fingerprint


@pytest.mark.parametrize(
    ("documents", "categories", "message"),
    [
        ([Document("1", "a"), Document("1", "b")], (), "duplicate document id '1'"),
        ([Document("1", "a")], ("x", "x"), "duplicate category 'x'"),
        ([Document("1", "a", categories=("y",))], ("x",), "does not list: y"),
    ],
)
def test_refuses_what_does_not_fit(documents, categories, message):
    with pytest.raises(DataError, match=message):
        Corpus(tuple(documents), categories)


def test_refuses_vectors_of_another_length():
    with pytest.raises(DataError, match="2 vectors for 1 documents"):
        Corpus((Document("1", "a"),), (), vectors=sparse.csr_array(np.eye(2)))


def test_documents_without_a_category_are_unlabelled_unless_there_may_be_several():
    def of(*categories):
        documents = tuple(
            Document(str(i), "text", categories=names) for i, names in enumerate(categories)
        )
        return Corpus(documents, ("a", "b"))

    assert of(("a", "b"), (), ("a",)).is_multilabel
    assert of(("a",), ()).is_multilabel  # relevant or not
    assert not of(("a",), ("b",), ()).is_multilabel
    assert not of(("a",), ("a",)).is_multilabel
