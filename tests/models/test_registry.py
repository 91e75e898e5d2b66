import numpy as np
import pytest

from bayesift.models import LEARNERS, make_learner
from bayesift.text import WEIGHTINGS

X = np.random.default_rng(0).poisson(1.0, size=(40, 12))
LABELS = np.resize(["crude", "earn", "grain"], 40)
INDICATOR = np.eye(3, dtype=int)[np.arange(40) % 3]


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_takes_labels_and_indicators(name):
    single = make_learner(name).fit(X, LABELS)
    assert set(single.predict(X)) <= set(LABELS)
    several = make_learner(name, multilabel=True).fit(X, INDICATOR)
    assert several.predict(X).shape == INDICATOR.shape
    if not hasattr(single, "predict_proba"):
        assert (
            single.decision_function(X).shape
            == several.decision_function(X).shape
            == INDICATOR.shape
        )
        return
    np.testing.assert_allclose(single.predict_proba(X).sum(axis=1), 1)
    assert np.all((several.predict_proba(X) >= 0) & (several.predict_proba(X) <= 1))


def test_every_learner_is_described():
    assert all(
        learner.name == name and learner.description for name, learner in LEARNERS.items()
    )
    assert {learner.weighting for learner in LEARNERS.values()} <= set(WEIGHTINGS)


def test_unknown_learners_are_named():
    with pytest.raises(ValueError, match="no learner 'oracle'; there are: auto, naive-bayes, "):
        make_learner("oracle")
    for name in ("naive_bayes", "Naive-Bayes", "naive-bays"):
        with pytest.raises(
            ValueError, match=f"no learner '{name}'; did you mean 'naive-bayes'"
        ):
            make_learner(name)
