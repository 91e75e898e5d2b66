import re
from pathlib import Path

import pytest

from bayesift.datasets import CATALOGUE

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_readme_example_runs():
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})


def test_every_corpus_is_documented():
    page = (ROOT / "docs" / "datasets.md").read_text()
    for name in CATALOGUE:
        assert name in page or name.startswith("screening-"), name


def test_version_is_in_the_changelog():
    import bayesift

    assert f"## {bayesift.__version__}" in (ROOT / "CHANGELOG.md").read_text()
