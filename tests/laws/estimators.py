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
    SparseNMF,
    SupportVectorClassifier,
    TopicSimilarity,
    TopicSimilarityClassifier,
    TopicSVMClassifier,
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
LIBLINEAR = (SupportVectorClassifier, NBSVMClassifier, HybridClassifier)

# Found from a start or learned from pairs drawn by lot: the order of documents and their weights have no exact laws.
_TOPICS = SparseNMF(n_components=4, max_iter=2000)
ENCODERS = [SparseNMF(n_components=2, max_iter=2000), SparseNMF(n_components=2, importance="uniform", max_iter=2000)]
TOPIC_CLASSIFIERS = [
    TopicSimilarityClassifier(encoder=_TOPICS, similarity=TopicSimilarity(n_pairs=2000)),
    TopicSVMClassifier(encoder=_TOPICS),
]
NEAREST = [NeighborsClassifier(k=5)]  # which of equally near documents counts, their order decides
CHECKED = ESTIMATORS + NEAREST + ENCODERS + TOPIC_CLASSIFIERS
