"""Text from files on its way to people: printable, and short lists.

Names and labels come from files that anybody may have written. Control characters, lone
surrogates and marks that turn the direction of writing would act on a terminal or crash the
output's encoding, so they are shown as escapes.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["listing", "one_line", "printable"]

_MOST_LISTED = 20
_LONGEST_NAME = 60
_LONGEST_WORD = 160


def printable(text: str, keep: str = "") -> str:
    r"""Return the text with every character that is not printable written as an escape.

    Characters in `keep` (line ends, for a whole page) stay as they are.

    >>> print(printable("a\x1b[31mb\ud800\n"))
    a\x1b[31mb\ud800\n
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in keep else c.encode("unicode_escape").decode("ascii")
        for c in text
    )


def _brief(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 3] + "..."


def listing(names: Iterable[str], none: str = "none") -> str:
    """Return names for a message: at most twenty, and how many more there are.

    >>> listing(str(k) for k in range(23))
    '0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19 and 3 more'
    """
    found = [_brief(printable(name)) for name in names]
    if not found:
        return none
    more = len(found) - _MOST_LISTED
    return ", ".join(found[:_MOST_LISTED]) + (f" and {more:,} more" if more > 0 else "")


def one_line(message: str) -> str:
    r"""Return a message as one line that a terminal shows as it is and that people can read.

    Control characters are escaped, and words nobody would read to their end are cut.

    >>> print(one_line("bad \x1b[31m" + chr(10) + "n = " + "9" * 5000))
    bad \x1b[31m n = 999999999999999999999999...99999999 (5000 characters)
    """

    def cut(word: str) -> str:
        if len(word) <= _LONGEST_WORD:
            return word
        return f"{word[:24]}...{word[-8:]} ({len(word)} characters)"

    return printable(" ".join(map(cut, message.split())))
