"""Word knowledge from Reuters' category descriptions lifts the learning curve of few examples."""

import pytest

from bayesift.corpora import load_reuters, load_reuters_descriptions
from benchmarks.learning_curves import STRENGTH, VARIANCES, Texts, measure
from tests.conftest import data_dir

pytestmark = [pytest.mark.slow, pytest.mark.corpus("reuters21578.tar.gz")]


@pytest.fixture(scope="module")
def texts():
    return Texts(
        load_reuters(data_dir(), subset="modapte"), load_reuters_descriptions(data_dir())
    )


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
@pytest.mark.parametrize("size", [1, 4])
def test_knowledge_helps_at_the_small_end(texts, kind, size):
    plain, informed = (
        measure(texts, kind, VARIANCES[kind], strength, size=size, seeds=range(4))
        for strength in (0.0, STRENGTH)
    )
    gains = (informed - plain)[:, 0]  # proportional assignment
    assert gains.mean() > 0.03
    assert gains.min() > 0
