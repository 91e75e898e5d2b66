"""Bayesian models that learn one example at a time, by moment matching."""

from bayesift.models.online.covariances import (
    KernelCovariance,
    LinearCovariance,
    PolynomialCovariance,
    RBFCovariance,
)
from bayesift.models.online.evidence import EvidenceTable, select_by_evidence
from bayesift.models.online.gaussian_process import OnlineGaussianProcess
from bayesift.models.online.laplace import OnlineLaplaceClassifier
from bayesift.models.online.likelihoods import (
    LIKELIHOODS,
    FlipNoise,
    Likelihood,
    LogitNoise,
    ProbitNoise,
)
from bayesift.models.online.perceptron import OnlinePerceptron
from bayesift.models.online.stack import OnlineStackedClassifier

__all__ = [
    "LIKELIHOODS",
    "EvidenceTable",
    "FlipNoise",
    "KernelCovariance",
    "Likelihood",
    "LinearCovariance",
    "LogitNoise",
    "OnlineGaussianProcess",
    "OnlineLaplaceClassifier",
    "OnlinePerceptron",
    "OnlineStackedClassifier",
    "PolynomialCovariance",
    "ProbitNoise",
    "RBFCovariance",
    "select_by_evidence",
]
