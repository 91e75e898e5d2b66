from bayesift.references import read_references

PUBMED = """
PMID- 00123
OWN - NLM
STAT- MEDLINE
DP  - 2020 Nov-Dec
TI  - Triptans in
      migraine: a trial.
LID - S1769(19)3 [pii]
LID - 10.1000/ABC.1 [doi]
AB  - METHODS: We did
      AB  - this.
FAU - Ash, Ann
AU  - Ash A
AD  - Somewhere
FAU - Bee, Bob; Jr
AU  - Bee B
CN  - Trial Group
MH  - Humans
OT  - migraine; acute
PT  - Journal Article
JT  - Journal of Heads

PMID- 124
OWN - NLM
TI  - Second.
AU  - Cee C
SO  - J Heads. 2019;1:2. doi: 10.1000/2.
"""


def test_parts_of_a_record(write):
    found = read_references(write("pubmed-set.txt", PUBMED))
    first, second = found
    assert found.files[0].format == "medline"
    assert (first.id, first.pmid, first.title) == (
        "00123",
        "123",
        "Triptans in migraine: a trial.",
    )
    assert first.authors == ("Ash, Ann", "Bee, Bob; Jr", "Trial Group")
    assert (first.doi, first.date, first.year) == ("10.1000/abc.1", "2020-11", 2020)
    assert first.abstract == "METHODS: We did AB - this."
    assert first.keywords == ("Humans", "migraine; acute")
    assert (second.authors, second.doi, second.line) == (("Cee C",), "10.1000/2", 23)
    assert not found.problems


def test_a_missing_number_is_reported(write):
    found = read_references(write("a.nbib", PUBMED.replace("PMID- 124\n", "")))
    assert [reference.title for reference in found] == [
        "Triptans in migraine: a trial.",
        "Second.",
    ]
    assert [(problem.line, problem.message) for problem in found.problems] == [
        (23, "record without PMID")
    ]


def test_blank_lines_in_a_record(write):
    found = read_references(write("a.nbib", PUBMED.replace("MH  -", "\nMH  -")))
    assert [len(reference.authors) for reference in found] == [3, 1]


def test_ovid(write):
    text = (
        "<1>\nVN  - Ovid Technologies\nDB  - Ovid MEDLINE(R)\nUI  - 31\nTI  - One\nAB  - "
        "Text\n\n"
    )
    text += "<2>\nVN  - Ovid Technologies\nDB  - Ovid MEDLINE(R)\nUI  - 32\nTI  - Two\n"
    found = read_references(write("ovid.txt", text))
    assert [(reference.title, reference.pmid) for reference in found] == [
        ("One", "31"),
        ("Two", "32"),
    ]
    assert not found.problems
