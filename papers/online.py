"""Chai, Ng & Chieu (2002): Bayesian online classifiers, classification and filtering.

Classification on Reuters-21578: Porter stems, English stop words, ltc over the whole vocabulary.
Bayesian models and SVM b use at most 300 terms per category with -2 ln lambda above 12.13, and go
through the documents three times in the order of the corpus; SVM a uses all words of at least three
training documents. Filtering is batch-adaptive, as in TREC-9.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from bayesift.arrays import Array
from bayesift.corpora import data_directory, load_trec9_topics
from bayesift.evaluation import (
    Estimate,
    bootstrap_f1,
    bootstrap_mean,
    macro_sign_test,
    micro_sign_test,
)
from bayesift.features import SelectTerms

# From their modules, not from `bayesift.filtering`: a change of how pools are ranked makes no
# stream old.
from bayesift.filtering.profile import ProfileSettings
from bayesift.filtering.simulation import Simulation, Stream, simulate, stream_of
from bayesift.filtering.strategies import Strategy
from bayesift.filtering.tables import breakdown, measures, terms_curve
from bayesift.models.baselines import KernelSVM, LinearSVM
from bayesift.models.online import (
    FlipNoise,
    LogitNoise,
    OnlineGaussianProcess,
    OnlinePerceptron,
    ProbitNoise,
)
from bayesift.text import TermVectorizer
from bayesift.text.counting import scale_to_length_one
from bayesift.thresholds import Bayes, ExpectedF1, MaxF1
from papers.corpora import corpus_part, matrix_of
from papers.experiment import (
    Absent,
    Alternative,
    Experiment,
    Extent,
    Grid,
    PlotReading,
    Reading,
    Task,
    as_value,
    reading,
)
from papers.pictures import LinePlot

SYSTEMS = (
    *(f"SVM{words}-{kernel}" for words in "ab" for kernel in ("1", "2", "R1")),
    "Perceptron",
    *(f"GP-{kernel}" for kernel in ("1", "2", "R1")),
)
RULES = ("0.5", "MaxF1", "ExpectedF1")
KERNELS = {"1": "linear", "2": "polynomial", "R1": "rbf"}
LIKELIHOODS: dict[str, Callable[[], Any]] = {
    "probit": lambda: ProbitNoise(0.5),
    "logit": lambda: LogitNoise(by="probit"),
    "exact logit": LogitNoise,
    "flip": lambda: FlipNoise(0.1),
}

_RESAMPLES = 1000
_QUICK_TOPICS = 6


class Reuters(NamedTuple):
    """Vectors and labels of training and test documents, and the selected terms per category."""

    X: Any
    X_test: Any
    Y: Array
    Y_test: Array
    feature_mask: Any


@lru_cache(maxsize=2)
def reuters_vectors(quick: bool, min_df: int) -> tuple[Any, Any, Array, Array]:
    """Vectors and labels of training and test documents."""
    corpus = corpus_part("reuters", quick)
    train, test = corpus.split("train"), corpus.split("test")
    vectorizer = TermVectorizer(
        weighting="ltc", stop_words="english", stemmer="porter", min_df=min_df
    )
    X, X_test = vectorizer.fit_transform(train.texts), vectorizer.transform(test.texts)
    return X, X_test, train.indicator.toarray(), test.indicator.toarray()


@lru_cache(maxsize=1)
def _feature_mask(quick: bool) -> Any:
    X, _, Y, _ = reuters_vectors(quick, 1)
    return (
        SelectTerms(by="likelihood-ratio", threshold=12.13, k=300, per_category=True)
        .fit(X, Y)
        .feature_mask_
    )


def data_of(row: str, quick: bool) -> Reuters:
    """Return the data of a system."""
    every_word = row.startswith("SVMa")
    vectors = reuters_vectors(quick, 3 if every_word else 1)
    return Reuters(*vectors, None if every_word else _feature_mask(quick))


def model_of(
    row: str, *, likelihood: str = "probit", n_epochs: int = 3, bias: float = 1.0
) -> Any:
    """Return the unfitted model of a row of Table 2."""
    family, _, number = row.partition("-")
    if family == "GP":
        return OnlineGaussianProcess(kernel=KERNELS[number], max_basis="terms", shuffle=False)
    if family == "Perceptron":
        return OnlinePerceptron(
            likelihood=LIKELIHOODS[likelihood](), n_epochs=n_epochs, bias=bias, shuffle=False
        )
    kernel = KERNELS[number]
    return (
        LinearSVM(loss="hinge", C="scale") if kernel == "linear" else KernelSVM(kernel=kernel)
    )


def measure_system(
    *,
    row: str,
    quick: bool,
    seed: int,
    likelihood: str = "probit",
    n_epochs: int = 3,
    bias: float = 1.0,
    order: str = "corpus",
    length: str = "all words",
) -> dict[str, Any]:
    """Micro and macro F1 by each threshold, evidence, and the decisions by MaxF1.

    Parameters
    ----------
    row : a row of Table 2
    quick, seed : of the run
    likelihood, n_epochs, bias : of the perceptron
    order : of the training documents: "corpus", "reversed" or "shuffled"
    length : which vectors have length one: those of "all words", or of the selected "terms" of any
        category
    """
    data = data_of(row, quick)
    if length == "terms":
        data = _of_selected_length(data)
    model, rows = (
        model_of(row, likelihood=likelihood, n_epochs=n_epochs, bias=bias),
        _ordered(order, len(data.Y), seed),
    )
    model.fit(
        data.X[rows],
        data.Y[rows],
        **({} if data.feature_mask is None else {"feature_mask": data.feature_mask}),
    )
    probabilities = hasattr(model, "predict_proba")
    score = model.predict_proba if probabilities else model.decision_function
    train, test = score(data.X), score(data.X_test)
    decided = _decisions(data.Y, train, test, probabilities)
    measured: dict[str, Any] = {}
    for rule, decisions in decided.items():
        found = bootstrap_f1(data.Y_test, decisions, random_state=seed)
        measured |= {
            f"{rule} micro": found.micro.times(100),
            f"{rule} macro": found.macro.times(100),
        }
    if row == "Perceptron":
        measured["evidence"] = _evidence(model, data, test, seed)
    return {
        **measured,
        "decisions": np.flatnonzero(decided["MaxF1"]).tolist(),
        "shape": list(data.Y_test.shape),
    }


def labels_of_test(*, quick: bool, seed: int) -> dict[str, Any]:
    """Return the labels of the test documents, for the sign tests."""
    Y_test = reuters_vectors(quick, 1)[3]
    return {"shape": list(Y_test.shape), "labels": np.flatnonzero(Y_test).tolist()}


def _decisions(Y: Array, train: Array, test: Array, probabilities: bool) -> dict[str, Array]:
    decided = {
        "0.5": Bayes().fit(Y, train).decide(test) if probabilities else test > 0,
        "MaxF1": MaxF1().fit(Y, train).decide(test),
    }
    if probabilities:
        decided["ExpectedF1"] = ExpectedF1().fit(Y, train).decide(test)
    return decided


def _evidence(model: Any, data: Reuters, probabilities: Array, seed: int) -> list[float | None]:
    """Return the log evidence of the test documents, mean over categories.

    The interval resamples documents.
    """
    value = float(np.mean(model.log_evidence(data.X_test, data.Y_test)))
    clipped = np.clip(probabilities, 1e-300, 1 - 1e-16)
    each = np.where(data.Y_test > 0, np.log(clipped), np.log1p(-clipped)).sum(axis=1)
    scale = len(each) / data.Y_test.shape[1]
    spread = bootstrap_mean(each, random_state=seed)
    assert spread.lower is not None
    assert spread.upper is not None
    return [
        value,
        value + scale * (spread.lower - spread.value),
        value + scale * (spread.upper - spread.value),
    ]


def _ordered(order: str, n_documents: int, seed: int) -> Array:
    rows = np.arange(n_documents)
    return {
        "corpus": rows,
        "reversed": rows[::-1],
        "shuffled": np.random.default_rng(seed).permutation(rows),
    }[order]


def _of_selected_length(data: Reuters) -> Reuters:
    chosen = np.flatnonzero(data.feature_mask.sum(axis=0) > 0)
    parts = [matrix.tocsc()[:, chosen].tocsr() for matrix in (data.X, data.X_test)]
    for part in parts:
        scale_to_length_one(part)
    return data._replace(
        X=parts[0], X_test=parts[1], feature_mask=data.feature_mask.tocsc()[:, chosen].tocsr()
    )


def play_stream(*, stream: str, gain: str, quick: bool, seed: int) -> dict[str, Any]:
    """Measure Tables 4 and 5 and Figure 2 by strategy; intervals resample topics."""
    played = _stream(stream, quick)
    settings = replace(ProfileSettings(), strategy=Strategy(gain=gain, seed=seed))  # type: ignore[arg-type]
    simulation = simulate(
        played, list(STRATEGIES.values()) if gain == "paper" else ["+ig"], settings=settings
    )
    result: dict[str, Any] = {"topics": len(played.topics), "documents": simulation.n_stream}
    for name, runs in simulation.runs.items():
        values = asdict(measures(simulation, name))
        intervals = _intervals(simulation, name, seed)
        result[name] = {
            measure: [value, *intervals.get(measure, (None, None))]
            for measure, value in values.items()
        }
        result[f"{name} why"] = asdict(breakdown(runs))
        result[f"{name} words"] = terms_curve(runs).tolist()
    return result


def has_trec9() -> bool:
    """Whether the whole collection of TREC-9 is in the data directory, and not only its sample."""
    places = (
        "ohsumed-trec9/t9.filtering.tar.gz",
        "t9.filtering.tar.gz",
        "ohsumed-trec9/ohsumed.88-91",
    )
    return any((data_directory() / place).exists() for place in places)


def _stream(name: str, quick: bool) -> Stream:
    if name == "trec9":
        statements = {
            topic.number: f"{topic.title}\n{topic.description}" for topic in load_trec9_topics()
        }
        return stream_of(corpus_part("ohsumed-trec9", quick=False), statements=statements)
    corpus = corpus_part("ohsumed" if name == "ohsumed" else "reuters", quick=False)
    if name == "reuters, NEWID":
        undated = replace(
            corpus, documents=tuple(replace(document, date=None) for document in corpus)
        )
        found = stream_of(undated, n_batch=2_025, relevant=(10, 150), relevant_in_batch=2)
    elif name == "reuters, dates":
        found = stream_of(corpus, n_batch=9_603, relevant=(10, 150))
    else:
        found = stream_of(corpus, relevant=(100, 350))
    return _fewer(found, _QUICK_TOPICS) if quick else found


def _fewer(stream: Stream, n_topics: int) -> Stream:
    labels, batch = (
        part.tocsc()[:, :n_topics].tocsr() for part in (stream.labels, stream.batch_labels)
    )
    return replace(stream, labels=labels, batch_labels=batch, topics=stream.topics[:n_topics])


def _intervals(
    simulation: Simulation, strategy: str, seed: int
) -> dict[str, tuple[float, float]]:
    """Bootstrap intervals of the measures that are means over topics."""
    each = _by_topic(simulation, strategy)
    n_topics = len(simulation.topics)
    drawn = np.random.default_rng(seed).integers(n_topics, size=(_RESAMPLES, n_topics))
    found = {}
    for name, values in each.items():
        lower, upper = np.quantile(values[drawn].mean(axis=1), [0.025, 0.975])
        found[name] = (float(lower), float(upper))
    return found


def _by_topic(simulation: Simulation, strategy: str) -> dict[str, Array]:
    runs = simulation.runs[strategy]
    right, retrieved = (
        np.array(v, dtype=float)
        for v in zip(*((r.relevant.sum(), len(r.rows)) for r in runs), strict=True)
    )
    relevant = np.array([run.n_relevant for run in runs], dtype=float)
    return {
        "recall": 100 * right / np.maximum(relevant, 1),
        "precision": 100 * right / np.maximum(retrieved, 1),
        "t9p": 100 * right / np.maximum(retrieved, simulation.target),
        "utility": 3 * right - retrieved,
    }


def _system_task(row: str, extent: Extent, **changes: Any) -> Task:
    """Fitting and measuring one system."""
    label = "".join(
        [f"online: {row}", *(f", {name} {value}" for name, value in changes.items())]
    )
    return Task.of(
        measure_system, label, corpora=("reuters",), row=row, **changes, **extent.settings
    )


# Table 2: micro and macro F1 of ten systems by three thresholds.
CHOICES: dict[str, dict[str, Any]] = {
    "as in the table: the order of the corpus, lengths of all words": {},
    "documents in reverse order": {"order": "reversed"},
    "documents shuffled": {"order": "shuffled"},
    "lengths of the selected terms": {"length": "terms"},
    "no bias": {"bias": 0.0},
}


def _f1_readings(task: Task, rules: tuple[str, ...] = RULES) -> dict[str, Reading]:
    names = [f"{rule} {average}" for rule in rules for average in ("micro", "macro")]
    return {name: reading(task, name) for name in names}


def _systems_grid(extent: Extent) -> Grid:
    grid: Grid = {}
    for row in SYSTEMS:
        found = _f1_readings(
            _system_task(row, extent), RULES[: 2 if row.startswith("SVM") else 3]
        )
        grid |= {(row, column): value for column, value in found.items()}
    return grid


def _systems_alternatives(extent: Extent) -> list[Alternative]:
    return [
        Alternative(
            "Perceptron", choice, _f1_readings(_system_task("Perceptron", extent, **changes))
        )
        for choice, changes in ({} if extent.quick else CHOICES).items()
    ]


# Table 3: sign tests between the systems, decided by MaxF1.
def _signs_grid(extent: Extent) -> Grid:
    truth = Task.of(labels_of_test, "online: labels", corpora=("reuters",), **extent.settings)
    tasks = {row: _system_task(row, extent) for row in SYSTEMS}
    pairs = ((row, column) for row in SYSTEMS for column in SYSTEMS if row != column)
    return {
        (row, column): Reading((truth, tasks[row], tasks[column]), _symbols)
        for row, column in pairs
    }


def _symbols(truth: Any, row: Any, column: Any) -> str:
    """Return the s-test and S-test symbols of a row's system against a column's.

    There is no correction for several tests, as in the paper.
    """
    shape = truth["shape"]
    Y, a, b = (
        matrix_of(flat, shape)
        for flat in (truth["labels"], row["decisions"], column["decisions"])
    )
    return " / ".join(test(Y, a, b).symbol for test in (micro_sign_test, macro_sign_test))


# Tables 4 and 5 and Figure 2: filtering. Name of a stream: the corpus it needs, and its name in
# tables.
STREAMS = {
    "reuters, NEWID": ("reuters", "Reuters"),
    "reuters, dates": ("reuters", "Reuters by date"),
    "ohsumed": ("ohsumed", "OHSUMED-20000"),
}
# the paper's names of strategies, in its order
STRATEGIES = {
    "Pptron+rel+ig": "+rel+ig",
    "Pptron+ig": "+ig",
    "Pptron+rnd": "+rnd",
    "Pptron+rel": "+rel",
    "Pptron": "plain",
}
NO_TREC9 = Absent("the collection of TREC-9 (348,566 references) is not in the data directory")
MEASURES = {
    "Total retrieved": "retrieved",
    "Relevant retrieved": "relevant_retrieved",
    "Macro-average recall": "recall",
    "Macro-average precision": "precision",
    "Mean T9P": "t9p",
    "Mean Utility": "utility",
    "Mean T9U": "t9u",
    "Mean scaled utility": "scaled_utility",
    "Zero returns": "zero_returns",
}
REASONS = {
    "classifier proper": ("proper",),
    "asked": ("queried",),
    "total": ("proper", "queried"),
}
KINDS = {
    "relevant": ("relevant",),
    "not relevant": ("irrelevant",),
    "total": ("relevant", "irrelevant"),
}


def _stream_task(stream: str, extent: Extent, gain: str = "paper") -> Task:
    """Return the task of filtering a stream for all its topics by all strategies."""
    corpus = STREAMS[stream][0] if stream in STREAMS else "ohsumed-trec9"
    return Task.of(
        play_stream,
        f"online: filtering {stream}",
        corpora=(corpus,),
        stream=stream,
        gain=gain,
        **extent.settings,
    )


def _trec9_task(extent: Extent) -> Task | None:
    """Return the task of the paper's own stream, or None if the stream is missing."""
    return _stream_task("trec9", extent) if has_trec9() and not extent.quick else None


def _measure_reading(task: Task, strategy: str, measure: str) -> Reading:
    return Reading((task,), lambda result: as_value(result[strategy][measure]))


def _filtering_grid(extent: Extent) -> Grid:
    grid: Grid = {}
    own = _trec9_task(extent)
    for row, measure in MEASURES.items():
        grid |= {
            (row, name): Absent("a system of the track, not the paper's")
            for name in ("Microsoft", "Fudan")
        }
        for column, strategy in STRATEGIES.items():
            grid[row, column] = (
                NO_TREC9 if own is None else _measure_reading(own, strategy, measure)
            )
    for stream, (_, title) in STREAMS.items():
        task = _stream_task(stream, extent)
        for row, measure in MEASURES.items():
            grid |= {
                (row, f"{title}: {c}"): _measure_reading(task, s, measure)
                for c, s in STRATEGIES.items()
            }
    return grid


def _filtering_alternatives(extent: Extent) -> list[Alternative]:
    others = []
    for stream, (_, title) in () if extent.quick else STREAMS.items():
        for gain, choice in (
            ("paper", "the paper's formula of the gain"),
            ("exact", "the exact information gain"),
        ):
            found = _measure_reading(_stream_task(stream, extent, gain), "+ig", "t9p")
            others.append(Alternative(f"{title}: Pptron+ig", choice, {"Mean T9P": found}))
    return others


def _count_reading(
    task: Task, strategy: str, reasons: tuple[str, ...], kinds: tuple[str, ...]
) -> Reading:
    def pick(result: Any) -> Estimate:
        parts = result[f"{strategy} why"]
        return Estimate(sum(parts[f"{reason}_{kind}"] for reason in reasons for kind in kinds))

    return Reading((task,), pick)


def _share_reading(task: Task, strategy: str) -> Reading:
    def pick(result: Any) -> Estimate:
        parts = result[f"{strategy} why"]
        queried = parts["queried_relevant"] + parts["queried_irrelevant"]
        return Estimate(100 * parts["queried_relevant"] / queried if queried else 0.0)

    return Reading((task,), pick)


def _reasons_column(task: Task | None, column: str) -> Grid:
    grid: Grid = {}
    for strategy in ("+ig", "+rnd"):
        for why, reasons in REASONS.items():
            for kind, kinds in KINDS.items():
                found = (
                    NO_TREC9 if task is None else _count_reading(task, strategy, reasons, kinds)
                )
                grid[f"{strategy}, {why}, {kind}", column] = found
        share = NO_TREC9 if task is None else _share_reading(task, strategy)
        grid[f"{strategy}, relevant share of asked (%)", column] = share
    return grid


def _reasons_grid(extent: Extent) -> Grid:
    grid = _reasons_column(_trec9_task(extent), "TREC-9")
    for stream, (_, title) in STREAMS.items():
        grid |= _reasons_column(_stream_task(stream, extent), title)
    return grid


def _words_plot(title: str) -> Callable[[Any], LinePlot]:
    def draw(result: Any) -> LinePlot:
        series = {name: list(enumerate(result[f"{s} words"])) for name, s in STRATEGIES.items()}
        return LinePlot(
            f"{title}: mean number of words", "relevant documents retrieved", "words", series
        )

    return draw


def _words_plots(extent: Extent) -> list[PlotReading]:
    own = _trec9_task(extent)
    first = [] if own is None else [PlotReading((own,), _words_plot("TREC-9"))]
    return first + [
        PlotReading((_stream_task(s, extent),), _words_plot(title))
        for s, (_, title) in STREAMS.items()
    ]


# Tables 6 and 7: likelihoods of the perceptron, and epochs over the training documents.
Rows = dict[str, dict[str, Any]]
LIKELIHOOD_ROWS: Rows = {
    "Logit": {"likelihood": "logit"},
    "Probit": {},
    "Flip": {"likelihood": "flip"},
}
EPOCH_ROWS: Rows = {str(n): {} if n == 3 else {"n_epochs": n} for n in (1, 2, 3, 4, 5)}
EVIDENCE_COLUMNS = {
    "micro F1": "MaxF1 micro",
    "macro F1": "MaxF1 macro",
    "log-evidence": "evidence",
}


def _evidence_readings(extent: Extent, **changes: Any) -> dict[str, Reading]:
    task = _system_task("Perceptron", extent, **changes)
    return {column: reading(task, name) for column, name in EVIDENCE_COLUMNS.items()}


def _evidence_grid(rows: Rows, extent: Extent) -> Grid:
    found = {row: _evidence_readings(extent, **changes) for row, changes in rows.items()}
    return {
        (row, column): value
        for row, values in found.items()
        for column, value in values.items()
    }


def _likelihood_alternatives(extent: Extent) -> list[Alternative]:
    exact = _evidence_readings(extent, likelihood="exact logit")
    return (
        [] if extent.quick else [Alternative("Logit", "the exact logit, by quadrature", exact)]
    )


# Figure 1: theta, the information gain above which a judgement is requested.
AT = (0, 50, 100)


def schedule(*, quick: bool, seed: int) -> dict[str, Any]:
    """Theta after 0 to 100 retrieved documents."""
    strategy = Strategy(query="gain")
    return {
        **{str(n): strategy.theta(n) for n in AT},
        "curve": [[n, strategy.theta(n)] for n in range(101)],
    }


def _schedule_task(extent: Extent) -> Task:
    return Task.of(schedule, "online: schedule of queries", **extent.settings)


def _schedule_curve(result: Any) -> LinePlot:
    return LinePlot(
        "θ against the number of retrieved documents",
        "documents retrieved",
        "θ",
        {"θ": result["curve"]},
    )


EXPERIMENTS = [
    Experiment("online:table-2", _systems_grid, _systems_alternatives),
    Experiment("online:table-3", _signs_grid),
    Experiment("online:table-4", _filtering_grid, _filtering_alternatives),
    Experiment("online:table-5", _reasons_grid),
    Experiment(
        "online:table-6",
        lambda extent: _evidence_grid(LIKELIHOOD_ROWS, extent),
        _likelihood_alternatives,
    ),
    Experiment("online:table-7", lambda extent: _evidence_grid(EPOCH_ROWS, extent)),
    Experiment(
        "online:figure-1",
        lambda extent: {
            ("θ", f"N_ret = {n}"): reading(_schedule_task(extent), str(n)) for n in AT
        },
        plots=lambda extent: [PlotReading((_schedule_task(extent),), _schedule_curve)],
    ),
    Experiment("online:figure-2", plots=_words_plots),
]
