import numpy as np
import pyarrow as pa
import pytest

from bayesift.spark.counting import indicator_of_labels, read_labels, read_texts


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()]
)
def test_good_texts_come_as_they_are(kind):
    texts = ["corn", "größe Öl", "🌽 " * 1000]
    found = read_texts(pa.array([t.encode() for t in texts], pa.binary()).cast(kind))
    assert found.texts.to_pylist() == texts
    assert found.errors.null_count == 3


def test_slices_are_read_from_where_they_begin():
    column = pa.array(["\0", "corn", "oil", None]).slice(1, 2)
    found = read_texts(column)
    assert found.texts.to_pylist() == ["corn", "oil"]
    assert found.errors.to_pylist() == [None, None]


def test_bad_bytes_in_a_column_of_strings():
    raw = pa.array([b"corn", b"\xff\xfe", b"oil"], pa.binary())
    column = pa.Array.from_buffers(pa.string(), 3, raw.buffers())
    found = read_texts(column)
    assert found.errors.to_pylist() == [None, "cannot be decoded as utf-8 (byte 0xff)", None]
    assert found.spread(pa.array(["a", "b"])).to_pylist() == ["a", None, "b"]


def test_nothing_to_read():
    assert len(read_texts(pa.array([], pa.string())).texts) == 0
    found = read_texts(pa.array([None, None], pa.string()))
    assert len(found.texts) == 0
    assert found.errors.null_count == 0


def test_long_in_bytes_is_not_long_in_characters():
    found = read_texts(pa.array(["穀" * 2_000_000, "corn"]))
    assert found.errors.null_count == 2


def test_labels():
    labels = read_labels(pa.array([["b", " a", "b"], None, [""], ["z", None]]))
    assert labels.to_pylist() == [["b", "a"], [], [], ["z"]]
    assert read_labels(pa.array([3, None])).to_pylist() == [["3"], []]
    indicator = indicator_of_labels(labels, pa.array(["a", "b"]))
    np.testing.assert_array_equal(indicator.toarray(), [[1, 1], [0, 0], [0, 0], [0, 0]])


def test_no_labels_at_all():
    assert read_labels(pa.array([None, None], pa.string())).to_pylist() == [[], []]
    assert read_labels(pa.array([], pa.list_(pa.string()))).to_pylist() == []
