"""Load records screened for reviews, as ASReview has them (van de Schoot et al. 2021)."""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain, islice
from pathlib import Path

from bayesift.corpora.directory import find
from bayesift.errors import DataError
from bayesift.records import Corpus, Document
from bayesift.tables.columns import Columns, read_date, read_name, read_text
from bayesift.tables.loading import DocumentList, ProblemLog
from bayesift.tables.reader import TableFormat, TableReader, read_records
from bayesift.tables.rows import Row

LABELS = ("label_included", "final_included", "included", "label")
# A table with all of these holds the decisions of a review.
SCREENING_COLUMNS = frozenset({"title", "abstract", LABELS[0]})
REVIEWS = {
    "screening-cohen-adhd": "Cohen_2006_ADHD",
    "screening-cohen-triptans": "Cohen_2006_Triptans",
    "screening-kitchenham": "Kitchenham_2010",
    "screening-nagtegaal": "Nagtegaal_2019",
}
_DECISIONS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


def load_screening(
    path: str | Path,
    *,
    format: TableFormat | None = None,  # noqa: A002
    skip_bad: bool = False,
) -> Corpus:
    r"""Load the records of a review; included ones have the category "included".

    Records without title and abstract are kept: they were screened, too.

    Parameters
    ----------
    path : a table with title, abstract and one of `LABELS`; also record_id, year
    format : how the table is written; guessed by default
    skip_bad : skip rows that cannot be read and list them in `problems`, instead of refusing the
        file
    """
    return read_screening(TableReader(Path(path), ProblemLog(skip=skip_bad), format))


def read_screening(reader: TableReader) -> Corpus:
    """Load the records of a review from a reader; see `load_screening`."""
    path = reader.path
    documents = DocumentList(path, reader.checks.log)
    rows = iter(reader)
    first = list(islice(rows, 1))
    columns = _find_columns(first[0].values, path) if first else Columns()
    for line, document in read_records(
        chain(first, rows), columns, _read_document, reader.checks
    ):
        documents.add(document, line)
    return documents.corpus(name=path.stem, categories=("included",), notes=reader.notes)


def load_review(
    name: str, data_dir: str | Path | None = None, *, skip_bad: bool = False
) -> Corpus:
    """Load one of the published reviews from the data directory."""
    return load_screening(
        find(name, [f"screening/{REVIEWS[name]}.csv"], data_dir), skip_bad=skip_bad
    )


def _find_columns(names: Collection[str], path: Path) -> Columns:
    label = next((name for name in LABELS if name in names), None)
    if label is None:
        there = ", ".join(map(repr, names))
        message = f"no column {' or '.join(LABELS)}; there are: {there}"
        raise DataError(message, file=path, line=1)
    identity = next((name for name in ("record_id", "id") if name in names), None)
    date = "year" if "year" in names else None
    return Columns("abstract", label, identity, "title", date).resolve(
        names, file=str(path), line=1
    )


def _read_document(row: Row, columns: Columns) -> Document:
    value = row.values.get(columns.label or "")
    decision = "" if value is None else read_name(value).removesuffix(".0").lower()
    if decision not in _DECISIONS:
        raise ValueError(
            f"column {columns.label!r} holds {decision[:40]!r}, where 0 or 1 is expected"
        )
    return Document(
        id=read_name(row.values.get(columns.id or "") or row.line),
        text=read_text(row.values, columns.text),
        title=read_text(row.values, columns.title),
        categories=("included",) if _DECISIONS[decision] else (),
        date=read_date(row.values.get(columns.date or "")),
    )
