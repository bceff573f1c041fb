"""Theorem 7 and formula (A): phase 1 in closed form."""

from __future__ import annotations

from fractions import Fraction
from math import log

import pytest
from instances import jump_law, paper_runtime, valid_pairs
from oracles import harmonic

from markov_lrsao import runtime


def formula_a(n: int, ell: int) -> Fraction:
    """E[T1] = 2 / (3 (2n - 1)) + n (H_n - H_{n-l-1})."""
    return Fraction(2, 3 * (2 * n - 1)) + n * (harmonic(n) - harmonic(n - ell - 1))


def test_formula_a_by_hand() -> None:
    assert formula_a(9, 2) == Fraction(9853, 2856)


@pytest.mark.parametrize(("n", "ell"), [p for p in valid_pairs(23) if p[0] - 2 * p[1] <= 6])
def test_formula_a(n: int, ell: int) -> None:
    assert Fraction(paper_runtime(n, ell).phases[0].rational or "") == formula_a(n, ell)


@pytest.mark.parametrize(("n", "ell"), [(60, 2), (61, 10), (99, 30), (200, 2), (300, 147)])
def test_formula_a_by_crossing_counts(n: int, ell: int) -> None:
    law = jump_law(n, ell)
    result = runtime(law.landscape, law.algorithm, method="crossing")
    assert Fraction(result.phases[0].rational or "") == formula_a(n, ell)
    assert float(formula_a(n, ell)) <= 2 * (ell + 1) * log(2)  # Theorem 7's bound
