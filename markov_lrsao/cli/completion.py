"""What the shell offers for values: choices, landscapes, algorithms, statements of the paper.

Options whose values are an enumeration are completed by Typer itself. These functions serve
the others; where nothing matches, shells fall back to the names of files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable

__all__ = ["algorithms", "choices", "figure_names", "landscapes", "statements"]


def choices(*names: str) -> Callable[[str], list[str]]:
    """Return a completer that offers names.

    >>> choices("powers", "inversion")("p")
    ['powers']
    """

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def landscapes(incomplete: str) -> list[str]:
    """Offer the names of the landscapes, and behind a colon or comma the keys that are left."""
    from markov_lrsao.model.catalogue import LANDSCAPES

    name, colon, rest = incomplete.partition(":")
    if not colon:
        return choices(*LANDSCAPES)(incomplete)
    if name not in LANDSCAPES:
        return []
    *done, _ = rest.split(",")
    used = {item.partition("=")[0] for item in done}
    head = ",".join([f"{name}:{done[0]}", *done[1:]]) + "," if done else f"{name}:"
    return choices(*(f"{head}{key}=" for key in LANDSCAPES[name].keys if key not in used))(
        incomplete
    )


def algorithms(incomplete: str) -> list[str]:
    """Offer the names of the algorithms."""
    from markov_lrsao.model.named import ALGORITHMS

    return choices(*ALGORITHMS)(incomplete)


def figure_names(incomplete: str) -> list[str]:
    """Offer the names of the figures."""
    from markov_lrsao.figures import FIGURES

    return choices(*FIGURES)(incomplete)


class _Chosen(str):
    """A word that was chosen by what it stands for, while Typer compares how it is written."""

    __slots__ = ()

    def startswith(self, *_: object) -> bool:
        return True


def escaped(name: str) -> str:
    r"""Return a name as it can stand on a command line without quotes.

    >>> print(escaped("Lemma 10"), escaped("(H)"))
    Lemma\ 10 \(H\)
    """
    return re.sub(r"[^\w.,:/+-]", r"\\\g<0>", name)


def statements(incomplete: str) -> list[str]:
    """Offer the statements that can be checked.

    Their names have spaces. Zsh and fish quote by themselves; bash inserts a word as it is, so
    there they are escaped, unless a quote has been opened.
    """
    from proofs_check.verification.registry import all_statements

    found = choices(*all_statements())(incomplete)
    bash_words = os.environ.get("COMP_WORDS")
    if bash_words is None or bash_words.split("\n")[-1][:1] in ("'", '"'):
        return found
    return [_Chosen(escaped(name)) for name in found]
