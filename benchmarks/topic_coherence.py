"""Compare the mean NPMI of the ten largest words of topics with scikit-learn's NMF.

The documents are those of 20 Newsgroups.

`python -m benchmarks.topic_coherence`

Training articles without headers, footers and quotes; ltc vectors of words of letters in at least
ten articles and at most a fifth, English stop words left out. Both factorise the same matrix into
16 topics, from the same start.
"""

from __future__ import annotations

import warnings
from typing import Any

from scipy import sparse
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

from bayesift.corpora import load_newsgroups
from bayesift.models.topics import SparseNMF, npmi_coherence
from bayesift.text import TermVectorizer

N_TOPICS = 16


def main() -> None:
    """Print both means and our topics."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    train = load_newsgroups(remove=("headers", "footers", "quotes")).split("train")
    vectorizer = TermVectorizer(
        weighting="ltc",
        stop_words="english",
        characters="letters",
        min_length=3,
        min_df=10,
        max_df=0.2,
    )
    X = vectorizer.fit_transform(train.texts)
    ours = SparseNMF(n_components=N_TOPICS).fit(X)
    _say(f"bayesift, defaults ({ours.n_iter_} iterations)", X, ours.relevance())
    _say("the same, words by their shares alone", X, ours.components_)
    values = npmi_coherence(X, ours.relevance())
    for topic, words in enumerate(ours.topic_words(vectorizer.get_feature_names_out())):
        print(f"| {topic} | {values[topic]:.2f} | {' '.join(words)} |", flush=True)
    peer = NMF(
        N_TOPICS, solver="mu", beta_loss="kullback-leibler", init="nndsvda", random_state=0
    )
    peer.fit(sparse.csr_matrix(X))
    _say(
        f"scikit-learn ({peer.n_iter_} iterations), words by their shares alone",
        X,
        peer.components_,
    )
    ours.components_ = peer.components_ / peer.components_.sum(axis=1, keepdims=True)
    _say("scikit-learn, words by our relevance", X, ours.relevance())
    paper = SparseNMF(n_components=N_TOPICS, importance="variance", alpha=1.0).fit(X)
    _say("bayesift, the paper's importance and penalty", X, paper.relevance())


def _say(name: str, X: Any, components: Any) -> None:
    print(
        f"{name}: {X.shape[0]} articles, {X.shape[1]} words, NPMI "
        f"{npmi_coherence(X, components).mean():.3f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
