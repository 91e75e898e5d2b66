"""The estimators every law is tried on; a new one is added here and nowhere else."""

from bayesift.features import SelectTerms
from bayesift.models import (
    AbsoluteDiscounting,
    Dirichlet,
    GaussianPrior,
    HierarchicalShrinkage,
    HybridClassifier,
    JelinekMercer,
    LaplacePrior,
    MaximumLikelihood,
    NaiveBayesClassifier,
    NBSVMClassifier,
    NeighborsClassifier,
    RocchioClassifier,
    SparseBayesClassifier,
    SupportVectorClassifier,
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
    SparseBayesClassifier(prior=LaplacePrior(gamma=1.0), multiclass="softmax", tol=1e-11),
    SparseBayesClassifier(link="probit", prior=LaplacePrior(gamma=1.0), tol=1e-11),
    SupportVectorClassifier(dual=False, tol=1e-12),
    NBSVMClassifier(dual=False, tol=1e-12),
    HybridClassifier(alpha=0.5, dual=False, tol=1e-12),
    RocchioClassifier(),
    NeighborsClassifier(k=1000),
    SparseBayesClassifier(prior=GaussianPrior(), prior_scale="norm", tol=1e-13),
    SparseBayesClassifier(prior=LaplacePrior(gamma=1.0), tol=1e-11, posterior="normal"),
]
TRANSFORMERS = [
    SelectTerms(),
    SelectTerms(by="pearson", k=2),
    SelectTerms(by="chi2", k=2, per_category=True),
]
ESTIMATORS = CLASSIFIERS + TRANSFORMERS
CHECKED = [*ESTIMATORS, NeighborsClassifier(k=5)]  # which of equally near documents counts, their order decides
LIBLINEAR = (SupportVectorClassifier, NBSVMClassifier, HybridClassifier)
