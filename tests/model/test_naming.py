"""The grammar of landscapes and algorithms: what is read, and what is refused in one line."""

from __future__ import annotations

from fractions import Fraction

import pytest

from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.rationals import fraction
from markov_lrsao.model.naming import Expression, Key, expression, is_file, read

KEYS = {
    "a": {
        "k": Key("integer"),
        "rate": Key("rational", default="1/n"),
        "list": Key("list", optional=True),
        "how": Key("word", words=("one", "two"), default="one"),
    },
    "bare": {},
}


def test_values_follow_their_keys() -> None:
    name, values = read("a:k=3,list=1+n/2+4,how=two", KEYS, "algorithm")
    rate = values["rate"]
    assert isinstance(rate, Expression)
    assert (name, values["k"], values["list"], values["how"]) == ("a", 3, ("1", "n/2", "4"), "two")
    assert fraction(rate(n=7)) == Fraction(1, 7)
    assert read(" bare ", KEYS, "landscape") == ("bare", {})


@pytest.mark.parametrize(
    ("text", "n", "value"),
    [
        ("1/(n+1)", 9, Fraction(1, 10)),
        ("0.1", 5, Fraction(1, 10)),
        ("-n**2/3 + 2*n", 6, Fraction(0)),
        ("(n - 1)**-1", 3, Fraction(1, 2)),
        ("1e-3*n", 2, Fraction(1, 500)),
    ],
)
def test_expressions_are_exact(text: str, n: int, value: Fraction) -> None:
    assert fraction(expression(text, "x")(n=n)) == value


@pytest.mark.parametrize(
    "text",
    ["m", "n.real", "f(n)", "n if n else 1", "'1'", "1/0", "True", "", "n//2", "(", "n < 3", "1j"],
)
def test_other_expressions_are_refused(text: str) -> None:
    with pytest.raises(ParameterError, match=r"^x = ") as caught:
        expression(text, "x")
    assert "\n" not in str(caught.value)


def test_long_expressions_are_refused() -> None:
    with pytest.raises(ParameterError, match="more than 200 characters"):
        expression("1+" * 100_000 + "1", "x")


def test_what_fails_at_one_n_only() -> None:
    with pytest.raises(ParameterError, match="zero denominator at n = 3"):
        expression("1/(n-3)", "x")(n=3)
    with pytest.raises(ParameterError, match="exponent"):
        expression("2**(n/2)", "x")(n=3)
    with pytest.raises(ParameterError, match="exponent"):
        expression("n**n**n", "x")(n=1001)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("b", "is not known: choose a, bare"),
        ("a", "'k' is missing; the keys of a are k, rate, list, how"),
        ("a:k=1,k=2", "'k' is given twice"),
        ("a:k=1,m=2", "'m' is not one of its keys; the keys of a are"),
        ("a:k=", "'k' has no value"),
        ("a:k=1.5", "'1.5' is not an integer"),
        ("a:k=1,how=three", "is not one of one, two"),
        ("bare:k=1", "bare has no keys"),
        ("a:", "is not one of its keys"),
    ],
)
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        read(text, KEYS, "algorithm")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "file"),
    [("x.json", True), ("x.toml", True), ("d/x", True), ("jump", False), ("ea:rate=1/n", False)],
)
def test_files(text: str, file: bool) -> None:
    assert is_file(text) is file
