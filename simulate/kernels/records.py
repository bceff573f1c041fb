"""What the kernels are handed: tuples of arrays and numbers, with a name for each.

They stand beside the kernels because compiled code knows fields by their places: where one of
these changes, what was compiled before must not be used.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["KernelCounts", "KernelLaw", "KernelMode", "KernelNumbers", "KernelRules", "Written"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


class KernelLaw(NamedTuple):
    """The law: who accepts what, with which gain, and how likely a move is accepted.

    ``each`` numbers the actions; a tuple, because its length is known when kernels are compiled.
    ``weight[p, a]`` is n times the probability that action a accepts a proposal at p, and
    ``inverse_log[p, a]`` is 1 / log(1 - weight / n), what a geometric draw needs.
    """

    n: int
    optimum: int
    each: tuple[int, ...]
    rows: int
    row: npt.NDArray[np.int32]
    accepted: npt.NDArray[np.uint8]
    gain: npt.NDArray[np.int32]
    weight: IntArray
    inverse_log: FloatArray
    milestones: IntArray


class KernelNumbers(NamedTuple):
    """The numbers: floats nearest to the rationals, tags, powers of lam.

    Tag t has the float ``tag_value[t - lowest]`` and the place ``core[t - lowest]`` in the core,
    or -1. ``learn``, ``discount``, ``complement`` and ``rewards`` serve plain float64 arithmetic,
    the rest the true semantics.
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
