"""Scorers: one file of JavaScript, or one page, that classifies and explains texts."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from bayesift.classifier import TextClassifier
from bayesift.errors import DataError
from bayesift.export.content import content_of
from bayesift.files import whole_file

_MODEL = "(null)"  # what the model stands for in scorer.js
PAGE_SUFFIXES = (".html", ".htm")
SUFFIXES = (*PAGE_SUFFIXES, ".js")


def write_scorer(classifier: TextClassifier, path: str | Path, *, name: str = "model") -> None:
    """Write a scorer to a page (.html) or a file of JavaScript (.js).

    Parameters
    ----------
    classifier : fitted
    path : of the file, which is replaced
    name : the heading of the page

    Examples
    --------
    >>> write_scorer(classifier, "spam.html", name="Spam")  # doctest: +SKIP
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise DataError("must end in .html or .js", file=path)
    make = scorer_page if suffix in PAGE_SUFFIXES else scorer_script
    text = make(classifier, name=name)
    with whole_file(path, "w") as stream:
        stream.write(text)


def scorer_script(classifier: TextClassifier, *, name: str = "model") -> str:
    """Return JavaScript that classifies and explains texts as the classifier does.

    Its tokens and decisions are those of Python, its probabilities are within 1e-6. A model that
    it could not follow is refused: one with word vectors, stems, HTML, or that is not linear.

    Examples
    --------
    >>> classifier = TextClassifier(model="naive-bayes")
    >>> _ = classifier.fit(["corn and wheat", "oil tankers"], ["grain", "crude"])
    >>> script = scorer_script(classifier, name="Grain or crude")
    >>> "Grain or crude" in script
    True
    """
    source = resources.files(__package__).joinpath("scorer.js").read_text("utf-8")
    # No tag may end, and no comment begin, in the script of a page.
    content = json.dumps(
        content_of(classifier, name), ensure_ascii=False, separators=(",", ":")
    )
    for character in "<\u2028\u2029":
        content = content.replace(character, f"\\u{ord(character):04x}")
    before, after = source.split(_MODEL, 1)
    return f"{before}({content}){after}"


def scorer_page(classifier: TextClassifier, *, name: str = "model") -> str:
    """Return a page with a box for a text: probabilities, reasons and marked words.

    It loads nothing, and its policy forbids it to.

    Examples
    --------
    >>> classifier = TextClassifier(model="naive-bayes")
    >>> _ = classifier.fit(["corn and wheat", "oil tankers"], ["grain", "crude"])
    >>> page = scorer_page(classifier, name="Grain & crude")
    >>> "<title>Grain &amp; crude</title>" in page
    True
    """
    files = resources.files(__package__)
    templates = Environment(
        loader=PackageLoader(__package__, ""), autoescape=True, undefined=StrictUndefined
    )
    return templates.get_template("page.html").render(
        name=name,
        css=files.joinpath("page.css").read_text("utf-8"),
        script=files.joinpath("page.js").read_text("utf-8"),
        scorer=scorer_script(classifier, name=name),
    )
