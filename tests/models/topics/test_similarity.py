import itertools
import json

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize, minimize_scalar
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from bayesift.errors import DataError
from bayesift.models.baselines import neighbors
from bayesift.models.baselines.neighbors import nearest_points
from bayesift.models.topics import TopicSimilarity, more_like_this
from bayesift.models.topics.similarity import best_factor, draw_pairs, fit_additive


def coded(n=300, n_topics=6, seed=0):
    """Codes whose first topics tell three categories apart, and noise."""
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, 3, n)
    centres = np.eye(3, n_topics) * 2 + 0.5
    return generator.gamma(2.0, centres[labels] / 2), labels


def test_same_pairs_are_drawn_as_stated():
    """Frequencies against the probabilities that the scheme says, listed over all pairs."""
    Y = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]])
    sizes = Y.sum(axis=0)
    expected = np.zeros((6, 6))
    able = [d for d in range(6) if Y[d] @ (sizes > 1)]
    for d in able:
        categories = np.flatnonzero(Y[d] * (sizes > 1))
        for c in categories:
            for other in np.flatnonzero(Y[:, c]):
                if other != d:
                    expected[d, other] += 1 / len(able) / len(categories) / (sizes[c] - 1)
    n = 200_000
    pairs = draw_pairs(sparse.csr_array(Y.T), n, np.random.RandomState(0))
    drawn = np.zeros((6, 6))
    np.add.at(drawn, (pairs.left[pairs.same], pairs.right[pairs.same]), 2 / n)
    np.testing.assert_allclose(drawn, expected, atol=5 * np.sqrt(0.25 / (n / 2)))
    assert np.all(drawn[expected == 0] == 0)


def test_different_pairs_are_uniform_over_all_that_differ():
    Y = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]])
    possible = [(i, j) for i, j in itertools.permutations(range(5), 2) if not Y[i] @ Y[j]]
    n = 100_000
    pairs = draw_pairs(sparse.csr_array(Y.T), n, np.random.RandomState(0))
    drawn = np.zeros((6, 6))
    np.add.at(drawn, (pairs.left[~pairs.same], pairs.right[~pairs.same]), 2 / n)
    assert set(zip(*np.nonzero(drawn), strict=True)) == set(possible)
    np.testing.assert_allclose(
        drawn[drawn > 0], 1 / len(possible), atol=5 * np.sqrt(0.1 / (n / 2))
    )
    assert pairs.same_share == pytest.approx(1 - len(possible) / 20, abs=0.01)


def test_nothing_to_learn_from_is_said():
    with pytest.raises(ValueError, match="no category has two documents"):
        TopicSimilarity().fit(np.eye(3), [0, 1, 2])
    with pytest.raises(ValueError, match="hardly any two documents differ"):
        TopicSimilarity(n_pairs=10).fit(np.eye(3), [1, 1, 1])


def test_best_factor_is_scipys():
    generator = np.random.default_rng(0)
    margins, importance = generator.normal(0.3, 1, 500), generator.random(500)
    found = minimize_scalar(lambda a: np.sum(importance * np.exp(-a * margins)), tol=1e-12)
    assert best_factor(margins, importance) == pytest.approx(found.x, abs=1e-7)


def test_stages_follow_the_paper():
    """Weighted variances, log ratio of two normal densities, factor by search: written out."""
    codes, labels = coded()
    unit = normalize(codes)
    members = sparse.csr_array(np.eye(3, dtype=int)[labels].T)
    pairs = draw_pairs(members, 2000, np.random.RandomState(1))
    model = fit_additive(unit, pairs.left, pairs.right, pairs.same)
    x, y = unit[pairs.left] - unit[pairs.right], np.where(pairs.same, 1, -1)
    F = np.zeros(len(y))
    for m in range(x.shape[1]):
        weight = np.exp(-y * F)
        plus, minus = (np.average(x[y == s, m] ** 2, weights=weight[y == s]) for s in (1, -1))
        np.testing.assert_allclose(model.variances[:, m], [plus, minus], rtol=1e-6)
        f = norm.logpdf(x[:, m], scale=np.sqrt(plus)) - norm.logpdf(
            x[:, m], scale=np.sqrt(minus)
        )
        a = minimize_scalar(lambda a, f=f, F=F: np.sum(np.exp(-y * (F + a * f))), tol=1e-12).x
        if plus < minus and a > 0:
            assert model.factors[m] == pytest.approx(a, rel=1e-5, abs=1e-7)
            F = F + model.factors[m] * f
        else:
            assert model.factors[m] == 0
    np.testing.assert_allclose(model.offset - x**2 @ model.weights, F, rtol=1e-8, atol=1e-8)


def test_rounds_come_near_the_joint_minimum_of_the_exponential_criterion():
    """More rounds lower sum e^{-yF} towards its minimum over offsets and weights, by SciPy."""
    codes, labels = coded()
    unit = normalize(np.sqrt(codes))
    pairs = draw_pairs(
        sparse.csr_array(np.eye(3, dtype=int)[labels].T), 2000, np.random.RandomState(1)
    )
    squares, y = np.square(unit[pairs.left] - unit[pairs.right]), np.where(pairs.same, 1, -1)

    def criterion(offset, weights):
        return np.mean(np.exp(-y * (offset - squares @ weights)))

    found = []
    for rounds in (1, 3, 30):
        model = fit_additive(unit, pairs.left, pairs.right, pairs.same, rounds=rounds)
        assert np.all(model.weights >= 0)
        found.append(criterion(model.offset, model.weights))
    bounds = [(None, None)] + [(0, None)] * squares.shape[1]
    least = minimize(
        lambda t: criterion(t[0], t[1:]),
        np.zeros(len(bounds)),
        bounds=bounds,
        method="L-BFGS-B",
    ).fun
    assert found[0] > found[1] >= found[2] >= least - 1e-9
    assert found[2] < least * 1.01


def test_codes_below_zero_need_no_roots():
    codes, labels = coded()
    codes[0, 0] = -1
    with pytest.raises(ValueError, match="must not be negative"):
        TopicSimilarity(n_pairs=100).fit(codes, labels)
    plain = TopicSimilarity(n_pairs=100, n_rounds=1, roots=False).fit(codes, labels)
    np.testing.assert_allclose(plain.points(codes), normalize(codes) * np.sqrt(plain.weights_))


def test_probabilities_come_near_those_of_logistic_regression_on_squared_differences():
    """The same family, fitted jointly: our log likelihood on new pairs is close to its."""
    codes, labels = coded(600)
    similarity = TopicSimilarity(n_pairs=20_000).fit(codes, labels)
    new_codes, new_labels = coded(400, seed=9)
    left, right = np.arange(200), np.arange(200, 400)
    members = sparse.csr_array(np.eye(3, dtype=int)[labels].T)
    pairs = draw_pairs(members, 20_000, np.random.RandomState(5))
    unit, new = normalize(np.sqrt(codes)), normalize(np.sqrt(new_codes))
    peer = LogisticRegression(C=1e6, max_iter=1000).fit(
        (unit[pairs.left] - unit[pairs.right]) ** 2, pairs.same
    )
    theirs = peer.predict_proba((new[left] - new[right]) ** 2)[:, 1]
    ours = np.diag(similarity.probability(new_codes[left], new_codes[right]))
    same = new_labels[left] == new_labels[right]
    losses = [-np.mean(np.log(np.where(same, p, 1 - p))) for p in (ours, theirs)]
    assert losses[0] < losses[1] + 0.05
    assert np.corrcoef(ours, theirs)[0, 1] > 0.95


def test_probabilities_are_calibrated_on_new_pairs():
    codes, labels = coded(800)
    similarity = TopicSimilarity().fit(codes, labels)
    new, truth = coded(800, seed=4)
    p = similarity.probability(new, new, prior=similarity.same_share_)
    same = truth[:, None] == truth
    upper = np.triu_indices(800, 1)
    p, same = p[upper], same[upper]
    bins = np.minimum((p * 10).astype(int), 9)
    gaps = [
        abs(p[bins == b].mean() - same[bins == b].mean()) * np.mean(bins == b)
        for b in np.unique(bins)
    ]
    assert sum(gaps) < 0.05


def test_paper_probability_without_calibration():
    codes, labels = coded()
    similarity = TopicSimilarity(calibrated=False).fit(codes, labels)
    z = normalize(np.sqrt(codes[:2]))
    F = similarity.offset_ - similarity.weights_ @ (z[0] - z[1]) ** 2
    assert similarity.probability(codes[:1], codes[1:2])[0, 0] == pytest.approx(
        1 / (1 + np.exp(-2 * F))
    )


def test_naive_bayes_is_the_sum_of_log_ratios_of_densities():
    """Equation 28 with equal priors, over the pairs that were drawn."""
    codes, labels = coded()
    similarity = TopicSimilarity.paper(method="naive-bayes", n_pairs=2000, random_state=1).fit(
        codes, labels
    )
    unit = normalize(codes)
    members = sparse.csr_array(np.eye(3, dtype=int)[labels].T)
    pairs = draw_pairs(members, 2000, np.random.RandomState(1))
    x = unit[pairs.left] - unit[pairs.right]
    same, different = (
        np.sqrt(np.mean(x[part] ** 2, axis=0)) for part in (pairs.same, ~pairs.same)
    )
    new = unit[0] - unit[1]
    ratios = norm.logpdf(new, scale=same) - norm.logpdf(new, scale=different)
    expected = ratios[same < different].sum()
    assert similarity.log_odds(codes[:1], codes[1:2])[0, 0] == pytest.approx(expected, rel=1e-6)
    with pytest.raises(ValueError, match="method"):
        TopicSimilarity(method="magic").fit(codes, labels)


def test_the_papers_form():
    codes, labels = coded()
    similarity = TopicSimilarity.paper(n_pairs=2000).fit(codes, labels)
    assert (similarity.slope_, similarity.shift_) == (2.0, 0.0)
    unit = normalize(codes)
    F = similarity.offset_ - similarity.weights_ @ (unit[0] - unit[1]) ** 2
    assert similarity.probability(codes[:1], codes[1:2])[0, 0] == pytest.approx(
        1 / (1 + np.exp(-2 * F))
    )


def test_reversed_topics_are_left_out():
    generator = np.random.default_rng(0)
    labels = np.arange(200) % 2
    codes = np.column_stack(
        [labels * 3 + generator.random(200), np.ones(200), generator.random(200) + 0.1]
    )
    assert np.all(TopicSimilarity(n_pairs=2000).fit(codes, labels).weights_ >= 0)


def test_similarity_is_symmetric_and_falls_with_distance():
    codes, labels = coded()
    similarity = TopicSimilarity(n_pairs=2000).fit(codes, labels)
    p = similarity.probability(codes[:20], codes[:20])
    np.testing.assert_allclose(p, p.T, rtol=1e-9)
    assert np.all(p.diagonal() >= p.max(axis=1) - 1e-12)


def test_nearest_is_a_full_sort():
    generator = np.random.default_rng(0)
    points, others = generator.random((17, 3)), generator.random((50, 3))
    plain = np.square(points[:, None] - others).sum(axis=2)
    places, distances = nearest_points(points, others, 7)
    np.testing.assert_array_equal(places, np.argsort(plain, axis=1)[:, :7])
    np.testing.assert_allclose(distances, np.sort(plain, axis=1)[:, :7], atol=1e-12)


@pytest.mark.parametrize("block_values", [4_000_000, 500])
def test_ties_go_to_the_earlier_point(block_values, monkeypatch):
    monkeypatch.setattr(neighbors, "_BLOCK_VALUES", block_values)
    generator = np.random.default_rng(0)
    distinct = generator.random((9, 7))
    others, points = distinct[generator.integers(0, 9, 203)], generator.random((31, 7))
    plain = np.square(points[:, None] - distinct).sum(axis=2)
    kinds = np.array([np.flatnonzero((distinct == other).all(axis=1))[0] for other in others])
    expected = np.argsort(plain[:, kinds], axis=1, kind="stable")
    for k in (1, 10, 60, 203, 500):
        places, distances = nearest_points(points, others, k)
        np.testing.assert_array_equal(places, expected[:, :k])
        np.testing.assert_allclose(
            distances, np.take_along_axis(plain[:, kinds], places, axis=1), atol=1e-12
        )


def test_ranking_finds_the_liked_category_and_its_reasons_add_up():
    codes, labels = coded()
    similarity = TopicSimilarity(n_pairs=4000).fit(codes, labels)
    liked, disliked = np.flatnonzero(labels == 0)[:5], np.flatnonzero(labels == 1)[:5]
    ranked = more_like_this(
        similarity, codes, liked=liked, disliked=disliked, top=290, n_reasons=6
    )
    assert np.mean(labels[[r.document for r in ranked[:20]]] == 0) > 0.8
    assert np.mean(labels[[r.document for r in ranked[-20:]]] == 1) > 0.8
    assert not {r.document for r in ranked} & {*liked, *disliked}
    odds = similarity.log_odds(codes, codes[liked]).mean(axis=1) - similarity.log_odds(
        codes, codes[disliked]
    ).mean(axis=1)
    np.testing.assert_allclose(
        [r.score for r in ranked], odds[[r.document for r in ranked]], rtol=1e-7, atol=1e-9
    )
    sums = [sum(reason.contribution for reason in r.reasons) for r in ranked]
    np.testing.assert_allclose(
        sums, [r.score - odds.mean() for r in ranked], rtol=1e-6, atol=1e-7
    )


def test_ranking_without_dislikes_and_bad_rows():
    codes, labels = coded()
    similarity = TopicSimilarity(n_pairs=2000).fit(codes, labels)
    best = more_like_this(similarity, codes, liked=[0], top=3)
    np.testing.assert_allclose(
        best[0].score, similarity.log_odds(codes[[best[0].document]], codes[:1])[0, 0]
    )
    with pytest.raises(ValueError, match="at least one liked"):
        more_like_this(similarity, codes, liked=[])
    with pytest.raises(ValueError, match="rows of the 300"):
        more_like_this(similarity, codes, liked=[300])


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("weights_", lambda a: -a),
        ("weights_", lambda a: a[1:]),
        ("factors_", lambda a: a + np.inf),
        ("variances_", lambda a: a.T.copy()),
    ],
)
def test_stored_similarities_that_do_not_fit_are_refused(name, change):
    parameters, arrays = TopicSimilarity(n_pairs=100).fit(*coded()).get_state()
    with pytest.raises(DataError):
        TopicSimilarity.from_state(
            json.loads(json.dumps(parameters)), {**arrays, name: change(arrays[name])}
        )


@pytest.mark.parametrize(
    "line", [{"offset_": None}, {"slope_": -1.0}, {"shift_": {"kind": "float", "value": "nan"}}]
)
def test_stored_lines_that_do_not_fit_are_refused(line):
    parameters, arrays = TopicSimilarity(n_pairs=100).fit(*coded()).get_state()
    with pytest.raises(DataError):
        TopicSimilarity.from_state({**parameters, **line}, arrays)
