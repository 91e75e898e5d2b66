"""Duplicates: what is compared, how pairs are found, groups, and merged records."""

import random
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from bayesift.references import Decision, Reference
from bayesift.screening import find_duplicates, match_probability, merge
from bayesift.screening.duplicates import candidate_pairs
from bayesift.screening.linkage import (
    Fields,
    compare,
    fold,
    letter_sets,
    overlaps,
    same_journal,
)

PAPER = Reference(
    title="Sumatriptan in acute migraine: a randomized trial",
    abstract="We compared sumatriptan with placebo in 200 adults with migraine. Pain fell by half "
    "within two hours.",
    authors=("Silberstein, Stephen D.", "Müller-Hansen, Finn", "O'Connor, Rebecca E."),
    year=1999,
    journal="European Journal of Medical Genetics",
    volume="63",
    pages="411-447",
    doi="10.1016/j.ejmg.2019.03.004",
    pmid="30922926",
)
BARE = replace(PAPER, doi="", pmid="")


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"title": "SUMATRIPTAN IN ACUTE MIGRAINE - A RANDOMISED TRIAL."},
        {"title": "Sumatriptan in acute migrane: a randomized trail"},
        {"title": "Sumatriptan in acute migraine"},
        {"title": "[Sumatriptan in acute <i>migraine</i>: a randomized trial]."},
        {"authors": ("Silberstein SD", "Muller-Hansen F", "et al.")},
        {"authors": (), "abstract": ""},
        {"journal": "Eur J Med Genet", "pages": "411-47"},
        {"pages": "p. 411", "volume": "", "year": 2000},
        {"title": "", "abstract": ""},
        {"title": "Sumatriptan bei akuter Migräne", "abstract": ""},
    ],
    ids=str,
)
def test_a_copy_with_a_change_is_the_same(change):
    assert match_probability(BARE, replace(BARE, **change)) > 0.9


@pytest.mark.parametrize(
    "change",
    [
        {
            "title": "Sumatriptan in acute migraine: a randomized trial. Part II",
            "pages": "500",
            "volume": "64",
        },
        {
            "title": "Erratum: Sumatriptan in acute migraine: a randomized trial",
            "pages": "9",
            "abstract": "",
        },
        {"title": "Gold mines of Peru", "pages": "3", "abstract": "Where gold was found."},
        {
            "year": 2008,
            "pages": "3",
            "volume": "72",
            "journal": "Headache",
            "abstract": "Ten years later.",
        },
        {
            "doi": "10.1/other",
            "pmid": "1",
            "title": "Zolmitriptan in children",
            "abstract": "",
            "pages": "800",
        },
    ],
    ids=str,
)
def test_another_publication_is_not(change):
    assert match_probability(PAPER, replace(PAPER, **{"doi": "", "pmid": ""} | change)) < 0.5


def test_one_doi_or_pmid_is_enough_without_a_title():
    found = find_duplicates(
        [PAPER, Reference(doi=PAPER.doi), Reference(pmid=PAPER.pmid), Reference(title="Gold")]
    )
    assert found.groups == ((0, 1, 2), (3,))


def test_row_numbers_join_nothing():
    records = [
        Reference(id="1", title="Corn in Iowa"),
        Reference(id="1", title="Gold mines of Peru"),
    ]
    assert find_duplicates(records).groups == ((0,), (1,))


def test_records_without_anything_stay_apart():
    assert find_duplicates([Reference(), Reference(), Reference(abstract="x")]).groups == (
        (0,),
        (1,),
        (2,),
    )
    assert find_duplicates([]).groups == ()


def test_similarity_is_dices_coefficient_of_sets_of_three_letters():
    texts = ["migraine trial", "migrane trial", "", "ab"]
    sets = [{text[i : i + 3] for i in range(len(text) - 2)} for text in texts]
    first, second = np.array([0, 0]), np.array([1, 2])
    both, one, other = overlaps(letter_sets(texts), first, second)
    assert both.tolist() == [len(sets[0] & sets[1]), 0]
    assert one.tolist() == [len(sets[0])] * 2
    assert other.tolist() == [len(sets[1]), 0]
    assert letter_sets(texts).shape[0] == 4


def test_titles_that_are_alike_become_candidates():
    rng = random.Random(0)
    words = [
        "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(3, 9)))
        for _ in range(300)
    ]
    titles = [" ".join(rng.sample(words, 9)) for _ in range(200)]
    typos = [title[:20] + "x" + title[22:] for title in titles]
    records = [Reference(title=title) for title in titles + typos]
    first, second = candidate_pairs(Fields.of(records), records)
    found = set(zip(first.tolist(), second.tolist(), strict=True))
    assert sum((row, row + 200) in found for row in range(200)) >= 198
    assert len(found) < 2_000  # of 79,800


def test_many_records_with_one_title_cost_no_square():
    records = [
        replace(BARE, title="Editorial", abstract="", pages=str(n), volume=str(n), year=None)
        for n in range(900)
    ]
    first, _ = candidate_pairs(Fields.of(records), records)
    assert len(first) < 900 * 10
    assert all(len(group) == 1 for group in find_duplicates(records).groups)


def test_a_chain_does_not_join_records_that_differ():
    other = replace(
        PAPER,
        doi="10.1/second",
        pmid="2",
        year=2004,
        pages="12",
        volume="70",
        abstract="A second trial.",
    )
    between = Reference(title=PAPER.title)
    groups = find_duplicates([PAPER, other, between]).groups
    assert not any({0, 1} <= set(group) for group in groups)


def test_groups_do_not_depend_on_the_order_of_files():
    rng = random.Random(1)
    words = ["corn", "gold", "oil", "wheat"]
    records = [
        replace(BARE, title=f"The {w} of {w}town", pages=w, abstract=f"{w} " * 9, volume=w)
        for w in words
    ]
    records += [replace(record, journal="", abstract="") for record in records]
    expected = {frozenset((row, row + 4)) for row in range(4)}
    for _ in range(5):
        order = rng.sample(range(8), 8)
        found = find_duplicates([records[row] for row in order]).groups
        assert {frozenset(order[place] for place in group) for group in found} == expected


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Eur J Med Genet", "European journal of medical genetics", True),
        ("N Engl J Med", "The New England Journal of Medicine", True),
        ("JAMA", "Journal of the American Medical Association", True),
        ("Nat. Commun.", "Nature Communications", True),
        ("Headache", "Cephalalgia", False),
        ("Nature", "Nature Communications", False),
        ("J Med", "Journal of Surgery", False),
    ],
)
def test_journals_and_their_abbreviations(one, other, same):
    assert same_journal(fold(one), fold(other)) is same


def test_a_merged_record_has_all_parts_and_its_sources_stay():
    first = Reference(
        title="Corn",
        doi="10.1/c",
        keywords=("maize",),
        decisions=(Decision("included", "Ann"),),
    )
    second = Reference(
        title="Corn",
        abstract="About corn.",
        year=2001,
        keywords=("maize", "grain"),
        labels=("a",),
    )
    merged = merge([first, second])
    assert (merged.doi, merged.abstract, merged.year) == ("10.1/c", "About corn.", 2001)
    assert set(merged.keywords) == {"maize", "grain"}
    assert merged.decisions == (Decision("included", "Ann"),)
    assert merge([first]) is first


def test_levels_are_missing_where_a_field_is():
    levels = compare(Fields.of([PAPER, Reference(title="Corn")]), np.array([0]), np.array([1]))
    assert {name for name, level in levels.items() if level[0] != -1} == {"title"}


def test_bad_use_is_refused():
    with pytest.raises(ValueError, match="must lie between"):
        find_duplicates([], probability=0.2)


@pytest.mark.corpus("records")
def test_exports_of_the_same_records_by_different_programs():
    from benchmarks.duplicates import exports

    data = exports()
    joined = [
        pair
        for group in find_duplicates(data.references).groups
        for pair in combinations(group, 2)
    ]
    right = sum(data.publications[i] == data.publications[j] for i, j in joined)
    wanted = sum(a == b for a, b in combinations(data.publications, 2))
    assert right >= 0.95 * wanted
    assert right >= 0.99 * len(joined)
