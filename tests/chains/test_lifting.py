"""Exact solutions by p-adic lifting: equal to elimination, and refused where they are wrong."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from flint import fmpq, fmpz
from hard_chains import square

from markov_lrsao import MarkovChain
from markov_lrsao.chains.hitting import expected_at_hitting, hitting_times
from markov_lrsao.chains.kernels import modular
from markov_lrsao.chains.solvers import _exact, _lifting
from markov_lrsao.chains.sources import chain_from_rows


def web(size: int, seed: int, largest: int = 9) -> MarkovChain:
    """A ring with chords and loops, left from some states to either of two ends."""
    rng = random.Random(seed)
    rows: list[dict[int, object]] = []
    for i in range(size):
        row: dict[int, int] = {}
        for j in [(i + 1) % size, rng.randrange(size), rng.randrange(size), i]:
            row[j] = row.get(j, 0) + rng.randrange(1, largest)
        if i % 7 == 0:
            row[size + i % 2] = rng.randrange(1, largest)
        total = sum(row.values())
        rows.append({j: fmpq(w, total) for j, w in row.items()})
    return chain_from_rows([*rows, {size: 1}, {size + 1: 1}])


@pytest.mark.parametrize("size", [2, 5, 30, 80])
@pytest.mark.parametrize("seed", range(3))
def test_lifting_equals_elimination(size: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chain = web(size, seed)
    target = np.arange(size + 2) >= size
    given = [fmpq(0)] * size + [fmpq(1, 3), fmpq(5, 7)]
    usual = hitting_times(chain, target), expected_at_hitting(chain, target, given)
    used = []
    original = _lifting.lifted

    def watched(*arguments: Any) -> Any:
        used.append(original(*arguments))
        return used[-1]

    monkeypatch.setattr(_exact, "_PAYS_FOR_LIFTING", 2)
    monkeypatch.setattr(_lifting, "lifted", watched)
    assert (hitting_times(chain, target), expected_at_hitting(chain, target, given)) == usual
    assert len(used) == 2
    assert None not in used


def test_a_wrong_digit_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = web(30, 1)
    target = np.arange(32) >= 30
    usual = hitting_times(chain, target)
    monkeypatch.setattr(_exact, "_PAYS_FOR_LIFTING", 2)
    monkeypatch.setattr(_lifting, "_MOST_DIGITS", 128)
    original = modular.lift

    def wrong(*arguments: Any) -> Any:
        digits = original(*arguments)
        digits[3, 11] ^= 1
        return digits

    monkeypatch.setattr(modular, "lift", wrong)
    found = []
    watched = _exact._lifted

    def seen(*arguments: Any) -> Any:
        found.append(watched(*arguments))
        return found[-1]

    monkeypatch.setattr(_exact, "_lifted", seen)
    assert hitting_times(chain, target) == usual  # by elimination
    assert found == [None]


def test_the_equations_are_checked_in_integers() -> None:
    matrix = np.array([0, 2, 4]), np.array([0, 1, 0, 1]), np.array([3, -1, -1, 2])
    numerators, below = [fmpz(3), fmpz(4)], fmpz(5)  # 3 x - y = 1, 2 y - x = 1
    one, two = fmpz(1), fmpz(2)
    assert _lifting._holds(matrix, numerators, below, [one, one])
    for wrong in ([fmpz(4), fmpz(4)], [fmpz(3), fmpz(5)]):
        assert not _lifting._holds(matrix, wrong, below, [one, one])
    assert not _lifting._holds(matrix, numerators, fmpz(6), [one, one])
    assert not _lifting._holds(matrix, numerators, below, [one, two])


def test_fractions_are_found_from_residues() -> None:
    modulus = fmpz(2_147_483_629) ** 8
    most = (modulus // 2).isqrt()
    for above, below in ((22, 7), (-3, 10**20), (0, 1), (10**30, 3)):
        inverse = fmpz(pow(below, -1, int(modulus)))
        residue = fmpz(above) * inverse % modulus
        assert _lifting._fraction(residue, modulus, most) == (fmpz(above), fmpz(below))


def test_what_does_not_fit_is_left_to_elimination() -> None:
    pointer, columns = np.array([0, 2, 4]), np.array([0, 1, 0, 1])
    small = np.array([3, -1, -1, 2])
    one = [fmpq(1), fmpq(1)]
    assert _lifting.lifted(pointer, columns, small, one) == [fmpq(3, 5), fmpq(4, 5)]
    assert _lifting.lifted(pointer, columns, small * 2**30, one) is None
    assert _lifting.lifted(pointer, columns, small, [fmpq(1), fmpq(2) ** 400_000]) is None
    singular = np.array([1, -1, -1, 1])
    assert _lifting.lifted(pointer, columns, singular, one) is None


def test_right_sides_of_any_length_and_sign() -> None:
    """3 x - y = b, 2 y - x = c has x = (2 b + c) / 5, y = (b + 3 c) / 5."""
    pointer, columns = np.array([0, 2, 4]), np.array([0, 1, 0, 1])
    values = np.array([3, -1, -1, 2])
    rng = random.Random(3)
    for bits in (1, 30, 31, 62, 63, 64, 500, 5000):
        for _ in range(6):
            b, c = (
                fmpq(rng.choice([-1, 1]) * rng.getrandbits(bits), rng.getrandbits(bits) + 1)
                for _ in range(2)
            )
            expected = [(2 * b + c) / 5, (b + 3 * c) / 5]
            assert _lifting.lifted(pointer, columns, values, [b, c]) == expected


def test_digits_of_numbers() -> None:
    p = _lifting._PRIME
    for number in (0, 1, -1, p, -p, p - 1, 5 - p**7, 3**300, -(3**300)):
        digits = _lifting._digits([fmpz(number)], abs(number).bit_length())
        assert sum(int(digit) * p**k for k, (digit,) in enumerate(digits)) == number
        assert all(0 <= digit < p for (digit,) in digits[:-1])
        assert -p <= digits[-1, 0] < p


@pytest.mark.slow
def test_a_walk_in_the_plane() -> None:
    """On a square of 40 x 40 the float solver is within its error of what lifting finds."""
    from markov_lrsao.chains.hitting import hitting_times_with_errors

    chain = square(40)
    target = np.arange(1600) == 1599
    exact = hitting_times(chain, target)
    near = hitting_times_with_errors(chain, target)
    for value, mid, rad in zip(exact, near.mid.tolist(), near.rad.tolist(), strict=True):
        assert abs(value - fmpq(*mid.as_integer_ratio())) <= fmpq(*rad.as_integer_ratio())
