"""Models that combine others: stacks, and a split by the frequency of categories."""

from bayesift.models.ensemble.auto import AutoClassifier, HeldOutProbabilities
from bayesift.models.ensemble.calibration import BetaCalibration, LabelCoupling
from bayesift.models.ensemble.common_rare import CommonRareClassifier
from bayesift.models.ensemble.members import (
    LogisticMember,
    Member,
    NaiveBayesMember,
    NBLogisticMember,
    NeighborsMember,
    OnlineStackMember,
    PerceptronMember,
    SoftmaxMember,
    SVMMember,
)
from bayesift.models.ensemble.stacked import COMMITTEE, JURY, StackedClassifier

__all__ = [
    "COMMITTEE",
    "JURY",
    "AutoClassifier",
    "BetaCalibration",
    "CommonRareClassifier",
    "HeldOutProbabilities",
    "LabelCoupling",
    "LogisticMember",
    "Member",
    "NBLogisticMember",
    "NaiveBayesMember",
    "NeighborsMember",
    "OnlineStackMember",
    "PerceptronMember",
    "SVMMember",
    "SoftmaxMember",
    "StackedClassifier",
]
