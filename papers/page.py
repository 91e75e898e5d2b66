"""Findings as one self-contained HTML page."""

from __future__ import annotations

from pathlib import Path

from bayesift.report import Fact
from bayesift.report.pages import Section, render_page, section_template
from papers.findings import Finding, flag_counts
from papers.printed import paper
from papers.rendering import MEANINGS, lay_out, others_table, readings_used, times_column
from papers.running import Reproduction


def findings_page(made: Reproduction, *, command: str, date: str) -> str:
    """Return an HTML document of all findings."""
    facts = [Fact("measured on", date), Fact("by", command)]
    if made.extent.quick:
        facts.append(
            Fact(
                "quick",
                "on a sample of the documents: nothing here can be compared with the papers",
            )
        )
    facts += [
        Fact(f"cells: {kind}", f"{count:,}")
        for kind, count in flag_counts(made.findings).items()
        if count
    ]
    sections = [_section(finding) for finding in made.findings]
    return render_page("Tables and figures, paper beside ours", facts, sections)


def _section(finding: Finding) -> Section:
    template = section_template(Path(__file__).with_name("finding.html").read_text("utf-8"))
    content = {
        "finding": finding,
        "layout": lay_out(finding),
        "reference": paper(finding.name.partition(":")[0]).reference,
        "times": times_column(finding),
        "meanings": MEANINGS,
        "readings": readings_used(finding),
        "others": others_table(finding.others) if finding.others else [],
    }
    return Section(finding.name.replace(":", "-"), finding.name, template, content)
