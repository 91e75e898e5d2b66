import html

from hypothesis import given
from hypothesis import strategies as st

from bayesift.charts.svg import escape
from tests.report.reading import macro, read


@given(st.text(max_size=60))
def test_names_keep_every_character(name):
    reader = read(macro("name", name))
    assert reader.text == html.unescape(escape(name))
    assert set(reader.tags) <= {"bdi", "wbr"}


@given(st.text(), st.text())
def test_an_attribute_of_a_template_never_leaves_its_quotes(text, other):
    reader = read(macro("name", text, other))
    assert set(reader.tags) <= {"bdi", "wbr"}
    assert {name for _, name, _ in reader.attributes} <= {"class"}


def test_absurd_names_are_cut():
    assert len(macro("name", "x" * 100_000)) < 120


def test_names_may_break_after_punctuation():
    assert macro("name", "rec.autos") == "<bdi>rec.<wbr>autos</bdi>"
