"""Digits are shown where both ends round to them, and nowhere else."""

from __future__ import annotations

import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from markov_lrsao.errors import ParameterError, VerificationError
from markov_lrsao.exact.digits import Digits, check_digits, ends, precision, refined, with_digits
from markov_lrsao.exact.quantity import Approximate, Enclosed, Exact, Infinite
from markov_lrsao.exact.rationals import decimal_text, rational

fractions = st.builds(fmpq, st.integers(-(10**30), 10**30), st.integers(1, 10**20))


@given(fractions, fractions, st.integers(1, 40), st.integers(0, 60))
def test_what_is_shown_holds_for_all_numbers_between_the_ends(
    middle: fmpq, width: fmpq, digits: int, scale: int
) -> None:
    radius = abs(width) / fmpq(10) ** scale
    number = Digits(middle - radius, middle + radius, digits)
    assert number.upper is not None
    low, high = number.ends
    assert rational(low) <= number.lower
    assert number.upper <= rational(high)
    if number.decimal == "-":
        assert not number.certified
        assert number.error is None
        return
    shown = number.certain
    assert number.certified == (shown == digits)
    for truth in (number.lower, middle, middle + radius / 3, number.upper):
        assert decimal_text(truth, shown) == number.decimal
        assert number.error is not None
        assert abs(rational(number.decimal) - truth) <= rational(number.error)
    if not number.certified:
        assert decimal_text(number.lower, digits) != decimal_text(number.upper, digits)


@pytest.mark.parametrize(
    ("low", "high", "digits", "certified"),
    [
        ("0.1234", "0.1234", 4, True),
        ("0.12344", "0.12346", 4, False),  # the rounding changes in between
        ("0.12341", "0.12344", 4, True),
        ("9.9994", "9.9996", 4, False),  # 9.999 or 10.00
        ("-1e-9", "1e-9", 1, False),  # not even the sign is known
        ("0", "0", 5, True),
    ],
)
def test_the_guard_of_the_last_digit(low: str, high: str, digits: int, certified: bool) -> None:
    assert Digits(rational(low), rational(high), digits).certified is certified


def test_a_number_between_two_decimals_is_never_certified() -> None:
    between = fmpq(15, 100)  # 0.1 or 0.2, whatever the precision
    asked = []

    def evaluate() -> list[list[arb]]:
        ball = arb(between)
        asked.append(ball)
        return [[ball]]

    ((found,),) = refined(evaluate, 1, 32)
    assert isinstance(found, Digits)
    assert len(asked) == 4
    assert not found.certified
    assert found.lower < between < (found.upper or 0)
    assert found.to_dict()["certified"] is False


def test_the_precision_is_raised_until_all_digits_are_certain() -> None:
    asked = []

    def evaluate() -> list[list[arb]]:
        big = arb(2) ** 120
        asked.append(1)
        return [[(big + arb(1) / 3) - big]]  # loses 120 bits

    ((found,),) = refined(evaluate, 20, 32)
    assert found.decimal == "0.33333333333333333333"
    assert len(asked) > 1


def test_the_precision_is_raised_where_a_ball_has_no_digits_at_all() -> None:
    def evaluate() -> list[list[arb]]:
        big = arb(2) ** 180
        return [[1 / ((big + arb(1) / 3) - big)]]  # at first it divides by a ball around 0

    ((found,),) = refined(evaluate, 20, 32)
    assert found.decimal == "3.0000000000000000000"
    with pytest.raises(VerificationError, match="lost all of its digits"):
        refined(lambda: [[1 / (arb(1) / 3 - arb(1) / 3)]], 20, 32)


@pytest.mark.parametrize("bits", [2, 53, 300])
def test_ends_of_balls_are_exact(bits: int) -> None:
    with precision(bits):
        low, high = ends(arb(1) / 3)
        assert low <= fmpq(1, 3) <= high
        assert high - low <= fmpq(2) ** (1 - bits)
        assert ends(arb(5)) == ((5, 5) if bits > 2 else ends(arb(5)))


def test_a_ball_without_information_is_refused() -> None:
    with pytest.raises(VerificationError, match="lost all of its digits"):
        ends(1 / (arb(1) / 3 - arb(1) / 3))


def test_numbers_with_digits_take_part_in_arithmetic() -> None:
    third = Digits(fmpq(333, 1000), fmpq(334, 1000), 3)
    assert third + 1 == Enclosed(fmpq(1333, 1000), fmpq(1334, 1000))
    assert third < 1
    assert third == Digits(fmpq(333, 1000), fmpq(334, 1000), 3)
    assert hash(third) == hash(Digits(fmpq(333, 1000), fmpq(334, 1000), 3))
    other = Digits(fmpq(1), fmpq(2), 3)
    assert third != other


def test_what_has_digits_and_what_has_not() -> None:
    third = with_digits(Exact(fmpq(1, 3)), 5)
    assert isinstance(third, Digits)
    assert (third.decimal, third.rational) == ("0.33333", "1/3")
    assert third.certified
    assert third.to_dict()["error"] == "0.00000334"
    assert with_digits(third, 9) is third
    assert with_digits(Infinite(), 5) == Infinite()
    assert isinstance(with_digits(Approximate(0.5), 5), Approximate)
    unknown = with_digits(Enclosed(fmpq(1), None), 5)
    assert isinstance(unknown, Digits)
    assert not unknown.certified
    assert unknown.cells == ("-", "in [1.000000000, inf]")
    assert unknown.to_dict()["decimal"] is None


@pytest.mark.parametrize("digits", [0, -3, 10_001])
def test_numbers_of_digits_out_of_range(digits: int) -> None:
    with pytest.raises(ParameterError, match=f"digits = {digits} is out of range"):
        check_digits(digits)
