"""Topics, then a linear support vector machine."""

from bayesift.models.topics import SparseNMF, TopicSVMClassifier
from bayesift.reproduce.leaderboard.contenders import Contender

CONTENDER = Contender(
    "topics and SVM",
    "bayesift",
    lambda setting, multilabel: TopicSVMClassifier(encoder=SparseNMF(n_components=setting["topics"], tol=5e-4)),
    [{"topics": 64}],
)
