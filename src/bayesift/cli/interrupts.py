"""What an interrupt (Ctrl-C) does: it ends the process, or asks a long work for an early end."""

from __future__ import annotations

import os
import signal
import sys

# Nothing else is imported before `main` looks after interrupts.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

NAME = "bayesift"
INTERRUPTED_CODE = 130
_CLEAR_LINE = "\r\x1b[2K\x1b[?25h"  # erases the line of the progress and shows the cursor


class NotedInterrupt:
    """The first interrupt of a long work, which asks for an early end; the second ends the process.

    Parameters
    ----------
    what : what follows the first one, for the line that says so
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self.is_noted = False

    def listen(self) -> None:
        """Note the next interrupt, where one would end the process."""
        if signal.getsignal(signal.SIGINT) is end_interrupted and not self.is_noted:
            signal.signal(signal.SIGINT, self._note)

    def ignore(self) -> None:
        """Let an interrupt end the process again."""
        if signal.getsignal(signal.SIGINT) == self._note:
            signal.signal(signal.SIGINT, end_interrupted)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.is_noted = True
        signal.signal(signal.SIGINT, end_interrupted)
        start = _CLEAR_LINE if os.isatty(2) else ""
        line = f"{start}{NAME}: {self.what}; interrupt again to end at once\n"
        os.write(2, line.encode())


def end_interrupted(number: int, frame: FrameType | None) -> NoReturn:
    """End the process where it is, with one line."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Nothing is being written while the module that writes is not there yet, or only in part.
    if remove_unfinished := getattr(
        sys.modules.get("bayesift.files"), "remove_unfinished", None
    ):
        remove_unfinished()
    start = _CLEAR_LINE if os.isatty(2) else ""
    try:
        # Past the buffers, which may be locked by what was interrupted.
        os.write(2, f"{start}{NAME}: interrupted\n".encode())
    finally:
        os._exit(INTERRUPTED_CODE)
