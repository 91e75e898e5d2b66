"""Bayesian models that learn one example at a time: a normal posterior, a likelihood of a field, moment matching."""

from bayesift.models.online.likelihoods import LIKELIHOODS, FlipNoise, Likelihood, LogitNoise, ProbitNoise

__all__ = ["LIKELIHOODS", "FlipNoise", "Likelihood", "LogitNoise", "ProbitNoise"]
