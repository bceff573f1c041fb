"""Formulas as MathML say what their texts say: they are read back and evaluated."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any
from xml.etree import ElementTree

import pytest

from markov_lrsao.report.mathematics import EULER, displayed, formula

NAMES: dict[str, Any] = {
    "n": 7,
    "l": 2,
    "k": 3,
    "b": 4,
    "alpha": Fraction(3, 4),
    "gamma": Fraction(1, 5),
    "q": 2,
}
LETTERS = {"α": "alpha", "γ": "gamma"}


def harmonic(x: Any) -> Fraction:
    return sum((Fraction(1, m) for m in range(1, int(x) + 1)), Fraction(0))


def value_of(element: ElementTree.Element, names: dict[str, Any]) -> Any:
    """Evaluate MathML by its own rules: rows are sums of products, left to right."""
    tag, parts = element.tag, list(element)
    if tag == "mn":
        return Fraction(element.text or "0")
    if tag == "mi":
        return names[LETTERS.get(element.text or "", element.text or "")]
    if tag == "mfrac":
        return Fraction(value_of(parts[0], names)) / value_of(parts[1], names)
    if tag == "msup":
        return value_of(parts[0], names) ** int(value_of(parts[1], names))
    if tag == "msub":
        assert parts[0].text == "H"
        return harmonic(value_of(parts[1], names))
    assert tag in ("mrow", "math"), tag
    return row_value(parts, names)


def row_value(parts: list[ElementTree.Element], names: dict[str, Any]) -> Any:
    total, product, sign, empty = Fraction(0), Fraction(1), 1, True
    at = 0
    while at < len(parts):
        part = parts[at]
        if part.tag == "mo" and part.text in ("+", "−"):
            total, product = total + (0 if empty else sign * product), Fraction(1)
            sign, empty = (
                (1 if part.text == "+" else -1) * (1 if not empty or at == 0 else sign),
                True,
            )
        elif part.tag == "mo" and part.text == "(":
            assert parts[-1].text == ")"
            return row_value(parts[at + 1 : -1], names)
        elif part.tag == "munderover":
            body = parts[at + 1 :]
            index, _, low = list(part[1])
            first, last = value_of(low, names), value_of(part[2], names)
            product *= sum(
                (
                    row_value(body, names | {index.text or "": m})
                    for m in range(int(first), int(last) + 1)
                ),
                Fraction(0),
            )
            empty = False
            break
        elif part.tag != "mo":
            product, empty = product * value_of(part, names), False
        at += 1
    return total + sign * product


def read(text: str) -> Any:
    found = formula(text)
    assert found is not None, text
    return value_of(ElementTree.fromstring(str(found)), NAMES)


@pytest.mark.parametrize(
    "text",
    [
        "n - (l - k)",
        "n*(l + k)/(b - 1) - 2",
        "(n + 1)**2*(l - 3)",
        "-(n - l)**2",
        "1/(n*(l + 1)) + alpha*(1 - gamma)",
        "n*(H(n - k) - H(n - (b + 1)))",
        "(1 - alpha)*q + alpha + alpha*gamma*q",
        "(3*(2*n - 2)*(2*n - 5) + 4*(2*n - 5) - 6*n*(2*n - 1))/(6*(2*n - 1)*(2*n - 5))",
        "(k + 1 - (2*k + 1)/2)*(1/(k + 1) - 1/k)",
    ],
)
def test_a_formula_has_the_value_of_its_text(text: str) -> None:
    exact = eval(text.replace("/", "/F*1/"), {**NAMES, "H": harmonic, "F": Fraction(1)})
    assert read(text) == exact


@pytest.mark.parametrize("seed", range(60))
def test_random_formulas_have_the_value_of_their_text(seed: int) -> None:
    draw = random.Random(seed)

    def text(depth: int) -> str:
        if depth == 0:
            return draw.choice(["n", "l", "k", "alpha", "gamma", "3", "1"])
        sign = draw.choice(["+", "-", "*", "/", "**"])
        if sign == "**":
            return f"({text(depth - 1)})**2"
        return f"({text(depth - 1)}) {sign} ({text(depth - 1)})"

    plain = text(3)
    try:
        exact = eval(
            plain, {name: Fraction(v) for name, v in NAMES.items()} | {"Fraction": Fraction}
        )
    except ZeroDivisionError:
        return
    assert float(read(plain)) == pytest.approx(float(exact), rel=1e-9)


def test_sums_have_their_bounds() -> None:
    assert read("summation(n/(n - m), m, k, b)") == Fraction(7, 4) + Fraction(7, 3)
    shown = str(displayed("integral((t - 1)/t**2, t, k, k + 1) <= H(k)"))
    assert (
        "<msubsup><mo>∫</mo><mi>k</mi><mrow><mi>k</mi><mo>+</mo><mn>1</mn></mrow></msubsup>"
        in shown
    )
    assert shown.count("≤") == 1


def test_orders_stand_on_the_right() -> None:
    assert str(displayed("n = O 2*n (order 1)")).endswith(
        "<mo>+</mo><mi>O</mi><mo>(</mo><mn>1</mn><mo>)</mo></mrow></math>"
    )


def test_eulers_constant_is_not_the_discount() -> None:
    shown = str(formula("ln(n) + EulerGamma - gamma"))
    assert EULER in shown
    assert shown.count("γ") == 1


@pytest.mark.parametrize(
    "text", ["<b>x</b>", "a; b", "__import__('os')", "x = ", "lambda: 1", "f'{x}'"]
)
def test_what_is_no_formula_is_left_to_others(text: str) -> None:
    assert formula(text) is None
    assert displayed(text) is None


def test_the_test_reads_signs_and_parentheses() -> None:
    """The reader of this file tells a wrong form from a right one."""
    right, wrong = (str(formula(text)) for text in ("n - (l - k)", "n - l - k"))
    values = [value_of(ElementTree.fromstring(shown), NAMES) for shown in (right, wrong)]
    assert values == [8, 2]
    assert math.isclose(float(read("alpha/gamma")), 3.75)
