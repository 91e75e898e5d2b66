"""Fit and measure the weights of `bayesift.screening.linkage`, and time the search.

    python -m benchmarks.duplicates weights     fit the weights on corrupted copies of half of the
                                                records
    python -m benchmarks.duplicates measure     precision and recall on the other half, on real
                                                exports and reviews
    python -m benchmarks.duplicates speed [N]   80,000 records: seconds and memory
    python -m benchmarks.duplicates export DIR  the sets of `measure` as CSV, for
                                                `benchmarks/duplicates_peers.py`

Copies are corrupted as programs and people do it: typing errors, titles without subtitles, names
with initials, short lists of authors, abbreviated journals, abstracts cut or missing, years off by
one, identifiers and other fields missing. Publications that look alike and are not the same are
made too: parts of a series, errata and comments, an abstract at a conference and the paper, reports
of another year, a summary attached to the wrong paper.
"""

from __future__ import annotations

import csv
import os
import random
import re
import resource
import sys
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from bayesift.references import Reference, read_references
from bayesift.screening import find_duplicates
from bayesift.screening.duplicates import candidate_pairs
from bayesift.screening.linkage import WEIGHTS, Fields, compare, fold

DATA = Path(os.environ.get("BAYESIFT_DATA", "."))
REVIEWS = ("Kitchenham_2010", "Nagtegaal_2019")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
JOURNALS = (
    "Journal of Clinical Oncology", "The New England Journal of Medicine",
    "European Heart Journal", "Cephalalgia",
    "British Journal of Anaesthesia", "The Journal of Pain", "Diabetes Care",
    "American Journal of Hypertension",
    "Archives of Physical Medicine and Rehabilitation",
    "The Cochrane Database of Systematic Reviews", "PLoS ONE",
    "Journal of the American Academy of Child and Adolescent Psychiatry", "BMJ", "JAMA", "Lancet",
    "Headache",
)  # fmt: skip


@dataclass(frozen=True)
class Labelled:
    """Records, and a name of the publication of each."""

    references: list[Reference]
    publications: list[str]


def base_records() -> list[Reference]:
    """Return distinct publications of PubMed, Lens and the reviews of Cohen et al.

    The reviews get invented journals.
    """
    records = DATA / "records"
    found = list(
        read_references(
            [records / "nbib" / "pubmed-set.nbib", records / "ris" / "baseline.ris"]
        )
    )
    rng = random.Random(0)
    for path in sorted((DATA / "screening").glob("Cohen_*.csv")):
        with path.open(newline="") as file:
            found += [_with_journal(row, rng) for row in csv.DictReader(file)]
    kept: dict[str, Reference] = {}
    for reference in found:
        if reference.title:
            kept.setdefault(fold(reference.title), reference)
    return list(kept.values())


def _with_journal(row: dict[str, str], rng: random.Random) -> Reference:
    page, year = (
        rng.randint(1, 1800),
        int(float(row.get("year") or 0)) or rng.randint(1985, 2005),
    )
    place = min(int(rng.expovariate(0.2)), len(JOURNALS) - 1)
    return Reference(
        title=row["title"],
        abstract=row["abstract"],
        authors=tuple(row["authors"].split("; ")) if row["authors"] else (),
        year=year,
        journal=JOURNALS[place],
        volume=str(year - 1980 + 7 * place),
        pages=f"{page}-{page + rng.randint(1, 15)}",
        doi=f"10.{rng.randint(1000, 1200)}/{rng.randint(10**6, 10**7)}",
        pmid=row["pubmedID"],
    )


def corrupted(reference: Reference, rng: random.Random) -> Reference:
    """Return a copy with the changes that another database or a person would make."""
    lost = {part for part, share in _LOST.items() if rng.random() < share}
    parts = {part: type(getattr(reference, part))() for part in lost if part != "year"}
    copy = replace(reference, id="", fields=(), **parts)
    if "year" in lost:
        copy = replace(copy, year=None)
    elif copy.year and rng.random() < 0.08:
        copy = replace(copy, year=copy.year + rng.choice((-1, 1)))
    return replace(
        copy,
        title=_title(copy.title, rng),
        abstract=_abstract(copy.abstract, rng),
        authors=_authors(copy.authors, rng),
        journal=_journal(copy.journal, rng),
        pages=_pages(copy.pages, rng),
        volume=_typing_error(copy.volume, rng) if rng.random() < 0.03 else copy.volume,
        doi=_typing_error(copy.doi, rng) if rng.random() < 0.02 else copy.doi,
    )


_LOST = {
    "doi": 0.45, "pmid": 0.6, "abstract": 0.3, "authors": 0.05, "year": 0.05, "journal": 0.1,
    "volume": 0.15,
    "pages": 0.2, "keywords": 0.5,
}  # fmt: skip


def _title(title: str, rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.2:
        for _ in range(rng.randint(1, 3)):
            title = _typing_error(title, rng)
    elif kind < 0.27 and ":" in title and len(title.split(":")[0]) > 25:
        title = title.split(":")[0]
    elif kind < 0.35:
        title = (
            title.replace("randomized", "randomised")
            .replace("-", " ")
            .replace(":", " -")
            .rstrip(".")
        )
    elif kind < 0.45:
        title = rng.choice(
            (title.upper(), f"[{title.rstrip('.')}].", title.title(), f"{title} [Review]")
        )
    elif kind < 0.5:
        title = title.replace("β", "beta").replace("\u03b1", "alpha").replace(" and ", " & ")
    return title


def _typing_error(text: str, rng: random.Random) -> str:
    place = rng.randrange(max(len(text), 1))
    kind = rng.randrange(4)
    before, after = text[:place], text[place + 1 :]
    if kind == 3 and after:
        return before + after[0] + text[place] + after[1:]
    return (
        before
        + ("", rng.choice(LETTERS), text[place : place + 1] + rng.choice(LETTERS), "")[kind]
        + after
    )


def _abstract(abstract: str, rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.15:
        return abstract[: rng.randint(200, 1000)]
    if kind < 0.3:
        return re.sub(r"\b[A-Z]{5,}: ", "", abstract)
    if kind < 0.4:
        return f"{abstract} © {rng.randint(1990, 2020)} The Authors. All rights reserved."
    return abstract


def _authors(authors: tuple[str, ...], rng: random.Random) -> tuple[str, ...]:
    kind = rng.random()
    if kind < 0.35:
        authors = tuple(_initials(author) for author in authors)
    if rng.random() < 0.15:
        authors = (*authors[:3], "et al") if len(authors) > 3 else authors
    if rng.random() < 0.05 and authors:
        place = rng.randrange(len(authors))
        authors = (*authors[:place], _typing_error(authors[place], rng), *authors[place + 1 :])
    return authors


def _initials(author: str) -> str:
    if "," in author:
        last, _, first = author.partition(",")
    else:
        first, _, last = author.rpartition(" ")
    return (
        f"{last.strip()} {''.join(name[0] for name in first.replace('.', ' ').split())}".strip()
    )


def _journal(journal: str, rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.04 and journal:
        return rng.choice(
            (
                "Conference proceedings",
                "Springer",
                "Online",
                "".join(word[0] for word in journal.split()),
            )
        )
    if kind < 0.4:
        words = [
            word
            for word in journal.replace("The ", "").split()
            if word not in ("of", "and", "the")
        ]
        return " ".join(word[: rng.randint(3, 5)] if len(word) > 6 else word for word in words)
    return journal.upper() if kind < 0.5 else journal


def _pages(pages: str, rng: random.Random) -> str:
    first, dash, last = pages.partition("-")
    kind = rng.random()
    if kind < 0.05 and pages:
        return f"e{rng.randint(1000, 99999)}"
    if kind < 0.3 or not dash:
        return first
    if kind < 0.6 and len(first) == len(last):
        return f"{first}-{last[-2:]}"
    return f"pp. {pages}" if kind < 0.7 else pages


def lookalike(reference: Reference, rng: random.Random) -> Reference:
    """Another publication that looks like this one."""
    page = rng.randint(1, 1800)
    doi, pmid = (
        f"10.{rng.randint(1000, 1200)}/{rng.randint(10**6, 10**7)}",
        str(rng.randint(10**6, 10**7)),
    )
    other = replace(reference, id="", fields=(), pmid=pmid, doi=doi, pages=f"{page}-{page + 8}")
    if rng.random() < 0.4:
        other = replace(other, pmid="", doi="")
    year, kind = reference.year or 2000, rng.randrange(6)
    if kind == 0:
        title = f"{other.title.rstrip('.')}. Part {rng.choice(('II', '2', 'III'))}"
        return replace(other, title=title, abstract=_half_new(other, rng))
    if kind == 1:
        return replace(
            other,
            title=rng.choice(("Erratum: ", "Comment on ", "Reply: ")) + other.title,
            abstract="",
        )
    if kind == 2:
        journal = rng.choice(JOURNALS)
        volume = str(rng.randint(1, 120))
        return replace(
            other,
            journal=journal,
            volume=volume,
            year=year - rng.randint(1, 2),
            abstract=_half_new(other, rng),
        )
    if kind == 3:
        volume = str(rng.randint(1, 120))
        return replace(
            other, volume=volume, year=year + rng.randint(2, 6), abstract=_half_new(other, rng)
        )
    words = other.title.split()
    rng.shuffle(words)
    title = " ".join(words[: max(4, len(words) // 2)])
    if kind == 4:
        return replace(other, title=title, abstract=_half_new(other, rng))
    # A summary that was attached to the wrong paper.
    return replace(
        other,
        title=f"{title} {rng.choice(words)} revisited",
        authors=(),
        volume="",
        pages="",
        doi="",
    )


def _half_new(reference: Reference, rng: random.Random) -> str:
    words = reference.abstract.split()
    new = [
        "".join(rng.choices(LETTERS, k=rng.randint(4, 9))) for _ in range(len(words) * 2 // 3)
    ]
    return " ".join(rng.sample(words, len(words) // 3) + new)


def made(half: int, *, seed: int = 0) -> Labelled:
    """Return copies and similar records of one half of the base records."""
    rng = random.Random(seed)
    references: list[Reference] = []
    names: list[str] = []
    for reference in base_records():
        if zlib.crc32(fold(reference.title).encode()) % 2 != half:
            continue
        name = str(len(names))
        group = [reference] + [
            corrupted(reference, rng) for _ in range(rng.choice((0, 0, 1, 1, 2)))
        ]
        if rng.random() < 0.12:
            references.append(lookalike(reference, rng))
            names.append(f"{name} lookalike")
        references += group
        names += [name] * len(group)
    return Labelled(references, names)


def exports() -> Labelled:
    """Return the records of `records/` in the exports of different programs.

    The publication is the DOI, else the title.
    """
    files = [path for path in sorted((DATA / "records").rglob("*")) if path.is_file()]
    references = list(_readable(files))
    by_doi: dict[str, str] = {}
    titles = [fold(reference.title)[:60] for reference in references]
    for reference, title in zip(references, titles, strict=True):
        by_doi.setdefault(reference.doi, title)
    pairs = zip(references, titles, strict=True)
    return Labelled(
        references,
        [by_doi[reference.doi] if reference.doi else title for reference, title in pairs],
    )


def _readable(files: Sequence[Path]) -> Iterator[Reference]:
    for path in files:
        try:
            yield from read_references(path)
        except ValueError as error:
            print(f"left out: {error}", file=sys.stderr)


def review(name: str) -> Labelled:
    """Return a published review whose duplicates were marked by hand."""
    with (DATA / "screening" / f"{name}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    references = [
        Reference(
            title=row["title"],
            abstract=row["abstract"],
            year=int(float(row.get("year") or 0)) or None,
        )
        for row in rows
    ]
    return Labelled(
        references,
        [row["duplicate_record_id"].removesuffix(".0") or row["record_id"] for row in rows],
    )


def sets() -> dict[str, Labelled]:
    """Return the labelled sets on which duplicates are measured, by name."""
    return {"corrupted copies, other half": made(1, seed=1), "exports": exports()} | {
        n: review(n) for n in REVIEWS
    }


def fit_weights() -> None:
    """Print the weights: logistic regression on the levels of the candidate pairs."""
    data = made(0)
    columns = Fields.of(data.references)
    first, second = candidate_pairs(columns, data.references)
    levels = compare(columns, first, second)
    truth = np.array(
        [
            data.publications[i] == data.publications[j]
            for i, j in zip(first, second, strict=True)
        ]
    )
    blocks = [
        levels[field][:, np.newaxis] == np.arange(len(weights))
        for field, weights in WEIGHTS.items()
    ]
    rng = np.random.default_rng(0)
    # Other databases give fewer fields: every pair is used as it is and three times with fields
    # left out at random.
    there = [
        np.ones((len(truth), len(blocks)), dtype=bool),
        *(rng.random((3, len(truth), len(blocks))) < 0.5),
    ]
    X = np.vstack(
        [np.hstack([b & t[:, [k]] for k, b in enumerate(blocks)]) for t in there]
    ).astype(float)
    model = LogisticRegression(C=10.0, max_iter=2000).fit(X, np.tile(truth, len(there)))
    print(
        f"# {len(truth):,} pairs, {truth.sum():,} of them the same\nINTERCEPT = "
        f"{model.intercept_[0]:.2f}\nWEIGHTS = {{"
    )
    place = 0
    for field, weights in WEIGHTS.items():
        fitted = model.coef_[0, place : place + len(weights)]
        place += len(weights)
        print(f'    "{field}": ({", ".join(f"{weight:.2f}" for weight in fitted)}),')
    print("}")


def measure() -> None:
    """Print precision and recall of the pairs of each set, and the calibration of probabilities."""
    for name, data in sets().items():
        found = find_duplicates(data.references)
        print(
            f"{name}: {len(data.references):,} records, {quality(found.groups, data.publications)}"
        )
        if name.startswith("corrupted"):
            _calibration(data)


def quality(groups: Sequence[Sequence[int]], publications: Sequence[str]) -> str:
    """Precision and recall over pairs."""
    joined = [pair for group in groups for pair in combinations(group, 2)]
    right = sum(publications[i] == publications[j] for i, j in joined)
    wanted = sum(n * (n - 1) // 2 for n in Counter(publications).values())
    return (
        f"{wanted:,} pairs, recall {right / max(wanted, 1):.4f}, precision "
        f"{right / max(len(joined), 1):.4f}"
    )


def _calibration(data: Labelled) -> None:
    from scipy.special import expit

    from bayesift.screening.linkage import log_odds

    columns = Fields.of(data.references)
    first, second = candidate_pairs(columns, data.references)
    chances = expit(log_odds(compare(columns, first, second)))
    truth = np.array(
        [
            data.publications[i] == data.publications[j]
            for i, j in zip(first, second, strict=True)
        ]
    )
    for low, high in ((0.0, 0.05), (0.05, 0.5), (0.5, 0.9), (0.9, 0.99), (0.99, 1.0)):
        some = (chances >= low) & (chances <= high)
        if some.any():
            print(
                f"  said {chances[some].mean():.3f}, true {truth[some].mean():.3f} "
                f"({some.sum():,} pairs)"
            )


def speed(n: int) -> None:
    """Print seconds and memory of the search among n records, a fifth of them corrupted copies."""
    rng, base = random.Random(0), base_records()
    pool = [word for reference in base for word in reference.title.split()]
    references: list[Reference] = []
    while len(references) < n:
        reference = rng.choice(base)
        words = reference.title.split()
        fresh = replace(
            reference,
            title=" ".join(rng.choices(pool, k=len(words))),
            doi="",
            pmid="",
            fields=(),
        )
        page = str(rng.randint(1, 1800))
        fresh = replace(
            fresh,
            pages=page,
            volume=str(rng.randint(1, 120)),
            abstract=f"{fresh.title} {fresh.abstract}",
        )
        references += [fresh, corrupted(fresh, rng)] if rng.random() < 0.2 else [fresh]
    started, cpu = time.perf_counter(), time.process_time()
    found = find_duplicates(references)
    wall, cpu = time.perf_counter() - started, time.process_time() - cpu
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"{n:,} records, {found.n_removed:,} duplicates: {wall:.1f} s, CPU {cpu:.1f} s, peak "
        f"{memory:.2f} GB"
    )


def export(folder: Path) -> None:
    """Write every set as a CSV file with the columns that bib-dedupe and ASReview read."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in sets().items():
        with (folder / f"{re.sub(r'[^a-z0-9]+', '-', name.lower())}.csv").open(
            "w", newline=""
        ) as file:
            writer = csv.writer(file)
            writer.writerow(
                ["ID", "publication", "ENTRYTYPE", "title", "author", "year", "journal", "volume",
                 "number", "pages",
                 "doi", "pmid", "abstract"]
            )  # fmt: skip
            for place, (r, publication) in enumerate(
                zip(data.references, data.publications, strict=True)
            ):
                row = (
                    r.title,
                    " and ".join(r.authors),
                    r.year or "",
                    r.journal,
                    r.volume,
                    r.issue,
                    r.pages,
                    r.doi,
                )
                writer.writerow([place, publication, "article", *row, r.pmid, r.abstract])


def main(arguments: list[str]) -> None:
    """Run one of the commands above."""
    match arguments:
        case ["weights"]:
            fit_weights()
        case ["measure"]:
            measure()
        case ["speed", *n]:
            speed(int(n[0]) if n else 80_000)
        case ["export", folder]:
            export(Path(folder))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
