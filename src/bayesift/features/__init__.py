"""Term scores and selection: what a term says about a category, and which terms to keep."""

from bayesift.features.scores import (
    SCORES,
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
from bayesift.features.tables import TermTables, gather

__all__ = [
    "SCORES",
    "SelectTerms",
    "TermTables",
    "absolute_pearson",
    "chi2",
    "count_chi2",
    "document_frequency",
    "gather",
    "information_gain",
    "likelihood_ratio",
    "mutual_information",
    "ocfs",
    "pearson",
]
