"""2,000 damaged files: no error but DataError, and every record is either read or reported.

The records in a damaged file are counted by a regular expression on its bytes, without bayesift.
"""

import random
import re

import pytest

from bayesift.errors import DataError
from bayesift.references import Decision, Reference, read_references, write_references

WORDS = [
    "a",
    "fire",
    "trial",
    "migraine",
    "réponse",
    "über",
    "IL-6",
    "{dose}",
    "50%",
    "R&D",
    "<i>x</i>",
    "中文",
]
N_RECORDS = 12
N_FILES = 2_000


def references():
    rng = random.Random(7)
    for number in range(N_RECORDS):
        yield Reference(
            id=f"key{number}",
            title=f"Title {number} " + " ".join(rng.choices(WORDS, k=6)),
            abstract=" ".join(rng.choices(WORDS, k=60)),
            authors=("Ash, Ann", "Müller, Jörg"),
            year=1990 + number,
            journal="Journal of Soils",
            volume="3",
            issue="2",
            pages="12-19",
            doi=f"10.1000/x.{number}",
            pmid=str(1000 + number),
            keywords=("erosion", "fire"),
            url="https://example.org/1",
            language="English",
            type="JOUR",
            notes=("A note",),
            decisions=(Decision("included", "Ann"),) if number % 3 == 0 else (),
        )


# The start of a record, and the message about one that lacks it.
STARTS = {
    ".ris": (rb"^TY  -|^\s*(?i:TY)\s{0,4}-\s*(?i:JOUR)\s*$", "record without TY"),
    ".nbib": (rb"^PMID-( |$)", "record without PMID"),
    ".ciw": (rb"^PT( |$)", "record without PT"),
    ".enw": (rb"^%0(\s|$)", "record without %0"),
    ".xml": (rb"<record>", "record without its first tag"),
    ".bib": (rb"(?:^|(?<=[})]))[ \t]*@[ \t]*(?!comment|string|preamble)[A-Za-z]+\s*[{(]", None),
    ".jsonl": (rb"^.*\S.*$", None),
    ".csv": (rb"^key\d+,", None),
    ".tsv": (rb"^key\d+\t", None),
    ".xlsx": (None, None),
    ".parquet": (None, None),
}
TABLES = (".csv", ".tsv", ".jsonl")


def damage(content, rng):
    """Bytes with one to three accidents."""
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(content) or 1)
        kind = rng.choice(["delete", "insert", "swap", "cut", "repeat", "overwrite"])
        size = rng.choice([1, 1, 3, 10, 60, 400])
        if kind == "delete":
            content = content[:place] + content[place + size :]
        elif kind == "insert":
            content = (
                content[:place]
                + bytes(rng.choices(b'\x00\xff\xc3 \n\r\t"{}<>@%,;aZ-', k=min(size, 10)))
                + content[place:]
            )
        elif kind == "overwrite":
            content = (
                content[:place] + rng.randbytes(min(size, 4)) + content[place + min(size, 4) :]
            )
        elif kind == "cut":
            content = content[:place] if rng.random() < 0.5 else content[place:]
        else:
            lines = content.split(b"\n")
            i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[i], lines[j] = (
                (lines[j], lines[i]) if kind == "swap" else (lines[i], lines[i])
            )
            content = b"\n".join(lines)
    return content


def count(content, suffix):
    pattern, _ = STARTS[suffix]
    text = (
        content if suffix in TABLES else content.replace(b"\x00", b"")
    )  # NUL is left out of tagged lines
    if suffix != ".jsonl":
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return len(re.findall(pattern, text, re.MULTILINE))


@pytest.mark.parametrize("suffix", STARTS)
def test_nothing_is_lost_silently(suffix, tmp_path):
    whole = tmp_path / f"whole{suffix}"
    write_references(references(), whole)
    content, file = whole.read_bytes(), tmp_path / f"damaged{suffix}"
    rng = random.Random(suffix)
    refused = 0
    for _ in range(N_FILES // len(STARTS) + 1):
        damaged = damage(content, rng)
        file.write_bytes(damaged)
        try:
            found = read_references(file)
        except DataError:
            refused += 1  # of the whole file, with a message
            continue
        read, reported = len(found), found.files[0].refused
        assert read == found.files[0].records
        if STARTS[suffix][0] is None:
            continue
        at_least = at_most = count(damaged, suffix)
        if STARTS[suffix][1]:
            at_most += sum(STARTS[suffix][1] in problem.message for problem in found.problems)
        if suffix == ".xml":
            at_least = at_most
        if suffix in (
            ".csv",
            ".tsv",
        ):  # a row whose id is damaged, or a part of a row, is a row
            at_most = len(re.findall(rb"[^\r\n]+", damaged)) - 1
        assert at_least <= read + reported <= at_most, (damaged, found.problems)
    assert refused < N_FILES // len(STARTS) // 2 or suffix in (".xlsx", ".parquet")
