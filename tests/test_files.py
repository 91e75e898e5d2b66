"""What is written replaces files, never anything else."""

import os

import pytest

from bayesift.errors import DataError
from bayesift.files import check_writable, whole_file
from bayesift.model_file import ModelContent, check_place, save_model


@pytest.fixture
def special(tmp_path):
    """A named pipe, which stands for devices."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


@pytest.mark.parametrize(
    "write",
    [
        check_writable,
        check_place,
        lambda path: whole_file(path).__enter__(),
        lambda path: save_model(ModelContent({"kind": "test"}), path),
    ],
)
def test_a_special_file_is_not_replaced(special, write):
    with pytest.raises(DataError, match="is a device or another special file; name another"):
        write(special)
    assert special.is_fifo()
    assert [path.name for path in special.parent.iterdir()] == ["pipe"]
