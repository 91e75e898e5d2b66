"""Bayesian models that learn one example at a time: a normal posterior, a likelihood of a field, moment matching."""

from bayesift.models.online.evidence import EvidenceTable, select_by_evidence
from bayesift.models.online.likelihoods import LIKELIHOODS, FlipNoise, Likelihood, LogitNoise, ProbitNoise
from bayesift.models.online.perceptron import OnlinePerceptron

__all__ = [
    "LIKELIHOODS",
    "EvidenceTable",
    "FlipNoise",
    "Likelihood",
    "LogitNoise",
    "OnlinePerceptron",
    "ProbitNoise",
    "select_by_evidence",
]
