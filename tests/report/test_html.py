import html

from hypothesis import given
from hypothesis import strategies as st

from bayesift.report.html import Markup, element, escape, join, name_of
from tests.report.reading import read


@given(st.text())
def test_escaped_text_reads_as_itself_or_as_replacements(text):
    escaped = escape(text)
    assert not set("<>\"'") & set(escaped)
    readable = html.unescape(escaped)
    expected = text.replace("\r\n", "\n").replace("\r", "\n")
    assert len(readable) == len(expected)
    assert all(new in (old, "\ufffd") for new, old in zip(readable, expected, strict=True))
    escaped.encode()


@given(st.text(), st.text())
def test_an_attribute_never_leaves_its_quotes(text, other):
    reader = read(element("p", text, title=other, class_=text))
    assert reader.tags == ["p"]
    assert [name for _, name, _ in reader.attributes] == ["title", "class"]


def test_markup_is_not_escaped_twice():
    inner = element("b", "&")
    assert join(inner) == "<b>&amp;</b>"
    assert escape(Markup("<i>")) == "<i>"


def test_pieces_may_be_nested_lazy_or_missing():
    assert element("ul", (element("li", i) for i in range(2)), None, [[1.5]]) == "<ul><li>0</li><li>1</li>1.5</ul>"


def test_shapes_are_closed_since_browsers_do_not_close_them():
    assert element("rect", width=1) == '<rect width="1"></rect>'


@given(st.text(max_size=60))
def test_names_keep_every_character(name):
    reader = read(name_of(name))
    assert reader.text == html.unescape(escape(name))
    assert set(reader.tags) <= {"bdi", "wbr"}


def test_absurd_names_are_cut():
    assert len(name_of("x" * 100_000)) < 120
