"""The only door between int, Fraction, text, `fmpq` and float.

Exact quantities are `flint.fmpq` everywhere inside the engine. `fmpq` itself rejects
`fractions.Fraction`, floats and numpy integers, and never equals a `Fraction`, so all
conversions go through this module.

A decimal text is read exactly: ``"0.8"`` is 4/5. A binary float is refused, because
``0.8`` is not 4/5 but 3602879701896397/4503599627370496. Numpy's numbers are treated alike.

>>> rational("0.8"), rational("7/2"), rational(3)
(4/5, 7/2, 3)
>>> rational(0.8, "alpha")
Traceback (most recent call last):
    ...
markov_lrsao.errors.ExactnessError: alpha = 0.8 is a binary float, which is rounded ...
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from math import inf, isfinite, nextafter
from numbers import Integral, Real
from typing import SupportsIndex

from flint import fmpq, fmpz

from markov_lrsao.errors import ExactnessError, ParameterError

__all__ = [
    "RationalLike",
    "decimal_text",
    "fraction",
    "harmonic_difference",
    "integer",
    "next_floats",
    "rational",
    "rational_text",
    "shorten",
    "to_float",
]

RationalLike = SupportsIndex | str | Fraction | Decimal | fmpq
"""What a caller may pass where an exact number is needed; numpy's integers support an index."""

_FRACTION = re.compile(r"\s*([+-]?[0-9]+)\s*/\s*([0-9]+)\s*")
_DECIMAL = re.compile(r"\s*([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?\s*")
_LARGEST_EXPONENT = 10_000  # "1e999999999" must not exhaust the memory


def rational(value: object, name: str = "value") -> fmpq:
    """Return `value` as an exact rational.

    Parameters
    ----------
    value : int, Fraction, Decimal, fmpq, numpy integer, or text such as "4/5", "0.8", "1e-3"
    name : the parameter's name, for the error message

    Raises
    ------
    ExactnessError
        `value` is a binary float.
    ParameterError
        `value` is text that is not a number, or has a zero denominator.
    """
    if isinstance(value, fmpq):
        return value
    if isinstance(value, fmpz):
        return fmpq(value)
    if isinstance(value, bool):
        raise ParameterError(f"{name} = {value!r} is not a number; write 0 or 1")
    if isinstance(value, Integral):
        return fmpq(int(value))
    if isinstance(value, Fraction):
        return fmpq(value.numerator, value.denominator)
    if isinstance(value, Decimal) and value.is_finite():
        return fmpq(*value.as_integer_ratio())
    if isinstance(value, str):
        return _parse(value, name)
    if isinstance(value, Real) and isfinite(value):
        text = str(value)  # the digits that tell it from other floats of its kind
        raise ExactnessError(
            f"{name} = {text} is a binary float, which is rounded, and not an exact number: "
            f'write "{text}" or "{_parse(text, name)}"'
        )
    raise ParameterError(f'{name} = {value!r} is not a number; write e.g. 3, "4/5" or "0.8"')


def integer(value: SupportsIndex, name: str) -> int:
    """Return Python's int of an integer, numpy's included, or raise ParameterError.

    >>> integer(9.0, "n")
    Traceback (most recent call last):
        ...
    markov_lrsao.errors.ParameterError: n = 9.0 is not an integer
    """
    if not isinstance(value, Integral):
        raise ParameterError(f"{name} = {value!r} is not an integer")
    return int(value)


def _parse(text: str, name: str) -> fmpq:
    match = _FRACTION.fullmatch(text)
    if match:
        numerator, denominator = (fmpz(part.lstrip("+")) for part in match.groups())
        if denominator == 0:
            raise ParameterError(f"{name} = {text!r} has a zero denominator")
        return fmpq(numerator, denominator)
    match = _DECIMAL.fullmatch(text)
    if match and (match[2] or match[3]):
        sign, whole, digits = match[1], match[2], match[3] or ""
        written = fmpz((match[4] or "0").lstrip("+"))
        exponent = int(written) if abs(written) <= _LARGEST_EXPONENT else None
        if exponent is None:
            raise ParameterError(
                f"{name} = {text!r} has an exponent beyond {_LARGEST_EXPONENT}; write a smaller one"
            )
        value = fmpq(fmpz(whole + digits)) * fmpq(10) ** (exponent - len(digits))
        return -value if sign == "-" else value
    raise ParameterError(
        f'{name} = {text!r} is not a rational number; write e.g. 3, "4/5" or "0.8"'
    )


def fraction(value: fmpq) -> Fraction:
    """Return `value` as a standard-library Fraction."""
    return Fraction(int(value.p), int(value.q))


def to_float(value: fmpq) -> float:
    """Return the double nearest to `value` (Python's int / int rounds correctly)."""
    return int(value.p) / int(value.q)


def next_floats(value: fmpq) -> tuple[float, float]:
    """Return the floats next to a rational, below and above: both are it, if it is a float.

    >>> next_floats(fmpq(1, 4)), next_floats(fmpq(1, 3))[0] < next_floats(fmpq(1, 3))[1]
    ((0.25, 0.25), True)
    """
    near = to_float(value)
    exact = fmpq(*near.as_integer_ratio())
    low = near if exact <= value else nextafter(near, -inf)
    high = near if exact >= value else nextafter(near, inf)
    return low, high


def rational_text(value: fmpq) -> str:
    """Return "p/q" in lowest terms, or "p" for an integer, of any length.

    FLINT prints integers itself, so Python's limit of 4300 digits does not apply.
    """
    return str(value)


def decimal_text(value: fmpq, digits: int = 20, *, towards: int = 0) -> str:
    """Return `value` correctly rounded (half to even) to `digits` significant digits.

    With `towards` -1 or 1 it is rounded down or up instead: the ends of an enclosure.

    >>> decimal_text(rational("1/3"), 17), decimal_text(rational(1500), 17)
    ('0.33333333333333333', '1500.0000000000000')
    >>> decimal_text(rational("-1/700000000"), 5), decimal_text(rational("1e30"), 5)
    ('-1.4286e-9', '1.0000e+30')
    >>> decimal_text(rational("2/3"), 3, towards=-1), decimal_text(rational("2/3"), 3, towards=1)
    ('0.666', '0.667')
    """
    if value == 0:
        return "0." + "0" * (digits - 1)
    sign, magnitude = ("-" if value < 0 else ""), abs(value)
    # 10^exponent <= magnitude < 10^(exponent+1); the bit lengths give it up to one or two.
    exponent = ((magnitude.p.bit_length() - magnitude.q.bit_length()) * 30103) // 100000 - 1
    ten = fmpq(10)
    while ten ** (exponent + 1) <= magnitude:
        exponent += 1
    while ten**exponent > magnitude:
        exponent -= 1
    scaled = magnitude * ten ** (digits - 1 - exponent)
    rounded, rest = divmod(scaled.p, scaled.q)
    if towards:
        away = rest != 0 and (towards > 0) == (value > 0)
    else:
        away = 2 * rest > scaled.q or (2 * rest == scaled.q and rounded % 2 == 1)
    if away:
        rounded += 1
    text = str(rounded)
    if len(text) > digits:
        text, exponent = text[:digits], exponent + 1
    if -6 <= exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{text}"
    if 0 <= exponent < digits - 1:
        return f"{sign}{text[: exponent + 1]}.{text[exponent + 1 :]}"
    if exponent == digits - 1:
        return sign + text
    mantissa = text[0] + ("." + text[1:] if digits > 1 else "")
    return f"{sign}{mantissa}e{exponent:+d}"


def shorten(text: str, width: int = 60) -> str:
    """Shorten the text of a long fraction for a table, saying how many digits it has.

    >>> shorten("12/7"), shorten("1" * 80 + "/" + "7" * 75, width=40)
    ('12/7', '1111111...1111111/7777777...7777777 (80/75 digits)')
    """
    if len(text) <= width:
        return text
    parts = text.split("/")
    keep = max(3, (width - 10) // (2 * len(parts)))
    short = [p if len(p) <= 2 * keep + 3 else f"{p[:keep]}...{p[-keep:]}" for p in parts]
    digits = "/".join(str(len(p.lstrip("-"))) for p in parts)
    return f"{'/'.join(short)} ({digits} digits)"


def harmonic_difference(a: int, b: int) -> fmpq:
    """Return H_b - H_a = 1/(a+1) + ... + 1/b for 0 <= a <= b, exactly.

    Splitting the sum in halves keeps the operands of each addition equally long, so that
    b - a = 10^4 terms take milliseconds.

    >>> harmonic_difference(0, 4)
    25/12
    """
    if b - a <= 0:
        return fmpq(0)
    if b - a == 1:
        return fmpq(1, b)
    middle = (a + b) // 2
    return harmonic_difference(a, middle) + harmonic_difference(middle, b)
