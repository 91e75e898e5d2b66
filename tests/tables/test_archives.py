import io
import os
import tarfile
import zipfile

import pytest

from bayesift.errors import DataError
from bayesift.tables.archives import read_members


def tar(path, *members):
    with tarfile.open(path, "w:gz") as archive:
        for name, change in members:
            member = tarfile.TarInfo(name)
            content = b"text"
            member.size = len(content)
            for key, value in change.items():
                setattr(member, key, value)
            archive.addfile(member, io.BytesIO(content))
    return path


def test_reads_tar_in_its_order(tmp_path):
    path = tar(
        tmp_path / "a.tar.gz",
        ("b/2", {}),
        ("b", {"type": tarfile.DIRTYPE, "size": 0}),
        ("a/1", {}),
    )
    assert list(read_members(path)) == [("b/2", b"text"), ("a/1", b"text")]


def test_reads_zip_and_folder_alike(tmp_path):
    (tmp_path / "folder" / "sub").mkdir(parents=True)
    (tmp_path / "folder" / "sub" / "1").write_bytes(b"one")
    (tmp_path / "folder" / "0").write_bytes(b"zero")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.mkdir("sub")
        archive.writestr("0", b"zero")
        archive.writestr("sub/1", b"one")
    expected = [("0", b"zero"), ("sub/1", b"one")]
    assert list(read_members(tmp_path / "folder")) == expected
    assert list(read_members(tmp_path / "a.zip")) == expected


def test_reads_only_what_is_wanted(tmp_path):
    path = tar(tmp_path / "a.tar.gz", ("a", {}), ("b", {}))
    assert [name for name, _ in read_members(path, wanted=lambda name: name == "b")] == ["b"]


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../out", "a/../../out", "..\\out", "C:\\out", "C:out"]
)
def test_refuses_names_that_leave(tmp_path, name):
    with pytest.raises(DataError, match="outside the archive"):
        list(read_members(tar(tmp_path / "a.tar.gz", (name, {}))))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(zipfile.ZipInfo(name), b"text")
    with pytest.raises(DataError, match="outside the archive"):
        list(read_members(tmp_path / "a.zip"))


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE]
)
def test_refuses_links_and_devices(tmp_path, kind):
    path = tar(
        tmp_path / "a.tar.gz", ("a", {"type": kind, "linkname": "/etc/passwd", "size": 0})
    )
    with pytest.raises(DataError, match="link or a special file"):
        list(read_members(path))


def test_refuses_links_in_zip_and_folder(tmp_path):
    link = zipfile.ZipInfo("link")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(DataError, match="link or a special file"):
        list(read_members(tmp_path / "a.zip"))
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "link").symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(DataError, match="link or a special file"):
        list(read_members(tmp_path / "folder"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_refuses_a_pipe_instead_of_waiting_for_it(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="link or a special file"):
        list(read_members(tmp_path))


def test_size_is_bounded_before_reading(tmp_path):
    path = tmp_path / "bomb.tar.gz"
    member = tarfile.TarInfo("huge")
    member.size = 10**12  # declared, and not even there
    with tarfile.open(path, "w:gz") as archive:
        archive.fileobj.write(member.tobuf())
    with pytest.raises(DataError, match="more than 1,000 bytes"):
        list(read_members(path, max_bytes=1000))
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(10**6))
    with pytest.raises(DataError, match="more than 1,000 bytes"):
        list(read_members(tmp_path / "bomb.zip", max_bytes=1000))


def test_size_is_bounded_over_all_members(tmp_path):
    path = tar(tmp_path / "a.tar.gz", *((str(i), {}) for i in range(10)))
    with pytest.raises(DataError, match="more than 39 bytes"):
        list(read_members(path, max_bytes=39))
    assert len(list(read_members(path, max_bytes=40))) == 10


@pytest.mark.parametrize("keep", [0, 5, 60, 100])
def test_damaged_archives_are_data_errors(tmp_path, keep):
    whole = tar(tmp_path / "a.tar.gz", *((str(i), {"pax_headers": {}}) for i in range(50)))
    damaged = tmp_path / "damaged.tar.gz"
    damaged.write_bytes(whole.read_bytes()[:keep])
    with pytest.raises(DataError, match="damaged") as caught:
        list(read_members(damaged))
    assert caught.value.file == str(damaged)


def test_encrypted_zip_and_missing_file(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a", b"text")
    content = bytearray((tmp_path / "a.zip").read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1  # the flag that says encrypted
    content[6] |= 1
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(DataError, match="encrypted"):
        list(read_members(tmp_path / "a.zip"))
    with pytest.raises(DataError, match="no such file"):
        list(read_members(tmp_path / "nothing"))
