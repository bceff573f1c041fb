"""Runs that get stuck, but so seldom that no simulation shows one: sought, then proved.

A run is held at a position where some action refuses every move, once its entry is >= 0 and all
others of the row are negative. For an action that is only rewarded there the row that it leads to
must have sunk before, and it may sink a little at a time only, as a run goes back and forth
between plateaus. Runs are sought that lower these rows: of the tables met the lowest of each kind
are kept, and short runs, directions being equally likely, go on from there (`kernels.digging`).

The search is in floats and proves nothing. The run that it finds is played again in rationals, and
must end in a closed set of tables (`values.closed`); its probability is then a lower bound of
P(T = infinity), often a tiny one, and E[T] is infinite.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.exact.quantity import Trap
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.model.law import StepLaw
from markov_lrsao.values.closed import closed_from
from markov_lrsao.values.stuck import Beginning, Steps, described, replayed

__all__ = ["dug_run", "dug_trap"]

_ROUNDS, _LONGEST, _SEEDS = 2_000_000, 40, (1, 2, 3)
_KEPT, _KINDS = 500_000, 2**16


def _holders(law: StepLaw) -> Iterator[tuple[int, int, list[int]]]:
    """Yield positions, actions that refuse everything there, and the rows that must be low."""
    for p in range(law.n + 1):
        for b in range(len(law.actions)) if p != law.optimum else ():
            if any(to != p or gain != 0 for _, to, gain in law.moves(p, b)):
                continue
            others = [law.moves(p, a) for a in range(len(law.actions)) if a != b]
            rewarded = [m for m in others if not any(gain < 0 for _, _, gain in m)]
            low = {int(law.row[to]) for m in rewarded for _, to, _ in m} - {int(law.row[p])}
            yield p, b, sorted(low)


def _model(law: StepLaw) -> tuple[tuple[object, ...], list[tuple[int, int]]]:
    """Return a law as arrays, and action and direction of every move."""
    actions = len(law.actions)
    first, to, gains, names = [0], [], [], []
    for p in range(law.n + 1):
        for a in range(actions):
            moves = law.moves(p, a)
            for m, (_, target, gain) in enumerate(moves):
                to.append(target)
                gains.append(to_float(gain))
                names.append((a, m if len(moves) == 2 else int(p == 0)))
            first.append(len(to))
    algorithm = law.algorithm
    rates = to_float(algorithm.keep), to_float(algorithm.bootstrap)
    rows = np.asarray(law.row, dtype=np.int64)
    arrays = rows, np.array(first), np.array(to), np.array(gains), rates, actions
    return arrays, names


def _sought(
    law: StepLaw, holder: tuple[int, int, list[int]], rounds: int, seed: int
) -> Steps | None:
    """Return a run that is held, as floats have it; None: none was found."""
    from markov_lrsao.values.kernels.digging import dig

    model, names = _model(law)
    position, action, low = holder
    rows = int(law.row.max()) + 1
    size, sets = rows * len(law.actions), 2 ** len(law.actions) - 1
    moves: npt.NDArray[np.int32] = np.zeros((_KEPT, _LONGEST + 1), dtype=np.int32)
    places, before = np.zeros(_KEPT, dtype=np.int64), np.zeros(_KEPT, dtype=np.int64)
    held = int(law.row[position])
    count, found = dig(
        *(model, (position, action, held, np.array(low, dtype=np.int64)), law.optimum, rounds),
        *(np.array([seed], dtype=np.uint64), np.zeros(size)),
        (np.zeros((_KEPT, size)), places, before, moves),
        (
            np.full((_KINDS, sets), -1, dtype=np.int64),
            np.zeros((_KINDS, sets)),
            np.zeros(_KINDS, dtype=np.int64),
        ),
    )
    if not found:
        return None
    parts, at = [], count - 1
    while at > 0:
        parts.append(moves[at, : moves[at, _LONGEST]].tolist())
        at = int(before[at])
    return [names[m] for part in reversed(parts) for m in part]


def dug_run(law: StepLaw, rounds: int = _ROUNDS) -> Beginning | None:
    """Return first steps after which runs never end, in rationals; None: none was found."""
    for seed, holder in product(_SEEDS, _holders(law)):
        steps = _sought(law, holder, rounds, seed)
        if steps is None:
            continue
        last = replayed(law, steps)[-1]
        if closed_from(law, last.position, last.table) is not None:
            return last
    return None


def dug_trap(law: StepLaw) -> Trap | None:
    """Return a trap that hardly any run meets; None: none was found."""
    found = dug_run(law)
    return None if found is None else Trap(described(law, found), found.probability, fmpq(1))
