import html

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesift import TermVectorizer
from bayesift.text import strip_html


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("plain text", "plain text"),
        ("a < b and c > d, <3 and x<y", "a < b and c > d, <3 and x<y"),
        ("<p>one</p><p>two</p>", " one  two "),
        ("pri<b>ces</b> H<sub>2</sub>O", "prices H2O"),
        ("one<br/>two<br>three<hr />", "one two three "),
        ("<A HREF='x'>Link</A> <abbr>etc</abbr><address>home</address>", "Link etc home "),
        ("be<!-- a <b> comment -->fore<!----> <!-->after", "before after"),
        ("kept<!-- never closed <p>", "kept"),
        ("x<script type='a>b'>if (a<b) '</p>'; <!-- </script>y", "xy"),
        ("x<STYLE>p {color: red}</style >y<script>never closed", "xy"),
        ("<scripture>kept</scripture>", " kept "),
        ("<a title=\"1 > 0\" href=x>y</a><img alt='a>b'>", "y "),
        ("<p title=it's>x</p><p a=\"1>y", " x  y"),
        ("<!DOCTYPE html><?xml version='1'?>x<![CDATA[y]]>", "  x "),
        ("&lt;b&gt; &amp;amp; &eacute;&#x20AC;&#8364;&notit; &copy", "<b> &amp; é€€¬it; ©"),
        ("unclosed <b at the end", "unclosed <b at the end"),
    ],
)
def test_the_text_of_html(markup, text):
    assert strip_html(markup) == text


@given(st.text(st.sampled_from("&#;xamplt0189 <>é"), max_size=40))
def test_entities_are_those_of_the_standard_library(text):
    plain = text.replace("<", " ")
    assert strip_html(plain) == html.unescape(plain)


@given(st.text(st.sampled_from("<>/!-=\"'ab script style&;"), max_size=60))
def test_any_text_is_read(text):
    strip_html(text)


@pytest.mark.parametrize(
    "start",
    ["<", "<a ", "<a href='", '<a href="', "<!--", "<script>", "</", "<a =", "<p>", "&"],
)
def test_a_text_of_open_tags_is_read_once(start):
    assert (
        len(strip_html(start * 100_000)) <= len(start) * 100_000
    )  # hours, if each tag read the text to its end


def test_a_vectorizer_of_html():
    texts = ["<p>Corn &amp; w&uuml;rze</p><script>var oil</script>", "no markup", "a &lt; b"]
    vectorizer = TermVectorizer(strip_html=True)
    assert vectorizer.fit(texts).vocabulary_.names == ["corn", "markup", "no", "würze"]
    X = TermVectorizer(strip_html=True).fit_transform(pa.array(texts))
    assert (X.toarray() == vectorizer.transform(texts).toarray()).all()
    assert "script" in TermVectorizer().fit(texts).vocabulary_
