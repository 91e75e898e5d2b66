"""People's own tables: a document a row."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bayesift.datasets.columns import Columns, read_categories, read_date, read_name, read_text
from bayesift.datasets.lines import bare_suffix
from bayesift.datasets.problems import ProblemLog
from bayesift.datasets.rows import DELIMITERS, JSON_LINES, MAX_CHARACTERS, Row, TableReader
from bayesift.errors import DataError
from bayesift.records import Corpus, Document


def load_table(
    path: str | Path,
    *,
    columns: Columns | None = None,
    separator: str | None = None,
    encoding: str = "utf-8",
    max_characters: int = MAX_CHARACTERS,
    skip_bad: bool = False,
) -> Corpus:
    """Load a CSV, TSV, JSON lines or Parquet file; text may be compressed (.gz, .zst).

    Parameters
    ----------
    path : the file; its suffix tells its kind
    columns : the columns to read; what is not named is guessed
    separator : what stands between the categories of a label, when it holds several
    encoding : of the text
    max_characters : longest field that is accepted
    skip_bad : leave out rows that cannot be read and list them in `problems`, instead of refusing the file

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "news.jsonl"
    ...     _ = file.write_text('{"text": "wheat rose", "label": ["grain", "wheat"]}')
    ...     load_table(file).documents
    (Document(id='1', text='wheat rose', title='', categories=('grain', 'wheat'), date=None, split=None),)
    """
    path = Path(path)
    log = ProblemLog(skip=skip_bad)
    wanted = columns or Columns()
    found: Columns | None = None
    documents = DocumentList(path, log)
    for row in TableReader(path, log, encoding, max_characters):
        if found is None:
            found = wanted.resolve(row.values, file=str(path), line=_names_line(path, row))
        try:
            document = _read_document(row, found, separator)
        except ValueError as error:
            log.report(str(error), file=path, line=row.line)
        else:
            documents.add(document, row.line)
    return documents.corpus(name=path.name)


def _names_line(path: Path, row: Row) -> int | None:
    """Return the line that names the columns: a JSON object does, a CSV header does, Parquet has none."""
    suffix = bare_suffix(path)
    return row.line if suffix in JSON_LINES else 1 if suffix in DELIMITERS else None


def _read_document(row: Row, columns: Columns, separator: str | None) -> Document:
    values = row.values
    if columns.text not in values:
        there = ", ".join(map(repr, values)) or "none"
        raise ValueError(f"no column {columns.text!r}; there are: {there}")
    document = Document(
        id=read_name(values[columns.id]) if columns.id and values.get(columns.id) is not None else str(row.line),
        text=read_text(values, columns.text),
        title=read_text(values, columns.title),
        categories=read_categories(values.get(columns.label or ""), separator),
        date=read_date(values.get(columns.date or "")),
        split=read_name(values.get(columns.split or "") or "") or None,
    )
    if not document.full_text.strip():
        raise ValueError("empty document")
    return document


class DocumentList:
    """Documents of one file in the making; an id that comes twice is reported with both lines.

    Examples
    --------
    >>> documents = DocumentList(Path("news.csv"), ProblemLog())
    >>> documents.add(Document("a", "wheat"), line=2)
    >>> documents.add(Document("a", "corn"), line=5)
    Traceback (most recent call last):
    bayesift.errors.DataError: news.csv:5: duplicate id 'a', first on line 2
    """

    def __init__(self, path: Path, log: ProblemLog) -> None:
        self.path = path
        self.log = log
        self.documents: list[Document] = []
        self._lines: dict[str, int] = {}

    def add(self, document: Document, line: int, *, file: Path | None = None) -> None:
        """Take a document in, unless its id is empty or known."""
        first = self._lines.get(document.id)
        if not document.id:
            self.log.report("empty id", file=file or self.path, line=line)
        elif first is not None:
            message = f"duplicate id {document.id[:80]!r}, first on line {first}"
            self.log.report(message, file=file or self.path, line=line)
        else:
            self._lines[document.id] = line
            self.documents.append(document)

    def corpus(self, *, name: str, categories: Iterable[str] | None = None) -> Corpus:
        """Close the list; a file without a single document is refused."""
        if not self.documents:
            skipped = f"; records skipped: {len(self.log.problems):,}" if self.log.problems else ""
            raise DataError(f"holds no documents{skipped}", file=self.path)
        if categories is None:
            categories = sorted({c for document in self.documents for c in document.categories})
        return Corpus(tuple(self.documents), tuple(categories), name=name, problems=tuple(self.log.problems))
