import json
import os
import zipfile
from contextlib import suppress

import numpy as np
import pytest

from bayesift import DataError, files, model_file
from bayesift.model_file import ModelContent, check_place, load_model, save_model

CONTENT = ModelContent(
    {"kind": "test", "categories": ["grain", "blé"]},
    {
        "weights": np.arange(6.0).reshape(2, 3),
        "columns": np.array([1, 2], dtype=np.int32),
        "none": np.zeros((0, 4)),
    },
    {"vocabulary": ["corn", "blé", "new york"], "empty": []},
)


def assert_same(content, other):
    assert content.header == other.header
    assert content.lists == other.lists
    assert content.arrays.keys() == other.arrays.keys()
    for name, array in content.arrays.items():
        np.testing.assert_array_equal(array, other.arrays[name])
        assert array.dtype == other.arrays[name].dtype


@pytest.mark.parametrize("name", ["model", "model.zip", "deep/er/model.zip"])
def test_round_trip(tmp_path, name):
    save_model(CONTENT, tmp_path / name)
    assert_same(load_model(tmp_path / name), CONTENT)
    leftovers = {path.name for path in (tmp_path / name).parent.iterdir()}
    assert leftovers == {(tmp_path / name).name}


@pytest.mark.parametrize("name", ["model", "model.zip"])
def test_saving_again_replaces(tmp_path, name):
    save_model(ModelContent({"kind": "old"}, {"old": np.ones(1)}), tmp_path / name)
    save_model(CONTENT, tmp_path / name)
    assert_same(load_model(tmp_path / name), CONTENT)
    assert len(list(tmp_path.iterdir())) == 1


def test_same_content_is_the_same_file(tmp_path):
    for name in ("a.zip", "b.zip"):
        save_model(CONTENT, tmp_path / name)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


@pytest.mark.parametrize("name", ["model", "model.zip"])
def test_interrupted_save_leaves_the_old_model(tmp_path, name, monkeypatch):
    save_model(CONTENT, tmp_path / name)

    def interrupt(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save_model(ModelContent({"kind": "new"}), tmp_path / name)
    assert_same(load_model(tmp_path / name), CONTENT)
    assert len(list(tmp_path.iterdir())) == 1


def test_places_that_hold_something_else_are_refused(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "diary.txt").write_text("dear diary")
    with pytest.raises(DataError, match="something else in it"):
        save_model(CONTENT, tmp_path / "notes")
    (tmp_path / "file").write_text("text")
    with pytest.raises(DataError, match="is a file"):
        save_model(CONTENT, tmp_path / "file")
    with pytest.raises(DataError, match="cannot be written"):
        save_model(CONTENT, tmp_path / "file" / "model.zip")
    assert (tmp_path / "notes" / "diary.txt").read_text() == "dear diary"


def test_names_with_line_breaks_cannot_be_saved(tmp_path):
    with pytest.raises(DataError, match="line break"):
        save_model(ModelContent({}, {}, {"vocabulary": ["a\nb"]}), tmp_path / "model")


def damage(folder, change):
    header = json.loads((folder / "model.json").read_text())
    change(header)
    (folder / "model.json").write_text(json.dumps(header))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: h.update(format="pickle"), "not a model file"),
        (lambda h: h.update(format_version=3), "newer bayesift"),
        (lambda h: h.update(format_version="1"), "no format version"),
        (lambda h: h.update(format_version=True), "no format version"),
        (lambda h: h.update(model=[]), "describes no model"),
        (lambda h: h.pop("files"), "lists no files"),
        (lambda h: h["files"].update({"../../secret.txt": "0"}), "lists a file"),
        (lambda h: h["files"].update({"code.py": "0"}), "lists a file"),
        (lambda h: h["files"].update({"more.txt": "0"}), "no more.txt"),
        (
            lambda h: h["files"].update({"vocabulary.txt": "0"}),
            "vocabulary.txt is not what was saved",
        ),
    ],
)
def test_wrong_headers_are_refused(tmp_path, change, message):
    save_model(CONTENT, tmp_path / "model")
    damage(tmp_path / "model", change)
    with pytest.raises(DataError, match=message):
        load_model(tmp_path / "model")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"[" * 100_000,
        b"\xff\xfe",
        b'{"format": "bayesift-model-file"}',
    ],
)
def test_headers_that_are_no_headers_are_refused(tmp_path, data):
    save_model(CONTENT, tmp_path / "model")
    (tmp_path / "model" / "model.json").write_bytes(data)
    with pytest.raises(DataError, match="model"):
        load_model(tmp_path / "model")


def test_what_is_no_model_is_refused(tmp_path):
    for name, content in [
        ("a.zip", b"PK\x03\x04 nonsense"),
        ("text", b"hello"),
        ("empty.zip", b""),
    ]:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DataError, match="not a model file"):
            load_model(tmp_path / name)
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(DataError, match=r"no model\.json"):
        load_model(tmp_path / "other.zip")
    with pytest.raises(DataError, match="no such model"):
        load_model(tmp_path / "nowhere")


def test_oversized_models_are_refused(tmp_path, monkeypatch):
    save_model(CONTENT, tmp_path / "model")
    save_model(CONTENT, tmp_path / "model.zip")
    monkeypatch.setattr(model_file, "MAX_BYTES", 100)
    for name in ("model", "model.zip"):
        with pytest.raises(DataError, match="100 bytes; refused"):
            load_model(tmp_path / name)


@pytest.mark.parametrize(
    "name", ["model.zip", "model/arrays.safetensors", "model/vocabulary.txt"]
)
def test_flipped_bytes_never_pass(tmp_path, name):
    save_model(CONTENT, tmp_path / name.partition("/")[0])
    whole = (tmp_path / name).read_bytes()
    random = np.random.default_rng(0)
    for _ in range(150):
        mutated = bytearray(whole)
        mutated[random.integers(len(mutated))] ^= 1 << random.integers(8)
        (tmp_path / name).write_bytes(mutated)
        with suppress(DataError):
            assert_same(load_model(tmp_path / name.partition("/")[0]), CONTENT)


def test_mapped_arrays_are_the_same_and_stay_in_the_file(tmp_path):
    arrays = {
        "a": np.arange(5.0),
        "b": np.arange(6, dtype=np.int32).reshape(2, 3),
        "c": np.array([True, False]),
    }
    save_model(ModelContent({"kind": "test"}, {**arrays, "d": np.array(7)}), tmp_path / "model")
    mapped = load_model(tmp_path / "model", mapped=True).arrays
    for name, array in arrays.items():
        np.testing.assert_array_equal(mapped[name], array)
        assert mapped[name].dtype == array.dtype
        mapped[name].flat[0] = 9
    assert load_model(tmp_path / "model").arrays["a"][0] == 0
    with (tmp_path / "model" / "arrays.safetensors").open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"x")
    with pytest.raises(DataError, match="not what was saved"):
        load_model(tmp_path / "model", mapped=True)


def test_files_of_development_versions_are_refused_in_one_sentence(tmp_path):
    save_model(ModelContent({"kind": "x"}, {}, {}), tmp_path / "m")
    header = json.loads((tmp_path / "m" / model_file.HEADER).read_text())
    header["format"] = "bayesift-model"
    (tmp_path / "m" / model_file.HEADER).write_text(json.dumps(header))
    with pytest.raises(DataError, match=r"before 0\.3"):
        load_model(tmp_path / "m")


@pytest.mark.parametrize("name", ["pipe", "pipe.zip"])
def test_a_device_is_never_replaced(tmp_path, name):
    # A pipe stands for /dev/null, which a test that fails must not destroy.
    os.mkfifo(tmp_path / name)
    with pytest.raises(DataError, match="is a device"):
        check_place(tmp_path / name)
    with pytest.raises(DataError, match="is a device"):
        save_model(CONTENT, tmp_path / name)
    assert (tmp_path / name).is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == [name]
