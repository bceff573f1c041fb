"""Errors in the words of the command line.

Python's errors name arguments and functions in backquotes: "raise `max_states`", "use
`method="joint"`", "estimate with `simulate()`". Here, where they leave for a terminal, they become
options and commands: most by their name, the others by the table below.
"""

from __future__ import annotations

import re
from functools import cache

__all__ = ["in_options"]

_NAMED = re.compile(r"`([a-z_]+)(?:(\(\))|=([^`\n]*))?`")
_OTHER = {
    "all_statements()": "`markov-lrsao verify --list`",
    "runtime()": "`markov-lrsao exact`",
    "simulate()": "`markov-lrsao simulate`",
    'field="exact"': "--exact",
    'field="float"': "--float",
    "merge=True": "merged patterns (leave out --unmerged)",
    "start": "--from STATE",
}
_OF_COMMAND = {
    ("exact", 'field="exact"'): "exact arithmetic (leave out --float)",
    ("sweep", "path"): "--out",
}


@cache
def _options(of: str | None = None) -> frozenset[str]:
    """Return the long options of all commands, or of one."""
    import typer.main

    from markov_lrsao.cli.app import app

    group = typer.main.get_command(app)
    return frozenset(
        option
        for name, command in getattr(group, "commands", {}).items()
        if of in (None, name)
        for parameter in command.params
        for option in (*parameter.opts, *parameter.secondary_opts)
    )


def in_options(message: str, command: str) -> str:
    """Return an error of Python in the words of a command; what is no option stays as it is.

    >>> in_options("use `merge=True`, or raise `max_states`", "exact")
    'use merged patterns (leave out --unmerged), or raise --max-states'
    >>> in_options('use `method="joint"`; `outside_h=True` computes anyway', "exact")
    'use --method joint; --outside-h computes anyway'
    >>> in_options("raise `max_states`, or estimate with `simulate()`", "budget")
    'take a smaller n, or estimate with `markov-lrsao simulate`'
    """
    if "--max-states" not in _options(command):
        message = message.replace("raise `max_states`", "take a smaller n")

    def option(match: re.Match[str]) -> str:
        text, name, value = match[0][1:-1], match[1], match[3]
        known = _OF_COMMAND.get((command, text)) or _OTHER.get(text)
        if known is not None:
            return known
        flag = f"--{name.replace('_', '-')}"
        if match[2] or flag not in _options():
            return match[0]
        return flag if value in (None, "True") else f"{flag} {value.strip(chr(34))}"

    return _NAMED.sub(option, message)
