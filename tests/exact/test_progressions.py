"""Products at consecutive integers equal those of fractions, one after the other."""

from __future__ import annotations

import pytest
from flint import arb, ctx, fmpq, fmpz, fmpz_mat, fmpz_poly
from hypothesis import given, settings
from hypothesis import strategies as st

from markov_lrsao import Landscape, StepLaw
from markov_lrsao.answers.plan import Counted, counted
from markov_lrsao.crossing.generating import Evaluation, site_functions, site_matrices
from markov_lrsao.exact.digits import ends
from markov_lrsao.exact.functions import RationalFunction
from markov_lrsao.exact.progressions import BallMatrices, Progression, Scaled
from markov_lrsao.exact.series import Element, add, multiply
from markov_lrsao.model.algorithm import algorithm_at

Entries = dict[tuple[int, int], Element]
SMALL = st.integers(-4, 4)


def one_by_one(entries: Entries, size: int, high: int, low: int) -> Entries:
    """Multiply the values in fractions, from the left."""
    result: Entries | None = None
    for x in range(high, low - 1, -1):
        values = {key: tuple(f(x) for f in e) for key, e in entries.items()}
        if result is None:
            result = values
            continue
        following: Entries = {}
        for (i, k), a in result.items():
            for j in range(size):
                if (k, j) in values:
                    term = multiply(a, values[k, j])
                    following[i, j] = add(following[i, j], term) if (i, j) in following else term
        result = following
    assert result is not None
    return result


def within(ball: arb, value: fmpq) -> bool:
    """Whether a ball contains a rational number."""
    low, high = ends(ball)
    return bool(low <= value <= high)


def fractions(product: Scaled) -> Entries:
    """Return the entries of a product as fractions."""
    rows, columns = product.layers[0].nrows(), product.layers[0].ncols()
    return {
        (i, j): tuple(
            fmpq(layer[i, j], product.below * product.step**k)
            for k, layer in enumerate(product.layers)
        )
        for i in range(rows)
        for j in range(columns)
    }


@st.composite
def functions(draw: st.DrawFn) -> RationalFunction:
    """Draw a rational function without poles at positive integers."""
    p = fmpz_poly(draw(st.lists(SMALL, min_size=1, max_size=3)))
    q = fmpz_poly([draw(st.integers(1, 5)), draw(st.integers(0, 3))])
    return RationalFunction.reduced(p, q)


@st.composite
def matrices(draw: st.DrawFn) -> tuple[Entries, int]:
    """Draw a matrix of series; its last row may be a multiple of the first."""
    size, length = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    entries: Entries = {
        (i, j): tuple(draw(functions()) for _ in range(length))
        for i in range(size)
        for j in range(size)
    }
    if draw(st.booleans()):
        factor = tuple(draw(functions()) for _ in range(length))
        for j in range(size):
            entries[size - 1, j] = multiply(factor, entries[0, j])
    return entries, size


@given(matrices(), st.integers(1, 30), st.integers(1, 6))
@settings(max_examples=60)
def test_products_are_those_of_fractions(drawn: tuple[Entries, int], count: int, low: int) -> None:
    entries, size = drawn
    progression = Progression(entries, (size, size))
    expected = one_by_one(entries, size, low + count - 1, low)
    found = progression.exact(low + count - 1, low)
    assert fractions(found) == expected
    assert fractions(found.reduced()) == expected
    with ctx.workprec(150):
        balls = progression.balls(low + count - 1, low).entries
        assert all(
            within(ball, value)
            for key, element in expected.items()
            for ball, value in zip(balls[key], element, strict=True)
        )


@pytest.mark.parametrize("counts", [True, False])
def test_sites_as_functions_of_the_position(counts: bool) -> None:
    n = 40
    found = counted(StepLaw.of(Landscape.jump(n, 3), algorithm_at(None, n)))
    assert isinstance(found, Counted)
    d = found.decomposition
    evaluation = Evaluation(exact=True, order=2)
    for site in d.sites:
        arrays = site_matrices(evaluation, d, site, counts)
        symbolic = site_functions(evaluation, d, site, counts)
        assert arrays.keys() == symbolic.keys()
        for key, element in symbolic.items():
            for k, f in enumerate(element):
                values = [f(x) for x in range(site.high, site.low - 1, -1)]
                assert values == arrays[key][k].tolist()


def test_content_is_taken_out_whatever_the_combinations_suggest() -> None:
    # 6 divides both combinations' common divisor with 36 more often than all entries
    for entries in ([6, 12, 18, 24], [6, 12, 18, 25], [4, 6, 8, 10], [0, 0, 0, 36]):
        whole = Scaled([fmpz_mat(2, 2, entries)], fmpz(36), fmpz(1))
        less = whole.reduced()
        assert fractions(less) == fractions(whole)
        common = fmpz(36)
        for entry in entries:
            common = common.gcd(fmpz(entry))
        assert less.below == 36 // common


def test_balls_contain_what_they_round() -> None:
    third = Scaled([fmpz_mat(1, 1, [1]), fmpz_mat(1, 1, [5])], fmpz(3), fmpz(7))
    for bits in (30, 200):
        with ctx.workprec(bits):
            first, second = BallMatrices.of(third).entries[0, 0]
            assert within(first, fmpq(1, 3))
            assert within(second, fmpq(5, 21))
            assert not within(first, fmpq(1, 3) + fmpq(1, 2 ** (bits - 3)))


def test_rational_functions() -> None:
    x = RationalFunction.variable()
    f = (x + 1) / (2 * x - 3)
    assert f(5) == fmpq(6, 7)
    assert f.shifted(2)(7) == f(5)
    assert f - f == 0
    assert 1 / f == (2 * x - 3) / (x + 1)
    assert f * fmpq(1, 2) == fmpq(1, 2) * f == f / 2
    assert 1 - f == -(f - 1)
    assert hash(f) == hash((2 * x + 2) / (4 * x - 6))
    assert f != "f"
    assert (1 / (3 - x)).q.leading_coefficient() > 0
    with pytest.raises(ZeroDivisionError, match="divided by 0"):
        x / (x - x)
