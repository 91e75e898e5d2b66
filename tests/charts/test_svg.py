import html

from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from bayesift.charts.svg import escape, join, tag
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
    reader = read(tag("p", text, title=other, class_=text))
    assert reader.tags == ["p"]
    assert [name for _, name, _ in reader.attributes] == ["title", "class"]


def test_markup_is_not_escaped_twice():
    inner = tag("b", "&")
    assert join(inner) == "<b>&amp;</b>"
    assert escape(Markup("<i>")) == "<i>"


def test_pieces_may_be_nested_lazy_or_missing():
    assert (
        tag("ul", (tag("li", i) for i in range(2)), None, [[1.5]])
        == "<ul><li>0</li><li>1</li>1.5</ul>"
    )


def test_shapes_are_closed_since_browsers_do_not_close_them():
    assert tag("rect", width=1) == '<rect width="1"></rect>'
