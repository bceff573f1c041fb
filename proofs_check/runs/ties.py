"""Hyper-parameters at which two entries tie exactly: corners of (H) that random draws never hit.

Along a fixed list of choices every entry is a polynomial in r, and an affine one as long as the
maxima involved do not change. So an r at which Q[0, L] meets -alpha r (the value of R and J after
one use) is found by interpolation, and the tie is then checked exactly. Runs are continued from
the tie by trying all choices up to a small depth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import TypeVar

from flint import fmpq

from markov_lrsao.errors import ParameterError
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.law import StepLaw
from markov_lrsao.model.parameters import Parameters, hypothesis_h
from proofs_check.runs.run import Choice, Record, Run

__all__ = ["continue_run", "tie_with_penalty"]

Memory = TypeVar("Memory")


def tie_with_penalty(
    build: Callable[[Parameters], StepLaw],
    landscape: Landscape,
    alpha: fmpq,
    gamma: fmpq,
    choices: Sequence[Choice],
    action: int,
) -> StepLaw | None:
    """Return a law in (H) under which, after the choices, Q[0, action] = -alpha r; or None."""
    h = hypothesis_h(landscape, Parameters(alpha, gamma, fmpq(1)))
    if not h.satisfiable:
        return None

    def gap(r: fmpq) -> fmpq:
        run = Run(build(Parameters(alpha, gamma, r)))
        run.play(choices)
        return run.row(0)[action] + alpha * r

    try:
        first = h.lower + (h.upper - h.lower) / 1000
        second = h.lower + (h.upper - h.lower) / 500
        low, high = gap(first), gap(second)
        if low == high:
            return None
        r = first - low * (second - first) / (high - low)
        if h.lower < r < h.upper and gap(r) == 0:
            return build(Parameters(alpha, gamma, r))
    except ParameterError:  # the choices are not greedy under these hyper-parameters
        return None
    return None


def continue_run(
    run: Run,
    memory: Memory,
    look: Callable[[Memory, Record], Memory],
    found: Callable[[Memory], bool],
    depth: int,
) -> list[Choice] | None:
    """Return choices after which `found(memory)` holds, at most `depth` of them; or None."""
    if depth == 0 or run.finished:
        return None
    for action in run.greedy():
        for direction in (0, 1):
            if not 0 <= run.position + 2 * direction - 1 <= run.law.n:
                continue
            after = Run(run.law)
            after.position, after.time, after.phase = run.position, run.time, run.phase
            after.q = deepcopy(run.q)
            record = after.step(action, direction)
            if not record.accepted:
                continue
            remembered = look(memory, record)
            if found(remembered):
                return [(action, direction)]
            rest = continue_run(after, remembered, look, found, depth - 1)
            if rest is not None:
                return [(action, direction), *rest]
    return None
