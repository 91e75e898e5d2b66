"""Dates as people write them, and the columns that hold them."""

import datetime

import pytest

from bayesift.errors import DataError
from bayesift.tables import Columns, load_table
from bayesift.tables.dates import read_dates


def days(*cells):
    return [
        None if date is None else date.strftime("%Y-%m-%d %H:%M") for date in read_dates(cells)
    ]


@pytest.mark.parametrize(
    ("cell", "date"),
    [
        ("2024-12-31", "2024-12-31 00:00"),
        ("2024-12-31 14:05", "2024-12-31 14:05"),
        ("2024-12-31T14:05:09Z", "2024-12-31 14:05"),
        ("2024-12-31T23:30:00-02:00", "2025-01-01 01:30"),
        ("31.12.2024", "2024-12-31 00:00"),
        ("3.4.24", "2024-04-03 00:00"),
        ("3.4.1999, 08:15", "1999-04-03 08:15"),
        ("2024/12/31", "2024-12-31 00:00"),
        ("12/31/2024 2:05 PM", "2024-12-31 14:05"),
        ("31/12/98", "1998-12-31 00:00"),
        ("1987", "1987-01-01 00:00"),
        ("Tue, 31 Dec 2024 14:05:00 +0100", "2024-12-31 13:05"),
        ("31.31.2024", None),
        ("yesterday", None),
        ("maybe", None),
        ("", None),
        (None, None),
        ("3/4/2024", None),
    ],
)
def test_a_cell(cell, date):
    assert days(cell) == [date]


def test_other_cells_tell_whether_days_come_first():
    assert days("3/4/2024", "3/25/2024") == ["2024-03-04 00:00", "2024-03-25 00:00"]
    assert days("3/4/2024", "25/3/2024") == ["2024-04-03 00:00", "2024-03-25 00:00"]
    # Both cannot be.
    assert days("3/25/2024", "25/3/2024") == [None, None]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "cp1252"])
def test_dates_of_a_table(write, kind):
    cells = [f"{day}/{month}/2024" for day in range(1, 29) for month in (1, 2)]
    cells[3] = "unknown"
    cells[5] = ""
    if kind == "jsonl":
        lines = [f'{{"text": "corn", "label": "a", "posted": "{cell}"}}' for cell in cells]
        path = write("a.jsonl", "\n".join(lines))
    else:
        text = "corn" if kind == "csv" else "café"
        content = "text,label,posted\n" + "".join(f"{text},a,{cell}\n" for cell in cells)
        path = write("a.csv", content.encode("cp1252" if kind == "cp1252" else "utf-8"))
    corpus = load_table(path)
    assert corpus.layout.columns.date == "posted"
    assert corpus.times[54:] == [datetime.datetime(2024, m, 28) for m in (1, 2)]
    assert (corpus.times[3], corpus.times[5]) == (None, None)
    assert corpus.documents[0].date == datetime.datetime(2024, 1, 1)
    assert corpus.select([1, 3]).times == [datetime.datetime(2024, 2, 1), None]
    said = [str(note) for note in corpus.notes]
    assert "column 'posted': 1 of 56 cells are no dates" in said
    assert load_table(path, columns=Columns(date="")).times is None


def test_numbers_are_dates_only_by_name(write):
    rows = "".join(f"corn {k},a,{1990 + k % 20},{1990 + k % 20},x{k}\n" for k in range(40))
    assert load_table(write("a.csv", f"text,label,n,m,o\n{rows}")).times is None
    corpus = load_table(write("a.csv", f"text,label,n,Year,o\n{rows}"))
    assert corpus.layout.columns.date == "Year"
    rows = "".join(f"corn {k},a,2024-01-{1 + k % 20:02d}\n" for k in range(40))
    assert load_table(write("a.csv", f"text,label,n\n{rows}")).layout.columns.date == "n"


def test_a_column_that_was_asked_for_holds_dates(write):
    path = write("a.csv", "text,label,when\ncorn,a,\noil,b,\n")
    with pytest.raises(
        DataError, match="'when' holds no dates: its cells are neither ISO 8601"
    ):
        load_table(path, columns=Columns(date="when"))


def test_groups_and_other_columns(write):
    path = write("a.csv", "text,label,who,price\ncorn,a,ann,1.5\noil,b,,2\nrye,a,bob,\n")
    corpus = load_table(path, columns=Columns(group="who", others=("Price",)))
    assert corpus.groups == ["ann", None, "bob"]
    assert corpus.others == {"price": ["1.5", "2", None]}
    assert corpus.select([2]).groups == ["bob"]
    assert corpus.select([2]).others == {"price": [None]}
    with pytest.raises(DataError, match="no column 'cost'; there are: 'text'"):
        load_table(path, columns=Columns(others=("cost",)))
