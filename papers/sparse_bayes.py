"""Sparse Bayesian classifiers for text categorization (Eyheramendy et al. 2003).

The authors are Eyheramendy, Genkin, Ju, Lewis & Madigan.

Fixed by the paper: stop words and punctuation left out; log TF; terms chosen for each category by
|Pearson|; the threshold with the fewest training errors. Open, and chosen here by the defaults of
`Setting`: words are runs of letters, without stems; the intercept has no prior; the mode is exact;
of equally good thresholds the one in the widest gap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse, stats

from bayesift.arrays import Array
from bayesift.evaluation import bootstrap_f1
from bayesift.features import SelectTerms
from bayesift.models.baselines import LinearSVM, NeighborsClassifier, RocchioClassifier
from bayesift.models.linear import (
    GaussianPrior,
    JeffreysPrior,
    LaplacePrior,
    SparseBayesClassifier,
)
from bayesift.models.linear.links import Probit, log_likelihoods
from bayesift.models.naive_bayes import Laplace, NaiveBayesClassifier
from bayesift.text import TermVectorizer
from bayesift.text.counting import scale_to_length_one
from bayesift.thresholds import MinimumErrors, SCut, ThresholdedClassifier, category_folds
from papers.corpora import corpus_part
from papers.experiment import (
    Alternative,
    Experiment,
    Extent,
    Grid,
    PlotReading,
    Reading,
    Task,
    reading,
)
from papers.pictures import BoxPlot, Diagram, LinePlot
from papers.printed import printed_table

TEN = (
    "earn",
    "acq",
    "money-fx",
    "grain",
    "crude",
    "trade",
    "interest",
    "wheat",
    "ship",
    "corn",
)
AVERAGES = ("macro-average", "micro-average")
CHANGE, CUT = (
    1e-2,
    1e-3,
)  # where an early EM stops, relative to the largest weight, and below which weights become 0
JEFFREYS_CHANGE = 1e-3  # where EM stops under the Jeffreys prior
EARLIER = (3e-2, 1e-1)
EARLY = f"EM stopped at a change of {CHANGE:g}, weights below {CUT:g} cut"
PEERS: dict[str, Callable[[float], Any]] = {
    "naive Bayes": lambda alpha: NaiveBayesClassifier(smoothing=Laplace(alpha)),
    "SVM": lambda cost: LinearSVM(C=cost),
    "kNN": lambda k: NeighborsClassifier(n_neighbors=int(k)),
    "Rocchio": lambda negative: RocchioClassifier(negative=negative),
}
ROCCHIO_SHARES = (
    0.0,
    2.0,
    4.0,
    8.0,
    12.0,
    16.0,
)  # of the documents outside of a category, those inside having 16


@dataclass(frozen=True)
class Setting:
    """One column of one of the paper's tables, or a variation of it.

    Parameters
    ----------
    model : "probit", "logit"; "naive Bayes", "SVM", "kNN" and "Rocchio" have no prior
    prior, parameter : "jeffreys", "laplace" (gamma) or "gaussian" (variance); the parameter of
        naive Bayes is what it adds to counts, that of the SVM its C, that of kNN its k; the share
        of Rocchio is chosen in folds
    terms, by : the number of terms per category, and the score that selects them; 0 for all
    weighting : "log-tf", "tf" or "binary"
    idf : "none", "ln" or "log2" of (documents / those with the term); "cosine" is "ln", then
        documents of length one
    corpus : "reuters-labelled" (the ten largest categories), "reuters" (the same, with documents of
        no category), or "rcv1-sample" (all categories, vectors as they come)
    characters, stop_words, stemmer : parameters of `TermVectorizer`
    intercept : "flat", or "prior" for that of the other weights
    stop : "mode", or "early" for an EM that stops at a change of `CHANGE` and cuts at `CUT`
    threshold : the one with the fewest training errors in the "widest" gap, the "highest" or
        "lowest" of these; "zero"; "scut", the best F1 on documents held out
    scale : factor of the vectors
    """

    model: str = "probit"
    prior: Literal["jeffreys", "laplace", "gaussian"] = "laplace"
    parameter: float = 10.0
    terms: int = 300
    by: str = "pearson"
    weighting: Literal["log-tf", "tf", "binary"] = "log-tf"
    idf: Literal["none", "ln", "log2", "cosine"] = "none"
    corpus: Literal["reuters-labelled", "reuters", "rcv1-sample"] = "reuters-labelled"
    characters: Literal["letters", "words"] = "letters"
    stop_words: str | None = "english"
    stemmer: str | None = None
    intercept: Literal["flat", "prior"] = "flat"
    stop: Literal["mode", "early"] = "mode"
    threshold: Literal["widest", "highest", "lowest", "zero", "scut"] = "widest"
    scale: float = 1.0


class Vectors(NamedTuple):
    """Vectors, category indicators and category names of training and test documents."""

    train: Any
    train_categories: Array
    test: Any
    test_categories: Array
    names: tuple[str, ...]


def measure_setting(*, quick: bool, seed: int, **parts: Any) -> dict[str, Any]:
    """Measure F1 per category and on average in per cent, and count parameters that are not 0."""
    setting = Setting(**parts)
    vectors = vectors_of(setting, quick)
    if setting.terms == 0:
        decisions, parameters = _decide_by_peer(setting, vectors)
    else:
        decisions, parameters = _decide(setting, vectors)
    found = bootstrap_f1(vectors.test_categories, decisions, random_state=seed)
    named = dict(zip(vectors.names, found.categories, strict=True))
    measured: dict[str, Any] = {
        name: value.times(100) for name, value in named.items() if name in TEN
    }
    measured |= {
        "micro-average": found.micro.times(100),
        "macro-average": found.macro.times(100),
    }
    counts = dict(zip(vectors.names, parameters.tolist(), strict=True))
    measured |= {
        f"parameters of {name}": count for name, count in counts.items() if name in TEN
    }
    return {**measured, "parameters": int(parameters.sum())}


def count_parameters(*, gamma: float, change: float, quick: bool, seed: int) -> dict[str, Any]:
    """Count the nonzero parameters of each category when EM stops at another tolerance.

    The tolerance bounds the change of the largest weight.
    """
    setting = replace(LAPLACE, parameter=gamma, stop="early")
    vectors = vectors_of(setting, quick)
    model = classifier_of(setting).set_params(tol=100 * change)  # EM stops at 1% of tol
    model.fit(
        vectors.train, vectors.train_categories, feature_mask=feature_mask_of(setting, vectors)
    )
    weights = np.array([solution.coefficients for solution in model.solutions_])
    counts = 1 + np.count_nonzero(np.abs(weights) >= CUT, axis=1)
    return dict(zip(TEN, counts.tolist(), strict=True))


def vectors_of(setting: Setting, quick: bool = False) -> Vectors:
    """Return the documents as vectors of a setting."""
    if setting.corpus == "rcv1-sample":
        return _given_vectors(quick, setting.scale)
    words = (setting.characters, setting.stop_words, setting.stemmer)
    return _vectors(setting.corpus, quick, setting.weighting, setting.idf, *words)


@lru_cache(maxsize=2)
def _vectors(
    name: str,
    quick: bool,
    weighting: Any,
    idf: str,
    characters: Any,
    stop_words: Any,
    stemmer: Any,
) -> Vectors:
    corpus = corpus_part(name, quick)
    train, test = corpus.split("train"), corpus.split("test")
    vectorizer = TermVectorizer(
        weighting=weighting, characters=characters, stop_words=stop_words, stemmer=stemmer
    )
    X, X_test = vectorizer.fit_transform(train.texts), vectorizer.transform(test.texts)
    if idf != "none":
        rarity = np.log(len(train.texts) / vectorizer.document_frequencies_) / (
            np.log(2) if idf == "log2" else 1.0
        )
        X, X_test = (sparse.csr_array(matrix * rarity) for matrix in (X, X_test))
    if idf == "cosine":
        scale_to_length_one(X)
        scale_to_length_one(X_test)
    columns = [list(corpus.categories).index(name) for name in TEN]
    return Vectors(
        X,
        train.indicator.toarray()[:, columns],
        X_test,
        test.indicator.toarray()[:, columns],
        TEN,
    )


@lru_cache(maxsize=1)
def _given_vectors(quick: bool, scale: float) -> Vectors:
    """Return the vectors of a corpus without text, and categories with a training document."""
    corpus = corpus_part("rcv1-sample", quick)
    train, test = corpus.split("train"), corpus.split("test")
    assert train.vectors is not None
    assert test.vectors is not None
    Y, Y_test = train.indicator.toarray(), test.indicator.toarray()
    learned = np.flatnonzero(Y.any(axis=0))
    names = tuple(corpus.categories[i] for i in learned)
    return Vectors(
        scale * train.vectors, Y[:, learned], scale * test.vectors, Y_test[:, learned], names
    )


def feature_mask_of(setting: Setting, vectors: Vectors) -> Any:
    """Return the terms that each category may use, categories x terms."""
    selection = SelectTerms(by=setting.by, k=setting.terms, per_category=True)
    return selection.fit(vectors.train, vectors.train_categories).feature_mask_


def classifier_of(setting: Setting) -> Any:
    """Return the unfitted classifier of a setting."""
    priors: dict[str, Callable[[], Any]] = {
        "jeffreys": JeffreysPrior,
        "laplace": lambda: LaplacePrior(gamma=setting.parameter),
        "gaussian": lambda: GaussianPrior(variance=setting.parameter),
    }
    early, em = setting.stop == "early", setting.stop == "early" or setting.prior == "jeffreys"
    return SparseBayesClassifier(
        link=setting.model,
        prior=priors[setting.prior](),
        intercept="flat" if setting.intercept == "flat" else None,
        solver="em" if em else "auto",
        tol=100 * (CHANGE if early else JEFFREYS_CHANGE)
        if em
        else 1e-3,  # EM stops at 1% of tol
        max_iter=20_000,
    )


def _decide(setting: Setting, vectors: Vectors) -> tuple[Array, Array]:
    """Decide on the test documents by training thresholds, and count parameters that are not 0."""
    feature_mask, train, test = feature_mask_of(setting, vectors), vectors.train, vectors.test
    if setting.intercept == "prior":
        train, test = (
            sparse.csr_array(sparse.hstack([X, np.ones((X.shape[0], 1))]))
            for X in (train, test)
        )
        feature_mask = sparse.csr_array(
            sparse.hstack([feature_mask, np.ones((feature_mask.shape[0], 1), dtype=bool)])
        )
    fit = _fit_peers if setting.model in PEERS else _fit
    (train_scores, test_scores), parameters = fit(
        setting, (train, test), vectors.train_categories, feature_mask
    )
    return test_scores > _thresholds(
        setting.threshold, vectors.train_categories, train_scores
    ), parameters


def _decide_by_peer(setting: Setting, vectors: Vectors) -> tuple[Array, Array]:
    """All terms, all categories at once, thresholds by F1 on documents held out."""
    parameter = _rocchio_share(vectors) if setting.model == "Rocchio" else setting.parameter
    model = ThresholdedClassifier(PEERS[setting.model](parameter), rule=SCut(), cv=3)
    model.fit(vectors.train, vectors.train_categories)
    n_categories, n_terms = vectors.train_categories.shape[1], vectors.train.shape[1]
    return model.predict(vectors.test), np.full(n_categories, n_terms + 1)


def _rocchio_share(vectors: Vectors) -> float:
    """Return the share with the highest micro F1 on held-out training documents.

    Thresholds are chosen by F1 on the other folds.
    """
    X, Y = sparse.csr_array(vectors.train), vectors.train_categories
    folds = category_folds(Y, n_folds=3, random_state=0)

    def hits(share: float) -> float:
        scores, decided = np.zeros(Y.shape), np.zeros(Y.shape, dtype=bool)
        for fold in range(3):
            model = RocchioClassifier(negative=share).fit(X[folds != fold], Y[folds != fold])
            scores[folds == fold] = model.decision_function(X[folds == fold])
        for fold in range(3):
            others, here = (folds >= 0) & (folds != fold), folds == fold
            decided[here] = SCut().fit(Y[others], scores[others]).decide(scores[here])
        return float((decided & (Y > 0)).sum() / (decided.sum() + Y[folds >= 0].sum()))

    return max(ROCCHIO_SHARES, key=hits)


def _fit(
    setting: Setting, matrices: tuple[Any, Any], Y: Array, feature_mask: Any
) -> tuple[list[Array], Array]:
    """Scores of both matrices, and the parameters of each category that are not 0."""
    model = classifier_of(setting).fit(matrices[0], Y, feature_mask=feature_mask)
    weights = np.array([solution.coefficients for solution in model.solutions_])
    intercepts = np.array([solution.intercept for solution in model.solutions_])
    if setting.stop == "early":
        weights[np.abs(weights) < CUT] = 0.0
    parameters = np.count_nonzero(np.column_stack([weights, intercepts]), axis=1)
    return [X @ weights.T + intercepts for X in matrices], parameters


def _fit_peers(
    setting: Setting, matrices: tuple[Any, Any], Y: Array, feature_mask: Any
) -> tuple[list[Array], Array]:
    """Fit a model without feature masks: each category on its own columns."""
    scores: list[list[Array]] = [[], []]
    for place, terms in enumerate(feature_mask.toarray().astype(bool)):
        columns = [sparse.csr_array(X)[:, np.flatnonzero(terms)] for X in matrices]
        model = PEERS[setting.model](setting.parameter).fit(columns[0], Y[:, place])
        for found, X in zip(scores, columns, strict=True):
            found.append(_score(model, X))
    return [np.column_stack(found) for found in scores], feature_mask.sum(axis=1) + 1


def _score(model: Any, X: Any) -> Array:
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X)).ravel()
    logarithms = model.predict_log_proba(X)
    return np.asarray(logarithms[:, 1] - logarithms[:, 0])


def _thresholds(which: str, Y: Array, scores: Array) -> Array:
    if which == "zero":
        return np.zeros(Y.shape[1])
    if which == "widest":
        return MinimumErrors().fit(Y, scores).thresholds_
    return np.array(
        [_extreme(y, s, highest=which == "highest") for y, s in zip(Y.T, scores.T, strict=True)]
    )


def _extreme(y: Array, scores: Array, *, highest: bool) -> float:
    """Return the highest or lowest score that makes the fewest errors as an exclusive threshold."""
    order = np.argsort(scores)
    missed, false = np.cumsum(y[order] > 0), np.sum(y == 0) - np.cumsum(y[order] == 0)
    last = np.append(np.diff(scores[order]) > 0, True)  # equal scores are decided alike
    errors = np.where(last, missed + false, len(y))
    best = scores[order][errors == errors.min()]
    return float(best[-1] if highest else best[0])


LAPLACE = Setting()
JEFFREYS = Setting(prior="jeffreys")
GAUSSIAN = Setting(prior="gaussian", parameter=0.01)
LOGISTIC_GAUSSIAN = replace(GAUSSIAN, model="logit", idf="ln")
LOGISTIC_LAPLACE = replace(LAPLACE, model="logit", idf="ln")
GAMMAS = {
    gamma: replace(LAPLACE, parameter=gamma) for gamma in (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
}
PRIORS = {"Jeffreys": JEFFREYS} | {
    f"Laplace γ = {gamma:g}": setting for gamma, setting in GAMMAS.items()
}


def task_of(setting: Setting, extent: Extent) -> Task:
    """Return the task of a column."""
    changed = {
        name: value
        for name, value in asdict(setting).items()
        if value != getattr(LAPLACE, name)
    }
    label = f"{setting.model} " + ", ".join(
        f"{name} {value}" for name, value in changed.items() if name != "model"
    )
    return Task.of(
        measure_setting,
        f"sparse Bayes: {label}",
        corpora=(setting.corpus,),
        **asdict(setting),
        **extent.settings,
    )


def _f1_table(
    number: int,
    columns: Mapping[str, Setting],
    choices: Mapping[str, Mapping[str, Setting]] | None = None,
    rows: tuple[str, ...] = (*TEN, *AVERAGES),
    shown: tuple[str, ...] = (),
) -> Experiment:
    """Return a table of F1 by category and on average, with one column per setting.

    Other choices have averages and, where `shown` names categories, their F1.
    """

    def grid(extent: Extent) -> Grid:
        tasks = {
            name: task_of(setting, extent)
            for name, setting in _without_em(columns, extent).items()
        }
        return {
            (row, column): reading(task, row) for column, task in tasks.items() for row in rows
        }

    def alternatives(extent: Extent) -> list[Alternative]:
        varied = {} if extent.quick or choices is None else choices
        return [
            Alternative(column, choice, _averages(setting, extent, shown))
            for column, settings in varied.items()
            for choice, setting in settings.items()
        ]

    return Experiment(f"sparse-bayes:table-{number}", grid, alternatives)


def _without_em(columns: Mapping[str, Setting], extent: Extent) -> dict[str, Setting]:
    """Return the columns of a run; a quick run leaves out EM on RCV1."""
    slow = {
        name
        for name, setting in columns.items()
        if (setting.corpus, setting.prior) == ("rcv1-sample", "jeffreys")
    }
    return {
        name: setting
        for name, setting in columns.items()
        if not (extent.quick and name in slow)
    }


def _averages(
    setting: Setting, extent: Extent, shown: tuple[str, ...] = ()
) -> dict[str, Reading]:
    """Return rows of average F1, parameters and some categories' F1 for other readings."""
    task = task_of(setting, extent)
    names = {
        "micro F1": "micro-average",
        "macro F1": "macro-average",
        "parameters": "parameters",
    }
    names |= {name: name for name in shown}
    return {shown: reading(task, name) for shown, name in names.items()}


# Table 1: the sparse model on 300 terms beside Zhang & Oles' (2001) systems on 10,000, of whose
# text processing the paper says nothing.
RIDGE = Setting(
    model="logit",
    prior="gaussian",
    parameter=1.0,
    terms=10_000,
    by="information-gain",
    weighting="binary",
)
TABLE_1 = {
    "Naive Bayes": replace(RIDGE, model="naive Bayes", weighting="tf"),
    "Log. Reg.": RIDGE,
    "SVM": replace(RIDGE, model="SVM"),
    "Sparse Bayes": LAPLACE,
}
NAIVE_BAYES, MARGIN = TABLE_1["Naive Bayes"], TABLE_1["SVM"]
NAIVE_BAYES_CHOICES = {
    "as in the table: counts, add 1": NAIVE_BAYES,
    "presence of terms": replace(NAIVE_BAYES, weighting="binary"),
    "add 0.1": replace(NAIVE_BAYES, parameter=0.1),
    "add 0.01": replace(NAIVE_BAYES, parameter=0.01),
    "1,000 terms a category": replace(NAIVE_BAYES, terms=1000),
    "threshold at probability 1/2": replace(NAIVE_BAYES, threshold="zero"),
    "stems (Porter)": replace(NAIVE_BAYES, stemmer="porter"),
}
RIDGE_CHOICES = {
    f"variance {variance:g}": replace(RIDGE, parameter=variance)
    for variance in (1.0, 0.1, 0.01)
}
MARGIN_CHOICES = {
    "as in the table: C = 1": MARGIN,
    "C = 0.1": replace(MARGIN, parameter=0.1),
    "C = 0.01": replace(MARGIN, parameter=0.01),
    "log TF": replace(MARGIN, weighting="log-tf"),
    "threshold at 0": replace(MARGIN, threshold="zero"),
    "stems (Porter), C = 0.01": replace(MARGIN, parameter=0.01, stemmer="porter"),
}
SPARSE_CHOICES = {
    "as in the tables": LAPLACE,
    EARLY: replace(LAPLACE, stop="early"),
    "ω = γ/|β|, as the E-step is printed": replace(LAPLACE, parameter=100.0),
    "the intercept under the same prior": replace(LAPLACE, intercept="prior"),
    "stems (Porter)": replace(LAPLACE, stemmer="porter"),
    "digits are parts of words": replace(LAPLACE, characters="words"),
    "stop words kept": replace(LAPLACE, stop_words=None),
    "all 9,603 and 3,299 documents": replace(LAPLACE, corpus="reuters"),
    "of equally good thresholds the lowest": replace(LAPLACE, threshold="lowest"),
    "of equally good thresholds the highest": replace(LAPLACE, threshold="highest"),
    "threshold at probability 1/2": replace(LAPLACE, threshold="zero"),
    "IDF ln(N/n)": replace(LAPLACE, idf="ln"),
}


# Table 3: priors; what EM gives when stopped early, and with its E-step as printed (ω = γ/|β|),
# where EM seeks the mode for γ squared.
def _em_choices(gamma: float, setting: Setting) -> dict[str, Setting]:
    squared = replace(setting, parameter=gamma**2)
    return {
        "the mode, as in the table": setting,
        EARLY: replace(setting, stop="early"),
        "ω = γ/|β|, as the E-step is printed": squared,
        "both": replace(squared, stop="early"),
    }


PRIOR_CHOICES = {"Jeffreys": {EARLY: replace(JEFFREYS, stop="early")}} | {
    f"Laplace γ = {gamma:g}": _em_choices(gamma, setting) for gamma, setting in GAMMAS.items()
}


# Table 4: parameters that are not 0, the intercept included.
def _parameters(setting: Setting, extent: Extent) -> dict[str, Reading]:
    task = task_of(setting, extent)
    return {row: reading(task, f"parameters of {row}") for row in TEN}


def _parameters_grid(extent: Extent) -> Grid:
    return {
        (row, c): found
        for c, setting in PRIORS.items()
        for row, found in _parameters(setting, extent).items()
    }


def _parameters_alternatives(extent: Extent) -> list[Alternative]:
    if extent.quick:
        return []
    early = {name: replace(setting, stop="early") for name, setting in PRIORS.items()}
    found = [
        Alternative(name, EARLY, _parameters(setting, extent))
        for name, setting in early.items()
    ]
    for change in EARLIER:
        for gamma in GAMMAS:
            label = f"sparse-bayes: Laplace prior, γ = {gamma:g}, EM stopped at {change:g}"
            settings = {"gamma": gamma, "change": change, **extent.settings}
            task = Task.of(count_parameters, label, corpora=(LAPLACE.corpus,), **settings)
            choice = f"EM stopped at a change of {change:g}, weights below {CUT:g} cut"
            found.append(
                Alternative(
                    f"Laplace γ = {gamma:g}", choice, {row: reading(task, row) for row in TEN}
                )
            )
    return found


# Table 6: sparse and dense models, probit and logistic.
def _idf_choices(setting: Setting) -> dict[str, Setting]:
    return {
        "as in the table: IDF ln(N/n)": setting,
        "IDF log2(N/n)": replace(setting, idf="log2"),
        "IDF ln(N/n), documents of length one": replace(setting, idf="cosine"),
        "no IDF": replace(setting, idf="none"),
    }


LINK_CHOICES = {
    "Probit Gaussian": {
        "as in the table": GAUSSIAN,
        EARLY: replace(GAUSSIAN, stop="early"),
        "the intercept under the same prior": replace(GAUSSIAN, intercept="prior"),
        "threshold at probability 1/2": replace(GAUSSIAN, threshold="zero"),
        "IDF ln(N/n)": replace(GAUSSIAN, idf="ln"),
    },
    "Logistic Gaussian": _idf_choices(LOGISTIC_GAUSSIAN),
    "Logistic Laplace": _idf_choices(LOGISTIC_LAPLACE),
}

# Tables 7 and 8: RCV1. The vectors come weighted (log TF x IDF, length one). Documents of log TF,
# which the paper has, are about ten times as long, and a prior on weights means as much more: so
# long they are made here.
LONGER = 10.0
RCV1_LAPLACE = Setting(corpus="rcv1-sample", parameter=25.0, scale=LONGER)
RCV1_JEFFREYS = replace(
    RCV1_LAPLACE, prior="jeffreys", stop="early"
)  # EM to the mode takes minutes
RCV1_LOGISTIC = replace(RCV1_LAPLACE, model="logit")
RCV1_LOGISTIC_3000 = replace(RCV1_LOGISTIC, terms=3000)
TABLE_7 = {
    "SVM": Setting(corpus="rcv1-sample", model="SVM", terms=0, parameter=1.0),
    "kNN": Setting(corpus="rcv1-sample", model="kNN", terms=0, parameter=45.0),
    "Rocchio": Setting(corpus="rcv1-sample", model="Rocchio", terms=0),
    "Probit Jeffreys 300 features": RCV1_JEFFREYS,
    "Probit Laplace γ = 25 300 features": RCV1_LAPLACE,
    "Logistic Laplace γ = 25 3,000 features": RCV1_LOGISTIC_3000,
}
TABLE_8 = {
    "Probit Jeffreys 300": RCV1_JEFFREYS,
    "Probit Laplace γ = 25 300": RCV1_LAPLACE,
    "Probit Gaussian σ² = 0.001 300": replace(RCV1_LAPLACE, prior="gaussian", parameter=0.001),
    "Logistic Laplace γ = 25 300": RCV1_LOGISTIC,
    "Logistic Laplace γ = 25 3,000": RCV1_LOGISTIC_3000,
    "Logistic Gaussian σ² = 0.01 3,000": replace(
        RCV1_LOGISTIC_3000, prior="gaussian", parameter=0.01
    ),
}


def _as_given(columns: Mapping[str, Setting]) -> dict[str, dict[str, Setting]]:
    varied = {
        name: setting
        for name, setting in columns.items()
        if setting.prior != "jeffreys" and setting.terms
    }
    return {
        name: {"vectors as they come, of length one": replace(setting, scale=1.0)}
        for name, setting in varied.items()
    }


# Figure 1: the probit model with its hierarchical prior and latent variables, drawn, and checked by
# sampling from it.
GAMMA, DRAWS, SCORES = 10.0, 200_000, (-2.0, -0.5, 0.0, 1.0, 2.5)


def draw_from_the_model(*, quick: bool, seed: int) -> dict[str, Any]:
    """Measure the distance of draws from the hierarchy to the Laplace prior and the probit.

    In theory both are equal.
    """
    generator = np.random.default_rng(seed)
    n_draws = DRAWS // 10 if quick else DRAWS
    tau = generator.exponential(2 / GAMMA, n_draws)
    beta = generator.normal(0, np.sqrt(tau))
    laplace = stats.laplace(scale=1 / np.sqrt(GAMMA))
    prior = stats.kstest(beta, laplace.cdf)
    labels = [np.mean(generator.normal(score, 1.0, n_draws) > 0) for score in SCORES]
    gaps = np.abs(np.array(labels) - stats.norm.cdf(SCORES))
    return {"prior": float(prior.statistic), "label": float(gaps.max()), "draws": n_draws}


def _draws_task(extent: Extent) -> Task:
    return Task.of(
        draw_from_the_model, "sparse Bayes: draws from the hierarchy", **extent.settings
    )


def _draws_grid(extent: Extent) -> Grid:
    task = _draws_task(extent)
    return {
        ("largest gap of the distribution of β to Laplace's", "draws"): reading(task, "prior"),
        ("largest gap of P(z > 0) to Φ(βᵀx)", "draws"): reading(task, "label"),
        ("how many draws", "draws"): reading(task, "draws"),
    }


def _diagram(result: Any) -> Diagram:
    nodes = {
        "γ*": (70.0, 40.0),
        "τ": (70.0, 120.0),
        "β": (70.0, 200.0),
        "x*": (260.0, 60.0),
        "z": (260.0, 150.0),
        "y*": (260.0, 240.0),
    }
    arrows = [("γ*", "τ"), ("τ", "β"), ("β", "z"), ("x*", "z"), ("z", "y*")]
    plates = {
        "terms j = 1 … d": (20.0, 88.0, 120.0, 150.0),
        "documents i = 1 … n": (195.0, 25.0, 145.0, 260.0),
    }
    return Diagram(
        "Probit model with hierarchical prior and latent variables (filled: known)",
        nodes,
        arrows,
        plates,
    )


# Figure 2: box plots of Table 1, over the ten categories.
def _boxes(*results: Any) -> BoxPlot:
    printed = printed_table("sparse-bayes:table-1").values
    groups = {
        column: {
            "paper": [printed[topic, column] for topic in TEN],
            "ours": [result[topic][0] for topic in TEN],
        }
        for column, result in zip(TABLE_1, results, strict=True)
    }
    return BoxPlot(
        "F1 of the ten categories: largest, three quarters, median, quarter, smallest",
        "F1",
        groups,
    )


# Figure 3: the second derivative of ln Φ; because it is negative, the posterior is log-concave.
REACH = 35.0


def second_derivative(*, quick: bool, seed: int) -> dict[str, Any]:
    """Measure f(w) = (φ'(w) Φ(w) - φ(w)²) / Φ(w)² over a wide range: its extremes and its curve."""
    wide, shown = np.linspace(-REACH, REACH, 7001), np.linspace(-6, 6, 121)
    values = _second_derivative(wide)
    curve = zip(shown.tolist(), _second_derivative(shown).tolist(), strict=True)
    return {
        "largest": float(values.max()),
        "smallest": float(values.min()),
        "curve": [list(point) for point in curve],
    }


def _second_derivative(w: Any) -> Any:
    return -log_likelihoods(Probit(), w)[2]


def _derivative_task(extent: Extent) -> Task:
    return Task.of(
        second_derivative, "sparse Bayes: second derivative of ln Φ", **extent.settings
    )


def _derivative_grid(extent: Extent) -> Grid:
    column = f"f(w) for |w| ≤ {REACH:g}"
    return {
        (row, column): reading(_derivative_task(extent), row) for row in ("largest", "smallest")
    }


def _derivative_curve(result: Any) -> LinePlot:
    return LinePlot(
        "f, the second derivative of ln Φ: always negative", "w", "f(w)", {"f": result["curve"]}
    )


EXPERIMENTS = [
    _f1_table(
        1,
        TABLE_1,
        {
            "Naive Bayes": NAIVE_BAYES_CHOICES,
            "Log. Reg.": RIDGE_CHOICES,
            "SVM": MARGIN_CHOICES,
            "Sparse Bayes": SPARSE_CHOICES,
        },
        shown=("interest", "wheat", "ship"),
    ),
    _f1_table(
        2,
        {
            "Jeffreys raw TF": replace(JEFFREYS, weighting="tf"),
            "Jeffreys log TF": JEFFREYS,
            "Laplace γ = 10 raw TF": replace(LAPLACE, weighting="tf"),
            "Laplace γ = 10 log TF": LAPLACE,
        },
    ),
    _f1_table(3, PRIORS, PRIOR_CHOICES),
    Experiment("sparse-bayes:table-4", _parameters_grid, _parameters_alternatives),
    _f1_table(
        5,
        {
            "Jeffreys 300 features": JEFFREYS,
            "Jeffreys 1000 features": replace(JEFFREYS, terms=1000),
            "Laplace γ = 10 300 features": LAPLACE,
            "Laplace γ = 10 1000 features": replace(LAPLACE, terms=1000),
        },
    ),
    _f1_table(
        6,
        {
            "Probit Gaussian": GAUSSIAN,
            "Probit Laplace": LAPLACE,
            "Logistic Gaussian": LOGISTIC_GAUSSIAN,
            "Logistic Laplace": LOGISTIC_LAPLACE,
        },
        LINK_CHOICES,
    ),
    _f1_table(7, TABLE_7, _as_given(TABLE_7), AVERAGES),
    _f1_table(8, TABLE_8, _as_given(TABLE_8), AVERAGES),
    Experiment(
        "sparse-bayes:figure-1",
        _draws_grid,
        plots=lambda extent: [PlotReading((_draws_task(extent),), _diagram)],
    ),
    Experiment(
        "sparse-bayes:figure-2",
        plots=lambda extent: [
            PlotReading(tuple(task_of(setting, extent) for setting in TABLE_1.values()), _boxes)
        ],
    ),
    Experiment(
        "sparse-bayes:figure-3",
        _derivative_grid,
        plots=lambda extent: [PlotReading((_derivative_task(extent),), _derivative_curve)],
    ),
]
