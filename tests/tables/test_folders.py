import shutil

import pytest

from bayesift.errors import DataError
from bayesift.tables import load_folder


def test_a_folder_a_category(tmp_path, write):
    write("grain/1.txt", "wheat")
    write("crude/sub/2.txt", "oil")
    write("grain/.DS_Store", b"\xff\0")
    corpus = load_folder(tmp_path)
    assert [(d.id, d.text, d.categories) for d in corpus] == [
        ("crude/sub/2.txt", "oil", ("crude",)),
        ("grain/1.txt", "wheat", ("grain",)),
    ]
    assert corpus.splits == ()


def test_splits_on_top(tmp_path, write):
    write("training/grain/1", "wheat")
    write("Test/grain/1", "corn")
    assert {(d.id, d.split) for d in load_folder(tmp_path)} == {
        ("training/grain/1", "train"),
        ("Test/grain/1", "test"),
    }


@pytest.mark.parametrize("kind", ["zip", "gztar"])
def test_archive_with_a_folder_around(tmp_path, write, kind):
    write("news/train/grain/1", "wheat")
    archive = shutil.make_archive(str(tmp_path / "news"), kind, tmp_path, "news")
    (document,) = load_folder(archive)
    assert (document.id, document.categories, document.split) == (
        "train/grain/1",
        ("grain",),
        "train",
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("señor año\n".encode() + b"caf\xe9", ":2: cannot be decoded"),
        (b"a\0b", "NUL byte"),
    ],
)
def test_bad_files(tmp_path, write, content, message):
    write("grain/1", "wheat")
    path = write("grain/2", content)
    with pytest.raises(DataError, match=message) as caught:
        load_folder(tmp_path)
    assert str(caught.value).startswith(str(path))
    corpus = load_folder(tmp_path, skip_bad=True)
    assert (len(corpus), len(corpus.problems)) == (1, 1)


def test_empty_files_are_left_out_and_counted(tmp_path, write):
    write("grain/1", "wheat")
    write("grain/2", b"  \n")
    corpus = load_folder(tmp_path)
    assert corpus.texts == ["wheat"]
    assert [problem.message for problem in corpus.problems] == ["empty document"]


def test_file_outside_of_categories(tmp_path, write):
    write("grain/1", "wheat")
    write("README", "about")
    with pytest.raises(DataError, match="README: lies in no category folder"):
        load_folder(tmp_path)


def test_empty_missing_and_unknown_encoding(tmp_path):
    with pytest.raises(DataError, match="holds no documents"):
        load_folder(tmp_path)
    with pytest.raises(DataError, match="no such file or folder"):
        load_folder(tmp_path / "nothing")
    with pytest.raises(DataError, match="unknown encoding"):
        load_folder(tmp_path, encoding="klingon")


def test_latin_1(tmp_path, write):
    write("grain/1", "maïs".encode("latin-1"))
    assert load_folder(tmp_path, encoding="latin-1").texts == ["maïs"]
    guessed = load_folder(tmp_path)
    assert guessed.texts == ["maïs"]
    assert [str(note) for note in guessed.notes] == [
        "encoding: cp1252 (1 files that are not UTF-8; --encoding)"
    ]
