"""Learners by name; a new learner only registers.

A factory takes the parameters of its estimator by name and gives a new, unfitted one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB

from bayesift.models.committee import CommitteeClassifier, JuryClassifier
from bayesift.models.hyperplanes import (
    HybridClassifier,
    NBSVMClassifier,
    RocchioClassifier,
    SupportVectorClassifier,
)
from bayesift.models.linear import GaussianPrior, JeffreysPrior, LaplacePrior, SparseBayesClassifier
from bayesift.models.margin import MarginClassifier
from bayesift.models.naive_bayes import (
    AbsoluteDiscounting,
    Dirichlet,
    JelinekMercer,
    MaximumLikelihood,
    NaiveBayesClassifier,
)
from bayesift.models.neighbors import NeighborsClassifier
from bayesift.models.online import OnlineGaussianProcess, OnlinePerceptron
from bayesift.models.topics import TopicSimilarityClassifier, TopicSVMClassifier

Weighting = Literal["binary", "tf", "log-tf", "tf-idf", "ltc"]


@dataclass(frozen=True, slots=True)
class Learner:
    """A named way to make an estimator.

    Parameters
    ----------
    name : what users write
    description : one line
    make : takes the estimator's parameters and gives an unfitted one
    multilabel : whether it takes an indicator matrix itself; others are fitted to each category in turn
    weighting : the term weights it wants, a name of `bayesift.text.WEIGHTINGS`
    """

    name: str
    description: str
    make: Callable[..., Any]
    multilabel: bool = True
    weighting: Weighting = "tf"


LEARNERS: dict[str, Learner] = {}


def register(
    name: str, description: str, make: Callable[..., Any], *, multilabel: bool = True, weighting: Weighting = "tf"
) -> None:
    """Add a learner under a new name.

    Examples
    --------
    >>> register("naive-bayes", "again", NaiveBayesClassifier)
    Traceback (most recent call last):
    ValueError: there is a learner 'naive-bayes' already
    """
    if name in LEARNERS:
        raise ValueError(f"there is a learner {name!r} already")
    LEARNERS[name] = Learner(name, description, make, multilabel, weighting)


def make_learner(name: str, *, multilabel: bool = False, **parameters: Any) -> Any:
    """An unfitted estimator by name, for labels or (`multilabel`) for an indicator matrix.

    Examples
    --------
    >>> make_learner("naive-bayes-jelinek-mercer", priors="uniform")
    NaiveBayesClassifier(priors='uniform', smoothing=JelinekMercer(lambda_=0.5))
    >>> make_learner("bernoulli-naive-bayes", multilabel=True, alpha=0.1)
    OneVsRestClassifier(estimator=BernoulliNB(alpha=0.1))
    """
    if name not in LEARNERS:
        raise ValueError(f"no learner {name!r}; there are: {', '.join(LEARNERS)}")
    learner = LEARNERS[name]
    estimator = learner.make(**parameters)
    return OneVsRestClassifier(estimator) if multilabel and not learner.multilabel else estimator


register("naive-bayes", "naive Bayes, every word counted once more (Laplace)", NaiveBayesClassifier)
for _smoothing, _description in (
    (Dirichlet(), "naive Bayes, words of the collection added to every category"),
    (JelinekMercer(), "naive Bayes, every category mixed with the collection"),
    (AbsoluteDiscounting(), "naive Bayes, counts discounted in favour of the collection"),
    (MaximumLikelihood(), "naive Bayes without smoothing; unseen words rule a category out"),
):
    register(f"naive-bayes-{_smoothing.kind}", _description, partial(NaiveBayesClassifier, smoothing=_smoothing))
register(
    "bernoulli-naive-bayes",
    "presence and absence of words (scikit-learn's BernoulliNB)",
    BernoulliNB,
    multilabel=False,
    weighting="binary",
)
register(
    "complement-naive-bayes",
    "words outside each category (scikit-learn's ComplementNB)",
    ComplementNB,
    multilabel=False,
)
for _link, _prior, _description in (
    ("logit", LaplacePrior(gamma=0.04), "logistic regression, most weights exactly 0 (Laplace prior)"),
    ("logit", GaussianPrior(variance=10.0), "logistic regression, all weights small (Gaussian prior)"),
    ("probit", LaplacePrior(gamma=0.1), "probit regression, most weights exactly 0 (Laplace prior)"),
    ("probit", GaussianPrior(variance=10.0), "probit regression, all weights small (Gaussian prior)"),
    ("probit", JeffreysPrior(), "probit regression, very few weights, nothing to set (Jeffreys prior); for few terms"),
):
    register(
        f"{'logistic' if _link == 'logit' else 'probit'}-{_prior.kind}",
        _description,
        partial(SparseBayesClassifier, link=_link, prior=_prior),
        weighting="ltc",
    )
register(
    "committee",
    "two logistic regressions and naive Bayes, weighed by held-out documents; one linear model",
    CommitteeClassifier,
    weighting="ltc",
)
register(
    "jury",
    "support vectors, neighbours, perceptron, naive Bayes and logistic regression as one; the most accurate",
    JuryClassifier,
    weighting="ltc",
)
for _kernel in ("linear", "polynomial", "rbf"):
    register(
        "online-gp" if _kernel == "linear" else f"online-gp-{_kernel}",
        f"Gaussian process learned one example at a time, over 300 documents at most ({_kernel} kernel)",
        partial(OnlineGaussianProcess, kernel=_kernel),
        weighting="ltc",
    )
for _kernel in ("linear", "polynomial", "rbf"):
    register(
        f"svm-{_kernel}",
        f"support vector machine with a {_kernel} kernel (scikit-learn's); scores, no probabilities",
        partial(MarginClassifier, kernel=_kernel),
        weighting="ltc",
    )
register(
    "svm", "linear support vector machine (scikit-learn's); no probabilities", SupportVectorClassifier, weighting="ltc"
)
register(
    "nbsvm", "support vector machine on naive Bayes features; no probabilities", NBSVMClassifier, weighting="binary"
)
register(
    "hybrid", "naive Bayes mixed with a support vector machine; no probabilities", HybridClassifier, weighting="ltc"
)
register("rocchio", "the mean document of each category; no probabilities", RocchioClassifier, weighting="ltc")
register("knn", "the categories of the 45 most similar documents", NeighborsClassifier, weighting="ltc")
register(
    "topics-similarity",
    "nearest documents by topics, weighted by how well each topic tells categories apart",
    TopicSimilarityClassifier,
    weighting="ltc",
)
register("topics-svm", "topics, then a linear support vector machine", TopicSVMClassifier, weighting="ltc")
register(
    "online-perceptron",
    "Bayesian perceptron that goes on learning from a stream, one document at a time (probit, variances only)",
    partial(OnlinePerceptron, covariance="diagonal", prior_variance=4.0),
    weighting="ltc",
)
