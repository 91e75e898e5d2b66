"""PDF files of records: who may attach, replace and read them, and their way in an archive."""

import io
import zipfile

import pytest

from bayesift.service.checking import check_service
from tests.screening.test_full_texts import OTHER, PDF
from tests.service.test_reviews import begin, ris
from tests.service.worlds import Clients, running


@pytest.fixture
def path(clients):
    review = begin(clients.ada, ("a.ris", ris(0, 6)))["id"]
    return f"/api/reviews/{review}/records/1/full-text.pdf"


def test_a_file_is_shown_as_it_was_sent_and_as_nothing_else(clients, path):
    answer = clients.ada.put(f"{path}?name=Müller.pdf", content=PDF)
    file = answer.json()["file"]
    assert (file["name"], file["size"], file["by"]) == ("Müller.pdf", len(PDF), "ada")
    shown = clients.reader.get(path)
    assert shown.content == PDF
    assert shown.headers["content-type"] == "application/pdf"
    assert shown.headers["x-content-type-options"] == "nosniff"
    assert shown.headers["content-security-policy"].startswith("default-src 'none'")
    assert shown.headers["content-disposition"].startswith("inline; filename*=UTF-8''M%C3%BC")


@pytest.mark.parametrize(
    ("content", "status"), [(b"<script>", 422), (PDF[:-9], 422), (b"", 422)]
)
def test_what_is_no_pdf_is_refused(content, status, clients, path):
    assert clients.ada.put(f"{path}?name=a.pdf", content=content).status_code == status
    assert clients.ada.get(path).status_code == 404


def test_nobody_replaces_or_removes_a_file_that_they_did_not_see(clients, path):
    first = clients.ada.put(f"{path}?name=a.pdf", content=PDF).json()["file"]["digest"]
    refused = clients.bob.put(f"{path}?name=b.pdf", content=OTHER)
    assert refused.status_code == 422
    assert "a.pdf, attached by ada" in refused.json()["detail"]
    assert clients.bob.get(path).content == PDF
    sent = clients.bob.put(f"{path}?name=b.pdf&replaces={first}", content=OTHER)
    second = sent.json()["file"]["digest"]
    assert clients.ada.delete(f"{path}?replaces={first}").status_code == 422
    assert clients.reader.delete(f"{path}?replaces={second}").status_code == 403
    assert clients.ada.delete(f"{path}?replaces={second}").json()["file"] is None


def project_of(clients, path):
    return clients.ada.get(path.partition("/records")[0] + "/project.zip").content


def rewritten(content, change):
    """An archive with other contents of its files."""
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as archive,
        zipfile.ZipFile(stream, "w") as other,
    ):
        for name in archive.namelist():
            other.writestr(name, change(name, archive.read(name)))
    return stream.getvalue()


def test_files_travel_in_the_project_and_are_checked_on_the_way(clients, path, tmp_path):
    clients.ada.put(f"{path}?name=a.pdf", content=PDF)
    content = project_of(clients, path)
    changed = rewritten(
        content, lambda name, data: OTHER if name.startswith("full-texts") else data
    )
    with running(tmp_path / "other", requests_per_second=1e6, burst=10**6) as other:
        there = Clients(other).ada
        refused = there.post("/api/reviews/project?name=a.zip", content=changed)
        assert refused.status_code == 422
        assert "its digest is not that of its name" in refused.json()["detail"]
        there.post("/api/reviews/project?name=a.zip", content=content).raise_for_status()
        assert there.get(path).content == PDF


def test_a_damaged_file_is_named_and_not_shown(clients, path):
    clients.ada.put(f"{path}?name=a.pdf", content=PDF)
    service = clients.service
    (kept,) = service.full_texts.folder.iterdir()
    kept.write_bytes(PDF.replace(b"Pages", b"Pagez"))
    for address in (path, path.partition("/records")[0] + "/project.zip"):
        refused = clients.ada.get(address)
        assert refused.status_code == 409
        assert "record 1, a.pdf, is damaged; attach the file again" in refused.json()["detail"]
        assert str(service.settings.folder) not in refused.text
    digest = clients.ada.get(path.removesuffix("/full-text.pdf")).json()["file"]["digest"]
    clients.ada.put(f"{path}?name=a.pdf&replaces={digest}", content=PDF).raise_for_status()
    assert clients.ada.get(path).content == PDF


def test_the_check_of_a_service_looks_at_full_texts(tmp_path):
    with running(tmp_path / "service") as service:
        digest = service.full_texts.add(PDF)
    assert check_service(tmp_path / "service")[1] == []
    (tmp_path / "service" / "full-texts" / f"{digest}.pdf").write_bytes(OTHER)
    (trouble,) = check_service(tmp_path / "service")[1]
    assert "is damaged" in trouble
