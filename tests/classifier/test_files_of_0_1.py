"""Model files that bayesift 0.1 wrote still load and give what they gave."""

import json
from pathlib import Path

import numpy as np
import pytest

from bayesift.classifier import TextClassifier

FOLDER = Path(__file__).parents[1] / "data" / "models-0.1"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())


@pytest.mark.parametrize("name", sorted(EXPECTED["models"]))
def test_old_files_give_what_they_gave(name):
    model, expected = TextClassifier.load(FOLDER / f"{name}.zip"), EXPECTED["models"][name]
    assert list(model.categories_) == expected["categories"]
    decisions, scores = model.decide(EXPECTED["texts"])
    np.testing.assert_array_equal(np.asarray(decisions).astype(int), expected["decisions"])
    np.testing.assert_allclose(scores, expected["scores"], rtol=1e-12, atol=1e-300)
