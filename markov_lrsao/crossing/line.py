r"""A line on which no row comes back: T by composing its regions from the lowest to the highest.

The prefix of the line up to a region is never left downwards, and all that the rest sees of it is
one word, a return from above (`markov_lrsao.crossing.composition`). Regions may have several
positions, and the walk may fall back any number of times and as far as it likes. Runs that get
stuck are lost: E[z^T] at z = 1 is then less than 1, by the probability of getting stuck.

>>> from markov_lrsao.model.algorithm import Algorithm
>>> from markov_lrsao.model.landscape import Landscape
>>> thirds = Landscape.from_arrays({"X": [p // 3 for p in range(13)]}, "X")
>>> line_of(StepLaw.of(thirds, Algorithm.rls())).passage(0, 1, order=1)
(1, 414622/1155)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flint import fmpq

from markov_lrsao.crossing.blocks import Exit
from markov_lrsao.crossing.composition import raised
from markov_lrsao.crossing.minimal import Automaton, scalar
from markov_lrsao.crossing.segments import Region, private_rows, regions_between
from markov_lrsao.errors import CrossingError
from markov_lrsao.exact.evaluation import Evaluation
from markov_lrsao.exact.quantity import Trap
from markov_lrsao.exact.series import Element
from markov_lrsao.model.law import DOWN, UP, StepLaw
from markov_lrsao.rows.automata import RowAutomata
from markov_lrsao.rows.derived import automata_of
from markov_lrsao.rows.lumping import merge_patterns

__all__ = ["Line", "line_of"]


@dataclass(frozen=True, eq=False)
class Line:
    """All regions below the optimum, where no row is met in two of them.

    Attributes
    ----------
    automata : with merged patterns
    regions : from the lowest to the highest
    """

    automata: RowAutomata
    regions: tuple[Region, ...]

    @property
    def law(self) -> StepLaw:
        """The step law."""
        return self.automata.law

    @property
    def states(self) -> int:
        """Number of states of all regions, each on its own."""
        return sum(len(region.block.states) for region in self.regions)

    def passage(self, begin: int, end: int, order: int) -> Element:
        """Return E[z^S; `end` milestones are passed] about z = 1, exactly.

        S is the number of steps after `begin` milestones are passed.
        """
        milestones = (0, *self.law.landscape.milestones)
        prefix = scalar(order)
        for prefix in self._prefixes(milestones[end], milestones[begin], order):  # noqa: B007
            pass
        return prefix.value(prefix.start)

    def trap(self) -> Trap | None:
        """Return where runs get stuck, if they do, and with which probability.

        A run that is lost when a region is added has got stuck there, or has fallen from there to
        where it gets stuck.
        """
        arrived = fmpq(1)
        entry: str | None = None
        for i, prefix in enumerate(self._prefixes(self.law.optimum, 0, 0)):
            following = prefix.value(prefix.start)[0]
            if following < arrived and entry is None:
                found = (_stuck_state(region) for region in reversed(self.regions[: i + 1]))
                entry = next(state for state in found if state is not None)
            arrived = following
        return None if entry is None else Trap(entry, 1 - arrived, 1 - arrived)

    def _prefixes(self, end: int, counted_from: int, order: int) -> Iterator[Automaton]:
        """Yield the automata of the lowest region, of the two lowest, .., below `end`."""
        evaluation = Evaluation(exact=True, order=order)
        prefix = scalar(order)
        for region in self.regions:
            if region.first >= end:
                return
            counted = region.first >= counted_from
            weights = {flag: region.crossings(evaluation, flag) for flag in {True, counted}}
            prefix = raised(prefix, region, weights, counted)
            yield prefix


def line_of(law: StepLaw, automata: RowAutomata | None = None) -> Line:
    """Explore the regions of a line on which no row comes back.

    Raises
    ------
    CrossingError
        A row comes back, or a phase ends within a region.
    """
    shared = sorted(set(law.rows_met()) - private_rows(law))
    if shared:
        raise CrossingError(
            f"agent state {law.row_value[shared[0]]} is met in two separate regions; segments need "
            f"rows that are met in one"
        )
    merged, _ = merge_patterns(automata if automata is not None else automata_of(law))
    regions = tuple(regions_between(merged, 0, law.optimum))
    begins = {law.optimum, *(region.first for region in regions)}
    inside = [m for m in law.landscape.milestones if m not in begins]
    if inside:
        raise CrossingError(
            f"milestone {inside[0]} lies within positions of one agent state; segments tell phases "
            f"apart that end where another agent state begins"
        )
    return Line(merged, regions)


def _stuck_state(region: Region) -> str | None:
    """Return a state from which a region is never left upwards, in words; None: there is none.

    A walk that leaves the region comes back where it left.
    """
    block = region.block
    ending: set[int] = set()
    inside: list[list[int]] = []
    after: list[list[int]] = []
    for i, edges in enumerate(block.edges):
        up = [t for t, _ in edges if isinstance(t, Exit) and t.direction == UP]
        down = [t for t, _ in edges if isinstance(t, Exit) and t.direction == DOWN]
        inside.append([t for t, _ in edges if isinstance(t, int)])
        inside[i] += [t for t in map(block.comes_back, down) if t is not None]
        after.append([*inside[i], *(t for t in map(block.comes_back, up) if t is not None)])
        if up:
            ending.add(i)
    while more := {i for i, row in enumerate(inside) if ending & {*row}} - ending:
        ending |= more
    queue = [block.start[0]]
    for i in queue:
        if i not in ending:
            state, automata = block.states[i], block.stretch.automata
            row = int(block.law.row[state.position])
            label = automata.label(automata.class_of(row), state.patterns[0])
            return f"p={state.position} [{block.law.row_value[row]}: {label}]"
        queue += [j for j in dict.fromkeys(after[i]) if j not in queue]
    return None
