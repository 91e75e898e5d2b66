"""Several models of the same documents that speak as one."""

from bayesift.models.committee.classifier import CommitteeClassifier
from bayesift.models.committee.jury import JuryClassifier

__all__ = ["CommitteeClassifier", "JuryClassifier"]
