"""What all writers share: files that are whole or absent, and labels per state."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

from markov_lrsao.chain import MarkovChain
from markov_lrsao.errors import ParameterError

__all__ = ["label_texts", "whole_file"]

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def whole_file(path: str | Path, text: str) -> None:
    """Write a text file so that an interruption leaves the old file or the new one, never half.

    The text goes to a temporary file beside it, which is then renamed.
    """
    path = Path(path)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def label_texts(chain: MarkovChain, *, start: str) -> dict[int, str]:
    """Return for each labelled state its labels, each preceded by a space, quoted if needed."""
    result = {int(i): f" {start}" for i in chain.start}
    for name, states in chain.labels.items():
        check_label(name, start)
        shown = name if _BARE.fullmatch(name) else f'"{name}"'
        for i in states.tolist():
            result[i] = f"{result.get(i, '')} {shown}"
    return result


def check_label(name: str, start: str) -> None:
    """Refuse a label that no file could carry."""
    if name == start:
        raise ParameterError(f"the label {name!r} is kept for the start states; rename it")
    if not name or '"' in name or not name.isprintable():
        raise ParameterError(f"the label {name!r} cannot be written: it must be printable text "
                             f"without quotation marks")
