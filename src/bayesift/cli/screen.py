"""`bayesift screen`: screen the records of a review, export them, count them, simulate."""

from __future__ import annotations

import getpass
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer
from typer import Argument, Option

from bayesift.cli.console import busy, print_note, print_problems, print_remarks
from bayesift.cli.options import Group, Quiet, add_command
from bayesift.cli.screen_simulate import simulate
from bayesift.cli.screen_stats import stats
from bayesift.errors import DataError

if TYPE_CHECKING:
    from bayesift.references import Reference
    from bayesift.screening import Project, ProjectSettings
    from bayesift.text import WordVectors

_DEFAULT = "open"


class _OpensFiles(Group):
    """A group whose first argument may be a file: then it is `open` that is meant."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("--help", "-h"):
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    name="screen",
    cls=_OpensFiles,
    help="Screen the records of a review, ranked by relevance.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
ProjectPath = Annotated[
    Path, Argument(metavar="PROJECT", help="Folder of a review.", exists=True, file_okay=False)
]

VectorsPath = Annotated[
    Path | None,
    Option(
        help="Word vectors to rank by meaning, a file or folder, instead of the installed ones.",
        exists=True,
    ),
]


def open_review(
    files: Annotated[
        list[Path],
        Argument(
            metavar="FILE...",
            help="Exports of databases and reference managers, or a project folder.",
        ),
    ],
    output: Annotated[
        Path | None,
        Option(
            "--output",
            "-o",
            help="Folder of the project; named after the first file by default.",
        ),
    ] = None,
    query: Annotated[
        str,
        Option(
            help="Description of what you look for; ranks records before the first decision."
        ),
    ] = "",
    criteria: Annotated[
        Path | None,
        Option(
            help="Text file of inclusion and exclusion criteria.", exists=True, dir_okay=False
        ),
    ] = None,
    prior: Annotated[
        Path | None,
        Option(
            help="Labelled records of an older review; kept in the project.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    highlight_include: Annotated[
        str | None,
        Option(
            help="Words and phrases to highlight for inclusion, with commas; random* is all that "
            "begins so. They do not change the ranking."
        ),
    ] = None,
    highlight_exclude: Annotated[
        str | None, Option(help="Words and phrases to highlight for exclusion.")
    ] = None,
    vectors: VectorsPath = None,
    reviewer: Annotated[
        str | None, Option(help="Your name; the name of your account by default.")
    ] = None,
    double: Annotated[
        bool, Option("--double", help="Every record is screened by two reviewers.")
    ] = False,
    keep_duplicates: Annotated[
        bool, Option("--keep-duplicates", help="Do not join duplicates.")
    ] = False,
    ignore_decisions: Annotated[
        bool,
        Option("--ignore-decisions", help="Do not use decisions that come with the files."),
    ] = False,
    serve: Annotated[
        bool, Option("--serve", help="Open the review on a web page instead of the terminal.")
    ] = False,
    port: Annotated[int, Option(help="Port of the page.", min=1, max=65535)] = 8765,
    plain: Annotated[
        bool,
        Option(
            "--plain", help="Read commands line by line, as when the input is not a terminal."
        ),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Screen records in the terminal, or on a web page.

    Starts a new project, or continues one. Every decision is saved before the next record is
    shown.
    """
    from bayesift.cli.screen_terminal import screen_in_terminal, screen_line_by_line
    from bayesift.cli.serve import serve_review, take_from_service
    from bayesift.screening import Review, is_project

    if len(files) == 1 and is_project(files[0]):
        folder = files[0]
    else:
        if not files[0].name:
            raise DataError("is a folder, and no project of a review", file=files[0])
        folder = output or files[0].with_suffix(".review")
        if not is_project(folder):
            settings = _settings(query, criteria, double=double)
            _begin(
                files,
                folder,
                settings,
                joined=not keep_duplicates,
                decided=not ignore_decisions,
                quiet=quiet,
            )
        elif not quiet:
            print_note(f"continuing {folder}; the files are not read again")
    name = reviewer or _account()
    with _opened(folder) as project:
        if criteria is not None or query:
            _check_unchanged(project, query)
        if prior is not None:
            _keep_prior(project, name, _labelled(prior))
        _keep_highlights(project, name, highlight_include, highlight_exclude)
        if serve and vectors is not None:
            raise typer.BadParameter(
                "the web page ranks with the installed word vectors", param_hint="--vectors"
            )
        if not quiet:
            _note_missing_vectors(vectors)
        if serve:
            serve_review(project, name, port)
            return
        take_from_service(project, name)
        with busy("ranking the records", quiet=quiet):
            review = Review(project, name, word_vectors=_word_vectors(vectors))
        if plain or not (sys.stdin.isatty() and sys.stdout.isatty() and find_spec("termios")):
            screen_line_by_line(review, sys.stdin, sys.stdout)
        else:
            screen_in_terminal(review)


def _note_missing_vectors(path: Path | None) -> None:
    from bayesift.text import WordVectors

    if path is None and WordVectors.installed() is None:
        print_note(
            'pip install "bayesift[screening]" ranks by meaning, too: relevant records came '
            "2% sooner in 14 reviews, and far sooner where abstracts are missing"
        )


def _word_vectors(path: Path | None) -> WordVectors | None:
    from bayesift.text import WordVectors

    if path is None:
        return None
    return WordVectors.load(path)


def export(
    project: ProjectPath,
    output: Annotated[
        Path, Option("--output", "-o", help="File to write; its suffix names the format.")
    ],
    only: Annotated[
        str | None,
        Option(
            help="Write only records that are: included, excluded, maybe, waiting (for a second "
            "reviewer), conflict, open, or several with commas."
        ),
    ] = None,
    sources: Annotated[
        bool, Option("--sources", help="Write every source of a record, duplicates too.")
    ] = False,
    vectors: VectorsPath = None,
    quiet: Quiet = False,
) -> None:
    """Write the records with decisions, reasons, ranks and probabilities."""
    from bayesift.screening import RankedRecords
    from bayesift.screening.export import export_references
    from bayesift.screening.review_log import Status

    wanted = {part.strip() for part in only.split(",")} if only else set()
    if unknown := wanted - set(get_args(Status)):
        raise typer.BadParameter(
            f"no {unknown.pop()!r}; there are: {', '.join(get_args(Status))}",
            param_hint="--only",
        )
    with _opened(project, writing=False) as opened:
        with busy("ranking the records", quiet=quiet):
            ranked = RankedRecords(
                opened, snapshots=opened.snapshot_folder, word_vectors=_word_vectors(vectors)
            )
            written = ranked.references(only=wanted, sources=sources)
        export_references(written, output)
    if not quiet:
        print_note(f"{output}: {len(written):,} records")


def _begin(
    files: list[Path],
    folder: Path,
    settings: ProjectSettings,
    *,
    joined: bool,
    decided: bool,
    quiet: bool,
) -> None:
    from bayesift.references import read_references
    from bayesift.screening import Duplicates, Project, find_duplicates

    with busy("reading records", quiet=quiet):
        found = read_references(files)
    if not quiet:
        for file in found.files:
            print_note(str(file))
        print_problems(found.refused)
        print_remarks([p for p in found.problems if p not in found.refused])
    with busy("looking for duplicates", quiet=quiet):
        alone = Duplicates(tuple((index,) for index in range(len(found))), ())
        duplicates = find_duplicates(found.references) if joined else alone
    with Project.create(folder, found, settings=settings, duplicates=duplicates) as project:
        n_decided = _take_over_decisions(project) if decided else 0
    if not quiet:
        print_note(
            f"{folder}: {len(duplicates.groups):,} records, {duplicates.n_removed:,} duplicates "
            "joined"
        )
        if duplicates.possible:
            print_note(
                f"  {len(duplicates.possible):,} pairs may be duplicates and were not joined"
            )
        if n_decided:
            print_note(
                f"  {n_decided:,} decisions were read from the files (--ignore-decisions)"
            )


def _take_over_decisions(project: Project) -> int:
    """Keep the decisions that came with the records as events of their reviewers."""
    given = [
        {"by": decision.reviewer or "file", "record": record.id, "verdict": decision.verdict}
        | ({"reasons": list(decision.reasons)} if decision.reasons else {})
        for record in project.records.values()
        for decision in record.reference.decisions
    ]
    project.append_all("decide", given)
    return len(given)


def _opened(folder: Path, *, writing: bool = True) -> Project:
    from bayesift.screening import Project

    project = Project(folder, writing=writing)
    print_note(project.note)
    return project


def _settings(query: str, criteria: Path | None, *, double: bool) -> ProjectSettings:
    from bayesift.screening import ProjectSettings

    included, excluded = _read_criteria(criteria) if criteria else ("", ())
    return ProjectSettings(query, included, excluded, 2 if double else 1)


def _read_criteria(path: Path) -> tuple[str, tuple[str, ...]]:
    """Read inclusion criteria as text, and exclusion criteria as reasons below their heading."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read ({error})", file=path) from error
    included: list[str] = []
    excluded: list[str] = []
    current = included
    for line in lines:
        text = re.sub(r"^\s*(?:[-*•#]+|\d+[.)])\s*", "", line).strip()
        heading = re.match(r"(in|ex)clu(?:sion|de)[\w ]*:?\s*$", text, re.IGNORECASE)
        if heading:
            current = included if heading[1].lower() == "in" else excluded
        elif text:
            current.append(text)
    return "\n".join(included), tuple(excluded)


def _check_unchanged(project: Project, query: str) -> None:
    if query and query != project.settings.query:
        print_note("the project keeps its first query; --query is ignored")


def _keep_prior(project: Project, reviewer: str, labelled: list[Reference]) -> None:
    """Keep the labels of an older review in the project, so that later sessions use them."""
    from bayesift.screening.review_log import prior_values

    if prior_values(labelled) != prior_values(project.prior):
        project.append("prior", by=reviewer, records=prior_values(labelled))


def _keep_highlights(
    project: Project, reviewer: str, include: str | None, exclude: str | None
) -> None:
    """Keep the words to highlight in the project; None leaves a list as it is."""
    from bayesift.screening.highlights import terms_of

    given = {"highlight_include": include, "highlight_exclude": exclude}
    changes: dict[str, Any] = {
        name: terms_of(text) for name, text in given.items() if text is not None
    }
    if changes and project.settings.changed(changes) != project.settings:
        project.append("settings", by=reviewer, **changes)


def _labelled(path: Path) -> list[Reference]:
    from bayesift.references import read_references

    found = [reference for reference in read_references(path) if reference.included is not None]
    if not found:
        raise DataError("holds no decisions to learn from", file=path)
    return found


def _account() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "reviewer"


add_command(
    app,
    open_review,
    "screen pubmed.nbib scopus.ris -o migraine --query 'triptans for migraine'",
    "screen migraine --serve",
    "screen records.csv --criteria criteria.txt --prior last-review.ris",
    name=_DEFAULT,
)
add_command(
    app,
    export,
    "screen export migraine -o screened.ris",
    "screen export migraine -o included.xlsx --only included",
)
add_command(app, stats, "screen stats migraine --chart flow.svg")
add_command(app, simulate, "screen simulate labelled.csv --starts 5 --chart recall.svg")
