"""What the shell offers for values: choices, landscapes, algorithms, statements of the paper.

Options whose values are an enumeration are completed by Typer itself. These functions serve
the others; where nothing matches, shells fall back to the names of files.
"""

from __future__ import annotations

import os
from collections.abc import Callable

__all__ = ["algorithms", "choices", "landscapes", "statements"]


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


def statements(incomplete: str) -> list[str]:
    """Offer the statements that can be checked.

    Their names have spaces. Bash inserts a word as it is, so there they are offered only where
    a quote has been opened; zsh and fish quote by themselves.
    """
    from proofs_check.verification.registry import all_statements

    bash_words = os.environ.get("COMP_WORDS")
    if bash_words is not None and bash_words.split("\n")[-1][:1] not in ("'", '"'):
        return []
    return choices(*all_statements())(incomplete)
