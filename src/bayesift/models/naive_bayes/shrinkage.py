"""Hierarchical shrinkage: a category borrows words from its ancestors (McCallum, Rosenfeld, Mitchell & Ng 1998)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from bayesift.models.naive_bayes.bags import Bags, remainder

Array = np.ndarray[Any, Any]

_MOST_ITERATIONS = 100_000


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


def _share_elsewhere(documents: Array, n_documents: float) -> Array:
    """What is left of a relative frequency when one document that holds the word is held out."""
    elsewhere = np.maximum(1 - 1 / documents, 0.0)
    return elsewhere / (1 - 1 / n_documents) if n_documents > 1 else np.zeros_like(elsewhere)
