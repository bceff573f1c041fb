"""The algebra behind displayed lines: transformations keep values, derivations blame one line.

References are balls of arbitrary precision at rational points, brute force over integers, and
values known by hand; never the code's own transformations.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import pytest
from flint import arb, ctx, fmpq

from markov_lrsao.errors import ParameterError
from proofs_check.algebra.harmonics import based, close_sums, collected, limit_at_infinity
from proofs_check.algebra.lines import Derivation, Line, check_derivation
from proofs_check.algebra.polynomials import constants_between, non_negative, rational_limit
from proofs_check.claims.expressions import evaluate, names_of, relation_of, to_ball, to_sympy
from proofs_check.claims.setting import Setting

QUICK = Setting(second_solver=False)


# -- transformations keep the value ------------------------------------------------------------

VALUES: dict[str, fmpq] = {"n": fmpq(31), "l": fmpq(4), "x": fmpq(1, 3), "t": fmpq(7, 2)}
EXPRESSIONS = [
    "H(n + 3)",
    "H(n - 2)",
    "H(n - l - 1) - H(n - l + 2)",
    "n*H(2*n + 1) + H(2*n - 1)/l",
    "H(n)",
    "ln(n*(n + 1)/(2*l))",
    "ln(n**3/l**2)",
    "ln(1 - x)",
    "ln((1 - x)*(2 - x))",
    "ln(4*n)/n",
    "ln((n - l)**2)",
    "ln(1/(1 - (l + 1)/n))",
    "ln(6*x/5) + x*ln(t)**2",
    "H(5) + ln(7)",
]
SUMS = [
    "summation(1/(n - s), s, 1, l)",
    "summation(1/(n + s), s, 0, l)",
    "summation(3*n/(s + 2), s, 1, 6)",
    "summation(n/l, s, 2, l + 1)",
    "summation(1/s, s, 1, n)",
    "summation(l/(n - s), s, l + 3, n - l - 2)",
    "summation(1/s**2, s, 1, l)",
    "summation(s/n, s, 1, l)",
    "summation(1/(n - 2*s), s, 1, l)",
]


def same(a: Any, b: Any) -> None:
    ctx.prec = 120
    x, y = to_ball(a, VALUES), to_ball(b, VALUES)
    assert (x - y).contains(0), (a, b, x, y)
    assert x.rad() < 1e-25
    assert y.rad() < 1e-25


@pytest.mark.parametrize("text", [*EXPRESSIONS, *SUMS])
def test_transformations_keep_the_value(text: str) -> None:
    expression = to_sympy(text)
    for transform in (based, close_sums, collected):
        same(transform(expression), expression)


def test_harmonic_numbers_of_a_class_get_one_base() -> None:
    import sympy

    for text in ("H(n + 3) + H(n - 2)", "H(n - l - 1) + l*H(n - l + 4)"):
        assert len(based(to_sympy(text)).atoms(sympy.harmonic)) == 1


def test_sums_of_reciprocals_are_closed_and_others_kept() -> None:
    import sympy

    for text in SUMS:
        open_ = any(part in text for part in ("s**2", "s/n", "2*s"))
        assert close_sums(to_sympy(text)).has(sympy.Sum) == open_, text


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("ln(n + 1) - ln(n)", 0.0),
        ("ln(2*n) - ln(n)", math.log(2)),
        ("n/(n + 1)", 1.0),
        ("2*ln(n) - ln(n**2 + n)", 0.0),
        ("(3*n + 1)/(2*n) + ln(5*n + 1) - ln(n + 9)", 1.5 + math.log(5)),
        ("1/n + 2*ln(3*n) - ln(n**2)", math.log(9)),
        ("ln(n) - ln(n**2)", -math.inf),
        ("ln(n)/n", 0.0),
        ("n - ln(n)", math.inf),
        ("n*(ln(n + 1) - ln(n))", 1.0),
    ],
)
def test_limits_at_infinity(text: str, limit: float) -> None:
    found = limit_at_infinity(to_sympy(text), to_sympy("n"))
    assert float(found) == pytest.approx(limit, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("1/n", 0),
        ("(2*n + 1)/(3*n - 7)", fmpq(2, 3)),
        ("(1 - n**2)/n", -math.inf),
        ("n**3/(n + 1)", math.inf),
        ("7", 7),
        ("(n**2 + 1)/(5*n**2)", fmpq(1, 5)),
        ("-n/(2 - 3*n)", fmpq(1, 3)),
        ("(n + 1)/(n - n**2)", 0),
    ],
)
def test_limits_of_rational_functions(text: str, limit: Any) -> None:
    found = rational_limit(to_sympy(text), to_sympy("n"))
    wanted = float(limit.p) / float(limit.q) if isinstance(limit, fmpq) else float(limit)
    assert float(found) == pytest.approx(wanted)


GRID = [(n, ell) for ell in range(2, 9) for n in range(2 * ell + 5, 2 * ell + 12)]
FORMS = [
    "n - 2*l - 5",
    "n - 2*l - 6",
    "n - 3*l",
    "l - 2",
    "l - 3",
    "2 - l",
    "n*l - 18",
    "n*l - 19",
    "(n - 9)/(l + 1)",
    "(n - 9)/(1 - l)",
    "1/(n - 2*l - 4)",
    "0",
    "-1",
    "n**2 - 5*n*l + 4*l**2",
    "1/(l - 2)",
]


@pytest.mark.parametrize("text", FORMS)
def test_one_signed_coefficients_prove_only_what_holds(text: str) -> None:
    """If said to be non-negative it is so on a grid, and the corner (9, 2) alone can refute it."""
    bad = [
        pair
        for pair in GRID
        if (text != "1/(l - 2)" or pair[1] > 2)
        and evaluate(text, {"n": fmpq(pair[0]), "l": fmpq(pair[1])}, {"number": fmpq}) < 0
    ]
    if non_negative(to_sympy(text)):
        assert not bad
    assert non_negative(to_sympy(text)) == (
        text
        in (
            "n - 2*l - 5",
            "l - 2",
            "n*l - 18",
            "(n - 9)/(l + 1)",
            "1/(n - 2*l - 4)",
            "0",
            "1/(l - 2)",
        )
    )


def test_the_range_may_begin_later() -> None:
    assert non_negative(to_sympy("l - 3"), 3)
    assert not non_negative(to_sympy("l - 3"), 2)
    assert not non_negative(to_sympy("n - 12"), 3)
    assert non_negative(to_sympy("n - 11"), 3)


@pytest.mark.parametrize(
    ("value", "order", "low", "high"),
    [
        ("n + l", "n", "1", "3/2"),
        ("n", "n", "1", "1"),
        ("2*n - l", "n", "3/2", "2"),
        ("-n", "n", None, "1/1000000000"),
        ("n*l", "n", "2", None),
        ("n*l", "-n", None, None),
        ("n*l", "n - 20", None, None),
        ("(n + l)/(l + 1)", "n/(l + 1)", "1", "3/2"),
        ("-(n + l)/(-l - 1)", "n/(l + 1)", "1", "3/2"),
    ],
)
def test_constants(value: str, order: str, low: str | None, high: str | None) -> None:
    found = constants_between([(to_sympy(value), (2, None))], to_sympy(order))
    assert [None if c is None else str(c) for c in found] == [low, high]
    for (n, ell), (text, sign) in product(GRID, ((low, 1), (high, -1))):
        if text is not None:
            names = {"n": fmpq(n), "l": fmpq(ell)}
            v, o, c = (evaluate(t, names, {"number": fmpq}) for t in (value, order, text))
            assert sign * (v - c * o) >= 0


def test_constants_hold_for_all_forms_together() -> None:
    general, special = (to_sympy("n + l"), (3, None)), (to_sympy("3*n"), (2, 2))
    low, high = constants_between([general, special], to_sympy("n"))
    assert (str(low), str(high)) == ("1", "3")
    assert [str(c) for c in constants_between([special], to_sympy("n"))] == ["3", "3"]


# -- formulas ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 + 3*4 - 6/4", fmpq(25, 2)),
        ("-2**2", fmpq(-4)),
        ("(n - l - 1)/(1 - 1/10)", fmpq(20, 3)),
        ("n**3", fmpq(729)),
        ("7//2", 3),
        ("2**-1", fmpq(1, 2)),
    ],
)
def test_arithmetic(text: str, value: Any) -> None:
    numbers = {"number": fmpq} if "//" not in text else {}
    assert evaluate(text, {"n": fmpq(9), "l": fmpq(2)}, numbers) == value


def test_comparisons_are_split_in_order() -> None:
    assert evaluate("1 < n <= 3", {"n": 2}) == [("<", 1, 2), ("<=", 2, 3)]
    assert evaluate("n >= 1", {"n": 2}) == [(">=", 2, 1)]
    assert evaluate("n == 1", {"n": 2}) == [("=", 2, 1)]
    assert relation_of("a > b + 1") == ("a", ">", "b + 1")
    assert names_of("H(n) + ln(l)*x") == {"n", "l", "x"}
    with pytest.raises(ParameterError, match="unknown name"):
        evaluate("n + m", {"n": 1})


@pytest.mark.parametrize(
    ("f", "low", "high"),
    [
        ("1/t", "1", "3"),
        ("t**2 - 1/t**2", "1/2", "2"),
        ("1/(t*(t + 1))", "1", "5"),
        ("1/(3 - t)", "1", "2"),
        ("(t - 5/2)/t**2", "2", "3"),
    ],
)
def test_integrals(f: str, low: str, high: str) -> None:
    from scipy.integrate import quad

    limits = [float(to_ball(to_sympy(x), {})) for x in (low, high)]
    wanted, _ = quad(lambda t: float(evaluate(f, {"t": t})), *limits)
    found = to_ball(to_sympy(f"integral({f}, t, {low}, {high})"), {})
    assert float(found) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n**(1/2)", math.sqrt(31)),
        ("ln(n)", math.log(31)),
        ("H(l)", 25 / 12),
        ("EulerGamma", 0.5772156649),
        ("max(n, l)", 31.0),
        ("max(l, n, 2*l)", 31.0),
        ("deriv(n**3, n)", 3 * 31**2),
        ("-n*x", -31 / 3),
        ("n/l - 1/n", 31 / 4 - 1 / 31),
        ("summation(s**2, s, 2, l)", 29.0),
        ("t**-2", 4 / 49),
    ],
)
def test_balls(text: str, value: float) -> None:
    assert float(to_ball(to_sympy(text), VALUES)) == pytest.approx(value)


def test_the_update_in_formulas_is_the_paper_s() -> None:
    values = {
        "q": fmpq(2),
        "g": fmpq(5),
        "M": fmpq(7),
        "alpha": fmpq(4, 5),
        "gamma": fmpq(1, 10),
        "r": fmpq(3),
    }
    ball = to_ball(to_sympy("update(q, g, M)"), values)
    assert (ball - arb(fmpq(1, 5) * 2 + fmpq(4, 5) * (5 + fmpq(7, 10)))).contains(0)


# -- derivations -------------------------------------------------------------------------------


def derivation(*lines: Line, assume: tuple[str, ...] = ("x >= 1",)) -> Derivation:
    return Derivation("made up", "1-2", assume, lines)


def test_right_lines_give_no_erratum() -> None:
    evidence, errata = check_derivation(
        derivation(Line("", "(x + 1)**2"), Line("=", "x**2 + 2*x + 1"), Line(">", "x**2")), QUICK
    )
    assert (evidence.verdict.value, errata) == ("PROVED", ())
    assert evidence.summary == "2 of 2 displayed steps follow"


def test_one_wrong_line_is_blamed_alone() -> None:
    """The line after it follows from the line before it."""
    evidence, errata = check_derivation(
        derivation(Line("", "(x + 1)**2"), Line("=", "x**2 + x + 1"), Line("=", "x*(x + 2) + 1")),
        QUICK,
    )
    assert evidence.verdict.value == "REFUTED"
    assert [e.line for e in errata] == ["made up:1"]
    assert "x**2 + x + 1" in errata[0].printed
    assert errata[0].inherited == ()
    assert "against" in errata[0].reason


def test_a_wrong_value_that_is_carried_on_is_inherited() -> None:
    evidence, errata = check_derivation(
        derivation(Line("", "(x + 1)**2"), Line("=", "x**2 + 3*x + 1"), Line("=", "x*(x + 3) + 1")),
        QUICK,
    )
    assert [e.line for e in errata] == ["made up:1"]
    assert any("x*(x + 3) + 1" in text for text in errata[0].inherited)
    assert evidence.summary == "1 of 2 displayed steps follow, 1 do not"


def test_two_wrong_lines_are_two_errata() -> None:
    _, errata = check_derivation(
        derivation(Line("", "x"), Line(">", "x + 1"), Line(">", "x + 2")), QUICK
    )
    assert [e.line for e in errata] == ["made up:1", "made up:2"]


def test_a_candidate_is_offered_only_if_it_follows() -> None:
    for text, corrected in (
        ("x**2 + 4*x", "(x + 1)**2 <= x**2 + 4*x"),
        ("x + 1", "(no correction found)"),
    ):
        _, errata = check_derivation(
            derivation(Line("", "(x + 1)**2"), Line("<=", "x**2", candidate=("<=", text))), QUICK
        )
        assert errata[0].corrected == corrected


def test_an_undecided_line_is_unknown() -> None:
    evidence, errata = check_derivation(
        derivation(Line("", "EulerGamma"), Line(">", "57721/100000")), QUICK
    )
    assert (evidence.verdict.value, errata) == ("UNKNOWN", ())
    assert "1 undecided" in evidence.summary


@pytest.mark.parametrize(("said", "agreed"), [("agrees", 2), ("unknown", 0)])
def test_what_the_second_solver_says_of_lines_is_counted(
    said: str, agreed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proofs_check.logic.smt._ask_cvc5", lambda text, seconds: said)
    evidence, _ = check_derivation(
        derivation(Line("", "x"), Line("<", "x + 1"), Line("=", "1 + x"), Line("<=", "2*x")),
        Setting(),
    )
    assert evidence.second == f"cvc5 confirms {agreed} of 2 queries"
