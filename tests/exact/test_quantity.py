"""Quantities: arithmetic against Fractions, enclosures that contain the truth, refusals."""

from __future__ import annotations

import math
import operator
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from flint import fmpq
from hypothesis import assume, given
from hypothesis import strategies as st

from markov_lrsao.errors import ExactnessError, LrsaoError, UndecidedComparisonError
from markov_lrsao.exact.balls import Ball
from markov_lrsao.exact.quantity import (
    UNKNOWN,
    Approximate,
    Enclosed,
    Exact,
    Infinite,
    Quantity,
    Simulated,
)
from markov_lrsao.exact.rationals import fraction, rational

OPERATORS: list[Callable[[Any, Any], Any]] = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
]
COMPARISONS: list[Callable[[Any, Any], Any]] = [
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.eq,
    operator.ne,
]
SIMULATED = Simulated(2.0, 0.1, 1.8, 2.2, 100, 0.95)
fractions = st.fractions(-20, 20, max_denominator=50)


def flint(x: Fraction) -> fmpq:
    return fmpq(x.numerator, x.denominator)


@st.composite
def numbers(draw: st.DrawFn) -> tuple[Fraction, Quantity]:
    """A number, and something that is known of it."""
    x = draw(fractions)
    below, above = (draw(st.fractions(0, 3, max_denominator=9)) for _ in range(2))
    case = draw(st.sampled_from(["exact", "enclosed", "unbounded", "float"]))
    if case == "exact":
        return x, Exact(flint(x))
    if case == "enclosed":
        return x, Quantity.enclosed(flint(x - below), flint(x + above))
    if case == "unbounded":
        return x, Enclosed(flint(x - below), None)
    middle = float(x + above)
    return x, Approximate(middle, float(abs(Fraction(middle) - x)) * 1.01)


def contains(q: Quantity, x: Fraction) -> bool:
    upper = q.upper
    return bool(q.lower <= flint(x)) and (upper is None or bool(flint(x) <= upper))


# -- arithmetic ---------------------------------------------------------------------------


@pytest.mark.parametrize("operation", OPERATORS)
@given(x=fractions, y=fractions)
def test_exact_numbers_add_up_like_fractions(
    operation: Callable[[Any, Any], Any], x: Fraction, y: Fraction
) -> None:
    assume(operation is not operator.truediv or y != 0)
    truth = operation(x, y)
    for a, b in ((Exact(flint(x)), Exact(flint(y))), (Exact(flint(x)), y), (x, Exact(flint(y)))):
        found = operation(a, b)
        assert isinstance(found, Exact)
        assert Fraction(found) == truth  # type: ignore[call-overload]
    assert -Exact(flint(x)) == -x


@pytest.mark.parametrize("operation", OPERATORS)
@given(a=numbers(), b=numbers())
def test_results_contain_the_truth(
    operation: Callable[[Any, Any], Any],
    a: tuple[Fraction, Quantity],
    b: tuple[Fraction, Quantity],
) -> None:
    """Whatever is known of two numbers, what is claimed of the result is true."""
    (x, p), (y, q) = a, b
    assume(operation is not operator.truediv or y != 0)
    try:
        found = operation(p, q)
    except (ExactnessError, ZeroDivisionError):
        assume(False)
    assert contains(found, operation(x, y))
    if p.exact and q.exact:
        assert found.exact


def test_enclosures_by_hand() -> None:
    a, b = Enclosed(fmpq(-1), fmpq(2)), Enclosed(fmpq(1, 2), fmpq(4))
    assert a + b == Enclosed(fmpq(-1, 2), fmpq(6))
    assert a - b == Enclosed(fmpq(-5), fmpq(3, 2))
    assert a * b == Enclosed(fmpq(-4), fmpq(8))
    assert b / b == Enclosed(fmpq(1, 8), fmpq(8))
    assert b / Enclosed(fmpq(-2), fmpq(-1)) == Enclosed(fmpq(-4), fmpq(-1, 4))
    assert 1 / Enclosed(fmpq(2), None) == Enclosed(fmpq(0), fmpq(1, 2))
    assert b * UNKNOWN == UNKNOWN
    assert Enclosed(fmpq(3), None) - 1 == Enclosed(fmpq(2), None)
    assert a * 0 == 0


def test_floats_keep_a_bound_of_their_error() -> None:
    found = Approximate(1.5, 0.25) * 2 + Exact(fmpq(1, 3))
    assert isinstance(found, Approximate)
    assert found.error is not None
    assert found.middle == pytest.approx(10 / 3)
    assert 0.5 <= found.error < 0.5 + 1e-12
    assert isinstance(Approximate(1.5, 0.25) * Enclosed(fmpq(1), fmpq(2)), Enclosed)
    assert Approximate(1.5) + 1 == Approximate(2.5)
    assert Approximate(1e308) * 10 == Approximate(math.inf)  # not: known to be infinite


def test_what_is_infinite_stays_so() -> None:
    infinite = Infinite()
    for found in (infinite + UNKNOWN, infinite - 5, 5 + infinite, infinite * 2, infinite / 3):
        assert found == infinite
    assert infinite * infinite == infinite + infinite == infinite


@pytest.mark.parametrize(
    "way",
    [
        lambda: Infinite() - Infinite(),
        lambda: 1 - Infinite(),
        lambda: Infinite() * 0,
        lambda: Infinite() * -1,
        lambda: 1 / Infinite(),
        lambda: Infinite() - UNKNOWN,
        lambda: 1 - UNKNOWN,
        lambda: UNKNOWN * -1,
        lambda: 1 / Enclosed(fmpq(-1), fmpq(1)),
        lambda: 1 / UNKNOWN,
        lambda: SIMULATED + 1,
        lambda: Exact(fmpq(1)) * SIMULATED,
        lambda: SIMULATED.sqrt(),
        lambda: Exact(fmpq(-1)).sqrt(),
        lambda: Exact(fmpq(1)) + 0.5,  # type: ignore[operator]
        lambda: 0.5 * Exact(fmpq(1)),  # type: ignore[operator]
        lambda: Exact(fmpq(1)) < 0.5,  # type: ignore[operator]
        lambda: Approximate(1.0) + Enclosed(fmpq(1), fmpq(2)),
        lambda: Enclosed(fmpq(1), fmpq(2)).value,
        lambda: Infinite().lower,
        lambda: SIMULATED.upper,
        lambda: Approximate(1.0).lower,
        lambda: Enclosed(fmpq(1), fmpq(2)).as_integer_ratio(),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(way: Callable[[], object]) -> None:
    with pytest.raises((ExactnessError, UndecidedComparisonError)) as refused:
        way()
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) > 15


# -- comparison ---------------------------------------------------------------------------


@pytest.mark.parametrize("comparison", COMPARISONS)
@given(a=numbers(), b=numbers())
def test_an_answered_comparison_is_right(
    comparison: Callable[[Any, Any], Any],
    a: tuple[Fraction, Quantity],
    b: tuple[Fraction, Quantity],
) -> None:
    (x, p), (y, q) = a, b
    if not p.exact and p is not q and type(p) is type(q) and repr(p) == repr(q):
        return  # records that say the same are equal
    try:
        found = comparison(p, q)
    except UndecidedComparisonError:
        assert not (p.exact and q.exact)
        return
    assert found == comparison(x, y)


def test_comparisons_by_hand() -> None:
    narrow, wide = Enclosed(fmpq(1), fmpq(2)), Enclosed(fmpq(2), None)
    assert narrow <= wide
    assert narrow < 3
    assert not narrow < 1
    assert narrow < Infinite()
    assert not Infinite() < wide
    assert wide <= Infinite()
    assert Infinite() == Infinite()
    assert Exact(fmpq(1, 2)) == Fraction(1, 2) == Exact(fmpq(1, 2))
    assert Exact(fmpq(3)) == 3
    assert Exact(fmpq(1)) != narrow + 1
    assert narrow == Enclosed(fmpq(1), fmpq(2))
    assert Approximate(1.0, 0.1) < 2
    assert Exact(fmpq(1)) != "1"
    for left, right in (
        (narrow, wide),
        (narrow, 2),
        (wide, Infinite()),
        (narrow, fmpq(3, 2)),
        (Approximate(1.0, 0.1), 1),
    ):
        with pytest.raises(UndecidedComparisonError) as refused:
            operator.lt(left, right)
        assert "\n" not in str(refused.value)
    with pytest.raises(UndecidedComparisonError):
        operator.eq(narrow, fmpq(3, 2))
    with pytest.raises(LrsaoError):
        operator.eq(Exact(fmpq(1)), SIMULATED)


def test_equal_numbers_have_equal_hashes() -> None:
    assert len({Exact(fmpq(1, 2)), Fraction(1, 2), Exact(fmpq(2, 4))}) == 1
    assert len({Infinite(), Infinite(), UNKNOWN, Enclosed(fmpq(0), None)}) == 2
    assert Simulated(2.0, 0.1, 1.8, 2.2, 100, 0.95) == SIMULATED
    assert Simulated(2.0, 0.1, 1.8, 2.2, 101, 0.95) != SIMULATED


# -- one constructor, and what it is turned into --------------------------------------------


def test_the_cases_of_the_constructor() -> None:
    assert isinstance(Quantity.of(fmpq(1, 3)), Exact)
    assert Quantity.of(0.5) == Approximate(0.5)
    assert Quantity.of(math.inf).infinite
    assert Quantity.of(Ball(2.0, 0.5)) == Approximate(2.0, 1.01 * 0.5)
    unsure = Quantity.of(Ball(-1.0, 2.0))
    assert isinstance(unsure, Approximate)
    assert (unsure.middle, unsure.error) == (0.0, 1.01 * 2 + 1)
    assert Quantity.enclosed(fmpq(1), fmpq(1)).exact
    assert not Quantity.enclosed(fmpq(1), fmpq(2)).exact


@given(x=fractions)
def test_exact_numbers_become_fractions_and_floats(x: Fraction) -> None:
    q = Exact(flint(x))
    assert Fraction(q) == x == Fraction(q.rational)  # type: ignore[call-overload]
    assert q.as_integer_ratio() == x.as_integer_ratio()
    assert float(q) == float(x)
    assert fraction(q.value) == x
    with pytest.raises(TypeError):
        Fraction(Enclosed(flint(x), flint(x) + 1))  # type: ignore[call-overload]


@given(x=st.fractions(0, 400, max_denominator=30), slack=st.fractions(0, 1, max_denominator=9))
def test_square_roots_enclose(x: Fraction, slack: Fraction) -> None:
    for q in (Exact(flint(x)), Quantity.enclosed(flint(x), flint(x + slack))):
        root, high = q.sqrt(), q.upper
        assert root.upper is not None
        assert high is not None
        assert 0 <= root.lower**2 <= q.lower
        assert high <= root.upper**2
        tiny = fmpq(1, 10**24)
        assert (root.lower + tiny) ** 2 >= q.lower
        assert root.upper <= tiny or (root.upper - tiny) ** 2 <= high
    assert (Exact(flint(x)) * Exact(flint(x))).sqrt() == x
    floating = Approximate(float(x), 0.5).sqrt()
    assert isinstance(floating, Approximate)
    assert floating.error is not None
    assert abs(floating.middle - math.sqrt(x + Fraction(1, 2))) <= floating.error * 1.0000001
    assert Infinite().sqrt() == Infinite()
    assert UNKNOWN.sqrt() == UNKNOWN


def test_tables_say_unknown_where_no_upper_end_is_known() -> None:
    assert UNKNOWN.cells == ("unknown", "-")
    assert Enclosed(fmpq(1), fmpq(2)).cells[0] == "1.5 (about)"
    assert Enclosed(fmpq(1), fmpq(21, 10)).cells[0] == "wide"  # 1.55 would say more than is known
    assert Enclosed(fmpq(0), fmpq(3)).cells[0] == "wide"
    assert Enclosed(fmpq(1, 2), None).cells == ("unknown", "at least 0.50000000000000000000")


@pytest.mark.parametrize("middle", [2.4999, -2.4999, 1 / 3, 1e-30, 7e40, 123456.789, 0.0])
@pytest.mark.parametrize("relative", [1e-16, 3e-9, 0.17, 0.9, 1.0, 30.0])
def test_the_error_is_that_of_the_decimal(middle: float, relative: float) -> None:
    """Whoever reads `decimal` and `error` is told the truth, whatever was rounded off."""
    error = relative * (abs(middle) or 1.0)
    data = Approximate(middle, error).to_dict()
    shown, off, lower, upper = (
        rational(data[name]) for name in ("decimal", "error", "lower", "upper")
    )
    for end in (-1, 1):
        truth = fmpq(*middle.as_integer_ratio()) + end * fmpq(*error.as_integer_ratio())
        assert abs(shown - truth) <= off
        assert lower <= truth <= upper


def test_json_and_text() -> None:
    texts = {
        Exact(fmpq(4, 3)): ("4/3", {"rational": "4/3", "decimal": "1.3333333333333333333"}),
        Enclosed(fmpq(1, 3), None): (
            "[0.33333333333333333333, inf]",
            {"lower": "0.33333333333333333333", "upper": "inf", "exact": False},
        ),
        Approximate(1.25, 0.001): (
            "1.25 (float, within 0.0011)",
            {
                **{"rational": None, "decimal": "1.25", "exact": False, "error": "0.00101"},
                **{"lower": "1.2489999999999999999", "upper": "1.2510000000000000001"},
                "certified": True,
            },
        ),
        Approximate(1.25): (
            "1.25 (float)",
            {"rational": None, "decimal": "1.25", "exact": False, "certified": False},
        ),
        Infinite(): (
            "infinite",
            {"rational": None, "decimal": "inf", "infinite": True, "exact": True},
        ),
        SIMULATED: (
            "2 (95%: 1.8 to 2.2, 100 runs)",
            {"value": 2.0, "standard_error": 0.1, "low": 1.8, "high": 2.2},
        ),
    }
    for q, (text, data) in texts.items():
        assert str(q) == text
        assert q.to_dict() == data
        assert pickle.loads(pickle.dumps(q)) == q
        assert all(q.cells)


def test_a_quantity_is_taken_apart_by_its_case() -> None:
    def case(q: Quantity) -> str:
        match q:
            case Exact(value):
                return f"exactly {value}"
            case Enclosed(lower, None):
                return f"at least {lower}"
            case Enclosed(lower, upper):
                return f"{lower}..{upper}"
            case Approximate(middle, _):
                return f"about {middle}"
            case Infinite():
                return "infinite"
        return "simulated"

    found = [Exact(fmpq(1)), UNKNOWN, Enclosed(fmpq(1), fmpq(2)), Approximate(0.5), Infinite()]
    assert [case(q) for q in (*found, SIMULATED)] == [
        "exactly 1",
        "at least 0",
        "1..2",
        "about 0.5",
        "infinite",
        "simulated",
    ]
    with pytest.raises(AttributeError):
        found[0].value = fmpq(2)  # type: ignore[misc]


@pytest.mark.parametrize("middle", [2.0, 3.0, 1e-30, 7e200, 0.0])
@pytest.mark.parametrize("error", [0.0, 1e-300, 1e-3])
def test_the_root_of_a_float_counts_its_own_rounding(middle: float, error: float) -> None:
    """The square root of 2 is no float, however exactly the 2 is known."""
    number = Approximate(middle, error)
    root = number.sqrt()
    assert isinstance(root, Approximate)
    assert root.upper**2 >= number.upper
    assert root.lower <= 0 or root.lower**2 <= max(number.lower, fmpq(0))


@pytest.mark.parametrize("sign", [operator.add, operator.mul, operator.truediv, operator.sub])
@pytest.mark.parametrize("other", [Infinite(), Exact(fmpq(2))])
def test_estimates_take_no_part_in_arithmetic(sign: Any, other: Quantity) -> None:
    for pair in ((other, SIMULATED), (SIMULATED, other)):
        with pytest.raises(LrsaoError, match="estimate"):
            sign(*pair)
