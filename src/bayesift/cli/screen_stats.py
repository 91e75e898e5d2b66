"""`bayesift screen stats`: the numbers of a review."""

from __future__ import annotations

import json
import statistics
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from bayesift.cli.console import print_note, stdout, table
from bayesift.cli.options import AsJson

if TYPE_CHECKING:
    from bayesift.screening import PrismaFlow, Project, StageCounts


def stats(
    project: Annotated[
        Path,
        Argument(metavar="PROJECT", help="Folder of a review.", exists=True, file_okay=False),
    ],
    chart: Annotated[
        Path | None,
        Option(help="Write the PRISMA flow diagram to this file, as SVG.", dir_okay=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print PRISMA counts, agreement, times and a methods paragraph."""
    from bayesift.screening import PrismaFlow, Project

    if chart is not None and chart.suffix.lower() != ".svg":
        raise typer.BadParameter(
            "a chart is an SVG file: choose a name that ends in .svg", param_hint="--chart"
        )
    with Project(project) as opened:
        flow = PrismaFlow.of(opened)
        found = {
            "prisma": _flow(flow),
            "reviewers": _reviewers(opened),
            "agreement": _agreement(opened),
            **_told(opened),
            "full_texts": len(opened.full_text_files),
        }
        held = {file.digest for file in opened.full_text_files.values()}
        for trouble in opened.full_texts.troubles(sorted(held)):
            print_note(f"bayesift: {trouble}")
    if chart is not None:
        flow.chart().save(chart)
        print_note(f"chart: {chart}")
    if as_json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        _print(flow, found)


def _told(project: Project) -> dict[str, Any]:
    """Write what the page says too: a paragraph for the paper, and where rules would stop."""
    from bayesift.screening import RankedRecords, look_back, methods_paragraph

    if not any(record.has_text for record in project.records.values()):
        return {"methods": methods_paragraph(project, "no record can be ranked")}
    ranked = RankedRecords(project, snapshots=project.snapshot_folder, fit=False)
    left = ranked.progress().stopping_line()
    return {
        "methods": methods_paragraph(project, left, ranked.describe()),
        "looking_back": look_back(ranked).sentences(),
    }


def _flow(flow: PrismaFlow) -> dict[str, Any]:
    return {
        "identified": flow.identified,
        "duplicates": flow.duplicates,
        "without_text": flow.without_text,
        "records": flow.n_records,
        "screened": flow.screening.n_screened,
        "stages": {
            name: _stage(counts)
            for name, counts in (("abstract", flow.screening), ("full text", flow.full_texts))
            if counts is not None
        },
        "included": flow.included,
    }


def _stage(counts: StageCounts) -> dict[str, Any]:
    excluded = {reason or "no reason": count for reason, count in counts.excluded.items()}
    return {**asdict(counts), "excluded": excluded}


def _reviewers(project: Project) -> dict[str, Any]:
    """Count decisions, share not excluded, and median seconds per record, of each reviewer."""
    found = {}
    for name in dict.fromkeys(by for held in project.decisions.values() for by in held):
        mine = [held[name] for held in project.decisions.values() if name in held]
        seconds = [decision.seconds for decision in mine if decision.seconds is not None]
        found[name] = {
            "decisions": len(mine),
            "prevalence": sum(decision.verdict != "excluded" for decision in mine) / len(mine),
            "median_seconds": statistics.median(seconds) if seconds else None,
            "hours": sum(seconds) / 3600.0,
        }
    return found


def _agreement(project: Project) -> dict[str, Any] | None:
    from bayesift.screening import Agreement

    names = dict.fromkeys(by for held in project.decisions.values() for by in held)
    ratings = [
        {
            record: held[name].verdict
            for record, held in project.decisions.items()
            if name in held
        }
        for name in names
    ]
    if len(ratings) < 2:
        return None
    found = Agreement.of(ratings)
    if not found.n_records:
        return None
    values = {
        "agreement": found.agreement,
        "kappa": found.kappa,
        "ac1": found.ac1,
        "alpha": found.alpha,
    }
    known = {name: None if value != value else value for name, value in values.items()}
    return {"records": found.n_records, **known, "prevalence": dict(found.prevalence)}


def _print(flow: PrismaFlow, found: dict[str, Any]) -> None:
    console = stdout()
    counts = table("records", "")
    for name, count in flow.identified.items():
        counts.add_row(f"identified in {name}", f"{count:,}")
    for name, count in (("duplicates joined", flow.duplicates), ("to screen", flow.n_records)):
        counts.add_row(name, f"{count:,}")
    if found["full_texts"]:
        counts.add_row("with a full text attached", f"{found['full_texts']:,}")
    if flow.without_text:
        counts.add_row("without title and abstract, listed apart", f"{flow.without_text:,}")
    console.print(counts)
    _print_stage("titles and abstracts", flow.screening)
    if flow.full_texts is not None:
        _print_stage("full texts", flow.full_texts)
    if found["reviewers"]:
        people = table("\nreviewer", "decisions", "not excluded", "seconds per record")
        for name, each in found["reviewers"].items():
            seconds = "" if each["median_seconds"] is None else f"{each['median_seconds']:.1f}"
            people.add_row(name, f"{each['decisions']:,}", f"{each['prevalence']:.1%}", seconds)
        console.print(people)
    if found["agreement"] is not None:
        _print_agreement(found["agreement"])
    for title, lines in (
        ("where it could have stopped", found.get("looking_back", [])),
        ("for the methods section", [found["methods"]]),
    ):
        console.print(f"\n{title}", style="bold")
        for line in lines:
            console.print(line, highlight=False, markup=False)


def _print_stage(title: str, found: StageCounts) -> None:
    shown = table(f"\n{title}", "")
    shown.add_row("screened", f"{found.n_screened:,}")
    for reason, count in found.excluded.items():
        shown.add_row(f"excluded{f': {reason}' if reason else ''}", f"{count:,}")
    for name, count in (
        ("included", found.included),
        ("maybe", found.maybe),
        ("in conflict", found.conflict),
        ("waiting for a second reviewer", found.waiting),
        ("not yet screened", found.open),
    ):
        shown.add_row(name, f"{count:,}")
    stdout().print(shown)


def _print_agreement(found: dict[str, Any]) -> None:
    shown = table(f"\nagreement on {found['records']:,} records", "")
    names = {
        "agreement": "same decision",
        "kappa": "Cohen's kappa",
        "ac1": "Gwet's AC1",
        "alpha": "Krippendorff's alpha",
    }
    for key, name in names.items():
        if found[key] is not None:
            shown.add_row(
                name, f"{found[key]:.1%}" if key == "agreement" else f"{found[key]:.3f}"
            )
    stdout().print(shown)
