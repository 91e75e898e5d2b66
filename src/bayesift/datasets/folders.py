"""People's own folders: a folder for each category, a text file for each document."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from bayesift.datasets.archives import read_members
from bayesift.datasets.lines import check_encoding, decode, describe_damage
from bayesift.datasets.problems import ProblemLog
from bayesift.errors import DataError
from bayesift.records import Corpus, Document

SPLITS = {
    "train": "train",
    "training": "train",
    "test": "test",
    "testing": "test",
    "dev": "validation",
    "val": "validation",
    "valid": "validation",
    "validation": "validation",
}


def load_folder(path: str | Path, *, encoding: str = "utf-8", skip_bad: bool = False) -> Corpus:
    """Load a folder (or a tar or zip archive of one) that has a subfolder for each category.

    When the folders on top are all called train, test or the like, they are the splits and the
    categories lie in them. A document's id is its path; files whose name starts with a dot are
    the system's and no documents.

    Parameters
    ----------
    path : the folder or archive
    encoding : of the texts
    skip_bad : leave out files that cannot be read and list them in `problems`, instead of refusing

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (Path(folder) / "grain").mkdir()
    ...     _ = (Path(folder) / "grain" / "1.txt").write_text("wheat rose")
    ...     load_folder(folder).documents[0].categories
    ('grain',)
    """
    path = Path(path)
    check_encoding(encoding)
    log = ProblemLog(skip=skip_bad)
    members = [(PurePosixPath(name), content) for name, content in read_members(path) if not _is_hidden(name)]
    depth = _common_depth([name for name, _ in members]) if path.is_file() else 0
    tops = {name.parts[depth] for name, _ in members if len(name.parts) > depth + 1}
    has_splits = bool(tops) and all(top.lower() in SPLITS for top in tops)
    documents = []
    for name, content in members:
        try:
            documents.append(_read_document(PurePosixPath(*name.parts[depth:]), content, has_splits, encoding))
        except DataError as error:
            log.report(error.message, file=path / name, line=error.line)
    if not documents:
        raise DataError("holds no documents; there should be a folder for each category", file=path)
    categories = tuple(sorted({c for document in documents for c in document.categories}))
    return Corpus(tuple(documents), categories, name=path.name, problems=tuple(log.problems))


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") for part in PurePosixPath(name).parts)


def _common_depth(names: list[PurePosixPath]) -> int:
    """Count the folders around everything: archives often hold a single one on top."""
    depth = 0
    while names and len({name.parts[: depth + 1] for name in names}) == 1:
        is_split = names[0].parts[depth].lower() in SPLITS
        if is_split or min(len(name.parts) for name in names) <= depth + 2:
            break
        depth += 1
    return depth


def _read_document(name: PurePosixPath, content: bytes, has_splits: bool, encoding: str) -> Document:
    parts = name.parts[1:] if has_splits else name.parts
    if len(parts) < 2:
        raise DataError("lies in no category folder")
    text = decode(content, encoding, file=name.as_posix())
    damage = describe_damage(text, encoding) or ("empty document" if not text.strip() else None)
    if damage is not None:
        raise DataError(damage)
    split = SPLITS[name.parts[0].lower()] if has_splits else None
    return Document(name.as_posix(), text, categories=(parts[0],), split=split)
