"""Small exports as other programs lay them out; the records are invented."""

import json

import pytest

from bayesift.references import read_references

TITLE, DOI = "Erosion of soils after fire", "10.1000/soil.1"
RIS = {
    "proquest": """TY  - JOUR
T1  - Erosion of soils after fire
AN  - 1234567890; 2019-01
AB  - Text.
N2  - Text.
JF  - Journal of Soils
AU  - Ash, Ann
AU  - Bee, Bob
Y1  - 2019/03//
PY  - 2019
DA  - 2019 Mar
SP  - 12
EP  - 19
VL  - 3
IS  - 2
L2  - https://doi.org/10.1000/soil.1
UR  - https://www.proquest.com/docview/1
N1  - Copyright - Someone
ER  -
""",
    "ieee": """TY  - JOUR
TI  - Erosion of soils after fire
T2  - Journal of Soils
SP  - 12
EP  - 19
AU  - A. Ash
AU  - B. Bee
PY  - 2019
DO  - 10.1000/SOIL.1
JO  - Journal of Soils
IS  - 2
VO  - 3
VL  - 3
Y1  - March 2019
AB  - Text.
ER  -
""",
    "sciencedirect": """TY  - JOUR
T1  - Erosion of soils after fire
AU  - Ash, Ann
AU  - Bee, Bob
JO  - Journal of Soils
VL  - 3
IS  - 2
SP  - 12
EP  - 19
PY  - 2019
DA  - 2019/03/01/
DO  - https://doi.org/10.1000/soil.1
AB  - Text.
ER  -
""",
    "springer": """TY  - JOUR
AU  - Ash, Ann
AU  - Bee, Bob
PY  - 2019
DA  - 2019/03/01
TI  - Erosion of soils after fire
JO  - Journal of Soils
SP  - 12
EP  - 19
VL  - 3
IS  - 2
AB  - Text.
DO  - 10.1000/soil.1
ID  - Ash2019
ER  -
""",
    "psycinfo of ovid": """1.
TY  - JOUR
DB  - APA PsycInfo
ID  - 2019-12345-001
T1  - Erosion of soils after fire
A1  - Ash, Ann
A1  - Bee, Bob
Y1  - 2019//
N2  - Text.
JF  - Journal of Soils
VL  - 3
IS  - 2
SP  - 12
EP  - 19
DO  - https://dx.doi.org/10.1000/soil.1
PT  - Journal Article
ER  -
""",
    "lilacs": """TY  - JOUR
ID  - lil-12345
AU  - Ash, Ann
AU  - Bee, Bob
TI  - Erosion of soils after fire
JO  - Journal of Soils
PY  - 2019
VL  - 3
IS  - 2
SP  - 12-19
AB  - Text.
UR  - http://dx.doi.org/10.1000/soil.1
LA  - es
ER  -
""",
    "citavi": """TY  - JOUR
AU  - Ash, Ann
AU  - Bee, Bob
PY  - 2019
TI  - Erosion of soils after fire
T2  - Journal of Soils
SP  - 12
EP  - 19
VL  - 3
IS  - 2
DO  - 10.1000/soil.1
N2  - Text.
ER  -
""",
    "papers": """TY  - JOUR
T1  - Erosion of soils after fire
A1  - Ash, Ann
A1  - Bee, Bob
Y1  - 2019/03/01/
N2  - Text.
JF  - Journal of Soils
VL  - 3
IS  - 2
SP  - 12
EP  - 19
M3  - 10.1000/soil.1 doi
ER  -
""",
    "distiller": """TY  - JOUR
ID  - 17
A1  - Ash, Ann; Bee, Bob
T1  - Erosion of soils after fire
JF  - Journal of Soils
PY  - 2019
VL  - 3
IS  - 2
SP  - 12
EP  - 19
N2  - Text.
DO  - doi: 10.1000/soil.1.
U1  - Included
ER  -
""",
}


def check_article(found):
    """The one article that every program exports; gives it back."""
    (first,) = found
    assert (first.title, first.doi, first.year, first.abstract) == (TITLE, DOI, 2019, "Text.")
    assert (len(first.authors), first.journal, first.volume, first.issue) == (
        2,
        "Journal of Soils",
        "3",
        "2",
    )
    assert first.pages == "12-19"
    assert not found.problems
    return first


@pytest.mark.parametrize("program", RIS)
def test_ris(program, write):
    check_article(read_references(write("export.ris", RIS[program])))


TABLES = {
    "ieee": (
        '"Document Title",Authors,"Publication Title","Publication Year",Volume,Issue,"Start '
        'Page","End '
        'Page",Abstract,"DOI","Author Keywords","IEEE Terms","Document Identifier"\n'
        '"Erosion of soils after fire","A. Ash; B. Bee","Journal of '
        'Soils","2019","3","2","12","19",'
        '"Text.","10.1000/SOIL.1","soil;fire","Fires","IEEE Journals"\n'
    ),
    "lens": (
        "Lens ID,Title,Date Published,Publication Year,Source Title,Author/s,Abstract,Volume,Issue "
        "Number,Start Page,End Page,Keywords,PMID,DOI\n"
        "000-1,Erosion of soils after fire,2019-03-01,2019,Journal of Soils,Ann Ash; Bob "
        "Bee,Text.,3,2,"
        "12,19,soil; fire,123,10.1000/soil.1\n"
    ),
    "dimensions": (
        '"About the data: Exported on Mar 01, 2020. Criteria: soil"\n'
        "Rank,Publication ID,DOI,PMID,Title,Abstract,Source title,PubYear,Volume,Issue,Pagination,"
        "Publication Type,Authors\n"
        "500,pub.1,10.1000/soil.1,123,Erosion of soils after fire,Text.,Journal of "
        "Soils,2019,3,2,12-19,"
        'Article,"Ash, Ann; Bee, Bob"\n'
    ),
    "openalex": (
        "id,doi,title,display_name,publication_year,publication_date,type,ids.pmid,biblio.volume,"
        "biblio.issue,biblio.first_page,biblio.last_page,primary_location.source.display_name,"
        "authorships.author.display_name,abstract\n"
        "https://openalex.org/W1,https://doi.org/10.1000/soil.1,Erosion of soils after "
        "fire,Erosion of "
        "soils after "
        "fire,2019,2019-03-01,article,https://pubmed.ncbi.nlm.nih.gov/123,3,2,12,19,Journal "
        "of Soils,Ann Ash|Bob Bee,Text.\n"
    ),
    "springer": (
        "Item Title,Publication Title,Book Series Title,Journal Volume,Journal Issue,Item "
        "DOI,Authors,"
        "Publication Year,URL,Content Type,Pages,Abstract\n"
        "Erosion of soils after fire,Journal of Soils,,3,2,10.1000/soil.1,Ann Ash;Bob Bee,2019,"
        "http://link.springer.com/article/10.1000/soil.1,Article,12-19,Text.\n"
    ),
    "publish or perish": (
        "Cites,Authors,Title,Year,Source,Publisher,ArticleURL,Type,DOI,Volume,Issue,StartPage,EndPage,"
        "Abstract\n"
        '17,"A Ash, B Bee",Erosion of soils after fire,2019,Journal of Soils,Pub,https://example.org,'
        "PDF,10.1000/soil.1,3,2,12,19,Text.\n"
    ),
    "proquest": (
        "Title,Abstract,StoreId,ArticleType,Authors,pubtitle,pubdate,year,volume,issue,pages,"
        "digitalObjectIdentifier,DocumentURL\n"
        'Erosion of soils after fire,Text.,99,Article,"Ash, Ann;Bee, Bob",Journal of Soils,Mar '
        "2019,"
        "2019,3,2,12-19,10.1000/soil.1,https://example.org\n"
    ),
    "lilacs": (
        "ID,Title,Authors,Source,Journal,Database,Type,Language,Publication "
        "year,Descriptor(s),Fulltext "
        "URL,Abstract,Volume number,Issue number,DOI,Pages\n"
        'lil-1,Erosion of soils after fire,"Ash, Ann; Bee, Bob",J Soils 3(2),Journal of '
        "Soils,LILACS,"
        "article,es,2019,Soil; Fire,https://example.org,Text.,3,2,10.1000/soil.1,12-19\n"
    ),
    "web of science": (
        "Publication Type,Authors,Author Full Names,Article Title,Source "
        "Title,Abstract,Publication "
        "Year,Volume,Issue,Start Page,End Page,DOI,Pubmed Id,UT (Unique WOS ID)\n"
        'J,"Ash, A; Bee, B","Ash, Ann; Bee, Bob",Erosion of soils after fire,Journal of '
        "Soils,Text.,"
        "2019,3,2,12,19,10.1000/soil.1,123,WOS:1\n"
    ),
    "distiller": (
        "Refid\tAuthor\tTitle\tAbstract\tJournal\tYear\tVolume\tIssue\tPages\tDOI\n"
        "7\tAsh, Ann; Bee, Bob\tErosion of soils after fire\tText.\tJournal of "
        "Soils\t2019\t3\t2\t12-19\t"
        "doi:10.1000/soil.1\n"
    ),
    "eppi": (
        "ItemId;Title;Authors;ParentTitle;Year;Volume;Issue;Pages;Abstract;DOI;Included\n"
        '7;Erosion of soils after fire;"Ash, Ann ; Bee, Bob ;";Journal of '
        "Soils;2019;3;2;12-19;Text.;"
        "10.1000/soil.1;Exclude\n"
    ),
    "asreview": (
        "record_id,title,abstract,authors,journal,year,volume,issue,pages,doi,label_included\n"
        '0,Erosion of soils after fire,Text.,"Ash, A., Bee, B.",Journal of Soils,2019,3,2,12-19,'
        "https://doi.org/10.1000/soil.1,1\n"
    ),
}


@pytest.mark.parametrize("program", TABLES)
def test_tables(program, write):
    first = check_article(read_references(write("export.csv", TABLES[program])))
    assert first.pmid == ("123" if "123" in TABLES[program] else "")


def test_decisions_in_tables(write):
    assert read_references(write("a.csv", TABLES["eppi"]))[0].included is False
    assert read_references(write("a.csv", TABLES["asreview"]))[0].included is True
    text = (
        "title;abstract;decision;exclusion reason\nA;B;Excluded;wrong drug\nC;D;;\nE;F;maybe;\n"
    )
    first, second, third = read_references(write("a.csv", text))
    assert first.decisions[0].reasons == ("wrong drug",)
    assert (second.decisions, third.decisions[0].verdict, third.included) == ((), "maybe", None)


def test_columns_of_web_of_science_by_tags(write):
    text = "PT\tAU\tAF\tTI\tSO\tID\tAB\tPY\tVL\tIS\tBP\tEP\tDI\tPM\tUT\n"
    text += (
        "J\tAsh, A; Bee, B\tAsh, Ann; Bee, Bob\tErosion of soils after fire\tJournal of "
        "Soils\tRUNOFF; FIRE\tText."
    )
    text += "\t2019\t3\t2\t12\t19\t10.1000/soil.1\t123\tWOS:1\n"
    (first,) = read_references(write("savedrecs.txt", text))
    assert (first.title, first.doi, first.id, first.pages) == (TITLE, DOI, "WOS:1", "12-19")
    assert (first.authors, first.keywords, first.pmid) == (
        ("Ash, Ann", "Bee, Bob"),
        ("RUNOFF", "FIRE"),
        "123",
    )


JSON = {
    "semantic scholar": {
        "paperId": "p1",
        "externalIds": {"DOI": "10.1000/soil.1", "PubMed": "123"},
        "title": TITLE,
        "abstract": "Text.",
        "year": 2019,
        "journal": {"name": "Journal of Soils", "volume": "3", "pages": "12-19"},
        "authors": [{"authorId": "1", "name": "Ann Ash"}, {"authorId": "2", "name": "Bob Bee"}],
    },
    "openalex": {
        "id": "https://openalex.org/W1",
        "doi": "https://doi.org/10.1000/soil.1",
        "display_name": TITLE,
        "publication_year": 2019,
        "ids": {"pmid": "https://pubmed.ncbi.nlm.nih.gov/123"},
        "biblio": {"volume": "3", "first_page": "12", "last_page": "19"},
        "primary_location": {"source": {"display_name": "Journal of Soils"}},
        "authorships": [
            {"author": {"display_name": "Ann Ash"}},
            {"author": {"display_name": "Bob Bee"}},
        ],
        "abstract_inverted_index": {"Text.": [0]},
    },
    "csl": {
        "id": "ash2019",
        "type": "article-journal",
        "title": TITLE,
        "abstract": "Text.",
        "container-title": "Journal of Soils",
        "volume": 3,
        "page": "12-19",
        "DOI": "10.1000/soil.1",
        "PMID": "123",
        "author": [{"family": "Ash", "given": "Ann"}, {"family": "Bee", "given": "Bob"}],
        "issued": {"date-parts": [[2019, 3, 1]]},
    },
}


@pytest.mark.parametrize("program", JSON)
@pytest.mark.parametrize("kind", ["array", "lines", "data"])
def test_json(program, kind, write):
    record = JSON[program]
    texts = {
        "array": json.dumps([record, record], indent=1),
        "data": json.dumps({"total": 2, "data": [record, record]}),
    }
    text = texts.get(kind, "\n".join([json.dumps(record)] * 2))
    found = read_references(write("export.json" if kind != "lines" else "export.jsonl", text))
    assert len(found) == 2
    first = found[0]
    assert (first.title, first.doi, first.year, first.abstract, first.pmid) == (
        TITLE,
        DOI,
        2019,
        "Text.",
        "123",
    )
    assert (len(first.authors), first.journal, first.volume, first.pages) == (
        2,
        "Journal of Soils",
        "3",
        "12-19",
    )


BIB = {
    "acm": r"""@inproceedings{10.1145/1.2,
author = {Ash, Ann and Bee, Bob},
title = {Erosion of soils after fire},
year = {2019},
isbn = {9781450300000},
publisher = {Association for Computing Machinery},
url = {https://doi.org/10.1000/soil.1},
doi = {10.1000/soil.1},
abstract = {Text.},
booktitle = {Journal of Soils},
pages = {12–19},
numpages = {8},
}
""",
    "arxiv": r"""@misc{ash2019erosion,
      title={Erosion of soils after fire},
      author={Ann Ash and Bob Bee},
      year={2019},
      eprint={1901.00001},
      archivePrefix={arXiv},
      url={https://arxiv.org/abs/1901.00001}
}""",
    "dblp": r"""@article{DBLP:journals/soil/AshB19,
  author       = {Ann Ash and
                  Bob Bee},
  title        = {Erosion of
                  soils after fire},
  journal      = {Journal of Soils},
  volume       = {3},
  number       = {2},
  pages        = {12--19},
  year         = {2019},
  url          = {https://doi.org/10.1000/soil.1},
  timestamp    = {Mon, 01 Jan 2020 00:00:00 +0100},
  bibsource    = {dblp computer science bibliography, https://dblp.org}
}
""",
    "scopus": r"""Scopus
EXPORT DATE: 01 March 2020

@ARTICLE{Ash201912,
	author = {Ash, Ann and Bee, Bob},
	title = {Erosion of soils after fire},
	year = {2019},
	journal = {Journal of Soils},
	doi = {10.1000/soil.1},
	abstract = {Text.},
	note = {Cited by: 5}
}
""",
}


@pytest.mark.parametrize("program", BIB)
def test_bibtex(program, write):
    found = read_references(write("export.txt", BIB[program]))
    (first,) = found
    assert (first.title, first.year, len(first.authors)) == (TITLE, 2019, 2)
    assert first.doi == ("" if program == "arxiv" else DOI)
    assert not found.problems


PUBMED = """1. J Soils. 2019 Mar 1;3(2):12-19. doi: 10.1000/soil.1. Epub 2019 Jan 2.

Erosion of soils
after fire.

Ash A(1), Bee B(2).

Author information:
(1)Somewhere.
(2)Elsewhere.

BACKGROUND: First paragraph.
METHODS: More.

2. This is not a record.

© 2019 The Authors.

DOI: 10.1000/soil.1
PMCID: PMC1
PMID: 123 [Indexed for MEDLINE]


2. J Heads. 2020;1:5.

Second title.

Cee C.

PMID: 124
"""


def test_numbered_text_of_pubmed(write):
    found = read_references(write("abstract-set.txt", PUBMED.replace("2. This", "9. This")))
    first, second = found
    assert found.files[0].format == "pubmed-text"
    assert (first.title, first.authors, first.pmid) == (
        "Erosion of soils after fire.",
        ("Ash A", "Bee B"),
        "123",
    )
    assert (first.journal, first.date, first.volume, first.issue, first.pages) == (
        "J Soils",
        "2019-03-01",
        "3",
        "2",
        "12-19",
    )
    assert (
        first.abstract == "BACKGROUND: First paragraph. METHODS: More. 9. This is not a record."
    )
    assert (first.doi, second.title, second.authors, second.pmid) == (
        DOI,
        "Second title.",
        ("Cee C",),
        "124",
    )
    assert not found.problems


def test_summaries_of_pubmed(write):
    text = "1: Ash A, Bee B. Erosion of soils after fire. J Soils. 2019 Mar 1;3(2):12-19.\n"
    text += "doi: 10.1000/soil.1. PMID: 123.\n\n"
    text += "2: Cee C. Second title. J Heads. 2020;1:5. PMID: 124.\n"
    found = read_references(write("summary-set.txt", text))
    assert [(r.title, r.pmid, len(r.authors), r.pages) for r in found] == [
        (f"{TITLE}.", "123", 2, "12-19"),
        ("Second title.", "124", 1, "5"),
    ]
    assert found[0].doi == DOI


def test_eric(write):
    record = (
        "OWN - ERIC\nTI  - Erosion of soils after fire\nAU  - Ash, Ann\nAU  - Bee, Bob\nJT  "
        "- Journal of Soils\n"
    )
    record += (
        "OID - EJ{}\nVI  - 3\nIP  - 2\nPG  - 12-19\nDP  - Mar 2019\nAB  - Text.\nISSN- "
        "EISSN-1234-5678\nLA  - English\n"
    )
    for gap in ("", "\n"):
        found = read_references(write("eric.nbib", record.format(1) + gap + record.format(2)))
        assert [(r.id, r.title, r.authors, r.date) for r in found] == [
            (f"EJ{number}", TITLE, ("Ash, Ann", "Bee, Bob"), "2019-03") for number in (1, 2)
        ]
        assert (found[0].pmid, found.problems) == ("", ())


def test_plain_text_of_cochrane(write):
    record = (
        "Record #{} of 2\nID: CN-{}\nAU: Ash A\nAU: Bee B\nTI: Erosion of soils after fire\n"
        "SO: Journal of Soils\n"
    )
    record += (
        "YR: 2019\nVL: 3\nNO: 2\nPG: 12-19\nPM: PUBMED 123\nKY: soil; fire\nDOI: "
        "10.1000/soil.1\nAB: Text.\nUS: https://x.org\n\n\n"
    )
    found = read_references(
        write(
            "citation-export.txt",
            "Cochrane Library\n\n" + record.format(1, 1) + record.format(2, 2),
        )
    )
    first = found[1]
    assert (first.id, first.title, first.doi, first.pmid, first.year) == (
        "CN-2",
        TITLE,
        DOI,
        "123",
        2019,
    )
    assert (first.authors, first.keywords, first.abstract, first.pages) == (
        ("Ash A", "Bee B"),
        ("soil", "fire"),
        "Text.",
        "12-19",
    )


PUBMED_XML = """<?xml version="1.0" ?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle//EN" "https://dtd.nlm.nih.gov/x.dtd">
<PubmedArticleSet>
<PubmedArticle><MedlineCitation Status="MEDLINE"><PMID Version="1">123</PMID><Article><Journal>\
<JournalIssue>
<Volume>3</Volume><Issue>2</Issue><PubDate><Year>2019</Year><Month>Mar</Month><Day>01</Day>\
</PubDate></JournalIssue>
<Title>Journal of Soils</Title></Journal>\
<ArticleTitle>Erosion of <i>soils</i> after fire</ArticleTitle><Pagination>
<MedlinePgn>12-19</MedlinePgn></Pagination><Abstract>\
<AbstractText Label="METHODS">We <b>did</b>.</AbstractText>
<AbstractText>Text.</AbstractText></Abstract><AuthorList><Author><LastName>Ash</LastName>\
<ForeName>Ann</ForeName></Author>
<Author><CollectiveName>Fire Group</CollectiveName></Author></AuthorList><Language>eng</Language>\
</Article>
<MeshHeadingList><MeshHeading><DescriptorName>Soil</DescriptorName></MeshHeading>\
</MeshHeadingList></MedlineCitation>
<PubmedData><ArticleIdList><ArticleId IdType="pubmed">123</ArticleId>\
<ArticleId IdType="doi">10.1000/soil.1</ArticleId>
</ArticleIdList></PubmedData></PubmedArticle>
<PubmedArticle><MedlineCitation><PMID>124</PMID></PubmedArticle>
</PubmedArticleSet>
"""


def test_xml_of_pubmed(write):
    found = read_references(write("pubmed.xml", PUBMED_XML))
    (first,) = found
    assert (first.title, first.doi, first.pmid, first.date) == (TITLE, DOI, "123", "2019-03-01")
    assert (first.authors, first.abstract) == (
        ("Ash, Ann", "Fire Group"),
        "METHODS: We did. Text.",
    )
    assert (first.journal, first.volume, first.issue, first.pages) == (
        "Journal of Soils",
        "3",
        "2",
        "12-19",
    )
    assert (first.keywords, found.files[0].refused) == (("Soil",), 1)
