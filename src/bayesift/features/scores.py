"""Term scores: how much a term says about each category.

Every score is a function of `TermTables` and gives categories x terms. With documents a (in the category, holding the
term), b (in it, without), c (outside, with) and d (outside, without), N of all:

    likelihood ratio      -2 ln lambda = 2 sum over cells n ln(n N / (row sum x column sum))         (Dunning 1993)
    information gain      I(term; category) in nats = -2 ln lambda / 2N
    mutual information    ln(a N / ((a + b)(a + c))), pointwise; -inf where a = 0      (Yang & Pedersen 1997)
    chi2                  N (ad - bc)^2 / ((a + b)(c + d)(a + c)(b + d)), of presence
    document frequency    a + c, the same for every category
    Pearson correlation   sum (x - x')(y - y') / sqrt(sum (x - x')^2 sum (y - y')^2), x' and y' the means
    OCFS                  (m_c - m)^2, means of the term in the category and everywhere; averaged with the sizes of the
                          categories as weights it is the orthogonal centroid score                  (Yan et al. 2005)

Pearson with the square roots that formula 15 of Genkin, Lewis & Madigan's text lost. A term or category that does
not vary scores 0. scikit-learn's `chi2` tests sums of weights instead of presence: `count_chi2` gives its values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import xlogy

from bayesift.features.tables import TermTables

Array = np.ndarray[Any, Any]
Score = Callable[[TermTables], Array]


def likelihood_ratio(tables: TermTables) -> Array:
    """Dunning's -2 ln lambda of independence; chi-square with 1 degree of freedom: 12.116 is the 0.05% point.

    Examples
    --------
    >>> tables = TermTables.of([[1, 2], [0, 1], [1, 0], [1, 0]], ["grain", "grain", "crude", "crude"])
    >>> likelihood_ratio(tables).round(3).tolist()
    [[1.726, 5.545], [1.726, 5.545]]
    """
    n = tables.n_documents
    terms, sizes = tables.document_frequencies.astype(np.intp), tables.category_sizes.astype(np.intp)[:, np.newaxis]
    # n ln n of every cell, less those of the margins: nothing is ever divided, 0 ln 0 is 0.
    log_powers = xlogy(np.arange(n + 1), np.arange(n + 1))
    ratio: Array = log_powers[n] - log_powers[sizes] - log_powers[n - sizes] - log_powers[terms] - log_powers[n - terms]
    for cell in tables.contingency():
        ratio += log_powers[cell.astype(np.intp)]
    # Differences of sums of this size are rounding.
    ratio[ratio < 1e-14 * log_powers[n]] = 0
    return 2 * ratio


def information_gain(tables: TermTables) -> Array:
    """What presence of the term tells about the category on average, in nats.

    Examples
    --------
    >>> tables = TermTables.of([[1, 2], [0, 1], [1, 0], [1, 0]], ["grain", "grain", "crude", "crude"])
    >>> information_gain(tables).round(3).tolist()
    [[0.216, 0.693], [0.216, 0.693]]
    """
    return likelihood_ratio(tables) / (2 * tables.n_documents)


def mutual_information(tables: TermTables) -> Array:
    """Pointwise mutual information of term and category; high for rare terms.

    Examples
    --------
    >>> tables = TermTables.of([[1, 2], [0, 1], [1, 0], [1, 0]], ["grain", "grain", "crude", "crude"])
    >>> mutual_information(tables).round(3).tolist()
    [[0.288, -inf], [-0.405, 0.693]]
    """
    joint = tables.joint.toarray()
    expected = tables.category_sizes[:, np.newaxis] * tables.document_frequencies / tables.n_documents
    with np.errstate(divide="ignore"):
        return np.log(_ratio(joint, expected))


def chi2(tables: TermTables) -> Array:
    """Chi-square of presence of the term against the category.

    Examples
    --------
    >>> tables = TermTables.of([[1, 2], [0, 1], [1, 0], [1, 0]], ["grain", "grain", "crude", "crude"])
    >>> chi2(tables).round(3).tolist()
    [[1.333, 4.0], [1.333, 4.0]]
    """
    n, sizes, terms = tables.n_documents, tables.category_sizes[:, np.newaxis], tables.document_frequencies
    # ad - bc = aN - (a + b)(a + c)
    surplus = tables.joint.toarray()
    surplus *= n
    surplus -= sizes * terms
    np.square(surplus, out=surplus)
    return _ratio(surplus, (sizes * (n - sizes) / n) * (terms * (n - terms)))


def count_chi2(tables: TermTables) -> Array:
    """Chi-square of the summed weights, as scikit-learn's `chi2` computes it for one category against the rest.

    Examples
    --------
    >>> tables = TermTables.of([[1, 2], [0, 1], [1, 0], [1, 0]], ["grain", "grain", "crude", "crude"])
    >>> count_chi2(tables).round(3).tolist()
    [[0.333, 3.0], [0.333, 3.0]]
    """
    share = tables.category_sizes[:, np.newaxis] / tables.n_documents
    surplus = np.square(tables.cross.toarray() - share * tables.sums)
    return _ratio(surplus, share * tables.sums) + _ratio(surplus, (1 - share) * tables.sums)


def document_frequency(tables: TermTables) -> Array:
    """In how many documents a term stands.

    Examples
    --------
    >>> tables = TermTables.of([[1, 2], [0, 1], [1, 0], [1, 0]], ["grain", "grain", "crude", "crude"])
    >>> document_frequency(tables).tolist()
    [[3.0, 2.0], [3.0, 2.0]]
    """
    return np.broadcast_to(tables.document_frequencies, tables.shape).copy()


def pearson(tables: TermTables) -> Array:
    """Correlation of the term's weight with the category, from -1 to 1.

    Examples
    --------
    >>> tables = TermTables.of([[1, 2], [0, 1], [1, 0], [1, 0]], ["grain", "grain", "crude", "crude"])
    >>> pearson(tables).round(3).tolist()
    [[0.577, -0.905], [-0.577, 0.905]]
    """
    n, sizes = tables.n_documents, tables.category_sizes[:, np.newaxis]
    covariance = n * tables.cross.toarray() - sizes * tables.sums
    spread = n * tables.squares - tables.sums**2
    spread[spread <= 1e-12 * n * tables.squares] = 0
    return np.clip(_ratio(covariance, np.sqrt(sizes * (n - sizes)) * np.sqrt(spread)), -1, 1)


def absolute_pearson(tables: TermTables) -> Array:
    """The magnitude of the correlation, which is what terms are selected by.

    Examples
    --------
    >>> tables = TermTables.of([[1, 2], [0, 1], [1, 0], [1, 0]], ["grain", "grain", "crude", "crude"])
    >>> absolute_pearson(tables).round(3).tolist()
    [[0.577, 0.905], [0.577, 0.905]]
    """
    return np.abs(pearson(tables))


def ocfs(tables: TermTables) -> Array:
    """Squared distance of the category's centroid from that of all documents, along each term.

    Examples
    --------
    >>> tables = TermTables.of([[1, 2], [0, 1], [1, 0], [1, 0]], ["grain", "grain", "crude", "crude"])
    >>> ocfs(tables).round(4).tolist()
    [[0.0625, 0.5625], [0.0625, 0.5625]]
    """
    means = _ratio(tables.cross.toarray(), tables.category_sizes[:, np.newaxis])
    centred = means - tables.sums / tables.n_documents
    return np.where(tables.category_sizes[:, np.newaxis] > 0, np.square(centred), 0.0)


SCORES: dict[str, Score] = {
    "pearson": absolute_pearson,
    "likelihood-ratio": likelihood_ratio,
    "chi2": chi2,
    "count-chi2": count_chi2,
    "information-gain": information_gain,
    "mutual-information": mutual_information,
    "document-frequency": document_frequency,
    "ocfs": ocfs,
}


def _ratio(numerator: Array, denominator: Array) -> Array:
    """Divide; 0 where the denominator is 0."""
    quotient = np.zeros(np.broadcast_shapes(numerator.shape, denominator.shape))
    return np.divide(numerator, denominator, out=quotient, where=denominator != 0)
