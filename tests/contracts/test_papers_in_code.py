"""docs/papers-in-code.md names only what there is."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "papers-in-code.md").read_text("utf-8")
FILES = [
    path for folder in ("src", "papers", "benchmarks") for path in (ROOT / folder).rglob("*.py")
]
WORDS = set(re.findall(r"[\w-]+", " ".join(path.read_text("utf-8") for path in FILES)))


# Commands have a test of their own, which runs them through the options of `fit`.
NAMES = [name for name in sorted(set(re.findall("`([^`]+)`", PAGE))) if "--" not in name]


@pytest.mark.parametrize("name", NAMES)
def test_names_are_in_the_code(name):
    if name.endswith(".py"):
        assert any((folder / name).is_file() for folder in (ROOT, ROOT / "src" / "bayesift"))
    else:
        assert set(re.findall(r"\b[A-Za-z_][\w-]*", name)) <= WORDS
