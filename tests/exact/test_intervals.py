from __future__ import annotations

from fractions import Fraction

from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from markov_lrsao.exact.intervals import UNKNOWN, Interval, compare
from markov_lrsao.exact.rationals import rational

numbers = st.fractions(-3, 3, max_denominator=4)


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    low, high = sorted((draw(numbers), draw(numbers)))
    if low == high:
        return Interval.point(rational(low))
    return Interval(rational(low), rational(high), draw(st.booleans()), draw(st.booleans()))


def members(x: Interval) -> list[fmpq]:
    """Some numbers of an interval: its attained ends, and points close to both ends."""
    if x.low == x.high:
        return [x.low]
    width = x.high - x.low
    inner = [x.low + width * k for k in (fmpq(1, 10**6), fmpq(1, 3), 1 - fmpq(1, 10**6))]
    return [*inner, *([x.low] if x.low_attained else []), *([x.high] if x.high_attained else [])]


def inside(value: fmpq, x: Interval) -> bool:
    return bool(
        (x.low < value or (x.low == value and x.low_attained))
        and (value < x.high or (value == x.high and x.high_attained))
    )


@given(intervals(), intervals())
def test_compare_is_right_where_it_decides(x: Interval, y: Interval) -> None:
    found = {(a > b) - (a < b) for a in members(x) for b in members(y)}
    decided = compare(x, y)
    assert decided == (found.pop() if len(found) == 1 else UNKNOWN)
    mirrored = compare(y, x)
    assert mirrored == (decided if decided == UNKNOWN else -decided)


def test_open_ends_decide() -> None:
    positive = Interval(fmpq(0), fmpq(3), low_attained=False)
    assert positive.sign == 1
    assert Interval(fmpq(0), fmpq(3)).sign == UNKNOWN
    assert Interval(fmpq(-3), fmpq(0), high_attained=False).sign == -1
    assert Interval.point(0).sign == 0
    assert compare(Interval(fmpq(1), fmpq(2)), Interval(fmpq(2), fmpq(3))) == UNKNOWN
    assert compare(Interval(fmpq(1), fmpq(2)), Interval(fmpq(2), fmpq(3), False)) == -1


@given(intervals(), numbers, numbers)
def test_affine_image(x: Interval, factor: Fraction, constant: Fraction) -> None:
    f, c = rational(factor), rational(constant)
    image = x.affine(f, c)
    for value in members(x):
        assert inside(f * value + c, image)
    if f != 0:
        for value in members(image):
            assert inside((value - c) / f, x)


@given(intervals(), intervals())
def test_sum_and_join(x: Interval, y: Interval) -> None:
    total, joined = x + y, x.join(y)
    for a in members(x):
        assert inside(a, joined)
        for b in members(y):
            assert inside(a + b, total)
    assert inside(total.low, total) == (inside(x.low, x) and inside(y.low, y))
    assert x in joined
    assert y in joined
    assert joined.join(x) == joined == y.join(x)
    assert inside(joined.high, joined) == (inside(joined.high, x) or inside(joined.high, y))


def test_text() -> None:
    assert str(Interval(fmpq(0), fmpq(3, 2), False, True)) == "(0, 3/2]"
    assert str(Interval.point(2)) == "2"
