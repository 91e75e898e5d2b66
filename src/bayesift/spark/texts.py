"""Texts and labels out of Arrow batches; a row that cannot be read is named, and costs no other row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from bayesift.arrays import Array
from bayesift.datasets.loading import describe_damage
from bayesift.datasets.rows import MAX_CHARACTERS


@dataclass(frozen=True, slots=True)
class Readable:
    """The texts of a column that can be read, their rows, and for every row what is wrong with it, or null."""

    texts: pa.LargeStringArray
    rows: Array
    errors: pa.StringArray

    def spread(self, answers: pa.Array) -> pa.Array:
        """Answers to the texts as answers to all rows, null for those that cannot be read."""
        if len(self.rows) == len(self.errors):
            return answers
        places = np.full(len(self.errors), -1)
        places[self.rows] = np.arange(len(self.rows))
        return answers.take(pa.array(places, mask=places < 0))


def read_texts(column: pa.Array) -> Readable:
    """The texts of a column of strings or UTF-8 bytes; missing, empty, too long and damaged ones are errors."""
    raw = column.cast(pa.large_binary())
    texts = _if_all_is_well(raw)
    if texts is not None:
        return Readable(texts, np.arange(len(texts)), pa.nulls(len(texts), pa.string()))
    errors = [_what_is_wrong(value) for value in raw.to_pylist()]
    rows = np.flatnonzero([error is None for error in errors])
    return Readable(raw.take(pa.array(rows)).cast(pa.large_string()), rows, pa.array(errors, pa.string()))


def _if_all_is_well(raw: pa.LargeBinaryArray) -> pa.LargeStringArray | None:
    if raw.null_count:
        return None
    try:
        texts = raw.cast(pa.large_string())
    except pa.ArrowInvalid:
        return None
    if not len(texts):
        return texts
    shortest = pc.min(pc.binary_length(pc.utf8_trim_whitespace(texts))).as_py()
    longest = pc.max(pc.binary_length(texts)).as_py()
    offsets = np.frombuffer(raw.buffers()[1], dtype=np.int64)[raw.offset : raw.offset + len(raw) + 1]
    data = np.frombuffer(raw.buffers()[2], dtype=np.uint8)[offsets[0] : offsets[-1]] if shortest else np.zeros(1)
    return texts if shortest and longest <= MAX_CHARACTERS and data.min() else None


def _what_is_wrong(value: bytes | None) -> str | None:
    if value is None:
        return "the text is missing"
    text = value.decode("utf-8", "surrogateescape")
    if len(text) > MAX_CHARACTERS:
        return f"the text has more than the {MAX_CHARACTERS:,} characters allowed"
    if not text.strip():
        return "empty document"
    return describe_damage(text, "utf-8")


def read_labels(column: pa.Array, separator: str | None = None) -> pa.LargeListArray:
    """The categories of each row: a list, a string to split at the separator, or one name."""
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        lists = column.cast(pa.large_list(pa.large_string()))
    else:
        names = column.cast(pa.large_string())
        single = pa.LargeListArray.from_arrays(pa.array(np.arange(len(names) + 1)), names)
        lists = pc.split_pattern(names, separator).cast(single.type) if separator else single
    return _tidied(lists)


def _tidied(lists: pa.LargeListArray) -> pa.LargeListArray:
    """The same without white space around names, empty names and repetitions."""
    owners, names = pc.list_parent_indices(lists), pc.utf8_trim_whitespace(lists.flatten())
    pairs = pa.table({"owner": owners, "name": names}).filter(pc.greater(pc.binary_length(names), 0))
    distinct = pairs.group_by(["owner", "name"], use_threads=False).aggregate([]) if pairs.num_rows else pairs
    owner = np.asarray(distinct["owner"].combine_chunks())
    order = np.argsort(owner, kind="stable")
    ends = np.searchsorted(owner[order], np.arange(len(lists) + 1))
    return pa.LargeListArray.from_arrays(pa.array(ends), distinct["name"].combine_chunks().take(pa.array(order)))


def indicator_of_labels(labels: pa.LargeListArray, categories: pa.Array) -> sparse.csr_array:
    """Documents x categories, 1 where the document has the category; names that are not listed are left out."""
    columns = pc.index_in(labels.flatten(), categories.cast(pa.large_string()))
    owners = np.asarray(pc.list_parent_indices(labels))
    known = np.asarray(columns.is_valid())
    places = owners[known], np.asarray(columns.drop_null())
    ones = np.ones(len(places[0]), dtype=np.int8)
    return sparse.csr_array((ones, places), shape=(len(labels), len(categories)))
