"""A filter folder that bayesift 0.1 wrote still opens and gives what it gave."""

import json
import shutil
from pathlib import Path

import pytest

from bayesift.filtering.saving import open_filter, save_checkpoint

FOLDER = Path(__file__).parents[1] / "data" / "filter-0.1"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())


def seen(opened):
    """What the profiles of a filter hold."""
    space = opened.engine.space
    vectors = [space.known_vector(str(place), text) for place, text in enumerate(EXPECTED["texts"])]
    return {
        name: {
            "probabilities": [profile.probability(vector) for vector in vectors],
            "threshold": profile.threshold,
            "taught": dict(profile.taught),
            "pending": list(profile.pending),
        }
        for name, profile in opened.engine.profiles.items()
    }


@pytest.mark.parametrize(
    "checkpoint", [True, False], ids=["from the checkpoint", "from the log alone"]
)
def test_an_old_folder_gives_what_it_gave(tmp_path, checkpoint):
    place = shutil.copytree(FOLDER, tmp_path / "filter")
    if not checkpoint:
        (place / "checkpoint.zip").unlink()
    opened = open_filter(place)
    assert opened.engine.profiles["grain"].settings.n_epochs == 2
    assert seen(opened).keys() == EXPECTED["profiles"].keys()
    if checkpoint:
        assert seen(opened) == EXPECTED["profiles"]
        save_checkpoint(place, opened.engine, opened.log)
        opened.log.close()
        opened = open_filter(place)
        assert seen(opened) == EXPECTED["profiles"]
    opened.log.close()
