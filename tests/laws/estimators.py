"""The estimators every law is tried on; a new one is added here and nowhere else."""

from bayesift.features import SelectTerms
from bayesift.models.baselines import (
    HybridClassifier,
    LinearSVM,
    NaiveBayesLogisticClassifier,
    NBSVMClassifier,
    NeighborsClassifier,
    RocchioClassifier,
)
from bayesift.models.ensemble import (
    AutoClassifier,
    NaiveBayesMember,
    OnlineStackMember,
    StackedClassifier,
    SVMMember,
)
from bayesift.models.linear import (
    GaussianPrior,
    LaplacePrior,
    SparseBayesClassifier,
    SpikeSlabClassifier,
)
from bayesift.models.naive_bayes import (
    AbsoluteDiscounting,
    Dirichlet,
    HierarchicalShrinkage,
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
from bayesift.models.topics import (
    SparseNMF,
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
    LinearSVM(dual=False, tol=1e-12),
    LinearSVM(loss="hinge", C="scale", tol=1e-9),
    NBSVMClassifier(dual=False, tol=1e-12),
    HybridClassifier(alpha=0.5, dual=False, tol=1e-12),
    NaiveBayesLogisticClassifier(share=0.5, tol=1e-13),
    RocchioClassifier(),
    StackedClassifier.committee(
        weights=(0.4, 0.4, 0.1), variance=1.0, informed_variance=0.5, tol=1e-13
    ),
    NeighborsClassifier(n_neighbors=1000),
    SparseBayesClassifier(prior=GaussianPrior(), prior_scale="norm", tol=1e-13),
    SparseBayesClassifier(prior=LaplacePrior(gamma=1.0), tol=1e-11, posterior="normal"),
    SpikeSlabClassifier(inclusion=0.5, slab_variance=1.0, tol=1e-6, max_iter=20_000),
    SpikeSlabClassifier(
        link="probit", inclusion=0.5, slab_variance=1.0, tol=1e-6, max_iter=20_000
    ),
]
ORDERED_CLASSIFIERS = [  # the order of documents matters, and there are no sample weights
    OnlinePerceptron(),
    OnlinePerceptron(covariance="diagonal", likelihood="flip"),
    OnlinePerceptron(covariance="diagonal", prior="likelihood-ratio", prior_variance=64.0),
    OnlinePerceptron(covariance="low-rank", rank=2),
    OnlineLaplaceClassifier(gamma=0.01),
    OnlineStackedClassifier(),
    OnlineStackedClassifier(rates=(1.0,), idf=True, shuffle=False),
    OnlineGaussianProcess(),
    OnlineGaussianProcess(kernel="polynomial", likelihood="logit", max_basis=20),
    OnlineGaussianProcess(kernel="rbf", likelihood="flip", max_basis="terms"),
    StackedClassifier.jury(n_folds=3, n_neighbors=5),
    StackedClassifier(members=(SVMMember(), NaiveBayesMember()), n_folds=2),
    StackedClassifier(members=(OnlineStackMember(), NaiveBayesMember()), n_folds=2),
    AutoClassifier(),
]
TRANSFORMERS = [
    SelectTerms(),
    SelectTerms(by="pearson", k=2),
    SelectTerms(by="chi2", k=2, per_category=True),
]
ESTIMATORS = CLASSIFIERS + ORDERED_CLASSIFIERS + TRANSFORMERS
LIBLINEAR = (LinearSVM, NBSVMClassifier, HybridClassifier)

# Found from a start or learned from pairs drawn by lot: the order of documents and their weights
# have no exact laws.
_TOPICS = SparseNMF(n_components=4, max_iter=2000)
ENCODERS = [
    SparseNMF(n_components=2, importance="variance", max_iter=2000),
    SparseNMF(n_components=2, max_iter=2000),
    SparseNMF(n_components=2, solver="coordinate", max_iter=2000),
]
TOPIC_CLASSIFIERS = [
    TopicSimilarityClassifier(encoder=_TOPICS, similarity=TopicSimilarity(n_pairs=2000)),
    TopicSVMClassifier(encoder=_TOPICS),
]
NEAREST = [
    NeighborsClassifier(n_neighbors=5)
]  # which of equally near documents counts, their order decides
CHECKED = ESTIMATORS + NEAREST + ENCODERS + TOPIC_CLASSIFIERS
STORED = [
    *CLASSIFIERS,
    StackedClassifier.committee(n_folds=2),
    *ORDERED_CLASSIFIERS,
    *TOPIC_CLASSIFIERS,
]
