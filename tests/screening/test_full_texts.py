"""PDF files of records: kept whole, named by their content, never replaced unseen."""

import io

import pytest

from bayesift.cli.screen_terminal import screen_line_by_line
from bayesift.errors import DataError
from bayesift.references import Reference, ReferenceList
from bayesift.screening import Project, Review
from bayesift.screening.full_texts import FullTextFiles, check_pdf
from bayesift.screening.merging import merge_logs
from bayesift.screening.review_log import Event

PDF = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj
trailer<</Root 1 0 R>>
%%EOF
"""
OTHER = PDF.replace(b"200 200", b"300 300")


@pytest.fixture
def folder(tmp_path):
    records = ReferenceList((Reference(title="Corn"), Reference(title="Gold")))
    Project.create(tmp_path / "a", records).close()
    return tmp_path / "a"


def test_a_file_is_kept_and_found_again(folder):
    with Project(folder, writing=True) as project:
        project.attach("1", "../trial.pdf", PDF, by="ann")
    with Project(folder) as project:
        held = project.full_text_files["1"]
        assert (held.name, held.size, held.by) == (".. trial.pdf", len(PDF), "ann")
        assert project.full_texts.read(held.digest) == PDF
        assert [path.name for path in project.full_texts.folder.iterdir()] == [
            f"{held.digest}.pdf"
        ]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"<html>%%EOF", "is not a PDF"),
        (b"", "is not a PDF"),
        (b" " * 2_000 + PDF, "is not a PDF"),
        (PDF[:-8], "lacks its end"),
        (PDF + bytes(51 * 1024 * 1024), "bytes, more than"),
    ],
)
def test_only_whole_files_of_a_size_are_taken(content, why, folder):
    with pytest.raises(DataError, match=why):
        check_pdf(content)
    with Project(folder, writing=True) as project:
        with pytest.raises(DataError, match=why):
            project.attach("1", "a.pdf", content, by="ann")
        assert (project.events, project.full_texts.troubles()) == ([], [])


def test_a_file_is_replaced_only_by_who_names_it(folder):
    with Project(folder, writing=True) as project:
        project.attach("1", "a.pdf", PDF, by="ann")
        first = project.full_text_files["1"].digest
        with pytest.raises(DataError, match=r"has a full text already: a.pdf, attached by ann"):
            project.attach("1", "b.pdf", OTHER, by="bob")
        project.attach("1", "b.pdf", OTHER, by="bob", replaces=first)
        with pytest.raises(DataError, match=r"b.pdf, attached by bob"):
            project.append("detach", by="ann", record="1", replaces=first)
        project.append(
            "detach", by="ann", record="1", replaces=project.full_text_files["1"].digest
        )
        assert project.full_text_files == {}
        with pytest.raises(DataError, match="no such full text"):
            project.append("detach", by="ann", record="1", replaces=first)


def test_of_two_logs_the_first_file_stays(folder):
    with Project(folder) as project:
        data = {"name": "a.pdf", "digest": "0" * 64, "bytes": 9}
        at = "2026-01-01T0{}:00:00Z"
        ours = [Event("attach", at.format(1), "ann", "1", data)]
        project.accept(ours)
        theirs = [Event("attach", at.format(2), "bob", "1", {**data, "digest": "1" * 64})]
        merged = merge_logs(project, theirs, "ann")
        assert "attached by ann" in merged.left_out[0].why
        project.accept(merged.here)
        assert project.full_text_files["1"].by == "ann"


@pytest.mark.parametrize("digest", ["../../etc/passwd", "", "A" * 64, None, 7])
def test_a_digest_names_no_other_file(digest, folder):
    with Project(folder) as project:
        event = Event(
            "attach", "2026-01-01T01:00:00Z", "ann", "1", {"name": "a", "digest": digest}
        )
        with pytest.raises(DataError, match="no digest"):
            project.check(event)


def test_bits_that_flipped_are_found(folder, tmp_path):
    files = FullTextFiles(tmp_path / "files")
    digest = files.add(PDF)
    path = files.path(digest)
    path.write_bytes(OTHER)
    with pytest.raises(DataError, match="is damaged; attach the file again"):
        files.read(digest)
    assert len(files.troubles()) == 1
    files.add(PDF)
    assert files.troubles() == []
    path.unlink()
    assert "is missing" in files.troubles([digest])[0]


def test_the_terminal_attaches_and_asks_before_it_replaces(folder, tmp_path):
    (tmp_path / "trial.pdf").write_bytes(PDF)
    (tmp_path / "other.pdf").write_bytes(OTHER)
    with Project(folder, writing=True) as project:
        target = io.StringIO()
        lines = (
            f"open 1\nattach {tmp_path}/trial.pdf\nattach {tmp_path}\nattach\nopen 2\nopen 1\n"
        )
        screen_line_by_line(Review(project, "ann"), io.StringIO(lines), target)
        told = target.getvalue()
        assert f"attached trial.pdf ({len(PDF)} bytes)" in told
        assert "cannot be read (Is a directory)" in told
        assert "name the file" in told
        assert "full text: trial.pdf" in told
        lines = f"open 1\nattach {tmp_path}/other.pdf\nattach --replace {tmp_path}/other.pdf\n"
        target = io.StringIO()
        screen_line_by_line(Review(project, "bob"), io.StringIO(lines), target)
        assert "record 1 has trial.pdf, attached by ann; attach --replace" in target.getvalue()
        assert project.full_text_files["1"].name == "other.pdf"


def test_joined_records_keep_a_file(folder):
    with Project(folder, writing=True) as project:
        project.attach("2", "a.pdf", PDF, by="ann")
        project.append("join", by="ann", record="1", records=["2"])
        assert project.full_text_files.keys() == {"1"}
