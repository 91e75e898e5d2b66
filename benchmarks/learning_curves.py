"""Draw learning curves with and without word knowledge.

Run with `python -m benchmarks.learning_curves [choose | SEEDS]`.

Reuters-21578, ModApte. For each of the ten largest categories a model learns from 1, 2, 4, ...
positive examples and five times as many others (at least 50), drawn at random from the training
documents; macro F1 over the ten on all 3,299 test documents, mean and standard error over ten
seeds. Knowledge is what the corpus' own file of category descriptions says, one line per topic. The
same draws and the same rules decide with and without it:

    proportional  the documents with the highest scores, as many as the category's share of all
                  training documents
    0.5           those more probable than not; the share of positive examples is not a forecast of
                  the share in the test

Vectors are ltc over stems, stop words left out, with the document frequencies of all training texts
(no labels used). The scales of the priors and the strengths of knowledge are those that `choose`
finds: the same curves at 1, 4 and 16 examples on the fifteen next categories, decided
proportionally and measured on the other training documents; first the scale of the plain model,
then the strength with it. No test document is looked at.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bayesift.arrays import Array
from bayesift.charts import Axis, Band, Figure, Frame, Layer, Line, Panel
from bayesift.charts.svg import series
from bayesift.corpora import load_reuters, load_reuters_descriptions
from bayesift.knowledge import TermIndex, TermKnowledge, prior_for
from bayesift.knowledge.term_knowledge import DESCRIPTION_STRENGTH
from bayesift.models.linear import GaussianPrior, LaplacePrior, SparseBayesClassifier
from bayesift.records import Corpus
from bayesift.text import TermVectorizer

RESULTS = Path(__file__).parent.parent / "out" / "benchmarks"
SIZES = (1, 2, 4, 8, 16, 32)
VARIANCES = {"gaussian": 1000.0, "laplace": 200.0}  # by `choose`
STRENGTH = DESCRIPTION_STRENGTH  # by `choose`
_GRIDS = {
    "gaussian": (1.0, 10.0, 100.0, 1000.0, 10_000.0),
    "laplace": (2.0, 20.0, 200.0, 2000.0),
}
_STRENGTHS = (0.5, 1.0, 2.0, 4.0, 8.0)


@dataclass(frozen=True)
class Texts:
    """The corpus as vectors, and what its file of descriptions says."""

    corpus: Corpus
    descriptions: dict[str, str]

    @cached_property
    def vectorizer(self) -> TermVectorizer:
        """Fitted to the training texts."""
        vectorizer = TermVectorizer(
            weighting="ltc", stop_words="english", stemmer="porter", min_df=2
        )
        return vectorizer.fit(self.corpus.split("train").texts)

    @cached_property
    def train(self) -> tuple[Any, Array]:
        """Vectors and labels."""
        return self._vectors("train")

    @cached_property
    def test(self) -> tuple[Any, Array]:
        """Vectors and labels."""
        return self._vectors("test")

    @cached_property
    def index(self) -> TermIndex:
        """What knowledge needs of the terms."""
        return TermIndex.of(self.vectorizer, self.train[0])

    @cached_property
    def by_size(self) -> list[int]:
        """The categories, the largest first."""
        order: list[int] = np.argsort(-self.train[1].sum(axis=0), kind="stable").tolist()
        return order

    def prior(
        self,
        category: int,
        kind: str,
        variance: float,
        strength: float,
        *,
        keywords: bool = False,
    ) -> Any:
        """Return the prior of a category from its description, or from equal `keywords`."""
        base = (
            GaussianPrior(variance=variance)
            if kind == "gaussian"
            else LaplacePrior.of_variance(variance)
        )
        name = self.corpus.categories[category]
        text = self.descriptions[name]
        if keywords:
            words = list(self.vectorizer.term_counts(text))
            knowledge = TermKnowledge.from_keywords({name: words}, strength=strength)
        else:
            knowledge = TermKnowledge.from_descriptions({name: text}, strength=strength)
        return prior_for(knowledge, base, [name], self.index)[0] if strength else base

    def _vectors(self, split: str) -> tuple[Any, Array]:
        part = self.corpus.split(split)
        return self.vectorizer.transform(part.texts), part.indicator.toarray().astype(bool)


def draw(labels: Array, size: int, seed: Sequence[int]) -> Array:
    """Draw positive examples of one category and five times as many others, at least 50."""
    generator = np.random.default_rng(seed)
    others = generator.choice(np.flatnonzero(~labels), max(50, 5 * size), replace=False)
    return np.concatenate(
        [generator.choice(np.flatnonzero(labels), size, replace=False), others]
    )


def f1(truth: Array, decided: Array) -> float:
    """Return the F1 of one category."""
    return float(2 * np.sum(truth & decided) / max(1, truth.sum() + decided.sum()))


def learn(
    texts: Texts, prior: Any, category: int, drawn: Array, X: Any, truth: Array
) -> tuple[float, float]:
    """F1 of one category by the proportional rule and at probability 0.5."""
    rows, Y = texts.train
    labels = Y[:, category]
    scores = (
        SparseBayesClassifier(prior=prior)
        .fit(rows[drawn], labels[drawn].astype(int))
        .decision_function(X)
    )
    most = max(1, round(labels.mean() * len(scores)))
    best = np.zeros(len(scores), dtype=bool)
    best[np.argsort(-scores, kind="stable")[:most]] = True
    return f1(truth, best), f1(truth, scores > 0)


def measure(
    texts: Texts,
    kind: str,
    variance: float,
    strength: float,
    *,
    size: int,
    seeds: Iterable[int],
) -> Array:
    """Macro F1 over the ten largest categories on the test documents, seeds x rules."""
    X, Y = texts.test
    chosen = texts.by_size[:10]
    priors = {c: texts.prior(c, kind, variance, strength) for c in chosen}
    found = [
        [
            learn(
                texts,
                priors[c],
                c,
                draw(texts.train[1][:, c], size, (seed, c, size)),
                X,
                Y[:, c],
            )
            for c in chosen
        ]
        for seed in seeds
    ]
    means: Array = np.array(found).mean(axis=1)
    return means


def choose(texts: Texts, seeds: Iterable[int] = range(5)) -> None:
    """Print what the settings were chosen by."""
    for kind, grid in _GRIDS.items():
        plain = {variance: _tried(texts, seeds, kind, variance, 0.0) for variance in grid}
        print(f"{kind}, plain, macro F1 by variance: {_shown(plain)}", flush=True)
        best = max(plain, key=lambda variance: plain[variance])
        for source in ("descriptions", "keywords"):
            found = {
                s: _tried(texts, seeds, kind, best, s, keywords=source == "keywords")
                for s in _STRENGTHS
            }
            print(
                f"{kind}, variance {best:g}, by strength of {source}: {_shown(found)}",
                flush=True,
            )


def _tried(texts: Texts, seeds: Iterable[int], *settings: Any, keywords: bool = False) -> float:
    """Macro F1 of the fifteen next categories on the training documents that were not drawn."""
    X, Y = texts.train
    found = []
    for c in texts.by_size[10:25]:
        prior = texts.prior(c, *settings, keywords=keywords)
        for size in (1, 4, 16):
            for seed in seeds:
                drawn = draw(Y[:, c], size, (seed, c, size))
                rest = np.setdiff1d(np.arange(len(Y)), drawn)
                found.append(learn(texts, prior, c, drawn, X[rest], Y[rest, c])[0])
    return float(np.mean(found))


def _shown(values: dict[float, float]) -> str:
    return ", ".join(f"{setting:g}: {100 * value:.1f}" for setting, value in values.items())


def run(texts: Texts, n_seeds: int) -> dict[str, Any]:
    """All curves, with the paired differences that knowledge makes."""
    rules, curves = ("proportional", "0.5"), []
    for kind, variance in VARIANCES.items():
        for size in SIZES:
            seeds = range(n_seeds)
            plain = measure(texts, kind, variance, 0.0, size=size, seeds=seeds)
            informed = measure(texts, kind, variance, STRENGTH, size=size, seeds=seeds)
            for r, rule in enumerate(rules):
                parts = {
                    "plain": plain[:, r],
                    "knowledge": informed[:, r],
                    "difference": (informed - plain)[:, r],
                }
                row = {"prior": kind, "rule": rule, "size": size}
                row |= {name: float(values.mean()) for name, values in parts.items()}
                row |= {
                    f"{name}_error": _standard_error(values) for name, values in parts.items()
                }
                curves.append(row)
                print(_line(row), flush=True)
    return {"seeds": n_seeds, "variances": VARIANCES, "strength": STRENGTH, "curves": curves}


def _standard_error(values: Array) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def _line(row: dict[str, Any]) -> str:
    parts = (
        f"{name} {100 * row[name]:5.1f} ± {100 * row[f'{name}_error']:.1f}"
        for name in ("plain", "knowledge")
    )
    gain = f"gain {100 * row['difference']:+5.1f} ± {100 * row['difference_error']:.1f}"
    return (
        f"{row['prior']:8s} {row['rule']:12s} {row['size']:2d} positive: "
        f"{', '.join(parts)}, {gain}"
    )


def plot(measured: dict[str, Any], path: Path) -> None:
    """One panel per rule: macro F1 by the number of positive examples, with one standard error."""
    every = [100 * row[name] for row in measured["curves"] for name in ("plain", "knowledge")]
    x = Axis("positive examples of each category", tuple(map(float, SIZES)), log=True)
    y = Axis.over("macro F1, ten largest topics of Reuters", every)
    panels = []
    for place, rule in enumerate(("proportional", "0.5")):
        title = (
            "as many as the category's share"
            if rule == "proportional"
            else "probability above 0.5"
        )
        frame = Frame(52.0 + 330 * place, 348.0 + 330 * place, 30, 302)
        rows = [row for row in measured["curves"] if row["rule"] == rule]
        panels.append(
            Panel(x, y if not place else replace(y, name=""), _layers(rows), frame, title)
        )
    Figure("Knowledge helps where examples are few", panels, width=702, height=346).save(path)


def _layers(rows: list[dict[str, Any]]) -> list[Layer]:
    """Return a line with its standard error for each prior, with and without descriptions."""
    lines: list[Layer] = []
    bands: list[Layer] = []
    kinds = [
        (prior, name) for prior in ("gaussian", "laplace") for name in ("knowledge", "plain")
    ]
    for place, (prior, name) in enumerate(kinds):
        points = [
            (float(row["size"]), 100 * row[name], 100 * row[f"{name}_error"])
            for row in rows
            if row["prior"] == prior
        ]
        label = (
            f"{prior.capitalize()} prior, {'descriptions' if name == 'knowledge' else 'plain'}"
        )
        lines.append(
            Line([(size, mean) for size, mean, _ in points], series(place), label, marked=True)
        )
        lower, upper = (
            [(size, mean + sign * error) for size, mean, error in points] for sign in (-1, 1)
        )
        bands.append(Band(lower, upper, series(place)))
    return lines + bands


def main(arguments: list[str]) -> None:
    """Measure and plot, or choose the settings."""
    texts = Texts(load_reuters(subset="modapte"), load_reuters_descriptions())
    if arguments == ["choose"]:
        choose(texts)
        return
    measured = run(texts, int(arguments[0]) if arguments else 10)
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "learning_curves.json").write_text(json.dumps(measured, indent=2) + "\n")
    plot(measured, RESULTS / "learning_curves.svg")
    print(f"written: {RESULTS}/learning_curves.json, .svg", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
