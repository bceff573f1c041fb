"""The four files of a figure, written all or none, and how to tell that they are there.

A figure is complete when its JSON says so: the JSON is removed before the other three are
replaced and put in place after them. A run that is killed between two renames therefore leaves
whole files and no JSON, and the next run makes the figure again.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markov_lrsao.errors import FileFormatError, ParameterError
from markov_lrsao.inputs import load_json, read_text
from markov_lrsao.storage import check_folder, staged

__all__ = ["ENDINGS", "FIELDS", "is_complete", "prepare_folder", "write_figure"]

ENDINGS = ("csv", "png", "svg", "json")
"""In the order of writing; the JSON comes last."""
FIELDS = frozenset(
    {
        "name",
        "title",
        "caption",
        "setting",
        "command",
        "kind",
        "settings",
        "version",
        "x",
        "y",
        "series",
        "notes",
    }
)
"""What the JSON of every figure has."""
_ADVICE = (
    "make room or choose another `out`, and run the same command again: finished figures are kept"
)


def prepare_folder(folder: Path) -> None:
    """Make the folder and check that files can be written there, before anything is computed.

    Raises
    ------
    ParameterError
        It cannot be made or written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(
            f"cannot make the folder {folder}: {error.strerror or error}; choose another `out`"
        ) from None
    check_folder(folder)


def is_complete(folder: Path, name: str, settings: Mapping[str, Any], version: str) -> bool:
    """Whether the figure is there, made by this version with these settings."""
    paths = [folder / f"{name}.{ending}" for ending in ENDINGS]
    if not all(path.is_file() and path.stat().st_size > 0 for path in paths):
        return False
    try:
        found: Any = load_json(read_text(paths[-1]), str(paths[-1]))
    except FileFormatError:
        return False
    return (
        isinstance(found, dict)
        and set(found) >= FIELDS
        and found.get("name") == name
        and found.get("settings") == settings
        and found.get("version") == version
    )


def write_figure(folder: Path, name: str, contents: Mapping[str, bytes]) -> Path:
    """Write the files of a figure and return the path of its JSON.

    Everything goes to temporary files first, so that a full disk is noticed while the files of
    an earlier run are still untouched.

    Raises
    ------
    ParameterError
        A file cannot be written; no half-written file is left.
    """
    goal = folder / f"{name}.json"
    with staged({folder / f"{name}.{e}": contents[e] for e in ENDINGS}, _ADVICE) as ready:
        goal.unlink(missing_ok=True)
        for path, temporary in ready.items():
            os.replace(temporary, path)
    return goal
