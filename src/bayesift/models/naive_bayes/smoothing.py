"""Smoothings: from counted words to language models p(w | c).

With n the count of word w in category c, N the size of the category, K the size of the vocabulary and the collection
model q(w) = (n_w + 1) / (N_all + K), n_w and N_all being the counts of the whole collection (the added one keeps words
possible that the vocabulary knows but no document has):

    maximum likelihood      n / N
    Laplace                 (n + alpha) / (N + alpha K)
    Dirichlet               (n + mu q(w)) / (N + mu)
    Jelinek-Mercer          (1 - lambda) n / N + lambda q(w)
    absolute discounting    max(n - delta, 0) / N + (what was taken away) / N q(w)

A smoothing is called with `Bags` and returns log probabilities, terms x categories; the probabilities of a category sum
to one. A category without words gets the background (no word is possible under maximum likelihood). Hierarchical
shrinkage mixes a category with its ancestors.

References: Zhai & Lafferty (2004), table I; McCallum, Rosenfeld, Mitchell & Ng (1998) for the shrinkage.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from bayesift.arrays import Array
from bayesift.models.naive_bayes.counts import Bags, remainder
from bayesift.state import storable

_MOST_ITERATIONS = 100_000


@runtime_checkable
class Smoothing(Protocol):
    """What turns bags of words into log probabilities, terms x categories; `kind` names it in model files."""

    kind: ClassVar[str]

    def __call__(self, bags: Bags) -> Array:
        """Log probabilities, terms x categories."""
        ...


@storable("maximum-likelihood-smoothing")
@dataclass(frozen=True, slots=True)
class MaximumLikelihood:
    """n / N: no smoothing; words unseen in a category rule it out."""

    kind: ClassVar[str] = "maximum-likelihood"

    def __call__(self, bags: Bags) -> Array:
        """Log probabilities, terms x categories."""
        return bags.log_mixtures(_inverse(bags.sizes), np.zeros_like(bags.sizes), bags.background)


@storable("laplace-smoothing")
@dataclass(frozen=True, slots=True)
class Laplace:
    """(n + alpha) / (N + alpha K): every word counted alpha times more."""

    alpha: float = 1.0
    kind: ClassVar[str] = "laplace"

    def __post_init__(self) -> None:
        _check("alpha", self.alpha, self.alpha > 0, "above 0; without smoothing use MaximumLikelihood")

    def __call__(self, bags: Bags) -> Array:
        """Log probabilities, terms x categories."""
        added = self.alpha * bags.n_terms
        scale = 1 / (bags.sizes + added)
        return bags.log_mixtures(scale, added * scale, np.full(bags.n_terms, 1 / bags.n_terms))


@storable("dirichlet-smoothing")
@dataclass(frozen=True, slots=True)
class Dirichlet:
    """(n + mu q(w)) / (N + mu): mu words of the collection added to every category."""

    mu: float = 2000.0
    kind: ClassVar[str] = "dirichlet"

    def __post_init__(self) -> None:
        _check("mu", self.mu, self.mu > 0, "above 0; without smoothing use MaximumLikelihood")

    def __call__(self, bags: Bags) -> Array:
        """Log probabilities, terms x categories."""
        scale = 1 / (bags.sizes + self.mu)
        return bags.log_mixtures(scale, self.mu * scale, bags.background)


@storable("jelinek-mercer-smoothing")
@dataclass(frozen=True, slots=True)
class JelinekMercer:
    """(1 - lambda) n / N + lambda q(w): a fixed share of the collection in every category."""

    lambda_: float = 0.5
    kind: ClassVar[str] = "jelinek-mercer"

    def __post_init__(self) -> None:
        _check("lambda_", self.lambda_, 0 < self.lambda_ <= 1, "above 0 and at most 1")

    def __call__(self, bags: Bags) -> Array:
        """Log probabilities, terms x categories."""
        share = np.where(bags.sizes > 0, self.lambda_, 1.0)
        return bags.log_mixtures((1 - share) * _inverse(bags.sizes), share, bags.background)


@storable("absolute-discounting-smoothing")
@dataclass(frozen=True, slots=True)
class AbsoluteDiscounting:
    """max(n - delta, 0) / N, and what was taken away spread over the collection model."""

    delta: float = 0.7
    kind: ClassVar[str] = "absolute-discounting"

    def __post_init__(self) -> None:
        _check("delta", self.delta, 0 < self.delta <= 1, "above 0 and at most 1")

    def __call__(self, bags: Bags) -> Array:
        """Log probabilities, terms x categories."""
        scale = _inverse(bags.sizes)
        share = np.where(bags.sizes > 0, bags.discounted(self.delta) * scale, 1.0)
        return bags.log_mixtures(scale, share, bags.background, self.delta)


@storable("hierarchical-shrinkage-smoothing")
@dataclass(frozen=True)
class HierarchicalShrinkage:
    """p(w | c) = sum_j lambda_cj p_j(w), over the category, its ancestors, the whole collection and 1 / K.

    The estimates of a path are independent: an ancestor's leaves out the words of the child on the path. The lambdas
    maximise by EM the likelihood of held-out words: each document is held out in turn, and takes with it the mean count
    of the word in the documents that hold it, so that the counts suffice and learning in batches changes nothing.
    Each lambda starts with one word of evidence, so none becomes 0.

    An ancestor holds the words of its children and its own; with an indicator y, where documents carry their ancestors
    as further categories, only its own. The rest of a category (multi-label) has no ancestors.

    Parameters
    ----------
    parents : parent of a category, such as `Corpus.parents`; categories without one stand below the collection
    tolerance : EM stops when no lambda moves by more
    max_iterations : EM stops after so many rounds

    Examples
    --------
    >>> HierarchicalShrinkage.of_dotted_names(["rec.autos", "rec.sport.hockey"]).parents
    {'rec.autos': 'rec', 'rec.sport.hockey': 'rec.sport', 'rec.sport': 'rec'}
    """

    parents: Mapping[Any, Any] = field(default_factory=dict)
    tolerance: float = 1e-4
    max_iterations: int = 100
    kind: ClassVar[str] = "hierarchical-shrinkage"

    def __post_init__(self) -> None:
        if not (self.tolerance >= 0 and 1 <= self.max_iterations <= _MOST_ITERATIONS):
            raise ValueError(f"tolerance must be 0 or more, max_iterations from 1 to {_MOST_ITERATIONS:,}")
        object.__setattr__(self, "parents", dict(self.parents))
        for category in self.parents:
            self.ancestors(category)

    @classmethod
    def of_dotted_names(cls, names: Any, **options: Any) -> HierarchicalShrinkage:
        """The tree in which every prefix of a dotted name is an ancestor."""
        parents = {}
        for name in names:
            child = str(name)
            while "." in child:
                parents[child] = child.rpartition(".")[0]
                child = parents[child]
        return cls(parents, **options)

    def ancestors(self, category: Hashable) -> list[Any]:
        """The path from a category's parent upwards."""
        path: list[Any] = []
        while category in self.parents:
            category = self.parents[category]
            if category in path:
                raise ValueError(f"the parents of {category!r} form a circle")
            path.append(category)
        return path

    def __call__(self, bags: Bags) -> Array:
        """Log probabilities, terms x categories."""
        nodes = {} if bags.rest else self._node_counts(bags)
        out = np.empty((bags.n_terms, len(bags.classes)))
        for c in range(len(bags.classes)):
            models = self._path_models(bags, c, nodes)
            weights = self._learn_weights(bags, c, models)
            out[:, c] = weights @ models
        with np.errstate(divide="ignore"):
            return np.log(out, out=out)

    def _node_counts(self, bags: Bags) -> dict[Any, Array]:
        """The counts of every category that is a parent."""
        nodes: dict[Any, Array] = {}
        own = {name: c for c, name in enumerate(bags.classes.tolist())}
        inner = set(self.parents.values())
        for name, c in own.items():
            if name in inner:
                nodes[name] = bags.dense(c)
        for name, c in own.items():
            for ancestor in self.ancestors(name):
                if ancestor in own and bags.multilabel:
                    continue
                nodes[ancestor] = nodes.get(ancestor, 0.0) + bags.dense(c)
        return nodes

    def _path_models(self, bags: Bags, category: int, nodes: dict[Any, Array]) -> Array:
        """The estimates along the path: the category, its ancestors, the collection, the uniform one."""
        levels = [bags.dense(category)]
        if not bags.rest:
            levels += [nodes[ancestor] for ancestor in self.ancestors(bags.classes.tolist()[category])]
            levels.append(bags.counted.term_counts)
        independent = [levels[0], *(remainder(b, a) for a, b in pairwise(levels))]
        sizes = [level.sum() for level in independent]
        estimates = [level / size for level, size in zip(independent, sizes, strict=True) if size > 0]
        return np.array([*estimates, np.full(bags.n_terms, 1 / bags.n_terms)])

    def _learn_weights(self, bags: Bags, category: int, models: Array) -> Array:
        """The lambdas of one category, by EM on its own words, each held out."""
        counts = bags.dense(category)
        held_out = np.flatnonzero(counts)
        counts = counts[held_out]
        models = models[:, held_out]
        if len(counts):
            models[0] *= _share_elsewhere(bags.dense_documents(category)[held_out], bags.n_documents(category))
        weights = np.full(len(models), 1 / len(models))
        for _ in range(self.max_iterations):
            joint = weights[:, np.newaxis] * models
            evidence = joint @ (counts / joint.sum(axis=0)) + 1
            before, weights = weights, evidence / evidence.sum()
            if np.max(np.abs(weights - before)) <= self.tolerance:
                break
        return weights


SMOOTHINGS: dict[str, type[Any]] = {
    smoothing.kind: smoothing
    for smoothing in (MaximumLikelihood, Laplace, Dirichlet, JelinekMercer, AbsoluteDiscounting, HierarchicalShrinkage)
}


def _share_elsewhere(documents: Array, n_documents: float) -> Array:
    """What is left of a relative frequency when one document that holds the word is held out."""
    elsewhere = np.maximum(1 - 1 / documents, 0.0)
    return elsewhere / (1 - 1 / n_documents) if n_documents > 1 else np.zeros_like(elsewhere)


def _inverse(sizes: Array) -> Array:
    return np.divide(1, sizes, out=np.zeros_like(sizes), where=sizes > 0)


def _check(name: str, value: float, valid: bool, bounds: str) -> None:
    if not (np.isfinite(value) and valid):
        raise ValueError(f"{name} must be {bounds}, got {value!r}")
