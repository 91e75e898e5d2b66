"""Learners by name, and the estimators a model file may hold; a new learner only registers.

A factory takes the parameters of its estimator by name and gives a new, unfitted one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

from sklearn.base import ClassifierMixin
from sklearn.utils import get_tags

from bayesift.errors import nearest
from bayesift.models.baselines import (
    HybridClassifier,
    LinearSVM,
    NaiveBayesLogisticClassifier,
    NBSVMClassifier,
    RocchioClassifier,
)
from bayesift.models.baselines.neighbors import NeighborsClassifier
from bayesift.models.baselines.svm import KernelSVM
from bayesift.models.ensemble import AutoClassifier, StackedClassifier
from bayesift.models.linear import (
    GaussianPrior,
    JeffreysPrior,
    LaplacePrior,
    SparseBayesClassifier,
    SpikeSlabClassifier,
)
from bayesift.models.naive_bayes import (
    AbsoluteDiscounting,
    Dirichlet,
    JelinekMercer,
    MaximumLikelihood,
    NaiveBayesClassifier,
)
from bayesift.models.online import (
    OnlineGaussianProcess,
    OnlineLaplaceClassifier,
    OnlinePerceptron,
    OnlineStackedClassifier,
)
from bayesift.models.settings import configure
from bayesift.models.topics import TopicSimilarityClassifier, TopicSVMClassifier
from bayesift.state import KINDS

Weighting = Literal["binary", "tf", "log-tf", "tf-idf", "sublinear-tf-idf", "ltc"]


@dataclass(frozen=True, slots=True)
class Learner:
    """A named way to make an estimator.

    Parameters
    ----------
    name : what users write
    description : one line
    make : takes the estimator's parameters and gives an unfitted one
    multilabel : whether it takes an indicator matrix itself; others are fitted to each category in
        turn
    weighting : the term weights it wants, a name of `bayesift.text.WEIGHTINGS`
    """

    name: str
    description: str
    make: Callable[..., Any]
    multilabel: bool = True
    weighting: Weighting = "tf"


LEARNERS: dict[str, Learner] = {}


def register(
    name: str,
    description: str,
    make: Callable[..., Any],
    *,
    multilabel: bool = True,
    weighting: Weighting = "tf",
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
    """Make an unfitted estimator by name, for labels or (`multilabel`) for an indicator matrix.

    Parameters are those of the estimator, and of its prior and other parts
    (`bayesift.models.settings`).

    Examples
    --------
    >>> make_learner("logistic-gaussian", variance=3.0).prior
    GaussianPrior(variance=3.0, mode=0.0, sign=0)
    >>> make_learner("naive-bayes-jelinek-mercer", priors="uniform")
    NaiveBayesClassifier(priors='uniform', smoothing=JelinekMercer(lambda_=0.5))
    >>> make_learner("bernoulli-naive-bayes", multilabel=True, alpha=0.1)
    OneVsRestClassifier(estimator=BernoulliNB(alpha=0.1))
    """
    if name not in LEARNERS:
        raise ValueError(f"no learner {name!r}; {nearest(name, list(LEARNERS))}")
    learner = LEARNERS[name]
    estimator = configure(learner.make(), parameters)
    if learner.multilabel or not multilabel:
        return estimator
    from sklearn.multiclass import OneVsRestClassifier

    return OneVsRestClassifier(estimator)


def _bernoulli(**parameters: Any) -> Any:
    from sklearn.naive_bayes import BernoulliNB

    return BernoulliNB(**parameters)


def _complement(**parameters: Any) -> Any:
    from sklearn.naive_bayes import ComplementNB

    return ComplementNB(**parameters)


register(
    "auto",
    "the default: several linear models compared on documents held out, stacked where that is "
    "better, calibrated",
    AutoClassifier,
    weighting="sublinear-tf-idf",
)
register(
    "naive-bayes", "naive Bayes, every word counted once more (Laplace)", NaiveBayesClassifier
)
for _smoothing, _description in (
    (Dirichlet(), "naive Bayes, words of the collection added to every category"),
    (JelinekMercer(), "naive Bayes, every category mixed with the collection"),
    (AbsoluteDiscounting(), "naive Bayes, counts discounted in favour of the collection"),
    (MaximumLikelihood(), "naive Bayes without smoothing; unseen words rule a category out"),
):
    register(
        f"naive-bayes-{_smoothing.kind}",
        _description,
        partial(NaiveBayesClassifier, smoothing=_smoothing),
    )
_register_ltc = partial(register, weighting="ltc")
_register_linear = partial(register, weighting="sublinear-tf-idf")
register(
    "bernoulli-naive-bayes",
    "presence and absence of words (scikit-learn's BernoulliNB)",
    _bernoulli,
    multilabel=False,
    weighting="binary",
)
register(
    "complement-naive-bayes",
    "words outside each category (scikit-learn's ComplementNB)",
    _complement,
    multilabel=False,
)
for _link, _prior, _description in (
    (
        "logit",
        LaplacePrior(gamma=0.04),
        "logistic regression, most weights exactly 0 (Laplace prior)",
    ),
    (
        "logit",
        GaussianPrior(variance=10.0),
        "logistic regression, all weights small (Gaussian prior)",
    ),
    (
        "probit",
        LaplacePrior(gamma=0.1),
        "probit regression, most weights exactly 0 (Laplace prior)",
    ),
    (
        "probit",
        GaussianPrior(variance=10.0),
        "probit regression, all weights small (Gaussian prior)",
    ),
    (
        "probit",
        JeffreysPrior(),
        "probit regression, very few weights, nothing to set (Jeffreys prior); for few terms",
    ),
):
    _name = f"{'logistic' if _link == 'logit' else 'probit'}-{_prior.kind}"
    # Jeffreys' prior keeps very few terms: those of every document must weigh nothing.
    _register = _register_ltc if isinstance(_prior, JeffreysPrior) else _register_linear
    _register(_name, _description, partial(SparseBayesClassifier, link=_link, prior=_prior))
for _name, _link, _variance in (("logistic", "logit", 30.0), ("probit", "probit", 10.0)):
    _description = (
        f"{_name} regression that says how probable it is that each word matters (spike "
        "and slab)"
    )
    _make = partial(
        SpikeSlabClassifier, link=_link, slab_variance=_variance, background_variance=_variance
    )
    _register_linear(f"{_name}-spike-slab", _description, _make)
_register_linear(
    "committee",
    "two logistic regressions and naive Bayes, stacked; one linear model",
    StackedClassifier.committee,
)
_register_linear(
    "jury",
    "SVM, neighbours, perceptron, naive Bayes and logistic regression, stacked; keeps its "
    "documents",
    StackedClassifier.jury,
)
for _kernel in ("linear", "polynomial", "rbf"):
    _name = "online-gp" if _kernel == "linear" else f"online-gp-{_kernel}"
    _description = (
        "Gaussian process learned one example at a time, over 300 documents at most "
        f"({_kernel} kernel)"
    )
    _register_ltc(_name, _description, partial(OnlineGaussianProcess, kernel=_kernel))
_register_linear(
    "svm", "linear support vector machine, squared hinge loss; no probabilities", LinearSVM
)
_register_linear(
    "svm-linear",
    "linear support vector machine, hinge loss, with SVMlight's default C; no probabilities",
    partial(LinearSVM, loss="hinge", C="scale"),
)
for _kernel in ("polynomial", "rbf"):
    _description = f"support vector machine with a {_kernel} kernel; no probabilities"
    _register_ltc(f"svm-{_kernel}", _description, partial(KernelSVM, kernel=_kernel))
register(
    "nbsvm",
    "support vector machine on naive Bayes features; no probabilities",
    NBSVMClassifier,
    weighting="binary",
)
_register_ltc(
    "hybrid",
    "naive Bayes mixed with a support vector machine; no probabilities",
    HybridClassifier,
)
register(
    "naive-bayes-logistic",
    "logistic regression with a Gaussian prior centred on naive Bayes",
    NaiveBayesLogisticClassifier,
)
_register_ltc(
    "rocchio", "the mean document of each category; no probabilities", RocchioClassifier
)
_register_ltc("knn", "the categories of the 45 most similar documents", NeighborsClassifier)
_register_ltc(
    "topics-similarity",
    "nearest documents by topics, weighted by how well each topic tells categories apart",
    TopicSimilarityClassifier,
)
_register_ltc("topics-svm", "topics, then a linear support vector machine", TopicSVMClassifier)
_register_ltc(
    "online-perceptron",
    "Bayesian perceptron that goes on learning from a stream, one document at a time (probit, "
    "variances only)",
    partial(OnlinePerceptron, covariance="diagonal", prior_variance=4.0),
)
_register_linear(
    "online-laplace",
    "sparse logistic regression that goes on learning from a stream, one document at a time "
    "(Laplace prior)",
    OnlineLaplaceClassifier,
)
register(
    "online-stack",
    "perceptron, SGD and naive Bayes that go on learning from a stream, mixed as their predictions "
    "turn out",
    partial(OnlineStackedClassifier, idf=True),
    weighting="log-tf",
)


def weighting_of(model: Any) -> Weighting:
    """Return the term weights that a learner wants, by name or as an estimator.

    The latter gets counts if it takes nothing negative, as naive Bayes, or weighs terms itself, as
    a `Pipeline`; otherwise what our linear models get.

    Examples
    --------
    >>> from sklearn.naive_bayes import ComplementNB
    >>> weighting_of("nbsvm"), weighting_of(NBSVMClassifier()), weighting_of(ComplementNB())
    ('binary', 'binary', 'tf')
    """
    if isinstance(model, str):
        if model not in LEARNERS:
            raise ValueError(f"no learner {model!r}; {nearest(model, list(LEARNERS))}")
        return LEARNERS[model].weighting
    for learner in LEARNERS.values():
        if type(learner.make()) is type(model):
            return learner.weighting
    if hasattr(model, "estimator"):
        return weighting_of(model.estimator)
    own = hasattr(model, "steps") or get_tags(model).input_tags.positive_only
    return "tf" if own else LEARNERS["logistic-gaussian"].weighting


STORABLE: Mapping[str, type[Any]] = MappingProxyType(
    {kind: cls for kind, cls in KINDS.items() if issubclass(cls, ClassifierMixin)}
)


def is_storable(model: object) -> bool:
    """Whether a model file may hold such an estimator.

    Examples
    --------
    >>> is_storable(NaiveBayesClassifier()), is_storable(object())
    (True, False)
    """
    return type(model) in STORABLE.values()
