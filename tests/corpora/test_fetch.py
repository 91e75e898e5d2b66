import hashlib
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bayesift.corpora.fetch import RemoteFile, fetch
from bayesift.errors import DataError

CONTENT = bytes(range(256)) * 2000
DIGEST = hashlib.sha256(CONTENT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """Serves CONTENT; what the server's `faults` list says goes wrong, a fault a request."""

    def do_GET(self):
        server = self.server
        server.ranges.append(self.headers.get("Range"))
        fault = server.faults.pop(0) if server.faults else None
        if isinstance(fault, int):
            self.send_error(fault)
            return
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range") or "")
        start = int(asked[1]) if asked and server.knows_ranges else 0
        if start >= len(CONTENT):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(CONTENT)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(CONTENT) - start))
        self.end_headers()
        end = start + 100_000 if fault == "cut" else len(CONTENT)
        self.wfile.write(CONTENT[start:end])

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.faults, server.ranges, server.knows_ranges = [], [], True
        server.url = f"http://127.0.0.1:{server.server_port}/file"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def bring(server, directory, *, sha256=DIGEST, progress=lambda file, done, total: None):
    pauses = []
    (fetched,) = fetch(
        [RemoteFile("sub/file", server.url, sha256)], directory, progress, pause=pauses.append
    )
    return fetched, pauses


def test_fetches_checks_and_puts_in_place(server, tmp_path):
    steps = []
    fetched, _ = bring(
        server, tmp_path, progress=lambda file, done, total: steps.append((done, total))
    )
    assert fetched.path.read_bytes() == CONTENT
    assert (fetched.downloaded, fetched.verified, fetched.sha256) == (True, True, DIGEST)
    assert steps[0] == (0, len(CONTENT))
    assert steps[-1] == (len(CONTENT), len(CONTENT))
    assert [path.name for path in (tmp_path / "sub").iterdir()] == ["file"]


def test_what_is_there_is_left_alone(server, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "file").write_bytes(b"mine")
    fetched, _ = bring(server, tmp_path)
    assert server.ranges == []
    assert (fetched.downloaded, fetched.verified) == (False, False)
    assert fetched.path.read_bytes() == b"mine"


def test_goes_on_after_interruptions(server, tmp_path):
    server.faults = ["cut", 503, "cut"]
    fetched, pauses = bring(server, tmp_path)
    assert fetched.path.read_bytes() == CONTENT
    assert server.ranges == [None, "bytes=100000-", "bytes=100000-", "bytes=200000-"]
    assert pauses == [1, 2, 4]


def test_goes_on_in_another_run(server, tmp_path):
    server.faults = ["cut"] * 4
    with pytest.raises(DataError, match="run it again to go on"):
        bring(server, tmp_path)
    assert not (tmp_path / "sub" / "file").exists()
    fetched, _ = bring(server, tmp_path)
    assert fetched.path.read_bytes() == CONTENT
    assert server.ranges[-1] == "bytes=400000-"


def test_server_without_ranges_starts_afresh(server, tmp_path):
    server.knows_ranges = False
    server.faults = ["cut"]
    fetched, _ = bring(server, tmp_path)
    assert server.ranges == [None, "bytes=100000-"]
    assert fetched.path.read_bytes() == CONTENT


@pytest.mark.parametrize("leftover", [CONTENT, CONTENT + b"more"])
def test_leftover_that_is_whole_or_too_long(server, tmp_path, leftover):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "file.part").write_bytes(leftover)
    fetched, _ = bring(server, tmp_path)
    assert fetched.path.read_bytes() == CONTENT


def test_wrong_checksum_is_refused_and_discarded(server, tmp_path):
    with pytest.raises(DataError, match=f"has SHA-256 {DIGEST}, where 00"):
        bring(server, tmp_path, sha256="00" * 32)
    assert list((tmp_path / "sub").iterdir()) == []


def test_without_published_checksum_it_is_computed(server, tmp_path):
    fetched, _ = bring(server, tmp_path, sha256=None)
    assert (fetched.sha256, fetched.verified) == (DIGEST, None)


def test_not_found_is_final(server, tmp_path):
    server.faults = [404]
    with pytest.raises(DataError, match="HTTP 404"):
        bring(server, tmp_path)
    assert len(server.ranges) == 1


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://no-such-host.invalid/a", "is there a network"),
        ("http://127.0.0.1:1/a", "cannot be reached"),
        ("file:///etc/passwd", "neither http nor https"),
        ("ftp://example.org/a", "neither http nor https"),
    ],
)
def test_unreachable_or_refused(tmp_path, url, message):
    with pytest.raises(DataError, match=message) as caught:
        fetch([RemoteFile("a", url)], tmp_path, pause=lambda seconds: None)
    assert "\n" not in str(caught.value)


def test_directory_that_cannot_be_written(server, tmp_path):
    (tmp_path / "sub").write_text("a file where a folder should be")
    with pytest.raises(DataError, match="cannot be written"):
        bring(server, tmp_path)
