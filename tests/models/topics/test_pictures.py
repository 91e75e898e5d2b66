from xml.etree import ElementTree

import numpy as np
import pytest

from bayesift.models.topics import npmi_coherence

V = np.random.default_rng(0).poisson(0.8, size=(60, 12)).astype(float)


def drawn(figure):
    return ElementTree.fromstring(figure.to_svg()) is not None


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
