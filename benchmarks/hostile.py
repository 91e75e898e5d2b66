"""Send hostile files and bodies to a service while ten people work, and measure what they notice.

A real server runs in a process of its own. Five people judge documents of a filter and five decide
on records of a review, while one sends files and bodies that are made to take long or much memory.
The table has the longest answers of the health check, of judgements and of decisions, and the most
memory that the server and its processes took together.

    python -m benchmarks.hostile
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.service import _Caller, _person, _server, _timed

UPLOAD = "/api/uploads?name="
READ = "/api/documents/read?name="
BATCH = "/api/documents/batch"
_MB = 1_000_000
_JSON = "application/json"


class Attack(NamedTuple):
    """A request that is made to stall the service."""

    name: str
    path: str
    content: Callable[[], bytes]
    role: str = "reviewer"


def attacks(scale: float = 1.0) -> list[Attack]:
    """List the attacks; `scale` makes them smaller."""
    found = list(_bodies(scale))
    for name, content in _files(scale):
        found.append(Attack(f"{name} as records", f"{UPLOAD}{name}", content))
        found.append(Attack(f"{name} as documents", f"{READ}{name}", content))
    for name, content in _archives(scale):
        found.append(Attack(f"{name} as project", f"/api/reviews/project?name={name}", content))
        found.append(Attack(f"{name} as filter", "/api/filters/import", content))
    return found


def _bodies(scale: float) -> Iterator[Attack]:
    size = partial(_scaled, scale)
    empty = size(550_000)
    yield Attack("1.1 MB of {}", BATCH, lambda: b"[" + b"{}," * (empty // 2) + b"{}]")
    documents = b'{"documents": [' + b"{}," * (empty // 2) + b"{}]}"
    yield Attack("1.1 MB of {} in documents", BATCH, lambda: documents)
    lists = size(15 * _MB)
    yield Attack("30 MB of [] by a reader", BATCH, lambda: b"[]," * lists, "reader")
    yield Attack("30 MB of [ by a reader", BATCH, lambda: b"[" * 2 * lists, "reader")
    yield Attack("deep JSON", BATCH, lambda: b"[" * size(_MB) + b"]" * size(_MB))
    yield Attack("deep objects", BATCH, lambda: b'{"a":' * size(300_000))
    yield Attack("long numbers", BATCH, lambda: b'{"documents":' + b"9" * size(_MB) + b"}")
    yield Attack("40 documents of 780 kB", BATCH, lambda: _documents(40, size(780_000)))
    yield Attack("documents of distinct words", BATCH, lambda: _distinct(20, size(100_000)))
    line = b'{"id": "x", "text": "' + b"a " * size(20 * _MB)
    yield Attack("a line without end", "/api/documents/stream", lambda: line)
    nul = json.dumps({"documents": [{"id": "n", "text": "\0" * size(900_000)}]}).encode()
    yield Attack("a document of NUL bytes", BATCH, lambda: nul)
    words = {"name": "w", "words": {f"w{number}": 1.0 for number in range(size(100_000))}}
    yield Attack("100,000 keywords", "/api/filters", lambda: json.dumps(words).encode())


def _files(scale: float) -> Iterator[tuple[str, Callable[[], bytes]]]:
    size = partial(_scaled, scale)
    yield "braces.bib", lambda: b"@article{a, title={" + b"{" * size(300_000)
    yield "quotes.bib", lambda: b'@article{a, title="' + b'" # "' * size(60_000)
    yield "entries.bib", lambda: b"@article{" * size(30_000)
    yield "tags.nbib", lambda: b"PMID- 1\n" + b"      \n" * size(8_000)
    yield "continued.nbib", lambda: b"PMID- 1\nAB  - a\n" + b"      a\n" * size(200_000)
    yield "noend.ris", lambda: b"TY  - JOUR\nTI  - a\n" * size(200_000)
    yield "abstract.ris", lambda: _record(b"a b " * size(12_500_000))
    yield "nul.ris", lambda: _record(b"\0" * size(5 * _MB))
    yield "columns.csv", lambda: b",".join([b"a"] * size(100_000)) + b"\n1\n2\n"
    yield "quote.csv", lambda: b'text,label\n"' + b"a,b\n" * size(5 * _MB)
    yield "quotes.csv", lambda: b"text,label\n" + b'"a""' * size(2 * _MB)
    yield "lines.csv", lambda: b"text,label\n" + b"\n" * size(20 * _MB)
    yield "deep.json", lambda: b"[" * size(_MB)
    yield "lists.json", lambda: b"[" + b"[]," * size(5 * _MB) + b"[]]"
    yield "bomb.parquet", lambda: _parquet(size(500_000_000))
    yield "bomb.csv.gz", lambda: gzip.compress(b"a,b\n" * size(100 * _MB))
    yield "strings.xlsx", lambda: _workbook(size(30 * _MB), 1)
    yield "sheets.xlsx", lambda: _workbook(1_000, size(5_000))
    yield "entities.xml", lambda: _entities()
    yield "garbage.ris", lambda: bytes(range(256)) * size(20_000)


def _archives(scale: float) -> Iterator[tuple[str, Callable[[], bytes]]]:
    size = partial(_scaled, scale)
    yield "bomb.zip", lambda: _zip({"records.parquet": b"\0" * size(300 * _MB)})
    yield "many.zip", lambda: _zip({f"{number}": b"" for number in range(size(50_000))})
    yield "forged.zip", lambda: _forged_zip()
    inner = {
        "project.json": b"[" * size(_MB),
        "records.parquet": b"PAR1",
        "decisions.jsonl": b"",
    }
    yield "deep.zip", lambda: _zip(inner)


def _scaled(scale: float, n: int) -> int:
    return max(1, int(scale * n))


def _documents(n: int, characters: int) -> bytes:
    text = "corn " * (characters // 5)
    made = [{"id": f"big{number}", "text": text} for number in range(n)]
    return json.dumps({"documents": made}).encode()


def _distinct(n: int, words: int) -> bytes:
    made = []
    for number in range(n):
        text = " ".join(f"w{number}x{word}" for word in range(words))
        made.append({"id": f"words{number}", "text": f"corn {text}"[:990_000]})
    return json.dumps({"documents": made}).encode()


def _record(abstract: bytes) -> bytes:
    return b"TY  - JOUR\nTI  - a\nAB  - " + abstract + b"\nER  - \n"


def _parquet(rows: int) -> bytes:
    """Return a small file of one repeated text that decodes to very much."""
    text = pa.DictionaryArray.from_arrays(
        pa.array([0] * 1_000, pa.int32()), pa.array(["a" * 999])
    )
    table = pa.table({"text": text})
    stream = io.BytesIO()
    with pq.ParquetWriter(stream, table.schema) as writer:
        for _ in range(max(1, rows // 1_000_000)):
            writer.write_table(table)
    return stream.getvalue()


def _workbook(strings: int, sheets: int) -> bytes:
    """Return a workbook with a table of strings of some bytes and some sheets."""
    head = '<?xml version="1.0"?>'
    space = "http://schemas.openxmlformats.org"
    names = "".join(
        f'<sheet name="s{n}" sheetId="{n}" r:id="r{n}"/>' for n in range(1, sheets + 1)
    )
    parts = {
        "[Content_Types].xml": f'{head}<Types xmlns="{space}/package/2006/content-types"/>',
        "xl/workbook.xml": f'{head}<workbook xmlns="{space}/spreadsheetml/2006/main" '
        f'xmlns:r="{space}/officeDocument/2006/relationships"><sheets>{names}</sheets></workbook>',
        "xl/sharedStrings.xml": f'{head}<sst xmlns="{space}/spreadsheetml/2006/main">'
        + "<si><t>a</t></si>" * (strings // 17)
        + "</sst>",
    }
    return _zip({name: text.encode() for name, text in parts.items()})


def _entities() -> bytes:
    lines = ['<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a0 "aaaaaaaaaa">']
    for number in range(1, 10):
        lines.append(f'<!ENTITY a{number} "{f"&a{number - 1};" * 10}">')
    lines.append("]><xml><records><record><title>&a9;</title></record></records></xml>")
    return "\n".join(lines).encode()


def _zip(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def _forged_zip() -> bytes:
    """Return an archive that says that its content is small."""
    content = bytearray(_zip({"records.parquet": b"\0" * (50 * _MB)}))
    size = (50 * _MB).to_bytes(4, "little")
    return bytes(content.replace(size, (10).to_bytes(4, "little")))


class Watch:
    """The longest answers that people got, and the most memory of the server."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.end = threading.Event()
        self.longest = {"health": 0.0, "judge": 0.0, "decide": 0.0}
        self.memory = 0.0
        self.errors: list[str] = []

    def note(self, name: str, call: Callable[[], object]) -> None:
        """Time a call."""
        milliseconds, _ = _timed(call)
        self.longest[name] = max(self.longest[name], milliseconds)

    def follow_memory(self) -> None:
        """Note the memory of the server and its processes until the end."""
        while not self.end.wait(0.2):
            self.memory = max(self.memory, sum(map(_megabytes, _family(self._pid))))

    def taken(self) -> dict[str, float]:
        """Return what was noted since the last call."""
        found = {**self.longest, "memory": self.memory}
        self.longest = dict.fromkeys(self.longest, 0.0)
        self.memory = 0.0
        return found


def _family(pid: int) -> list[int]:
    """Return a process and all that it started."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(stat.parent.name)] = int(fields[1])
    family = [pid]
    for member in family:
        family += [child for child, parent in parents.items() if parent == member]
    return family


def _megabytes(pid: int) -> float:
    """Return the memory of a process, shared pages divided among those who share them."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def run(
    scale: float, only: str = "", n_people: int = 10
) -> list[tuple[str, str, float, dict[str, float]]]:
    """Send everything; return for each attack its name, the answer, seconds and what was noted."""
    found = []
    with ExitStack() as stack:
        place = stack.enter_context(tempfile.TemporaryDirectory())
        server = _server(Path(place) / "service")
        process, port, token, _ = stack.enter_context(server)
        admin = _Caller(port, token)
        review = _set_up(admin)
        watch = Watch(process.pid)
        callers = [_Caller(port, _person(admin, number)) for number in range(n_people)]
        threads = [threading.Thread(target=watch.follow_memory)]
        threads.append(threading.Thread(target=_probe, args=(_Caller(port, token), watch)))
        for number, caller in enumerate(callers):
            work = _judge if number % 2 else partial(_decide, review=review)
            threads.append(threading.Thread(target=work, args=(caller, watch, number)))
        for thread in threads:
            thread.start()
        try:
            tokens = _attackers(admin)
            for attack in attacks(scale):
                if only not in attack.name:
                    continue
                start = time.perf_counter()
                answer = _send(port, tokens[attack.role], attack)
                seconds = time.perf_counter() - start
                found.append((attack.name, answer, seconds, watch.taken()))
                print(_line(*found[-1]), flush=True)
            start = time.perf_counter()
            answer = _large_review(_Caller(port, tokens["reviewer"]), scale)
            seconds = time.perf_counter() - start
            found.append(("a review of 80,000 records", answer, seconds, watch.taken()))
            print(_line(*found[-1]), flush=True)
        finally:
            watch.end.set()
            for thread in threads:
                thread.join()
        if watch.errors:
            raise RuntimeError(watch.errors[0])
    return found


def _set_up(admin: _Caller) -> str:
    admin.ask("POST", "/api/filters", json.dumps({"name": "grain", "query": "corn"}).encode())
    documents = [{"id": f"d{n}", "text": f"corn and wheat {n}"} for n in range(200)]
    admin.ask("POST", BATCH, json.dumps({"documents": documents}).encode())
    records = "".join(f"TY  - JOUR\nTI  - corn {n}\nER  - \n" for n in range(6_000))
    sent = admin.ask("POST", f"{UPLOAD}a.ris", records.encode())
    body = {"name": "work", "uploads": [sent["upload"]], "join_duplicates": False}
    review = str(admin.ask("POST", "/api/reviews", json.dumps(body).encode())["id"])
    admin.ask("GET", f"/api/reviews/{review}/next")
    return review


def _attackers(admin: _Caller) -> dict[str, str]:
    tokens = {}
    for role in ("reviewer", "reader"):
        body = json.dumps({"name": f"hostile {role}", "role": role}).encode()
        tokens[role] = str(admin.ask("POST", "/api/users", body)["token"])
    return tokens


def _judge(caller: _Caller, watch: Watch, number: int) -> None:
    path = "/api/filters/grain/judgements"
    count = 0
    while not watch.end.wait(0.3):
        document = f"d{(number * 17 + count) % 200}"
        count += 1
        body = json.dumps({"document": document, "relevant": bool(count % 2)}).encode()
        _guarded(watch, "judge", partial(caller.ask, "POST", path, body))


def _decide(caller: _Caller, watch: Watch, number: int, review: str) -> None:
    while not watch.end.wait(0.3):
        found = caller.ask("GET", f"/api/reviews/{review}/next")
        if found["record"] is None:
            return
        body = json.dumps({"record": found["record"]["id"], "verdict": "excluded"}).encode()
        path = f"/api/reviews/{review}/decisions"
        _guarded(watch, "decide", partial(caller.ask, "POST", path, body))


def _probe(caller: _Caller, watch: Watch) -> None:
    while not watch.end.wait(0.05):
        _guarded(watch, "health", partial(caller.ask, "GET", "/healthz"))


def _guarded(watch: Watch, name: str, call: Callable[[], object]) -> None:
    try:
        watch.note(name, call)
    except Exception as error:
        watch.errors.append(f"{name}: {error}")


def _send(port: int, token: str, attack: Attack) -> str:
    caller = _Caller(port, token)
    try:
        caller.ask("POST", attack.path, attack.content())
    except RuntimeError as error:  # a refusal
        return str(error).partition(": ")[2][:3]
    except OSError as error:  # the connection was closed on a body that is too large
        return type(error).__name__
    return "200"


def _large_review(caller: _Caller, scale: float) -> str:
    text = "corn wheat barley harvest tonnes exports crop farmers silo trial " * 14
    lines = [
        f"TY  - JOUR\nTI  - study {number} of corn\nAB  - {text}{number}\nER  - \n"
        for number in range(_scaled(scale, 80_000))
    ]
    try:
        sent = caller.ask("POST", f"{UPLOAD}large.ris", "".join(lines).encode())
        body = {"name": "large", "uploads": [sent["upload"]], "join_duplicates": True}
        caller.ask("POST", "/api/reviews", json.dumps(body).encode())
    except (RuntimeError, OSError) as error:
        return str(error)[:60]
    return "201"


def _line(name: str, answer: str, seconds: float, noted: dict[str, float]) -> str:
    return (
        f"| {name} | {answer} | {seconds:.1f} s | {noted['health']:.0f} | {noted['judge']:.0f} | "
        f"{noted['decide']:.0f} | {noted['memory']:.0f} |"
    )


def main() -> None:
    """Read the options, send everything, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="of the sizes of the attacks")
    parser.add_argument("--only", default="", help="attacks with this in their names")
    options = parser.parse_args()
    print("| sent | answer | after | healthz ms | judgement ms | decision ms | memory MB |")
    print("|---|---|---|---|---|---|---|", flush=True)
    found = run(options.scale, options.only)
    most = {key: max(noted[key] for *_, noted in found) for key in found[0][3]}
    print(_line(f"**longest of {len(found)}**", "", sum(each[2] for each in found), most))


if __name__ == "__main__":
    main()
