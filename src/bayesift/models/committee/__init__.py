"""Several linear models of the same documents that speak as one."""

from bayesift.models.committee.classifier import CommitteeClassifier

__all__ = ["CommitteeClassifier"]
