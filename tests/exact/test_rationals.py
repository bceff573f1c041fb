from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpz
from hypothesis import given
from hypothesis import strategies as st
from oracles import harmonic

from markov_lrsao.errors import ExactnessError, LrsaoError, ParameterError
from markov_lrsao.exact.rationals import (
    decimal_text,
    fraction,
    harmonic_difference,
    rational,
    rational_text,
    shorten,
    to_float,
)

fractions = st.fractions(max_denominator=10**40) | st.builds(
    lambda x, k: x * Fraction(10) ** k, st.fractions(), st.integers(-300, 300)
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, Fraction(3)),
        (-3, Fraction(-3)),
        (0, Fraction(0)),
        (10**50, Fraction(10**50)),
        (Fraction(7, 2), Fraction(7, 2)),
        (fmpq(7, 2), Fraction(7, 2)),
        (fmpz(7), Fraction(7)),
        (np.int64(-4), Fraction(-4)),
        (np.uint8(4), Fraction(4)),
        ("4/5", Fraction(4, 5)),
        ("0.8", Fraction(4, 5)),
        (" 8 / 10 ", Fraction(4, 5)),
        ("+4/5", Fraction(4, 5)),
        ("-4/5", Fraction(-4, 5)),
        ("-.5", Fraction(-1, 2)),
        ("5.", Fraction(5)),
        ("1e-3", Fraction(1, 1000)),
        ("2.5E+2", Fraction(250)),
        ("007", Fraction(7)),
        ("-0", Fraction(0)),
        ("0.1" + "0" * 50, Fraction(1, 10)),
    ],
)
def test_exact_inputs(value: object, expected: Fraction) -> None:
    result = rational(value)
    assert isinstance(result, fmpq)
    assert fraction(result) == expected


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.8, '"0.8" or "4/5"'),
        (1.0, '"1.0" or "1"'),
        (np.float64(0.5), '"0.5" or "1/2"'),
        (np.float32(0.8), '"0.8" or "4/5"'),
    ],
)
def test_binary_floats_are_refused(value: object, written: str) -> None:
    """The line says what to write instead, also for numpy's floats."""
    with pytest.raises(ExactnessError, match=rf"alpha = [0-9.]+ is a binary .* write {written}$"):
        rational(value, "alpha")


@pytest.mark.parametrize(
    "value",
    [
        "",
        " ",
        ".",
        "x",
        "1/",
        "/2",
        "1/-2",
        "1/2/3",
        "1.5/2",
        "0x10",
        "1_000",
        "nan",
        "inf",
        float("nan"),
        float("inf"),
        "1e",
        "e5",
        "--1",
        "1 2",
        "½",
        "²",
        "−1",
        None,
        b"1",
        [1],
        1j,
        True,
    ],
)
def test_what_is_not_a_number(value: object) -> None:
    with pytest.raises(ParameterError, match=r"gamma = .* is not a"):
        rational(value, "gamma")


@pytest.mark.parametrize("text", ["1/0", "0/0", "-3/00"])
def test_zero_denominators(text: str) -> None:
    with pytest.raises(ParameterError, match="zero denominator"):
        rational(text)


@pytest.mark.parametrize("text", ["1e10001", "1e-999999999"])
def test_exponents_are_limited(text: str) -> None:
    with pytest.raises(ParameterError, match="exponent"):
        rational(text)


def test_long_numbers_pass_pythons_digit_limit() -> None:
    assert rational_text(rational("1" * 5000 + "/7")) == "1" * 5000 + "/7"
    assert rational_text(rational("0." + "3" * 5000))[-4:] == "0000"


@pytest.mark.parametrize("text", ["٣", "1/٣", "1e" + "9" * 5000])
def test_odd_text_is_refused_like_other_text(text: str) -> None:
    with pytest.raises(LrsaoError):
        rational(text)


@given(fractions)
def test_round_trips(x: Fraction) -> None:
    assert fraction(rational(x)) == x
    assert fraction(rational(rational_text(rational(x)))) == x
    assert Fraction(rational_text(rational(x))) == x


@given(st.decimals(allow_nan=False, allow_infinity=False, places=12))
def test_decimal_text_is_read_exactly(x: Decimal) -> None:
    assert fraction(rational(str(x))) == Fraction(x)


@given(st.fractions(max_denominator=10**30))
def test_nearest_double(x: Fraction) -> None:
    assert to_float(rational(x)) == float(x)


@given(fractions, st.integers(1, 40))
def test_decimal_text_rounds_like_the_decimal_module(x: Fraction, digits: int) -> None:
    context = Context(prec=digits, rounding=ROUND_HALF_EVEN, Emin=-(10**6), Emax=10**6)
    expected = context.divide(Decimal(x.numerator), Decimal(x.denominator))
    text = decimal_text(rational(x), digits)
    assert Decimal(text) == expected
    # The number of digits shown is exactly the number asked for.
    if x != 0:
        mantissa = text.lstrip("-").split("e")[0].replace(".", "").lstrip("0")
        assert len(mantissa) == digits


@pytest.mark.parametrize(
    ("text", "digits", "expected"),
    [
        ("1/8", 2, "0.12"),
        ("3/8", 2, "0.38"),
        ("9.996", 3, "10.0"),
        ("0.99996", 4, "1.000"),
        ("123456", 3, "1.23e+5"),
        ("-2", 3, "-2.00"),
        ("0", 4, "0.000"),
        ("999", 3, "999"),
    ],
)
def test_decimal_text_by_hand(text: str, digits: int, expected: str) -> None:
    assert decimal_text(rational(text), digits) == expected


@given(st.integers(0, 60), st.integers(0, 60))
def test_harmonic_differences(a: int, b: int) -> None:
    low, high = sorted((a, b))
    assert fraction(harmonic_difference(low, high)) == harmonic(high) - harmonic(low)


def test_shorten_keeps_short_text_and_counts_digits() -> None:
    assert shorten("1/3") == "1/3"
    long = "-" + "12" * 50 + "/" + "7" * 30
    assert shorten(long).endswith("(100/30 digits)")
    assert len(shorten(long, 40)) < 75


@pytest.mark.parametrize(
    "text", ["2/3", "-2/3", "1/7", "-1/7", "1234567/1000", "-5/4", "99999/100000"]
)
def test_directed_rounding_is_outwards_for_both_signs(text: str) -> None:
    value = rational(text)
    for digits in (2, 3, 5):
        low, high = (rational(decimal_text(value, digits, towards=side)) for side in (-1, 1))
        assert low <= value <= high
        middle = rational(decimal_text(value, digits))
        assert middle in (low, high)
