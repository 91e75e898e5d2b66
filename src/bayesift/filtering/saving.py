"""A filter in files: the start of its profiles, a checkpoint, and the log of events between and after.

    FOLDER/start             profiles as they were added, and the words known then; written once
    FOLDER/checkpoint.zip    profiles and words after a number of events; one file, so that it changes in one step
    FOLDER/events.jsonl      all events

Start and events are the truth. The checkpoint only saves time: `open_filter` reads it and applies the events after it;
or, when the stream is given again, forgets them, since they will be made anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from bayesift.errors import DataError
from bayesift.filtering.engine import FilterEngine, apply
from bayesift.filtering.events import Event, TakenBack, Taught
from bayesift.filtering.log_file import FileLog
from bayesift.filtering.output import OutputMark
from bayesift.filtering.profile import Profile
from bayesift.filtering.state import ProfileState
from bayesift.filtering.vectors import DocumentVector, VectorSpace
from bayesift.model_file import ModelContent, load_model, save_model

START, CHECKPOINT, EVENTS = "start", "checkpoint.zip", "events.jsonl"
KIND = "filter"


class OpenFilter(NamedTuple):
    """A filter with its log; `position` is the number of input lines read when it was left, `output` what it wrote."""

    engine: FilterEngine
    log: FileLog
    position: int
    output: OutputMark | None = None


def create_filter(folder: str | Path, engine: FilterEngine) -> OpenFilter:
    """Begin a filter in a folder: its profiles are written, its events from now on go to the log there."""
    place = Path(folder)
    if (place / START).exists():
        raise DataError("there is a filter here already", file=place)
    save_model(filter_content(engine, list(engine.starts.values()), 0, 0), place / START)
    log = FileLog(place / EVENTS, engine.space)
    engine.log = log
    return OpenFilter(engine, log, 0)


def save_checkpoint(folder: str | Path, engine: FilterEngine, log: FileLog, output: OutputMark | None = None) -> None:
    """Write the state after all events so far, and how far the output was written."""
    states = [ProfileState.of(profile) for profile in engine.profiles.values()]
    content = filter_content(engine, states, len(log), log.position, output)
    save_model(content, Path(folder) / CHECKPOINT, compressed=False)


def open_filter(folder: str | Path, *, roll_back: bool = False) -> OpenFilter:
    """Read a filter: the checkpoint if there is one, and the events after it; nothing that is read is trusted.

    Parameters
    ----------
    folder : where it lives
    roll_back : forget the events after the checkpoint; for a stream whose lines are given again
    """
    place = Path(folder)
    for unfinished in place.glob(f".{CHECKPOINT}.*"):
        unfinished.unlink()
    start = read_content(place / START)
    latest = read_content(place / CHECKPOINT) if (place / CHECKPOINT).exists() else start
    engine = FilterEngine(space=latest.space)
    for state in start.states:
        engine.starts[state.header["name"]] = state
    for state in latest.states:
        profile = state.profile()
        if profile.name not in engine.starts:
            raise DataError(f"the checkpoint has a profile {profile.name!r} that never started", file=place)
        engine.profiles[profile.name] = profile
    log = FileLog(place / EVENTS, engine.space, keep=latest.n_events if roll_back else None)
    engine.log = log
    try:
        log.position = _catch_up(engine, log, latest)
    except BaseException:
        log.close()
        raise
    return OpenFilter(engine, log, log.position, latest.output)


class FilterContent(NamedTuple):
    """Profiles and words of a file, after a number of events and lines of input and so much output."""

    space: VectorSpace
    states: list[ProfileState]
    n_events: int
    position: int
    output: OutputMark | None


def _catch_up(engine: FilterEngine, log: FileLog, latest: FilterContent) -> int:
    """Apply the events after the checkpoint; gives the lines of input read."""
    if latest.n_events > len(log):
        raise DataError("the log has fewer events than the checkpoint", file=log.path)
    position = latest.position
    seen: dict[str, dict[str, DocumentVector]] = {name: {} for name in engine.profiles}
    anew: set[str] = set()
    for event, read in log.events(latest.n_events):
        position = max(position, read)
        if event.profile not in engine.profiles:
            raise DataError(f"the log has a profile {event.profile!r} that never started", file=log.path)
        if isinstance(event, TakenBack) or _repeats(event, engine.profiles[event.profile]):
            anew.add(event.profile)
        elif event.profile not in anew:
            apply(engine.profiles[event.profile], event, seen[event.profile])
    for name in anew:
        engine.profiles[name] = engine.replayed(name)
    return position


def _repeats(event: Event, profile: Profile) -> bool:
    """Whether a word was taught before: then the profile is made anew without what was said first."""
    return isinstance(event, Taught) and event.word in profile.taught


def filter_content(
    engine: FilterEngine,
    states: list[ProfileState],
    n_events: int = 0,
    position: int = 0,
    output: OutputMark | None = None,
) -> ModelContent:
    """Profiles and the words of their engine, as a model file holds them."""
    parameters, arrays, words = engine.space.get_state()
    header: dict[str, Any] = {
        "kind": KIND,
        "space": parameters,
        "n_events": n_events,
        "position": position,
        "output": None if output is None else output.describe(),
        "profiles": [state.header for state in states],
    }
    numbers = {f"space.{name}": array for name, array in arrays.items()}
    for place, state in enumerate(states):
        numbers |= {f"{place}.{name}": array for name, array in state.arrays.items()}
    return ModelContent(header, numbers, {"words": words})


def read_content(path: Path) -> FilterContent:
    """The inverse of `filter_content`; nothing that is read is trusted."""
    content = load_model(path)
    header = content.header
    try:
        if header["kind"] != KIND:
            raise DataError(f"not a filter but a {header['kind']!r:.40}", file=path)
        space_arrays = {"frequencies": content.arrays["space.frequencies"]}
        space = VectorSpace.from_state(header["space"], space_arrays, content.lists["words"])
        states = [
            ProfileState(profile, _part(content.arrays, place)) for place, profile in enumerate(header["profiles"])
        ]
        names = [state.header["name"] for state in states]
        if len(set(names)) != len(names):
            raise DataError("two profiles have one name", file=path)
        output = OutputMark.described(header.get("output"))
        return FilterContent(space, states, int(header["n_events"]), int(header["position"]), output)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"not a filter ({error})", file=path) from error


def _part(arrays: dict[str, Any], place: int) -> dict[str, Any]:
    prefix = f"{place}."
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
