"""People's own vectors: LIBSVM and SVMlight files, one label or several ("1,3") a line."""

from __future__ import annotations

import re
from pathlib import Path

from bayesift.datasets.pairs import PairBlock, describe_pairs, parse_pairs, read_blocks, stack_blocks
from bayesift.datasets.problems import ProblemLog
from bayesift.errors import DataError
from bayesift.records import Corpus, Document

SUFFIXES = (".svm", ".svmlight", ".libsvm")

_LABELS = re.compile(rb"[-+.\w]+(?:,[-+.\w]+)*")
_QUERY = re.compile(rb"\s*qid:\d+")


def load_svmlight(path: str | Path, *, skip_bad: bool = False) -> Corpus:
    r"""Load term vectors; a document's id is its line number, and its text is empty.

    Terms are numbered from 1, unless a term 0 occurs. Comments (#) and query ids (qid:) are left out.

    Parameters
    ----------
    path : the file; decompressed when it ends in .gz or .zst
    skip_bad : leave out lines that cannot be read and list them in `problems`, instead of refusing the file

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "news.svm"
    ...     _ = file.write_text("+1 1:0.5 3:1\n-1 2:1\n")
    ...     corpus = load_svmlight(file)
    >>> corpus.categories, corpus.vectors.toarray().tolist()
    (('-1', '1'), [[0.5, 0.0, 1.0], [0.0, 1.0, 0.0]])
    """
    path = Path(path)
    log = ProblemLog(skip=skip_bad)
    documents: list[Document] = []
    blocks: list[PairBlock] = []
    for first, lines in read_blocks(path):
        parsed = [(first + i, *_split_line(line)) for i, line in enumerate(lines)]
        parsed = [(number, labels, pairs) for number, labels, pairs in parsed if labels or pairs]
        block = parse_pairs([pairs for _, _, pairs in parsed])
        if block is None or not all(_is_label(labels) for _, labels, _ in parsed):
            parsed = _keep_good(parsed, path, log)
            block = parse_pairs([pairs for _, _, pairs in parsed])
        assert block is not None  # every line that is left was parsed on its own
        blocks.append(block)
        documents += [Document(str(n), "", categories=_categories(labels)) for n, labels, _ in parsed]
    if not documents:
        raise DataError("holds no documents", file=path)
    categories = tuple(sorted({c for document in documents for c in document.categories}))
    first_term = min((int(block.terms.min()) for block in blocks if len(block.terms)), default=1)
    vectors = stack_blocks(blocks, first_term=min(first_term, 1))
    return Corpus(tuple(documents), categories, path.name, vectors=vectors, problems=tuple(log.problems))


def _split_line(line: bytes) -> tuple[bytes, bytes]:
    """Return labels and pairs; a line that starts with a space or a pair has no labels."""
    content = line.partition(b"#")[0].rstrip()
    labels, _, pairs = content.replace(b"\t", b" ").partition(b" ")
    if b":" in labels:
        labels, pairs = b"", content
    if b"qid:" in pairs:
        pairs = _QUERY.sub(b"", pairs, count=1)
    return labels, pairs


def _is_label(labels: bytes) -> bool:
    return not labels or _LABELS.fullmatch(labels) is not None


def _categories(labels: bytes) -> tuple[str, ...]:
    names = (name.removeprefix("+") for name in labels.decode("utf-8", "replace").split(","))
    return tuple(dict.fromkeys(name for name in names if name))


def _keep_good(parsed: list[tuple[int, bytes, bytes]], path: Path, log: ProblemLog) -> list[tuple[int, bytes, bytes]]:
    good = []
    for number, labels, pairs in parsed:
        if not _is_label(labels):
            shown = labels[:40].decode("latin-1")
            log.report(f"not a label, nor several with commas: {shown!r}", file=path, line=number)
        elif parse_pairs([pairs]) is None:
            log.report(describe_pairs(pairs), file=path, line=number)
        else:
            good.append((number, labels, pairs))
    return good
