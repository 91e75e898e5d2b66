"""An engine that goes back no further than it must when something is taken back.

Now and then the state of a profile is kept, with the number of the last event in it. What is taken back is mostly new:
then the profile is made anew from the last state before it instead of from its start. A state that holds what was taken
back is dropped, so that the result is the same, bit for bit.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from bayesift.filtering import FilterEngine, Profile, ProfileState, VectorSpace
from bayesift.filtering.engine import replay_events
from bayesift.service.ledger import StoreLog

KEEP_EVERY = 50  # judgements of a profile
_KEPT = 2  # states of a profile
_MOST = 400  # states of all profiles


@dataclass(frozen=True)
class _Kept:
    seq: int
    state: ProfileState


class RecallingEngine(FilterEngine):
    """A filter engine over a `StoreLog` that remembers recent states of its profiles."""

    def __init__(self, space: VectorSpace | None = None) -> None:
        super().__init__(space)
        self._kept: OrderedDict[str, list[_Kept]] = OrderedDict()
        self._judged: dict[str, int] = {}

    def keep(self, profile: str, seq: int, state: ProfileState | None = None) -> None:
        """Keep the state of a profile after an event."""
        taken = ProfileState.of(self.profiles[profile]) if state is None else state
        self._kept[profile] = [*self._kept.pop(profile, []), _Kept(seq, taken)][-_KEPT:]
        while sum(map(len, self._kept.values())) > _MOST:
            self._kept.popitem(last=False)

    def note_judgement(self, profile: str, seq: int) -> None:
        """Count a judgement, and keep the state after every so many."""
        self._judged[profile] = self._judged.get(profile, 0) + 1
        if self._judged[profile] % KEEP_EVERY == 0:
            self.keep(profile, seq)

    def forget(self, profile: str) -> None:
        """Take a profile out of the filter."""
        del self.profiles[profile], self.starts[profile]
        self._kept.pop(profile, None)

    def replayed(self, profile: str) -> Profile:
        """The profile made anew, from the last state that holds nothing of what is taken back."""
        assert isinstance(self.log, StoreLog)
        withdrawn = self.log.withdrawn(profile)
        kept = [one for one in self._kept.get(profile, []) if one.seq < withdrawn]
        self._kept[profile] = kept
        if not kept:
            return super().replayed(profile)
        return replay_events(kept[-1].state.profile(), self.log.of_profile(profile, after=kept[-1].seq))
