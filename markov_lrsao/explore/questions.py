"""From the settings of a view to the command line that answers it.

The page sends names and numbers as texts. What reaches the engine is a list of options made here:
only options that are named below, every value checked for its form and written as
``--option=value``, so that no value can be taken for an option. Values themselves (is this n
admissible?) are the engine's business, and its errors are shown as they are.

>>> question("exact", {"n": "9", "ell": "2", "alpha": "4/5"}, lambda _: frozenset())
['exact', '--n=9', '--ell=2', '--alpha=4/5', '--outside-h', '--json']
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from markov_lrsao.errors import ParameterError
from markov_lrsao.model.naming import is_file

__all__ = ["DEFAULTS", "VIEWS", "View", "question"]

_INTEGER = re.compile(r"[0-9]{1,9}")
_NUMBER = re.compile(r"[0-9][0-9./eE+-]{0,79}|\.[0-9]{1,79}")
_RANGE = re.compile(r"[0-9.:@,/]{1,80}")
_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}(?::[a-z0-9_=+*/(). ,-]{1,200})?")
_STEPS = re.compile(r"(?:[^,\s]{1,20}[+-])?(?:,[^,\s]{1,20}[+-]){0,5000}")
_FORMS = {
    "n": _INTEGER,
    "ell": _INTEGER,
    "alpha": _NUMBER,
    "gamma": _NUMBER,
    "r": _NUMBER,
    "landscape": _NAME,
    "algorithm": _NAME,
    "at": _RANGE,
    "alphas": _RANGE,
    "places": _RANGE,
    "row": _INTEGER,
    "seed": _INTEGER,
    "steps": _INTEGER,
    "choices": _STEPS,
}
DEFAULTS = {"landscape": "jump", "algorithm": "lrsao"}
"""What is not written into a command, since the command line takes it by itself."""
_INSTANCE = ("landscape", "algorithm", "n", "ell", "alpha", "gamma", "r")


@dataclass(frozen=True)
class View:
    """Which command answers a view, which settings it takes, and what else is on the line.

    Attributes
    ----------
    settings : names of settings; those of the instance first
    renamed : setting -> option, where they differ
    """

    command: str
    settings: tuple[str, ...] = _INSTANCE
    flags: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()


VIEWS: Mapping[str, View] = {
    "exact": View("exact", flags=("--outside-h",)),
    "law": View("distribution", (*_INSTANCE, "at"), ("--outside-h",)),
    "sites": View("sites", flags=("--outside-h",)),
    "map": View(
        "map",
        ("n", "ell", "gamma", "alphas", "places"),
        ("--workers=1",),
        (("alphas", "alpha"), ("places", "r-relative")),
    ),
    "regime": View("map", ("n", "ell", "gamma", "alpha", "r"), ("--borders", "--outside-h")),
    "row": View("states", (*_INSTANCE, "row"), ("--outside-h",)),
    "run": View("trace", (*_INSTANCE, "seed", "steps")),
    "walk": View("trace", (*_INSTANCE, "choices", "steps")),
}


def question(
    view: str, settings: Mapping[str, Any], options: Callable[[str], frozenset[str]]
) -> list[str]:
    """Return the command line of a view.

    Parameters
    ----------
    settings : name -> text; what is empty is left to the command's default
    options : the long options that a command has; one without --algorithm knows LRSAO only

    Raises
    ------
    ParameterError
        There is no such view, or a setting is unknown or has no possible form.
    """
    if view not in VIEWS:
        raise ParameterError(f"view {view!r} is not known: choose {', '.join(VIEWS)}")
    asked = VIEWS[view]
    unknown = sorted(set(settings) - set(_FORMS))
    if unknown:
        raise ParameterError(f"setting {unknown[0]!r} is not known")
    line = [asked.command]
    renamed = dict(asked.renamed)
    for name in asked.settings:
        given = settings.get(name, "")
        text = given.strip() if isinstance(given, str) else str(given)
        if not text and name != "choices":
            continue
        _check(name, text)
        if DEFAULTS.get(name) == text:
            continue
        if name == "algorithm" and "--algorithm" not in options(asked.command):
            raise ParameterError(
                f"markov-lrsao {asked.command} answers for LRSAO only, not for {text}; "
                f"`markov-lrsao exact` and `markov-lrsao simulate` do"
            )
        line.append(f"--{renamed.get(name, name)}={text}")
    return [*line, *asked.flags, "--json"]


def _check(name: str, text: str) -> None:
    if not _FORMS[name].fullmatch(text) or (name in ("landscape", "algorithm") and is_file(text)):
        wanted = "a name" if _FORMS[name] is _NAME else "a number"
        raise ParameterError(f"{name} = {text[:80]!r} has not the form of {wanted}")
