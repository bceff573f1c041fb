"""`markov-lrsao landscapes`: the landscapes that can be named, with their keys and references."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from markov_lrsao.cli import completion
from markov_lrsao.cli.options import JsonOption
from markov_lrsao.cli.output import emit
from markov_lrsao.errors import ParameterError

if TYPE_CHECKING:
    from markov_lrsao.model.catalogue import Named

__all__ = ["landscapes"]


def landscapes(
    name: Annotated[
        str | None, typer.Argument(help="Only this one.", autocompletion=completion.landscapes)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the landscapes that --landscape takes, a line each, with what defines them.

    A landscape is NAME:key=value,..; keys in brackets may be left out. Values are integers or
    expressions in n (jump-m:m=n/4); lists have + between their items. A JSON or TOML file of
    your own may stand for a name, see docs/landscapes.md.
    """
    from markov_lrsao.model.catalogue import LANDSCAPES

    if name is not None and name not in LANDSCAPES:
        raise ParameterError(f"{name!r} is not one of {', '.join(LANDSCAPES)}")
    shown = LANDSCAPES if name is None else {name: LANDSCAPES[name]}
    emit(
        as_json,
        lambda: {"landscapes": [_object(key, one) for key, one in shown.items()]},
        lambda: "\n".join(
            f"{_usage(key, one)}\n    {one.summary} ({one.reference})" for key, one in shown.items()
        ),
    )


def _usage(name: str, one: Named) -> str:
    needed = [key for key, kind in one.keys.items() if kind.default is None and not kind.optional]
    free = [key for key in one.keys if key not in needed]
    text = f"{name}:" if needed else name
    text += ",".join(f"{key}=.." for key in needed)
    return text + "".join(f" [{key}]" for key in free)


def _object(name: str, one: Named) -> dict[str, Any]:
    keys = {
        key: {
            "kind": kind.kind,
            "words": list(kind.words),
            "default": kind.default,
            "needed": kind.default is None and not kind.optional,
        }
        for key, kind in one.keys.items()
    }
    return {"name": name, "keys": keys, "definition": one.summary, "reference": one.reference}
