"""Contenders of the leaderboards: their vectors, the settings to choose from, and their makers.

A contender is a constant here, and its name in small letters is in `OURS` or `PEERS`. `contender`
looks it up by name, and tasks depend on the one definition (`definition_of`), so that a new
contender makes no other's results old.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import ComplementNB
from sklearn.svm import LinearSVC

from bayesift.arrays import Array
from bayesift.models.baselines import (
    HybridClassifier,
    NBSVMClassifier,
    NeighborsClassifier,
    RocchioClassifier,
)
from bayesift.models.ensemble import JURY as JURY_MEMBERS
from bayesift.models.ensemble import StackedClassifier
from bayesift.models.linear import GaussianPrior, LaplacePrior, SparseBayesClassifier
from bayesift.models.naive_bayes import Dirichlet, JelinekMercer, NaiveBayesClassifier
from bayesift.models.online import OnlinePerceptron, OnlineStackedClassifier
from bayesift.models.topics import SparseNMF, TopicSVMClassifier

OURS = (
    "jury",
    "logistic_gaussian",
    "logistic_laplace",
    "probit_gaussian",
    "naive_bayes",
    "online_perceptron",
    "nbsvm",
    "hybrid",
    "topics_svm",
    "rocchio",
    "knn",
)
PEERS = (
    "sklearn_logistic",
    "sklearn_svc",
    "sklearn_complement",
    "sklearn_sgd",
    "fasttext",
    "vowpal_wabbit",
    "river_logistic",
)


@dataclass(frozen=True)
class Contender:
    """A learner on the leaderboards.

    Parameters
    ----------
    name : for readers
    package : where it comes from; bayesift for ours
    make : takes a setting and whether the labels are an indicator matrix; returns an estimator with
        `fit(X, y)` and `predict_proba`, `decision_function` or both
    settings : what cross-validation on the training documents chooses from
    weighting : of the vectors it reads, a name of `bayesift.text.WEIGHTINGS`
    module : what must be importable
    """

    name: str
    package: str
    make: Callable[[Mapping[str, Any], bool], Any]
    settings: Sequence[Mapping[str, Any]]
    weighting: Literal["binary", "tf", "log-tf", "tf-idf", "ltc"] = "ltc"
    module: str = "sklearn"

    @property
    def is_installed(self) -> bool:
        """Whether its package is installed."""
        return find_spec(self.module) is not None


def contender(name: str) -> Contender:
    """Return the contender of that name."""
    found: Contender = globals()[name.upper()]
    return found


def definition_of(name: str) -> str:
    """Return the definition of a contender, as `Task.also` names it."""
    return f"{__name__}:{name.upper()}"


class OneVsRest:
    """One estimator per category; a category without training documents is never assigned.

    Examples
    --------
    >>> labels = np.array([[1, 0], [0, 0]])
    >>> model = one_vs_rest(LinearSVC, True).fit([[1.0, 0.0], [0.0, 1.0]], labels)
    >>> model.decision_function([[1.0, 0.0]])[:, 1].tolist()
    [-30.0]
    """

    _NEVER = -30.0  # log odds of a category without training documents

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        if hasattr(make(), "predict_proba"):
            self.predict_proba = self._predict_proba

    def fit(self, X: Any, Y: Array) -> OneVsRest:
        """Fit each category."""
        rows = sparse.csr_matrix(X)  # some estimators accept only the older class
        self.models_ = [
            self._make().fit(rows, column) if column.any() else None
            for column in np.asarray(Y).T
        ]
        return self

    def decision_function(self, X: Any) -> Array:
        """Log odds or margins, documents x categories."""
        return self._columns(X, _log_odds, self._NEVER)

    def _predict_proba(self, X: Any) -> Array:
        return self._columns(X, lambda model, rows: model.predict_proba(rows)[:, 1], 0.0)

    def _columns(self, X: Any, score: Callable[[Any, Any], Array], never: float) -> Array:
        rows = sparse.csr_matrix(X)
        empty = np.full(rows.shape[0], never)
        return np.column_stack(
            [empty if model is None else score(model, rows) for model in self.models_]
        )


class OldMatrices:
    """An estimator that gets scipy's older sparse matrices, since some accept no arrays."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Array) -> OldMatrices:
        """Fit the estimator."""
        self.estimator.fit(sparse.csr_matrix(X), y)
        return self

    def __getattr__(self, name: str) -> Any:
        """Return a method of the estimator that takes the old sparse matrices."""
        if name not in ("predict_proba", "decision_function"):
            raise AttributeError(name)
        method = getattr(self.estimator, name)
        return lambda X: method(sparse.csr_matrix(X))


def one_vs_rest(make: Callable[[], Any], multilabel: bool) -> Any:
    """Return an estimator for class labels, or one per category for an indicator matrix."""
    return OneVsRest(make) if multilabel else OldMatrices(make())


def _log_odds(model: Any, rows: Any) -> Array:
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(rows))
    logarithms = model.predict_log_proba(rows)
    return np.asarray(logarithms[:, 1] - logarithms[:, 0])


class InRandomOrder:
    """A learner that reads documents in random order, because corpora may be sorted by class."""

    def __init__(self, learner: Any) -> None:
        self.learner = learner

    def fit(self, X: Any, y: Array) -> InRandomOrder:
        """Fit to the documents in an order that is the same every time."""
        order = np.random.default_rng(0).permutation(X.shape[0])
        self.learner.fit(X[order], y[order])
        return self

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the learner."""
        return getattr(self.learner, name)


def pairs_of(X: Any) -> list[list[tuple[int, float]]]:
    """Terms and weights of each document.

    Examples
    --------
    >>> pairs_of([[0, 2.0], [1.0, 0]])
    [[(1, 2.0)], [(0, 1.0)]]
    """
    rows = sparse.csr_array(X)
    indices, data = rows.indices.tolist(), rows.data.tolist()
    bounds = list(zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True))
    return [list(zip(indices[a:b], data[a:b], strict=True)) for a, b in bounds]


def indicator_of(y: Array, multilabel: bool) -> Array:
    """Documents x categories, from an indicator matrix or from numbers of classes.

    Examples
    --------
    >>> indicator_of(np.array([1, 0]), multilabel=False).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    return np.asarray(y) if multilabel else np.eye(int(np.max(y)) + 1)[np.asarray(y)]


class LinearPeer:
    """A peer read off as hyperplanes, `coef_` and `intercept_`."""

    coef_: Array
    intercept_: Array

    def decision_function(self, X: Any) -> Array:
        """Log odds of all documents at once."""
        return np.asarray(sparse.csr_array(X) @ self.coef_.T + self.intercept_)


class FastText:
    """FastText on counts: a word is repeated by its count, other weights count once."""

    _LABEL = "__label__"

    def __init__(self, multilabel: bool, **setting: Any) -> None:
        self.multilabel = multilabel
        self.setting = setting

    def fit(self, X: Any, y: Array) -> FastText:
        """Write the documents as lines and train on one thread, which is deterministic."""
        import fasttext

        Y = indicator_of(y, self.multilabel)
        self.n_categories_ = Y.shape[1]
        labels = [" ".join(f"{self._LABEL}{c}" for c in np.flatnonzero(row)) for row in Y]
        loss = "ova" if self.multilabel else "softmax"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "train.txt"
            path.write_text(
                "".join(f"{a} {b}\n" for a, b in zip(labels, self._lines(X), strict=True) if a)
            )
            self.model_ = fasttext.train_supervised(
                str(path), loss=loss, thread=1, verbose=0, **self.setting
            )
        self.arrays_ = [self.model_.get_input_matrix(), self.model_.get_output_matrix()]
        return self

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of categories."""
        probabilities = np.zeros((X.shape[0], self.n_categories_))
        for row, line in enumerate(self._lines(X)):
            # Given many lines at once, fastText 0.9.2 returns the first probability for every
            # category.
            for value, name in self.model_.f.predict(f"{line}\n", -1, 0.0, "strict"):
                probabilities[row, int(name.removeprefix(self._LABEL))] = min(value, 1.0)
        return (
            probabilities
            if self.multilabel
            else probabilities / probabilities.sum(axis=1, keepdims=True)
        )

    @staticmethod
    def _lines(X: Any) -> list[str]:
        return [
            " ".join(f"w{j}" for j, x in pairs for _ in range(max(1, int(x + 1e-9))))
            for pairs in pairs_of(X)
        ]


class VowpalWabbit(LinearPeer):
    """Vowpal Wabbit with logistic loss and its own reductions to binary learners.

    All learners are in one workspace; their weights are read off it.
    """

    def __init__(self, multilabel: bool, *, passes: int, rate: float) -> None:
        self.multilabel = multilabel
        self.passes = passes
        self.rate = rate

    def fit(self, X: Any, y: Array) -> VowpalWabbit:
        """Learn from the documents in their order, by Vowpal Wabbit's own reader of files."""
        Y = indicator_of(y, self.multilabel)
        n_terms, n_categories = X.shape[1], Y.shape[1]
        n_learners = n_categories + self.multilabel
        term_bits, learner_bits = n_terms.bit_length(), (n_learners - 1).bit_length()
        reduction = (
            f"--multilabel_oaa {n_learners}" if self.multilabel else f"--oaa {n_learners}"
        )
        workspace = self._learn(
            f"{reduction} --bit_precision {term_bits + learner_bits}", self._lines(X, Y)
        )
        # The learners of a term lie side by side, in as many places as the next power of two.
        places = np.arange(n_terms + 1)[:, None] * 2**learner_bits + np.arange(n_categories)
        weights = np.array(
            [workspace.get_weight(place) for place in places.ravel().tolist()]
        ).reshape(places.shape)
        self.coef_, self.intercept_ = weights[:-1].T.copy(), weights[-1]
        return self

    def _lines(self, X: Any, Y: Array) -> list[str]:
        """Documents in its format; the constant is the term after the last."""
        if self.multilabel:
            # A document without a label would be skipped: it gets a category of its own.
            nothing = str(Y.shape[1])
            labels = [",".join(map(str, np.flatnonzero(row))) or nothing for row in Y]
        else:
            labels = [str(chosen + 1) for chosen in np.argmax(Y, axis=1)]
        terms = [" ".join(f"{j}:{x:.6g}" for j, x in pairs) for pairs in pairs_of(X)]
        return [
            f"{label} | {X.shape[1]}:1 {line}\n"
            for label, line in zip(labels, terms, strict=True)
        ]

    def _learn(self, options: str, lines: list[str]) -> Any:
        from vowpalwabbit import Workspace

        with tempfile.TemporaryDirectory() as folder:
            data, cache = Path(folder) / "train.txt", Path(folder) / "train.cache"
            data.write_text("".join(lines))
            return Workspace(
                f"{options} --loss_function logistic --learning_rate {self.rate} --noconstant "
                f"--quiet --holdout_off "
                f"--passes {self.passes} --data {data} --cache_file {cache} --kill_cache"
            )


class RiverLogistic(LinearPeer):
    """river's logistic regression, one learner per category, one pass."""

    def __init__(self, multilabel: bool, *, rate: float) -> None:
        self.multilabel = multilabel
        self.rate = rate

    def fit(self, X: Any, y: Array) -> RiverLogistic:
        """Learn from the documents once in their order."""
        from river import linear_model, optim

        Y = indicator_of(y, self.multilabel)
        documents, weights, biases = [dict(pairs) for pairs in pairs_of(X)], [], []
        for labels in (Y.T > 0).tolist():
            model = linear_model.LogisticRegression(
                optimizer=optim.SGD(self.rate), intercept_lr=0.1
            )
            for x, label in zip(documents, labels, strict=True):
                model.learn_one(x, label)
            row = np.zeros(X.shape[1])
            row[list(model.weights)] = list(model.weights.values())
            weights.append(row)
            biases.append(model.intercept)
        self.coef_, self.intercept_ = np.array(weights), np.array(biases)
        return self


MEMBERS = {"four": JURY_MEMBERS[:4], "all six": JURY_MEMBERS}
JURY = Contender(
    "Jury",
    "bayesift",
    lambda setting, multilabel: StackedClassifier.jury(
        n_folds=3, members=MEMBERS[setting["members"]]
    ),
    [{"members": members} for members in MEMBERS],
)


class OnePassStack:
    """The online stack, read by its probabilities; two classes have one column of log odds."""

    def fit(self, X: Any, y: Array) -> OnePassStack:
        """Learn from the documents once, in random order."""
        self._model = OnlineStackedClassifier(random_state=0).fit(X, y)
        return self

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of documents x categories."""
        return self._model.predict_proba(X)


# Not on the boards: `benchmarks.online_stack --batch` compares it with the boards' reference.
ONLINE_STACK = Contender(
    "online stack", "bayesift", lambda setting, multilabel: OnePassStack(), [{}]
)
LOGISTIC_GAUSSIAN = Contender(
    "logistic, Gaussian prior",
    "bayesift",
    lambda setting, multilabel: SparseBayesClassifier(prior=GaussianPrior(**setting), tol=1e-2),
    [{"variance": variance} for variance in (10.0, 30.0, 100.0, 300.0)],
)
LOGISTIC_LAPLACE = Contender(
    "logistic, Laplace prior",
    "bayesift",
    lambda setting, multilabel: SparseBayesClassifier(prior=LaplacePrior(**setting), tol=1e-2),
    [{"gamma": gamma} for gamma in (0.01, 0.04, 0.16)],
)
PROBIT_GAUSSIAN = Contender(
    "probit, Gaussian prior",
    "bayesift",
    lambda setting, multilabel: SparseBayesClassifier(
        link="probit", prior=GaussianPrior(**setting), tol=1e-2
    ),
    [{"variance": variance} for variance in (3.0, 10.0, 30.0, 100.0)],
)
SMOOTHINGS: dict[str, Callable[[float], Any]] = {
    "jelinek-mercer": JelinekMercer,
    "dirichlet": Dirichlet,
}
NAIVE_BAYES = Contender(
    "naive Bayes",
    "bayesift",
    lambda setting, multilabel: NaiveBayesClassifier(
        smoothing=SMOOTHINGS[setting["smoothing"]](setting["strength"])
    ),
    [
        *(
            {"smoothing": "jelinek-mercer", "strength": strength}
            for strength in (0.5, 0.8, 0.95)
        ),
        *({"smoothing": "dirichlet", "strength": strength} for strength in (1000.0, 10_000.0)),
    ],
    weighting="tf",
)
ONLINE_PERCEPTRON = Contender(
    "online perceptron",
    "bayesift",
    lambda setting, multilabel: OnlinePerceptron(
        covariance="diagonal",
        prior_variance=setting["prior_variance"],
        n_epochs=setting["passes"],
        random_state=0,
    ),
    [
        {"prior_variance": variance, "passes": passes}
        for variance in (4.0, 16.0)
        for passes in (1, 3)
    ],
)
NBSVM = Contender(
    "NBSVM",
    "bayesift",
    lambda setting, multilabel: NBSVMClassifier(**setting),
    [{"C": 0.1}, {"C": 1.0}],
    weighting="binary",
)
HYBRID = Contender(
    "naive Bayes and SVM mixed",
    "bayesift",
    lambda setting, multilabel: HybridClassifier(validation=0.2, **setting),
    [{"keep": 0.5}, {"keep": 1.0}],
)
TOPICS_SVM = Contender(
    "topics and SVM",
    "bayesift",
    lambda setting, multilabel: TopicSVMClassifier(
        encoder=SparseNMF(n_components=setting["topics"], tol=5e-4)
    ),
    [{"topics": 64}],
)
ROCCHIO = Contender(
    "Rocchio",
    "bayesift",
    lambda setting, multilabel: RocchioClassifier(negative=setting["negative"]),
    [{"negative": negative} for negative in (0.0, 4.0, 8.0, 16.0)],
)
KNN = Contender(
    "k nearest neighbours",
    "bayesift",
    lambda setting, multilabel: NeighborsClassifier(n_neighbors=setting["k"]),
    [{"k": k} for k in (10, 20, 45)],
)

# liblinear's dual solver one against the rest, or lbfgs for classes
DUAL = {"solver": "liblinear", "dual": True, "tol": 1e-2, "random_state": 0}
SKLEARN_LOGISTIC = Contender(
    "LogisticRegression",
    "scikit-learn",
    lambda setting, multilabel: one_vs_rest(
        partial(LogisticRegression, max_iter=1000, **setting, **(DUAL if multilabel else {})),
        multilabel,
    ),
    [{"C": cost} for cost in (10.0, 30.0, 100.0, 300.0)],
)
SKLEARN_SVC = Contender(
    "LinearSVC",
    "scikit-learn",
    lambda setting, multilabel: one_vs_rest(
        partial(LinearSVC, random_state=0, **setting), multilabel
    ),
    [{"C": cost} for cost in (0.1, 0.3, 1.0, 3.0)],
)
SKLEARN_COMPLEMENT = Contender(
    "ComplementNB",
    "scikit-learn",
    lambda setting, multilabel: one_vs_rest(partial(ComplementNB, **setting), multilabel),
    [{"alpha": alpha} for alpha in (0.01, 0.1, 0.3, 1.0)],
)
SKLEARN_SGD = Contender(
    "SGDClassifier",
    "scikit-learn",
    lambda setting, multilabel: one_vs_rest(
        partial(SGDClassifier, loss="log_loss", random_state=0, **setting), multilabel
    ),
    [{"alpha": alpha} for alpha in (1e-6, 1e-5, 1e-4)],
)
FASTTEXT = Contender(
    "fastText",
    "fasttext",
    lambda setting, multilabel: InRandomOrder(FastText(multilabel, **setting)),
    [{"lr": rate, "epoch": 25, "dim": 50, "minCount": 1} for rate in (0.1, 0.5)],
    weighting="tf",
    module="fasttext",
)
VOWPAL_WABBIT = Contender(
    "Vowpal Wabbit",
    "vowpalwabbit",
    lambda setting, multilabel: InRandomOrder(VowpalWabbit(multilabel, **setting)),
    [{"passes": passes, "rate": rate} for passes in (1, 10) for rate in (0.5, 4.0)],
    module="vowpalwabbit",
)
RIVER_LOGISTIC = Contender(
    "river, logistic",
    "river",
    lambda setting, multilabel: InRandomOrder(RiverLogistic(multilabel, **setting)),
    [{"rate": rate} for rate in (4.0, 16.0)],
    module="river",
)
