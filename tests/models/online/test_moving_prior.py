"""Prior variances that follow the likelihood ratio against plain NumPy; stopped streams resume."""

import json

import numpy as np
import pytest

from bayesift.errors import DataError
from bayesift.features import TermTables
from bayesift.features import likelihood_ratio as batch_ratio
from bayesift.models.online import OnlinePerceptron
from tests.models.online.test_stack import documents
from tests.oracles.online_stack import RunningPerceptron, likelihood_ratio, prior_variance

SETTINGS = {"covariance": "diagonal", "prior": "likelihood-ratio", "prior_variance": 64.0}


def test_the_posterior_is_that_of_plain_numpy():
    X, Y = documents(n_categories=2)
    oracles = [RunningPerceptron(X.shape[1]) for _ in range(2)]
    fields = []
    for x, labels in zip(X, Y, strict=True):
        fields.append([oracle.field(x) for oracle in oracles])
        for oracle, label in zip(oracles, labels, strict=True):
            oracle.learn(x, label)
    model = OnlinePerceptron(**SETTINGS).partial_fit(X[:2], Y[:2]).partial_fit(X[2:], Y[2:])
    np.testing.assert_allclose(
        model._bank.last_fields.transpose(2, 0, 1), np.array(fields)[2:], rtol=1e-8
    )
    variances = [np.diag(posterior.covariance()) for posterior in model.weight_posteriors_]
    np.testing.assert_allclose(variances, [oracle.variances() for oracle in oracles], rtol=1e-8)
    means = [oracle.shift * oracle.variances() for oracle in oracles]
    np.testing.assert_allclose(
        np.c_[model.intercept_, model.coef_], means, rtol=1e-7, atol=1e-10
    )


def test_the_running_ratio_is_that_of_all_documents():
    X, Y = documents()
    ratios = batch_ratio(TermTables.of(X, Y))
    for c in range(Y.shape[1]):
        for j in range(X.shape[1]):
            counts = (
                Y[:, c].sum(),
                np.count_nonzero(X[:, j]),
                np.count_nonzero(X[:, j] * Y[:, c]),
            )
            assert likelihood_ratio(len(X), *counts) == pytest.approx(ratios[c, j], abs=1e-9)


def test_before_any_document_a_weight_has_the_smallest_variance_and_the_bias_the_largest():
    model = OnlinePerceptron(**SETTINGS, bias=1.0).partial_fit([[1.0, 0.0]], [[1, 0]])
    (mean, variance), _ = model._bank.last_fields[:, :, 0]
    assert (mean, variance) == (0.0, 64.0 + prior_variance(64.0, 0.0))


def test_resumed_bit_for_bit_and_refused_when_broken():
    X, Y = documents()
    whole = OnlinePerceptron(**SETTINGS).partial_fit(X, Y)
    parts = OnlinePerceptron(**SETTINGS)
    for start in range(0, 120, 30):
        parts.partial_fit(X[start : start + 30], Y[start : start + 30])
        state, arrays = parts.get_state()
        parts = OnlinePerceptron.from_state(json.loads(json.dumps(state)), arrays)
    np.testing.assert_array_equal(parts.predict_log_proba(X), whole.predict_log_proba(X))
    name = next(key for key in arrays if key.endswith("0.frequencies"))
    with pytest.raises(DataError, match="do not fit"):
        OnlinePerceptron.from_state(state, {**arrays, name: arrays[name] + 0.5})


def test_refused():
    X, Y = documents()
    with pytest.raises(ValueError, match="no prior 'other'"):
        OnlinePerceptron(prior="other").fit(X, Y)
    for more in ({"covariance": "full"}, {"half_life": 10.0}):
        with pytest.raises(ValueError, match="needs covariance='diagonal' and no half_life"):
            OnlinePerceptron(**SETTINGS | more).fit(X, Y)
