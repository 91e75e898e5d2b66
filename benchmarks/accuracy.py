"""`python -m benchmarks.accuracy [decisions] [probabilities]`: how right we are on Reuters-90, beside scikit-learn.

ModApte, 9,603 training and 3,299 test documents, ltc. Nothing is tuned on test documents, but for one peer, which
favours it.

decisions      Each model's settings are those with the best mean of micro and macro F1 among held-out training
               documents (five folds; thresholds by `SCut` from the other folds' held-out scores). Fitted to all of the
               training documents, with thresholds of all held-out scores, it decides the test documents once.
probabilities  Ours takes the scale of the prior, one for all categories or one each, by cross-validation on the
               training documents.
               `LogisticRegression` gets in every category the C with the lowest log loss on the *test* documents:
               no tuning on training documents can do better.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from bayesift.datasets import load_reuters
from bayesift.evaluation import expected_calibration_error, log_loss
from bayesift.models import GaussianPrior, LaplacePrior, SparseBayesClassifier
from bayesift.models.linear import CrossValidation, integrated_probabilities, posterior_of
from bayesift.models.linear.links import link_of
from bayesift.text import TermVectorizer
from bayesift.thresholds import SCut, category_folds

Array = np.ndarray[Any, Any]
Model = Callable[[], Any]

N_FOLDS = 5
COSTS = (10.0, 30.0, 100.0, 300.0, 1000.0)
WORDS = {"min_df": 3}
STEMS = {"min_df": 2, "stemmer": "porter"}


def vectors(options: dict[str, Any]) -> tuple[Any, Array, Any, Array]:
    """Training vectors and labels, test vectors and labels."""
    corpus = load_reuters(subset="modapte")
    train, test = corpus.split("train"), corpus.split("test")
    vectorizer = TermVectorizer(weighting="ltc", **options)
    X = vectorizer.fit_transform(train.texts)
    return X, train.indicator.toarray(), vectorizer.transform(test.texts), test.indicator.toarray()


def f1(Y: Array, decisions: Array) -> tuple[float, float]:
    """Micro and macro, in per cent; a category that nothing has and nothing gets counts 0."""
    true, sizes = (decisions & (Y > 0)).sum(axis=0), decisions.sum(axis=0) + Y.sum(axis=0)
    return 200 * true.sum() / sizes.sum(), 200 * float(np.mean(true / np.maximum(sizes, 1)))


def held_out_scores(make: Model, X: Any, Y: Array) -> Array:
    """Scores of training documents when they are held out; those that never are have training scores."""
    folds, scores = category_folds(Y, n_folds=N_FOLDS), np.empty(Y.shape)
    for fold in range(-1 if (folds < 0).any() else 0, N_FOLDS):
        train = np.flatnonzero(folds != fold) if fold >= 0 else np.arange(len(Y))
        test = np.flatnonzero(folds == fold)
        scores[test] = make().fit(X[train], Y[train]).decision_function(X[test])
    return scores


def cross_validated_f1(Y: Array, scores: Array, rule: SCut) -> tuple[float, float]:
    """With thresholds of the other documents' scores."""
    decisions, folds = np.zeros(Y.shape, dtype=bool), category_folds(Y, n_folds=N_FOLDS, random_state=1)
    for fold in range(-1, N_FOLDS):
        held_out = folds == fold
        if held_out.any():
            others = ~held_out if fold >= 0 else np.ones(len(Y), dtype=bool)
            decisions[held_out] = rule.fit(Y[others], scores[others]).decide(scores[held_out])
    return f1(Y, decisions)


class SupportVectors:
    """LinearSVC, one a category."""

    def __init__(self, cost: float) -> None:
        self.model = OneVsRestClassifier(LinearSVC(C=cost))

    def fit(self, X: Any, Y: Array) -> SupportVectors:
        """Fit."""
        self.model.fit(sparse.csr_matrix(X), Y)
        return self

    def decision_function(self, X: Any) -> Array:
        """Scores."""
        scores: Array = self.model.decision_function(sparse.csr_matrix(X))
        return scores


def _ours(link: str, variance: float) -> Model:
    return lambda: SparseBayesClassifier(link=link, prior=GaussianPrior(variance=variance), tol=1e-2)


def _peers(cost: float) -> Model:
    return lambda: SupportVectors(cost)


GRIDS: dict[str, list[tuple[str, dict[str, Any], Model]]] = {
    "bayesift, Gaussian prior": [
        (f"{link}, variance {variance:g}, {name}", options, _ours(link, variance))
        for link in ("logit", "probit")
        for variance in (30.0, 100.0)
        for name, options in (("words", WORDS), ("stems", STEMS))
    ],
    "LinearSVC": [
        (f"C {cost:g}, {name}", options, _peers(cost))
        for cost in (0.1, 0.3, 1.0, 3.0)
        for name, options in (("words", WORDS), ("stems", STEMS))
    ],
}


def decisions() -> Iterator[str]:
    """F1 on the test documents, as the rows of a table."""
    yield "| model | setting | cross-validated micro / macro F1 | test micro / macro F1 |"
    yield "|---|---|---|---|"
    rule = SCut()
    for model, grid in GRIDS.items():
        rows = []
        for setting, options, make in grid:
            X, Y, *_ = vectors(options)
            scores = held_out_scores(make, X, Y)
            found = cross_validated_f1(Y, scores, rule)
            print(f"{model}, {setting}: {found[0]:.2f} / {found[1]:.2f}", file=sys.stderr, flush=True)
            rows.append((sum(found), found, setting, options, make, scores))
        _, found, setting, options, make, scores = max(rows, key=lambda row: row[0])
        X, Y, X_test, Y_test = vectors(options)
        judged = rule.fit(Y, scores).decide(make().fit(X, Y).decision_function(X_test))
        micro, macro = f1(Y_test, judged)
        yield f"| {model} | {setting} | {found[0]:.2f} / {found[1]:.2f} | {micro:.2f} / {macro:.2f} |"


def probabilities() -> Iterator[str]:
    """Log loss and calibration on the test documents, as the rows of a table."""
    X, Y, X_test, Y_test = vectors(WORDS)
    yield "| model | log loss x 1000 | expected calibration error x 1000 |"
    yield "|---|---|---|"
    for shared in (True, False):
        rule = CrossValidation(folds=N_FOLDS, shared=shared)
        ours = SparseBayesClassifier(prior=LaplacePrior(gamma=1.0), prior_scale=rule, tol=1e-2).fit(X, Y)
        name = f"bayesift, Laplace prior, {'one scale' if shared else 'a scale a category'} by cross-validation"
        yield _row(name, Y_test, ours.predict_proba(X_test))
        yield _row("the same, integrated over the weights", Y_test, integrated(ours, X, Y, X_test))
    yield _row("LogisticRegression, best C of each category in hindsight", Y_test, in_hindsight(X, Y, X_test, Y_test))


def integrated(model: SparseBayesClassifier, X: Any, Y: Array, X_test: Any) -> Array:
    """Probabilities averaged over the posterior of the weights."""
    problem = model.problem(X, Y)
    problem = problem.varied(prior=problem.prior.rescaled(model.prior_scale_[:, np.newaxis]))
    scores, columns = model.decision_function(X_test), []
    for c, solution in enumerate(model.solutions_):
        spread = posterior_of(problem, c, solution).score_variances(X_test)
        columns.append(integrated_probabilities(link_of(model.link), scores[:, c], spread))
    return np.column_stack(columns)


def in_hindsight(X: Any, Y: Array, X_test: Any, Y_test: Array) -> Array:
    """What `LogisticRegression` gives with the C that is best on the test documents, in each category."""
    rows, test_rows, best = sparse.csr_matrix(X), sparse.csr_matrix(X_test), np.empty(Y_test.shape)
    lowest = np.full(Y.shape[1], np.inf)
    for cost in COSTS:
        for c, column in enumerate(Y.T):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                options = {"solver": "liblinear", "dual": True, "C": cost, "tol": 1e-2, "intercept_scaling": 10.0}
                scores = LogisticRegression(**options, random_state=0).fit(rows, column).decision_function(test_rows)
            loss = np.logaddexp(0.0, np.where(Y_test[:, c] > 0, -scores, scores)).sum()
            if loss < lowest[c]:
                lowest[c], best[:, c] = loss, expit(scores)
    return best


def _row(name: str, Y: Array, forecasts: Array) -> str:
    error = expected_calibration_error(Y, forecasts)
    return f"| {name} | {1000 * log_loss(Y, forecasts):.3f} | {1000 * error:.3f} |"


TABLES = {"decisions": decisions, "probabilities": probabilities}

if __name__ == "__main__":
    for table in sys.argv[1:] or TABLES:
        for line in TABLES[table]():
            print(line, flush=True)
