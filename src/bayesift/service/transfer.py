"""A profile as a file of its own, and back: what it learned, with its own words.

Not what waits for a judgement.
"""

from __future__ import annotations

import base64
import binascii
import io
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from bayesift.arrays import Array
from bayesift.errors import DataError
from bayesift.filtering import FilterEngine, ProfileState, VectorSpace
from bayesift.filtering.saving import filter_content, read_content
from bayesift.model_file import save_model
from bayesift.service.errors import TooLargeError

_MOST_UNPACKED = 32 * 1024 * 1024
_COLUMNS = ("terms", "counted", "kept.columns")


def exported_profile(space: VectorSpace, state: ProfileState) -> bytes:
    """A model file (one zip) of a profile, which `bayesift filter run` can start from."""
    state = _learned(state)
    used = np.unique(np.concatenate([state.arrays[name] for name in _COLUMNS])).astype(np.int64)
    parameters, _, _ = space.get_state()
    own = VectorSpace.from_state(
        parameters, {"frequencies": space.frequencies[used]}, space.words_of(used)
    )
    columns = np.full(len(space), -1, dtype=np.int32)
    columns[used] = np.arange(len(used), dtype=np.int32)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "profile.zip"
        save_model(filter_content(own, [_moved(state, columns)]), file)
        return file.read_bytes()


def _check_size(model: bytes) -> None:
    """Refuse an archive that would unpack to more than a filter can be.

    Sizes are those that are unpacked at most.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(model)) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise DataError("not a model file") from error
    if size > _MOST_UNPACKED:
        raise TooLargeError(
            f"the model file unpacks to {size:,} bytes; at most {_MOST_UNPACKED:,} are allowed"
        )


def read_profile(model: bytes) -> tuple[VectorSpace, ProfileState]:
    """The first profile of a model file with the space it was learned in; refuses what is none."""
    _check_size(model)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "profile.zip"
        file.write_bytes(model)
        try:
            content = read_content(file)
        except DataError as error:
            raise DataError(error.message) from error
    if not content.states:
        raise DataError("there is no filter in the file")
    state = _learned(content.states[0])
    state.profile()
    if any(state.arrays[name].max(initial=-1) >= len(content.space) for name in _COLUMNS):
        raise DataError("the filter has words that the file does not name")
    return content.space, state


def install_profile(engine: FilterEngine, name: str, model: str) -> None:
    """Take a profile into a filter under a name; `model` is the file in base 64."""
    try:
        space, state = read_profile(base64.b64decode(model, validate=True))
    except binascii.Error as error:
        raise DataError("not a model file") from error
    ours = engine.space
    read = [(each.stemmer, each.stop_words, each.unspaced) for each in (space, ours)]
    if read[0] != read[1]:
        raise DataError(
            "the filter reads words in another way (stems, stop words, scripts) than this service"
        )
    moved = _moved(state, ours.add_words(space.words_of(range(len(space)))))
    moved.header.update(name=name)
    engine.profiles[name], engine.starts[name] = moved.profile(), moved


def _learned(state: ProfileState) -> ProfileState:
    """The state without documents that wait and without the names of judged ones."""
    pending = {
        name: array[:0] for name, array in state.arrays.items() if name.startswith("pending.")
    }
    return ProfileState(
        {**state.header, "pending": [], "verdicts": {}, "paused": False},
        {**state.arrays, **pending},
    )


def _moved(state: ProfileState, columns: Array) -> ProfileState:
    """The state over other columns."""
    arrays = dict(state.arrays)
    for name in _COLUMNS:
        arrays[name] = columns[arrays[name]].astype(np.int32)
    return ProfileState(
        {**state.header, "n_columns": int(arrays["counted"].max(initial=-1)) + 1}, arrays
    )
