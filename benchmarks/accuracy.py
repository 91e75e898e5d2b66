"""Compare F1, log loss and calibration with scikit-learn.

Run with `python -m benchmarks.accuracy [decisions] [probabilities] [newsgroups]`.

Reuters-90 (ModApte, 9,603 training and 3,299 test documents) and 20 Newsgroups (bydate, 11,314 and
7,532), vectors ltc. Both test parts are later than their training parts, so settings are chosen in
that way on the training documents alone: models learn from the earlier 70 % (Reuters: by date;
newsgroups: by article number within each group) and are judged by the later 30 %. Random folds
would flatter: neighbours in time are near copies of one another. The best setting of each model is
then fitted to all training documents, and the test documents are judged once.

decisions      The best mean of micro and macro F1, thresholds included: a rule fits them to scores
of five folds of
               the documents learned from.
probabilities  The lowest log loss over (document, category) pairs of Reuters.
newsgroups     The lowest log loss of the group.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from bayesift.arrays import Array
from bayesift.corpora import load_newsgroups, load_reuters, load_reuters_descriptions
from bayesift.evaluation import expected_calibration_error, log_loss
from bayesift.knowledge import TermIndex, TermKnowledge, prior_for
from bayesift.models.linear import GaussianPrior, SparseBayesClassifier
from bayesift.records import Document
from bayesift.text import TermVectorizer
from bayesift.thresholds import SCut, category_folds

N_FOLDS = 5
EARLIER = 0.7
TEXTS: dict[str, dict[str, Any]] = {
    "stems": {"min_df": 2, "stemmer": "porter"},
    "stems, titles twice": {"min_df": 2, "stemmer": "porter"},
}


@dataclass(frozen=True, eq=False)
class Part:
    """Documents to learn from and later ones to be judged: vectors and labels of both."""

    X: Any
    Y: Array
    X_later: Any
    Y_later: Array
    index: TermIndex
    categories: Sequence[str]


Maker = Callable[[Part], Any]


class Setting(NamedTuple):
    """A model and the text it reads."""

    name: str
    text: str
    make: Maker


def vectors(
    text: str, earlier: Sequence[Document], later: Sequence[Document]
) -> tuple[Any, Any, TermIndex]:
    """Vectors by the document frequencies of the earlier documents."""
    vectorizer = TermVectorizer(weighting="ltc", **TEXTS[text])
    twice = "titles twice" in text
    X = vectorizer.fit_transform([_read(document, twice) for document in earlier])
    X_later = vectorizer.transform([_read(document, twice) for document in later])
    return X, X_later, TermIndex.of(vectorizer, X)


def _read(document: Document, twice: bool) -> str:
    return f"{document.title}\n{document.full_text}" if twice else document.full_text


@cache
def reuters(text: str, final: bool) -> Part:
    """Return the training documents split by date, or all of them and the test documents."""
    corpus = load_reuters(subset="modapte")
    train = corpus.split("train")
    dates = [
        document.date.timestamp() for document in train.documents if document.date is not None
    ]
    assert len(dates) == len(train.documents)
    order, labels = np.argsort(dates, kind="stable"), train.indicator.toarray()
    first, last = np.split(order, [int(EARLIER * len(order))])
    earlier = train.documents if final else [train.documents[i] for i in first]
    later = corpus.split("test").documents if final else [train.documents[i] for i in last]
    Y = labels if final else labels[first]
    Y_later = corpus.split("test").indicator.toarray() if final else labels[last]
    X, X_later, index = vectors(text, earlier, later)
    return Part(X, Y, X_later, Y_later, index, corpus.categories)


@cache
def newsgroups(text: str, final: bool) -> Part:
    """Return the training documents with each group split by article number.

    Or all of them and the test documents.
    """
    corpus = load_newsgroups()
    train = sorted(
        corpus.split("train").documents, key=lambda document: int(document.id.rsplit("/", 1)[1])
    )
    earlier, later = list(train), list(corpus.split("test").documents)
    if not final:
        groups = [
            [document for document in train if document.categories == (name,)]
            for name in corpus.categories
        ]
        earlier = [
            document for group in groups for document in group[: int(EARLIER * len(group))]
        ]
        later = [
            document for group in groups for document in group[int(EARLIER * len(group)) :]
        ]
    X, X_later, index = vectors(text, earlier, later)
    return Part(X, _group(earlier), X_later, _group(later), index, corpus.categories)


def _group(documents: Sequence[Document]) -> Array:
    return np.array([document.categories[0] for document in documents])


def f1(Y: Array, decisions: Array) -> tuple[float, float]:
    """Micro and macro over categories that some document has, in per cent."""
    true, sizes = (decisions & (Y > 0)).sum(axis=0), decisions.sum(axis=0) + Y.sum(axis=0)
    some = Y.any(axis=0)
    return 200 * true.sum() / sizes.sum(), 200 * float(np.mean(true[some] / sizes[some]))


def held_out_scores(make: Maker, part: Part) -> Array:
    """Scores of documents when they are held out.

    Those that never are have the scores of a model that knew them.
    """
    folds, scores = category_folds(part.Y, n_folds=N_FOLDS), np.empty(part.Y.shape)
    for fold in range(-1 if (folds < 0).any() else 0, N_FOLDS):
        train = np.flatnonzero(folds != fold) if fold >= 0 else np.arange(len(part.Y))
        test = np.flatnonzero(folds == fold)
        scores[test] = (
            make(part).fit(part.X[train], part.Y[train]).decision_function(part.X[test])
        )
    return scores


class SupportVectors:
    """LinearSVC, one a category; a category without documents is never assigned."""

    def __init__(self, cost: float) -> None:
        self.cost = cost

    def fit(self, X: Any, Y: Array) -> SupportVectors:
        """Fit."""
        rows = sparse.csr_matrix(X)
        self.models = [
            LinearSVC(C=self.cost).fit(rows, column) if column.any() else None for column in Y.T
        ]
        return self

    def decision_function(self, X: Any) -> Array:
        """Scores."""
        rows, lowest = sparse.csr_matrix(X), np.full(X.shape[0], -10.0)
        return np.column_stack(
            [model.decision_function(rows) if model else lowest for model in self.models]
        )


def gaussian(variance: float, *, strength: float = 0.0, link: str = "logit") -> Maker:
    """One model a category.

    With a strength, its modes are what the corpus' file of descriptions says.
    """

    def make(part: Part) -> SparseBayesClassifier:
        prior = _informed(GaussianPrior(variance=variance), strength, part)
        return SparseBayesClassifier(link=link, prior=prior, tol=1e-2)

    return make


def _informed(prior: Any, strength: float, part: Part) -> Any:
    if not strength:
        return prior
    said = {
        name: text
        for name, text in load_reuters_descriptions().items()
        if name in part.categories
    }
    knowledge = TermKnowledge.from_descriptions(said, strength=strength)
    return prior_for(knowledge, prior, part.categories, part.index)[0]


def support_vectors(cost: float) -> Maker:
    """Return the maker of the peer for decisions, a linear support vector machine."""
    return lambda part: SupportVectors(cost)


class Logistic:
    """LogisticRegression: one model per category by liblinear, or a multinomial one by lbfgs."""

    def __init__(self, cost: float) -> None:
        self.cost = cost

    def fit(self, X: Any, Y: Array) -> Logistic:
        """Fit."""
        model: Any = LogisticRegression(C=self.cost, max_iter=1000)
        if Y.ndim == 2:
            options: dict[str, Any] = {
                "solver": "liblinear",
                "dual": True,
                "tol": 1e-2,
                "intercept_scaling": 10.0,
            }
            model = OneVsRestClassifier(
                LogisticRegression(C=self.cost, random_state=0, **options)
            )
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # categories without documents; iterations that end before they converge
            self.model = model.fit(sparse.csr_matrix(X), Y)
        return self

    def predict_proba(self, X: Any) -> Array:
        """Probabilities."""
        probabilities: Array = self.model.predict_proba(sparse.csr_matrix(X))
        return probabilities


def logistic(cost: float) -> Maker:
    """Return the maker of the peer for probabilities, logistic regression."""
    return lambda part: Logistic(cost)


RULES = {
    "SCut": SCut(),
    **{
        f"SCut, shrinkage {k:g}": SCut(shrinkage=k, minimum_f1=0.0)
        for k in (0.5, 2.0, 5.0, 10.0, 30.0)
    },
}
DECIDERS: dict[str, list[Setting]] = {
    "bayesift": [
        Setting(
            f"Gaussian prior, variance {variance:g}, descriptions {strength:g}", text, maker
        )
        for variance, strength, text in (
            (100.0, 0.0, "stems"),
            (100.0, 4.0, "stems"),
            (30.0, 4.0, "stems, titles twice"),
            (100.0, 4.0, "stems, titles twice"),
        )
        for maker in [gaussian(variance, strength=strength)]
    ],
    "LinearSVC": [
        Setting("C 0.3", text, support_vectors(0.3))
        for text in ("stems", "stems, titles twice")
    ],
}
FORECASTERS: dict[str, list[Setting]] = {
    "bayesift": [
        Setting(
            f"Gaussian prior, variance {variance:g}, descriptions {strength:g}", "stems", maker
        )
        for variance, strength in ((10.0, 4.0), (30.0, 2.0), (30.0, 4.0), (100.0, 4.0))
        for maker in [gaussian(variance, strength=strength)]
    ],
    "LogisticRegression": [
        Setting(f"C {cost:g}", "stems", logistic(cost)) for cost in (10.0, 30.0, 100.0)
    ],
}
GROUP_FORECASTERS: dict[str, list[Setting]] = {
    "bayesift": [
        Setting(f"Gaussian prior, variance {variance:g}", "stems", gaussian(variance))
        for variance in (100.0, 300.0, 1000.0)
    ],
    "LogisticRegression": [
        Setting(f"C {cost:g}", "stems", logistic(cost))
        for cost in (100.0, 300.0, 1000.0, 3000.0)
    ],
}


def decided(
    setting: Setting, *, final: bool, rules: dict[str, SCut]
) -> dict[str, tuple[float, float]]:
    """Micro and macro F1 on the later documents by each rule."""
    part = reuters(setting.text, final)
    held_out = held_out_scores(setting.make, part)
    scores = setting.make(part).fit(part.X, part.Y).decision_function(part.X_later)
    return {
        name: f1(part.Y_later, rule.fit(part.Y, held_out).decide(scores))
        for name, rule in rules.items()
    }


def decisions() -> Iterator[str]:
    """F1 on the test documents, as the rows of a table."""
    yield (
        "| model | setting | later training documents: micro / macro F1 | test: micro / macro F1 |"
    )
    yield "|---|---|---|---|"
    for model, grid in DECIDERS.items():
        found = {}
        for setting in grid:
            for rule, worth in decided(setting, final=False, rules=RULES).items():
                found[setting, rule] = worth
                _say(
                    f"{model}, {setting.name}, {setting.text}, {rule}: {worth[0]:.2f} / "
                    f"{worth[1]:.2f}"
                )
        setting, rule = max(found, key=lambda choice: sum(found[choice]))
        micro, macro = found[setting, rule]
        test = decided(setting, final=True, rules={rule: RULES[rule]})[rule]
        description = f"{setting.name}, {setting.text}, {rule}"
        yield (
            f"| {model} | {description} | {micro:.2f} / {macro:.2f} | {test[0]:.2f} / "
            f"{test[1]:.2f} |"
        )


def forecast(setting: Setting, part: Part) -> tuple[float, float]:
    """Log loss and expected calibration error on the later documents, in thousandths."""
    probabilities = setting.make(part).fit(part.X, part.Y).predict_proba(part.X_later)
    error = expected_calibration_error(part.Y_later, probabilities)
    return 1000 * log_loss(part.Y_later, probabilities), 1000 * float(error)


def forecasts(
    load: Callable[[str, bool], Part], grids: dict[str, list[Setting]]
) -> Iterator[str]:
    """Log loss and calibration on the test documents, as the rows of a table."""
    yield (
        "| model | setting | later training documents: log loss, ECE (x 1000) | test: log loss, "
        "ECE (x 1000) |"
    )
    yield "|---|---|---|---|"
    for model, grid in grids.items():
        found = {}
        for setting in grid:
            loss, error = found[setting] = forecast(setting, load(setting.text, False))
            _say(f"{model}, {setting.name}, {setting.text}: {loss:.3f}, {error:.3f}")
        best = min(found, key=lambda setting: found[setting][0])
        test = forecast(best, load(best.text, True))
        columns = [f"{loss:.3f}, {error:.3f}" for loss, error in (found[best], test)]
        yield f"| {model} | {best.name}, {best.text} | {columns[0]} | {columns[1]} |"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


TABLES: dict[str, Callable[[], Iterator[str]]] = {
    "decisions": decisions,
    "probabilities": lambda: forecasts(reuters, FORECASTERS),
    "newsgroups": lambda: forecasts(newsgroups, GROUP_FORECASTERS),
}

if __name__ == "__main__":
    for table in sys.argv[1:] or TABLES:
        for line in TABLES[table]():
            print(line, flush=True)
