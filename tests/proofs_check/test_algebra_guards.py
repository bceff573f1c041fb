"""The algebra behind displayed lines: wrong brackets, sides and obligations are refused.

References are balls of arbitrary precision at rational points, brute force over integers, and
values known by hand; never the code's own transformations.
"""

from __future__ import annotations

import math
from typing import Any

import pytest
from flint import arb, ctx, fmpq

from proofs_check.algebra import brackets as algebra
from proofs_check.algebra.brackets import compare_sides
from proofs_check.claims.expressions import evaluate, relation_of, to_sympy
from proofs_check.claims.setting import Setting
from proofs_check.logic.smt import Prover

RANGE = ("l >= 2", "n >= 2*l + 5")
QUICK = Setting(second_solver=False)
PAIRS = QUICK.pairs(20)


# -- verdicts on single steps ------------------------------------------------------------------

STEPS = [
    # rational functions: strictness, direction, equality
    ("x", ">=", "0", ("x >= 0",), "proved"),
    ("x", ">", "0", ("x >= 0",), "refuted"),
    ("x", "<=", "0", ("x >= 0",), "refuted"),
    ("x", "<", "0", ("x < 0",), "proved"),
    ("x", "<=", "y", ("x < y",), "proved"),
    ("x", "<", "y", ("x <= y",), "refuted"),
    ("(x + y)**2", "=", "x**2 + 2*x*y + y**2", (), "proved"),
    ("(x + y)**2", "=", "x**2 + x*y + y**2", (), "refuted"),
    ("1/x", "<", "1/y", ("0 < y", "y < x"), "proved"),
    ("1/x", "<", "1/y", ("y < x",), "refuted"),
    ("x/(x + 1)", ">=", "1/2", ("x >= 1",), "proved"),
    ("x/(x + 1)", ">", "1/2", ("x >= 1",), "refuted"),
    ("-1/x", ">", "0", ("x < 0",), "proved"),
    ("-1/x", "<", "0", ("x < 0",), "refuted"),
    # the brackets of H: 1/(2m+1) <= H(m) - ln m - gamma <= 1/(2m)
    ("H(n) - ln(n) - EulerGamma", "<=", "1/(2*n)", ("n >= 1",), "proved"),
    ("H(n) - ln(n) - EulerGamma", ">=", "1/(2*n + 1)", ("n >= 1",), "proved"),
    ("H(n) - ln(n) - EulerGamma", ">", "0", ("n >= 1",), "proved"),
    ("H(n) - ln(n) - EulerGamma", "<", "1/n", ("n >= 1",), "proved"),
    ("H(n)", "<=", "ln(n) + 11/10", ("n >= 1",), "proved"),
    # 1 - 1/x <= ln x <= x - 1, and ln grows
    ("ln(x)", "<=", "x - 1", ("x > 0",), "proved"),
    ("ln(x)", ">=", "1 - 1/x", ("x > 0",), "proved"),
    ("ln(n)", "<=", "ln(n + l)", RANGE, "proved"),
    ("ln(n + l)", "<", "ln(n)", RANGE, "refuted"),
    # 0.577 < gamma < 0.578
    ("EulerGamma", ">", "577/1000", (), "proved"),
    ("EulerGamma", "<", "578/1000", (), "proved"),
    # identities
    ("H(n + 2)", "=", "H(n - 1) + 1/n + 1/(n + 1) + 1/(n + 2)", ("n >= 1",), "proved"),
    ("H(n + 2)", "=", "H(n - 1) + 1/n + 1/(n + 1)", ("n >= 2",), "refuted"),
    ("ln(n**2/l)", "=", "2*ln(n) - ln(l)", RANGE, "proved"),
    ("ln(n**2/l)", "=", "2*ln(n) + ln(l)", RANGE, "refuted"),
    ("summation(1/(n - s), s, 1, l)", "=", "H(n - 1) - H(n - l - 1)", RANGE, "proved"),
    ("summation(1/(n - s), s, 1, l)", "=", "H(n) - H(n - l - 1)", RANGE, "refuted"),
    # one unknown: concave between two ends, decreasing to a limit
    ("ln(1 + x)", ">=", "x*ln(2)", ("x >= 0", "x <= 1"), "proved"),
    ("ln(1 + x)", "<=", "x*ln(2)", ("x >= 0", "x <= 1"), "refuted"),
    ("1/t", ">", "ln(1 + 1/t)", ("t >= 1",), "proved"),
    ("1/(t + 1)", ">", "ln(1 + 1/t)", ("t >= 1",), "refuted"),
]


@pytest.mark.parametrize(("left", "relation", "right", "assume", "status"), STEPS)
def test_single_steps(
    left: str, relation: str, right: str, assume: tuple[str, ...], status: str
) -> None:
    outcome = compare_sides(left, relation, right, assume, pairs=PAIRS)
    assert outcome.status == status, outcome
    if status == "refuted":
        check_refutation(left, relation, right, assume, dict(outcome.point))


def check_refutation(
    left: str, relation: str, right: str, assume: tuple[str, ...], point: dict[str, str]
) -> None:
    """Evaluate both sides and the assumptions at the point, in floats of the standard library."""
    values = {
        name: float(fmpq(*map(int, text.split("/"))).p) / float(fmpq(*map(int, text.split("/"))).q)
        for name, text in point.items()
    }
    a, b = number(left, values), number(right, values)
    holds = {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "=": math.isclose(a, b)}
    assert not holds[relation], (point, a, b)
    for text in assume:
        x, rel, y = relation_of(text)
        u, v = number(x, values), number(y, values)
        assert {"<": u < v, "<=": u <= v, ">": u > v, ">=": u >= v, "=": u == v}[rel], text


def number(text: str, values: dict[str, float]) -> float:
    """Evaluate a formula in floats, from definitions."""
    if text.startswith("summation"):
        n, ell = int(values["n"]), int(values["l"])
        return sum(1 / (n - s) for s in range(1, ell + 1))

    def harmonic(m: float) -> float:
        assert m == int(m)
        return sum(1 / k for k in range(1, int(m) + 1))

    names = {**values, "EulerGamma": 0.5772156649015329}
    return float(evaluate(text, names, {"H": harmonic, "ln": math.log}))


NOT_PROVED = [
    # true, but with less room than the brackets leave; or false beyond the points tried
    ("EulerGamma", ">", "5772/10000", ()),
    ("EulerGamma", "<", "5773/10000", ()),
    # obligations: H needs m >= 1, ln needs x > 0, a divisor must not vanish
    ("H(t) - ln(t) - EulerGamma", "<=", "1/(2*t)", ("t > 0",)),
    ("H(t - 1) - ln(t)", "<=", "EulerGamma", ("t >= 1",)),
    ("ln(x)", "<=", "x - 1", ("x >= 0",)),
    ("ln(x) - ln(x)*2", ">=", "1 - x", ()),
    ("1/(x - 1)", ">", "0", ("x >= 1",)),
    ("x/(x - 3)", ">=", "1", ("x >= 3",)),
    ("1/(x*x)", ">", "0", ()),
    # holds for n <= 10^6 or so only
    ("n", "<=", "1000000", ("n >= 1",)),
    ("ln(n)", "<=", "20", ("n >= 1",)),
    ("H(n)", "<=", "ln(n) + EulerGamma + 1/(2*n) - 1/(12*n**2) + 1/(120*n**4)", ("n >= 1",)),
]


@pytest.mark.parametrize(("left", "relation", "right", "assume"), NOT_PROVED)
def test_steps_that_must_not_be_proved(
    left: str, relation: str, right: str, assume: tuple[str, ...]
) -> None:
    assert compare_sides(left, relation, right, assume, seconds=3).status != "proved"


def test_a_step_that_fails_between_the_integers_is_not_refuted() -> None:
    outcome = compare_sides("(n - 9)*(n - 10)", ">=", "0", ("n >= 9",), pairs=PAIRS)
    assert outcome.status == "proved"
    assert "integers" in outcome.how
    assert compare_sides("(x - 9)*(x - 10)", ">=", "0", ("x >= 9",)).status == "refuted"


def test_a_step_that_fails_at_one_far_integer_is_refuted_there() -> None:
    outcome = compare_sides("(n - 1000)**2", ">", "0", ("n >= 9",), pairs=PAIRS)
    assert outcome.status == "refuted"
    assert outcome.point["n"] == "1000"


ORDERS = [
    ("n + 5*l", "= O", "0", "n", "proved"),
    ("n*n", "= O", "0", "n", "refuted"),
    ("-n*n", "<= O", "0", "n", "proved"),
    ("-n*n", "= O", "0", "n", "refuted"),
    ("-n*n", "= o", "0", "n", "refuted"),
    ("n", "= o", "0", "n", "refuted"),
    ("1", "= o", "0", "n", "proved"),
    ("n*l", "<= O", "0", "n", "refuted"),
    ("H(n)", "= O", "ln(n)", "1", "proved"),
    ("H(n)", "= O", "0", "1", "refuted"),
    ("H(n)", "= o", "ln(n) + EulerGamma", "1/n", "refuted"),
    ("H(n)", "= o", "ln(n) + EulerGamma + 1/(2*n)", "1/n", "proved"),
    ("H(n)", "= O", "ln(n) + EulerGamma + 1/(2*n)", "1/n**2", "proved"),
    ("H(n)", "= o", "ln(n) + EulerGamma + 1/(2*n)", "1/n**2", "refuted"),
]


@pytest.mark.parametrize(("left", "relation", "right", "order", "status"), ORDERS)
def test_orders(left: str, relation: str, right: str, order: str, status: str) -> None:
    outcome = compare_sides(left, relation, right, RANGE, order=order, pairs=PAIRS)
    assert outcome.status == status, outcome


# -- brackets and obligations, one by one ------------------------------------------------------


def holds(formula: Any, values: dict[str, fmpq]) -> bool:
    """Substitute rationals into a solver formula and read off its truth."""
    import z3

    pairs = [(z3.Real(k), z3.RealVal(f"{v.p}/{v.q}")) for k, v in values.items()]
    return bool(z3.is_true(z3.simplify(z3.substitute(formula, *pairs))))


def error_of_harmonic(m: fmpq) -> tuple[fmpq, fmpq]:
    """Return rationals just below and above H(m) - ln m - gamma."""
    ctx.prec = 200
    ball = (arb(m) + 1).digamma() - arb(m).log()
    scale = 10**25
    whole = (ball * scale).floor().unique_fmpz()
    assert whole is not None
    return fmpq(int(whole), scale), fmpq(int(whole) + 1, scale)


@pytest.mark.parametrize("m", [fmpq(1), fmpq(3, 2), fmpq(7), fmpq(1000), fmpq(10**6, 7)])
def test_the_bracket_holds_the_true_error_and_refuses_others(m: fmpq) -> None:
    prover = Prover()
    found = algebra._with_brackets(to_sympy("H(n)"), to_sympy("0"), ("n >= 1",), prover)
    assert found is not None
    brackets = [b for b in found[2] if "e0" in str(b)]
    assert brackets
    low, high = error_of_harmonic(m)
    for e in (low, high):
        assert all(holds(b, {"n": m, "e0": e}) for b in brackets)
    for e in (1 / (2 * m) + fmpq(1, 10**30), 1 / (2 * m + 1) - fmpq(1, 10**30), fmpq(0), -low):
        assert not all(holds(b, {"n": m, "e0": e}) for b in brackets), e


@pytest.mark.parametrize("x", [fmpq(1, 100), fmpq(1, 2), fmpq(1), fmpq(2), fmpq(50)])
def test_the_bracket_of_a_logarithm(x: fmpq) -> None:
    prover = Prover()
    found = algebra._with_brackets(to_sympy("ln(x)*x"), to_sympy("0"), ("x > 0",), prover)
    assert found is not None
    brackets = found[2]
    true = fmpq(int(math.log(float(x.p) / float(x.q)) * 10**9), 10**9) if x != 1 else fmpq(0)
    assert all(holds(b, {"x": x, "log0": true}) for b in brackets)
    for wrong in (x - 1 + fmpq(1, 10**9), 1 - 1 / x - fmpq(1, 10**9)):
        assert not all(holds(b, {"x": x, "log0": wrong}) for b in brackets), wrong


@pytest.mark.parametrize(
    ("text", "enough", "short"),
    [
        ("H(t)", "t >= 1", "t >= 9/10"),
        ("H(t - 1)", "t >= 2", "t >= 1"),
        ("ln(t)*t", "t > 0", "t >= 0"),
        ("ln(t - 3)*t", "t > 3", "t >= 3"),
        ("summation(1/(t - s), s, 1, 2)", "t >= 4", "t >= 3"),
    ],
)
def test_duties_of_brackets(text: str, enough: str, short: str) -> None:
    """What a bracket needs must follow from the assumptions."""
    prover = Prover()
    assert algebra._with_brackets(to_sympy(text), to_sympy("0"), (enough,), prover) is not None
    assert algebra._with_brackets(to_sympy(text), to_sympy("0"), (short,), prover) is None


def test_logarithms_are_ordered_only_where_their_arguments_are() -> None:
    prover = Prover()
    for assume, many in (
        (("x > 0", "y >= x"), 1),
        (("x > 0", "y > 0"), 0),
        (("x > 0", "y > 0", "x >= y"), 1),
    ):
        found = algebra._with_brackets(to_sympy("ln(x) - 2*ln(y)"), to_sympy("0"), assume, prover)
        assert found is not None
        both = [b for b in found[2] if "log0" in str(b) and "log1" in str(b)]
        assert len(both) == many
        small, large = ("x", "y") if "y >= x" in assume else ("y", "x")
        logs = {"x": "log0", "y": "log1"}
        for b in both:
            assert holds(b, {logs[small]: fmpq(1), logs[large]: fmpq(2)})
            assert not holds(b, {logs[small]: fmpq(2), logs[large]: fmpq(1)})


@pytest.mark.parametrize(
    ("text", "relation", "assume", "proved"),
    [
        ("ln(1 + x) - x*ln(2)", ">=", ("x >= 0", "x <= 1"), True),
        ("x*ln(2) - ln(1 + x)", "<=", ("x >= 0", "x <= 1"), True),
        ("x*ln(2) - ln(1 + x)", ">=", ("x >= 0", "x <= 1"), False),  # convex
        ("ln(1 + x) - x*ln(2)", ">", ("x >= 0", "x <= 1"), False),  # 0 at the ends
        ("ln(1 + x) - x*ln(2)", ">=", ("x >= 0", "x <= 2"), False),  # negative at an end
        ("ln(1 + x) - x*ln(2)", ">=", ("x >= -1/2", "x <= 1"), False),  # negative at the other
        ("ln(1 + x) - x*ln(2)", ">=", ("x >= 0",), False),
        ("ln(1 + x) - x*ln(2)", "=", ("x >= 0", "x <= 1"), False),
        ("1/x - ln(1 + 1/x)", ">", ("x >= 1",), True),
        ("1/x - ln(1 + 1/x)", ">=", ("x >= 1",), True),
        ("ln(1 + 1/x) - 1/x", "<", ("x >= 1",), True),
        ("ln(1 + 1/x) - 1/x", ">", ("x >= 1",), False),  # increasing to 0
        ("1/x - ln(1 + 1/x) - 1", ">", ("x >= 1",), False),  # decreasing to -1
        ("1/x - ln(1 + 1/x)", ">", ("x <= 1",), False),  # not towards infinity
    ],
)
def test_functions_of_one_unknown(
    text: str, relation: str, assume: tuple[str, ...], proved: bool
) -> None:
    outcome = algebra._one_unknown(to_sympy(text), relation, assume, Prover())
    assert (outcome is not None and outcome.status == "proved") == proved


@pytest.mark.parametrize(
    ("assume", "ends"),
    [
        (("x >= 1", "x <= 2"), ("1", "2")),
        (("1 <= x", "2 >= x"), ("1", "2")),
        (("x > 1/3",), ("1/3", "None")),
        (("3 > x",), ("None", "3")),
        (("y >= 1", "x < y"), ("None", "None")),
        (("y <= 3",), ("None", "None")),
        (("0 < x", "x < 7"), ("0", "7")),
    ],
)
def test_ends_of_an_interval(assume: tuple[str, ...], ends: tuple[str, str]) -> None:
    assert tuple(map(str, algebra._ends("x", assume))) == ends


def test_homogeneous_inequalities_need_their_interval() -> None:
    """n ln(n/(n-l-1)) - 2 (l+1) ln 2 <= 0 for (l+1)/n <= 1/2 (Theorem 7's chord), not beyond."""
    difference = to_sympy("n*ln(1/(1 - (l + 1)/n)) - 2*(l + 1)*ln(2)")
    prover = Prover()
    good = algebra._homogeneous(difference, "<=", RANGE, prover)
    assert good is not None
    assert good.status == "proved"
    assert algebra._homogeneous(difference, "<=", ("l >= 2", "n >= l + 3"), prover) is None
    assert algebra._homogeneous(difference, ">=", RANGE, prover) is None
    assert algebra._homogeneous(difference + to_sympy("l"), "<=", RANGE, prover) is None
