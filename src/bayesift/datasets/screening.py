"""Records screened for systematic reviews, in the columns of ASReview (van de Schoot et al. 2021)."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from bayesift.datasets.columns import Columns, read_date, read_name, read_text
from bayesift.datasets.directory import find
from bayesift.datasets.problems import ProblemLog
from bayesift.datasets.rows import Row, TableReader
from bayesift.datasets.tables import DocumentList
from bayesift.errors import DataError
from bayesift.records import Corpus, Document

LABELS = ("label_included", "final_included", "included", "label")
REVIEWS = {
    "screening-cohen-adhd": "Cohen_2006_ADHD",
    "screening-cohen-triptans": "Cohen_2006_Triptans",
    "screening-kitchenham": "Kitchenham_2010",
    "screening-nagtegaal": "Nagtegaal_2019",
}
_DECISIONS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


def load_screening(path: str | Path, *, encoding: str = "utf-8", skip_bad: bool = False) -> Corpus:
    r"""Load the records of a review; those that were included have the category "included".

    Records without title and abstract stay in: they were screened, too.

    Parameters
    ----------
    path : a table with title, abstract and one of `LABELS`; also record_id, year
    encoding : of the table
    skip_bad : leave out rows that cannot be read and list them in `problems`, instead of refusing the file

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "review.csv"
    ...     _ = file.write_text("title,abstract,label_included\nA trial,We tried.,1\n")
    ...     load_screening(file).documents[0].categories
    ('included',)
    """
    path = Path(path)
    log = ProblemLog(skip=skip_bad)
    columns: Columns | None = None
    documents = DocumentList(path, log)
    for row in TableReader(path, log, encoding):
        if columns is None:
            columns = _find_columns(row.values, path)
        try:
            document = _read_document(row, columns)
        except ValueError as error:
            log.report(str(error), file=path, line=row.line)
        else:
            documents.add(document, row.line)
    return documents.corpus(name=path.stem, categories=("included",))


def load_review(name: str, data_dir: str | Path | None = None, *, skip_bad: bool = False) -> Corpus:
    """Load one of the published reviews from the data directory.

    Examples
    --------
    >>> load_review("screening-kitchenham", "no-such-folder")
    Traceback (most recent call last):
    bayesift.errors.CorpusNotFoundError: screening/Kitchenham_2010.csv is not in no-such-folder; \
put it there, or run: bayesift datasets fetch screening-kitchenham --data-dir no-such-folder
    """
    return load_screening(find(name, [f"screening/{REVIEWS[name]}.csv"], data_dir), skip_bad=skip_bad)


def is_screening(path: Path, encoding: str = "utf-8") -> bool:
    """Tell by its columns whether a table holds the decisions of a review.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "news.csv"
    ...     _ = file.write_text("title,text")
    ...     is_screening(file)
    False
    """
    first = next(iter(TableReader(path, ProblemLog(skip=True), encoding)), None)
    return first is not None and {"title", "abstract", LABELS[0]} <= first.values.keys()


def _find_columns(names: Collection[str], path: Path) -> Columns:
    label = next((name for name in LABELS if name in names), None)
    if label is None:
        there = ", ".join(map(repr, names))
        message = f"no column {' or '.join(LABELS)}; there are: {there}"
        raise DataError(message, file=path, line=1)
    identity = next((name for name in ("record_id", "id") if name in names), None)
    date = "year" if "year" in names else None
    return Columns("abstract", label, identity, "title", date).resolve(names, file=str(path), line=1)


def _read_document(row: Row, columns: Columns) -> Document:
    value = row.values.get(columns.label or "")
    decision = "" if value is None else read_name(value).removesuffix(".0").lower()
    if decision not in _DECISIONS:
        raise ValueError(f"column {columns.label!r} holds {decision[:40]!r}, where 0 or 1 is expected")
    return Document(
        id=read_name(row.values.get(columns.id or "") or row.line),
        text=read_text(row.values, columns.text),
        title=read_text(row.values, columns.title),
        categories=("included",) if _DECISIONS[decision] else (),
        date=read_date(row.values.get(columns.date or "")),
    )
