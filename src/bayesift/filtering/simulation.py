"""A stream played again: every document is judged as soon as it is retrieved, by the labels of a corpus."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from bayesift.errors import DataError
from bayesift.filtering.events import REASONS
from bayesift.filtering.profile import Profile, ProfileSettings, row_vector
from bayesift.filtering.state import ProfileState
from bayesift.filtering.strategies import Strategy
from bayesift.filtering.vectors import VectorSpace
from bayesift.records import Corpus

Array = np.ndarray[Any, Any]

STRATEGIES = ("plain", "+rel", "+ig", "+rel+ig", "+rnd")


@dataclass(frozen=True, eq=False)
class TopicRun:
    """What one profile retrieved from the stream, in order.

    Parameters
    ----------
    topic : its name
    n_relevant : relevant documents in the stream
    rows : of the retrieved documents in the stream
    why : place in `REASONS` of each
    relevant : whether each was
    n_terms : words of the profile after each judgement
    start_terms : words of the profile before the stream
    places : of all relevant documents of the stream in the order of reading (1 for the first): the retrieved ones as
        they came, then those that were passed over, the most probable first by the profile as it is at the end
    """

    topic: str
    n_relevant: int
    rows: Array
    why: Array
    relevant: Array
    n_terms: Array
    start_terms: int
    places: Array


@dataclass(frozen=True, eq=False)
class Simulation:
    """What each strategy retrieved from one stream.

    Parameters
    ----------
    name : of the corpus
    truth : documents of the stream x topics
    topics : names of the columns
    runs : by strategy, one run a topic
    n_batch : documents of the batch phase
    target : number of documents that T9P asks for
    """

    name: str
    truth: sparse.csr_array
    topics: tuple[str, ...]
    n_batch: int
    target: int = 50
    runs: dict[str, list[TopicRun]] = field(default_factory=dict)

    @property
    def n_stream(self) -> int:
        """Documents of the stream."""
        n_documents: int = self.truth.shape[0]
        return n_documents

    def decisions(self, strategy: str) -> sparse.csr_array:
        """Documents of the stream x topics, 1 where retrieved."""
        runs = self.runs[strategy]
        rows = np.concatenate([run.rows for run in runs])
        columns = np.repeat(np.arange(len(runs)), [len(run.rows) for run in runs])
        return sparse.csr_array((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=self.truth.shape)


@dataclass(frozen=True)
class Stream:
    """Labelled documents as vectors: the batch phase, then the stream.

    Parameters
    ----------
    batch, documents : vectors
    batch_labels, labels : documents x topics
    topics : names of the columns
    ids : of the documents of the stream
    statements : topic statements, each learned as a relevant document in front of the batch
    """

    batch: sparse.csr_array
    documents: sparse.csr_array
    batch_labels: sparse.csr_array
    labels: sparse.csr_array
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
    """Cut a corpus into batch phase and stream, in the order of dates where there are any.

    Parameters
    ----------
    corpus : documents with categories; a corpus of vectors is taken as it is
    n_batch : so many documents come first; without, the split "train" does, else the first quarter
    topics : these; without, all categories with enough relevant documents
    relevant : fewest and most relevant documents of a topic in the stream, for topics that are not named
    relevant_in_batch : fewest relevant documents of such a topic in the batch phase
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
    batch, stream = corpus.select(first), corpus.select(rest)
    chosen = tuple(topics) if topics is not None else _frequent(batch, stream, relevant_in_batch, *relevant)
    unknown = [name for name in chosen if name not in corpus.categories]
    if unknown:
        raise DataError(f"the corpus has no category {unknown[0]!r}")
    if not chosen:
        raise DataError("no category has enough relevant documents in the stream")
    columns = [corpus.categories.index(name) for name in chosen]
    vectors: dict[str, Any] = {}
    if corpus.vectors is not None:
        batch_rows, rows = _with_int32(batch.vectors), _with_int32(stream.vectors)
    else:
        space = VectorSpace(stemmer=stemmer, stop_words=stop_words)
        batch_rows = space.learn_background(batch.texts)
        vectors = {name: space.vector(name, text) for name, text in (statements or {}).items() if name in chosen}
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
    """Play a stream to a profile for every topic, once for each strategy; a retrieved document is judged at once.

    Parameters
    ----------
    stream : from `stream_of`
    strategies : as `Strategy.of` spells them
    settings : of the profiles; the strategy's parameters stay, its kind is replaced
    progress : called with the number of profiles done

    Examples
    --------
    >>> X, Y = sparse.csr_array(np.eye(8)), sparse.csr_array(np.tile([[1], [0]], (4, 1)))
    >>> stream = Stream(X, X, Y, Y, ("grain",), list("12345678"))
    >>> simulate(stream, ["plain", "+ig"]).runs["+ig"][0].topic
    'grain'
    """
    base = ProfileSettings() if settings is None else settings
    kinds = {str(Strategy.of(name)): Strategy.of(name) for name in strategies}
    result = Simulation(
        stream.name,
        stream.labels,
        stream.topics,
        stream.batch.shape[0],
        base.goal.adapt(base.strategy).target,
        {name: [] for name in kinds},
    )
    truth, batch_truth = stream.labels.tocsc(), stream.batch_labels.tocsc()
    for place, topic in enumerate(stream.topics):
        labels = _column(truth, place)
        start = ProfileState.of(_started(topic, base, stream, _column(batch_truth, place)))
        for name, kind in kinds.items():
            n_stream = stream.documents.shape[0]
            strategy = replace(base.strategy, retrain=kind.retrain, query=kind.query, stream_length=n_stream)
            profile = start.with_settings(replace(base, strategy=strategy)).profile()
            result.runs[name].append(play(profile, stream.documents, labels, stream.ids))
        if progress is not None:
            progress(place + 1)
    return result


def play(profile: Profile, documents: sparse.csr_array, labels: Array, ids: Sequence[str]) -> TopicRun:
    """Let one profile read the stream; what it retrieves is judged at once.

    Examples
    --------
    >>> X = sparse.csr_array([[1.0, 0.0], [0.0, 1.0]])
    >>> profile = Profile("grain", ProfileSettings(), prior={0: 3.0}, bias=-1.0)
    >>> play(profile, X, np.array([True, False]), ["1", "2"]).rows.tolist()
    [0]
    """
    start_terms = profile.n_terms
    rows: list[int] = []
    why: list[int] = []
    n_terms: list[int] = []
    draws = profile.draws(list(ids))
    hit = profile.scan(documents, 0, draws)
    while hit is not None:
        reason = hit.why - 1
        profile.count_retrieval(asked=REASONS[reason] != "relevant")
        profile.judge(row_vector(documents, hit.row, ids[hit.row]), bool(labels[hit.row]))
        rows.append(hit.row)
        why.append(reason)
        n_terms.append(profile.n_terms)
        hit = profile.scan(documents, hit.row + 1, draws)
    found = np.array(rows, dtype=np.int64)
    return TopicRun(
        profile.name,
        int(labels.sum()),
        found,
        np.array(why),
        labels[found],
        np.array(n_terms),
        start_terms,
        _places(profile, documents, labels, found),
    )


def _places(profile: Profile, documents: sparse.csr_array, labels: Array, retrieved: Array) -> Array:
    """Places of the relevant documents when what was passed over is read after what was retrieved."""
    passed = np.setdiff1d(np.arange(len(labels)), retrieved, assume_unique=True)
    order = np.concatenate([retrieved, passed[np.argsort(-profile.scores(documents)[passed], kind="stable")]])
    places: Array = np.flatnonzero(labels[order]) + 1
    return places


def _started(topic: str, settings: ProfileSettings, stream: Stream, labels: Array) -> Profile:
    """A profile after the batch phase; a topic statement is one more relevant document."""
    profile = Profile(topic, settings)
    X, y = stream.batch, labels
    if topic in stream.statements:
        statement = stream.statements[topic]
        first = sparse.csr_array(
            (statement.weights, statement.columns, [0, len(statement)]), shape=(1, stream.documents.shape[1])
        )
        rest = sparse.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], stream.documents.shape[1]))
        X, y = _with_int32(sparse.vstack([first, rest], format="csr")), np.concatenate([[True], labels])
    profile.learn_batch(X, y)
    return profile


def _column(matrix: sparse.csc_array, place: int) -> Array:
    members = np.zeros(matrix.shape[0], dtype=bool)
    members[matrix.indices[matrix.indptr[place] : matrix.indptr[place + 1]]] = True
    return members


def _cut(corpus: Corpus, n_batch: int | None) -> tuple[Array, Array]:
    """Rows of the batch phase and of the stream."""
    order = _dated_order(corpus)
    if n_batch is None and {"train", "test"} <= set(corpus.splits):
        splits = np.array([corpus.documents[i].split or "" for i in order])
        return order[splits == "train"], order[splits == "test"]
    size = len(order) // 4 if n_batch is None else n_batch
    if not 0 < size < len(order):
        raise DataError(f"a batch of {size:,} leaves nothing of {len(order):,} documents")
    return order[:size], order[size:]


def _dated_order(corpus: Corpus) -> Array:
    """By date, ties as they stand; a document without a date goes with the one before it."""
    stamps = np.array([np.nan if d.date is None else d.date.timestamp() for d in corpus])
    known = np.flatnonzero(~np.isnan(stamps))
    if not len(known):
        return np.arange(len(stamps))
    before = known[np.maximum(np.searchsorted(known, np.arange(len(stamps)), side="right") - 1, 0)]
    return np.argsort(stamps[before], kind="stable")


def _frequent(batch: Corpus, stream: Corpus, in_batch: int, fewest: int, most: int | None) -> tuple[str, ...]:
    before, counts = batch.category_counts(), stream.category_counts()
    highest = len(stream) if most is None else most
    return tuple(c for c in stream.categories if before[c] >= in_batch and fewest <= counts[c] <= highest)


def _words(texts: Sequence[str], space: VectorSpace) -> list[str]:
    """All words of texts, as the space spells them."""
    from bayesift.text import TermVectorizer

    counter = TermVectorizer(stop_words=space.stop_words, stemmer=space.stemmer).fit(texts)
    names: list[str] = counter.vocabulary_.names
    return names


def _with_int32(rows: Any) -> sparse.csr_array:
    made = sparse.csr_array(rows.shape)
    made.indptr, made.indices = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
    made.data = rows.data.astype(np.float64)
    return made
