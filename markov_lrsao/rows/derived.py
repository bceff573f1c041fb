"""What is derived from a step law once, and kept with it for the next who asks."""

from __future__ import annotations

from markov_lrsao.errors import StateSpaceTooLargeError
from markov_lrsao.model.law import StepLaw
from markov_lrsao.rows.automata import RowAutomata, derive_automata

__all__ = ["automata_of"]


def automata_of(law: StepLaw, last: int | None = None, *, anywhere: bool = False) -> RowAutomata:
    """Return what `derive_automata` finds, derived once per law."""
    key = ("automata", law.optimum if last is None else last, anywhere)
    if key not in law.derived:
        try:
            law.derived[key] = derive_automata(law, last, anywhere=anywhere)
        except StateSpaceTooLargeError as error:
            law.derived[key] = error
    found: RowAutomata | StateSpaceTooLargeError = law.derived[key]
    if isinstance(found, StateSpaceTooLargeError):
        raise found
    return found
