import pytest

from bayesift.references import read_references, write_references
from bayesift.references.bibtex import latex_text, plain_text

ENTRIES = r"""% Encoding: UTF-8
@string{jos = "Journal of Soils"}
@article{ash2001,
  author   = {Ash, Ann and M{\"u}ller, J{\"o}rg and {Soil and Fire Group}},
  title    = {{Erosion} of $H_2O$ in {DNA} \& soils},
  journal  = jos # { A},
  year     = 2001,
  month    = may,
  pages    = {12--19},
  doi      = {10.1000/Soil\_1},
  keywords = {erosion, fire},
  abstract = "First {"quoted"} part.
              Second part.",
  file     = {:a.pdf:PDF},
}

@Comment{jabref-meta: databaseType:bibtex;}
@inproceedings(bee2002, title={Second}, booktitle={Proc. of X}, date={2002-03-04}, note={PMID: 123})
@misc{cee,title={Third},eprint={2001.00001},archivePrefix={arXiv}}
"""


def test_entries(write):
    found = read_references(write("library.bib", ENTRIES))
    first, second, third = found
    assert [reference.id for reference in found] == ["ash2001", "bee2002", "cee"]
    assert first.authors == ("Ash, Ann", "Müller, Jörg", "Soil and Fire Group")
    assert first.title == "Erosion of H_2O in DNA & soils"
    assert (first.journal, first.year, first.date, first.pages) == (
        "Journal of Soils A",
        2001,
        "2001-05",
        "12-19",
    )
    assert (first.doi, first.keywords) == ("10.1000/soil_1", ("erosion", "fire"))
    assert first.abstract == 'First "quoted" part. Second part.'
    assert (second.journal, second.date, second.pmid, second.type) == (
        "Proc. of X",
        "2002-03-04",
        "123",
        "CONF",
    )
    assert [reference.line for reference in found] == [3, 18, 19]
    assert dict(third.fields)["archivePrefix"] == "arXiv"
    assert not found.problems


@pytest.mark.parametrize(
    ("entry", "title", "message"),
    [
        (
            "@article{a, title={Two {open}, year=2002}",
            "Two open, year=2002",
            "no closing brace",
        ),
        ("@article{a,\n title={Two {open},\n year=2002}", "Two open", "unbalanced"),
        ("@misc{a title={No comma}}", "No comma", None),
        ("@misc{title={No key}}", "No key", "no key"),
        ('@misc{a, title = "a "quoted" word",\n year=2001}', "a", "not understood"),
        ("@misc{a, title={Cut off", "Cut off", "unbalanced"),
        ("@misc{a, title={T}, ???}", "T", "not understood"),
        ("@misc{a, title={T}", "T", "no closing brace"),
    ],
)
def test_damaged_entries_are_read_as_far_as_they_go(write, entry, title, message):
    found = read_references(
        write("a.bib", f"@misc{{x,title={{Before}}}}\n{entry}\n@misc{{y,title={{After}}}}\n")
    )
    assert [reference.title for reference in found] == ["Before", title, "After"]
    messages = [problem.message for problem in found.problems]
    assert all(problem.line == 2 for problem in found.problems)
    assert (message is None and not messages) or any(message in text for text in messages)


def test_fields_are_written_as_found(write, tmp_path):
    found = read_references(write("library.bib", ENTRIES))
    write_references(found, tmp_path / "again.bib")
    assert list(read_references(tmp_path / "again.bib")) == list(found)


@pytest.mark.parametrize(
    "text", ["50% of R&D_x {a} $5 #1 ~x^2 \\y", "a--b---c", "Über straße", "plain"]
)
def test_special_characters_come_back(text):
    assert plain_text(latex_text(text)) == text


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"Garc{\'\i}a", "García"),
        (r"\v{S}ime{\v c}ek", "Šimeček"),
        (r"{\O}rsted \ss", "Ørsted ß"),
        (r"\textbf{bold} \emph{word}", "bold word"),
        (r"{\c C}elik, Erd{\H o}s", "Çelik, Erdős"),
    ],
)
def test_accents(latex, text):
    assert plain_text(latex) == text
