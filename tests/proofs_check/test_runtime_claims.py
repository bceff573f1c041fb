"""Statements about runtimes with changed terms: false ones are refuted, weaker ones proved."""

from __future__ import annotations

import pytest

from proofs_check import Setting, StatementResult, Verdict, verify

pytestmark = pytest.mark.slow  # the automata of both plateaus are derived first

QUICK = Setting(second_solver=False)
LOG = "n*ln((n - l - 3)/(l + 1))"


def _changed(name: str, key: str, text: str) -> StatementResult:
    [result] = verify([name], QUICK.mutate(terms={(name, key): text}))
    return result


@pytest.mark.parametrize(
    ("name", "key", "text"),
    [
        ("Theorem 1", "order", "n*ln(n)"),
        ("Theorem 1", "order", "n**2/l**2"),
        ("Theorem 1", "order", "n**2/l**3 + n*ln(n)"),
        ("Theorem 1", "order", "n**2/l**2 + n"),
        ("Theorem 1", "order", "n**2/l + n*ln(n)"),
        ("Theorem 1", "order", "n**2/l**2 + n*ln(n)**2"),
        ("Theorem 16", "order", "n*ln(n)"),
        ("Theorem 16", "order", "n**2/l**2"),
        ("Theorem 16", "order", "n**2/l**2 + n"),
        ("Theorem 16", "order", "n**2/l**3 + n*ln(l)"),
        ("Theorem 16", "order", "n/l + n*ln(l)"),
        ("Theorem 16", "order", "(l - 2)*n**2"),
        ("Lemma 15", "order", "n**2/l**3"),
        ("Lemma 15", "order", "n/l"),
        ("Lemma 15", "order", "n**2/l**2 + n*ln(l)"),
        ("Lemma 15", "order", "n**2/l**2*ln(n)"),
        ("Theorem 11", "bound", f"29/10*{LOG} + 2*n/l"),
        ("Theorem 11", "bound", f"3*{LOG} - n*ln(n)/100"),
        ("Theorem 11", "bound", f"5*{LOG} + 2*n/l - n"),
        ("Theorem 1, explicit", "upper", "n*H(n) + n**2/l**2"),
        ("Theorem 1, explicit", "lower", "2*n*H(n)"),
        ("Theorem 11, explicit", "upper", "3*n*(H(n - l - 3) - H(l + 1)) + 2*n/(l + 1) + 2"),
        ("Theorem 11, explicit", "lower", "3*n*(H(n - l - 3) - H(l + 3))"),
        ("Theorem 16, explicit", "upper", "1/2*n**2/l**2 + n*H(l)"),
        ("Theorem 16, explicit", "upper", "n**2/l**2 + n*H(l) - n"),
        ("Theorem 16, explicit", "lower", "9/20*n**2/l**2 + n*H(l)"),
        ("Lemma 15, explicit", "upper", "7/5*n**2/l**2"),
        ("Lemma 15, explicit", "lower", "9/20*n**2/l**2"),
    ],
)
def test_false_claims_are_refuted_with_a_witness(name: str, key: str, text: str) -> None:
    result = _changed(name, key, text)
    assert result.verdict is Verdict.REFUTED, [e.summary for e in result.evidence]
    assert result.counterexamples
    assert all({"n", "l"} <= set(witness.values) for witness in result.counterexamples)


@pytest.mark.parametrize(
    ("name", "key", "text"),
    [
        ("Theorem 1", "order", "n**2/l**2/1000 + 1000*n*ln(n)"),
        ("Theorem 1", "order", "n**2/l**2 + n*ln(n) + n"),
        ("Theorem 1", "order", "(n/(l + 1))**2 + n*ln(n)"),
        ("Theorem 16", "order", "n**2/l**2 + 1000000000*n*ln(l)"),
        ("Theorem 16", "order", "2*n**2/l**2 + n*ln(l)"),
        ("Theorem 16", "order", "n**2/l**2/1000 + n*ln(l)/1000"),
        ("Theorem 16", "order", "n**2"),
        ("Theorem 16", "order", "n**2/l + n*ln(l)"),
        ("Theorem 16", "order", "n**2/l**2 + n*ln(n)"),
        ("Lemma 15", "order", "1000*n**2/l**2"),
        ("Lemma 15", "order", "(n/(l + 1))**2"),
        ("Lemma 15", "order", "n*(n - l)/(l*(l + 1))"),
        ("Theorem 11", "bound", f"3*{LOG} + 2*n/l"),
        ("Theorem 11", "bound", f"6*{LOG} + 2*n/l"),
        ("Theorem 11", "bound", f"5*{LOG} + 3*n/l - 50"),
        ("Theorem 1, explicit", "upper", "4*n*H(n) + n**2/l**2 + 36"),
        ("Theorem 1, explicit", "upper", "n**2/l**2 + 10*n*ln(n)"),
        ("Theorem 1, explicit", "lower", "n*H(n)"),
        ("Theorem 11, explicit", "upper", "3*n*(H(n - l - 3) - H(l + 1)) + 2*n/(l + 1) + 40"),
        ("Theorem 16, explicit", "upper", "2*n**2/l**2 + n*H(l)"),
        ("Theorem 16, explicit", "upper", "n**2/l**2 + n*ln(l) + n"),
        ("Theorem 16, explicit", "lower", "1/3*n**2/l**2 + n*H(l)"),
        ("Lemma 15, explicit", "upper", "2*n**2/l**2"),
        ("Lemma 15, explicit", "lower", "2*n*(n - l)/(5*l*(l + 1))"),
    ],
)
def test_weaker_claims_are_proved(name: str, key: str, text: str) -> None:
    result = _changed(name, key, text)
    assert result.verdict is not Verdict.REFUTED
    mine = [e for e in result.evidence if text in e.summary and e.kind.proves]
    assert {e.verdict for e in mine} == {Verdict.PROVED}, [e.summary for e in result.evidence]


def test_the_constant_of_theorem_11_is_counted() -> None:
    [result] = verify(["Theorem 11"], QUICK)
    [proof] = [e for e in result.evidence if e.verdict is Verdict.PROVED and e.kind.proves]
    assert any("at most 36 steps" in line for line in proof.details)


def test_a_finite_range_never_verifies_an_order() -> None:
    [result] = verify(["Theorem 11"], QUICK)
    finite = [e for e in result.evidence if not e.kind.proves and e.kind.value != "lines"]
    assert {e.verdict for e in finite} == {Verdict.SUPPORTED}
