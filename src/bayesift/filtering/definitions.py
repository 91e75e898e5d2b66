"""Profiles as people write them: a YAML file.

background: news.jsonl          # texts to count words in, a JSON object with "text" a line; optional
stemmer: porter                 # optional, as are stop_words and everything below but the name
profiles:
  - name: grain
    query: wheat, corn and barley harvests and exports
    words: {tonne: 0.5, football: -2}
    examples: grain.jsonl       # {"text": ..., "relevant": true} a line, learned in this order
    strategy: +rel+ig           # plain, +rel, +ig, +rel+ig, +rnd
    goal: {target: 50}          # or {utility: [[0, -1], [0, 2]]}, {precision: 0.8}, {recall: 0.9}
    settings: {max_terms: 500}  # any of ProfileSettings
    options: {gain: exact}      # any of Strategy
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bayesift.errors import DataError
from bayesift.filtering.engine import FilterEngine
from bayesift.filtering.goals import Goal, TargetCount, described_goal
from bayesift.filtering.profile import Profile, ProfileSettings
from bayesift.filtering.strategies import Strategy
from bayesift.filtering.vectors import VectorSpace

_TOP = {"profiles", "background", "stemmer", "stop_words"}
_PROFILE = {"name", "query", "words", "examples", "strategy", "goal", "settings", "options"}
_GOAL_FIELD = {"target": "count", "utility": "gains", "precision": "floor", "recall": "floor"}


def engine_of(path: str | Path) -> FilterEngine:
    """The engine that a YAML file describes; files it names lie beside it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "profiles.yaml"
    ...     _ = file.write_text("profiles: [{name: grain, query: wheat and corn}]")
    ...     sorted(engine_of(file).profiles)
    ['grain']
    """
    place = Path(path)
    described = _read_yaml(place)
    _only(described, _TOP, place)
    entries = described.get("profiles")
    if not isinstance(entries, list) or not entries:
        raise DataError("must list profiles", file=place)
    try:
        engine = FilterEngine(_space(described, place))
        for entry in entries:
            _add(engine, entry, place)
    except (TypeError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(str(error), file=place) from error
    return engine


def _space(described: Mapping[str, Any], place: Path) -> VectorSpace:
    options = {name: described[name] for name in ("stemmer", "stop_words") if name in described}
    background = described.get("background")
    if background is None:
        return VectorSpace(idf="running", **options)
    space = VectorSpace(idf="fixed", **options)
    space.learn_background(record["text"] for record in _records(place.parent / str(background), {"text": str}))
    return space


def _add(engine: FilterEngine, entry: Any, place: Path) -> None:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise DataError("every profile needs a name", file=place)
    _only(entry, _PROFILE, place)
    examples = []
    if entry.get("examples") is not None:
        records = _records(place.parent / str(entry["examples"]), {"text": str, "relevant": bool})
        examples = [(record["text"], record["relevant"]) for record in records]
    add_described(engine, {**entry, "examples": examples})


def add_described(engine: FilterEngine, entry: Mapping[str, Any]) -> Profile:
    """Start a profile as it is described: as in the file, but with its examples as pairs of text and label.

    Examples
    --------
    >>> add_described(FilterEngine(), {"name": "grain", "query": "wheat", "strategy": "+ig"}).n_terms
    1
    """
    strategy = Strategy.of(str(entry.get("strategy", "plain")), **(entry.get("options") or {}))
    settings = ProfileSettings(strategy=strategy, goal=_goal(entry.get("goal")), **(entry.get("settings") or {}))
    words = {str(word): float(strength) for word, strength in (entry.get("words") or {}).items()}
    examples = [(text, relevant) for text, relevant in entry.get("examples") or ()]
    return engine.add_profile(
        entry["name"], query=entry.get("query"), words=words, examples=examples, settings=settings
    )


def _goal(given: Any) -> Goal:
    if given is None:
        return TargetCount()
    if not isinstance(given, dict) or len(given) != 1 or not given.keys() <= _GOAL_FIELD.keys():
        raise ValueError(f"a goal is one of {', '.join(_GOAL_FIELD)}, such as {{target: 50}}; got {given!r:.60}")
    ((kind, value),) = given.items()
    return described_goal({"kind": kind, _GOAL_FIELD[kind]: value})


def _read_yaml(place: Path) -> dict[str, Any]:
    import yaml

    try:
        described = yaml.safe_load(place.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError("no such file", file=place) from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise DataError(f"cannot be read as YAML ({' '.join(str(error).split())})", file=place) from error
    if not isinstance(described, dict):
        raise DataError("must list profiles", file=place)
    return described


def _records(path: Path, wanted: Mapping[str, type]) -> Iterator[dict[str, Any]]:
    """JSON objects, one a line, with fields of these types."""
    try:
        with path.open(encoding="utf-8") as stream:
            for number, line in enumerate(stream, 1):
                if not line.strip():
                    continue
                try:
                    record = json.loads(line)
                except ValueError as error:
                    raise DataError("not JSON", file=path, line=number) from error
                if not isinstance(record, dict) or any(not isinstance(record.get(k), t) for k, t in wanted.items()):
                    raise DataError(f"must be an object with {' and '.join(wanted)}", file=path, line=number)
                yield record
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", file=path) from error


def _only(given: Mapping[str, Any], known: set[str], place: Path) -> None:
    unknown = sorted(map(str, given.keys() - known))
    if unknown:
        raise DataError(f"no {unknown[0]!r} here; there are: {', '.join(sorted(known))}", file=place)
