"""The worst mistakes: what the text says, and which words misled the model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bayesift.report.bars import word_bars
from bayesift.report.content import Mistake, Span, WordWeight
from bayesift.report.html import Markup, element, join, name_of
from bayesift.report.numbers import percent, signed, sureness
from bayesift.report.page import Section

_EXCERPT = 700
_SHOWN_WORDS = 6
_MARKED_SHARE = 0.25  # of the largest contribution: marking every word would mark none
_BLANKS = re.compile(r"[^\S\n]+|\n\s*\n\s*")


def mistakes_section(mistakes: Sequence[Mistake]) -> Section:
    """Wrong decisions, the surest first, with an excerpt and the words that spoke for and against.

    Examples
    --------
    >>> part = mistakes_section([Mistake("17", "spam", True, ("ham",), ("spam",), 0.99, (Span("Free <b>"),))])
    >>> "Free &lt;b&gt;" in part.markup, "99.0% sure" in part.markup
    (True, True)
    """
    note = (
        "Wrong decisions of which the model was surest. Often the label is wrong, the text is unusual, or one word "
        "carries too much. Underlined words spoke for the category, dotted ones against it; numbers are what a word "
        "added to the log odds."
    )
    return Section(
        "mistakes",
        "Worst mistakes",
        join(
            element("p", note, class_="soft"),
            map(_mistake, mistakes),
        ),
    )


def _mistake(mistake: Mistake) -> Markup:
    largest = max((abs(word.weight) for word in mistake.words), default=1.0)
    words = _sides(mistake.words, largest) if mistake.words else None
    text = element("blockquote", _excerpt(mistake.excerpt, largest) or "(no text)", dir="auto")
    return element(
        "article",
        element("h3", name_of(mistake.document)),
        _verdict(mistake),
        element("div", text, words, class_="evidence"),
        class_="mistake",
    )


def _verdict(mistake: Mistake) -> Markup:
    sure = None if mistake.confidence is None else f", {sureness(mistake.confidence)} sure"
    if mistake.assigned and mistake.decided == (mistake.category,):
        done, also = "Taken for ", None
    else:
        done = "Wrongly assigned " if mistake.assigned else "Missed "
        also = join("; the model says ", _tags(mistake.decided, "")) if mistake.decided else "; the model assigned none"
    wrong = _tags([mistake.category], "bad")
    truth = join(" It is ", _tags(mistake.truth, "good")) if mistake.truth else " It belongs to no category"
    return element("p", done, wrong, sure, ".", truth, also, ".", _background(mistake), class_="verdict")


def _background(mistake: Mistake) -> Markup:
    """What was there besides the words: the prior, and words that say nothing."""
    prior = None if mistake.prior is None else f" Log odds before any word: {signed(mistake.prior)}."
    unseen = f" {percent(mistake.unseen_share)} of its words are new to the model." if mistake.unseen_share else None
    return element("span", prior, unseen, class_="soft")


def _tags(names: Sequence[str], kind: str) -> Markup:
    tags = [name_of(name, class_=f"tag {kind}".strip()) for name in names]
    return join(tags[0], ([" ", tag] for tag in tags[1:]))


def _sides(words: Sequence[WordWeight], largest: float) -> Markup:
    """What spoke for and what against, on one scale."""
    spoke_for = [word for word in words if word.weight > 0][:_SHOWN_WORDS]
    against = [word for word in words if word.weight < 0][:_SHOWN_WORDS]
    sides = (("for", spoke_for), ("against", against))
    return element("div", (_side(name, side, largest) for name, side in sides), class_="sides")


def _side(name: str, words: Sequence[WordWeight], largest: float) -> Markup:
    listed = word_bars(words, largest=largest, numbers=True) if words else element("p", "nothing", class_="soft")
    return element("div", element("h4", f"spoke {name} it"), listed)


def _excerpt(spans: Sequence[Span], largest: float) -> Markup:
    return join(_marked(span, largest) for span in _beginning(spans))


def _beginning(spans: Sequence[Span]) -> Iterator[Span]:
    """The spans up to the length of an excerpt, with runs of blanks and empty lines made one."""
    left = _EXCERPT
    for span in spans:
        # A span may hold a megabyte: only its beginning is looked at.
        text = _BLANKS.sub(lambda blank: "\n" if "\n" in blank.group() else " ", span.text[: 4 * _EXCERPT])
        if len(text) > left:
            yield Span(text[:left].rstrip() + " …", span.contribution)
            return
        left -= len(text)
        yield Span(text, span.contribution)


def _marked(span: Span, largest: float) -> Markup:
    if abs(span.contribution) < _MARKED_SHARE * largest:
        return join(span.text)
    side = "for" if span.contribution > 0 else "against"
    strong = " strong" if abs(span.contribution) > largest / 2 else ""
    return element("mark", span.text, class_=side + strong, title=signed(span.contribution))
