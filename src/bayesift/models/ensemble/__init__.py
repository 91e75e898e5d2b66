"""Several models of the same documents combined: stacking, and a split by the frequency of categories."""

from bayesift.models.ensemble.common_rare import CommonRareClassifier
from bayesift.models.ensemble.label_coupling import LabelCoupling
from bayesift.models.ensemble.members import (
    LogisticMember,
    Member,
    NaiveBayesMember,
    NBLogisticMember,
    NeighborsMember,
    PerceptronMember,
    SVMMember,
)
from bayesift.models.ensemble.stacking import COMMITTEE, JURY, StackedClassifier

__all__ = [
    "COMMITTEE",
    "JURY",
    "CommonRareClassifier",
    "LabelCoupling",
    "LogisticMember",
    "Member",
    "NBLogisticMember",
    "NaiveBayesMember",
    "NeighborsMember",
    "PerceptronMember",
    "SVMMember",
    "StackedClassifier",
]
