from bayesift.references import read_references, write_references


def styled(text):
    return f'<style face="normal" font="default" size="100%">{text}</style>'


RECORD = (
    '<record><database name="My.enl" path="C:\\My.enl">My.enl</database><source-app '
    'name="EndNote" version="20.1">'
    'EndNote</source-app><rec-number>7</rec-number><foreign-keys><key app="EN" db-id="x1" '
    'timestamp="0">7</key>'
    '</foreign-keys><ref-type name="Journal Article">17</ref-type><contributors><authors>'
    f"<author>{styled('Ash, Ann')}</author><author>{styled('Bee, Bob')}</author></authors>"
    f"</contributors>"
    f"<titles><title>{styled('Erosion of H')}{styled('2')}{styled('O &amp; soils')}</title>"
    f"<secondary-title>{styled('Journal of Soils')}</secondary-title></titles>"
    f"<pages>{styled('12-19')}</pages>"
    f"<volume>{styled('3')}</volume><number>{styled('2')}</number><keywords><keyword>{styled('erosion')}</keyword>"
    f"<keyword>{styled('fire')}</keyword></keywords><dates><year>{styled('2001')}</year>"
    f"<pub-dates><date>May 7</date>"
    f"</pub-dates></dates><isbn>1234-5678</isbn><accession-num>{styled('123')}</accession-num><abstract>{styled('Text.')}"
    "</abstract><urls><related-urls><url>https://example.org/1</url></related-urls></urls>"
    "<electronic-resource-num>https://doi.org/10.1000/Soil.1</electronic-resource-num>"
    "<remote-database-provider>NLM</remote-database-provider></record>"
)
HEADER = '<?xml version="1.0" encoding="UTF-8" ?>'
FILE = f"{HEADER}<xml><records>{RECORD}{RECORD.replace('Erosion', 'Second')}</records></xml>"


def test_parts_of_a_record(write):
    found = read_references(write("library.xml", FILE))
    first = found[0]
    assert found.files[0].format == "endnote-xml"
    assert (first.title, first.authors) == ("Erosion of H2O & soils", ("Ash, Ann", "Bee, Bob"))
    assert (first.journal, first.pages, first.date, first.type) == (
        "Journal of Soils",
        "12-19",
        "2001-05-07",
        "JOUR",
    )
    assert (first.doi, first.pmid, first.keywords) == (
        "10.1000/soil.1",
        "123",
        ("erosion", "fire"),
    )
    assert (first.abstract, first.url, len(found), found.problems) == (
        "Text.",
        "https://example.org/1",
        2,
        (),
    )


def test_fields_are_written_as_found(write, tmp_path):
    found = read_references(write("library.xml", FILE))
    write_references(found, tmp_path / "again.xml")
    assert list(read_references(tmp_path / "again.xml")) == list(found)
    assert (
        '<key app="EN" db-id="x1" timestamp="0">7</key></foreign-keys>'
        in (tmp_path / "again.xml").read_text()
    )


def test_a_damaged_record_costs_no_other(write):
    text = FILE.replace(
        "</records>", RECORD.replace("</titles>", "") + "\n" + RECORD + RECORD[:300]
    )
    found = read_references(write("library.xml", text))
    assert (len(found), found.files[0].refused) == (3, 2)
    assert [problem.line for problem in found.problems] == [1, 2]


def test_missing_tags_of_records(write):
    text = FILE.replace(
        RECORD, RECORD.removesuffix("</record>") + RECORD + RECORD.removeprefix("<record>")
    )
    found = read_references(write("library.xml", text))
    assert (len(found), found.files[0].refused) == (2, 2)
