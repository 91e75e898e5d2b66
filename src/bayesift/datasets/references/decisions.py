"""Decisions, labels and annotations in the notes of a record, as Rayyan, ASReview and bayesift write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from bayesift.datasets.references.reference import Decision, Reference, Verdict

_WORDS: dict[Verdict, tuple[str, ...]] = {
    "included": ("1", "1.0", "true", "yes", "y", "in", "include", "included", "relevant", "accept", "accepted"),
    "excluded": ("0", "0.0", "false", "no", "n", "out", "exclude", "excluded", "irrelevant", "reject", "rejected"),
    "maybe": ("maybe", "unclear", "undecided", "conflict", "unsure"),
}
_VERDICTS: dict[str, Verdict] = {word: verdict for verdict, words in _WORDS.items() for word in words}

_MARKUP = re.compile(
    r"\s*\|?\s*\b(?P<name>(?:RAYYAN|BAYESIFT)-[A-Z0-9_-]+)\s*:\s*"
    r"(?P<value>.*?)\s*(?=\||\n|\b(?:RAYYAN|BAYESIFT)-[A-Z0-9_-]+\s*:|\Z)"
)
_PAIR = re.compile(r'"((?:[^"\\]|\\.)*)"\s*=>\s*"((?:[^"\\]|\\.)*)"')
_ASREVIEW = re.compile(r"\bASReview_(relevant|irrelevant|not_seen)\b;?\s*", re.IGNORECASE)


class Judgements(NamedTuple):
    """What notes say, and the notes without it."""

    notes: tuple[str, ...]
    decisions: tuple[Decision, ...] = ()
    labels: tuple[str, ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()


def read_verdict(value: object) -> Verdict | None:
    """The verdict that a word or number stands for; None if it is none.

    Examples
    --------
    >>> read_verdict("Excluded"), read_verdict(1), read_verdict("")
    ('excluded', 'included', None)
    """
    text = str(value).strip().lower()
    return _VERDICTS.get(text) or _VERDICTS.get(text.split(" ")[0].rstrip(":;,.-")) if text else None


def read_judgements(texts: Iterable[str]) -> Judgements:
    """Decisions, labels and annotations of notes.

    Examples
    --------
    >>> read_judgements(['RAYYAN-INCLUSION: {"Emily"=>"Excluded"} | RAYYAN-EXCLUSION-REASONS: wrong drug']).decisions
    (Decision(verdict='excluded', reviewer='Emily', reasons=('wrong drug',)),)
    """
    notes: list[str] = []
    marks: list[tuple[str, str]] = []
    seen: list[Decision] = []
    for text in texts:
        if "RAYYAN-" in text or "BAYESIFT-" in text:
            marks += [(match["name"], match["value"]) for match in _MARKUP.finditer(text)]
            text = _MARKUP.sub("", text)
        if "asreview_" in text.lower():
            seen += [Decision(verdict) for word in _ASREVIEW.findall(text) if (verdict := read_verdict(word))]
            text = _ASREVIEW.sub("", text)
        if text.strip():
            notes.append(text.strip())
    return _gather(tuple(notes), marks, seen)


def _gather(notes: tuple[str, ...], marks: list[tuple[str, str]], seen: list[Decision]) -> Judgements:
    pairs: list[tuple[str, str]] = []
    labels: list[str] = []
    reasons: list[str] = []
    annotations: list[tuple[str, str]] = []
    for name, value in marks:
        if name == "RAYYAN-INCLUSION":
            pairs += [(_unescape(who), _unescape(what)) for who, what in _PAIR.findall(value)]
        elif name == "RAYYAN-LABELS":
            labels += _split(value)
        elif name == "RAYYAN-EXCLUSION-REASONS":
            reasons += _split(value)
        elif name.startswith("BAYESIFT-"):
            annotations.append((name.removeprefix("BAYESIFT-").lower(), value))
        else:
            notes = (*notes, f"{name}: {value}")
    decisions = [Decision(verdict, who) for who, word in pairs if (verdict := read_verdict(word))]
    if reasons:
        # Rayyan keeps one list of reasons for all reviewers.
        decisions = [
            Decision(d.verdict, d.reviewer, tuple(reasons) if d.verdict == "excluded" else ()) for d in decisions
        ]
    return Judgements(notes, (*decisions, *seen), tuple(dict.fromkeys(labels)), tuple(annotations))


def write_judgements(reference: Reference) -> list[str]:
    """The decisions, labels and annotations of a record as notes that `read_judgements` and Rayyan read."""
    parts = []
    if reference.decisions:
        pairs = (f'"{_escape(d.reviewer)}"=>"{d.verdict.capitalize()}"' for d in reference.decisions)
        parts.append(f"RAYYAN-INCLUSION: {{{', '.join(pairs)}}}")
    if reference.labels:
        parts.append("RAYYAN-LABELS: " + ",".join(map(_plain, reference.labels)))
    reasons = dict.fromkeys(_plain(reason) for decision in reference.decisions for reason in decision.reasons)
    if reasons:
        parts.append("RAYYAN-EXCLUSION-REASONS: " + ",".join(reasons))
    notes = [" | ".join(parts)] if parts else []
    return notes + [f"BAYESIFT-{name.upper()}: {_plain(value)}" for name, value in reference.annotations]


def _split(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]


def _plain(text: str) -> str:
    return " ".join(text.replace("|", "/").split())


def _escape(text: str) -> str:
    return _plain(text).replace("\\", "\\\\").replace('"', '\\"')


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)
