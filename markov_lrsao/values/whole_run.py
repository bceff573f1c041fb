r"""The joint chain with values, for any hyper-parameters at small n.

Two ways of following a whole run:

* `joint_with_values`: under (H) signs decide everything before the cut. The joint chain
  of all patterns is enumerated up to the cut, with the values of the one row that comes
  back; the walk after the cut follows (`markov_lrsao.values.tails`). Nothing rests on the
  independence of the sites: this is the second way to what crossing counts give.
* `everything`: outside (H) the same row may be open anywhere. All rows with an undecided
  pattern are followed by values from the start, the others by their automata.

Where they leave something open, the quotient of all tables is tried, which is exact
(`markov_lrsao.values.quotient`). All yield one `Refined` block from the first step to the optimum.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.crossing.blocks import Corridor, Edge, Exit, State, Stretch, Target
from markov_lrsao.crossing.decomposition import cut_of
from markov_lrsao.errors import CrossingError, Refused, StateSpaceTooLargeError, attempt
from markov_lrsao.model.law import StepLaw
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.rows.automata import RowAutomata
from markov_lrsao.rows.derived import automata_of
from markov_lrsao.rows.lumping import merge_patterns
from markov_lrsao.values.cells import Precision
from markov_lrsao.values.clusters import Clusters
from markov_lrsao.values.merging import added_edges
from markov_lrsao.values.quotient.level import quick_quotient, quotient_level
from markov_lrsao.values.refinement import Refined, ValueWalk, refine
from markov_lrsao.values.tails import LEVELS, Level, Tail, before_cut, merged_tail

__all__ = [
    "MOST_LUMPS",
    "chain_with_values",
    "chains_with_values",
    "describe_state",
    "everything",
    "joint_with_values",
    "stable_quotient",
]


IntArray = npt.NDArray[np.int64]
_MESHES = (fmpq(64), fmpq(4), fmpq(1), fmpq(1, 4))
_EXACT_BITS, _FEW_BITS = 24, 16
_FINE_MESHES = tuple(fmpq(1, m) for m in (2, 4, 8, 16, 64, 256))
_JOINT_LEVELS = 3
_WITH_EXACT_VALUES = 3  # the family of levels that keeps them
_FEW = 2_000
MOST_LUMPS = 4_000
"""A quotient that is found to be finite has rarely more lumps; these take some six seconds."""


def joint_with_values(law: StepLaw, level: Level, *, largest: int) -> Refined:
    """Return the joint chain of a run whose comparisons before the cut are all decided.

    Raises
    ------
    CrossingError, UndecidedComparisonError, StateSpaceTooLargeError
    """
    cut, optimum = cut_of(law), law.optimum
    if cut == optimum or len(law.rows_met(cut - 1)) != 2:
        raise CrossingError("no single row comes back after the cut")
    automata = automata_of(law, cut)
    row, below = int(law.row[cut]), int(law.row[cut - 1])
    merged, _ = merge_patterns(automata, {automata.class_of(r) for r in (row, below)})
    precision = level.precision(law, below)
    stretch = Stretch(merged, 0, cut - 1, law.landscape.milestones)
    before = before_cut(stretch, row, precision, largest)
    at, under = (stretch.rows.index(r) for r in (row, below))
    pairs = [(x.patterns[at], x.patterns[under]) for x in before.exits]
    tail, entered = merged_tail(
        *Tail(merged, cut, precision, before.clusters, pairs).explore(largest)
    )
    shift = len(before.states)

    def into_tail(target: Target) -> Target:
        if isinstance(target, int):
            return target
        return shift + entered[target.patterns[at], target.patterns[under]]

    def shifted(edges: Sequence[Edge]) -> tuple[Edge, ...]:
        return tuple((t + shift if isinstance(t, int) else t, w) for t, w in edges)

    return replace(
        before,
        stretch=replace(stretch, last=optimum),
        states=before.states + tail.states,
        after=tail,
        options=(
            *(tuple(added_edges(e, into_tail) for e in o) for o in before.options),
            *(tuple(shifted(e) for e in o) for o in tail.options),
        ),
    )


def undecided_rows(automata: RowAutomata) -> tuple[int, ...]:
    """Return the rows one of whose patterns leaves the greedy choice open."""
    return tuple(
        r
        for r in automata.law.rows_met()
        if any(p.undecided is not None for p in automata.patterns[automata.class_of(r)])
    )


def everything(
    law: StepLaw,
    mesh: fmpq,
    *,
    exact_bits: int,
    largest: int,
    near: bool = False,
    all_rows: bool = False,
) -> Refined:
    """Follow rows by values, from the first step to the optimum.

    Parameters
    ----------
    near : follow also the rows next to those that patterns leave open: their maxima are learnt
    all_rows : follow all rows

    Raises
    ------
    StateSpaceTooLargeError
    """
    automata = automata_of(law)
    every = law.rows_met()
    tracked = every if all_rows else undecided_rows(automata)
    precision = Precision(mesh, exact_bits, landmarks=True)
    if near:
        wider = _with_neighbours(law, tracked)
        # What is seen through bootstrap M only need not be known as well.
        coarser = max(fmpq(1), 1 / (4 * max(law.algorithm.bootstrap, fmpq(1, 10**9))))
        sites = np.bincount(law.row[: law.optimum]) == 1
        added = tuple((r, coarser) for r in wider if sites[r])
        tracked, precision = wider, replace(precision, coarser=added)
    merged, _ = merge_patterns(automata, {automata.class_of(r) for r in tracked})
    clusters = Clusters(law, precision)
    start = State(0, 0, tuple(clusters.fresh(r) if r in tracked else 0 for r in every))
    stretch = Stretch(merged, 0, law.optimum, law.landscape.milestones)
    return refine(ValueWalk(stretch, clusters, tracked, floors=True), [start], largest=largest)


def _with_neighbours(law: StepLaw, rows: Sequence[int]) -> tuple[int, ...]:
    """Return the rows and those next to one of their positions."""
    open_ = np.isin(law.row[: law.optimum], rows)
    wider = open_.copy()
    wider[1:] |= open_[:-1]
    wider[:-1] |= open_[1:]
    return tuple(dict.fromkeys(law.row[: law.optimum][wider].tolist()))


def describe_state(block: Refined, state: int) -> str:
    """Return a state in words, e.g. "p=6 [6: 0=J>L>R]"; rows that are fresh are left out.

    After the cut only rows that can still be met are known.
    """
    if block.names is not None:
        return block.names(state)
    if block.after is not None:
        own = len(block.states) - len(block.after.states)
        if state >= own:
            return describe_state(block.after, state - own)
    law, automata, shown = block.law, block.stretch.automata, block.states[state]
    text = [f"p={shown.position}"]
    for r, k in sorted(zip(block.stretch.rows, shown.patterns, strict=True)):
        if k < 0:
            continue
        pattern = (
            block.clusters.traits[k].pattern
            if r in block.tracked
            else automata.patterns[automata.class_of(r)][k]
        )
        if any(pattern.signs) or any(pattern.order):
            text.append(f"[{law.state(r)}: {pattern.label(law.actions)}]")
    return " ".join(text)


def chain_with_values(
    block: Refined, chosen: Sequence[int] | None = None
) -> tuple[MarkovChain, IntArray]:
    """Return a block from the start to the optimum as a chain, and the phase of every state.

    Corridors are written out.

    Parameters
    ----------
    chosen : option taken in each state, by default the first (the only one where decided)
    """
    law = block.law
    n, size = law.n, len(block.states)
    edges: list[list[tuple[int, int]]] = []
    positions = [s.position for s in block.states]
    phases = [s.phase for s in block.states]
    corridor: dict[tuple[int, int], int] = {}
    extra: list[list[tuple[int, int]]] = []
    optimum = -1  # numbered last

    def way_up(p: int, last: int, phase: int) -> int:
        """Return the state that walks up from p, made when first needed."""
        if p > last:
            return optimum
        key = (p, phase)
        if key not in corridor:
            corridor[key] = size + len(extra)
            extra.append([])
            positions.append(p)
            phases.append(phase)
            own = corridor[key]
            extra[own - size] = _step(n, p, own, way_up(p + 1, last, phase), block.denominator)
        return corridor[key]

    for i, (state, options) in enumerate(zip(block.states, block.options, strict=True)):
        row: dict[int, int] = {}
        for target, weight in options[chosen[i] if chosen is not None else 0]:
            if isinstance(weight, Corridor):
                nxt = way_up(weight.first + 1, weight.last, state.phase)
                row.update(dict(_step(n, weight.first, i, nxt, block.denominator)))
                continue
            to = optimum if isinstance(target, Exit) else target
            row[to] = row.get(to, 0) + weight.numerator(state.position, n)
        edges.append(list(row.items()))
    edges += extra
    end = len(edges)
    positions.append(law.optimum)
    phases.append(len(law.landscape.milestones))
    edges.append([(end, block.denominator)])
    ordered = [sorted((end if t == optimum else t, w) for t, w in row) for row in edges]
    indptr = np.cumsum([0, *(len(row) for row in ordered)])
    chain = MarkovChain(
        indptr=indptr.astype(np.int64),
        indices=np.array([t for row in ordered for t, _ in row], dtype=np.int64),
        numerators=np.array([w for row in ordered for _, w in row], dtype=np.int64),
        denominators=np.full(len(ordered), block.denominator, dtype=np.int64),
        positions=np.array(positions, dtype=np.int64),
        start=np.array([block.start[0]], dtype=np.int64),
        labeller=lambda s: describe_state(block, s) if s < size else f"p={positions[s]}",
    )
    return chain, np.array(phases, dtype=np.int64)


def _step(n: int, p: int, stay: int, up: int, denominator: int) -> list[tuple[int, int]]:
    unit = denominator // n
    return [(t, w) for t, w in ((stay, unit * p), (up, unit * (n - p))) if w]


def chains_with_values(
    law: StepLaw, largest: int, progress: Progress = no_progress, *, exact: bool = True
) -> Iterator[Refined] | Refused:
    """Return the chain with values at finer and finer levels, as long as they fit.

    Each level is explored when it is asked for. Where none fits, the reason is returned.

    Parameters
    ----------
    exact : look for the quotient of all tables before anything is left open; this takes seconds
    """
    refused = Refused(StateSpaceTooLargeError("no way of following values applies"))
    levels = _levels(law, largest, progress)
    if exact:
        levels = _quotient_first(law, levels, min(largest, MOST_LUMPS))
    for found in levels:
        match found:
            case Refined():
                return itertools.chain(
                    (found,), (finer for finer in levels if isinstance(finer, Refined))
                )
            case Refused(StateSpaceTooLargeError()):
                refused = found
    return refused


def _quotient_first(
    law: StepLaw, levels: Iterator[Refined | Refused], largest: int
) -> Iterator[Refined | Refused]:
    """Yield the quotient instead of the first level that leaves something open, if it is finite."""
    tried = False
    for found in levels:
        match found:
            case Refused(CrossingError()):  # that way does not apply here, another may
                is_open = False
            case Refused():
                is_open = True
            case _:
                is_open = bool(found.undecided)
        if is_open and not tried:
            tried = True
            stable = stable_quotient(law, largest)
            if isinstance(stable, Refined):
                yield stable
                return
        yield found


def stable_quotient(law: StepLaw, largest: int) -> Refined | Refused:
    """Return the quotient of all tables by whichever style of cutting finds it, bold ones first.

    A law keeps the outcome: who asks again is answered at once.
    """
    quick = quick_quotient(law, largest)
    if not isinstance(quick, Refused):
        return quick
    key = ("quotient", largest)
    if key not in law.derived:
        law.derived[key] = attempt(lambda: quotient_level(law, largest=largest))
    found: Refined | Refused = law.derived[key]
    return found


def _few_states(law: StepLaw, mesh: fmpq, largest: int) -> Refined:
    """Follow few values through few states.

    Raises
    ------
    StateSpaceTooLargeError
    """
    few = min(largest, _FEW) if undecided_rows(automata_of(law)) else largest
    return everything(law, mesh, exact_bits=_FEW_BITS, largest=few)


def _levels(law: StepLaw, largest: int, progress: Progress) -> Iterator[Refined | Refused]:
    unit = abs(law.algorithm.learn) if law.algorithm.learn != 0 else fmpq(1)
    whole, coarsest = partial(everything, law, largest=largest), unit * _MESHES[0]
    families: list[list[Callable[[], Refined]]] = [
        [
            partial(joint_with_values, law, level, largest=largest)
            for level in LEVELS[:_JOINT_LEVELS]
        ],
        # Few values first, and few states: often they are enough, and where they are not the
        # quotient of all tables may be found sooner than that they are too many. Then exact values,
        # for ties; then fine meshes, for which exact values would be too many, and with the rows
        # next to the open ones. Where patterns decide there are no values, and no need to hurry.
        [partial(_few_states, law, coarsest, largest)],
        [partial(whole, coarsest, exact_bits=_FEW_BITS)],
        [partial(whole, unit * mesh, exact_bits=_EXACT_BITS) for mesh in _MESHES],
        [partial(whole, unit * mesh, exact_bits=0, near=True) for mesh in _FINE_MESHES],
    ]
    with progress("following values", total=sum(map(len, families))) as bar:
        too_many = False
        remaining = iter(enumerate(families))
        for number, family in remaining:
            explored = False
            if number == _WITH_EXACT_VALUES and too_many:
                continue  # with longer exact values the same mesh has more states yet
            for way in family:
                bar.advance()
                found = attempt(way)
                yield found
                if isinstance(found, Refused):
                    too_many = isinstance(found.reason, StateSpaceTooLargeError)
                    break  # finer levels do not help
                explored, too_many = True, False
            if number == 0 and explored:
                return  # the others follow more rows, and are no finer for those
            if number == 1 and explored:
                next(remaining)  # the same with more states
