from xml.etree import ElementTree

import numpy as np
import pytest

from bayesift.models import SparseNMF
from bayesift.models.topics import hoyer_sparsity, npmi_coherence, sparsity_curves, topic_bars

V = np.random.default_rng(0).poisson(0.8, size=(60, 12)).astype(float)


def drawn(figure):
    return ElementTree.fromstring(figure.to_svg()) is not None


def test_topic_bars_show_the_words_of_each_topic():
    nmf = SparseNMF(n_components=5, max_iter=2000).fit(V)
    names = [f"word{j}" for j in range(12)]
    figure = topic_bars(nmf, names, topics=[0, 3], k=4, title="Two topics")
    assert drawn(figure)
    (first,), (second,) = (panel.layers for panel in figure.panels)
    shown = [[name for name, _, _ in bars.rows] for bars in (first, second)]
    words = nmf.topic_words(names, 4)
    assert shown == [words[0], words[3]]
    lengths = [length for _, length, _ in second.rows]
    np.testing.assert_allclose(
        lengths, nmf.components_[3, [names.index(word) for word in words[3]]]
    )


def test_sparsity_curves_fall():
    codes = SparseNMF(n_components=5, max_iter=2000).fit_transform(V)
    figure = sparsity_curves({"ours": codes, "uniform": np.ones((3, 5))}, title="Codes")
    assert drawn(figure)
    falling, flat = ([share for _, share in line.points] for line in figure.panels[0].layers)
    assert np.all(np.diff(falling) <= 0)
    np.testing.assert_allclose(flat, 0.2)


def test_hoyer_sparsity_of_known_codes():
    np.testing.assert_allclose(
        hoyer_sparsity(np.array([[2.0, 0, 0, 0], [1, 1, 0, 0]])), [1, 2 - np.sqrt(2)]
    )


def test_npmi_is_its_definition():
    present = V > 1
    order = [3, 1, 7]
    values = []
    for i, j in ((3, 1), (3, 7), (1, 7)):
        both = np.mean(present[:, i] & present[:, j])
        ratio = both / (present[:, i].mean() * present[:, j].mean()) if both else 0
        values.append(np.log(ratio) / -np.log(both) if both else -1)
    component = np.zeros(12)
    component[order] = [3, 2, 1]
    assert npmi_coherence(V * present, [component], k=3)[0] == pytest.approx(np.mean(values))
