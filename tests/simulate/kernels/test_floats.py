"""Plain float64: rejections that are put off leave the table that a plain program has, bit by bit.

The program is written out below with Python's own floats: one rejection after the other, and the
largest entries of a row by ==.
"""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from simulate.kernels import floats
from simulate.kernels.records import KernelNumbers
from simulate.kernels.tops import FRESH, unpack
from simulate.runs.encoding import EncodedLaw

ALPHAS = ("4/5", "1/2", "3/5", "9/10", "1/4", "1/50")


def numbers_of(alpha: str, gamma: str = "1/10") -> KernelNumbers:
    parameters = Parameters.paper(9, alpha, gamma, "7/2")
    return EncodedLaw.of(
        StepLaw.of(Landscape.jump(9, 2), Algorithm.lrsao(parameters))
    ).float_numbers


class Program:
    """Two rows of three entries, as a plain program has them."""

    def __init__(self, numbers: KernelNumbers) -> None:
        self.numbers = numbers
        self.rows = [[0.0] * 3, [0.0] * 3]

    def largest(self, row: int) -> int:
        entries = self.rows[row]
        return sum(1 << a for a in range(3) if entries[a] == max(entries))

    def reject(self, row: int, a: int, count: int) -> int:
        """Reject while the entry is the only largest one; return how often."""
        n = self.numbers
        for made in range(count):
            if self.largest(row) != 1 << a:
                return made
            v = self.rows[row][a]
            self.rows[row][a] = n.complement * v + n.learn * (0.0 + n.discount * v)
        return count

    def learn(self, row: int, target: int, a: int, g: int) -> None:
        n = self.numbers
        learnt = n.learn * (float(n.rewards[g]) + n.discount * max(self.rows[target]))
        self.rows[row][a] = n.complement * self.rows[row][a] + learnt


def worked_out(numbers: KernelNumbers, q: np.ndarray, row: int) -> list[float]:
    copy = q.copy()
    for a in range(3):
        floats.work_out(numbers, copy, 12 * row + 4 * a)
    return [float(copy[12 * row + 4 * a]) for a in range(3)]


@pytest.mark.parametrize("alpha", ALPHAS)
def test_random_histories_are_those_of_a_plain_program(alpha: str) -> None:
    numbers, draw = numbers_of(alpha), random.Random(alpha)
    put_off = zeros = 0
    for _ in range(30):
        program = Program(numbers)
        q, tops = np.full(24, np.nan), np.zeros(2, dtype=np.int64)
        for _ in range(25):
            row = draw.randrange(2)
            mask, best, _ = unpack(int(tops[row]), 3)
            assert mask == program.largest(row)
            assert mask >> best & 1
            single = mask & (mask - 1) == 0 and tops[row] != FRESH
            if single and draw.random() < 0.5:
                count = draw.choice([1, 2, 30, 450, 470, 500, 1500])
                made = floats.reject_float(numbers, q, 12 * row, 3, best, count)
                assert made == program.reject(row, best, count)
                found, first = floats.argmax_float(numbers, q, 12 * row, 3)
                tops[row] = found | first << 40 | 1 << 48
            else:
                a = draw.choice([a for a in range(3) if mask >> a & 1])
                g, target = draw.randrange(len(numbers.rewards)), draw.randrange(2)
                floats.learn_float(numbers, q, tops, 3, row, target, a, g)
                program.learn(row, target, a, g)
            for k in range(2):
                if tops[k] != FRESH:
                    assert worked_out(numbers, q, k) == program.rows[k]
                    put_off += bool((q[12 * k + 3 : 12 * k + 12 : 4] > 0).any())
                    zeros += 0.0 in program.rows[k]
    assert put_off > 50 or numbers.most == 0  # it shrinks too slowly to be put off
    assert zeros > 50 or numbers.complement > 0.5  # above 1/2 entries stick at a small number


@pytest.mark.parametrize("alpha", ALPHAS)
def test_entries_vanish_when_the_table_says(alpha: str) -> None:
    """vanish[k] becomes 0 after k + 1 rejections, the next larger float after one more."""
    numbers = numbers_of(alpha)

    def rejections_to_zero(v: float) -> int:
        made = 0
        while v != 0.0:
            shrunk = floats.shrink(v, numbers.complement, numbers.learn, numbers.discount)
            assert shrunk < v
            v, made = shrunk, made + 1
        return made

    assert (len(numbers.vanish) > 0) == (numbers.complement <= 0.5)
    for k in {0, 1, len(numbers.vanish) // 2, len(numbers.vanish) - 2}:
        if 0 <= k < len(numbers.vanish) - 1:
            v = float(numbers.vanish[k])
            assert rejections_to_zero(v) == k + 1
            assert rejections_to_zero(math.nextafter(v, math.inf)) == k + 2
            assert floats._to_zero(numbers.vanish, -v) == k + 1


def test_a_table_that_is_one_off_is_noticed() -> None:
    """The guard above can fail: an entry that vanishes one rejection early is another program."""
    right = numbers_of("4/5")
    wrong = right._replace(vanish=right.vanish[1:])
    made = []
    for numbers in (right, wrong):
        q = np.zeros(12)
        q[0] = 1.0
        made.append(floats.reject_float(numbers, q, 0, 3, 0, 10**6))
    program = Program(right)
    program.rows[0][0] = 1.0
    assert made[0] == program.reject(0, 0, 10**6)
    assert made[1] == made[0] - 1


def test_faint_entries_change_no_bit() -> None:
    """What is left after `faint` rejections, beside the smallest number that counts as audible."""
    for alpha in ALPHAS:
        numbers = numbers_of(alpha)
        v = numbers.most
        for _ in range(int(min(numbers.faint, 10**5))):
            v = floats.shrink(v, numbers.complement, numbers.learn, numbers.discount)
        reward = float(np.abs(numbers.rewards[numbers.rewards != 0]).min())
        if numbers.faint < math.inf:
            assert numbers.audible + numbers.complement * v == numbers.audible
            assert numbers.audible - numbers.complement * v == numbers.audible
            assert reward + numbers.discount * v == reward
            assert reward - numbers.discount * v == reward


def test_float_maxima_are_numpys() -> None:
    draw, numbers = random.Random(12), numbers_of("4/5")
    for _ in range(500):
        q = np.zeros(24)
        q[::4] = [draw.choice([-1.0, 0.0, 0.5, 0.5, 2.0]) for _ in range(6)]
        row = 12 * draw.randrange(2)
        values = q[row : row + 12 : 4]
        mask, best = floats.argmax_float(numbers, q, row, 3)
        assert mask == sum(1 << a for a in range(3) if values[a] == values.max())
        assert mask >> best & 1


def test_float_rejections_stop_where_another_entry_is_as_large() -> None:
    draw, numbers = random.Random(13), numbers_of("1/2", "1/4")
    for _ in range(400):
        program = Program(numbers)
        program.rows[0] = [draw.uniform(-1, 1) for _ in range(3)]
        a = max(range(3), key=lambda a: program.rows[0][a])
        q = np.zeros(12)
        q[::4] = program.rows[0]
        count = draw.randrange(1, 60)
        assert floats.reject_float(numbers, q, 0, 3, a, count) == program.reject(0, a, count)
        assert worked_out(numbers, q, 0) == program.rows[0]
