r"""Crossing counts: the law of the runtime at any n, without enumerating joint states.

**Independence.** The transitions of a row's pattern depend on the row's own pattern and
moves only (that is how `markov_lrsao.rows.automata` derives them: bounds on the neighbour's
maximum hold whatever the neighbour shows). So, given the direction of every proposal made
at its own positions, a region of positions with rows of its own is an autonomous automaton,
and automata of different regions are driven by disjoint sets of independent coin flips.
What one region sees of the others is only *when* it is entered, and a walk on a line
re-enters a region at the end where it left.

**Counting.** Let c be the *cut*: the first position whose row already occurred in an
earlier region (on Jump n - l, where state 0 comes back), or the optimum. Until c is first
hit every region below c is one automaton. Let D_s be the number of moves from region s
down to region s - 1 before c is hit. Region s is left upwards exactly 1 + D_{s+1} times
(once for good, and once for every return from above), the top region exactly once. Running
the automaton of region s from a fresh row until it has made 1 + d' upward exits yields the
law of D_s given D_{s+1} = d', and the generating function of the steps spent in s:

    K_s(z)[d', d] = E[ z^(steps in s); D_s = d | D_{s+1} = d' ].

By independence, (D_s) is a Markov chain from the top to the bottom and

    E[z^tau_c] = (row of the top region) K K .. K (column of the bottom block).

At sites where each downward exit uses up something, D takes few values (three on the slope
of Jump). The regions from the lowest such site downwards, where D is unbounded, form the
*bottom block*, which is solved as one small chain for 1, 2, .. upward exits.

**After the cut** a walk may meet rows again whose patterns were set before. It is solved as
one small chain (the *top block*) on the rows of c's region and of the region just below,
starting from the joint law of their patterns at the hitting of c. That law is carried along:
the pattern with which the top region was left is a mark on the row vector, and the bottom
block tells the final pattern of its rows. Runtimes before and after the cut, and the phases,
are dependent through these marks only.

All of this is checked, not assumed: a row that has two regions below the cut, a bottom or
top block that grows large, and a walk after the cut that falls below the region under it
raise `CrossingError` with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from markov_lrsao.crossing.blocks import Block, Exit, State, Stretch, explore_block
from markov_lrsao.errors import CrossingError, NotAbsorbingError, VerificationError
from markov_lrsao.exact.graphs import components_of
from markov_lrsao.model.law import DOWN, UP, Share, StepLaw
from markov_lrsao.rows.automata import RowAutomata
from markov_lrsao.rows.derived import automata_of
from markov_lrsao.rows.lumping import merge_patterns

if TYPE_CHECKING:
    from markov_lrsao.values.refinement import Refined

__all__ = [
    "Decomposition",
    "Site",
    "Steps",
    "cut_of",
    "decompose",
    "exit_marks",
    "fell_below",
    "find_sites",
    "most_exits_down",
    "phase_of_sites",
    "regions_below",
    "tail_patterns",
]

_LARGEST_COUNT = 40
"""More values of D than this, and the method is not worth it: the joint chain may be."""


@dataclass(frozen=True)
class Site:
    """A run of single positions of one kind between the blocks, walked from `high` to `low`.

    Attributes
    ----------
    steps : class -> [(change of position, next class, share)]
    incoming, outgoing : largest D of the region above, and of the site itself
    """

    low: int
    high: int
    steps: tuple[tuple[tuple[int, int, Share], ...], ...]
    incoming: int
    outgoing: int


@dataclass(frozen=True, eq=False)
class Decomposition:
    """The blocks and sites of a step law.

    Attributes
    ----------
    cut : c of the derivation
    sites : from the top (just below the top region) to the bottom
    top_region : the region just below the cut, explored with its exits; None when the bottom
        block reaches up to the cut
    top_counts : largest D of the top region
    bottom : positions 0.. of the bottom block
    tail : the top block after the cut; None when the cut is the optimum, or when choices
        take its place
    tail_start : (upward exit of the bottom, mark of the top region) -> state of the tail
    phase : phase (from 0) that all steps at sites and in the top region belong to
    choices : the walk after the cut where not all comparisons are decided; else None
    course : where values decide, gives what is greedy after every history, in a form that is
        equal for two hyper-parameters only if that is; see `markov_lrsao.values.courses`
    """

    law: StepLaw
    automata: RowAutomata
    cut: int
    top_region: Block | None
    top_counts: int
    sites: tuple[Site, ...]
    bottom: Block
    tail: Block | None
    tail_start: Mapping[tuple[Exit, int], int]
    phase: int
    choices: Refined | None = None
    course: Callable[[], Hashable | None] | None = None

    @property
    def states(self) -> int:
        """Number of states handled: of the blocks, and classes times positions of the sites."""
        blocks: list[Block | Refined] = [self.bottom]
        blocks += [b for b in (self.top_region, self.tail, self.choices) if b is not None]
        return sum(len(b.states) for b in blocks) + sum(
            len(site.steps) * (site.high - site.low + 1) for site in self.sites
        )


def decompose(law: StepLaw, automata: RowAutomata | None = None) -> Decomposition:
    """Split the positions of a step law into blocks and sites.

    Raises
    ------
    CrossingError
        The method does not apply; the message says why.
    """
    merged, _ = merge_patterns(automata if automata is not None else automata_of(law))
    cut = cut_of(law)
    milestones = law.landscape.milestones
    regions = regions_below(law, cut)
    sites, counts, top, bottom_last = find_sites(merged, cut, regions, milestones)
    phase = phase_of_sites(milestones, cut, bottom_last)
    stretch = Stretch(merged, 0, bottom_last, milestones, UP if top is not None else None)
    bottom = explore_block(stretch, [State(0, 0, (0,) * len(stretch.rows))])
    tail: Block | None = None
    starts: dict[tuple[Exit, int], int] = {}
    if cut < law.optimum:
        tail, starts = _tail(merged, cut, top, bottom, regions, milestones)
    return Decomposition(law, merged, cut, top, counts, sites, bottom, tail, starts, phase)


def phase_of_sites(milestones: Sequence[int], cut: int, bottom_last: int) -> int:
    """Return the one phase (from 0) to which all steps between bottom block and cut belong.

    Raises
    ------
    VerificationError
        A milestone lies among the sites, whose steps cannot be told apart by phases.
    """
    before_cut = [m for m in milestones if m < cut]
    if before_cut and before_cut[-1] > bottom_last:
        raise VerificationError(
            f"milestone {before_cut[-1]} lies among the sites above position {bottom_last}; "
            f"please report this instance"
        )
    return len(before_cut)


def cut_of(law: StepLaw) -> int:
    """Return the first position whose row occurred in an earlier region, or the optimum."""
    row = law.row[: law.optimum + 1]
    begins = np.flatnonzero(np.diff(row, prepend=-1))
    # Rows are numbered by first position, so a number that is not a new record came before.
    again = np.flatnonzero(row[begins[1:]] <= np.maximum.accumulate(row[begins[:-1]]))
    return int(begins[again[0] + 1]) if again.size else law.optimum


def regions_below(law: StepLaw, cut: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the first positions of the regions below the cut."""
    return np.flatnonzero(np.diff(law.row[:cut], prepend=-1)).astype(np.int64)


Steps = Sequence[Sequence[tuple[int, int, Share]]]
"""Class -> its steps (change of position, next class, share); see `Site`."""


def _site_steps(automata: RowAutomata, p: int) -> tuple[tuple[tuple[int, int, Share], ...], ...]:
    """Return the steps of the site automaton at p.

    Only classes that a fresh row can reach here are kept, numbered in order of discovery. A
    class in which the site is never met again (the walk cannot come back) has no steps.
    """
    number = {0: 0}
    queue = [0]
    table: list[tuple[tuple[int, int, Share], ...]] = []
    for k in queue:
        outcomes = automata.outcomes_at(p, k) if automata.is_met(p, k) else {}
        for _, following in outcomes:
            if following not in number:
                number[following] = len(number)
                queue.append(following)
        table.append(tuple((moved, number[to], share) for (moved, to), share in outcomes.items()))
    return tuple(table)


def most_exits_down(steps: Steps, ups: int) -> int | None:
    """Return the largest number of downward exits before `ups` upward ones; None: no bound.

    Between two upward exits a site walks on the graph of its other steps. A downward exit
    within a strongly connected component can be repeated for ever; without one, all classes
    of a component share the longest path that leads out of it.
    """
    order = components_of([[to for moved, to, _ in row if moved != 1] for row in steps])
    after: list[int | None] = [0] * len(steps)  # with no upward exit left to make
    for _ in range(ups):
        most: list[int | None] = [0] * len(order)
        for k in order.members.tolist():  # successors first
            own = int(order.label[k])
            for moved, to, _ in steps[k]:
                inside = moved != 1 and int(order.label[to]) == own
                if inside and moved == 0:
                    continue
                further = after[to] if moved == 1 else most[int(order.label[to])]
                best = most[own]
                most[own] = (
                    None
                    if inside or best is None or further is None
                    else max(best, further + (moved == -1))
                )
        after = [most[int(c)] for c in order.label]
    return after[0]


def find_sites(
    automata: RowAutomata,
    cut: int,
    regions: np.ndarray[tuple[int], np.dtype[np.int64]],
    milestones: tuple[int, ...],
) -> tuple[tuple[Site, ...], int, Block | None, int]:
    """Find the sites from the top down; return them, the top region and where they end.

    Raises
    ------
    NotAbsorbingError
        The automata show that no run comes as far as one of the sites.
    """
    law = automata.law
    single = np.diff(np.append(regions, cut)) == 1
    if not len(regions) or not single[-1] or regions[-1] == 0:
        return (), 0, None, cut - 1
    top_position = int(regions[-1])
    _check_reached(automata, top_position)
    counts = most_exits_down(_site_steps(automata, top_position), 1)
    if counts is None or counts > _LARGEST_COUNT or top_position in milestones:
        return (), 0, None, cut - 1
    region = Stretch(automata, top_position, top_position, (), DOWN)
    top = explore_block(region, [State(top_position, 0, (0,))])
    sites: list[Site] = []
    incoming, p = counts, top_position - 1
    at = len(regions) - 2
    while at >= 0 and single[at] and p > 0:
        _check_reached(automata, p)
        steps = _site_steps(automata, p)
        outgoing = most_exits_down(steps, incoming + 1)
        if outgoing is None or outgoing > _LARGEST_COUNT or p in milestones:
            break
        low = p
        if outgoing == incoming:  # further sites of this kind and row class are alike
            kinds, classes = law.kind[: p + 1], automata.regions.row_class[law.row[: p + 1]]
            other = np.flatnonzero((kinds != kinds[p]) | (classes != classes[p]))
            run = int(other[-1]) + 1 if other.size else 0
            stop = np.flatnonzero(~single[: at + 1])
            low = max(run, int(regions[stop[-1] + 1]) if stop.size else 0, 1)
            low = max([low, *(m + 1 for m in milestones if m <= p)])
        sites.append(Site(low, p, steps, incoming, outgoing))
        at -= p - low + 1
        incoming, p = outgoing, low - 1
    return tuple(sites), counts, top, p


def _check_reached(automata: RowAutomata, p: int) -> None:
    """Refuse a site that no run ever reaches: then the cut is not reached either."""
    if not automata.is_met(p, 0):
        raise NotAbsorbingError(f"no run ever reaches position {p}: E[T] is infinite")


def _tail(
    automata: RowAutomata,
    cut: int,
    top: Block | None,
    bottom: Block,
    regions: np.ndarray[tuple[int], np.dtype[np.int64]],
    milestones: tuple[int, ...],
) -> tuple[Block, dict[tuple[Exit, int], int]]:
    """Explore the walk after the cut, on the rows of its region and of the one below."""
    law = automata.law
    below = int(regions[-1]) if top is not None else 0
    stretch = Stretch(automata, below, law.optimum, milestones)
    rows = stretch.rows
    phase = sum(m <= cut for m in milestones)
    starts = {
        (x, mark): State(cut, phase, tail_patterns(rows, law, bottom, x, mark, below))
        for x in bottom.exits
        if x.direction == UP
        for mark in exit_marks(top)
    }
    slot = rows.index(int(law.row[cut]))
    if not all(automata.is_met(cut, s.patterns[slot]) for s in starts.values()):
        raise CrossingError(
            f"position {cut} is never hit with some patterns that crossing counts take for possible"
        )
    tail = explore_block(stretch, list(dict.fromkeys(starts.values())))
    if any(exit_.direction == DOWN for exit_ in tail.exits):
        raise fell_below(cut, below)
    return tail, {key: tail.number[state] for key, state in starts.items()}


def fell_below(cut: int, below: int) -> CrossingError:
    """Return the refusal of a walk after the cut that leaves its rows."""
    return CrossingError(
        f"after position {cut} is hit, the walk can fall below position {below} again, to "
        f"rows whose patterns crossing counts do not know"
    )


def exit_marks(top: Block | None) -> list[int]:
    """Return the patterns with which the top region can be left upwards."""
    if top is None:
        return [0]
    return sorted({e.patterns[0] for e in top.exits if e.direction == UP})


def tail_patterns(
    rows: Sequence[int], law: StepLaw, bottom: Block, exit_: Exit, mark: int, below: int
) -> tuple[int, ...]:
    """Return the patterns of the tail's rows, given how the bottom and top regions were left.

    Rows first met after the cut are fresh.
    """
    result = []
    for r in rows:
        if r in bottom.stretch.rows:
            result.append(exit_.patterns[bottom.stretch.rows.index(r)])
        elif r == int(law.row[below]):
            result.append(mark)
        elif bool(np.any(law.row[:below] == r)):
            raise CrossingError(
                f"agent state {law.state(r)} is met both among the sites and after the cut; "
                f"crossing counts do not apply"
            )
        else:
            result.append(0)
    return tuple(result)
