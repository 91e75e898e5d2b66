"""Words that readers stumbled over: none of them in docstrings, comments, messages and help.

Each entry is a pattern and what the trade says instead. Add to the list when a reader stumbles.
"""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
# pages that programs write, and architecture.md, which is still to be rewritten
NOT_CHECKED = {"benchmarks.md", "results.md", "sparse-bayes-tables.md"}
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.name not in NOT_CHECKED),
    *sorted((ROOT / "src").rglob("*.js")),
]
PER = "model|category|class|document|file|row|paper|text|line|person|review|filter|term|topic"

ODD = {
    r"\bplaces? of\b|\bits place\b|\bplaces in\b": "index, indices, position",
    r"\b(\d+|of|the|few|so many|all|its|more|n) finds\b": "relevant records found",
    r"\bwitness(es)?\b": "prior-review model, outside score",
    r"\blikeness\b": "similarity",
    r"\bsomebody\b|\bwhoever\b": "a user, the caller",
    r"\bis no (?!t)\w+": "is not a ...",
    r"\bare none\b|(?-i:\bis none\b)": "is not recognised, is empty",
    rf"\b(one|two|three|\d+) a ({PER}|column|day|second)\b": "one per ...",
    r"\b(is|are|was|were|and) said\b|\bguessed and said\b|\bis told\b|\bare told\b": "reported",
    r"\bto expect:": "expected",
    r"\bthe best of us\b|\bof ours\b": "(name the thing)",
    r"\bnobody\b|\bno one told\b": "(say what is missing)",
    r"\bhas the news\b|\bapart from one another\b": "is newer, have diverged",
    r"\bin the form they came\b|\bthat labels are\b": "(say the type)",
    r"^(It is|They are|Of the|That of|Yes|No)\b[^:]{0,40}\.$": "a sentence with a subject",
    r"\byeses\b|\bheard\b|\bforeign ones\b|\bby lot\b": "positives, out-of-fold, at random",
}


def texts_of(source):
    """Yield (line, text) of docstrings, comments and literals with at least three words."""
    for node in ast.walk(ast.parse(source)):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and len(node.value.split()) >= 3:
            yield node.lineno, node.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")


def odd_words(name, texts):
    found = []
    for line, text in texts:
        for pattern, better in ODD.items():
            for match in re.finditer(pattern, text, re.I | re.M):
                found.append(f"{name}:{line} {match.group(0)!r}: {better}")
    return found


def test_the_list_finds_what_it_should():
    odd = '"""The places of words in it."""\nx = "it is no project"  # somebody said so\n'
    assert len(odd_words("x", texts_of(odd))) == 3
    assert not odd_words("x", texts_of('"""Return the indices of words."""\n'))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_sources_use_the_words_of_the_trade(path):
    assert not odd_words(path.name, texts_of(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_pages_use_the_words_of_the_trade(path):
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    assert not odd_words(path.name, lines)
