"""Solvers against closed forms."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import jump_chain
from oracles import harmonic

from markov_lrsao import Algorithm, Landscape, MarkovChain, runtime
from markov_lrsao.chains.hitting import (
    central_moments,
    expected_at_hitting,
    hitting_times,
    phase_moments,
)
from markov_lrsao.chains.solvers import backward, forward
from markov_lrsao.chains.sources import (
    birth_death_chain,
    chain_from_rows,
    plateau_time,
    plateau_walk,
)
from markov_lrsao.errors import NotAbsorbingError
from markov_lrsao.exact.rationals import fraction

FIELDS = ["exact", "float"]


def close(value: object, expected: Fraction, rel: float = 1e-12) -> None:
    if isinstance(value, fmpq):
        assert fraction(value) == expected
    else:
        assert value == pytest.approx(float(expected), rel=rel)


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("n", [2, 5, 9, 30])
def test_plateau_lemma(n: int, field: str) -> None:
    for b in range(n):
        walk = plateau_walk(n, 0, b)
        times = hitting_times(walk, walk.at_positions([b + 1]), field=field)  # type: ignore[arg-type]
        for k in range(b + 1):
            expected = n * (harmonic(n - k) - harmonic(n - b - 1))
            close(times[k], expected)
            assert fraction(plateau_time(n, k, b)) == expected


@pytest.mark.parametrize("field", FIELDS)
def test_variance_of_a_plateau_walk(field: str) -> None:
    # independent geometric times: Var = sum (1-q)/q^2 with q = (n-m)/n
    n, b = 12, 8
    walk = plateau_walk(n, 0, b)
    end = walk.at_positions([b + 1])
    _, variances = central_moments(walk, end, 2, field=field)  # type: ignore[arg-type]
    for k in range(b + 1):
        steps = [Fraction(n - m, n) for m in range(k, b + 1)]
        close(variances[k], sum(((1 - q) / q**2 for q in steps), Fraction(0)))


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("size", [1, 2, 5, 20, 60])
def test_stiff_walk(size: int, field: str) -> None:
    # up 1/3, down 2/3, always up at 0: E_0 = 4 * 2^N - 3N - 4
    chain = birth_death_chain([1, *[Fraction(1, 3)] * (size - 1)])
    times = hitting_times(chain, chain.at_positions([size]), field=field)  # type: ignore[arg-type]
    close(times[0], Fraction(4 * 2**size - 3 * size - 4))


def test_very_stiff_walk_in_floats() -> None:
    chain = birth_death_chain([1, *[Fraction(1, 3)] * 999])
    times = hitting_times(chain, chain.at_positions([1000]), field="float")
    assert times[0] == pytest.approx(float(4 * 2**1000 - 3004), rel=1e-12)


@given(st.lists(st.fractions(Fraction(1, 20), 1, max_denominator=20), min_size=1, max_size=8))
@settings(max_examples=40)
def test_birth_death_recursion(up: list[Fraction]) -> None:
    # time from k to k+1: t_k = (1 + (1-q_k) t_{k-1}) / q_k, at 0 staying instead of falling
    chain = birth_death_chain(up)
    end = chain.at_positions([len(up)])
    climbs: list[Fraction] = []
    for q in up:
        below = climbs[-1] if climbs else Fraction(0)
        climbs.append((1 + (1 - q) * below) / q)
    for field in FIELDS:
        times = hitting_times(chain, end, field=field)  # type: ignore[arg-type]
        for k in range(len(up)):
            close(times[k], sum(climbs[k:], Fraction(0)))


def ruin(size: int, p: Fraction) -> MarkovChain:
    rows: list[dict[int, object]] = [{0: 1}]
    rows += [{k + 1: p, k - 1: 1 - p} for k in range(1, size)]
    return chain_from_rows([*rows, {size: 1}], start=[1])


@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(1, 3), Fraction(9, 10)])
@pytest.mark.parametrize("field", FIELDS)
def test_gamblers_ruin(p: Fraction, field: str) -> None:
    size = 9
    chain = ruin(size, p)
    ends = chain.at_positions([0, size])
    win = [fmpq(0)] * size + [fmpq(1)]
    values = win if field == "exact" else np.array([0.0] * size + [1.0])
    found = expected_at_hitting(chain, ends, values, field=field)  # type: ignore[arg-type]
    times = hitting_times(chain, ends, field=field)  # type: ignore[arg-type]
    rho = (1 - p) / p
    for k in range(1, size):
        if rho == 1:
            chance, time = Fraction(k, size), Fraction(k * (size - k))
        else:
            chance = (1 - rho**k) / (1 - rho**size)
            time = (k - size * chance) / (1 - 2 * p)
        close(found[k], chance)
        close(times[k], time)


def test_variance_of_the_symmetric_ruin() -> None:
    # Var_k = k (N-k) (k^2 + (N-k)^2 - 2) / 3
    size = 8
    chain = ruin(size, Fraction(1, 2))
    ends = chain.at_positions([0, size])
    _, variances = central_moments(chain, ends, 2)
    for k in range(1, size):
        j = size - k
        assert fraction(variances[k]) == Fraction(k * j * (k * k + j * j - 2), 3)


@pytest.mark.parametrize("n", [1, 2, 7, 25])
def test_coupon_collector(n: int) -> None:
    result = runtime(Landscape.onemax(n), Algorithm.rls())
    assert Fraction(result.total.rational) == n * harmonic(n)  # type: ignore[arg-type]
    shares = [Fraction(n - p, n) for p in range(n)]
    variance = sum(((1 - q) / q**2 for q in shares), Fraction(0))
    assert Fraction(result.variance.rational) == variance  # type: ignore[arg-type]


def test_what_is_never_left_is_an_error() -> None:
    trap = chain_from_rows([{0: "1/2", 1: "1/4", 2: "1/4"}, {1: 1}, {2: 1}])
    pair = chain_from_rows([{1: "1/2", 3: "1/2"}, {2: 1}, {1: 1}, {3: 1}])
    for field in FIELDS:
        with pytest.raises(NotAbsorbingError, match="never left"):
            hitting_times(trap, trap.at_positions([2]), field=field)  # type: ignore[arg-type]
        with pytest.raises(NotAbsorbingError, match="never left"):
            hitting_times(pair, pair.at_positions([3]), field=field)  # type: ignore[arg-type]
        source = [fmpq(1)] + [fmpq(0)] * 3 if field == "exact" else np.eye(4)[0]
        with pytest.raises(NotAbsorbingError, match="never left"):
            forward(pair, ~pair.at_positions([3]), source, field=field)  # type: ignore[arg-type]
    stuck = runtime(Landscape.jump(9, 2), Algorithm.rls(), outside_h=True)
    assert stuck.kind == "infinite"
    assert stuck.trap is not None
    assert (stuck.trap.state, stuck.trap.probability.rational) == ("p=6", "1")


@st.composite
def chains(draw: st.DrawFn) -> MarkovChain:
    """Random chains on up to 8 states, each with some way to the last state."""
    size = draw(st.integers(2, 8))
    rows: list[dict[int, object]] = []
    for i in range(size - 1):
        weights = {
            draw(st.integers(0, size - 1)): draw(st.integers(1, 9))
            for _ in range(draw(st.integers(1, 4)))
        }
        weights[draw(st.integers(i + 1, size - 1))] = draw(st.integers(1, 3))
        total = sum(weights.values())
        rows.append({j: Fraction(w, total) for j, w in weights.items()})
    return chain_from_rows([*rows, {size - 1: 1}])


@given(chains())
@settings(max_examples=60)
def test_dense_linear_algebra_agrees(chain: MarkovChain) -> None:
    size = chain.size
    end = chain.at_positions([size - 1])
    p = [[Fraction(0)] * size for _ in range(size)]
    for i in range(size):
        for j, w in chain.row(i):
            p[i][j] = fraction(w)
    matrix = np.array([[float(x) for x in row] for row in p])
    inner = np.eye(size - 1) - matrix[:-1, :-1]
    h, v, third = central_moments(chain, end, 3)
    expected = np.linalg.solve(inner, np.ones(size - 1))
    second = np.linalg.solve(inner, 2 * expected - 1)  # E[T^2] = 1 + 2 P h + P E[T^2]
    assert [float(fraction(x)) for x in h[:-1]] == pytest.approx(expected.tolist(), rel=1e-8)
    found = [float(fraction(x)) for x in v[:-1]]
    assert found == pytest.approx((second - expected**2).tolist(), rel=1e-6, abs=1e-6)
    # the equations hold exactly
    for i in range(size - 1):
        mean = sum((p[i][j] * fraction(h[j]) for j in range(size)), Fraction(1))
        assert fraction(h[i]) == mean
        # E[T^2] = Var + mean^2 satisfies its own equation
        square = [fraction(v[j]) + fraction(h[j]) ** 2 for j in range(size)]
        assert square[i] == 2 * mean - 1 + sum(p[i][j] * square[j] for j in range(size))
        # E[T^3] = third + 3 m Var + m^3, and (1 + T')^3 = 1 + 3 T' + 3 T'^2 + T'^3
        cube = [
            fraction(third[j]) + 3 * fraction(h[j]) * fraction(v[j]) + fraction(h[j]) ** 3
            for j in range(size)
        ]
        assert cube[i] == 1 + sum(
            p[i][j] * (3 * fraction(h[j]) + 3 * square[j] + cube[j]) for j in range(size)
        )
    # floats without subtraction agree to full accuracy
    floats, spread = central_moments(chain, end, 2, field="float")
    assert floats[:-1].tolist() == pytest.approx([float(fraction(x)) for x in h[:-1]], rel=1e-12)
    assert spread[:-1].tolist() == pytest.approx(found, rel=1e-9, abs=1e-12)


@given(chains(), st.integers(0, 7))
@settings(max_examples=60)
def test_forward_and_backward_are_dual(chain: MarkovChain, begin: int) -> None:
    # sum over states of the expected numbers of steps begun there is the hitting time
    size, inside = chain.size, ~chain.at_positions([chain.size - 1])
    start = begin % (size - 1)
    source = [fmpq(int(i == start)) for i in range(size)]
    steps = forward(chain, inside, source)
    h = backward(chain, inside, [fmpq(1)] * size)
    assert sum(steps[:-1], fmpq(0)) == h[start]
    for j in range(size - 1):  # x = source + x P
        flow = sum(
            (steps[i] * dict(chain.row(i)).get(j, fmpq(0)) for i in range(size - 1)), source[j]
        )
        assert steps[j] == flow
    floats = forward(chain, inside, np.eye(size)[start], field="float")
    expected = [float(fraction(x)) for x in steps[:-1]]
    assert floats[:-1].tolist() == pytest.approx(expected, rel=1e-12)


def test_phases_of_a_deterministic_mixture() -> None:
    # From 0 to 1 or 2 evenly; 1 takes one step, 2 waits a geometric time. Phase 2 has
    # variance E[Var] + Var[E], not E[Var] alone.
    chain = chain_from_rows(
        [{1: "1/2", 2: "1/2"}, {3: 1}, {2: "3/4", 3: "1/4"}, {3: 1}], positions=[0, 1, 1, 2]
    )
    mean, variance = phase_moments(chain, chain.positions >= 1, chain.positions >= 2)
    assert (mean, variance) == (fmpq(5, 2), fmpq(12) / 2 + fmpq(9, 4))
    floats = phase_moments(chain, chain.positions >= 1, chain.positions >= 2, field="float")
    assert [float(x) for x in floats] == pytest.approx([2.5, 8.25], rel=1e-14)
    assert all(x.error < 1e-12 for x in floats)


def test_exact_and_float_in_every_state() -> None:
    chain = jump_chain(9, 2).chain
    end = chain.at_positions([9])
    exact, floats = hitting_times(chain, end), hitting_times(chain, end, field="float")
    assert (
        max(abs(float(x) / float(fraction(y)) - 1) for x, y in zip(floats, exact, strict=True) if y)
        < 1e-12
    )
