"""Language models of categories: counts, and the smoothings that give p(w | c).

With n the count of word w in category c, N the size of the category, K the size of the vocabulary
and the collection model q(w) = (n_w + 1) / (N_all + K), n_w and N_all being the counts of the whole
collection (the added one keeps words possible that the vocabulary knows but no document has):

    maximum likelihood      n / N
    Laplace                 (n + alpha) / (N + alpha K)
    Dirichlet               (n + mu q(w)) / (N + mu)
    Jelinek-Mercer          (1 - lambda) n / N + lambda q(w)
    absolute discounting    max(n - delta, 0) / N + (what was taken away) / N q(w)

A smoothing is called with `Bags` and returns log probabilities, terms x categories; the
probabilities of a category sum to one. A category without words gets the background (no word is
possible under maximum likelihood). Hierarchical shrinkage mixes a category with its ancestors.

References: Zhai & Lafferty (2004), table I; McCallum, Rosenfeld, Mitchell & Ng (1998) for the
shrinkage.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from scipy import sparse

from bayesift.arrays import Array, FloatArray, IntArray, SparseRows
from bayesift.errors import DataError
from bayesift.kernels.counts import sum_by_category, sum_by_term
from bayesift.state import expect_array, storable

_ROUNDING = 1e-12  # a difference of sums below this share of them is rounding


@storable("category-counts")
@dataclass(frozen=True, eq=False)
class CategoryCounts:
    """The sufficient statistics of naive Bayes.

    Adding batches gives the same numbers as adding all documents at once.

    Parameters
    ----------
    counts : categories x terms, summed term weights
    documents : aligned with `counts.data`: how many documents of the category hold the term
    category_documents : number of documents of each category
    term_counts, term_documents : counts of each term over all documents, also those without a
        category
    n_documents : number of documents
    """

    counts: SparseRows
    documents: Array
    category_documents: Array
    term_counts: Array
    term_documents: Array
    n_documents: float

    @classmethod
    def empty(cls, n_categories: int, n_terms: int) -> Self:
        """Nothing counted yet."""
        counts = sparse.csr_array((n_categories, n_terms))
        return cls(
            counts,
            np.empty(0),
            np.zeros(n_categories),
            np.zeros(n_terms),
            np.zeros(n_terms),
            0.0,
        )

    def grow(self, positions: Array, n_categories: int, n_terms: int) -> Self:
        """Room for more categories and terms.

        `places`, ascending, are the new rows of the old categories.
        """
        lengths = np.zeros(n_categories, dtype=self.counts.indptr.dtype)
        lengths[positions] = np.diff(self.counts.indptr)
        indptr = np.concatenate(
            (self.counts.indptr[:1], np.cumsum(lengths, dtype=lengths.dtype))
        )
        category_documents = np.zeros(n_categories)
        category_documents[positions] = self.category_documents
        more = (0, n_terms - len(self.term_counts))
        return replace(
            self,
            counts=_rows(self.counts.data, self.counts.indices, indptr, n_terms),
            category_documents=category_documents,
            term_counts=np.pad(self.term_counts, more),
            term_documents=np.pad(self.term_documents, more),
        )

    def add(self, X: SparseRows, members: SparseRows, weights: FloatArray) -> Self:
        """Return the counts with more documents added; `members` is categories x documents."""
        x = X.indptr, X.indices, X.data
        earlier = self.counts.indptr, self.counts.indices, self.counts.data, self.documents
        indptr, indices, sums, documents = sum_by_category(
            x, weights, (members.indptr, members.indices), X.shape[1], earlier
        )
        term_counts = self.term_counts.copy()
        term_documents = self.term_documents.copy()
        sum_by_term(*x, weights, term_counts, term_documents)
        category_documents = self.category_documents.copy()
        category = np.repeat(np.arange(members.shape[0]), np.diff(members.indptr))
        np.add.at(category_documents, category, weights[members.indices])
        # Added one by one, as everything else here is: the result must not depend on the batches.
        n_documents = float(np.cumsum(np.concatenate(([self.n_documents], weights)))[-1])
        counts = _rows(sums, indices, indptr, X.shape[1])
        return type(self)(
            counts, documents, category_documents, term_counts, term_documents, n_documents
        )

    def _post_load(self) -> None:
        """Refuse stored counts that do not fit together."""
        n_categories, n_terms = self.counts.shape
        lengths = {
            "category_documents": n_categories,
            "term_counts": n_terms,
            "term_documents": n_terms,
        }
        for name, length in {"documents": self.counts.nnz, **lengths}.items():
            _check_counts(name, expect_array(getattr(self, name), name, np.float64, (length,)))
        _check_counts("counts", expect_array(self.counts.data, "counts", np.float64, (None,)))
        _check_counts("n_documents", np.array([self.n_documents]))
        if not (
            self.counts.has_canonical_format
            and np.all(self.counts.data)
            and np.all(self.documents)
        ):
            raise DataError("the counts do not fit together")


def _rows(data: FloatArray, indices: IntArray, indptr: IntArray, n_terms: int) -> SparseRows:
    return sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, n_terms))


def _check_counts(name: str, numbers: Array) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        if not (np.isfinite(numbers.sum()) and np.all(numbers >= 0)):
            raise DataError(f"{name} are not finite numbers from 0 on")


@dataclass(frozen=True, eq=False)
class Bags:
    """The words of each category, or (`rest`) the words of all documents outside each category.

    Attributes
    ----------
    sizes : N_c, the sum of the counts of each bag
    background : the collection model q(w) = (n_w + 1) / (N + K); adding one keeps words possible
        that the vocabulary lists but no document contains
    """

    counted: CategoryCounts
    classes: Array
    multilabel: bool = False
    rest: bool = False
    sizes: Array = field(init=False)
    background: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        sizes: Array = self.counted.counts.sum(axis=1)
        added = self.counted.term_counts + 1
        object.__setattr__(
            self,
            "sizes",
            remainder(self.counted.term_counts.sum(), sizes) if self.rest else sizes,
        )
        object.__setattr__(self, "background", added / added.sum())

    @property
    def n_terms(self) -> int:
        """K, the size of the vocabulary."""
        return len(self.counted.term_counts)

    def discounted(self, discount: float) -> Array:
        """Return what each bag loses when `discount` is taken from every count."""
        if not self.rest:
            return _row_sums(
                self.counted.counts, np.minimum(self.counted.counts.data, discount)
            )
        totals = self.counted.term_counts
        everywhere = np.minimum(totals, discount)
        there = self.counted.counts.indices
        here = np.minimum(remainder(totals[there], self.counted.counts.data), discount)
        lost: Array = everywhere.sum() - _row_sums(
            self.counted.counts, everywhere[there] - here
        )
        return lost

    def dense(self, category: int) -> Array:
        """Return the counts of one bag over all terms."""
        return self._dense(self.counted.counts.data, self.counted.term_counts, category)

    def dense_documents(self, category: int) -> Array:
        """How many documents of one bag hold each term."""
        return self._dense(self.counted.documents, self.counted.term_documents, category)

    def n_documents(self, category: int) -> float:
        """How many documents make up one bag."""
        inside = float(self.counted.category_documents[category])
        return self.counted.n_documents - inside if self.rest else inside

    def log_mixtures(
        self, scale: Array, share: Array, background: FloatArray, discount: float = 0.0
    ) -> Array:
        """log(scale_c max(n - discount, 0) + share_c background), terms x categories.

        Log 0 is -inf.
        """
        counts = self.counted.counts
        totals = self.counted.term_counts
        terms = counts.indices
        categories = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        inside = remainder(totals[terms], counts.data) if self.rest else counts.data
        with np.errstate(divide="ignore"):
            if self.rest:
                out = np.empty((self.n_terms, counts.shape[0]))
                kept = np.maximum(totals - discount, 0.0)
                for c in range(counts.shape[0]):
                    out[:, c] = np.log(scale[c] * kept + share[c] * background)
            else:  # most counts are 0: those cells cost an addition, not a logarithm
                out = np.log(background)[:, np.newaxis] + np.log(share)
            mixed = (
                scale[categories] * np.maximum(inside - discount, 0.0)
                + share[categories] * background[terms]
            )
            out[terms, categories] = np.log(mixed)
        return out

    def _dense(self, values: FloatArray, totals: FloatArray, category: int) -> Array:
        begin, end = self.counted.counts.indptr[category : category + 2]
        row = np.zeros(self.n_terms)
        row[self.counted.counts.indices[begin:end]] = values[begin:end]
        return remainder(totals, row) if self.rest else row


def remainder(totals: Any, parts: Array) -> Array:
    """Totals minus parts, where differences within rounding are 0."""
    difference = totals - parts
    return np.where(difference > _ROUNDING * totals, difference, 0.0)


def _row_sums(rows: SparseRows, values: FloatArray) -> Array:
    category = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    return np.bincount(category, weights=values, minlength=rows.shape[0])


_MOST_ITERATIONS = 100_000


@runtime_checkable
class Smoothing(Protocol):
    """What turns bags of words into log probabilities, terms x categories.

    `kind` names it in model files.
    """

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
        return bags.log_mixtures(
            _inverse(bags.sizes), np.zeros_like(bags.sizes), bags.background
        )


@storable("laplace-smoothing")
@dataclass(frozen=True, slots=True)
class Laplace:
    """(n + alpha) / (N + alpha K): every word counted alpha times more."""

    alpha: float = 1.0
    kind: ClassVar[str] = "laplace"

    def __post_init__(self) -> None:
        _check(
            "alpha",
            self.alpha,
            self.alpha > 0,
            "above 0; without smoothing use MaximumLikelihood",
        )

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
    """p(w | c) = sum_j lambda_cj p_j(w), over the category, its ancestors and more.

    These are the whole collection and 1 / K.

    The estimates of a path are independent: an ancestor's leaves out the words of the child on the
    path. The lambdas maximise by EM the likelihood of held-out words: each document is held out in
    turn, and takes with it the mean count of the word in the documents that hold it, so that the
    counts suffice and learning in batches changes nothing. Each lambda starts with one word of
    evidence, so none becomes 0.

    An ancestor holds the words of its children and its own; with an indicator y, where documents
    carry their ancestors as further categories, only its own. The rest of a category (multi-label)
    has no ancestors.

    Parameters
    ----------
    parents : parent of a category, such as `Corpus.parents`; categories without one stand below the
        collection
    tolerance : EM stops when no lambda moves by more
    max_iterations : EM stops after so many rounds

    Examples
    --------
    >>> parents = {"rec.autos": "rec", "rec.sport.hockey": "rec.sport", "rec.sport": "rec"}
    >>> HierarchicalShrinkage(parents).ancestors("rec.sport.hockey")
    ['rec.sport', 'rec']
    """

    parents: Mapping[Any, Any] = field(default_factory=dict)
    tolerance: float = 1e-4
    max_iterations: int = 100
    kind: ClassVar[str] = "hierarchical-shrinkage"

    def __post_init__(self) -> None:
        if not (self.tolerance >= 0 and 1 <= self.max_iterations <= _MOST_ITERATIONS):
            raise ValueError(
                f"tolerance must be 0 or more, max_iterations from 1 to {_MOST_ITERATIONS:,}"
            )
        object.__setattr__(self, "parents", dict(self.parents))
        for category in self.parents:
            self.ancestors(category)

    def ancestors(self, category: Hashable) -> list[Any]:
        """Return the path from a category's parent upwards."""
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
        """Return the counts of every category that is a parent."""
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
        """Return the estimates along the path: category, ancestors, collection, uniform."""
        levels = [bags.dense(category)]
        if not bags.rest:
            levels += [
                nodes[ancestor] for ancestor in self.ancestors(bags.classes.tolist()[category])
            ]
            levels.append(bags.counted.term_counts)
        independent = [levels[0], *(remainder(b, a) for a, b in pairwise(levels))]
        sizes = [level.sum() for level in independent]
        estimates = [
            level / size for level, size in zip(independent, sizes, strict=True) if size > 0
        ]
        return np.array([*estimates, np.full(bags.n_terms, 1 / bags.n_terms)])

    def _learn_weights(self, bags: Bags, category: int, models: Array) -> Array:
        """Learn the lambdas of one category by EM on its own words, each held out."""
        counts = bags.dense(category)
        held_out = np.flatnonzero(counts)
        counts = counts[held_out]
        models = models[:, held_out]
        if len(counts):
            models[0] *= _share_elsewhere(
                bags.dense_documents(category)[held_out], bags.n_documents(category)
            )
        weights = np.full(len(models), 1 / len(models))
        for _ in range(self.max_iterations):
            joint = weights[:, np.newaxis] * models
            evidence = joint @ (counts / joint.sum(axis=0)) + 1
            before = weights
            weights = evidence / evidence.sum()
            if np.max(np.abs(weights - before)) <= self.tolerance:
                break
        return weights


SMOOTHINGS: dict[str, type[Any]] = {
    smoothing.kind: smoothing
    for smoothing in (
        MaximumLikelihood,
        Laplace,
        Dirichlet,
        JelinekMercer,
        AbsoluteDiscounting,
        HierarchicalShrinkage,
    )
}


def _share_elsewhere(documents: Array, n_documents: float) -> Array:
    """Return a relative frequency without one document that holds the word."""
    elsewhere = np.maximum(1 - 1 / documents, 0.0)
    return elsewhere / (1 - 1 / n_documents) if n_documents > 1 else np.zeros_like(elsewhere)


def _inverse(sizes: Array) -> Array:
    return np.divide(1, sizes, out=np.zeros_like(sizes), where=sizes > 0)


def _check(name: str, value: float, valid: bool, bounds: str) -> None:
    if not (np.isfinite(value) and valid):
        raise ValueError(f"{name} must be {bounds}, got {value!r}")
