"""Eyheramendy et al., Table 1: probit with a Laplace prior on the ten largest categories of Reuters (ModApte).

Log TF, 300 terms a category by |Pearson|, gamma = 10, thresholds with the fewest errors on the training documents. The
paper prints micro F1 88.6 and macro F1 81.4; at the exact mode, with letters as words, no stems and English stop words
left out, it is 90 to 91.5 and 82.5 to 85.
"""

import numpy as np
import pytest

from bayesift.datasets import load_reuters
from bayesift.evaluation import evaluate_decisions
from bayesift.features import SelectTerms
from bayesift.models import LaplacePrior, SparseBayesClassifier
from bayesift.text import TermVectorizer
from bayesift.thresholds import MinimumErrors
from tests.conftest import data_dir

TEN = ["earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "wheat", "ship", "corn"]
MODE_COUNTS = [171, 181, 139, 65, 89, 116, 112, 39, 54, 45]  # of a trial with another text processing


@pytest.mark.slow
@pytest.mark.corpus("reuters21578.tar.gz")
def test_table_1_of_the_sparse_bayes_paper():
    corpus = load_reuters(subset="labelled", data_dir=data_dir())
    train, test = corpus.split("train"), corpus.split("test")
    vectorizer = TermVectorizer(weighting="log-tf", stop_words="english", characters="letters")
    X, X_test = vectorizer.fit_transform(train.texts), vectorizer.transform(test.texts)
    places = [list(corpus.categories).index(name) for name in TEN]
    Y, Y_test = train.indicator[:, places].toarray(), test.indicator[:, places].toarray()
    supports = SelectTerms(by="pearson", k=300, per_category=True).fit(X, Y).supports_
    model = SparseBayesClassifier(link="probit", prior=LaplacePrior(gamma=10.0)).fit(X, Y, supports=supports)
    rule = MinimumErrors().fit(Y, model.decision_function(X))
    scores = evaluate_decisions(Y_test, rule.decide(model.decision_function(X_test)))
    counts = np.array([np.count_nonzero(solution.coefficients) for solution in model.solutions_])
    print(X.shape, X_test.shape, scores.micro, scores.macro, counts.tolist())
    assert 0.90 <= scores.micro.f1 <= 0.915
    assert 0.825 <= scores.macro.f1 <= 0.85
    np.testing.assert_allclose(counts, MODE_COUNTS, rtol=0.07, atol=2)
