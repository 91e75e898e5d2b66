"""Simulate streams: each retrieved document is judged at once, by the labels of a corpus."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from bayesift.arrays import BoolArray, IntArray, SparseRows
from bayesift.errors import DataError
from bayesift.filtering.engine import in_front
from bayesift.filtering.events import REASONS, ProfileState
from bayesift.filtering.profile import Profile, ProfileSettings, row_vector
from bayesift.filtering.strategies import Strategy
from bayesift.filtering.vectors import VectorSpace, matrix_of
from bayesift.records import Corpus
from bayesift.text import TermVectorizer

STRATEGIES = ("plain", "+rel", "+ig", "+rel+ig", "+roi", "+rnd")


@dataclass(frozen=True, eq=False)
class TopicRun:
    """What one profile retrieved from the stream, in order.

    Parameters
    ----------
    n_relevant : relevant documents in the stream
    rows, why, relevant : of each retrieved document: its row, index into `REASONS`, whether it is
        relevant
    n_terms, start_terms : words of the profile after each judgement, and before the stream
    ranks : ranks (from 1) of all relevant documents when the retrieved ones are read first, then
        the others by their probability under the final profile
    """

    topic: str
    n_relevant: int
    rows: IntArray
    why: IntArray
    relevant: BoolArray
    n_terms: IntArray
    start_terms: int
    ranks: IntArray


@dataclass(frozen=True, eq=False)
class Simulation:
    """What each strategy retrieved from one stream: by its name, one run per topic.

    `truth` is documents of the stream x topics, `n_batch` the number of documents of the batch
    phase, `target` that of T9P.
    """

    name: str
    truth: SparseRows
    topics: tuple[str, ...]
    n_batch: int
    target: int = 50
    runs: dict[str, list[TopicRun]] = field(default_factory=dict)

    @property
    def n_stream(self) -> int:
        """Documents of the stream."""
        n_documents: int = self.truth.shape[0]
        return n_documents

    def decisions(self, strategy: str) -> SparseRows:
        """Return documents of the stream x topics, 1 where retrieved."""
        runs = self.runs[strategy]
        rows = np.concatenate([run.rows for run in runs])
        columns = np.repeat(np.arange(len(runs)), [len(run.rows) for run in runs])
        return sparse.csr_array(
            (np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=self.truth.shape
        )


@dataclass(frozen=True)
class Stream:
    """Labelled documents as vectors: the batch phase, then the stream.

    Labels are documents x topics.

    `ids` are those of the stream; each topic statement is learned as a relevant document in front
    of the batch.
    """

    batch: SparseRows
    documents: SparseRows
    batch_labels: SparseRows
    labels: SparseRows
    topics: tuple[str, ...]
    ids: list[str]
    name: str = ""
    statements: Mapping[str, Any] = field(default_factory=dict)


def stream_of(
    corpus: Corpus,
    *,
    n_batch: int | None = None,
    topics: Sequence[str] | None = None,
    relevant: tuple[int, int | None] = (1, None),
    relevant_in_batch: int = 0,
    statements: Mapping[str, str] | None = None,
    stemmer: str | None = "porter",
    stop_words: str | None = "english",
) -> Stream:
    """Split a corpus into batch phase and stream, in the order of dates if it has dates.

    Parameters
    ----------
    corpus : documents with categories; a corpus of vectors is used as it is
    n_batch : documents of the batch phase; by default the split "train", else the first quarter
    topics : categories to use; by default all with enough relevant documents
    relevant : minimum and maximum number of relevant documents of a topic in the stream, unless
        `topics` is given
    relevant_in_batch : minimum number of relevant documents of a topic in the batch phase, likewise
    statements : topic statements
    stemmer, stop_words : of the vectors

    Examples
    --------
    >>> from bayesift.records import Document
    >>> texts = ["wheat", "crude oil", "wheat corn", "oil"]
    >>> labels = [("grain",), (), ("grain",), ()]
    >>> documents = [Document(str(i), texts[i], categories=labels[i]) for i in range(4)]
    >>> corpus = Corpus(tuple(documents), ("grain",))
    >>> stream = stream_of(corpus, n_batch=2)
    >>> stream.documents.shape[0], stream.labels.toarray().ravel().tolist()
    (2, [1, 0])
    """
    first, rest = _cut(corpus, n_batch)
    batch = corpus.select(first)
    stream = corpus.select(rest)
    if topics is not None:
        chosen = tuple(topics)
    else:
        chosen = _frequent(batch, stream, relevant_in_batch, *relevant)
    unknown = [name for name in chosen if name not in corpus.categories]
    if unknown:
        raise DataError(f"the corpus has no category {unknown[0]!r}")
    if not chosen:
        raise DataError("no category has enough relevant documents in the stream")
    columns = [corpus.categories.index(name) for name in chosen]
    vectors: dict[str, Any] = {}
    if corpus.vectors is not None:
        batch_rows = _with_int32(batch.vectors)
        rows = _with_int32(stream.vectors)
    else:
        space = VectorSpace(stemmer=stemmer, stop_words=stop_words)
        batch_rows = space.learn_background(batch.texts)
        vectors = {
            name: space.vector(name, text)
            for name, text in (statements or {}).items()
            if name in chosen
        }
        space.add_words(_words(stream.texts, space))
        rows = space.weigh(stream.ids, stream.texts).rows
    before, after = (part.indicator.tocsc()[:, columns].tocsr() for part in (batch, stream))
    return Stream(batch_rows, rows, before, after, chosen, stream.ids, corpus.name, vectors)


def simulate(
    stream: Stream,
    strategies: Sequence[str] = STRATEGIES,
    *,
    settings: ProfileSettings | None = None,
    progress: Callable[[int], None] | None = None,
) -> Simulation:
    """Run a profile for every topic over a stream, once per strategy.

    A retrieved document is judged at once.

    Parameters
    ----------
    stream : from `stream_of`
    strategies : names as of `Strategy.of`
    settings : of the profiles; `retrain` and `query` of the strategy are replaced
    progress : called with the number of finished topics

    Examples
    --------
    >>> X, Y = sparse.csr_array(np.eye(8)), sparse.csr_array(np.tile([[1], [0]], (4, 1)))
    >>> stream = Stream(X, X, Y, Y, ("grain",), list("12345678"))
    >>> simulate(stream, ["plain", "+ig"]).runs["+ig"][0].topic
    'grain'
    """
    base = ProfileSettings() if settings is None else settings
    kinds = {str(Strategy.of(name)): Strategy.of(name) for name in strategies}
    target = base.goal.adapt(base.strategy).target
    runs = {name: list[TopicRun]() for name in kinds}
    result = Simulation(
        stream.name, stream.labels, stream.topics, stream.batch.shape[0], target, runs
    )
    truth = stream.labels.tocsc()
    batch_truth = stream.batch_labels.tocsc()
    for column, topic in enumerate(stream.topics):
        labels = _column(truth, column)
        start = ProfileState.of(_started(topic, base, stream, _column(batch_truth, column)))
        for name, kind in kinds.items():
            n_stream = stream.documents.shape[0]
            strategy = replace(
                base.strategy, retrain=kind.retrain, query=kind.query, stream_length=n_stream
            )
            profile = start.with_settings(replace(base, strategy=strategy)).profile()
            runs[name].append(play(profile, stream.documents, labels, stream.ids))
        if progress is not None:
            progress(column + 1)
    return result


def play(
    profile: Profile, documents: SparseRows, labels: BoolArray, ids: Sequence[str]
) -> TopicRun:
    """Run one profile over a stream; what it retrieves is judged at once."""
    start_terms = profile.n_terms
    # Row, reason, and words of the profile after the judgement
    hits: list[tuple[int, int, int]] = []
    draws = profile.draws(list(ids))
    hit = profile.scan(documents, 0, draws)
    while hit is not None:
        reason = hit.why - 1
        profile.count_retrieval(queried=REASONS[reason] != "relevant")
        profile.judge(row_vector(documents, hit.row, ids[hit.row]), bool(labels[hit.row]))
        hits.append((hit.row, reason, profile.n_terms))
        hit = profile.scan(documents, hit.row + 1, draws)
    rows, why, n_terms = np.array(hits, dtype=np.int64).reshape(-1, 3).T.copy()
    ranks = _ranks(profile, documents, labels, rows)
    return TopicRun(
        profile.name, int(labels.sum()), rows, why, labels[rows], n_terms, start_terms, ranks
    )


def _ranks(
    profile: Profile, documents: SparseRows, labels: BoolArray, retrieved: IntArray
) -> IntArray:
    """Rank the relevant documents if retrieved ones are read first, others by probability."""
    others = np.setdiff1d(np.arange(len(labels)), retrieved, assume_unique=True)
    order = np.concatenate(
        [retrieved, others[np.argsort(-profile.scores(documents)[others], kind="stable")]]
    )
    ranks: IntArray = np.flatnonzero(labels[order]) + 1
    return ranks


def _started(
    topic: str, settings: ProfileSettings, stream: Stream, labels: BoolArray
) -> Profile:
    """Make a profile after the batch phase; a topic statement is one more relevant document."""
    profile = Profile(topic, settings)
    X = stream.batch
    y = labels
    if topic in stream.statements:
        X, y = in_front(stream.statements[topic], X, y)
    profile.learn_batch(X, y)
    return profile


def _column(matrix: sparse.csc_array, column: int) -> BoolArray:
    members = np.zeros(matrix.shape[0], dtype=bool)
    members[matrix.indices[matrix.indptr[column] : matrix.indptr[column + 1]]] = True
    return members


def _cut(corpus: Corpus, n_batch: int | None) -> tuple[IntArray, IntArray]:
    """Return the rows of the batch phase and those of the stream."""
    order = _dated_order(corpus)
    if n_batch is None and {"train", "test"} <= set(corpus.splits):
        splits = np.array([corpus.documents[i].split or "" for i in order])
        return order[splits == "train"], order[splits == "test"]
    size = len(order) // 4 if n_batch is None else n_batch
    if not 0 < size < len(order):
        raise DataError(f"a batch of {size:,} leaves nothing of {len(order):,} documents")
    return order[:size], order[size:]


def _dated_order(corpus: Corpus) -> IntArray:
    """Order by date, with ties in the order of the corpus.

    A document without a date follows the one before it.
    """
    stamps = np.array([np.nan if d.date is None else d.date.timestamp() for d in corpus])
    known = np.flatnonzero(~np.isnan(stamps))
    if not len(known):
        return np.arange(len(stamps))
    before = known[
        np.maximum(np.searchsorted(known, np.arange(len(stamps)), side="right") - 1, 0)
    ]
    return np.argsort(stamps[before], kind="stable")


def _frequent(
    batch: Corpus, stream: Corpus, in_batch: int, fewest: int, most: int | None
) -> tuple[str, ...]:
    before = batch.category_counts()
    counts = stream.category_counts()
    highest = len(stream) if most is None else most
    return tuple(
        c for c in stream.categories if before[c] >= in_batch and fewest <= counts[c] <= highest
    )


def _words(texts: Sequence[str], space: VectorSpace) -> list[str]:
    """List all words of texts, as the space spells them."""
    counter = TermVectorizer(stop_words=space.stop_words, stemmer=space.stemmer).fit(texts)
    names: list[str] = counter.vocabulary_.names
    return names


def _with_int32(rows: Any) -> SparseRows:
    indices = rows.indices.astype(np.int32)
    return matrix_of(
        rows.indptr.astype(np.int64), indices, rows.data.astype(np.float64), rows.shape[1]
    )
