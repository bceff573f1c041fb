"""Options of the plainest kind, read without Typer's validator.

Typer hands every value to pydantic, whose import takes as long as all else that a small answer
needs. A value that is absent, a text where a text is wanted, a plain integer in its range or a
word of an enumeration needs no validator. Everything else, and all that is wrong, is left to
Typer, so that what is accepted and what is said about it do not change.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Any

from typer.core import TyperCommand, TyperGroup

__all__ = ["QuickCommand", "QuickGroup"]

_PLAIN = re.compile(r"-?[0-9]{1,15}")


class _Quickly:
    """Has the values of a command's or group's parameters read quickly."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Prepare the parameters, then parse as ever."""
        for parameter in self.get_params(ctx):  # type: ignore[attr-defined]
            # Typer's own place for what it makes on first use; if it is gone, so is the short cut
            if getattr(parameter, "_runtime_param", self) is None:
                parameter._runtime_param = _Quick(parameter)
        found: list[str] = super().parse_args(ctx, args)  # type: ignore[misc]
        return found


class QuickCommand(_Quickly, TyperCommand):
    """A command whose plain values are read quickly."""


class QuickGroup(_Quickly, TyperGroup):
    """The group of commands, likewise."""


class _Quick:
    """What a parameter is read by: a short cut, or Typer's own way."""

    def __init__(self, parameter: Any) -> None:
        self._parameter = parameter
        self._own: Any = None

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value of an option or argument."""
        if param.nargs == 1 and not param.multiple:
            try:
                return _plain(value, param.type_descriptor)
            except ValueError:  # Typer says what is wrong with it, if anything is
                return self._slowly(value, param, ctx)
        return self._slowly(value, param, ctx)

    def _slowly(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value in Typer's own way."""
        if self._own is None:
            from typer._coercion import build_runtime_param

            self._own = build_runtime_param(self._parameter.type_descriptor)
        return self._own.coerce(value, param=param, ctx=ctx)


def _plain(value: Any, wanted: Any) -> Any:
    """Return a plain value, or raise ValueError."""
    kind, given = wanted.annotation, wanted.parameter_info
    if value is None:
        return None
    if given.parser is not None:
        return given.parser(value)
    if kind is str and isinstance(value, str):
        return value
    if kind is int and (type(value) is int or _PLAIN.fullmatch(str(value))):
        number = int(value)
        if (given.min is None or given.min <= number) and (
            given.max is None or number <= given.max
        ):
            return number
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    raise ValueError(value)
