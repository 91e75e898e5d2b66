"""Which candidates of a stack the time is spent on: what they may bring, by what they cost.

A member knows about how many seconds a fit to documents of a size takes. Without a deadline these
modelled seconds are what is spent, so that the same documents give the same model on every machine.
With one they are corrected by the pace of the fits so far.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bayesift.models.ensemble.members import Member
from bayesift.models.ensemble.stacking import Candidate, Progress

# Without a budget: so many seconds, and more by the entries of words; so many fits of one linear
# model if these take longer; and ten minutes at most.
_FEWEST_SECONDS = 8.0
_SECONDS_OF_ENTRY = 15e-6
_LINEAR_FITS = 4.0
_MOST_SECONDS = 600.0
# The share of a budget that is kept for weights, calibration and the expected quality.
_RESERVE_SHARE = 0.05


def usual_seconds(one_fit: float, n_entries: float) -> float:
    """Return how long `auto` may take without a budget.

    Parameters
    ----------
    one_fit : the seconds of one good linear fit to the words
    n_entries : the distinct words of each document, summed up
    """
    of_texts = _FEWEST_SECONDS + _SECONDS_OF_ENTRY * n_entries
    return min(_MOST_SECONDS, max(of_texts, _LINEAR_FITS * one_fit))


@dataclass(frozen=True, eq=False)
class Prospect:
    """A candidate and the modelled seconds of one fit of it."""

    candidate: Candidate
    seconds: float

    @property
    def gain_per_second(self) -> float:
        """What the candidate may bring for its time."""
        return self.candidate.gain / self.seconds


class Plan:
    """The candidates that are still to be scored, the time there is for them, and what was spent.

    Candidates come in the order of gain per second; the first one that uses a kind of blocks comes
    before the others that use it.

    Parameters
    ----------
    prospects : the candidates, in their own order
    n_fits : the fits that each of them takes: to the folds, and to all documents
    seconds : how long all fits may take
    begun : when the work began that `seconds` are for, by `time.perf_counter`; None counts modelled
        seconds instead
    progress : called with milliseconds spent and expected in all; the plan ends once it returns
        True
    """

    def __init__(
        self,
        prospects: Sequence[Prospect],
        n_fits: int,
        seconds: float,
        *,
        begun: float | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.prospects = prospects
        self.n_fits = n_fits
        self.is_timed = begun is not None
        self.start = time.perf_counter() if begun is None else begun
        self.seconds = seconds * (1.0 - _RESERVE_SHARE) if self.is_timed else seconds
        self.progress = progress
        self.waiting = sorted(range(len(prospects)), key=self._rank)
        self.scored: list[int] = []
        self.is_begun = False
        self.is_ended = False
        self._spent = 0.0  # modelled seconds
        self._last = time.perf_counter()
        # Seconds per modelled second, by the type of the member.
        self._paces: dict[type[Member], float] = {}

    def _rank(self, index: int) -> tuple[float, int]:
        gate = self._gate_of(index)
        return -min(self.prospects[place].gain_per_second for place in (gate, index)), index

    def _gate_of(self, index: int) -> int:
        """Return the first candidate with the same kinds of blocks beside words."""
        kinds = self.prospects[index].candidate.kinds
        if kinds == ("words",):
            return index
        for place, prospect in enumerate(self.prospects):
            if prospect.candidate.kinds == kinds:
                return place
        return index

    def left(self) -> float:
        """Return the seconds that are left."""
        spent = time.perf_counter() - self.start if self.is_timed else self._spent
        return self.seconds - spent

    @property
    def shortest(self) -> float:
        """The seconds that the cheapest candidate takes, with its fit to all documents."""
        return self.n_fits * min(prospect.seconds for prospect in self.prospects)

    def next(self) -> int | None:
        """Return the next candidate that there is time for, or the cheapest if for none."""
        if self.is_ended and self.scored:
            return None
        while self.waiting:
            index = self.waiting.pop(0)
            if self._fits(index, self.n_fits):
                return self._begin(index)
        if self.is_begun:
            return None
        costs = [prospect.seconds for prospect in self.prospects]
        return self._begin(costs.index(min(costs)))

    def _begin(self, index: int) -> int:
        self.is_begun = True
        self._last = time.perf_counter()
        return index

    def leave_out(self, kinds: Sequence[str]) -> None:
        """Try no more candidates that use these kinds of blocks."""
        self.waiting = [
            index for index in self.waiting if self.prospects[index].candidate.kinds != kinds
        ]

    def goes_on(self, index: int, n_left: int) -> bool:
        """Whether there is time for so many more fits of a candidate that was begun."""
        if not self.scored:
            return True
        return not self.is_ended and (not self.is_timed or self._fits(index, n_left))

    def fitted(self, index: int) -> None:
        """Note that a candidate has been fitted once."""
        now = time.perf_counter()
        prospect = self.prospects[index]
        self._paces[type(prospect.candidate.member)] = (now - self._last) / prospect.seconds
        self._last = now
        self._spent += prospect.seconds
        self._report()

    def keep(self, index: int) -> None:
        """Note that a candidate has been scored by all folds."""
        self.scored.append(index)

    def finish(self) -> None:
        """Report that nothing is left to do."""
        if self.progress is not None:
            done = _milliseconds(time.perf_counter() - self.start)
            self.progress(done, done)

    def _expected(self, fits: Mapping[int, int], *, is_timed: bool) -> float:
        """Return the seconds of some fits of candidates, if timed at the pace of those so far."""
        usual = max(self._paces.values(), default=1.0)
        total = 0.0
        for index, n_fits in fits.items():
            prospect = self.prospects[index]
            pace = self._paces.get(type(prospect.candidate.member), usual)
            total += n_fits * prospect.seconds * (pace if is_timed else 1.0)
        return total

    def _fits(self, index: int, n_fits: int) -> bool:
        """Whether there is time for some fits, and to fit what was scored to all documents."""
        fits = {**dict.fromkeys(self.scored, 1), index: n_fits}
        return self._expected(fits, is_timed=self.is_timed) <= self.left()

    def _report(self) -> None:
        if self.progress is None:
            return
        spent = time.perf_counter() - self.start
        fits = dict.fromkeys(self.scored, 1)
        for index in self.waiting:
            if self._fits(index, self.n_fits):
                fits[index] = self.n_fits
        left = self._expected(fits, is_timed=True)
        if self.is_timed:
            left = min(left, max(self.seconds - spent, 0.0))
        if self.progress(_milliseconds(spent), _milliseconds(spent + left)):
            self.is_ended = True


def _milliseconds(seconds: float) -> int:
    return round(1000 * seconds)
