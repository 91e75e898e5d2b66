"""Term scores and selection: how informative a term is about a category, and which terms to keep."""

from bayesift.features.scores import (
    SCORES,
    TermTables,
    absolute_pearson,
    chi2,
    count_chi2,
    document_frequency,
    information_gain,
    likelihood_ratio,
    mutual_information,
    ocfs,
    pearson,
)
from bayesift.features.selection import SelectTerms

__all__ = [
    "SCORES",
    "SelectTerms",
    "TermTables",
    "absolute_pearson",
    "chi2",
    "count_chi2",
    "document_frequency",
    "information_gain",
    "likelihood_ratio",
    "mutual_information",
    "ocfs",
    "pearson",
]
