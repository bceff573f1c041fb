"""Positions at which signs of Q-entries decide every choice, found without the exact engine.

All entries stay below B = max gain / (1 - keep - bootstrap): x' = keep x + gain + bootstrap M
with x, M <= B is at most B again. Entry a of a row that one position p shows stays below
X_a = max(0, max gain of a at p + bootstrap B) / (1 - keep) for the same reason.

Let the largest entry of every row next to p be 0 or positive. Then an update at p of a chosen
entry x >= 0 has a certain sign: positive for a positive gain; for a gain of 0 that of the
ingredients; negative if gain + keep X_a + bootstrap B < 0, where X_a is left out if x is 0, and B
if the largest entry ahead is 0. Rejections keep the sign. Starting from zeros, the signs of the row
are a finite automaton, and they decide every choice if in each of its states there is one
positive entry, or none and some that are 0. Then the largest entry is again not negative.

The kernel plays such positions by their signs (`simulate.kernels.sites`), except where values
matter elsewhere: a row that several positions show learns from the values of its neighbours, these
from theirs, with a factor of bootstrap each. So positions keep their values up to a distance at
which bootstrap^distance B is below 2^-64 of every gain, and what lies beyond is an interval
[0, B] in the error bar. That the neighbours' largest entries are not negative is looked at
whenever such a walk leaves its sites; if it is not certain the run is played again with
all values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.exact.rationals import to_float
from simulate.kernels.records import KernelLaw, KernelSites

__all__ = ["decided_kinds", "no_sites", "sites_of"]

_LEAST_DISTANCE = 8
_LEAST_SITES = 64
_MOST_ACTIONS = 8
_MOST_KINDS = 64
_NEGLIGIBLE = fmpq(1, 2**64)
INSIDE, EDGE = 1, 2
Signs = tuple[int, ...]


def no_sites() -> KernelSites:
    """Return that no position is played by signs."""
    return KernelSites(np.zeros(0, dtype=np.uint8), np.zeros((0, 0, 0, 2, 2), dtype=np.int8), 0.0)


def sites_of(law: KernelLaw, keep: fmpq, boot: fmpq, gains: Sequence[fmpq]) -> KernelSites:
    """Return the positions that are played by signs, and how signs change there."""
    kinds = len(law.accepted)
    few = law.actions <= _MOST_ACTIONS and kinds <= _MOST_KINDS
    if not few or keep < 0 or boot < 0 or keep + boot >= 1 or law.n < _LEAST_SITES:
        return no_sites()
    bound = max(max(gains), fmpq(0)) / (1 - keep - boot)
    after, decided = decided_kinds(law, keep, boot, gains, bound)
    alone = np.bincount(law.row, minlength=law.rows)[law.row] == 1
    fit = alone & decided[law.kind]
    fit[[0, law.n, law.optimum]] = False
    fit[law.milestones] = False
    zone = _deep_inside(fit, _distance(boot, bound, gains)).astype(np.uint8)
    if zone.sum() < _LEAST_SITES:
        return no_sites()
    edge = np.flatnonzero(zone[1:-1] & ((zone[:-2] == 0) | (zone[2:] == 0))) + 1
    zone[edge] = EDGE
    # A float above the bound and above twice its half: the error bar has to reach 0 and B.
    return KernelSites(zone, after, to_float(bound) * (1 + 2.0**-50))


def _distance(boot: fmpq, bound: fmpq, gains: Sequence[fmpq]) -> int:
    """Return after how many rows a largest entry no longer matters."""
    least = min((abs(gain) for gain in gains if gain != 0), default=fmpq(1))
    distance, left = 0, bound
    while left > _NEGLIGIBLE * least:
        left *= boot
        distance += 1
    return max(distance, _LEAST_DISTANCE)


def _deep_inside(fit: npt.NDArray[np.bool_], distance: int) -> npt.NDArray[np.bool_]:
    """Return the positions all of whose neighbours up to a distance are fit."""
    unfit = np.concatenate([[0], np.cumsum(~fit)])
    places = np.arange(len(fit))
    low = np.maximum(places - distance, 0)
    high = np.minimum(places + distance + 1, len(fit))
    deep: npt.NDArray[np.bool_] = unfit[high] == unfit[low]
    return deep


def decided_kinds(
    law: KernelLaw, keep: fmpq, boot: fmpq, gains: Sequence[fmpq], bound: fmpq
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.bool_]]:
    """Return how signs change at positions of each kind, and whether they decide all choices.

    ``after[kind, action, direction, held, ahead]`` is the sign of a chosen entry that was 0 or
    positive (`held`) after a move to a row whose largest entry is 0 or positive (`ahead`).
    """
    kinds, actions = law.accepted.shape[:2]
    after = np.zeros((kinds, actions, 2, 2, 2), dtype=np.int8)
    decided = np.zeros(kinds, dtype=np.bool_)
    for kind in range(kinds):
        gain = [[gains[int(g)] for g in pair] for pair in law.gain[kind]]
        accepted = law.accepted[kind] != 0
        own = [_largest(accepted[a], gain[a], keep, boot, bound) for a in range(actions)]
        unsure = np.zeros((actions, 2, 2, 2), dtype=np.bool_)
        for a, d, held, ahead in np.ndindex(actions, 2, 2, 2):
            most = gain[a][d] + keep * own[a] * held + boot * bound * ahead
            if gain[a][d] > 0 or (gain[a][d] == 0 and (keep * held > 0 or boot * ahead > 0)):
                after[kind, a, d, held, ahead] = 1
            elif gain[a][d] < 0:
                after[kind, a, d, held, ahead] = -1
                unsure[a, d, held, ahead] = most >= 0
        decided[kind] = _decides(accepted, after[kind], unsure)
    return after, decided


def _largest(
    accepted: npt.NDArray[np.bool_], gain: Sequence[fmpq], keep: fmpq, boot: fmpq, bound: fmpq
) -> fmpq:
    """Return a bound of the entry of one action at one position."""
    most = max(
        (g + boot * bound for g, fits in zip(gain, accepted, strict=True) if fits), default=0
    )
    return max(most, fmpq(0)) / (1 - keep)


def _decides(
    accepted: npt.NDArray[np.bool_], after: npt.NDArray[np.int8], unsure: npt.NDArray[np.bool_]
) -> bool:
    """Return whether signs decide every choice of a row that begins with zeros."""
    start = (0,) * len(accepted)
    found, queue = {start}, [start]
    for signs in queue:  # grows while it is walked
        chosen = _chosen(signs)
        if not chosen or not accepted[list(chosen)].any():
            return False
        for a, d, ahead in _moves(chosen, accepted):
            held = int(signs[a] > 0)
            if unsure[a, d, held, ahead]:
                return False
            after_it = (*signs[:a], int(after[a, d, held, ahead]), *signs[a + 1 :])
            if after_it not in found:
                found.add(after_it)
                queue.append(after_it)
    return True


def _chosen(signs: Signs) -> tuple[int, ...]:
    """Return the largest entries, or nothing where signs do not say which they are."""
    positive = tuple(a for a, sign in enumerate(signs) if sign > 0)
    if len(positive) > 1:
        return ()
    return positive or tuple(a for a, sign in enumerate(signs) if sign == 0)


def _moves(
    chosen: Sequence[int], accepted: npt.NDArray[np.bool_]
) -> Iterator[tuple[int, int, int]]:
    """Yield (action, direction, sign ahead) of everything that can be accepted."""
    for a in chosen:
        for d in (0, 1):
            if accepted[a, d]:
                yield a, d, 0
                yield a, d, 1
