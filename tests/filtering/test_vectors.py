import math

import numpy as np
import pytest

from bayesift.errors import DataError
from bayesift.filtering import VectorSpace

BACKGROUND = ["wheat corn wheat", "corn oil", "oil oil barrel", "corn rate"]


def ltc(counts, frequencies, n):
    weights = {
        w: (1 + math.log2(f)) * math.log2(n / max(frequencies.get(w, 0), 1))
        for w, f in counts.items()
    }
    length = math.sqrt(sum(v * v for v in weights.values()))
    return {w: v / length for w, v in weights.items()}


def test_weights_are_the_papers_with_unseen_words_counted_as_seen_once():
    space = VectorSpace(stemmer=None)
    space.learn_background(BACKGROUND)
    frequencies = {"wheat": 1, "corn": 3, "oil": 2, "barrel": 1, "rate": 1}
    expected = ltc({"wheat": 3, "corn": 1, "zebra": 1}, frequencies, 4)
    batch = space.weigh(["1"], ["wheat wheat corn zebra wheat"])
    assert dict(
        zip(space.words_of(batch.rows.indices), batch.rows.data, strict=True)
    ) == pytest.approx({w: v for w, v in expected.items() if w != "zebra"})
    assert len(space) == 5
    vector = batch.take(0, space)
    assert len(space) == 6
    assert dict(
        zip(space.words_of(vector.columns), vector.weights, strict=True)
    ) == pytest.approx(expected)
    alone = space.vector("1", "wheat wheat corn zebra wheat")
    assert np.array_equal(alone.columns, vector.columns)
    assert np.allclose(alone.weights, vector.weights, rtol=1e-15)


def test_background_vectors_are_those_of_the_same_texts_later():
    space = VectorSpace()
    X = space.learn_background(BACKGROUND)
    assert np.allclose(X.toarray(), space.weigh(list("1234"), BACKGROUND).rows.toarray())


def test_running_frequencies_follow_the_stream_and_the_vocabulary_does_not():
    space = VectorSpace(idf="running", stemmer=None)
    space.columns_of("wheat")
    for number in range(50):
        space.weigh(
            [str(number)], [f"wheat new{number}" if number % 2 else f"corn new{number}"]
        )
    assert (len(space), space.n_documents, space.frequencies.tolist()) == (1, 50, [25])


def test_documents_without_words_have_empty_vectors():
    space = VectorSpace()
    space.learn_background(BACKGROUND)
    batch = space.weigh(["1", "2"], ["", "the of"])
    assert batch.rows.shape == (2, len(space))
    assert len(batch.take(1, space)) == 0
    assert len(space.vector("3", "")) == 0
    assert np.isfinite(space.weigh(["1", "2", "3"], ["", "corn", ""]).rows.data).all()


def test_a_space_survives_saving():
    space = VectorSpace(stop_words=["of"], stemmer=None)
    space.learn_background(BACKGROUND)
    again = VectorSpace.from_state(*space.get_state())
    one, other = (s.weigh(["1"], ["corn of oil zebra"]).rows for s in (space, again))
    assert np.array_equal(one.toarray(), other.toarray())


@pytest.mark.parametrize(
    "spoil",
    [
        lambda p, a, w: (p | {"idf": "other"}, a, w),
        lambda p, a, w: (p | {"n_documents": -1}, a, w),
        lambda p, a, w: (p | {"nonsense": 1}, a, w),
        lambda p, a, w: (p | {"stemmer": "klingon"}, a, w),
        lambda p, a, w: (p, {}, w),
        lambda p, a, w: (p, {"frequencies": a["frequencies"][:-1]}, w),
        lambda p, a, w: (p, {"frequencies": a["frequencies"] + 100}, w),
        lambda p, a, w: (p, a, [w[0], *w[:-1]]),
    ],
)
def test_a_spoilt_space_is_refused(spoil):
    space = VectorSpace()
    space.learn_background(BACKGROUND)
    with pytest.raises(DataError):
        VectorSpace.from_state(*spoil(*space.get_state()))


def test_the_vector_of_a_text_has_length_one_and_stemmed_words():
    space = VectorSpace()
    np.testing.assert_allclose(
        space.vector("query", "wheat wheat corn").weights, np.array([2.0, 1.0]) / math.sqrt(5.0)
    )
    assert space.words_of(space.columns_of("the harvests")) == ["harvest"]


def test_scripts_without_spaces_are_split_and_a_space_from_before_is_not():
    space = VectorSpace()
    assert space.words_of(space.columns_of("the wheat 小麦")) == ["wheat", "小", "麦", "小麦"]
    assert space.forms_of("小麦 Harvests") == {
        "harvest": ["harvests"],
        "小": ["小"],
        "小麦": ["小麦"],
        "麦": ["麦"],
    }
    parameters, arrays, words = VectorSpace(unspaced="words").get_state()
    del parameters["unspaced"]
    before = VectorSpace.from_state(parameters, arrays, words)
    assert before.words_of(before.columns_of("the wheat 小麦")) == ["wheat", "小麦"]
    assert VectorSpace.from_state(*space.get_state()).unspaced == "ngrams"
