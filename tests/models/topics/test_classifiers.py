import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from bayesift.classifier import TextClassifier
from bayesift.errors import DataError
from bayesift.models.baselines.neighbors import weighted_votes
from bayesift.models.topics import (
    SparseNMF,
    TopicSimilarity,
    TopicSimilarityClassifier,
    TopicSVMClassifier,
)
from bayesift.models.topics.classifier import choose_n_neighbors, leave_one_out

ENCODER = SparseNMF(n_components=6, max_iter=2000)
KINDS = [
    TopicSimilarityClassifier(encoder=ENCODER, similarity=TopicSimilarity(n_pairs=2000)),
    TopicSVMClassifier(encoder=ENCODER),
]


def documents(n=150, seed=0):
    """Three planted categories; some documents have two of them."""
    generator = np.random.default_rng(seed)
    Y = np.eye(3, dtype=int)[np.arange(n) % 3]
    Y[::10, 0] = 1
    rates = Y @ np.kron(np.eye(3), np.full(8, 1.5)) + 0.15
    return generator.poisson(rates).astype(float), Y


@pytest.mark.parametrize("model", KINDS, ids=lambda model: type(model).__name__)
def test_planted_categories_are_found(model):
    X, Y = documents()
    new, truth = documents(seed=1)
    single = truth.sum(axis=1) == 1
    labels = np.array(["crude", "earn", "grain"])
    kept = Y.sum(axis=1) == 1
    predicted = model.fit(X[kept], labels[Y[kept].argmax(axis=1)]).predict(new[single])
    assert np.mean(predicted == labels[truth[single].argmax(axis=1)]) > 0.95
    decisions = model.fit(X, Y).predict(new[single])
    assert np.mean(decisions.argmax(axis=1) == truth[single].argmax(axis=1)) > 0.95


def test_votes_are_those_of_a_plain_neighbour_search():
    X, Y = documents()
    model = TopicSimilarityClassifier(encoder=ENCODER, n_neighbors=7, t=None).fit(X, Y)
    new = documents(40, seed=2)[0]
    points = model.similarity_.points(model.encoder_.transform(new))
    distances, places = (
        NearestNeighbors(n_neighbors=7, algorithm="brute").fit(model.points_).kneighbors(points)
    )
    similarity = model.similarity_
    likeness = 1 / (
        1
        + np.exp(-(similarity.slope_ * (similarity.offset_ - distances**2) + similarity.shift_))
    )
    votes = np.einsum("ik,ikc->ic", likeness, Y[places]) + Y.mean(axis=0)
    np.testing.assert_allclose(
        model.predict_proba(new), votes / (1 + likeness.sum(axis=1))[:, None], rtol=1e-6
    )


def test_rcut_assigns_as_many_as_it_says():
    X, Y = documents()
    assert np.all(KINDS[0].fit(X, Y).predict(X).sum(axis=1) == 1)
    two = TopicSimilarityClassifier(
        encoder=ENCODER, similarity=TopicSimilarity(n_pairs=2000), t=2
    ).fit(X, Y)
    assert np.all(two.predict(X).sum(axis=1) == 2)


def test_contributions_of_words_add_up_to_the_log_odds():
    X, Y = documents()
    model = TopicSVMClassifier(
        encoder=SparseNMF(n_components=6, max_iter=2000, code_tol=1e-8)
    ).fit(X, Y)
    new = documents(5, seed=3)[0]
    probabilities = model.predict_proba(new)
    for c in range(3):
        terms, prior = model.contributions(new, c)
        log_odds = np.log(probabilities[:, c] / (1 - probabilities[:, c]))
        np.testing.assert_allclose(terms.sum(axis=1) + prior, log_odds, rtol=1e-3, atol=1e-3)
    with pytest.raises(ValueError, match="no category 7"):
        model.contributions(new, 7)


@pytest.mark.parametrize("name", ["topics-similarity", "topics-svm"])
def test_text_in_categories_out_saved_and_loaded(name, tmp_path):
    X, Y = documents(60)
    words = np.array(
        [f"{topic}{letter}" for topic in ("crude", "earn", "grain") for letter in "abcdefgh"]
    )
    texts = [" ".join(np.repeat(words, row.astype(int))) for row in X]
    labels = [("crude", "earn", "grain")[c] for c in Y.argmax(axis=1)]
    classifier = TextClassifier(model=name).fit(texts, labels)
    assert np.mean(classifier.predict(texts) == np.array(labels)) > 0.7
    classifier.save(tmp_path / "model.zip")
    again = TextClassifier.load(tmp_path / "model.zip")
    np.testing.assert_array_equal(
        again.predict_proba(texts[:20]), classifier.predict_proba(texts[:20])
    )
    if name == "topics-svm":
        assert again.explain(texts[0]).categories[0].terms
    else:
        with pytest.raises(
            DataError, match="a TopicSimilarityClassifier cannot explain its decisions"
        ):
            again.explain(texts[0])


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("points_", lambda a: a * np.nan),
        ("points_", lambda a: a[:, 1:].copy()),
        ("points_", lambda a: a[:5]),
        ("members_.indices", lambda a: a + 1000),
        ("members_.indices", lambda a: a.astype(float)),
        ("members_.indptr", lambda a: a[::-1].copy()),
        ("encoder_.components_", lambda a: a[1:]),
        ("similarity_.weights_", lambda a: a[1:]),
    ],
)
def test_stored_neighbours_that_do_not_fit_are_refused(name, change):
    parameters, arrays = KINDS[0].fit(*documents()).get_state()
    with pytest.raises(DataError):
        TopicSimilarityClassifier.from_state(
            json.loads(json.dumps(parameters)), {**arrays, name: change(arrays[name])}
        )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_neighbors", 0),
        ("n_neighbors", [3]),
        ("n_neighbors_", 0),
        ("n_neighbors_", None),
        ("t", 0),
        ("t", "x"),
        ("encoder", 3),
        ("encoder_", None),
        ("encoder_", {"kind": "sparse-nmf"}),
        ("similarity_", {"kind": "topic-similarity"}),
        ("classes_", {}),
        ("points_", {"kind": "array", "dtype": "<f8", "values": []}),
    ],
)
def test_stored_settings_that_do_not_fit_are_refused(name, value):
    parameters, arrays = KINDS[0].fit(*documents()).get_state()
    with pytest.raises(DataError):
        TopicSimilarityClassifier.from_state({**parameters, name: value}, arrays)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("coef_", lambda a: a[:, 1:]),
        ("coef_", lambda a: a * np.inf),
        ("intercept_", lambda a: a[1:]),
        ("slopes_", lambda a: a[1:]),
        ("encoder_.importance_", lambda a: a[1:]),
    ],
)
def test_stored_hyperplanes_that_do_not_fit_are_refused(name, change):
    parameters, arrays = KINDS[1].fit(*documents()).get_state()
    with pytest.raises(DataError):
        TopicSVMClassifier.from_state(
            json.loads(json.dumps(parameters)), {**arrays, name: change(arrays[name])}
        )


def test_the_number_of_neighbours_is_chosen_by_leave_one_out():
    points, members = (
        np.array([[0.0], [0.1], [5.0], [5.1]]),
        sparse.csr_array([[1, 1, 0, 0], [0, 0, 1, 1]]),
    )
    arguments = points, members, lambda distances: 1 / (1 + distances), np.random.RandomState(0)
    assert leave_one_out(*arguments) == {1: 1.0, 3: 1.0}
    assert choose_n_neighbors(*arguments) == 1


def test_votes_are_sums_of_weights():
    members = sparse.csr_array([[1.0, 0.0], [1.0, 1.0]])
    assert weighted_votes(np.array([[0, 1]]), np.array([[0.5, 0.25]]), members).tolist() == [
        [0.75, 0.25]
    ]
