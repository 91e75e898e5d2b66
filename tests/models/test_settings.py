"""Settings of learners by plain names."""

import numpy as np
import pytest

from bayesift.models import LEARNERS, make_learner
from bayesift.models.linear import GammaPrior, LogF, SparseBayesClassifier
from bayesift.models.naive_bayes import Dirichlet, HierarchicalShrinkage
from bayesift.models.online import FlipNoise
from bayesift.models.settings import configure, described, settings_of

X = np.random.default_rng(0).poisson(1.0, size=(40, 12))
LABELS = np.resize(["crude", "earn", "grain"], 40)


@pytest.mark.parametrize("name", LEARNERS)
def test_settings_of_every_learner_may_be_set_to_what_they_are(name):
    estimator = LEARNERS[name].make()
    settings = settings_of(estimator)
    own = [setting for setting in settings if not setting.part]
    parts = [setting for setting in settings if setting.part]
    assert len({setting.name for setting in settings if setting.name != "tol"}) >= len(own) - 1
    made = make_learner(
        name, **{setting.name: setting.value for setting in [*parts[::-1], *own]}
    )
    before, after = (model.fit(X, LABELS).predict(X) for model in (estimator, made))
    assert np.array_equal(before, after)


@pytest.mark.parametrize(
    "name", [n for n in LEARNERS if "bernoulli" not in n and "complement" not in n]
)
def test_every_setting_is_explained(name):
    estimator = LEARNERS[name].make()
    unexplained = [s.name for s in settings_of(estimator) if not s.meaning]
    assert not unexplained
    assert described(estimator)


def test_parts_are_chosen_by_name_and_set():
    chosen = {"prior": "gamma", "prior.shape": 2.0, "link": "log-f", "rate": 0.5}
    linear = make_learner("logistic-laplace", **chosen)
    assert (linear.prior, linear.link) == (GammaPrior(shape=2.0, rate=0.5), "log-f")
    with pytest.raises(
        ValueError, match=r"of several parts: write link\.shape or prior\.shape"
    ):
        make_learner("logistic-laplace", prior="gamma", link="log-f", shape=0.5)
    assert make_learner("naive-bayes", smoothing="dirichlet", mu=50).smoothing == Dirichlet(50)
    tree = make_learner("naive-bayes", smoothing="hierarchical-shrinkage", parents={"a": "b"})
    assert tree.smoothing == HierarchicalShrinkage({"a": "b"})
    gp = make_learner("online-gp", likelihood="flip", kappa=0.1, max_basis=50)
    assert (gp.likelihood, gp.max_basis) == (FlipNoise(0.1), 50)
    assert make_learner("topics-svm", n_components=8).encoder.n_components == 8
    assert make_learner("naive-bayes-jelinek-mercer", lambda_=0.9).smoothing.lambda_ == 0.9
    assert (
        make_learner("naive-bayes-jelinek-mercer", **{"lambda": 0.8}).smoothing.lambda_ == 0.8
    )


def test_a_refused_setting_changes_nothing():
    model = SparseBayesClassifier(link=LogF(0.5))
    with pytest.raises(ValueError, match="no prior 'cauchy'; there are: gaussian"):
        configure(model, {"link": "probit", "prior": "cauchy"})
    with pytest.raises(ValueError, match="gamma must be positive"):
        configure(model, {"gamma": -1})
    with pytest.raises(ValueError, match="no setting 'gamm'; did you mean 'gamma'"):
        configure(model, {"gamm": 1})
    assert (model.link, model.prior) == (LogF(0.5), "laplace")
