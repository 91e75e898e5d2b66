"""The estimators every law is tried on; a new one is added here and nowhere else."""

from bayesift.features import SelectTerms
from bayesift.models import (
    AbsoluteDiscounting,
    Dirichlet,
    HierarchicalShrinkage,
    JelinekMercer,
    MaximumLikelihood,
    NaiveBayesClassifier,
)

CLASSIFIERS = [
    NaiveBayesClassifier(),
    NaiveBayesClassifier(smoothing=MaximumLikelihood()),
    NaiveBayesClassifier(smoothing=Dirichlet(mu=50.0)),
    NaiveBayesClassifier(smoothing=JelinekMercer()),
    NaiveBayesClassifier(smoothing=AbsoluteDiscounting()),
    NaiveBayesClassifier(smoothing=HierarchicalShrinkage()),
]
TRANSFORMERS = [
    SelectTerms(),
    SelectTerms(by="pearson", k=2),
    SelectTerms(by="chi2", k=2, per_category=True),
]
ESTIMATORS = CLASSIFIERS + TRANSFORMERS
