"""How the process starts and ends: 0 done, 1 bad data, 2 bad use, 130 interrupted.

Whatever goes wrong is one line.

An interrupt (Ctrl-C) ends the process where it is. A KeyboardInterrupt could rise anywhere, also
inside an import, a compiler or a callback from C, where it is lost, printed or becomes another
error; and threads would be waited for.
"""

from __future__ import annotations

import gc
import os
import signal
import sys

# Nothing else is imported before `main` looks after interrupts.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType
    from typing import NoReturn

    import typer

_NAME = "bayesift"
_INTERRUPTED_CODE = 130
_COLLECT_AFTER = (
    50_000,
    20,
    50,
)  # documents and modules are many objects without cycles: look through them less often
_CLEAR_LINE = "\r\x1b[2K\x1b[?25h"  # erases the line of the progress and shows the cursor


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line.

    Without arguments it takes those of the process and an interrupt ends the process.
    """
    # A shell starts jobs in the background with interrupts ignored: so they stay.
    if arguments is None and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end_interrupted)
    if arguments is None:
        gc.set_threshold(*_COLLECT_AFTER)
    try:
        from bayesift.cli.app import app
    except KeyboardInterrupt:
        _fail(_NAME, "interrupted", _INTERRUPTED_CODE)
    run(app, arguments)


def run(commands: typer.Typer, arguments: Sequence[str] | None = None) -> NoReturn:
    """Run commands and exit with their code.

    Bad use and bad data end in one line, never in a traceback.
    """
    import typer

    from bayesift.cli.console import one_line_warnings
    from bayesift.errors import BayesiftError

    name = commands.info.name or _NAME
    try:
        with one_line_warnings(name):
            command = typer.main.get_command(commands)
            code = command.main(
                args=arguments,
                prog_name=_NAME if name == _NAME else None,
                standalone_mode=False,
            )
        sys.stdout.flush()
    except typer.TyperException as error:
        _fail(name, _with_help(error), error.exit_code)
    except BayesiftError as error:
        _fail(name, str(error), 1)
    except BrokenPipeError:
        # The reader of our output has gone; point stdout at nothing so that the flush at exit is
        # quiet.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _fail(name, f"{where}{error.strerror or error}", 1)
    except MemoryError:
        _fail(name, "not enough memory", 1)
    except (typer.Abort, KeyboardInterrupt):
        code = _INTERRUPTED_CODE
    if code == _INTERRUPTED_CODE:
        _fail(name, "interrupted", _INTERRUPTED_CODE)
    _exit(code)


def _with_help(error: typer.TyperException) -> str:
    """Return the message; where an argument is missing, also where to read about it."""
    message = error.format_message()
    context = getattr(error, "ctx", None)
    if message.startswith("Missing argument") and context is not None:
        return f"{message.rstrip('.')}; see {context.command_path} --help"
    return message


def _fail(name: str, message: str, code: int) -> NoReturn:
    if message:
        _print_line(name, message)
    _exit(code)


def _exit(code: int | None) -> NoReturn:
    # The work is done: an interrupt would only kill Python while it takes itself down.
    if signal.getsignal(signal.SIGINT) is _end_interrupted:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(code)


def _print_line(name: str, message: str) -> None:
    print(f"{name}: {' '.join(message.split())}", file=sys.stderr)


def _end_interrupted(number: int, frame: FrameType | None) -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Nothing is being written while the module that writes is not there yet, or only in part.
    if remove_unfinished := getattr(
        sys.modules.get("bayesift.files"), "remove_unfinished", None
    ):
        remove_unfinished()
    start = _CLEAR_LINE if os.isatty(2) else ""
    try:
        # Past the buffers, which may be locked by what was interrupted.
        os.write(2, f"{start}{_NAME}: interrupted\n".encode())
    finally:
        os._exit(_INTERRUPTED_CODE)
