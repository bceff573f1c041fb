"""Hyper-parameters in (H) at which entries of row 0 tie exactly, found by solving for r.

Along a fixed list of (objective, direction) every entry is affine in r, as long as the maxima
on the way do not change. So the r at which a gap between two entries vanishes is found from
two others, and the tie is then confirmed in Fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from oracles import DOWN, UP, Oracle, Table, h_interval

L, J, R = 0, 1, 2
Choices = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Tie:
    """Hyper-parameters, and choices after which the given entries of row 0 are equal."""

    name: str
    n: int
    ell: int
    alpha: Fraction
    gamma: Fraction
    r: Fraction
    choices: tuple[tuple[int, int], ...]
    equal: tuple[int, ...]

    def oracle(self, r: Fraction | None = None) -> Oracle:
        return Oracle.jump(self.n, self.ell, self.alpha, self.gamma, self.r if r is None else r)

    def __str__(self) -> str:
        return self.name


def play(oracle: Oracle, choices: Choices) -> tuple[int, Table]:
    """Return position and table after the choices, each of which must be greedy."""
    position, table = 0, oracle.zero_table()
    for action, direction in choices:
        found = [
            c
            for c in oracle.choices(position, table)
            if (c.action, c.direction) == (action, direction)
        ]
        assert len(found) == 1, "the choices are not greedy here"
        position, table = found[0].position, found[0].table
    return position, table


def row_zero(oracle: Oracle, table: Table) -> list[Fraction]:
    return [oracle.values[x] for x in table[0]]


def to_the_cut(n: int, ell: int, by: int) -> list[tuple[int, int]]:
    """Return choices that use J, then R, reward L from there on, and climb to n - l.

    `by` is the objective that makes the step from n - l - 1 to n - l.
    """
    left = [(J, UP), (R, UP), *[(L, UP)] * (ell - 1)]
    return [*left, *[(J, UP)] * (n - 2 * ell - 2), (by, UP)]


def solve_tie(
    name: str,
    n: int,
    ell: int,
    alpha: Fraction,
    gamma: Fraction,
    choices: Choices,
    pair: tuple[int, int],
) -> Tie:
    """Solve for the r in (H) at which two entries of row 0 are equal after the choices."""
    low, high = h_interval(n, ell, alpha, gamma)

    def gap(r: Fraction) -> Fraction:
        oracle = Oracle.jump(n, ell, alpha, gamma, r)
        row = row_zero(oracle, play(oracle, choices)[1])
        return row[pair[0]] - row[pair[1]]

    first, second = low + (high - low) / 1000, low + (high - low) / 500
    one, two = gap(first), gap(second)
    r = first - one * (second - first) / (two - one)
    assert low < r < high
    oracle = Oracle.jump(n, ell, alpha, gamma, r)
    row = row_zero(oracle, play(oracle, choices)[1])
    assert row[pair[0]] == row[pair[1]]
    equal = tuple(a for a in range(3) if row[a] == row[pair[0]])
    return Tie(name, n, ell, alpha, gamma, r, tuple(choices), equal)


def known_ties() -> list[Tie]:
    """Return ties of several kinds at n = 9 to 12."""
    result = []
    exit_ = [(L, DOWN), (R, UP)]
    for n, ell, alpha, gamma, name, then in (
        # L leaves through n - l: (1 - alpha) L + alpha gamma M = 0, so that L = J = R.
        (9, 2, "19/20", "1/10", "two exits", [*exit_, (L, DOWN)]),
        (9, 2, "99/100", "1/5", "three exits", [*exit_, *exit_, (L, DOWN)]),
        # A rejection on the way: M has decayed once.
        (9, 2, "97/100", "1/4", "a rejection", [(L, DOWN), (R, DOWN), (R, UP), (L, DOWN)]),
        (12, 3, "19/20", "1/13", "two exits", [*exit_, (L, DOWN)]),
    ):
        result.append(
            solve_tie(
                f"L=J=R after {name}, n={n}",
                n,
                ell,
                Fraction(alpha),
                Fraction(gamma),
                [*to_the_cut(n, ell, R), *then],
                (L, R),
            )
        )
    # J = 0 after it left through n - l with M = 0; then one penalty makes it equal to R.
    for n, ell, rate, discount in (
        (9, 2, Fraction(1, 2), Fraction(1, 20)),
        (10, 2, Fraction(3, 5), Fraction(1, 30)),
    ):
        choices = [*to_the_cut(n, ell, L), (L, UP), (L, DOWN), (J, DOWN), (R, UP), (J, UP)]
        result.append(
            Tie(
                f"J=R after J=0, n={n}",
                n,
                ell,
                rate,
                discount,
                Fraction(n - ell - 1) / (1 - rate),
                tuple(choices),
                (J, R),
            )
        )
    return result
