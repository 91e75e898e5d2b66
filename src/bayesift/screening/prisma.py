"""The flow of records through a review: the numbers of a PRISMA 2020 statement, and its diagram."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from markupsafe import Markup

from bayesift.charts.svg import Chart, drawing, tag
from bayesift.screening.review_log import ABSTRACT, FULL_TEXT, ReviewReading, Stage

# The lines of a box of the diagram, and those of the box beside it.
Stagebox = tuple[Sequence[str], Sequence[str]]

_PAGE_WIDTH = 640
_NARROW_WIDTH = 330
_BOX_WIDTH = 270
_LEFT_BOX_X = 20
_RIGHT_BOX_X = 350
_NARROW_SIDE_X = 50  # of a box that stands below the one it belongs to
_LINE_HEIGHT = 17
_PADDING = 12
_BOX_GAP = 30
_LETTERS_PER_LINE = 40  # of a line in a box
_LETTERS_PER_TITLE = 33  # which is in larger and bold letters
_UNBROKEN_NUMBER = "n\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"  # is not wrapped
_RANKING = "It ranks the records by a linear model that is learned again after every decision."
_MAX_LISTED = 8  # sources or reasons; the others are counted together
# Names of files that come from registers of trials; all others come from databases.
_REGISTER = re.compile(
    r"clinical ?trials|ictrp|isrctn|euctr|ctis|drks|anzctr|prospero|regist", re.IGNORECASE
)
# Reasons that say that a report could not be read.
_NOT_RETRIEVED = re.compile(
    r"not (retriev|available|found|access|obtain)|unavailable|no full[ -]?text", re.IGNORECASE
)


@dataclass(frozen=True)
class StageCounts:
    """How many records of a stage are in which state.

    Parameters
    ----------
    excluded : by reason; "" without one
    included, maybe : decided for good
    waiting : for a second reviewer
    conflict : decided in two ways, and not resolved
    open : without a decision
    """

    excluded: dict[str, int]
    included: int
    maybe: int = 0
    waiting: int = 0
    conflict: int = 0
    open: int = 0

    @classmethod
    def of(cls, log: ReviewReading, stage: Stage) -> StageCounts:
        """Count the records of a stage of a review."""
        records = log.stage_records(stage)
        statuses = log.count_statuses(stage)
        return cls(
            _reasons(log, records, stage),
            statuses["included"],
            statuses["maybe"],
            statuses["waiting"],
            statuses["conflict"],
            statuses["open"],
        )

    @property
    def n_excluded(self) -> int:
        """Records excluded for any reason."""
        return sum(self.excluded.values())

    @property
    def n_screened(self) -> int:
        """Records on which all their reviewers have decided."""
        return self.n_excluded + self.included + self.maybe + self.conflict

    @property
    def n_records(self) -> int:
        """Records of the stage."""
        return self.n_screened + self.waiting + self.open

    def unsettled(self, open_name: str) -> list[str]:
        """Return a line for each state that is not yet an inclusion or exclusion."""
        counts = (
            (open_name, self.open),
            ("waiting for a second reviewer", self.waiting),
            ("in conflict", self.conflict),
            ("maybe", self.maybe),
        )
        return [f"{name} (n = {count:,})" for name, count in counts if count]


@dataclass(frozen=True)
class PrismaFlow:
    """How many records came in, were joined, screened, excluded and included.

    Parameters
    ----------
    identified : records by the file they came from
    duplicates : records that were joined to another one
    screening : the states of all records after that, by title and abstract
    full_texts : the states of those included by title and abstract; None without such a stage
    stopped : whether the screening was stopped, so that the open records are those that the
        ranking left out
    without_text : records without title, abstract and keywords, which cannot be ranked and are
        listed apart

    Examples
    --------
    >>> files = {"pubmed.nbib": 120, "scopus.ris": 90}
    >>> excluded = {"wrong population": 100, "": 50}
    >>> flow = PrismaFlow(files, 40, StageCounts(excluded, 13, waiting=3, open=4))
    >>> flow.n_identified, flow.n_records, flow.screening.n_screened, flow.included
    (210, 170, 163, 13)
    """

    identified: dict[str, int]
    duplicates: int
    screening: StageCounts
    full_texts: StageCounts | None = None
    stopped: bool = False
    without_text: int = 0

    @classmethod
    def of(cls, log: ReviewReading) -> PrismaFlow:
        """Count the numbers of a review as it is now."""
        identified = Counter(
            Path(reference.file).name or "records" for reference in log.references
        )
        full_texts = None
        if log.settings.full_texts or any(log.decided(FULL_TEXT)):
            full_texts = StageCounts.of(log, FULL_TEXT)
        return cls(
            dict(identified),
            len(log.references) - len(log.records),
            StageCounts.of(log, ABSTRACT),
            full_texts,
            log.stopped is not None,
            sum(not record.has_text for record in log.records.values()),
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
    def included(self) -> int:
        """Records included by the last stage."""
        return (self.full_texts or self.screening).included

    @property
    def n_not_retrieved(self) -> int:
        """Full texts that were excluded because they could not be read."""
        if self.full_texts is None:
            return 0
        return sum(
            n for why, n in self.full_texts.excluded.items() if _NOT_RETRIEVED.search(why)
        )

    @property
    def n_by_automation(self) -> int:
        """Records that were not screened because the screening was stopped."""
        return self.screening.open if self.stopped else 0

    def chart(self, *, narrow: bool = False) -> FlowDiagram:
        """Draw the flow as a diagram; `narrow` for a small screen."""
        stages = [self._identification(), self._screening()]
        if self.full_texts is not None:
            stages += [self._retrieval(), self._assessment(self.full_texts)]
        stages.append(([f"Studies included in review (n = {self.included:,})"], []))
        return FlowDiagram(tuple(stages), narrow=narrow)

    def _identification(self) -> Stagebox:
        databases: dict[str, int] = {}
        registers: dict[str, int] = {}
        for name, count in self.identified.items():
            (registers if _REGISTER.search(name) else databases)[name] = count
        lines = [f"Records identified from (n = {self.n_identified:,}):"]
        for title, files in (("Databases", databases), ("Registers", registers)):
            lines += _indented([f"{title} (n = {sum(files.values()):,})"])
            for name, count in _shortened(files, "other files"):
                lines.append(f"    {name} (n = {count:,})")
        removed = [
            "Records removed before screening:",
            f"  Duplicate records removed (n = {self.duplicates:,})",
            "  Marked as ineligible by automation tools (n = 0)",
        ]
        return lines, removed

    def _screening(self) -> Stagebox:
        counts = self.screening
        excluded = _with_reasons("Records excluded by reviewers", counts.excluded)
        if self.stopped:
            counts = replace(counts, open=0)
            excluded.append(
                "Records left out by the ranking when the screening was stopped "
                f"(n = {self.n_by_automation:,})"
            )
        lines = [f"Records screened (n = {counts.n_screened:,})"]
        lines += _indented(counts.unsettled("not yet screened"))
        if self.without_text:
            apart = f"without title and abstract, listed apart (n = {self.without_text:,})"
            lines += _indented([apart])
        return lines, excluded

    def _retrieval(self) -> Stagebox:
        sought = f"Reports sought for retrieval (n = {self.screening.included:,})"
        return [sought], [f"Reports not retrieved (n = {self.n_not_retrieved:,})"]

    def _assessment(self, counts: StageCounts) -> Stagebox:
        found = counts.excluded.items()
        reasons = {why: count for why, count in found if not _NOT_RETRIEVED.search(why)}
        assessed = counts.n_screened - self.n_not_retrieved
        lines = [f"Reports assessed for eligibility (n = {assessed:,})"]
        return (
            [*lines, *_indented(counts.unsettled("not yet assessed"))],
            _with_reasons("Reports excluded", reasons),
        )


def methods_paragraph(log: ReviewReading, stopping: str, ranking: str = "") -> str:
    """Write what a paper says of the screening, with the numbers of a review filled in.

    Parameters
    ----------
    log : of the review
    stopping : what is known of the records that are left, in a sentence
    ranking : how the records are ranked, in sentences, as `RankedRecords.describe` says it

    Examples
    --------
    >>> from bayesift.references import Reference
    >>> from bayesift.screening import ReviewLog
    >>> records = [Reference(title="Corn", file="a.ris"), Reference(title="Gold", file="a.ris")]
    >>> log = ReviewLog(records, [1, 2])
    >>> methods_paragraph(log, "too early to say").startswith("We identified 2 records in 1 file")
    True
    """
    flow = PrismaFlow.of(log)
    counts = flow.screening
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
        f"be screened. Titles and abstracts were screened with bayesift {version('bayesift')}.",
        ranking or _RANKING,
        f"{_number(len(reviewers), 'reviewer')} screened {counts.n_screened:,} records, each by "
        f"{manner};",
        f"{counts.n_excluded:,} were excluded.",
    ]
    if twice:
        parts.append(
            f"{len(log.resolutions[ABSTRACT]):,} conflicts were resolved by a further decision."
        )
    parts += _unsettled(counts, "record")
    if flow.without_text:
        parts.append(
            f"{_number(flow.without_text, 'record')} without title, abstract and keywords could "
            "not be ranked and came after all others."
        )
    if flow.full_texts is not None:
        parts.append(
            f"{flow.full_texts.n_screened:,} full texts were assessed, and "
            f"{flow.full_texts.n_excluded:,} excluded."
        )
        parts += _unsettled(flow.full_texts, "full text")
    parts.append(f"{flow.included:,} records were included.")
    if counts.open:
        why = ""
        if log.stopped is not None:
            why = f" The screening was stopped: {log.stopped.data['reason'].rstrip('.')}."
        parts.append(
            f"{counts.open:,} records were not screened; estimate of what is left: {stopping}.{why}"
        )
    return " ".join(parts)


def _unsettled(counts: StageCounts, noun: str) -> list[str]:
    """Say in sentences what is not decided for good."""
    sentences = []
    if counts.waiting:
        waits = "waits" if counts.waiting == 1 else "wait"
        sentences.append(
            f"{_number(counts.waiting, noun)} still {waits} for a second reviewer."
        )
    if counts.conflict:
        still = "is" if counts.conflict == 1 else "are"
        sentences.append(f"{_number(counts.conflict, noun)} {still} in conflict, not resolved.")
    if counts.maybe:
        was = "was" if counts.maybe == 1 else "were"
        sentences.append(f"{_number(counts.maybe, noun)} {was} marked as maybe.")
    return sentences


@dataclass(frozen=True)
class FlowDiagram(Chart):
    """Boxes from top to bottom, each with a box beside it for what leaves the flow there.

    Parameters
    ----------
    stages : lines of the box, and of the one beside it; an empty list for none
    """

    stages: Sequence[Stagebox]
    title: str = "Flow of records"
    caption: str = "Flow of records after PRISMA 2020."
    narrow: bool = False

    @property
    def svg(self) -> Markup:
        """The drawing."""
        drawn: list[Markup] = []
        top = 10.0
        middle = _LEFT_BOX_X + _BOX_WIDTH / 2
        draw = self._draw_below if self.narrow else self._draw_beside
        for number, (main, side) in enumerate(self.stages):
            lines = _wrapped(main)
            drawn.append(_box(_LEFT_BOX_X, top, lines))
            bottom = draw(drawn, top, lines, _wrapped(side))
            if number < len(self.stages) - 1:
                if not self.narrow:
                    drawn += _arrow(
                        middle, top + _height(lines), bottom + _BOX_GAP, across=False
                    )
                elif not side:
                    drawn += _arrow(middle, bottom, bottom + _BOX_GAP, across=False)
                top = bottom + _BOX_GAP
        told = "; ".join(line.strip() for stage in self.stages for box in stage for line in box)
        width = _NARROW_WIDTH if self.narrow else _PAGE_WIDTH
        return drawing(self.title, width, int(bottom + 10), drawn, description=told)

    def _draw_beside(
        self, drawn: list[Markup], top: float, main: Sequence[str], side: Sequence[str]
    ) -> float:
        """Draw what leaves the flow beside a box; return where the lower of the two ends."""
        height = _height(main)
        if not side:
            return top + height
        drawn.append(_box(_RIGHT_BOX_X, top, side))
        across = top + min(height, _height(side)) / 2
        drawn += _arrow(_LEFT_BOX_X + _BOX_WIDTH, across, _RIGHT_BOX_X, across=True)
        return top + max(height, _height(side))

    def _draw_below(
        self, drawn: list[Markup], top: float, main: Sequence[str], side: Sequence[str]
    ) -> float:
        """Draw what leaves the flow below a box, set in; return where it ends."""
        bottom = top + _height(main)
        if not side:
            return bottom
        below = bottom + _BOX_GAP / 3
        drawn.append(_box(_NARROW_SIDE_X, below, side))
        # A line at the left leads to that box, and on to the next stage.
        x = (_LEFT_BOX_X + _NARROW_SIDE_X) / 2
        drawn += _arrow(x, bottom, below + _height(side) + _BOX_GAP, across=False)
        drawn += _arrow(x, below + _height(side) / 2, _NARROW_SIDE_X, across=True)
        return below + _height(side)


def _reasons(log: ReviewReading, records: Iterable[str], stage: Stage) -> dict[str, int]:
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


def _shortened(counts: dict[str, int], others: str) -> list[tuple[str, int]]:
    ranked = sorted(counts.items(), key=lambda item: -item[1])
    rest = sum(count for _, count in ranked[_MAX_LISTED:])
    return [*ranked[:_MAX_LISTED], *([(others, rest)] if rest else [])]


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _wrapped(lines: Iterable[str]) -> list[str]:
    wrapped = []
    for line in lines:
        indent = len(line) - len(line.lstrip())
        width = _LETTERS_PER_LINE if indent else _LETTERS_PER_TITLE
        whole = line.replace("n = ", _UNBROKEN_NUMBER)
        for part in textwrap.wrap(
            whole, width, subsequent_indent=" " * (indent and indent + 2)
        ):
            wrapped.append(part.replace(_UNBROKEN_NUMBER, "n = "))
    return wrapped


def _height(lines: Sequence[str]) -> int:
    return len(lines) * _LINE_HEIGHT + 2 * _PADDING - 4


def _box(left: float, top: float, lines: Sequence[str]) -> Markup:
    height = _height(lines)
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
