"""20 Newsgroups by date: the smoothing chosen by cross-validation on training articles alone."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import MultinomialNB

from bayesift.models.naive_bayes import (
    AbsoluteDiscounting,
    Dirichlet,
    HierarchicalShrinkage,
    JelinekMercer,
    Laplace,
    NaiveBayesClassifier,
)
from bayesift.text import TermVectorizer

ALPHAS = [1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001, 3e-5, 1e-5, 1e-6]
SMOOTHINGS = [
    *(Laplace(alpha) for alpha in ALPHAS),
    *(Dirichlet(mu) for mu in (300.0, 1000.0, 3000.0, 10_000.0, 30_000.0)),
    *(JelinekMercer(share) for share in (0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.99)),
    *(AbsoluteDiscounting(delta) for delta in (0.1, 0.3, 0.5, 0.7, 0.9)),
]


@pytest.mark.slow
@pytest.mark.corpus("20news-bydate.tar.gz")
def test_best_smoothing_beats_multinomial_naive_bayes_tuned_the_same_way(corpus_named):
    corpus = corpus_named("20newsgroups")
    train, test = corpus.split("train"), corpus.split("test")
    vectorizer = TermVectorizer()
    X, X_test = vectorizer.fit_transform(train.texts), vectorizer.transform(test.texts)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    smoothings = [*SMOOTHINGS, HierarchicalShrinkage(corpus.parents)]
    searches = {
        "bayesift": GridSearchCV(NaiveBayesClassifier(), {"smoothing": smoothings}, cv=folds),
        "scikit-learn": GridSearchCV(MultinomialNB(), {"alpha": ALPHAS}, cv=folds),
    }
    accuracy = {}
    for name, search in searches.items():
        search.fit(X, np.array(train.labels))
        accuracy[name] = search.score(X_test, np.array(test.labels))
        print(
            f"{name}: {search.best_params_}, {search.best_score_:.4f} in cross-validation, "
            f"{accuracy[name]:.4f} on test"
        )
    assert accuracy["bayesift"] > accuracy["scikit-learn"]
