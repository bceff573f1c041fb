"""Least bounds against plain iteration from below."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from markov_lrsao.exact.rationals import fraction, rational
from markov_lrsao.rows.bounds import Term, least_bounds

System = tuple[int, list[Term], list[tuple[int, int]]]


@st.composite
def systems(draw: st.DrawFn) -> System:
    size = draw(st.integers(1, 6))
    unknown = st.integers(0, size - 1)
    constants = st.fractions(-3, 3, max_denominator=3)
    terms = [Term(draw(unknown), rational(draw(constants))) for _ in range(draw(st.integers(0, 3)))]
    for _ in range(draw(st.integers(0, 8))):
        weights = draw(
            st.sampled_from([("1/2",), ("4/5",), ("1/5", "1/2"), ("1/10", "1/10"), ("1/3", "0")])
        )
        terms.append(
            Term(
                draw(unknown),
                rational(draw(constants)),
                tuple((draw(unknown), rational(w)) for w in weights),
            )
        )
    copies = draw(st.lists(st.tuples(unknown, unknown), max_size=6))
    return size, terms, copies


def iterate(system: System, rounds: int, number: type) -> list[Fraction | float | None]:
    """Apply all inequalities `rounds` times, from no knowledge at all."""
    size, terms, copies = system
    cooked = [
        (
            t.target,
            number(fraction(t.constant)),
            [(j, number(fraction(w))) for j, w in t.weights if w != 0],
        )
        for t in terms
    ]
    cooked += [(i, number(0), [(j, number(1))]) for i, j in copies]
    now: list[Fraction | float | None] = [None] * size
    for _ in range(rounds):
        new = list(now)
        for target, constant, weights in cooked:
            if all(now[j] is not None for j, _ in weights):
                value = constant + sum(w * now[j] for j, w in weights)
                present = new[target]
                new[target] = value if present is None else max(present, value)
        now = new
    return now


@pytest.mark.slow
@given(systems())
@settings(max_examples=120)
def test_against_float_iteration(system: System) -> None:
    values, _ = least_bounds(*system)
    for value, limit in zip(values, iterate(system, 200, float), strict=True):
        if value is None:
            assert limit is None
        else:
            assert limit == pytest.approx(float(fraction(value)), abs=1e-9)


@given(systems())
@settings(max_examples=150)
def test_the_values_solve_the_system_and_attained_means_reached(system: System) -> None:
    size, terms, copies = system
    values, attained = least_bounds(*system)

    def known(j: int) -> Fraction | None:
        value = values[j]
        return None if value is None else fraction(value)

    options: list[list[Fraction]] = [[] for _ in range(size)]
    for t in terms:
        inputs = [(known(j), fraction(w)) for j, w in t.weights if w != 0]
        if all(x is not None for x, _ in inputs):
            options[t.target].append(
                fraction(t.constant) + sum((w * x for x, w in inputs), Fraction(0))  # type: ignore[operator]
            )
    for i, j in copies:
        if i != j and known(j) is not None:
            options[i].append(known(j))  # type: ignore[arg-type]
    for i in range(size):
        assert known(i) == (max(options[i]) if options[i] else None)
    # A bound is attained iff finitely many updates lead to it. One that is attained is so
    # after at most `size` of them along the derivation, hence after that many rounds.
    reached = iterate(system, size + 1, Fraction)
    for i in range(size):
        if known(i) is not None:
            assert attained[i] == (reached[i] == known(i))


def test_lemma_2_by_hand() -> None:
    # u = max(0, lam u + alpha G): the limit alpha G / (1 - lam) is approached, not attained.
    lam, gain = fmpq(7, 25), fmpq(24, 5)
    values, attained = least_bounds(1, [Term(0, fmpq(0)), Term(0, gain, ((0, lam),))], [])
    assert values == [gain / (1 - lam)]
    assert attained == [False]
    # A floor above the limit is attained.
    values, attained = least_bounds(1, [Term(0, fmpq(9)), Term(0, gain, ((0, lam),))], [])
    assert (values, attained) == ([fmpq(9)], [True])


def test_copies_along_a_cycle_are_equal() -> None:
    values, attained = least_bounds(4, [Term(1, fmpq(5))], [(0, 1), (1, 2), (2, 0)])
    assert values == [5, 5, 5, None]
    assert attained[:3] == [True] * 3
