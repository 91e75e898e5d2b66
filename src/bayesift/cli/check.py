"""`bayesift check`: what may be wrong with a corpus, and the options that help."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.markup import escape

from bayesift.cli.console import busy, print_note, stdout, table
from bayesift.cli.options import AsJson, CorpusName, CorpusOptions

if TYPE_CHECKING:
    from bayesift.corpora import Finding
    from bayesift.records import Corpus

_REPORTED_BY_FIT = ("no-labels", "blank-labels", "one-label", "empty-rows", "bad-rows")
_STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}


def check(
    corpus: CorpusName, as_json: AsJson = False, *, source: CorpusOptions = CorpusOptions()
) -> tuple[Finding, ...]:
    """Check a corpus: how it is read, and what may be wrong with it.

    Each finding comes with the option or the change that helps. Nothing is changed.
    """
    from bayesift.corpora import check_corpus

    loaded = replace(source, skip_bad=True).load(corpus)
    with busy(f"checking {len(loaded):,} documents"):
        findings = check_corpus(loaded)
    if as_json:
        summary = {
            "documents": len(loaded),
            "categories": len(loaded.categories),
            "splits": loaded.splits,
        }
        print(
            json.dumps(
                {**summary, "findings": [finding.as_dict() for finding in findings]}, indent=2
            )
        )
    else:
        _print_findings(loaded, findings)
    return findings


def _print_findings(corpus: Corpus, findings: tuple[Finding, ...]) -> None:
    console = stdout()
    labels = "no labels" if not corpus.categories else f"{len(corpus.categories):,} labels"
    console.print(f"[bold]{escape(corpus.name)}[/bold]: {len(corpus):,} documents, {labels}")
    if not findings:
        console.print("no problems found")
        return
    rows = table("", "found", "what to do", numbers=False)
    rows.expand = True
    rows.padding = (0, 2, 0, 0)
    rows.columns[1].ratio = 3
    rows.columns[2].ratio = 2
    for finding in findings:
        style = _STYLES[finding.severity]
        rows.add_row(
            f"[{style}]{finding.severity}[/{style}]",
            escape(finding.message),
            escape(finding.cure),
        )
    console.print()
    console.print(rows)


def print_findings(name: str, corpus: Corpus, *, strip_html: bool = False) -> None:
    """Print the errors and warnings about a corpus to stderr, one line each.

    Findings that `fit` reports or cures itself are left out.
    """
    from bayesift.corpora import check_corpus

    for finding in check_corpus(corpus, thorough=False):
        cured = strip_html and finding.name == "html"
        if finding.severity != "note" and finding.name not in _REPORTED_BY_FIT and not cured:
            print_note(f"{name}: {finding}")
