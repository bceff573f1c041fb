"""Orders and explicit bounds, judged on quantities that are known by heart."""

from __future__ import annotations

import pytest
from flint import fmpq

from proofs_check.algebra.orders import Known, judge_bound, judge_excess, judge_order
from proofs_check.claims.expressions import to_sympy

PAIRS = [(n, ell) for n in range(9, 24) for ell in range(2, (n - 5) // 2 + 1)]
SQUARE = Known(
    "n^2/l^2",
    lambda n, ell: fmpq(n * n, ell * ell),
    "n**2/l**2",
    "n**2/l**2",
    "n**2/l**2",
    "n**2/l**2",
    ((to_sympy("n**2/l**2"), (2, None)),),
)
LOGARITHM = Known(
    "n H_l",
    lambda n, ell: n * sum((fmpq(1, k) for k in range(1, ell + 1)), fmpq(0)),
    "n*H(l)",
    "n*H(l)",
    "n*ln(l)",
    "n*(1 + ln(l))",
)


@pytest.mark.parametrize(
    ("known", "claim", "order"),
    [
        (SQUARE, "Theta", "n**2/l**2"),
        (SQUARE, "Theta", "n**2/l**2/1000000"),
        (SQUARE, "Theta", "(n - l)**2/(l + 1)**2"),
        (SQUARE, "Theta", "n**2/l**2 + n/l"),
        (SQUARE, "O", "n**2/l**2 + 1000000000*n*ln(l)"),
        (SQUARE, "O", "n**2"),
        (LOGARITHM, "Theta", "n*ln(l)"),
        (LOGARITHM, "Theta", "n*ln(l) + n"),
        (LOGARITHM, "O", "n*ln(n)"),
        (LOGARITHM, "O", "n*l"),
        (SQUARE, "O", "n**2/l**2 + n*ln(n)"),
    ],
)
def test_orders_that_hold_are_proved(known: Known, claim: str, order: str) -> None:
    outcome = judge_order(known, order, claim, PAIRS)  # type: ignore[arg-type]
    assert outcome.status == "proved", outcome.how
    assert outcome.constant is not None


@pytest.mark.parametrize(
    ("known", "claim", "order"),
    [
        (SQUARE, "O", "n**2/l**3"),
        (SQUARE, "O", "n/l"),
        (SQUARE, "O", "n*ln(n)"),
        (SQUARE, "Theta", "n**2/l**2 + n*ln(l)"),
        (SQUARE, "Theta", "n**2/l"),
        (SQUARE, "Theta", "n**2/(l**2 + l)*ln(n)"),
        (LOGARITHM, "O", "n"),
        (LOGARITHM, "O", "n*ln(l)/ln(n)"),
        (LOGARITHM, "Theta", "n*ln(n)"),
        (LOGARITHM, "Theta", "n*ln(l)*ln(ln(n))"),
        (SQUARE, "O", "n**(3/2)"),
    ],
)
def test_orders_that_fail_are_refuted_along_a_path(known: Known, claim: str, order: str) -> None:
    outcome = judge_order(known, order, claim, PAIRS)  # type: ignore[arg-type]
    assert outcome.status == "refuted", outcome.how
    assert outcome.point["t"] == "oo"


def test_an_order_that_is_not_positive_fails_at_an_instance() -> None:
    outcome = judge_order(SQUARE, "n**2/l**2*(l - 2)", "O", PAIRS)
    assert (outcome.status, outcome.point) == ("refuted", {"n": "9", "l": "2"})
    assert judge_order(SQUARE, "-n", "O", PAIRS).status == "refuted"


def test_an_order_that_the_solver_cannot_read_is_open() -> None:
    assert judge_order(SQUARE, "n**2/l**(3/2)", "O", PAIRS).status == "unknown"


@pytest.mark.parametrize(
    ("known", "relation", "bound", "status"),
    [
        (SQUARE, "<=", "n**2/l**2", "proved"),
        (SQUARE, "<=", "n**2/4", "proved"),
        (SQUARE, ">=", "4", "proved"),
        (SQUARE, "<=", "n**2/l**2 - 1/10**9", "refuted"),
        (SQUARE, ">=", "6", "refuted"),
        (SQUARE, ">=", "n**2/l**2 + l/10**9", "refuted"),
        (LOGARITHM, "<=", "n*(1 + ln(l))", "proved"),
        (LOGARITHM, ">=", "n*ln(l) + n/2", "proved"),
        (LOGARITHM, "<=", "n*(1/2 + ln(l))", "refuted"),
        # true, but beyond the bracket 1/(2l+1) <= e_l: it must stay open rather than be guessed
        (LOGARITHM, ">=", "n*(ln(l) + EulerGamma + 1/(2*l + 4/5))", "unknown"),
    ],
)
def test_explicit_bounds(known: Known, relation: str, bound: str, status: str) -> None:
    outcome = judge_bound(known, relation, bound, PAIRS)  # type: ignore[arg-type]
    assert outcome.status == status, outcome.how
    if status == "refuted":
        if outcome.point.get("t") == "oo":
            return
        n, ell = (int(outcome.point[x]) for x in ("n", "l"))
        assert (n, ell) in PAIRS
        assert str(known.exact(n, ell)) in outcome.how


@pytest.mark.parametrize(
    ("bound", "status"),
    [
        ("n*(1 + ln(l))", "proved"),
        ("n*(1 + ln(l)) - 100", "proved"),
        ("n*H(l) - 7", "proved"),
        ("n*ln(l)/2", "refuted"),
        ("n*ln(l) - ln(n)", "refuted"),
        ("n*ln(n) - n**2/l", "refuted"),  # where it is negative
        # true, by less than the floor n ln l shows
        ("n*H(l) - ln(n)", "unknown"),
    ],
)
def test_up_to_a_constant(bound: str, status: str) -> None:
    assert judge_excess(LOGARITHM, bound).status == status
