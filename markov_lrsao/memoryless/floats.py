r"""Moments of T on a dense chain of some thousands of states, in floats with a proven error.

Times grow exponentially with n where a search forgets what it found, and so does the condition of
I - P: balls need more bits the more states there are. Elimination without subtractions does not
mind. Why, and how far its answer can be off:

*A perturbed chain.* By the matrix-tree theorem h = (I - P)^-1 b is a quotient of polynomials in
the p(i, j), i != j, and b(i), with non-negative coefficients; every term of the numerator has N of
these as factors, one per state, and so has every term of the denominator. If each of them is
changed by a factor within [1 - e, 1 + e], h is by one within [1/c, c], c = ((1 + e) / (1 - e))^N.

*One elimination* computes the chain of the other M states from non-negative numbers; each of its
entries is off by at most K = PART + M / PART + 5 roundings. So it changes h by exp(2 M K u) at most
(up to terms in u^2, for which there is room), u = 2^-53. What was rounded before, to floats, is one
more perturbation of all N states, and substituting backwards adds M + K roundings a state. The sum
of all of this is `_error`.

*Moments.* h_(k+1) solves the same system with the right side h_k - b_k >= 0, known between two
bounds; h is monotone in it, so both are solved.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, frexp

import numpy as np
import numpy.typing as npt
from flint import arb, fmpq

from markov_lrsao.errors import SolverError
from markov_lrsao.memoryless.kernels.elimination import PART, eliminate, substitute
from markov_lrsao.memoryless.reaching import State, Task

__all__ = ["factorial_moments"]

_UNIT = 2.0**-53 * 1.001
_BITS = 512
_NARROW_BALL = 2.0**-60

Floats = tuple[npt.NDArray[np.float64], npt.NDArray[np.int32]]
Interval = tuple[fmpq, fmpq]


def factorial_moments(task: Task, moments: int) -> list[Interval]:
    """Return enclosures of E[C(T, k)], k = 1 .. moments, for a task in balls.

    Raises
    ------
    SolverError
        The law is cut off, a state cannot be left, or a ball is too wide.
    """
    states = sorted(task.inside)
    chain = _chain(task, states)
    leave = _zeros(len(states))
    if not eliminate(*chain, *leave):
        raise SolverError("a state cannot be left: more bits are needed")
    wide = fmpq(*exp(_error(len(states))).as_integer_ratio()) * fmpq(2**50 + 1, 2**50)
    right: list[Interval] = [(fmpq(1), fmpq(1))] * len(states)
    found: list[Interval] = []
    for _ in range(moments):
        low, high = (_solved(chain, leave, [bounds[side] for bounds in right]) for side in (0, 1))
        times = [(a / wide, b * wide) for a, b in zip(low, high, strict=True)]
        found.append(_average(task, dict(zip(states, times, strict=True))))
        right = [
            (max(fmpq(0), h[0] - b[1]), h[1] - b[0]) for h, b in zip(times, right, strict=True)
        ]
    return found


def _error(states: int) -> float:
    """Return a bound of |log| of what roundings multiply a solution with."""
    first = 2.0 * states * 4.0  # to floats: weights, and right sides
    roundings = [(m, PART + m / PART + 5) for m in range(1, states + 1)]
    return (first + sum(2.0 * m * k + m + k for m, k in roundings)) * _UNIT * 1.001


def _zeros(*shape: int) -> Floats:
    return np.zeros(shape), np.zeros(shape, dtype=np.int32)


def _chain(task: Task, states: list[State]) -> Floats:
    """Return the weights of leaving; the last column is the target's."""
    index = {state: k for k, state in enumerate(states)}
    values, scales = _zeros(len(states), len(states) + 1)
    for k, (x, g) in enumerate(states):
        if task.law.row(g, x, task.field).missing:
            raise SolverError("the law is cut off, which floats cannot bound")
        row: dict[int, arb] = {}
        for to, y, w in task.law.transitions(g, x, task.field):
            j = index.get((y, to), len(states))
            if j != k:
                row[j] = row[j] + w if j in row else w
        for j, w in row.items():
            values[k, j], scales[k, j] = _float_of_ball(w)
    return values, scales


def _float_of_ball(ball: arb) -> tuple[float, int]:
    """Return a ball's midpoint; it is off by two roundings, its radius included."""
    mantissa, exponent = ball.mid().man_exp()
    if mantissa <= 0 or not ball.rad() < ball.mid() * _NARROW_BALL:
        raise SolverError("a weight is not known well enough: more bits are needed")
    return _scaled(float(int(mantissa)), int(exponent))


def _scaled(value: float, exponent: int) -> tuple[float, int]:
    """Return value * 2^exponent as the kernels have it; value >= 0."""
    if value == 0.0:
        return 0.0, 0
    mantissa, more = frexp(value)
    scale = (exponent + more + _BITS // 2 - 1) // _BITS
    return mantissa * 2.0 ** (exponent + more - _BITS * scale), scale


def _solved(chain: Floats, leave: Floats, right: list[fmpq]) -> list[fmpq]:
    """Return the solution for one right side, as the floats have it."""
    side = _zeros(len(right))
    for k, number in enumerate(right):
        side[0][k], side[1][k] = _float_of_rational(number)
    substitute(*chain, *leave, *side)
    powers: dict[int, fmpq] = {}
    found = []
    for value, scale in zip(side[0].tolist(), side[1].tolist(), strict=True):
        power = powers.setdefault(scale, fmpq(2) ** (_BITS * scale))
        found.append(fmpq(*value.as_integer_ratio()) * power)
    return found


def _float_of_rational(number: fmpq) -> tuple[float, int]:
    """Return a number >= 0, cut off after 127 bits or more and then rounded."""
    p, q = int(number.p), int(number.q)
    shift = 128 + q.bit_length() - p.bit_length()
    return _scaled(float((p << max(shift, 0)) // (q << max(-shift, 0))), -shift)


def _average(task: Task, times: Mapping[State, Interval]) -> Interval:
    """Return the mean over positions and modes at the start."""
    low, high = fmpq(0), fmpq(0)
    for x, w in task.start.items():
        if w and x not in task.target:
            for g, v in task.law.search.start:
                low, high = low + w * v * times[x, g][0], high + w * v * times[x, g][1]
    return low, high
