r"""E[T] on plateaus that share a row, by lumps as far as these are stable.

The quotient of the shared row's values (`markov_lrsao.values.quotient.plateaus`) is refined, the
likeliest lumps first. From the start on stable lumps a run is followed without any error; the
probability that it ever meets another lump falls quickly with their number, and on those the steps
that are left are bounded (`markov_lrsao.values.remaining`):

    E[T] = E[steps on stable lumps] + sum over others of P(met first) * (steps left there).

Where all lumps become stable nothing is left open.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.exact.quantity import UNKNOWN, Quantity
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.values.answer import Answer
from markov_lrsao.values.enclosure import counted_phases
from markov_lrsao.values.options import OPTIMUM, Option, edges_of, float_system, steps_of
from markov_lrsao.values.plateaus import Plateaus
from markov_lrsao.values.policies import FloatSystem
from markov_lrsao.values.quotient.lumps import Lump
from markov_lrsao.values.quotient.minimising import Minimised, reached
from markov_lrsao.values.quotient.plateaus import SharedEntries
from markov_lrsao.values.remaining import Remaining

__all__ = ["enclose_by_lumps"]

FloatArray = npt.NDArray[np.float64]
_MESH = fmpq(1, 4)
_FIRST = 500
_GROWTH = 1.25
_WORTH_SOLVING = 0.4  # an enclosure that promises to be so much narrower


def enclose_by_lumps(
    place: Plateaus,
    moments: int,
    *,
    tolerance: fmpq,
    largest: int,
    nodes: int,
    progress: Progress = no_progress,
) -> Answer:
    """Return enclosures of E[T] and of the phases.

    Parameters
    ----------
    tolerance : relative width at which no more lumps are made
    largest : the same for their number
    nodes : refuse a coarse mesh with more of them

    Raises
    ------
    CrossingError, StateSpaceTooLargeError, SolverError
    """
    system = SharedEntries(place)
    remaining = Remaining(system, _MESH, nodes)
    minimised = Minimised(system)
    size, enough = min(_FIRST, largest), to_float(tolerance)
    best: tuple[float, Answer] | None = None
    with progress("refining lumps", total=largest) as bar:
        while True:
            stable = minimised.refine(size, patient=True)
            width = _prioritise(minimised, remaining)
            last = stable or size >= largest or width <= enough
            # Cutting lumps that many runs meet may widen what was narrow.
            if best is None or width < best[0] * (1 if last else _WORTH_SOLVING):
                best = width, _answer(minimised, remaining, moments)
            if last:
                return best[1]
            grown = min(largest, int(_GROWTH * max(size, minimised.trees.size)))
            bar.advance(grown - size)
            size = grown


def _prioritise(minimised: Minimised, remaining: Remaining) -> float:
    """Let the lumps come first that leave most open; return about the relative width of it all."""
    masses = _first_met(minimised)
    scale = np.maximum(remaining.of(minimised.start)[0], 1e-300)

    def left_open(lump: Lump) -> float:
        low, high = remaining.of(lump)
        return float(masses.get(lump, 0.0) * ((high - low) / scale).max())

    minimised.prioritise(left_open)
    total = np.zeros(len(scale))
    for lump, mass in masses.items():
        low, high = remaining.of(lump)
        total += mass * (high - low) / scale
    return float(total.max())


def _first_met(minimised: Minimised) -> dict[Lump, float]:
    """Return about the probability that a lump is the first one met that is not stable."""
    from scipy.sparse import csc_array, eye_array
    from scipy.sparse.linalg import splu

    order = reached(minimised.start, minimised.settled)
    number = {lump: i for i, lump in enumerate(order)}
    rows, columns, weights = [], [], []
    for i, lump in enumerate(order):
        if minimised.settled(lump):
            for move in lump.moves or ():
                if move.target is not None:
                    rows.append(number[move.target])
                    columns.append(i)
                    weights.append(move.weight)
    size = len(order)
    moved = csc_array((weights, (rows, columns)), shape=(size, size))
    begun = np.zeros(size)
    begun[0] = 1.0
    visits = splu((eye_array(size, format="csc") - moved).tocsc()).solve(begun)
    found = {}
    for lump, i in number.items():
        lump.mass = float(visits[i])
        if not minimised.settled(lump):
            found[lump] = lump.mass
    return found


def _answer(minimised: Minimised, remaining: Remaining, moments: int) -> Answer:
    """Solve the chain of the stable lumps, what is left elsewhere being bounded."""
    law = remaining.system.law
    order = reached(minimised.start, minimised.settled)
    stable = [lump for lump in order if minimised.settled(lump)]
    others = [lump for lump in order if not minimised.settled(lump)]
    if not stable:
        low, high = remaining.of(minimised.start)
        return Answer(_values(low, high, moments), "crossing", 1, undecided=fmpq(1))
    # Other lumps come behind the stable ones: columns that are cut off again.
    number = {lump: i for i, lump in enumerate((*stable, *others))}
    options = []
    for i, lump in enumerate(stable):
        parts: dict[int, list[tuple[Any, Any]]] = {}
        for move in lump.moves or ():
            target = OPTIMUM if move.target is None else number[move.target]
            parts.setdefault(target, []).append((move.share.probability, move.share.steps))
        options.append(Option(i, lump.place[1], *edges_of(parts)))
    system = float_system(options, len(number))
    within = len(stable)
    left = [(m[:, within:], m[:, :within].tocsr()) for m in (system.lower, system.upper)]
    inner = FloatSystem(system.owner, system.first[:within], left[0][1], left[1][1])
    steps = steps_of(options)
    phase = np.array([o.phase for o in options])
    open_ends = np.array([remaining.of(lump) for lump in others])
    ends = []
    for k, counted in enumerate(counted_phases(law)):
        marked = np.array(counted)[phase]
        costs = [
            steps[side] * marked + (left[side][0] @ open_ends[:, side, k] if others else 0.0)
            for side in (0, 1)
        ]
        ends.append(inner.enclose([costs[0] * (1 - 1e-12), costs[1] * (1 + 1e-12)]))
    undecided = None
    if others:
        met = left[1][0] @ np.ones(len(others)) * (1 + 1e-12)
        undecided = fmpq(*min(1.0, float(inner.bound(met, 1)[0])).as_integer_ratio())
    values = [[Quantity.enclosed(a, b), *[UNKNOWN] * (moments - 1)] for a, b in ends]
    return Answer(values, "crossing", len(order), undecided=undecided)


def _values(low: FloatArray, high: FloatArray, moments: int) -> list[list[Quantity]]:
    ends = [[fmpq(*float(x).as_integer_ratio()) for x in side] for side in (low, high)]
    unknown = [UNKNOWN] * (moments - 1)
    return [[Quantity.enclosed(a, b), *unknown] for a, b in zip(*ends, strict=True)]
