"""Small files that stand for much more are refused before they are decoded."""

import io
import json

import pyarrow as pa
import pytest
from pyarrow import parquet

from bayesift.errors import DataError
from bayesift.references import read_references
from bayesift.tables import load_chunks, load_table, rows


def inflated(n_rows=4_000, n_characters=1_000_000, *, nested=False):
    """A Parquet file of a kilobyte, each of whose rows is the same long text."""
    numbers = pa.array([0] * n_rows, pa.int32())
    texts = pa.DictionaryArray.from_arrays(numbers, pa.array(["x" * n_characters]))
    if nested:
        texts = pa.ListArray.from_arrays(pa.array(range(n_rows + 1), pa.int32()), texts)
    content = io.BytesIO()
    table = pa.table({"text": texts, "label": ["a"] * n_rows})
    parquet.write_table(table, content, compression="zstd")
    return content.getvalue()


@pytest.mark.parametrize("nested", [False, True])
def test_decoded_bytes_are_those_of_all_rows(nested):
    content = inflated(1_000, 10_000, nested=nested)
    assert len(content) < 5_000
    assert 10_000_000 < rows.decoded_bytes(io.BytesIO(content)) < 10_100_000


def test_a_small_parquet_of_gigabytes_is_refused(tmp_path):
    path = tmp_path / "small.parquet"
    path.write_bytes(inflated())
    for read in (load_table, lambda path: list(load_chunks(path)), read_references):
        with pytest.raises(DataError, match="decodes to more than 2,147,483,648 bytes"):
            read(path)


def test_a_parquet_with_repeated_texts_is_read(tmp_path):
    path = tmp_path / "repeated.parquet"
    path.write_bytes(inflated(50, 100))
    assert [len(document.text) for document in load_table(path)] == [100] * 50


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "json", "parquet"])
def test_tables_of_too_many_columns_are_refused(suffix, tmp_path):
    names = [f"c{number}" for number in range(10_001)]
    path = tmp_path / f"wide.{suffix}"
    row = json.dumps(dict.fromkeys(names, "a b"))
    if suffix == "csv":
        path.write_text("\n".join([",".join(names), *[",".join(["a b"] * len(names))] * 3]))
    elif suffix == "parquet":
        parquet.write_table(pa.table({name: ["a b"] for name in names}), path)
    else:
        path.write_text(f"{row}\n" if suffix == "jsonl" else f"[{row}]")
    for read in (load_table, read_references):
        with pytest.raises(DataError) as refused:
            read(path)
        assert "10,001 columns" in str(refused.value) or read is read_references


def test_a_record_with_a_field_of_megabytes_is_reported(tmp_path):
    path = tmp_path / "long.ris"
    record = "TY  - JOUR\nTI  - {}\nAB  - {}\nER  - \n"
    path.write_text(record.format("long", "x" * 5_000_001) + record.format("short", "y"))
    found = read_references(path)
    assert [record.title for record in found] == ["short"]
    message = "a field has 5,000,001 characters, more than the 5,000,000 allowed; not read"
    assert found.refused[0].message == message
