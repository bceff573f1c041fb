"""Crossing counts with the quotient of the values around the cut, in which nothing is open.

The two rows of `markov_lrsao.values.quotient.across` have a small quotient at most hyper-parameters
with alpha above some 2/3, at any n: some hundred lumps, in a tenth of a second. Its lumps on the
lower region and those after the cut are the two blocks that crossing counts need. Where alpha is
small, and many updates have to add up before a comparison turns, the quotient is large or none is
found; there the clusters of `markov_lrsao.values.tails` often decide. Each is a second way to what
the other finds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from flint import fmpq

from markov_lrsao.crossing.blocks import Edge, Exit, Options, State, Stretch, Target
from markov_lrsao.errors import Refused, attempt, granted
from markov_lrsao.model.law import DOWN, UP, add_shares
from markov_lrsao.values.cells import Precision
from markov_lrsao.values.clusters import Clusters
from markov_lrsao.values.merging import merge_alike
from markov_lrsao.values.quotient.across import BOTTOM, LOST, OUT, TAIL, AcrossCut
from markov_lrsao.values.quotient.across import DOOMED as FALLEN
from markov_lrsao.values.quotient.cutting import STEADY
from markov_lrsao.values.quotient.level import order_text
from markov_lrsao.values.quotient.lumps import Lump
from markov_lrsao.values.quotient.minimising import minimise
from markov_lrsao.values.refinement import DOOMED, GONE, Refined
from markov_lrsao.values.tails import AroundCut, around_cut

if TYPE_CHECKING:
    from markov_lrsao.crossing.decomposition import Decomposition
    from markov_lrsao.model.law import StepLaw
    from markov_lrsao.rows.automata import RowAutomata

__all__ = ["FEW_LUMPS", "stable_decomposition"]

FEW_LUMPS = 1_500
"""Quotients that are found have mostly less than 400; these take a second or two."""


def stable_decomposition(
    law: StepLaw,
    automata: RowAutomata | None = None,
    *,
    largest: int = FEW_LUMPS,
    lose: bool = False,
) -> Decomposition:
    """Split the positions into blocks and sites, with lumps of values where they matter.

    Parameters
    ----------
    automata : row automata until the cut, if already derived
    largest : refuse to make more lumps than this
    lose : give up runs that fall below the tail, instead of refusing; such a decomposition
        always has `choices`, and is good for finding traps only

    Raises
    ------
    CrossingError, UndecidedComparisonError, StateSpaceTooLargeError
    """
    around = around_cut(law, automata)
    parts = _Parts(around, _lumps(around, largest, lose=lose))
    bottom, tail = parts.bottom(), parts.tail()
    whole, became, _ = merge_alike(tail, lambda x: (x.direction, x.phase, DOOMED in x.patterns))
    whole = replace(whole, names=parts.names(whole.states))
    starts = {key: became[i] for key, i in parts.starts().items()}
    return around.decomposition(bottom, whole, starts, lose=lose)


def _lumps(around: AroundCut, largest: int, *, lose: bool) -> list[Lump]:
    """Return the lumps; a law keeps the outcome, so that who asks again is answered at once."""
    derived, key = around.law.derived, ("lumps around the cut", largest, lose)
    if key not in derived:
        system = AcrossCut(around.stretch, around.cut, around.marks, lose=lose)
        derived[key] = attempt(lambda: minimise(system, largest, STEADY))
    found: list[Lump] | Refused = derived[key]
    return granted(found)


class _Numbered(NamedTuple):
    lumps: list[Lump]
    number: dict[Lump, int]

    @classmethod
    def of(cls, lumps: Sequence[Lump], kind: str) -> _Numbered:
        own = [lump for lump in lumps if lump.place[0] == kind]
        return cls(own, {lump: i for i, lump in enumerate(own)})


class _Parts:
    """Lumps as the states and exits of two blocks."""

    def __init__(self, around: AroundCut, lumps: Sequence[Lump]) -> None:
        self.around, self.law = around, around.law
        self.before, self.out, self.after = (_Numbered.of(lumps, k) for k in (BOTTOM, OUT, TAIL))
        rows = len(around.stretch.rows)
        # Numbers below 0 stand for no pattern; these tell lumps apart, and from GONE and DOOMED.
        self.exits = [
            Exit(UP, lump.place[1], (-10 - len(self.before.lumps) - k,) * rows)
            for k, lump in enumerate(self.out.lumps)
        ]

    def starts(self) -> dict[tuple[Exit, int], int]:
        """Return the lumps in which the cut is hit, per exit and mark."""
        return {
            (x, move.share): self.after.number[move.target]
            for x, lump in zip(self.exits, self.out.lumps, strict=True)
            for move in lump.moves or ()
            if move.target is not None and move.target.place[0] == TAIL
        }

    def bottom(self) -> Refined:
        """Return the lower region; the states in which the walk comes back follow the others."""
        rows, last = len(self.around.stretch.rows), self.around.stretch.last
        states = [
            State(lump.place[1], lump.place[2], (-10 - i,) * rows)
            for i, lump in enumerate(self.before.lumps)
        ]
        options = [(self._edges(lump),) for lump in self.before.lumps]
        for x, lump in zip(self.exits, self.out.lumps, strict=True):
            for move in lump.moves or ():
                if move.target is not None and move.target.place[0] == BOTTOM:
                    states.append(State(last, x.phase, x.patterns))
                    options.append(options[self.before.number[move.target]])
        return self._block(self.around.stretch, states, options, (0,))

    def tail(self) -> Refined:
        """Return the walk after the cut."""
        law, around = self.law, self.around
        stretch = Stretch(around.automata, around.cut - 1, law.optimum, law.landscape.milestones)
        rows = len(stretch.rows)
        states = [
            State(lump.place[1], lump.place[2], (-10 - i,) * rows)
            for i, lump in enumerate(self.after.lumps)
        ]
        options = [(self._edges(lump),) for lump in self.after.lumps]
        start = tuple(dict.fromkeys(self.starts().values()))
        return self._block(stretch, states, options, start)

    def names(self, states: Sequence[State]) -> Callable[[int], str]:
        """Return how states after the cut are called, by the tables that represent their lumps."""
        law, actions = self.law, len(self.law.actions)

        def name(i: int) -> str:
            lump = self.after.lumps[-10 - states[i].patterns[0]]
            assert lump.point is not None
            text = [f"p={states[i].position}"]
            for k, row in enumerate((self.around.row, self.around.below)):
                entries = lump.point.table[k * actions : (k + 1) * actions]
                if any(entries):
                    text.append(f"[{law.state(row)}: {order_text(law.actions, entries)}]")
            return " ".join(text)

        return name

    def _edges(self, lump: Lump) -> tuple[Edge, ...]:
        assert lump.moves is not None
        return tuple(
            add_shares((self._target(lump, m.target), m.share) for m in lump.moves).items()
        )

    def _target(self, lump: Lump, target: Lump | None) -> Target:
        if target is None:
            return Exit(UP, len(self.law.landscape.milestones), (GONE, GONE))
        if target.place in (LOST, FALLEN):
            pattern = DOOMED if target.place == FALLEN else GONE
            return Exit(DOWN, lump.place[2], (pattern, pattern))
        if target.place[0] == OUT:
            return self.exits[self.out.number[target]]
        within = self.before if target.place[0] == BOTTOM else self.after
        return within.number[target]

    def _block(
        self,
        stretch: Stretch,
        states: Sequence[State],
        options: Sequence[Options],
        start: tuple[int, ...],
    ) -> Refined:
        return Refined(
            stretch=stretch,
            states=tuple(states),
            start=start,
            denominator=self.law.denominator,
            clusters=Clusters(self.law, Precision(fmpq(1), 0)),
            tracked=frozenset(),
            options=tuple(options),
        )
