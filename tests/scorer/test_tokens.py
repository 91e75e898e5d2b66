"""Terms and lower case in node are those of Python, whatever the characters."""

import re
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scorer.worlds import NEW_TEXTS, VECTORIZERS, with_vectorizer

ODD = (
    "aZé ßſﬁĳŉΣσςΆ'’·.İIıÅK̈̇ÀǅᾼⅫ①²_-9٣०"
    "漢字小麦々〇ひらがなヴァゞーｱｶﾞ가각"
    "ราคาน้ำมันກິນမြန်មាភាសា"
    "\u00ad\u200b\u200c\u200d\u2060\ufe0f\ufeff\U000e0100\u1680\u2003\u3000\x1c\x85\n\t\r\0"
    "𝔄𝟘😀👩‍💻🏽𠀀𐐀𞤀\ufffd\uffff\U0010ffff\ud800\udc00Ꭰꭰᲀꟊ"
)
PAIR = re.compile("[\ud800-\udbff](?=[\udc00-\udfff])")
TEXTS = st.text(st.sampled_from(ODD) | st.characters(exclude_categories=()), max_size=40)


def pairless(text):
    """A text without a lone high surrogate before a low one: JavaScript sees one character."""
    return PAIR.sub("", text)


@pytest.fixture(scope="module")
def pairs(scorer_of):
    """Vectorizers with different options, and scorers of their classifiers."""
    made = {}
    for name, options in VECTORIZERS.items():
        classifier = with_vectorizer(**options)
        made[name] = classifier.vectorizer_, scorer_of(classifier)
    return made


def expect_same_terms(vectorizer, scorer, text):
    found = dict(scorer("terms", text))
    assert found == vectorizer.term_counts(text)


@pytest.mark.parametrize("name", VECTORIZERS)
def test_terms_of_texts(pairs, name):
    for text in NEW_TEXTS:
        expect_same_terms(*pairs[name], text)


@pytest.mark.parametrize("name", VECTORIZERS)
@settings(max_examples=150)
@given(text=TEXTS)
def test_terms_of_odd_characters(pairs, name, text):
    expect_same_terms(*pairs[name], pairless(text))


@settings(max_examples=300)
@given(text=TEXTS)
def test_lower_case(pairs, text):
    text = pairless(text)
    assert pairs["default"][1]("lowerCase", text) == text.lower()


def test_every_character(pairs):
    """Each character within words, at their ends, and before a final sigma."""
    vectorizer, scorer = pairs["default"]
    step = 1 << 14
    for first in range(0, sys.maxunicode + 1, step):
        characters = [chr(point) for point in range(first, first + step)]
        # Not next to each other: two surrogates would be one character.
        text = "".join(f" a{character}b{character}Σ" for character in characters)
        found = dict(map(tuple, scorer("terms", text)))
        assert found == vectorizer.term_counts(text), hex(first)
