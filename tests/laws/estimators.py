"""The estimators every law is tried on; a new one is added here and nowhere else."""

from bayesift.features import SelectTerms
from bayesift.models import (
    AbsoluteDiscounting,
    Dirichlet,
    GaussianPrior,
    HierarchicalShrinkage,
    JelinekMercer,
    LaplacePrior,
    MaximumLikelihood,
    NaiveBayesClassifier,
    OnlinePerceptron,
    SparseBayesClassifier,
)

CLASSIFIERS = [
    NaiveBayesClassifier(),
    NaiveBayesClassifier(smoothing=MaximumLikelihood()),
    NaiveBayesClassifier(smoothing=Dirichlet(mu=50.0)),
    NaiveBayesClassifier(smoothing=JelinekMercer()),
    NaiveBayesClassifier(smoothing=AbsoluteDiscounting()),
    NaiveBayesClassifier(smoothing=HierarchicalShrinkage()),
    SparseBayesClassifier(prior=LaplacePrior(gamma=1.0), tol=1e-11),
    SparseBayesClassifier(prior=GaussianPrior(variance=2.0), tol=1e-13),
    SparseBayesClassifier(link="probit", prior=LaplacePrior(gamma=1.0), tol=1e-11),
]
ONLINE_CLASSIFIERS = [  # the order of documents matters, and there are no sample weights
    OnlinePerceptron(),
    OnlinePerceptron(covariance="diagonal", likelihood="flip"),
    OnlinePerceptron(covariance="low-rank", rank=2),
]
TRANSFORMERS = [
    SelectTerms(),
    SelectTerms(by="pearson", k=2),
    SelectTerms(by="chi2", k=2, per_category=True),
]
ESTIMATORS = CLASSIFIERS + ONLINE_CLASSIFIERS + TRANSFORMERS
