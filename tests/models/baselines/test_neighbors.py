import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from bayesift.errors import DataError
from bayesift.models.baselines import NeighborsClassifier


def documents(seed=0, n_documents=80, n_terms=40):
    generator = np.random.default_rng(seed)
    X = sparse.random_array((n_documents, n_terms), density=0.2, rng=generator, format="csr")
    return X, generator.integers(0, 3, n_documents)


def test_neighbours_are_scikit_learns():
    X, y = documents()
    more, _ = documents(seed=1)
    found, cosines = NeighborsClassifier(n_neighbors=7).fit(X, y).kneighbors(more)
    distances, expected = (
        NearestNeighbors(n_neighbors=7, metric="cosine", algorithm="brute")
        .fit(X)
        .kneighbors(more)
    )
    np.testing.assert_allclose(cosines, 1 - distances, atol=1e-12)
    np.testing.assert_array_equal(found, expected)


def test_votes_by_hand():
    X, y = documents()
    model = NeighborsClassifier(n_neighbors=5, prior=2.0).fit(X, y)
    found, cosines = model.kneighbors(X)
    shares = (np.bincount(y) + 0.5) / (np.bincount(y) + 0.5).sum()
    for d in range(10):
        votes = np.bincount(y[found[d]], weights=cosines[d], minlength=3)
        np.testing.assert_allclose(
            model.predict_proba(X[[d]])[0], (votes + 2 * shares) / (cosines[d].sum() + 2)
        )


def test_a_document_like_no_other_gets_the_shares():
    model = NeighborsClassifier(n_neighbors=2).fit(
        [[1, 0, 0], [1, 0, 0], [0, 1, 0]], [[1, 0], [1, 0], [0, 1]]
    )
    np.testing.assert_allclose(model.predict_proba([[0, 0, 1]]), [[2.5 / 4, 1.5 / 4]])


def test_equally_near_documents_count_in_their_order():
    found, _ = (
        NeighborsClassifier(n_neighbors=2)
        .fit([[1, 0], [2, 0], [3, 0]], [0, 1, 1])
        .kneighbors([[1, 0]])
    )
    assert found.tolist() == [[0, 1]]


def test_contributions_add_up_to_the_probability():
    X, y = documents()
    model = NeighborsClassifier(n_neighbors=9).fit(X, y)
    for category in range(3):
        terms, prior = model.contributions(X, category)
        np.testing.assert_array_equal(terms.indices, X.indices)
        np.testing.assert_allclose(
            terms.sum(axis=1) + prior, model.predict_proba(X)[:, category]
        )


@pytest.mark.parametrize("parameters", [{"n_neighbors": 0}, {"prior": 0.0}])
def test_bad_settings_are_refused(parameters):
    with pytest.raises(ValueError, match="must be"):
        NeighborsClassifier(**parameters).fit([[1], [2]], [0, 1])


@pytest.mark.parametrize(
    "damage",
    [
        lambda parameters, arrays: parameters.update(n_neighbors=0),
        lambda parameters, arrays: parameters.update(prior=-1.0),
        lambda parameters, arrays: arrays.update(
            {"_documents.indices": arrays["_documents.indices"] + 1000}
        ),
        lambda parameters, arrays: arrays.pop("_members.data"),
        lambda parameters, arrays: arrays["_members.data"].fill(2.0),
    ],
)
def test_damaged_files_are_refused(damage):
    parameters, arrays = NeighborsClassifier().fit(*documents()).get_state()
    parameters, arrays = (
        json.loads(json.dumps(parameters)),
        {k: v.copy() for k, v in arrays.items()},
    )
    damage(parameters, arrays)
    with pytest.raises(DataError):
        NeighborsClassifier.from_state(parameters, arrays)
