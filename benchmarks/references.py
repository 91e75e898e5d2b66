"""Read a generated RIS file, and compare with rispy if it is installed.

Run with `python -m benchmarks.references [records]`.

Prints records, CPU seconds and peak memory of each, and the ratio of CPU times. Each reader runs in
a process of its own, so that peaks do not mix. rispy gives a dictionary of tags and interprets
nothing.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

READERS = {
    "bayesift": "from bayesift.references import read_references as read",
    "rispy": "import rispy\nread = lambda path: rispy.load(open(path, encoding='utf-8'))",
}


def write_file(path: Path, n_records: int, seed: int = 0) -> None:
    """Write records of 32 lines and 2.2 KB each, with invented words."""
    rng = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(rng.choices(letters, k=rng.randint(3, 9))) for _ in range(20_000)]

    def some(n: int) -> str:
        return " ".join(rng.choices(words, k=n))

    with path.open("w", encoding="utf-8") as file:
        for number in range(n_records):
            lines = [("TY", "JOUR"), ("ID", str(number)), ("TI", some(12))]
            lines += [("AU", f"{some(1).title()}, {some(1).title()}") for _ in range(5)]
            lines += [
                ("PY", str(rng.randint(1980, 2024))),
                ("DA", "2020/01/02"),
                ("T2", some(4)),
                ("VL", "3"),
            ]
            lines += [
                ("IS", "2"),
                ("SP", "12"),
                ("EP", "19"),
                ("DO", f"10.1000/x.{number}"),
                ("SN", "1234-5678"),
            ]
            lines += [
                ("UR", f"https://example.org/{number}"),
                ("LA", "English"),
                *(("KW", some(2)) for _ in range(8)),
            ]
            lines += [
                ("AD", some(10)),
                ("AB", f"{some(220)} \u00e9"),
                ("N1", some(6)),
                ("ER", ""),
            ]
            file.writelines(f"{tag}  - {value}\n" for tag, value in lines)
            file.write("\n")


def measure(reader: str, path: Path) -> tuple[int, float, float]:
    """Return records, CPU seconds and peak megabytes of one reader in this process."""
    namespace: dict[str, object] = {}
    exec(READERS[reader], namespace)
    start = time.process_time()
    found = namespace["read"](path)  # type: ignore[operator]
    seconds = time.process_time() - start
    return len(found), seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(n_records: int = 80_000) -> None:
    """Measure every reader that is installed."""
    seconds: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.ris"
        write_file(path, n_records)
        print(f"{n_records:,} records, {path.stat().st_size / 2**20:.0f} MB")
        for reader in (name for name in READERS if find_spec(name)):
            command = [sys.executable, "-m", "benchmarks.references", reader, str(path)]
            found, cpu, peak = subprocess.run(
                command, check=True, capture_output=True, text=True
            ).stdout.split()
            seconds[reader] = float(cpu)
            print(
                f"{reader}: {int(found):,} records, {float(cpu):.1f} CPU s, peak "
                f"{float(peak):.0f} MB"
            )
    if len(seconds) > 1:
        print(f"bayesift / rispy: {seconds['bayesift'] / seconds['rispy']:.1f}")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(*measure(sys.argv[1], Path(sys.argv[2])))
    else:
        main(*map(int, sys.argv[1:]))
