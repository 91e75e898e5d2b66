"""Profiles as plain arrays: what files hold, and what a profile is made anew from when a judgement is taken back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bayesift.errors import DataError
from bayesift.filtering.profile import Counters, Profile, ProfileSettings
from bayesift.filtering.vectors import DocumentVector
from bayesift.models.online.posteriors import FullPosterior

Array = np.ndarray[Any, Any]
Arrays = dict[str, Array]

_MOST_COLUMNS = 1 << 28


@dataclass(frozen=True)
class ProfileState:
    """A profile at one moment; its covariance is held as a triangle, half the room.

    Parameters
    ----------
    header : what JSON can hold
    arrays : the numbers
    """

    header: dict[str, Any]
    arrays: Arrays

    @classmethod
    def of(cls, profile: Profile) -> ProfileState:
        """Take down a profile; nothing is shared with it.

        Examples
        --------
        >>> state = ProfileState.of(Profile("grain", ProfileSettings(), prior={3: 1.0}))
        >>> state.profile().terms.tolist()
        [3]
        """
        posterior = {name: array.copy() for name, array in profile.posterior.to_arrays().items()}
        covariance = posterior.pop("covariance")
        header = {
            "name": profile.name,
            "settings": profile.settings.describe(),
            "threshold": profile.threshold,
            "counters": asdict(profile.counters),
            "n_columns": len(profile.relevant_counts),
            "n_relevant": profile.n_relevant,
            "n_irrelevant": profile.n_irrelevant,
            "kept": [document.id for document in profile.kept],
            "pending": list(profile.pending),
            "verdicts": dict(profile.verdicts),
            "taught": dict(profile.taught),
            "paused": profile.paused,
        }
        arrays = {
            **posterior,
            "triangle": covariance[np.tril_indices(len(covariance))],
            "terms": profile.terms.copy(),
            **_packed_counts(profile),
            **_packed("kept", profile.kept),
            **_packed("pending", list(profile.pending.values())),
        }
        return cls(header, arrays)

    def with_settings(self, settings: ProfileSettings) -> ProfileState:
        """The same moment under other settings; the threshold stays."""
        return ProfileState({**self.header, "settings": settings.describe()}, self.arrays)

    def profile(self) -> Profile:
        """The profile of that moment; refuses what does not fit together."""
        try:
            return self._profile()
        except DataError:
            raise
        except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
            raise DataError(f"not the state of a profile: {error}") from error

    def _profile(self) -> Profile:
        header, arrays = self.header, self.arrays
        profile = Profile(str(header["name"]), ProfileSettings.described(header["settings"]))
        profile.posterior = _posterior(arrays)
        terms = _whole(arrays, "terms", np.int32)
        if len(np.unique(terms)) != len(terms) or terms.min(initial=0) < 0 or profile.posterior.size != 1 + len(terms):
            raise DataError("not the state of a profile: its words do not fit its weights")
        profile.set_terms(terms)
        profile.relevant_counts, profile.irrelevant_counts = _unpacked_counts(arrays, int(header["n_columns"]))
        profile.n_relevant, profile.n_irrelevant = int(header["n_relevant"]), int(header["n_irrelevant"])
        _check_counts(profile)
        profile.kept = _unpacked("kept", arrays, header["kept"])
        pending = _unpacked("pending", arrays, header["pending"])
        profile.pending = {document.id: document for document in pending}
        profile.verdicts = {str(name): bool(verdict) for name, verdict in header["verdicts"].items()}
        profile.taught = {str(word): float(strength) for word, strength in header["taught"].items()}
        profile.paused = bool(header["paused"])
        profile.counters = Counters(**{name: int(count) for name, count in header["counters"].items()})
        if not 0 <= (threshold := float(header["threshold"])) <= 1:
            raise DataError("not the state of a profile: its threshold is no probability")
        profile.set_threshold(threshold)
        return profile


def same_state(one: ProfileState, other: ProfileState) -> bool:
    """Whether two states are the same bit for bit.

    Examples
    --------
    >>> profile = Profile("grain", ProfileSettings())
    >>> same_state(ProfileState.of(profile), ProfileState.of(profile))
    True
    """
    return (
        one.header == other.header
        and one.arrays.keys() == other.arrays.keys()
        and all(np.array_equal(array, other.arrays[name]) for name, array in one.arrays.items())
    )


def _posterior(arrays: Arrays) -> FullPosterior:
    triangle, size = arrays["triangle"], len(arrays["mean"])
    covariance = np.zeros((size, size))
    lower = np.tril_indices(size)
    if triangle.shape != lower[0].shape:
        raise DataError("not the state of a profile: its covariance does not fit its weights")
    covariance[lower] = triangle
    covariance.T[lower] = triangle
    parts = {name: arrays[name] for name in ("mean", "pending", "weights", "clock")}
    return FullPosterior.from_arrays({**parts, "covariance": covariance})


def _check_counts(profile: Profile) -> None:
    pairs = ((profile.relevant_counts, profile.n_relevant), (profile.irrelevant_counts, profile.n_irrelevant))
    for counts, most in pairs:
        if not 0 <= counts.min(initial=0) <= counts.max(initial=0) <= most:
            raise DataError("not the state of a profile: a word is in more documents than were judged")


def _packed_counts(profile: Profile) -> Arrays:
    """The words that judged documents held, and in how many relevant and irrelevant ones."""
    counted = np.flatnonzero(profile.relevant_counts + profile.irrelevant_counts).astype(np.int32)
    relevant, irrelevant = profile.relevant_counts[counted], profile.irrelevant_counts[counted]
    return {"counted": counted, "relevant_counts": relevant, "irrelevant_counts": irrelevant}


def _unpacked_counts(arrays: Arrays, n_columns: int) -> tuple[Array, Array]:
    counted = _whole(arrays, "counted", np.int32)
    if not 0 <= n_columns < _MOST_COLUMNS or counted.min(initial=0) < 0 or len(np.unique(counted)) != len(counted):
        raise DataError("not the state of a profile: its counts do not fit its words")
    counts = np.zeros((2, n_columns), dtype=np.int32)
    for row, name in zip(counts, ("relevant_counts", "irrelevant_counts"), strict=True):
        row[counted] = _whole(arrays, name, np.int32)
    return counts[0].copy(), counts[1].copy()


def _packed(name: str, documents: Sequence[DocumentVector]) -> Arrays:
    return {
        f"{name}.ends": np.cumsum([len(document) for document in documents], dtype=np.int64),
        f"{name}.columns": np.concatenate([np.zeros(0, np.int32), *(document.columns for document in documents)]),
        f"{name}.weights": np.concatenate([np.zeros(0), *(document.weights for document in documents)]),
    }


def _unpacked(name: str, arrays: Arrays, ids: list[str]) -> list[DocumentVector]:
    ends = _whole(arrays, f"{name}.ends", np.int64)
    columns, weights = _whole(arrays, f"{name}.columns", np.int32), arrays[f"{name}.weights"]
    begins = np.concatenate([np.zeros(1, np.int64), ends[:-1]]) if len(ends) else ends
    if len(ends) != len(ids) or np.any(ends < begins) or columns.shape != weights.shape or columns.min(initial=0) < 0:
        raise DataError("not the state of a profile: its documents do not fit together")
    if len(columns) != (ends[-1] if len(ends) else 0) or not np.all(np.isfinite(weights)):
        raise DataError("not the state of a profile: its documents do not fit together")
    spans = zip(map(str, ids), begins, ends, strict=True)
    return [DocumentVector(id_, columns[a:b].copy(), weights[a:b].copy()) for id_, a, b in spans]


def _whole(arrays: Arrays, name: str, kind: Any) -> Array:
    array = arrays[name]
    if array.dtype != kind or array.ndim != 1:
        raise DataError(f"not the state of a profile: {name} must be a list of whole numbers")
    return array.copy()
