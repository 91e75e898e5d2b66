"""A filter as a file of its own, and back: what it learned, with its own words.

Documents that wait for a judgement are left out. The engine calls a filter a profile.
"""

from __future__ import annotations

import base64
import binascii
import tempfile
from pathlib import Path

import numpy as np

from bayesift.arrays import IntArray
from bayesift.errors import DataError
from bayesift.filtering import FilterEngine, ProfileState, VectorSpace
from bayesift.filtering.saving import filter_content, read_content
from bayesift.model_file import save_model
from bayesift.service.files import check_unpacked

_MAX_UNPACKED_BYTES = 32 * 1024 * 1024
_COLUMN_ARRAYS = ("terms", "counted", "kept.columns")


def exported_filter(space: VectorSpace, state: ProfileState) -> bytes:
    """Return a model file (one zip) of a filter, which `bayesift filter run` can start from."""
    state = _learned(state)
    used = np.unique(np.concatenate([state.arrays[name] for name in _COLUMN_ARRAYS]))
    used = used.astype(np.int64)
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


def read_filter(model: bytes) -> tuple[VectorSpace, ProfileState]:
    """Read the first filter of a model file with the space it was learned in."""
    if not model.startswith(b"PK\x03\x04"):
        raise DataError("not a model file")
    check_unpacked(model, _MAX_UNPACKED_BYTES)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "profile.zip"
        file.write_bytes(model)
        try:
            content = read_content(file)
        except DataError as error:
            raise DataError(error.message) from error
    if not content.states:
        raise DataError("the file holds no filter")
    state = _learned(content.states[0])
    state.profile()  # refuses a state that does not fit together
    if any(state.arrays[name].max(initial=-1) >= len(content.space) for name in _COLUMN_ARRAYS):
        raise DataError("the filter has words that the file does not name")
    return content.space, state


def install_filter(engine: FilterEngine, name: str, model: str) -> None:
    """Take a filter into an engine under a name; `model` is the file in base 64."""
    try:
        space, state = read_filter(base64.b64decode(model, validate=True))
    except binascii.Error as error:
        raise DataError("not a model file") from error
    ours = engine.space
    if (space.stemmer, space.stop_words, space.unspaced) != (
        ours.stemmer,
        ours.stop_words,
        ours.unspaced,
    ):
        raise DataError(
            "the filter reads words in another way (stems, stop words, scripts) than this service"
        )
    moved = _moved(state, ours.add_words(space.words_of(range(len(space)))))
    moved.header.update(name=name)
    engine.profiles[name] = moved.profile()
    engine.starts[name] = moved


def _learned(state: ProfileState) -> ProfileState:
    """Return a state without documents that wait and without the names of judged ones."""
    arrays = dict(state.arrays)
    for name in arrays:
        if name.startswith("pending."):
            arrays[name] = arrays[name][:0]
    header = {**state.header, "pending": [], "verdicts": {}, "paused": False}
    return ProfileState(header, arrays)


def _moved(state: ProfileState, columns: IntArray) -> ProfileState:
    """Return a state over other columns."""
    arrays = dict(state.arrays)
    for name in _COLUMN_ARRAYS:
        arrays[name] = columns[arrays[name]].astype(np.int32)
    n_columns = int(arrays["counted"].max(initial=-1)) + 1
    return ProfileState({**state.header, "n_columns": n_columns}, arrays)
