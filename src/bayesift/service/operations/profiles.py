"""Profiles are made, put aside, taken up and removed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bayesift.errors import DataError
from bayesift.filtering.definitions import add_described
from bayesift.service import kinds
from bayesift.service.errors import ConflictError
from bayesift.service.live import Turn
from bayesift.service.operations.words import check_word, teach
from bayesift.service.transfer import install_profile
from bayesift.stores import ProfileRow

MOST_PROFILES = 2_000


def create(turn: Turn, definition: Mapping[str, Any]) -> ProfileRow:
    """Start a profile from its definition; its words are taught, so that they can be taken back."""
    name, words = definition["name"], definition.get("words") or {}
    _check_free(turn, name)
    for word in words:
        check_word(turn, word)
    described = {**definition, "words": None}
    try:
        add_described(turn.engine, described)
    except (TypeError, ValueError) as error:
        raise DataError(str(error)) from error
    seq = turn.note(kinds.CREATED, profile=name, payload={"definition": described})
    row = _keep(turn, name, seq, described)
    for word, strength in words.items():
        teach(turn, name, word, strength)
    return row


def take_in(turn: Turn, name: str, model: str) -> ProfileRow:
    """Start a profile from a model file (in base 64)."""
    _check_free(turn, name)
    install_profile(turn.engine, name, model)
    seq = turn.note(kinds.IMPORTED, profile=name, payload={"model": model})
    return _keep(turn, name, seq, {"name": name, "imported": True})


def pause(turn: Turn, name: str, paused: bool) -> ProfileRow:
    """Put a profile aside, or take it up again."""
    row = turn.profile_row(name)
    if row.paused is paused:
        return row
    turn.engine.pause(name, paused)
    turn.note_change(kinds.PAUSED if paused else kinds.RESUMED, name)
    seen = row.seen + turn.live.n_documents - row.since if paused else row.seen
    row = replace(row, paused=paused, seen=seen, since=turn.live.n_documents)
    turn.tx.put_profile(row)
    return row


def delete(turn: Turn, name: str) -> None:
    """Remove a profile; its events stay in the log."""
    turn.profile_row(name)
    turn.engine.forget(name)
    turn.tx.drop_profile(name)
    turn.note(kinds.DELETED, profile=name)


def _check_free(turn: Turn, name: str) -> None:
    if turn.tx.profile(name) is not None:
        raise ConflictError(f"there is a profile {name!r} already")
    if len(turn.engine.profiles) >= MOST_PROFILES:
        raise ConflictError(f"there are {MOST_PROFILES:,} profiles already, the most that are allowed")


def _keep(turn: Turn, name: str, seq: int, definition: Mapping[str, Any]) -> ProfileRow:
    shown = {key: value for key, value in definition.items() if key != "examples"}
    row = ProfileRow(name, seq, turn.at, turn.user, shown, False, 0, turn.live.n_documents)
    turn.tx.put_profile(row)
    return row
