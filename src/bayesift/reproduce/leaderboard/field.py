"""Who takes part, by module: apart from the protocol, so that a new contender makes no other's results old."""

OURS = (
    "jury",
    "logistic_gaussian",
    "logistic_laplace",
    "probit_gaussian",
    "naive_bayes",
    "online_perceptron",
    "nbsvm",
    "hybrid",
    "topics_svm",
    "rocchio",
    "knn",
)
PEERS = (
    "sklearn_logistic",
    "sklearn_svc",
    "sklearn_complement",
    "sklearn_sgd",
    "fasttext",
    "vowpal_wabbit",
    "river_logistic",
)
