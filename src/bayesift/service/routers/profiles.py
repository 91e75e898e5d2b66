"""Profiles: made, shown, put aside, removed."""

from __future__ import annotations

from fastapi import APIRouter

from bayesift.service.access import Reader, Reviewer, TheService
from bayesift.service.errors import NotFoundError
from bayesift.service.operations import profiles as operations
from bayesift.service.parameters import ProfileName
from bayesift.service.runtime import Service
from bayesift.service.schemas import CountersOut, CurveOut, CurvePoint, ProfileChange, ProfileIn, ProfileOut
from bayesift.stores import ProfileRow

router = APIRouter(prefix="/api/profiles", tags=["profiles"])

_MOST_POINTS = 500


@router.get("")
def list_profiles(person: Reader, service: TheService) -> list[ProfileOut]:
    """All profiles with their counts, oldest first."""
    with service.store.reading() as read:
        rows, conflicts = read.profiles(), read.conflicts()
    shown = (_shown(service, row, len(conflicts.get(row.name, []))) for row in rows)
    return [profile for profile in shown if profile is not None]


@router.post("", status_code=201)
async def create_profile(body: ProfileIn, person: Reviewer, service: TheService) -> ProfileOut:
    """Start a profile from a query, words, labelled texts, or nothing."""
    row = await service.do(person, lambda turn: operations.create(turn, body.definition()))
    return _one(service, row, 0)


@router.get("/{name}")
def show_profile(name: ProfileName, person: Reader, service: TheService) -> ProfileOut:
    """One profile with its counts."""
    with service.store.reading() as read:
        row, conflicts = read.profile(name), read.conflicts(name)
    if row is None:
        raise NotFoundError(f"no profile {name!r}")
    return _one(service, row, len(conflicts.get(name, [])))


@router.patch("/{name}")
async def change_profile(name: ProfileName, body: ProfileChange, person: Reviewer, service: TheService) -> ProfileOut:
    """Put a profile aside, or take it up again."""
    if body.paused is not None:
        paused = body.paused
        await service.do(person, lambda turn: operations.pause(turn, name, paused))
    return show_profile(name, person, service)


@router.delete("/{name}", status_code=204)
async def delete_profile(name: ProfileName, person: Reviewer, service: TheService) -> None:
    """Remove a profile; its events stay in the log."""
    await service.do(person, lambda turn: operations.delete(turn, name))
    service.leases.forget(name)


@router.get("/{name}/curve")
def curve(name: ProfileName, person: Reader, service: TheService) -> CurveOut:
    """Relevant documents found against documents judged."""
    with service.store.reading() as read:
        if read.profile(name) is None:
            raise NotFoundError(f"no profile {name!r}")
        newest = {row.document: row for row in reversed(read.judgements(name))}
    points, found = [CurvePoint(judged=0, relevant=0)], 0
    for number, row in enumerate(sorted(newest.values(), key=lambda row: row.seq), 1):
        found += row.relevant
        points.append(CurvePoint(judged=number, relevant=found))
    step = -(-len(points) // _MOST_POINTS)
    return CurveOut(points=points[::step] if (len(points) - 1) % step == 0 else [*points[::step], points[-1]])


def _one(service: Service, row: ProfileRow, conflicts: int) -> ProfileOut:
    shown = _shown(service, row, conflicts)
    if shown is None:
        raise NotFoundError(f"no profile {row.name!r}")
    return shown


def _shown(service: Service, row: ProfileRow, conflicts: int) -> ProfileOut | None:
    """A profile and its counts; None if it was removed in between."""
    with service.live.lock:
        profile = service.live.engine.profiles.get(row.name)
        if profile is None:
            return None
        counters, seen = profile.counters, service.live.n_documents - row.since
        return ProfileOut(
            name=row.name,
            paused=profile.paused,
            strategy=str(profile.strategy),
            query=row.definition.get("query"),
            created_at=row.at,
            created_by=row.user,
            counters=CountersOut(
                seen=row.seen + (0 if row.paused else seen),
                retrieved=counters.retrieved,
                asked=counters.asked,
                judged_relevant=counters.judged_relevant,
                judged_irrelevant=counters.judged_irrelevant,
            ),
            waiting=len(profile.pending),
            n_terms=profile.n_terms,
            conflicts=conflicts,
        )
