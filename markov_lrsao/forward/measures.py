"""In what order, and how finely, the tables of a layer are told apart: what a few runs suggest.

Two measures of how much a row matters, seen from a place, which is a position and a phase:

* *visits*: how often it is met from there on. Its entries are told apart in octaves around 0.
* *needs*: how much later choices depend on its entries, followed back along the runs
  (`kernels.sampling.needs`). A row in which no choice is open is of use only to those that learn
  from it, by bootstrap each time: with a small alpha it need not be known nearly as well. Entries
  are told apart in octaves again, or evenly, each in steps of its own: twice as much needed, half
  as wide.

None is best everywhere; no bound rests on any. Tables that are joined cost width, not truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from markov_lrsao.forward.kernels import sampling
from markov_lrsao.forward.model import Arrays
from markov_lrsao.model.law import StepLaw

__all__ = ["Kind", "Measure", "measured", "needs_ahead"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Kind: TypeAlias = Literal["visits", "needs", "evenly"]
_CELLS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
_STEPS = tuple(2.0**k for k in range(-5, 12))
"""Cells to an octave, 0 for the order of a row; cells to a step."""
_RUNS, _LONGEST, _SEED = 3_000, 5_000, 1
_SLIGHT = 0.02
"""Of the largest: the order of rows that matter less is told apart after the first whole steps."""
_LEAST = 1e-3
"""No entry is measured in longer steps than the shortest divided by this."""


@dataclass(frozen=True, eq=False)
class Measure:
    """How tables are told apart.

    Attributes
    ----------
    levels : [place, level] a row, and how many cells its entries have, 0: its order
    scales : [place, entry] steps to a unit of value; empty: entries are measured in octaves
    """

    levels: FloatArray
    scales: FloatArray


def measured(law: StepLaw, arrays: Arrays, kind: Kind) -> Measure:
    """Return a measure."""
    if kind == "visits":
        return Measure(_in_octaves(_visits_ahead(law, arrays)), np.zeros((0, 0)))
    felt = needs_ahead(law, arrays)
    rows = felt.reshape(len(felt), -1, arrays.actions).max(axis=2)
    if kind == "needs":
        return Measure(_in_octaves(np.maximum(rows, 1e-12)), np.zeros((0, 0)))
    most = np.maximum(felt.max(axis=1, keepdims=True), 1e-12)
    return Measure(_evenly(rows), np.maximum(felt / most, _LEAST) / _least_gain(arrays))


def _least_gain(arrays: Arrays) -> float:
    return float(np.abs(arrays.gains[arrays.gains[:, 0] != 0]).min(initial=np.inf))


def _visits_ahead(law: StepLaw, arrays: Arrays) -> FloatArray:
    """Return [place, row] -> visits from there on, waiting not counted, as a few runs have them."""
    milestones = np.array(law.landscape.milestones, dtype=np.int64)
    phases = len(milestones)
    size = (law.n + 1) * phases
    flow = np.zeros((size, size + 1))
    rows = int(arrays.row_of.max()) + 1
    sampling.sample(
        *(arrays.moves, arrays.gains.mean(axis=1), (arrays.keep[0], arrays.bootstrap[0])),
        *(milestones, law.optimum, _RUNS, _LONGEST, _SEED, np.zeros(rows * arrays.actions), flow),
    )
    shares = flow[:, :-1] / np.maximum(flow.sum(axis=1), 1e-9)[:, None]
    met = np.zeros((size, rows))
    met[np.arange(size), arrays.row_of[np.arange(size) // phases]] = 1.0
    return np.asarray(np.linalg.solve(np.eye(size) - shares * (1 - 1e-6), met))


def needs_ahead(law: StepLaw, arrays: Arrays) -> FloatArray:
    """Return [place, entry] -> how much later choices depend on it, as a few runs have it."""
    milestones = np.array(law.landscape.milestones, dtype=np.int64)
    actions, entries = arrays.actions, (int(arrays.row_of.max()) + 1) * arrays.actions
    size = (law.n + 1) * len(milestones)
    alike = np.zeros((law.n + 1, actions, actions), dtype=np.bool_)
    for p in range(law.n + 1):
        moves = [law.moves(p, a) for a in range(actions)] if p != law.optimum else []
        for a, one in enumerate(moves):
            alike[p, a] = [one == other for other in moves]
    coefficients = arrays.keep[0], arrays.bootstrap[0]
    log = *np.zeros((3, _LONGEST), dtype=np.int64), np.zeros((_LONGEST, actions))
    total, met = np.zeros((size, entries)), np.zeros(size)
    sampling.needs(
        (arrays.moves, arrays.gains.mean(axis=1), coefficients, milestones, law.optimum),
        *(alike, _least_gain(arrays), _RUNS, _SEED, (np.zeros(entries), np.zeros(entries), log)),
        *(np.zeros((2, entries, actions), dtype=np.int64)),
        *(total, met),
    )
    return np.asarray(total / np.maximum(met, 1.0)[:, None])


def _in_octaves(ahead: FloatArray) -> FloatArray:
    """Return for every place (row, cells) in the order in which they tell tables apart.

    The more a row matters from there, the finer its values are told apart, and the sooner.
    """
    weight = np.maximum(ahead / ahead.max(axis=1, keepdims=True), 1e-3)
    return np.array(
        [
            [
                (r, c)
                for _, r, c in sorted(
                    (max(c, 0.25) / w, r, c) for r, w in enumerate(own) for c in _CELLS
                )
            ]
            for own in weight.tolist()
        ]
    )


def _evenly(ahead: FloatArray) -> FloatArray:
    """Return the same where entries have steps of their own: orders first, then all rows alike."""
    found = []
    for own in ahead.tolist():
        rows = sorted(range(len(own)), key=lambda r: -own[r])
        soon = [r for r in rows if own[r] > _SLIGHT * max(own)]
        levels = [(r, 0.0) for r in soon]
        for c in _STEPS:
            levels += [(r, c) for r in rows]
            levels += [(r, 0.0) for r in rows if r not in soon] if c == 1.0 else []
        found.append(levels)
    return np.array(found)
