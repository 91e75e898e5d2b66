import importlib
import os
import pkgutil
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

import bayesift
from bayesift.cli.app import app
from bayesift.cli.options import check_settings, read_settings
from bayesift.corpora import CATALOGUE, load_pydocs

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
REFERENCE = DOCS / "reference"
BLOCK = re.compile(r"^( *)```(python|console)\n(.*?)^\1```$", re.M | re.S)
SPARK = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.default.parallelism": "2",
}

load_pydocs = cache(load_pydocs)  # many pages begin with it


def name_of(page):
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES], ids=name_of
)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def blocks_of(page):
    """The languages and texts of a page's blocks."""
    for indent, language, text in BLOCK.findall(page.read_text()):
        yield language, "\n".join(line.removeprefix(indent) for line in text.splitlines())


@pytest.mark.parametrize(
    "page",
    [page for page in [ROOT / "README.md", *PAGES] if BLOCK.search(page.read_text())],
    ids=name_of,
)
def test_every_snippet_runs(page, tmp_path, monkeypatch):
    """The blocks of a page run from top to bottom, in one folder and one namespace."""
    if page == DOCS / "guides" / "scale-out.md":
        run_with_spark(page, tmp_path)
    else:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("bayesift.corpora.load_pydocs", load_pydocs)
        run_blocks(page)


def run_blocks(page):
    namespace = {}
    for language, block in blocks_of(page):
        if language == "python":
            exec(compile(block, page.name, "exec"), namespace)
        else:
            run_commands(block)


def run_with_spark(page, folder):
    """Run a page in its own process, because a Spark session stays open and would be reused."""
    pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
    if shutil.which("java") is None:
        pytest.skip("no Java on this machine")
    languages, blocks = zip(*blocks_of(page), strict=True)
    assert set(languages) == {"python"}
    (folder / "page.py").write_text("\n".join(blocks))
    (folder / "spark-defaults.conf").write_text(
        "".join(f"{name} {value}\n" for name, value in SPARK.items())
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "page.py"],
        cwd=folder,
        env={**os.environ, "SPARK_CONF_DIR": str(folder)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def run_commands(block):
    for line in re.findall(r"^\$ bayesift (.*)$", block.replace("\\\n", ""), re.M):
        done = CliRunner().invoke(app, shlex.split(line, comments=True))
        assert done.exit_code == 0, f"bayesift {line}: {done.output}\n{done.exception!r}"


def test_every_page_is_in_the_navigation():
    listed = re.findall(
        r"[\w/-]+\.md", yaml.safe_dump(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"])
    )
    assert sorted(listed) == [page.relative_to(DOCS).as_posix() for page in PAGES]


def public_packages():
    """Packages that users import from; the command line, the service and the kernels are none."""
    found = (
        module.name
        for module in pkgutil.walk_packages(bayesift.__path__, "bayesift.")
        if module.ispkg
    )
    names = [
        name
        for name in found
        if name.split(".")[1] not in ("cli", "service", "kernels", "reproduce")
    ]
    return [
        name
        for name in ["bayesift", *names]
        if hasattr(importlib.import_module(name), "__all__")
    ]


def test_every_public_name_is_in_the_reference():
    shown = {
        name
        for page in REFERENCE.glob("*.md")
        for name in re.findall(r"^::: ([\w.]+)", page.read_text(), re.M)
    }
    for package in public_packages():
        names = importlib.import_module(package).__all__
        missing = [
            name
            for name in names
            if package not in shown and not is_shown(package, name, shown)
        ]
        assert not missing, f"{package}: {', '.join(missing)} are not in docs/reference"


def is_shown(package, name, shown):
    """Whether a name that a package hands on is shown where it comes from."""
    value = getattr(importlib.import_module(package), name)
    homes = [
        other for other in shown if getattr(importlib.import_module(other), name, None) is value
    ]
    return bool(homes)


def test_the_page_of_the_http_api_is_current():
    program = runpy.run_path(str(REFERENCE / "http_api.py"))
    assert (REFERENCE / "http-api.md").read_text() == program["http_page"](), "run make docs"


def test_the_page_of_settings_is_current():
    program = runpy.run_path(str(REFERENCE / "settings.py"))
    assert (REFERENCE / "settings.md").read_text() == program["settings_page"](), (
        "run python docs/reference/settings.py"
    )


def test_the_page_of_roles_is_current():
    program = runpy.run_path(str(REFERENCE / "roles.py"))
    assert (REFERENCE / "roles.md").read_text() == program["roles_page"](), (
        "run python docs/reference/roles.py"
    )


def test_the_page_of_commands_is_current():
    program = runpy.run_path(str(REFERENCE / "commands.py"))
    assert (REFERENCE / "commands.md").read_text() == program["commands_page"](), (
        "run make docs"
    )


def test_cells_of_the_papers_stand_on_the_page_of_results_alone():
    copied = re.compile(r"\d / \d+\.\d+ \([+-]|\d → \d+\.\d+ \([+-]|\d / \d+\.\d+ → ")
    pages = [page for page in PAGES if copied.search(page.read_text())]
    assert pages == [DOCS / "results.md"]


def test_the_settings_of_the_papers_are_taken():
    page = (DOCS / "papers-in-code.md").read_text()
    rows = re.findall(r"--model ([\w-]+)((?: --set [^\s`]+)*)", page)
    assert len(rows) > 25
    for name, settings in rows:
        given = read_settings(settings.split(" --set ")[1:], "--set")
        check_settings(name, given, "--set")


def test_every_corpus_is_documented():
    page = (DOCS / "guides" / "bring-your-data.md").read_text()
    for name in CATALOGUE:
        assert name in page or name.startswith("screening-"), name


def test_version_is_in_the_changelog():
    assert f"## {bayesift.__version__}" in (ROOT / "CHANGELOG.md").read_text()
