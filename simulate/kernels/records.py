"""What the kernels are handed: tuples of arrays and numbers, with a name for each.

They stand beside the kernels because compiled code knows fields by their places: where one of
these changes, what was compiled before must not be used.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = [
    "KernelCounts",
    "KernelLaw",
    "KernelMode",
    "KernelNumbers",
    "KernelRules",
    "KernelSites",
    "Scratch",
    "Written",
]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


class KernelLaw(NamedTuple):
    """The law: who accepts what, with which gain, and how likely a move is accepted.

    ``each`` numbers the actions; a tuple, because its length is known when kernels are compiled.
    Positions at which the same is accepted with the same gains are of one ``kind``, so that long
    slopes take little memory: ``accepted[kind[p], a, d]`` and ``gain[kind[p], a, d]``.
    ``inverse_log[w]`` is 1 / log(1 - w / n), what a geometric draw with probability w / n needs.
    """

    n: int
    optimum: int
    actions: int
    rows: int
    row: npt.NDArray[np.int32]
    kind: npt.NDArray[np.int32]
    accepted: npt.NDArray[np.uint8]
    gain: npt.NDArray[np.int32]
    inverse_log: FloatArray
    milestones: IntArray


class KernelSites(NamedTuple):
    """Positions that are played by signs alone; see `sites`, and `simulate.runs.signs`.

    ``zone[p]`` is 0 where values count, INSIDE or EDGE elsewhere; it is empty where there are no
    such positions. ``after[kind, action, direction, held, ahead]`` is the new sign of a
    chosen entry. ``bound`` is above all entries.
    """

    zone: npt.NDArray[np.uint8]
    after: npt.NDArray[np.int8]
    bound: float


class KernelNumbers(NamedTuple):
    """The numbers: floats nearest to the rationals, tags, powers of lam.

    Tag t has the float ``tag_value[t - lowest]`` and the place ``core[t - lowest]`` in the core,
    or -1. ``learn``, ``discount``, ``complement``, ``rewards`` and what follows them
    serve plain float64 arithmetic (see `floats`), the rest the true semantics: entries of at most
    ``most`` may be put off; after ``faint`` rejections they do not change a learnt number of at
    least ``audible``.
    """

    keep: float
    boot: float
    lam: float
    log_lam: float
    gains: FloatArray
    lam_mantissa: FloatArray
    lam_exponent: IntArray
    successor: npt.NDArray[np.int32]
    core: npt.NDArray[np.int32]
    lowest: int
    tag_value: FloatArray
    learn: float
    discount: float
    complement: float
    rewards: FloatArray
    most: float
    faint: float
    audible: float
    vanish: FloatArray


class KernelRules(NamedTuple):
    """The rules as arrays; bounds are moved outwards by more than their rounding."""

    most_positive: int
    most_visits: IntArray
    least: FloatArray
    greatest: FloatArray


class KernelMode(NamedTuple):
    """How runs are played: by events or steps, in which arithmetic, from which seed, how long.

    ``restart`` is 0 where runs never start from scratch.
    """

    event: bool
    exact: bool
    key0: np.uint64
    key1: np.uint64
    limit: int
    restart: int


class KernelCounts(NamedTuple):
    """What runs are watched for, if ``watch``, and what has been counted.

    ``most[row]`` (positive entries at once) and ``mine[position]`` (visits) are of one run, the
    others are added to. ``positives[row, c]`` counts the runs whose row never had more than c
    positive entries at once, but c at some time. ``violation`` is (run, step, row, position,
    action, rule) of the first step that broke a rule, or -1.
    """

    watch: bool
    visits: IntArray
    uses: IntArray
    positives: IntArray
    violation: IntArray
    most: IntArray
    mine: IntArray
    rules: KernelRules


class Scratch(NamedTuple):
    """Memory that runs are played in; what one leaves there does not matter to the next.

    ``q`` is the table of entries (see `entries`), ``tops`` the largest of each row (see `tops`),
    ``names`` those of numbers (see `names`), which must be zeros at first, ``codes`` the signs of
    sites (see `sites`). ``streams`` has two rows of random words: for the run, and for the
    monitors.
    """

    q: FloatArray
    tops: IntArray
    names: IntArray
    codes: npt.NDArray[np.uint16]
    streams: npt.NDArray[np.uint64]


class Written(NamedTuple):
    """What a run leaves behind: times of the milestones, facts, and a trace if it has lines.

    hits : time at which each milestone was first reached since the last restart, or -1
    facts : (status, steps, undecided choices, restarts, lines of trace if there is one, and
        where the run stopped undecided or is stuck: mask of candidates, position)
    trace : as many lines as it has room for: time, position, mask of largest entries,
        rejections, action, direction. At `time` the walk was at `position` and the entries in
        `mask` were largest. `rejections` moves without reward were rejected; then (action,
        direction) was proposed, unless action is -1. A line with position -1 is a restart.
    """

    hits: IntArray
    facts: IntArray
    trace: IntArray
