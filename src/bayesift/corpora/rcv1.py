"""Load RCV1-v2: vectors of newswire of 1996-97 with a topic hierarchy (Lewis et al. 2004)."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from bayesift.corpora.directory import find
from bayesift.errors import CorpusNotFoundError, DataError
from bayesift.records import Corpus, Document
from bayesift.tables.loading import COMPRESSIONS, ProblemLog, read_lines
from bayesift.tables.svmlight import (
    PairBlock,
    describe_pairs,
    parse_pairs,
    read_blocks,
    stack_blocks,
)

TERMS = 47_236
VECTORS = {
    "train": ("lyrl2004_vectors_train.dat",),
    "test": tuple(f"lyrl2004_vectors_test_pt{part}.dat" for part in range(4)),
}
QRELS = ("rcv1-v2.topics.qrels", "rcv1v2.topics.qrels")
HIERARCHIES = ("rcv1.topics.hier.orig", "rcv1.topics.hier.orig.txt")

_EDGE = re.compile(r"parent:\s*(\S+)\s+child:\s*(\S+)\s+child-description:\s*(.*?)\s*")


def load_rcv1(
    data_dir: str | Path | None = None, *, folder: str = "rcv1", skip_bad: bool = False
) -> Corpus:
    """Load RCV1-v2 term vectors (tf-idf, unit length, no text) with topics and their hierarchy.

    Parameters
    ----------
    data_dir : the data directory; see `data_directory`
    folder : "rcv1", or "rcv1-sample" for a part of it in the same layout
    skip_bad : skip lines that cannot be read and list them in `problems`, instead of refusing the
        file
    """
    home = find(folder, train_paths(folder), data_dir, fetchable=folder == "rcv1").parent
    log = ProblemLog(skip=skip_bad)
    topics = _read_judgements(_require(home, QRELS, folder), log)
    documents: list[Document] = []
    blocks: list[PairBlock] = []
    for split, names in VECTORS.items():
        for path in filter(None, (_choose(home, [name]) for name in names)):
            for ids, block in _read_vectors(path, log):
                documents += [_document(name, topics, split) for name in ids]
                blocks.append(block)
    categories = tuple(sorted(set().union(*topics.values())))
    vectors = stack_blocks(blocks, first_term=1, columns=TERMS)
    parents = _read_hierarchy(home)
    return Corpus(tuple(documents), categories, folder, parents, vectors, tuple(log.problems))


def _document(name: str, topics: dict[str, set[str]], split: str) -> Document:
    return Document(name, "", categories=tuple(sorted(topics.get(name, ()))), split=split)


def train_paths(folder: str) -> tuple[str, ...]:
    """Return the possible paths of the training vectors."""
    return tuple(
        f"{folder}/{name}{suffix}"
        for name in VECTORS["train"]
        for suffix in (".gz", "", ".zst")
    )


def _choose(home: Path, names: list[str] | tuple[str, ...]) -> Path | None:
    candidates = (home / f"{name}{suffix}" for name in names for suffix in ("", *COMPRESSIONS))
    return next((path for path in candidates if path.is_file()), None)


def _require(home: Path, names: tuple[str, ...], folder: str) -> Path:
    path = _choose(home, names)
    if path is None:
        raise CorpusNotFoundError(
            f"{names[0]}.gz is not in {home}; put it there, or fetch {folder} again"
        )
    return path


def _read_judgements(path: Path, log: ProblemLog) -> dict[str, set[str]]:
    topics: dict[str, set[str]] = defaultdict(set)
    for number, line in enumerate(read_lines(path, "latin-1"), 1):
        parts = line.split()
        if len(parts) == 3 and parts[2] == "1":
            topics[parts[1]].add(parts[0])
        elif parts:
            log.report("not a judgement: TOPIC DOCUMENT 1", file=path, line=number)
    return topics


def _read_vectors(path: Path, log: ProblemLog) -> list[tuple[list[str], PairBlock]]:
    blocks = []
    for first, lines in read_blocks(path):
        parts = [line.partition(b" ") for line in lines]
        ids = [part[0] for part in parts]
        pairs = [part[2] for part in parts]
        block = parse_pairs([line.rstrip(b"\n") for line in pairs])
        if block is None or not b"".join(ids).isdigit() or not all(ids) or _leaves_range(block):
            ids, pairs = _keep_good(first, ids, pairs, path, log)
            block = parse_pairs(pairs)
        assert block is not None  # every line that is left was parsed on its own
        blocks.append(([name.decode("ascii") for name in ids], block))
    return blocks


def _leaves_range(block: PairBlock) -> bool:
    return bool(len(block.terms)) and not 1 <= block.terms.min() <= block.terms.max() <= TERMS


def _keep_good(
    first: int, ids: list[bytes], pairs: list[bytes], path: Path, log: ProblemLog
) -> tuple[list[bytes], list[bytes]]:
    good: tuple[list[bytes], list[bytes]] = [], []
    for number, (name, line) in enumerate(zip(ids, pairs, strict=True), first):
        line = line.rstrip(b"\r\n")
        block = parse_pairs([line])
        if not name.strip() and not line:
            continue
        if not name.isdigit():
            log.report("no document number at the start of the line", file=path, line=number)
        elif block is None:
            log.report(describe_pairs(line), file=path, line=number)
        elif _leaves_range(block):
            log.report(f"a term that is not between 1 and {TERMS:,}", file=path, line=number)
        else:
            good[0].append(name)
            good[1].append(line)
    return good


def _read_hierarchy(home: Path) -> dict[str, str]:
    """Read the parent of each topic; the topics under the root have none."""
    public = next((home / name for name in HIERARCHIES if (home / name).is_file()), None)
    if public is not None:
        edges = [(edge[1], edge[2]) for edge in _read_edges(public)]
    elif (home / "rcv1.taxonomy").is_file():
        rows = [line.split() for line in read_lines(home / "rcv1.taxonomy")]
        edges = [
            (parent, child) for parent, *children in filter(None, rows) for child in children
        ]
    else:
        edges = []
    return {child: parent for parent, child in edges if parent not in ("Root", "None")}


def _read_edges(path: Path) -> list[re.Match[str]]:
    edges = []
    for number, line in enumerate(read_lines(path), 1):
        edge = _EDGE.fullmatch(line)
        if edge is None and line.strip():
            raise DataError(
                "not an edge: parent: X child: Y child-description: Z", file=path, line=number
            )
        if edge is not None:
            edges.append(edge)
    return edges
