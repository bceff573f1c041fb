"""Tables for people: aligned plain text, the same columns on a terminal and in a pipe.

No cell is empty and none is cut, so a piped table can be read by eye and split at runs of two
spaces. A terminal adds bold headers and coloured verdicts, and nothing else: never box drawing,
never colour in a pipe, under NO_COLOR or on a dumb terminal.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence

from markov_lrsao.texts import printable

__all__ = ["VERDICT_COLOURS", "colour_wanted", "html_table", "show", "table"]

_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"
_GREEN, _RED, _YELLOW, _CYAN = "\x1b[32m", "\x1b[31m", "\x1b[33m", "\x1b[36m"
_RULE = re.compile(r"-+(  -+)*")

VERDICT_COLOURS = {
    "PROVED": _GREEN,
    "VERIFIED": _GREEN,
    "SUPPORTED": _CYAN,
    "REFUTED": _RED,
    "UNKNOWN": _YELLOW,
    "FAILS": _RED,
    "DISAGREE": _RED,
    "ERRATUM": _YELLOW,
}
"""The words stand for themselves; colour only helps to find them."""


def table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()
) -> str:
    """Return an aligned table; columns in `right` are right-aligned, empty cells are "-".

    >>> print(table(["k", "value"], [["1", "10"], ["20", "3"], ["21", ""]], right=[1]))
    k   value
    --  -----
    1      10
    20      3
    21      -
    """
    lines = [[cell or "-" for cell in line] for line in (header, *rows)]
    widths = [max(len(line[c]) for line in lines) for c in range(len(header))]

    def text(line: Sequence[str]) -> str:
        cells = [
            cell.rjust(w) if c in right else cell.ljust(w)
            for c, (cell, w) in enumerate(zip(line, widths, strict=True))
        ]
        return "  ".join(cells).rstrip()

    return "\n".join([text(lines[0]), "  ".join("-" * w for w in widths), *map(text, lines[1:])])


def html_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the same table as HTML, for notebooks.

    >>> html_table(["k"], [["1 < 2"], [""]])
    '<table><tr><th>k</th></tr><tr><td>1 &lt; 2</td></tr><tr><td>-</td></tr></table>'
    """
    from html import escape

    def line(cells: Sequence[str], tag: str) -> str:
        inner = "".join(f"<{tag}>{escape(cell or '-')}</{tag}>" for cell in cells)
        return f"<tr>{inner}</tr>"

    return f"<table>{line(header, 'th')}{''.join(line(row, 'td') for row in rows)}</table>"


def colour_wanted() -> bool:
    """Whether stdout is a terminal that may be coloured (https://no-color.org)."""
    return (
        sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )


def show(text: str, words: Mapping[str, str] | None = None) -> None:
    """Print text with tables in it; on a colour terminal headers are bold, `words` coloured."""
    text = printable(text, keep="\n")
    print(styled(text, words or {}) if colour_wanted() else text)


def styled(text: str, words: Mapping[str, str]) -> str:
    r"""Return the text with the terminal's codes.

    >>> styled("k  value\n-  -----\n1  FAILS", {"FAILS": "<red>"}).splitlines()[2]
    '1  <red>FAILS\x1b[0m'
    """
    lines = text.split("\n")
    for k in range(1, len(lines)):
        if _RULE.fullmatch(lines[k]) and len(lines[k - 1]) <= len(lines[k]) and lines[k - 1]:
            lines[k - 1] = f"{_BOLD}{lines[k - 1]}{_PLAIN}"
            lines[k] = f"{_DIM}{lines[k]}{_PLAIN}"
    whole = "\n".join(lines)
    if not words:
        return whole
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, words))})\b")
    return pattern.sub(lambda found: f"{words[found[0]]}{found[0]}{_PLAIN}", whole)
