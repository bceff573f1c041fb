"""Tables for people: aligned plain text, the same on a terminal and in a pipe."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["table"]


def table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()
) -> str:
    """Return an aligned table; columns in `right` are right-aligned.

    >>> print(table(["k", "value"], [["1", "10"], ["20", "3"]], right=[1]))
    k   value
    --  -----
    1      10
    20      3
    """
    lines = [list(header), *[list(row) for row in rows]]
    widths = [max(len(line[c]) for line in lines) for c in range(len(header))]

    def text(line: Sequence[str]) -> str:
        cells = [cell.rjust(w) if c in right else cell.ljust(w)
                 for c, (cell, w) in enumerate(zip(line, widths, strict=True))]
        return "  ".join(cells).rstrip()

    return "\n".join([text(header), "  ".join("-" * w for w in widths), *map(text, rows)])
