"""The flow of records through a review: the numbers of a PRISMA 2020 statement, and its diagram."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from markupsafe import Markup

from bayesift.charts.svg import Chart, drawing, tag
from bayesift.screening.review_log import ABSTRACT, FULL_TEXT, ReviewLog, Stage

_PAGE_WIDTH = 640
_BOX_WIDTH = 270
_LEFT_BOX_X = 20
_RIGHT_BOX_X = 350
_LINE_HEIGHT = 17
_PADDING = 12
_BOX_GAP = 30
_LETTERS_PER_LINE = 40  # of a line in a box
_MAX_LISTED = 8  # sources or reasons; the others are counted together


@dataclass(frozen=True)
class PrismaFlow:
    """How many records came in, were joined, screened, excluded and included.

    Parameters
    ----------
    identified : records by the file they came from
    duplicates : records that were joined to another one
    excluded : by reason; "" without one
    included, maybe, open : records included, undecided between reviewers or by one, and not yet
        screened
    full_texts_excluded : by reason, among those included by title and abstract; None without such a
        stage
    full_texts_open : full texts that are not yet decided

    Examples
    --------
    >>> files = {"pubmed.nbib": 120, "scopus.ris": 90}
    >>> flow = PrismaFlow(files, 40, {"wrong population": 100, "": 50}, 15, 1, 4)
    >>> flow.n_identified, flow.n_records, flow.n_screened, flow.n_excluded
    (210, 170, 166, 150)
    """

    identified: dict[str, int]
    duplicates: int
    excluded: dict[str, int]
    included: int
    maybe: int = 0
    open: int = 0
    full_texts_excluded: dict[str, int] | None = None
    full_texts_open: int = 0

    @classmethod
    def of(cls, log: ReviewLog) -> PrismaFlow:
        """Count the numbers of a review as it is now."""
        identified = Counter(
            Path(reference.file).name or "records" for reference in log.references
        )
        statuses = Counter(log.status(record) for record in log.records)
        full_texts = None
        full_texts_open = 0
        included = statuses["included"]
        if log.settings.full_texts or any(log.decided(FULL_TEXT)):
            passed = log.stage_records(FULL_TEXT)
            full_texts = _reasons(log, passed, FULL_TEXT)
            included = sum(log.status(record, FULL_TEXT) == "included" for record in passed)
            full_texts_open = len(passed) - included - sum(full_texts.values())
        return cls(
            dict(identified),
            len(log.references) - len(log.records),
            _reasons(log, log.records, ABSTRACT),
            included,
            statuses["maybe"] + statuses["conflict"],
            statuses["open"] + statuses["waiting"],
            full_texts,
            full_texts_open,
        )

    @property
    def n_identified(self) -> int:
        """Records of all files."""
        return sum(self.identified.values())

    @property
    def n_records(self) -> int:
        """Records after duplicates were joined."""
        return self.n_identified - self.duplicates

    @property
    def n_screened(self) -> int:
        """Records with a decision."""
        return self.n_records - self.open

    @property
    def n_excluded(self) -> int:
        """Records excluded for any reason."""
        return sum(self.excluded.values())

    @property
    def n_assessed(self) -> int:
        """Full texts that were decided on."""
        if self.full_texts_excluded is None:
            return 0
        return self.included + sum(self.full_texts_excluded.values())

    def chart(self) -> FlowDiagram:
        """Draw the flow as a diagram."""
        sources = [
            f"{name} (n = {count:,})"
            for name, count in _shortened(self.identified, "other files")
        ]
        stages = [
            (
                [f"Records identified (n = {self.n_identified:,})", *_indented(sources)],
                _joined(self.duplicates),
            ),
            (
                [
                    f"Records screened (n = {self.n_screened:,})",
                    *_counted("not yet screened", self.open),
                ],
                _with_reasons("Records excluded", self.excluded),
            ),
        ]
        if self.full_texts_excluded is not None:
            assessed = f"Full texts assessed (n = {self.n_assessed:,})"
            stages.append(
                (
                    [assessed, *_counted("not yet assessed", self.full_texts_open)],
                    _with_reasons("Full texts excluded", self.full_texts_excluded),
                )
            )
        stages.append(
            (
                [
                    f"Records included (n = {self.included:,})",
                    *_counted("maybe, besides", self.maybe),
                ],
                [],
            ),
        )
        return FlowDiagram(tuple(stages))


def methods_paragraph(log: ReviewLog, stopping: str) -> str:
    """Write what a paper says of the screening, with the numbers of a review filled in.

    Parameters
    ----------
    log : of the review
    stopping : what is known of the records that are left, in a sentence

    Examples
    --------
    >>> from bayesift.references import Reference
    >>> records = [Reference(title="Corn", file="a.ris"), Reference(title="Gold", file="a.ris")]
    >>> log = ReviewLog(records, [1, 2])
    >>> methods_paragraph(log, "too early to say").startswith("We identified 2 records in 1 file")
    True
    """
    flow = PrismaFlow.of(log)
    reviewers = dict.fromkeys(by for held in log.decisions.values() for by in held)
    twice = log.settings.reviewers_per_record == 2
    if twice:
        manner = "two reviewers who were blind to one another until both had decided"
    else:
        manner = "one reviewer"
    parts = [
        f"We identified {flow.n_identified:,} records in {_number(len(flow.identified), 'file')}",
        f"({', '.join(flow.identified)}); after {flow.duplicates:,} duplicates were joined, "
        f"{flow.n_records:,} were to",
        f"be screened. Titles and abstracts were screened with bayesift {version('bayesift')}, "
        "which ranks the records",
        "by a linear model of their words (logistic loss, Gaussian prior) that is learned again "
        "after every decision.",
        f"{_number(len(reviewers), 'reviewer')} screened {flow.n_screened:,} records, each by "
        f"{manner};",
        f"{flow.n_excluded:,} were excluded.",
    ]
    if twice:
        parts.append(
            f"{len(log.resolutions[ABSTRACT]):,} conflicts were resolved by a further decision."
        )
    if flow.full_texts_excluded is not None:
        parts.append(
            f"{flow.n_assessed:,} full texts were assessed, and "
            f"{flow.n_assessed - flow.included:,} excluded."
        )
    parts.append(f"{flow.included:,} records were included.")
    if flow.open:
        if log.stopped is None:
            why = ""
        else:
            why = f" The screening was stopped: {log.stopped.data['reason'].rstrip('.')}."
        parts.append(
            f"{flow.open:,} records were not screened; estimate of what is left: {stopping}.{why}"
        )
    return " ".join(parts)


@dataclass(frozen=True)
class FlowDiagram(Chart):
    """Boxes from top to bottom, each with a box beside it for what leaves the flow there.

    Parameters
    ----------
    stages : lines of the box, and of the one beside it; an empty list for none
    """

    stages: Sequence[tuple[Sequence[str], Sequence[str]]]
    title: str = "Flow of records"
    caption: str = "Flow of records after PRISMA 2020."

    @property
    def svg(self) -> Markup:
        """The drawing."""
        drawn: list[Markup] = []
        top = 10
        middle = _LEFT_BOX_X + _BOX_WIDTH / 2
        for number, (main, side) in enumerate(self.stages):
            lines = _wrapped(main)
            beside = _wrapped(side)
            height = _height(lines)
            room = max(_height(lines), _height(beside))
            drawn.append(_box(_LEFT_BOX_X, top, height, lines))
            if beside:
                drawn.append(_box(_RIGHT_BOX_X, top, _height(beside), beside))
                across = top + min(height, _height(beside)) / 2
                drawn += _arrow(_LEFT_BOX_X + _BOX_WIDTH, across, _RIGHT_BOX_X, across=True)
            if number < len(self.stages) - 1:
                drawn += _arrow(middle, top + height, top + room + _BOX_GAP, across=False)
            top += room + _BOX_GAP
        told = "; ".join(line for main, side in self.stages for line in (*main, *side))
        return drawing(
            self.title, _PAGE_WIDTH, int(top - _BOX_GAP + 10), drawn, description=told
        )


def _reasons(log: ReviewLog, records: Iterable[str], stage: Stage) -> dict[str, int]:
    """Count the records excluded for each reason.

    A reason that several reviewers gave counts once.
    """
    reasons: Counter[str] = Counter()
    for record in records:
        if log.status(record, stage) == "excluded":
            resolved = log.resolutions[stage].get(record)
            held = [
                *([resolved] if resolved else []),
                *log.decisions_on(record, stage).values(),
            ]
            reasons[
                next((decision.reasons[0] for decision in held if decision.reasons), "")
            ] += 1
    return dict(reasons.most_common())


def _with_reasons(title: str, excluded: dict[str, int]) -> list[str]:
    lines = [
        f"{reason or 'no reason given'} (n = {n:,})"
        for reason, n in _shortened(excluded, "other reasons")
    ]
    return [
        f"{title} (n = {sum(excluded.values()):,})",
        *(_indented(lines) if any(excluded) else []),
    ]


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _joined(duplicates: int) -> list[str]:
    if duplicates:
        return [f"Duplicate records removed (n = {duplicates:,})"]
    return []


def _counted(name: str, count: int) -> list[str]:
    if count:
        return _indented([f"{name} (n = {count:,})"])
    return []


def _shortened(counts: dict[str, int], others: str) -> list[tuple[str, int]]:
    ranked = sorted(counts.items(), key=lambda item: -item[1])
    rest = sum(count for _, count in ranked[_MAX_LISTED:])
    return [*ranked[:_MAX_LISTED], *([(others, rest)] if rest else [])]


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _wrapped(lines: Iterable[str]) -> list[str]:
    return [
        part
        for line in lines
        for part in textwrap.wrap(line, _LETTERS_PER_LINE, subsequent_indent="    ")
    ]


def _height(lines: Sequence[str]) -> int:
    return len(lines) * _LINE_HEIGHT + 2 * _PADDING - 4


def _box(left: float, top: float, height: float, lines: Sequence[str]) -> Markup:
    frame = tag("rect", class_="box", x=left, y=top, width=_BOX_WIDTH, height=height, rx=4)
    texts = []
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        x = left + _PADDING + 5 * indent
        y = top + _PADDING + 9 + number * _LINE_HEIGHT
        texts.append(
            tag("text", line.strip(), class_="axis" if not indent else "small", x=x, y=y)
        )
    return tag("g", frame, texts)


def _arrow(x: float, y: float, end: float, *, across: bool) -> list[Markup]:
    tip = end - 1
    if across:
        head = f"M{tip - 6:g} {y - 4:g}L{tip:g} {y:g}L{tip - 6:g} {y + 4:g}"
        return [tag("path", class_="arrow", d=f"M{x:g} {y:g}L{tip:g} {y:g}{head}")]
    head = f"M{x - 4:g} {tip - 6:g}L{x:g} {tip:g}L{x + 4:g} {tip - 6:g}"
    return [tag("path", class_="arrow", d=f"M{x:g} {y:g}L{x:g} {tip:g}{head}")]
