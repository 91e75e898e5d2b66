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

from bayesift.cli.interrupts import INTERRUPTED_CODE, NAME, end_interrupted

# Nothing else is imported before `main` looks after interrupts.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    import typer

_COLLECT_AFTER = (
    50_000,
    20,
    50,
)  # documents and modules are many objects without cycles: look through them less often


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line.

    Without arguments it takes those of the process and an interrupt ends the process.
    """
    # A shell starts jobs in the background with interrupts ignored: so they stay.
    if arguments is None and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, end_interrupted)
    if arguments is None:
        gc.set_threshold(*_COLLECT_AFTER)
    try:
        from bayesift.cli.app import app
    except KeyboardInterrupt:
        _fail(NAME, "interrupted", INTERRUPTED_CODE)
    run(app, arguments)


def run(commands: typer.Typer, arguments: Sequence[str] | None = None) -> NoReturn:
    """Run commands and exit with their code.

    Bad use and bad data end in one line, never in a traceback.
    """
    import typer

    from bayesift.cli.console import one_line_warnings
    from bayesift.errors import BayesiftError

    name = commands.info.name or NAME
    try:
        with one_line_warnings(name):
            command = typer.main.get_command(commands)
            code = command.main(
                args=arguments,
                prog_name=NAME if name == NAME else None,
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
        code = INTERRUPTED_CODE
    if code == INTERRUPTED_CODE:
        _fail(name, "interrupted", INTERRUPTED_CODE)
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
    if signal.getsignal(signal.SIGINT) is end_interrupted:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(code)


def _print_line(name: str, message: str) -> None:
    print(f"{name}: {' '.join(message.split())}", file=sys.stderr)
