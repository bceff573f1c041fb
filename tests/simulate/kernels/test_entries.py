"""The scaled entries: every operation's error bar contains the exact rational."""

from __future__ import annotations

import random

import numpy as np
import pytest
from flint import fmpq

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from markov_lrsao.exact.rationals import to_float
from simulate.kernels import entries as entries
from simulate.runs.encoding import EncodedLaw

Entry = tuple[float, float, float]


def contains(entry: Entry, exact: fmpq) -> bool:
    value, error, scale = entry
    power = fmpq(2) ** (512 * int(scale))

    def rational(x: float) -> fmpq:
        return fmpq(*float(x).as_integer_ratio())

    return bool(abs(exact - rational(value) * power) <= rational(error) * power)


def encoded(
    n: int = 9, alpha: str = "4/5", gamma: str | None = None, r: str | None = None
) -> EncodedLaw:
    parameters = Parameters.paper(n, alpha, gamma, r)
    return EncodedLaw.of(StepLaw.of(Landscape.jump(n, 2), Algorithm.lrsao(parameters)))


@pytest.mark.parametrize(
    ("alpha", "gamma"),
    [
        ("4/5", "1/10"),
        ("1/7", "3/10"),
        ("99/100", "1/50"),
        ("1/1000", "1/3"),
        ("999/1000", "1/1000"),
    ],
)
def test_random_histories_stay_inside_their_error_bars(alpha: str, gamma: str) -> None:
    table = encoded(alpha=alpha, gamma=gamma, r="5")
    numbers, draw = table.numbers, random.Random(f"{alpha} {gamma}")
    algorithm = table.step_law.algorithm
    keep, boot = algorithm.keep, algorithm.bootstrap
    lam = keep + boot
    for _ in range(40):
        states: list[tuple[Entry, fmpq]] = [((0.0, 0.0, 0.0), fmpq(0))] * 3
        for _ in range(25):
            i, j = draw.randrange(3), draw.randrange(3)
            (v, e, s), x = states[i]
            (mv, me, ms), y = states[j]
            if draw.random() < 0.4 and (v, e) != (0.0, 0.0):
                k = draw.choice([1, 2, 63, 64, 65, 700, draw.randrange(1, 2000)])
                entry = entries.decay(v, e, s, k, numbers.lam_mantissa, numbers.lam_exponent)
                exact = x * lam**k
            else:
                g = draw.randrange(len(table.gains))
                entry = entries.combine(
                    numbers.keep, v, e, s, numbers.gains[g], numbers.boot, mv, me, ms
                )
                exact = keep * x + table.gains[g] + boot * y
            assert contains(entry, exact)
            if entry[2] < 0:  # a scaled entry has a certain sign
                assert entry[1] < abs(entry[0])
                assert (entry[0] > 0) == (exact > 0)
            states[i] = (entry, exact)


def test_decay_keeps_sign_and_precision_for_ever() -> None:
    numbers = encoded().numbers
    v, e, s = 1.0, 0.0, 0.0
    for _ in range(3):
        v, e, s = entries.decay(v, e, s, 10**12 + 12345, numbers.lam_mantissa, numbers.lam_exponent)
        assert v > 0
        assert e < 1e-13 * v
    assert s < -(10**9)


def test_powers_of_lam_are_the_nearest_floats() -> None:
    table = encoded(10_000)
    lam = table.step_law.algorithm.keep + table.step_law.algorithm.bootstrap
    for k in [1, 2, 63, 64, 128, 63 * 64]:
        place = k if k < 64 else 64 + k // 64
        mantissa = float(table.numbers.lam_mantissa[place])
        exponent = int(table.numbers.lam_exponent[place])
        assert mantissa == to_float(lam**k / fmpq(2) ** exponent)


def random_row(draw: random.Random) -> tuple[np.ndarray, list[fmpq]]:
    """Three entries near each other, at various scales, with the numbers they stand for."""
    row, exact = np.zeros(12), []
    base = draw.choice([-1, 1]) * draw.random()
    for a in range(3):
        kind = draw.randrange(4)
        scale = draw.choice([0, 0, -1, -2])
        value = base * (1 + draw.choice([0, 1e-16, 1e-13, 1])) * draw.choice([1, 1, -1])
        error = abs(value) * draw.choice([1e-16, 1e-14])
        if kind == 0:
            exact.append(fmpq(0))
            continue
        offset = fmpq(*float(error * draw.uniform(-1, 1)).as_integer_ratio())
        exact.append((fmpq(*float(value).as_integer_ratio()) + offset) * fmpq(2) ** (512 * scale))
        row[4 * a : 4 * a + 4] = value, error, scale, entries.NONE
    return row, exact


def test_comparisons_are_never_wrong() -> None:
    draw = random.Random(11)
    unknown = certain_ties = 0
    for _ in range(3000):
        row, exact = random_row(draw)
        mask, best, certain = entries.argmax(row, 0, 3)
        largest = max(exact)
        truth = sum(1 << a for a in range(3) if exact[a] == largest)
        if certain:
            assert mask == truth
            assert mask >> best & 1
            certain_ties += mask & (mask - 1) > 0
        else:
            unknown += 1
            assert truth & ~mask == 0
        v, e, s, t = entries.row_max(row, 0, 3, mask, best, certain)
        assert contains((v, e, s), largest)
        assert t == entries.NONE or largest == 0
        for a in range(3):
            for b in range(3):
                order = entries.compare(row, 4 * a, 4 * b)
                if order != entries.UNKNOWN:
                    assert order == (exact[a] > exact[b]) - (exact[a] < exact[b])
    assert unknown > 100
    assert certain_ties > 100


def test_safe_rejections_never_pass_the_runner_up() -> None:
    lam = fmpq(1, 5)
    row = np.zeros(12)
    row[:4] = 1.0, 1e-16, 0.0, entries.NONE
    row[4:8] = 1.0, 1e-16, -1.0, entries.NONE
    safe = entries.safe_rejections(row, 0, 3, 0, float(np.log(0.2)))
    assert safe > 200
    assert lam ** (safe - 1) * (1 - fmpq(1, 10**15)) > fmpq(2) ** -512
    row[4] = -1.0
    assert entries.safe_rejections(row, 0, 3, 0, float(np.log(0.2))) == -1


def test_tags_are_exact() -> None:
    table = encoded(25)
    numbers, algorithm = table.numbers, table.step_law.algorithm
    low = numbers.lowest
    assert table.tagged[-low] == 0
    assert list(table.tagged) == sorted(set(table.tagged))
    core = {int(c): table.tagged[i] for i, c in enumerate(numbers.core) if c >= 0}
    assert algorithm.parameters is not None
    assert -algorithm.learn * algorithm.parameters.r in core.values()
    for (i, g, k), tag in np.ndenumerate(numbers.successor):
        expected = algorithm.keep * core[i] + table.gains[g] + algorithm.bootstrap * core[k]
        assert table.tagged[int(tag) - low] == expected
