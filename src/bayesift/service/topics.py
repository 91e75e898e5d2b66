"""What the documents that a profile retrieved are about: topics by sparse non-negative matrix factorisation."""

from __future__ import annotations

import threading
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from bayesift.models.topics import SparseNMF
from bayesift.service import kinds
from bayesift.service.errors import NotFoundError
from bayesift.service.runtime import Service
from bayesift.service.schemas import TitleOut, TopicOut
from bayesift.stores import DocumentRow
from bayesift.text import TermVectorizer

_MOST = 2_000
_WORDS = 10
_EXAMPLES = 3
_UPDATES = 200
_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True)
class _Topic:
    """Words, and the documents that are more about this than about anything else, the clearest first."""

    words: list[str]
    documents: list[DocumentRow]


def topics_of(service: Service, name: str, n: int) -> list[TopicOut]:
    """Topics of the newest retrieved documents whose texts are kept, the largest first."""
    with service.store.reading() as read:
        profile = read.profile(name)
        if profile is None:
            raise NotFoundError(f"no profile {name!r}")
        newest = read.events(profile.seq, profile=name, kinds=(kinds.RETRIEVED,), limit=_MOST, newest_first=True)
        rows = read.documents(str(row.document) for row in newest)
        relevant = {row.document for row in read.judgements(name) if row.relevant}
    documents = sorted((row for row in rows.values() if not row.purged), key=lambda row: row.seq)
    moment = (profile.seq, len(documents), documents[-1].seq if documents else 0)
    with _ONE_AT_A_TIME:
        known = service.remembered.get(("topics", name, n))
        if known is None or known[0] != moment:
            known = moment, _topics(documents, n)
            service.remembered["topics", name, n] = known
    return [
        TopicOut(
            words=topic.words,
            documents=len(topic.documents),
            relevant=sum(row.id in relevant for row in topic.documents),
            examples=[TitleOut(id=row.id, title=row.title) for row in topic.documents[:_EXAMPLES]],
        )
        for topic in known[1]
    ]


def _topics(documents: list[DocumentRow], n: int) -> list[_Topic]:
    vectorizer = TermVectorizer(weighting="log-tf", stop_words="english", min_df=min(2, len(documents)), cosine=True)
    try:
        X = vectorizer.fit_transform(f"{row.title}\n{row.text}" for row in documents)
    except ValueError:
        return []  # no words, or none that two documents share
    model = SparseNMF(n_components=min(n, *X.shape), importance="uniform", alpha=0.0, max_iter=_UPDATES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X)
    codes = model.transform(X)
    main, clear = codes.argmax(axis=1), codes.max(axis=1)
    words = model.topic_words(vectorizer.get_feature_names_out().tolist(), k=_WORDS)
    found = []
    for topic, named in enumerate(words):
        members = np.flatnonzero((main == topic) & (clear > 0))
        order = members[np.argsort(-clear[members], kind="stable")]
        found.append(_Topic(named, [documents[place] for place in order.tolist()]))
    return sorted((topic for topic in found if topic.documents), key=lambda topic: -len(topic.documents))
