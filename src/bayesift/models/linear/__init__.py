"""Linear models at the mode of their posterior: links, priors, solvers, one classifier.

Conventions, here and in the kernels: the objective is minus the log posterior, a sum over documents
(never a mean); labels are -1 and +1; the intercept has no prior unless one is given.
"""

from bayesift.models.linear.classifier import SparseBayesClassifier
from bayesift.models.linear.evidence import log_evidence, softmax_log_evidence
from bayesift.models.linear.links import LINKS, Link, LogF, Logit, Probit
from bayesift.models.linear.path import Path, Validation, default_scales
from bayesift.models.linear.posterior import WeightPosterior, posterior_of
from bayesift.models.linear.priors import (
    PRIORS,
    GammaPrior,
    GaussianPrior,
    JeffreysPrior,
    LaplacePrior,
    Prior,
)
from bayesift.models.linear.problem import LinearProblem, Solution
from bayesift.models.linear.scale import (
    SCALE_RULES,
    BlockScales,
    CrossValidation,
    Evidence,
    NormBased,
    ScaleSearch,
)
from bayesift.models.linear.solvers import SOLVERS
from bayesift.models.linear.solvers.variational import variational_posterior
from bayesift.models.linear.spike_slab import SpikeSlabClassifier
from bayesift.models.linear.variational import (
    InclusionPosterior,
    SpikeSlab,
    inclusion_posterior,
)

__all__ = [
    "LINKS",
    "PRIORS",
    "SCALE_RULES",
    "SOLVERS",
    "BlockScales",
    "CrossValidation",
    "Evidence",
    "GammaPrior",
    "GaussianPrior",
    "InclusionPosterior",
    "JeffreysPrior",
    "LaplacePrior",
    "LinearProblem",
    "Link",
    "LogF",
    "Logit",
    "NormBased",
    "Path",
    "Prior",
    "Probit",
    "ScaleSearch",
    "Solution",
    "SparseBayesClassifier",
    "SpikeSlab",
    "SpikeSlabClassifier",
    "Validation",
    "WeightPosterior",
    "default_scales",
    "inclusion_posterior",
    "log_evidence",
    "posterior_of",
    "softmax_log_evidence",
    "variational_posterior",
]
