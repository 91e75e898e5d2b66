import gzip

import pyarrow
import pytest

from bayesift.errors import DataError
from bayesift.tables.loading import check_encoding, describe_damage, open_bytes, read_lines


def zstd(content):
    return pyarrow.Codec("zstd").compress(content, asbytes=True)


@pytest.mark.parametrize(
    ("suffix", "pack"), [("", bytes), (".gz", gzip.compress), (".zst", zstd)]
)
def test_lines_of_plain_and_compressed_files(write, suffix, pack):
    path = write(f"a.txt{suffix}", pack("wheat\nmaïs\r\nend".encode()))
    assert list(read_lines(path)) == ["wheat\n", "maïs\r\n", "end"]


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".zst", zstd)])
@pytest.mark.parametrize("keep", [3, -6])
def test_damaged_compression(write, suffix, pack, keep):
    path = write(f"a.txt{suffix}", pack(bytes(range(256)) * 100)[:keep])
    with pytest.raises(DataError, match=r"a\.txt"):
        list(read_lines(path, "latin-1"))


def test_byte_order_mark_is_no_text(write):
    assert list(read_lines(write("a", b"\xef\xbb\xbfwheat"), "UTF-8")) == ["wheat"]
    assert list(read_lines(write("b", "wheat\n".encode("utf-16")), "utf-16")) == ["wheat\n"]


def test_undecodable_bytes_stay_visible(write):
    lines = list(read_lines(write("a", b"ok\ncaf\xe9\nok"), "utf-8"))
    assert len(lines) == 3
    assert describe_damage(lines[1], "utf-8") == "cannot be decoded as utf-8 (byte 0xe9)"
    assert describe_damage(lines[0], "utf-8") is None
    with pytest.raises(DataError, match="cannot be decoded as utf-16"):
        list(read_lines(write("b", b"\xff\xfea\x00\n\x00\x00\xdc"), "utf-16"))


def test_damage_in_text():
    assert "NUL" in describe_damage("a\0b", "utf-8")
    assert "half a character" in describe_damage("\ud83d", "utf-8")
    assert describe_damage("naïve 😀", "utf-8") is None


@pytest.mark.parametrize("name", ["klingon", "hex", "rot13", "", "a\0b"])
def test_unknown_encodings(name):
    with pytest.raises(DataError, match="unknown encoding"):
        check_encoding(name)


def test_folder_and_missing_file(tmp_path):
    with pytest.raises(DataError, match="is a folder"), open_bytes(tmp_path):
        pass
    with pytest.raises(DataError, match="no such file"), open_bytes(tmp_path / "nothing"):
        pass
