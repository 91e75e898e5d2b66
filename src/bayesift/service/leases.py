"""Who is looking at which document, so that two people on one profile get different ones.

Leases are held in memory: after a restart everything is free again, which costs no judgement.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable


class Leases:
    """Documents of profiles, lent to people for some time.

    Parameters
    ----------
    seconds : how long
    clock : seconds from some moment on

    Examples
    --------
    >>> leases = Leases(60.0)
    >>> leases.take("grain", "ada", ["1", "2", "3"], 2), leases.take("grain", "bob", ["1", "2", "3"], 2)
    (['1', '2'], ['3'])
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._lent: dict[str, dict[str, tuple[str, float]]] = {}

    def take(self, profile: str, user: str, documents: Iterable[str], limit: int) -> list[str]:
        """Of documents that wait, the best first: those the person has already, then free ones, up to the limit."""
        waiting = list(documents)
        with self._lock:
            now = self._clock()
            lent = {d: lease for d, lease in self._lent.get(profile, {}).items() if lease[1] > now}
            mine = [d for d in waiting if d in lent and lent[d][0] == user]
            taken = [*mine, *(d for d in waiting if d not in lent)][:limit]
            lent.update(dict.fromkeys(taken, (user, now + self._seconds)))
            self._lent[profile] = lent
        return taken

    def free(self, profile: str, document: str) -> None:
        """Let go of a document, since it is judged."""
        with self._lock:
            self._lent.get(profile, {}).pop(document, None)

    def forget(self, profile: str) -> None:
        """Let go of all documents of a profile."""
        with self._lock:
            self._lent.pop(profile, None)
