"""The frame of a page: one file that asks nothing of the network, and whose policy forbids it to."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from bayesift.report.content import Fact, Measure
from bayesift.report.html import Markup, element, join, name_of, shortened
from bayesift.report.numbers import score


def page(title: str, facts: Sequence[Fact], sections: Sequence[Section]) -> str:
    """A whole HTML document.

    Examples
    --------
    >>> text = page("Spam <1>", [Fact("documents", "5")], [Section("scores", "Scores", Markup("All good."))])
    >>> text[:15], "<title>Spam &lt;1&gt;</title>" in text, 'href="#scores"' in text
    ('<!doctype html>', True, True)
    """
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy()),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", shortened(title)),
        element("style", _own_file("page.css")),
    )
    main = element(
        "main",
        element("header", element("h1", name_of(title)), _facts(facts), _contents(sections)),
        (section.markup for section in sections),
        element("footer", "Made by bayesift. This file is complete: it loads nothing from anywhere."),
    )
    body = element("body", main, element("script", _own_file("page.js")))
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page that the list of contents names.

    Parameters
    ----------
    place : its name in addresses
    heading : for readers
    body : what it shows

    Examples
    --------
    >>> Section("scores", "Scores", Markup("fine")).markup
    '<section id="scores"><h2>Scores</h2>fine</section>'
    """

    place: str
    heading: str
    body: Markup

    @property
    def markup(self) -> Markup:
        """The section as HTML."""
        return element("section", element("h2", self.heading), self.body, id=self.place)


def tiles(measures: Iterable[Measure]) -> Markup:
    """Measures in large figures, each with its meaning.

    Examples
    --------
    >>> ">0.840<" in tiles([Measure("micro F1", 0.84, "In one number.")])
    True
    """
    return element(
        "div",
        (
            element(
                "div",
                element("span", measure.name, class_="name"),
                element("span", score(measure.value), class_="value"),
                element("p", measure.meaning),
                class_="tile",
            )
            for measure in measures
        ),
        class_="tiles",
    )


def _facts(facts: Sequence[Fact]) -> Markup | None:
    if not facts:
        return None
    pairs = (
        join(element("dt", shortened(fact.name)), element("dd", element("bdi", shortened(fact.value, 300))))
        for fact in facts
    )
    return element("dl", pairs, class_="facts")


def _contents(sections: Sequence[Section]) -> Markup:
    links = (element("li", element("a", section.heading, href=f"#{section.place}")) for section in sections)
    return element("nav", element("ul", links, class_="contents"), aria_label="contents")


@cache
def _own_file(name: str) -> Markup:
    return Markup(files("bayesift.report").joinpath(name).read_text(encoding="utf-8"))


@cache
def _policy() -> str:
    """Nothing may be loaded; only our own script, named by its digest, may run."""
    digest = base64.b64encode(hashlib.sha256(_own_file("page.js").encode()).digest()).decode()
    allowed = f"style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
