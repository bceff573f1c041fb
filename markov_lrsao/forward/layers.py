r"""E[T] enclosed: layers of tables, one for each step, solved from the last one back to the start.

Layer t holds tables such that after t steps every run is in one of them, unless it has ended. A
table is a set of Q-tables (`kernels.cloud`); where its greedy actions are open, all are followed.
Tables that matter little are joined, so that a layer keeps to a number of tables: their hull is
wider and more of it is open, but nothing is lost. So with v(s) = E[steps left], the least and the
largest over all tables of s and all ways in which what is open may turn out,

    v_t(s) = 1 + (least or largest over possible greedy sets S of) mean over S of P_a v_(t+1),

and behind the last layer stands what positions alone show (`forward.coarse`). Masses steer what is
joined, and so does what an earlier, coarser pass has learnt: how far least and largest are apart at
tables like these. Where little is open, little is gained by telling them apart. No bound rests on
either. What a table can no longer use is put into one form first (`forward.unused`), so that
tables are not told apart by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.errors import StateSpaceTooLargeError
from markov_lrsao.exact.rationals import next_floats, to_float
from markov_lrsao.forward.closing import passed
from markov_lrsao.forward.coarse import Coarse, coarse
from markov_lrsao.forward.kernels import gathering, layers
from markov_lrsao.forward.measures import Kind, measured
from markov_lrsao.forward.model import Arrays, Tables, arrays_of
from markov_lrsao.forward.unused import Unused
from markov_lrsao.model.law import StepLaw

__all__ = ["Layer", "Layers", "Waiting"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
MOST_ACTIONS = 5
"""Sets of actions are bits of a mask."""
_CLASSES = (0, 1, 2, 3, 4, 6, 8, 12, 16)
"""First number of refusals of each class."""
_CONTEXTS, _DEPTH = 2**20, 4
"""Widths are learnt per context, the first levels of a table."""
_LEAST_WIDTH = 1e-6
"""Of the mean width: nothing weighs less."""
_SLACK = 64 * 2.0**-53
"""A step multiplies and adds a few floats: far fewer roundings than this."""


@dataclass(eq=False)
class Layer:
    """What solving needs of a layer: small numbers, for there are many of them."""

    position: npt.NDArray[np.int16]
    phase: npt.NDArray[np.int8]
    mask: npt.NDArray[np.int32]
    classes: npt.NDArray[np.int8]
    target: npt.NDArray[np.int32]
    context: npt.NDArray[np.int32]
    mass: npt.NDArray[np.float32]


class Waiting:
    """Macro steps: an action that alone is greedy, and refuses one direction, waits for the other.

    With rho the probability of a refusal, a move comes after k of them with rho^k (1 - rho), and
    the entry has been multiplied by lam^k. Numbers of refusals are taken together in classes.

    Attributes
    ----------
    waits : position, action -> the move that ends waiting, -1: none
    bounds : first number of refusals of each class
    powers : lam^k from below and above
    weights, beyond : [position and action, class] probability of a move after so many refusals; of
        as many refusals or more
    steps : [position and action, classes] expected steps until then
    """

    def __init__(self, law: StepLaw, arrays: Arrays) -> None:
        n, actions = law.n, arrays.actions
        lam = law.algorithm.keep + law.algorithm.bootstrap
        self.bounds = np.array(_CLASSES, dtype=np.int64)
        self.powers = np.array([next_floats(lam**k) for k in range(_CLASSES[-1] + 1)])
        self.waits = np.full(len(law.row) * actions, -1, dtype=np.int64)
        size = len(_CLASSES) + 1
        self.weights, self.beyond, self.steps = (
            np.zeros((len(self.waits), size)) for _ in range(3)
        )
        for p in range(len(law.row)):
            for a in range(actions) if p != law.optimum and lam > 0 else ():
                moves = law.moves(p, a)
                refused = [m for m in moves if m[1] == p and m[2] == 0]
                if len(moves) != 2 or len(refused) != 1:
                    continue
                at = moves.index(refused[0])
                k = p * actions + a
                self.waits[k] = arrays.first_move[k] + 1 - at
                rho = fmpq(refused[0][0], n)
                reached = [rho**first for first in _CLASSES] + [fmpq(0)]
                for c in range(size):
                    self.beyond[k, c] = to_float(reached[c])
                    self.steps[k, c] = to_float((1 - reached[c]) / (1 - rho))
                    if c + 1 < size:
                        self.weights[k, c] = to_float(reached[c] - reached[c + 1])
        self.weights = self.weights[:, : len(_CLASSES)].copy()


class _Scratch:
    """Room for the keys of tables, grown as needed."""

    def __init__(self) -> None:
        self.size = 0

    def of(self, count: int, entries: int) -> tuple[Any, ...]:
        while self.size < 2 * count:
            self.size = max(1024, 2 * self.size)
            self._keys = np.zeros(self.size, dtype=np.uint64)
            self._masses = np.zeros(self.size)
            self._first = np.zeros(self.size, dtype=np.int64)
        own = np.empty(count, dtype=np.uint64)
        active, slots = (np.empty(count, dtype=np.int64) for _ in range(2))
        octaves = np.empty((count, entries))
        return own, active, slots, self._keys, self._masses, self._first, octaves


class Layers:
    """Follow a law's tables, layer by layer.

    Parameters
    ----------
    always : so many levels of what matters most are told apart, however unlikely a table is
    widths : `widths` of another pass over the same law and by the same measure, to steer by
    most : a bound of E[steps left] for every table that a run can meet, where one is known
    kind : by which measure tables are told apart (`forward.measures`)

    Attributes
    ----------
    widths : set by `solved`: per context the mean width of what is known of E[T]; None where it
        may be infinite
    tables : of the newest layer
    unused : puts what tables cannot use into one form; they stand for equivalent tables then
    kept : all layers before it
    always : as above; may be set between steps
    nodes : number of tables made

    Raises
    ------
    StateSpaceTooLargeError
        There are too many actions.
    """

    def __init__(
        self,
        law: StepLaw,
        *,
        always: int = 3,
        widths: FloatArray | None = None,
        most: float | None = None,
        kind: Kind = "visits",
    ) -> None:
        law.check_bounded()
        law.check_greedy()
        if len(law.actions) > MOST_ACTIONS:
            raise StateSpaceTooLargeError(f"more than {MOST_ACTIONS} actions")
        self.law = law
        self.arrays: Arrays = arrays_of(law)
        phases = len(law.landscape.milestones)
        self.counted = np.array([[True, *(k == j for j in range(phases))] for k in range(phases)])
        self.waiting = Waiting(law, self.arrays)
        self.coarse: Coarse = coarse(law, self.arrays, self.counted)
        if most is not None:
            self.coarse.steps[..., 1] = np.minimum(self.coarse.steps[..., 1], most)
        self.unused = Unused(law, self.arrays)
        self._ahead = passed(law)
        # The optimum is beyond all phases; where no run can ever be no table stands for any.
        self._goes_on = np.pad(self.coarse.met, ((0, 0), (0, 1)))
        self._measure = measured(law, self.arrays, kind)
        self._unit = float(np.abs(self.arrays.gains[self.arrays.gains[:, 0] != 0]).min()) / 4
        self._scratch = _Scratch()
        self._small = 0.0
        self.always, self._matters = always, widths
        self.widths: FloatArray | None = None
        self.tables = Tables.start(law, self.arrays)
        self.kept: list[Layer] = []
        self.nodes = 1

    @property
    def going(self) -> float:
        """How much is under way, roughly."""
        return float(self.tables.mass.sum())

    def step(self, largest: int) -> None:
        """Make the next layer, of about as many tables as are wanted at most."""
        a, w, now = self.arrays, self.waiting, self.tables
        masks, classes, count = (np.empty(len(now.mass), dtype=np.int64) for _ in range(3))
        rules = (w.waits, w.bounds, w.powers)
        layers.greedy_sets(
            *(now.position, now.low, now.high, now.order, a.row_of, a.first_move, *rules),
            (masks, classes, count),
        )
        after = Tables.empty(int(count.sum()), now.low.shape[1], now.order.shape[1])
        ends = (self.coarse.least, self.coarse.most)
        layers.expand(
            *(now.arrays, masks, classes, a.moves, (*rules, w.weights, w.beyond)),
            (a.gains, a.sums, a.values, (a.keep, a.bootstrap), *ends, a.actions),
            *((a.zero_gain, a.zero), np.empty(a.actions, dtype=np.int64), after.arrays),
        )
        target = np.full(len(after.mass), -1, dtype=np.int32)
        np.maximum(after.phase, self._ahead[after.position], out=after.phase)
        under_way = np.flatnonzero(self._goes_on[after.position, after.phase])
        after = after.chosen(under_way)
        self.unused.drop(after)
        into = np.empty(len(under_way), dtype=np.int64)
        left = gathering.gather(
            *(after.arrays, self._weights(after), a.row_of, a.actions),
            *(self._measure.levels, self._unit, self._measure.scales, self._small, self.always),
            *(self._scratch.of(*after.low.shape), into),
        )
        target[under_way] = into
        self.kept.append(
            Layer(
                now.position.astype(np.int16),
                now.phase.astype(np.int8),
                masks.astype(np.int32),
                classes.astype(np.int8),
                target,
                self._contexts(now),
                now.mass.astype(np.float32),
            )
        )
        self.tables = after.chosen(slice(0, left))
        self.nodes += left
        self._steer(left, largest)

    def _contexts(self, tables: Tables) -> npt.NDArray[np.int32]:
        found = np.empty(len(tables.mass), dtype=np.int32)
        gathering.contexts(
            *(tables.arrays, self.arrays.row_of, self.arrays.actions),
            *(self._measure.levels, self._unit, self._measure.scales, _DEPTH, _CONTEXTS),
            *(np.empty((1, tables.low.shape[1])), found),
        )
        return found

    def _weights(self, tables: Tables) -> FloatArray:
        """Return how much it matters to tell tables apart; the sum is that of their masses."""
        if self._matters is None:
            return tables.mass
        weight = tables.mass * self._matters[self._contexts(tables)]
        return np.asarray(weight * (tables.mass.sum() / max(weight.sum(), 1e-300)))

    def _steer(self, left: int, largest: int) -> None:
        """Join more if tables are too many, fewer if they are not."""
        if left > largest:
            self._small = max(self._small, 0.05 / left) * min(4.0, (left / largest) ** 2)
        elif left < 0.9 * largest:
            self._small *= max(0.5, (left / (0.9 * largest)))

    def solved(self) -> FloatArray:
        """Return bounds of E[T] and of the phases: [table of the first layer, quantity, side]."""
        a, w = self.arrays, self.waiting
        following = self.coarse.steps[self.tables.position, self.tables.phase]
        widths, masses, finite = np.zeros(_CONTEXTS), np.zeros(_CONTEXTS), True
        for layer in reversed(self.kept):
            found = np.empty((len(layer.position), *following.shape[1:]))
            layers.backwards(
                (layer.position, layer.phase, layer.mask, layer.classes, layer.target),
                *(a.moves, (w.weights, w.beyond, w.steps), self.counted),
                *(following, self.coarse.steps, _SLACK, found),
            )
            following = found
            finite = finite and bool(np.isfinite(found[:, 0, 1]).all())
            if finite:
                np.add.at(widths, layer.context, (found[:, 0, 1] - found[:, 0, 0]) * layer.mass)
                np.add.at(masses, layer.context, layer.mass)
        if finite and widths.sum() > 0:
            mean = widths.sum() / masses.sum()
            met = np.where(masses > 0, widths / np.maximum(masses, 1e-300), mean)
            self.widths = np.maximum(met / mean, _LEAST_WIDTH)
        return following
