"""Cells that a spreadsheet would run: which are guarded, and that columns agree with cells."""

import pyarrow as pa
import pytest

from bayesift.tables.cells import guarded_cell, guarded_column

FORMULAS = ["=1+1", "+A1*2", "-A1*2", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\uff1d1+1"]
FORMULAS += [f"{space}=1+1" for space in "\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u2003\u2028\u3000"]
PLAIN = ["", "plain", "-2", "+4.5", "-1e-5", "a=b", "it's", "well-known"]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_formulas_are_guarded_and_other_texts_are_not(kind):
    for text in FORMULAS:
        assert guarded_cell(text) == f"'{text}"
        assert guarded_column(pa.array([text], kind)).to_pylist() == [f"'{text}"]
    column = guarded_column(pa.array([*PLAIN, None], kind))
    assert column.to_pylist() == [*map(guarded_cell, PLAIN), None] == [*PLAIN, None]
    assert column.type == kind


def test_numbers_stay_numbers():
    numbers = pa.array([-1.5, None, 2.0])
    assert guarded_column(numbers) is numbers
