import datetime

import pytest

from bayesift.corpora import load_reuters, load_reuters_descriptions, summarise
from bayesift.errors import DataError
from tests.conftest import data_dir

RECORD = """<REUTERS TOPICS="{marked}" LEWISSPLIT="{split}" CGISPLIT="X" OLDID="1" NEWID="{number}">
<DATE>{date}</DATE>
<TOPICS>{topics}</TOPICS>
<PLACES><D>usa</D></PLACES>
<PEOPLE></PEOPLE>
<ORGS></ORGS>
<EXCHANGES></EXCHANGES>
<COMPANIES></COMPANIES>
<UNKNOWN>&#5;</UNKNOWN>
{text}
</REUTERS>
"""
NORMAL = """<TEXT>&#2;
<TITLE>GRAIN &lt;UP></TITLE>
<DATELINE>  X - </DATELINE><BODY>A&amp;B rose.
&#3;</BODY></TEXT>"""
BRIEF = '<TEXT TYPE="BRIEF">&#2;\n******<TITLE>SHORT\n</TITLE>Blah blah blah.\n&#3;\n\n</TEXT>'
UNPROC = '<TEXT TYPE="UNPROC">&#2;\nMONEY 1 - FEB\n &#3;\n</TEXT>'
HEAD = '<!DOCTYPE lewis SYSTEM "lewis.dtd">\n'


def record(
    number,
    split="TRAIN",
    *,
    text=NORMAL,
    topics="<D>grain</D>",
    marked="YES",
    date="26-FEB-1987 15:01:01.79",
):
    return RECORD.format(
        number=number, split=split, text=text, topics=topics, marked=marked, date=date
    )


@pytest.fixture
def load_sample(write, tmp_path):
    def load_content(content, **options):
        write("reuters21578/reut2-000.sgm", content.encode("latin-1"))
        return load_reuters(tmp_path, **options)

    return load_content


def test_title_body_entities_and_date(load_sample):
    corpus = load_sample(HEAD + record(1) + record(2, "TEST"))
    first = corpus.documents[0]
    assert (first.id, first.title, first.text) == ("1", "GRAIN <UP>", "A&B rose.")
    assert first.date == datetime.datetime(1987, 2, 26, 15, 1, 1, 790_000)
    assert [d.split for d in corpus] == ["train", "test"]
    assert corpus.categories == ("grain",)


def test_brief_has_a_title_only_and_unproc_a_text_only(load_sample):
    brief, unproc = load_sample(HEAD + record(1, text=BRIEF) + record(2, text=UNPROC))
    assert (brief.title, brief.text) == ("SHORT", "")
    assert (unproc.title, unproc.text) == ("", "MONEY 1 - FEB")


@pytest.mark.parametrize(
    "date",
    ["31-MAR-1987 605:12:19.12", "31-FEB-1987 05:12:19.12", "1-XXX-1987 05:12:19.12", ""],
)
def test_garbled_dates_are_none(load_sample, date):
    assert load_sample(HEAD + record(1, date=date)).documents[0].date is None


def test_split_subset_and_kinds(load_sample):
    content = HEAD + "".join(
        [
            record(1),
            record(2, "TEST"),
            record(3, "NOT-USED"),
            record(4, "TRAIN", marked="NO"),
            record(5, "TRAIN", topics="<D>rare</D>"),
        ]
    )
    assert [d.split for d in load_sample(content)] == [
        "train",
        "test",
        "unused",
        "unused",
        "train",
    ]
    assert load_sample(content, subset="modapte").ids == ["1", "2", "5"]
    assert load_sample(content, subset="labelled").ids == ["1", "2"]
    assert load_sample(content, shared_categories=False).categories == ("grain", "rare")
    assert load_sample(content, categories="places").categories == ("usa",)


BROKEN = {
    "no end": (
        record(1) + record(2).replace("</REUTERS>", "") + record(3),
        16,
        "no </REUTERS>",
    ),
    "no start": (
        record(1) + record(2).replace("<REUTERS", "<RTRS") + record(3),
        16,
        "no <REUTERS ...>",
    ),
    "no start of the first": (
        record(2).replace("<REUTERS", "<RTRS") + record(1) + record(3),
        1,
        "no <REUTERS ...>",
    ),
    "no number": (record(1) + record(2).replace("NEWID", "ID") + record(3), 16, "no NEWID"),
    "no text": (record(1) + record(2, text="") + record(3), 16, "no <TEXT>"),
    "no body": (
        record(1) + record(2, text="<TEXT><TITLE>X</TITLE></TEXT>") + record(3),
        16,
        "no <BODY>",
    ),
    "no topics": (
        record(1) + record(2).replace("</TOPICS>", "") + record(3),
        16,
        "no <TOPICS>",
    ),
}


def test_number_that_comes_twice(load_sample):
    with pytest.raises(DataError, match="sgm:16: duplicate id '1', first on line 2"):
        load_sample(HEAD + record(1) + record(1))


@pytest.mark.parametrize(("content", "line", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_broken_records(load_sample, content, line, message):
    with pytest.raises(DataError, match=f"broken record: {message}") as caught:
        load_sample(HEAD + content)
    assert caught.value.file.endswith("reut2-000.sgm")
    assert caught.value.line == line
    corpus = load_sample(HEAD + content, skip_bad=True)
    assert corpus.ids == ["1", "3"]
    assert len(corpus.problems) == 1


def test_archive_without_documents(load_sample):
    with pytest.raises(DataError, match="holds no documents"):
        load_sample(HEAD)


@pytest.mark.corpus("reuters21578.tar.gz")
def test_counts_of_the_whole(corpus_named):
    summary = summarise(corpus_named("reuters"))
    assert summary.documents == 21_578
    assert summary.categories == summary.shared_categories == 90
    splits = {split.name: split for split in summary.splits}
    assert {name: split.documents for name, split in splits.items()} == {
        "train": 9_603,
        "test": 3_299,
        "unused": 8_676,
    }
    assert (splits["train"].labelled, splits["test"].labelled) == (7_770, 3_019)
    assert (splits["train"].title_only, splits["test"].title_only) == (787, 276)
    assert summary.without_date == 1
    assert summary.skipped == 0
    assert [(c.name, c.by_split["train"], c.by_split["test"]) for c in summary.largest] == [
        ("earn", 2877, 1087),
        ("acq", 1650, 719),
        ("money-fx", 538, 179),
        ("grain", 433, 149),
        ("crude", 389, 189),
        ("trade", 369, 117),
        ("interest", 347, 131),
        ("wheat", 212, 71),
        ("ship", 197, 89),
        ("corn", 181, 56),
    ]


@pytest.mark.corpus("reuters21578.tar.gz")
def test_the_garbled_date(corpus_named):
    assert [d.id for d in corpus_named("reuters") if d.date is None] == ["17192"]


DESCRIPTIONS = """Some notes
****Subject Codes (135)

Money/Foreign Exchange (MONEY-FX)

**Commodity Codes (78)

COTTON \nVEG-OIL

________________________________________________________________

@heading[Organization Codes (56)]
African Development Bank (ADB-AFRICA)@*
"""


def test_descriptions_of_topics(write, tmp_path):
    write("reuters21578/cat-descriptions_120396.txt", DESCRIPTIONS)
    assert load_reuters_descriptions(tmp_path) == {
        "money-fx": "Money/Foreign Exchange (MONEY-FX)",
        "cotton": "COTTON",
        "veg-oil": "VEG-OIL",
    }


def test_descriptions_that_are_not_there(write, tmp_path):
    write("reuters21578/README.txt", "")
    with pytest.raises(DataError, match=r"there is no cat-descriptions_120396\.txt in it"):
        load_reuters_descriptions(tmp_path)
    write("reuters21578/cat-descriptions_120396.txt", "nothing")
    with pytest.raises(DataError, match="no subject codes"):
        load_reuters_descriptions(tmp_path)


@pytest.mark.corpus("reuters21578.tar.gz")
def test_every_topic_is_described(corpus_named):
    descriptions = load_reuters_descriptions(data_dir())
    assert len(descriptions) == 135
    assert set(corpus_named("reuters").categories) <= set(descriptions)
    assert descriptions["earn"] == "Earnings and Earnings Forecasts (EARN)"
    assert descriptions["pet-chem"] == "Petro-Chemicals (PET-CHEM)"
