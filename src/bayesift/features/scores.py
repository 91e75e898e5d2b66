"""Term scores: how informative a term is about each category.

Every score is a function of `TermTables` and gives categories x terms. With documents a (in the
category, with the term), b (in it, without), c (outside, with) and d (outside, without), N of all:

    likelihood ratio     -2 ln lambda = 2 sum over cells n ln(n N / (row sum x column sum))
                         (Dunning 1993)
    information gain     I(term; category) in nats = -2 ln lambda / 2N
    mutual information   ln(a N / ((a + b)(a + c))), pointwise; -inf where a = 0
                         (Yang & Pedersen 1997)
    chi2                 N (ad - bc)^2 / ((a + b)(c + d)(a + c)(b + d)), of presence
    Yule's Q             |ad - bc| / (ad + bc): 1 where the term decides, however rare it is
    document frequency   a + c, the same for every category
    Pearson correlation  sum (x - x')(y - y') / sqrt(sum (x - x')^2 sum (y - y')^2),
                         x' and y' the means
    OCFS                 (m_c - m)^2, means of the term in the category and everywhere; averaged
                         with the sizes of the categories as weights it is the orthogonal
                         centroid score (Yan et al. 2005)

Pearson has the square roots that formula 15 of Genkin, Lewis & Madigan's text lost. A term or
category that does not vary scores 0. scikit-learn's `chi2` tests sums of weights instead of
presence: `count_chi2` gives its values.

>>> tables = TermTables.of([[1, 2], [0, 1], [1, 0], [1, 0]], ["grain", "grain", "crude", "crude"])
>>> chi2(tables).round(3).tolist()
[[1.333, 4.0], [1.333, 4.0]]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import xlogy

from bayesift.arrays import Array, FloatArray
from bayesift.kernels.counts import sum_by_category
from bayesift.validation import Targets, check_targets, check_terms

_BLOCK_CELLS = 1 << 17


@dataclass(frozen=True, eq=False)
class TermTables:
    """Contingency tables and moments of every (category, term) pair, gathered in one pass.

    Zeros are not stored.

    Parameters
    ----------
    n_documents : N
    category_sizes : number of documents of each category
    document_frequencies : documents that contain each term (a weight other than 0)
    sums, squares : of the weights of each term, and of their squares
    joint : categories x terms, documents of the category that contain the term
    cross : categories x terms, sum of the term's weights in the category
    """

    n_documents: int
    category_sizes: FloatArray
    document_frequencies: FloatArray
    sums: Array
    squares: Array
    joint: sparse.csr_array
    cross: sparse.csr_array

    @classmethod
    def of(cls, X: Any, y: Any) -> TermTables:
        """Count documents x terms (sparse or dense) by labels or an indicator matrix."""
        targets = check_targets(y)
        return cls.of_checked(check_terms(None, X, n_documents=targets.n_documents), targets)

    @classmethod
    def of_checked(cls, X: sparse.csr_array, targets: Targets) -> TermTables:
        """Count documents and targets that `check_terms` and `check_targets` returned."""
        n_documents, n_terms = X.shape
        members = targets.members
        indptr, indices, sums, documents = sum_by_category(
            (X.indptr, X.indices, X.data),
            np.ones(n_documents),
            (members.indptr, members.indices),
            n_terms,
        )
        shape = members.shape[0], n_terms
        return cls(
            n_documents=n_documents,
            category_sizes=np.diff(members.indptr).astype(np.float64),
            document_frequencies=np.bincount(X.indices, minlength=n_terms).astype(np.float64),
            sums=np.bincount(X.indices, weights=X.data, minlength=n_terms),
            squares=np.bincount(X.indices, weights=X.data**2, minlength=n_terms),
            joint=sparse.csr_array((documents, indices, indptr), shape=shape),
            cross=sparse.csr_array((sums, indices, indptr), shape=shape),
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Categories, terms."""
        n_categories, n_terms = self.joint.shape
        return n_categories, n_terms

    def contingency(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the documents of each cell, categories x terms.

        They are those in the category with and without the term, and outside it with and
        without.
        """
        with_term = self.joint.toarray()
        sizes = self.category_sizes[:, np.newaxis]
        outside = self.document_frequencies - with_term
        return with_term, sizes - with_term, outside, self.n_documents - sizes - outside

    def blocks(self) -> Iterator[TermTables]:
        """Yield the tables of a few categories at a time, whose dense scores fit into the cache."""
        n_categories, n_terms = self.shape
        step = max(1, _BLOCK_CELLS // max(n_terms, 1))
        for begin in range(0, n_categories, step):
            rows = slice(begin, begin + step)
            yield replace(
                self,
                category_sizes=self.category_sizes[rows],
                joint=self.joint[rows],
                cross=self.cross[rows],
            )


Score = Callable[[TermTables], FloatArray]


def likelihood_ratio(tables: TermTables) -> FloatArray:
    """Dunning's -2 ln lambda of independence.

    Chi-square with 1 degree of freedom: 12.116 is the 0.05% point.
    """
    n = tables.n_documents
    terms, sizes = (
        tables.document_frequencies.astype(np.intp),
        tables.category_sizes.astype(np.intp)[:, np.newaxis],
    )
    # n ln n of every cell, less those of the margins; 0 ln 0 is 0.
    log_powers = xlogy(np.arange(n + 1), np.arange(n + 1))
    ratio: FloatArray = (
        log_powers[n]
        - log_powers[sizes]
        - log_powers[n - sizes]
        - log_powers[terms]
        - log_powers[n - terms]
    )
    for cell in tables.contingency():
        ratio += log_powers[cell.astype(np.intp)]
    # Smaller differences are rounding errors.
    ratio[ratio < 1e-14 * log_powers[n]] = 0
    return 2 * ratio


def information_gain(tables: TermTables) -> FloatArray:
    """Mutual information of the term's presence and the category, in nats."""
    return likelihood_ratio(tables) / (2 * tables.n_documents)


def mutual_information(tables: TermTables) -> FloatArray:
    """Pointwise mutual information of term and category; high for rare terms."""
    joint = tables.joint.toarray()
    expected = (
        tables.category_sizes[:, np.newaxis] * tables.document_frequencies / tables.n_documents
    )
    with np.errstate(divide="ignore"):
        return np.log(_ratio(joint, expected))


def chi2(tables: TermTables) -> FloatArray:
    """Chi-square of presence of the term against the category."""
    n, sizes, terms = (
        tables.n_documents,
        tables.category_sizes[:, np.newaxis],
        tables.document_frequencies,
    )
    # ad - bc = aN - (a + b)(a + c)
    surplus = tables.joint.toarray()
    surplus *= n
    surplus -= sizes * terms
    np.square(surplus, out=surplus)
    return _ratio(surplus, (sizes * (n - sizes) / n) * (terms * (n - terms)))


def yule_q(tables: TermTables) -> FloatArray:
    """Return the absolute value of Yule's Q of presence of the term and the category."""
    a, b, c, d = tables.contingency()
    return np.abs(_ratio(a * d - b * c, a * d + b * c))


def count_chi2(tables: TermTables) -> FloatArray:
    """Return chi-square of the summed weights, as scikit-learn's `chi2` computes it."""
    share = tables.category_sizes[:, np.newaxis] / tables.n_documents
    surplus = np.square(tables.cross.toarray() - share * tables.sums)
    return _ratio(surplus, share * tables.sums) + _ratio(surplus, (1 - share) * tables.sums)


def document_frequency(tables: TermTables) -> FloatArray:
    """Return the number of documents that contain the term."""
    return np.broadcast_to(tables.document_frequencies, tables.shape).copy()


def pearson(tables: TermTables) -> FloatArray:
    """Correlation of the term's weight with the category, from -1 to 1."""
    n, sizes = tables.n_documents, tables.category_sizes[:, np.newaxis]
    covariance = n * tables.cross.toarray() - sizes * tables.sums
    spread = n * tables.squares - tables.sums**2
    spread[spread <= 1e-12 * n * tables.squares] = 0
    return np.clip(_ratio(covariance, np.sqrt(sizes * (n - sizes)) * np.sqrt(spread)), -1, 1)


def absolute_pearson(tables: TermTables) -> FloatArray:
    """Return the absolute value of the correlation, by which terms are selected."""
    return np.abs(pearson(tables))


def ocfs(tables: TermTables) -> FloatArray:
    """Squared distance of the category's centroid from that of all documents, along each term."""
    means = _ratio(tables.cross.toarray(), tables.category_sizes[:, np.newaxis])
    centred = means - tables.sums / tables.n_documents
    return np.where(tables.category_sizes[:, np.newaxis] > 0, np.square(centred), 0.0)


SCORES: dict[str, Score] = {
    "pearson": absolute_pearson,
    "likelihood-ratio": likelihood_ratio,
    "chi2": chi2,
    "yule-q": yule_q,
    "count-chi2": count_chi2,
    "information-gain": information_gain,
    "mutual-information": mutual_information,
    "document-frequency": document_frequency,
    "ocfs": ocfs,
}


def _ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide; 0 where the denominator is 0."""
    quotient = np.zeros(np.broadcast_shapes(numerator.shape, denominator.shape))
    return np.divide(numerator, denominator, out=quotient, where=denominator != 0)
