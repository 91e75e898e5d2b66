"""Named blocks of columns; scores of terms and their selection."""

from bayesift.features.design import BlockKind, Design, FeatureBlock
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
    yule_q,
)
from bayesift.features.selection import SelectTerms

__all__ = [
    "SCORES",
    "BlockKind",
    "Design",
    "FeatureBlock",
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
    "yule_q",
]
