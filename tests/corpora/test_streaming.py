import io

import pytest

from bayesift.corpora.streaming import TextReader


@pytest.mark.parametrize(
    ("content", "ids"),
    [
        (b'{"id": 7, "text": "corn"}\n{"id": 8, "text": "oil"}\n', ["7", "8"]),
        (b"corn\noil\n", ["1", "2"]),
    ],
)
def test_a_stream_holds_json_lines_or_one_text_per_line(content, ids):
    (batch,) = TextReader(io.BytesIO(content))
    assert batch.ids.to_pylist() == ids
    assert batch.texts.to_pylist() == ["corn", "oil"]
