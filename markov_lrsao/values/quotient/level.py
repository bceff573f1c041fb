"""The quotient as a block of a whole run, which solvers, laws and traps read like any other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from flint import fmpq

from markov_lrsao.crossing.blocks import Edge, Exit, State, Stretch
from markov_lrsao.errors import Refused, StateSpaceTooLargeError, attempt
from markov_lrsao.model.law import UP, StepLaw, add_shares
from markov_lrsao.rows.derived import automata_of
from markov_lrsao.values.cells import Precision
from markov_lrsao.values.clusters import Clusters
from markov_lrsao.values.quotient.cutting import BOLD, PLAIN, STEADY, Style
from markov_lrsao.values.quotient.lumps import Lump
from markov_lrsao.values.quotient.minimising import minimise
from markov_lrsao.values.quotient.tables import Tables
from markov_lrsao.values.refinement import Refined

__all__ = ["order_text", "quick_quotient", "quotient_level"]

_QUICK = 500
"""A quotient that planes of a bold style find has mostly less than 200 lumps."""


def quick_quotient(law: StepLaw, largest: int) -> Refined | Refused:
    """Return the quotient, if one of the bolder styles finds it within a second or two.

    A law keeps the outcome: who asks again is answered at once.
    """
    few = min(_QUICK, largest)
    key = ("quick quotient", few)
    if key not in law.derived:
        law.derived[key] = _quick(law, few)
    found: Refined | Refused = law.derived[key]
    return found


def _quick(law: StepLaw, largest: int) -> Refined | Refused:
    found: Refined | Refused = Refused(StateSpaceTooLargeError("no style of cutting was tried"))
    for style in (PLAIN, BOLD):
        found = attempt(partial(quotient_level, law, largest=largest, style=style))
        if not isinstance(found, Refused):
            break
    return found


def quotient_level(law: StepLaw, *, largest: int, style: Style = STEADY) -> Refined:
    """Return the quotient of all (position, phase, table), in which nothing is open.

    Raises
    ------
    StateSpaceTooLargeError
        No stable partition was found within the limits.
    CrossingError
        An update is no mean of old and new values.
    """
    lumps = minimise(Tables(law), largest, style)
    number = {lump: i for i, lump in enumerate(lumps)}
    stretch = Stretch(automata_of(law), 0, law.optimum, law.landscape.milestones)
    rows = len(stretch.rows)
    end = Exit(UP, len(law.landscape.milestones), (0,) * rows)

    def edges(lump: Lump) -> tuple[Edge, ...]:
        assert lump.moves is not None
        return tuple(
            add_shares(
                (end if m.target is None else number[m.target], m.share) for m in lump.moves
            ).items()
        )

    return Refined(
        stretch=stretch,
        # Numbers below 0 stand for no pattern; they tell states at the same place apart.
        states=tuple(
            State(lump.place[0], lump.place[1], (-1 - i,) * rows) for i, lump in enumerate(lumps)
        ),
        start=(0,),
        denominator=law.denominator,
        clusters=Clusters(law, Precision(fmpq(1), 0)),
        tracked=frozenset(),
        options=tuple((edges(lump),) for lump in lumps),
        names=lambda i: _described(law, lumps[i]),
        method="quotient",
    )


def _described(law: StepLaw, lump: Lump) -> str:
    """Return a lump in words, by the table that represents it: "p=6 [0: J>L=R>0]"."""
    assert lump.point is not None
    text = [f"p={lump.place[0]}"]
    actions = len(law.actions)
    for k, row in enumerate(law.rows_met()):
        entries = lump.point.table[k * actions : (k + 1) * actions]
        if any(entries):
            text.append(f"[{law.state(row)}: {order_text(law.actions, entries)}]")
    return " ".join(text)


def order_text(actions: Sequence[str], entries: Sequence[fmpq]) -> str:
    """Return the order of a row's entries and 0."""
    named = [(value, name) for name, value in zip(actions, entries, strict=True)]
    named.append((fmpq(0), "0"))
    groups: dict[fmpq, list[str]] = {}
    for value, name in named:
        groups.setdefault(value, []).append(name)
    return ">".join("=".join(groups[v]) for v in sorted(groups, reverse=True))
