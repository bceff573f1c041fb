"""The command line: commands live in modules of their own and import the engine lazily.

Errors that a user can cause are one line on stderr and exit code 2; Ctrl-C is exit code 130.
"""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Sequence

from markov_lrsao.errors import LrsaoError
from markov_lrsao.progress import Board, answered, speaking
from markov_lrsao.texts import one_line

__all__ = ["main"]

_ALLOCATIONS = 50_000
"""Objects after which Python looks for unreachable cycles: imports and explorations make very many
objects and hardly a cycle. Python's own number, 700, costs a tenth of the start."""

_BEGUN = time.monotonic()
_ENDLESS = ("explore",)
"""Commands that wait for others: there is no progress to speak of."""


def main(
    arguments: Sequence[str] | None = None, board: Board | None = None, begun: float | None = None
) -> int:
    """Run the command line and return the exit code.

    Parameters
    ----------
    board : where it says what it does; somebody watches it
    begun : when the process began, on the clock of `time.monotonic`; default now
    """
    from markov_lrsao import interrupts

    name = next(iter(sys.argv[1:] if arguments is None else arguments), "")
    watched = board if name[:1].isalpha() and name not in _ENDLESS else None
    try:
        with speaking(name, watched, begun):
            code = _run(arguments)
        if interrupts.seen():  # something swallowed it: the output may lack a part
            raise KeyboardInterrupt
        return code
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) or interrupts.seen():
            answered()
            print("interrupted", file=sys.stderr)
            return interrupts.EXIT_CODE
        raise


def _run(arguments: Sequence[str] | None) -> int:
    """Run the command line; errors that a user can cause become one line."""
    if "_MARKOV_LRSAO_COMPLETE" in os.environ:
        # The shell asks for words. Typer wraps their descriptions at the terminal's width, and
        # fish would take the second line of a description for another word.
        os.environ["COLUMNS"] = "10000"
    try:
        code = _command(arguments)
        sys.stdout.flush()
        return code
    except (BrokenPipeError, SystemExit) as error:
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
            raise
        _drop_output()  # the reader (head, less) has gone; Typer ends with 1 then
        return 0
    except Exception as error:
        from markov_lrsao.cli.wording import in_options

        if isinstance(error, LrsaoError | MemoryError | OSError | UnicodeError):
            message = str(error).strip() or type(error).__name__
            if isinstance(error, LrsaoError):
                command = next(iter(sys.argv[1:] if arguments is None else arguments), "")
                message = in_options(message, command)
            answered()
            print(one_line(f"markov-lrsao: {message}"), file=sys.stderr)
            if isinstance(error, OSError):
                _drop_output()  # it may be what failed: a full disk
            return 2
        raise


def _command(arguments: Sequence[str] | None) -> int:
    """Run a command, or say how it is used; return the exit code."""
    from typer.exceptions import TyperException

    from markov_lrsao.cli.app import built, usage_message

    given = list(arguments) if arguments is not None else sys.argv[1:]
    app = built(given)
    try:
        return int(app(args=given, prog_name="markov-lrsao", standalone_mode=False) or 0)
    except TyperException as error:
        text, code = usage_message(error)
        answered()
        print(text if code == 0 else one_line(text), file=sys.stdout if code == 0 else sys.stderr)
        return code


def _drop_output() -> None:
    """Keep the interpreter from complaining at exit about output that cannot be written."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def entry_point() -> None:
    """Run as a console script."""
    import gc

    from markov_lrsao.interrupts import supervised

    gc.set_threshold(_ALLOCATIONS)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names of files may be any bytes
            stream.reconfigure(errors="backslashreplace")
    begun = _process_begun()  # before the work goes to a child
    board = Board() if os.name == "posix" else None
    sys.exit(supervised(lambda: main(board=board, begun=begun), board))


def _process_begun() -> float:
    """Return when this process began; where that is not told, when this module was read."""
    try:
        with open("/proc/self/stat", encoding="ascii", errors="replace") as own:
            ticks = int(own.read().rpartition(")")[2].split()[19])
        with open("/proc/uptime", encoding="ascii") as uptime:
            age = float(uptime.read().split()[0]) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return _BEGUN
    return min(_BEGUN, time.monotonic() - age)
