"""Displayed lines: corrections switch an erratum off, falsifications switch one on."""

from __future__ import annotations

import pytest

from proofs_check import Setting, all_statements
from proofs_check.algebra.brackets import compare_sides
from proofs_check.algebra.lines import check_derivation

QUICK = Setting(second_solver=False)
DERIVATIONS = {d.id: d for s in all_statements().values() for d in s.derivations}
WRONG = {
    "Lemma 5 (2) time": "Lemma 5 (2) time:1",
    "Lemma 5 (2) expectation": "Lemma 5 (2) expectation:1",
    "Theorem 7 polynomial": "Theorem 7 polynomial:2",
    "Theorem 11": "Theorem 11:1",
    "Lemma 12 (R used)": "Lemma 12 (R used):2",
    "Lemma 17 by parts": "Lemma 17 by parts:2",
    "Lemma 17 lower substitution": "Lemma 17 lower substitution:1",
}


def test_ids_are_unique() -> None:
    assert len(DERIVATIONS) == sum(len(s.derivations) for s in all_statements().values())


LONG = ("Lemma 17 sign", "Lemma 17 lower sign")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name in LONG else name
        for name in sorted(set(DERIVATIONS))
    ],
)
def test_every_display_is_decided(name: str) -> None:
    evidence, errata = check_derivation(DERIVATIONS[name], QUICK)
    assert evidence.verdict.value != "UNKNOWN", evidence.details
    assert bool(errata) == (name in WRONG)
    if errata:
        assert errata[0].line == WRONG[name]
        assert "no correction" not in errata[0].corrected


CORRECTIONS = [
    (
        "Theorem 7 polynomial",
        {
            "Theorem 7 polynomial:2": (
                "=",
                "(3*(2*n - 1)*(2*n - 5) + 4*(2*n - 5) - 6*n*(2*n - 1))/(6*(2*n - 1)*(2*n - 5))",
            ),
            "Theorem 7 polynomial:3": (
                "=",
                "(3*(4*n**2 - 12*n + 5) + 8*n - 20 - 12*n**2 + 6*n)/(6*(2*n - 1)*(2*n - 5))",
            ),
            "Theorem 7 polynomial:4": ("=", "(-22*n - 5)/(6*(2*n - 1)*(2*n - 5))"),
        },
    ),
    ("Lemma 12 (R used)", {"Lemma 12 (R used):2": (">=", "alpha + alpha*gamma*qL")}),
    (
        "Theorem 11",
        {
            "Theorem 11:0": ("", "summation(5*n/(n - s), s, l + 3, n - l - 2) + 2*n/l"),
            "Theorem 11:2": ("<= O", "5*n*ln((n - l - 3)/(l + 1)) + 2*n/l"),
        },
    ),
    ("Lemma 5 (2) time", {"Lemma 5 (2) time:0": ("", "n*(H(n - k) - H(n - (b + 1)))")}),
    (
        "Lemma 17 by parts",
        {
            "Lemma 17 by parts:2": (
                "=",
                "-(k - (2*k + 1)/2)*(1/k - 1/(k + 1))"
                " + integral((t - (2*k + 1)/2)/t**2, t, k, k + 1)",
            )
        },
    ),
]


@pytest.mark.parametrize(("name", "lines"), CORRECTIONS)
def test_a_corrected_line_switches_its_erratum_off(
    name: str, lines: dict[str, tuple[str, str]]
) -> None:
    evidence, errata = check_derivation(DERIVATIONS[name], QUICK.mutate(lines=lines))
    assert not errata
    assert evidence.verdict.value == "PROVED"


def test_inherited_lines_carry_the_right_polynomial() -> None:
    _, errata = check_derivation(DERIVATIONS["Theorem 7 polynomial"], QUICK)
    assert any("-28*n + 10" in text and "22*n + 5" in text for text in errata[0].inherited)


FALSIFIED = [
    ("Lemma 2:4", "=", "(n - l)/(1 - gamma)"),
    ("Lemma 3:3", "=", "(1 - alpha*(1 - gamma))*q + gamma"),
    ("Lemma 5 (1):2", ">=", "(1 - alpha*(1 - gamma))*q + alpha"),
    ("Lemma 6 (J):2", "=", "-alpha*r/2"),
    ("(A) up:1", "=", "2*n/(2*n - 1)"),
    ("(A) sum:2", "=", "4/3 + 2/(3*(2*n - 1)) + n*(H(n) - H(n - l - 1)) - 5/3"),
    ("Theorem 7 expansion:2", "=", "n*ln(1/(1 - (l + 1)/n)) + 1 - 1/(2*(1 - (l + 1)/n))"),
    ("Theorem 7 harmonic:1", "<=", "2/(3*(2*n - 1)) + n*(ln(n) - ln(n - l - 1) - 1/(n - l - 1))"),
    ("Theorem 7 chord:1", "<=", "x*ln(2)"),
    ("Theorem 7 f':1", "=", "1/(1 + x)"),
    ("Lemma 8 (R):3", "=", "(1 - alpha*(1 + gamma))*(n - l - 1)/(1 - gamma) - alpha*r"),
    ("Lemma 8 (J+):2", ">=", "2*alpha*gamma*M"),
    ("Lemma 10:2", "<", "-1"),
    ("Lemma 12 (up):2", ">=", "(1 - alpha)*q + alpha + alpha**2*gamma*r"),
    ("Lemma 14 (second):3", "<", "-2*alpha*r"),
    ("After Lemma 14:2", "<", "-alpha*r*(1 + alpha)"),
    ("P(E) end:1", ">=", "1/(3*2)"),
    ("tau end:1", ">=", "n/l + n*(n - l)/l**2"),
    ("(B):1", "=", "n*H(l - 1)"),
    ("Theorem 16:1", "<= O", "n/l"),
    ("Lemma 17 difference:1", "=", "ln((k + 1)/k) - 1/k"),
    (
        "Lemma 17 f':5",
        "=",
        "1/(t*(t + 1)**2*(t + 1/2)**2*(t + 3/2))"
        "*(t**3 + 2*t**2 + t - (t**3 + 5/2*t**2 + 3/2*t + 3/8))",
    ),
    ("Lemma 17 upper:1", "<=", "1/(4*k*(k + 1))"),
    ("Lemma 17 lower:1", ">=", "1/2*(1/k - 1/(k + 1))"),
    ("Lemma 17 brackets:2", "<=", "1/(2*n + 1)"),
]


@pytest.mark.parametrize(("line", "relation", "text"), FALSIFIED)
def test_a_falsified_line_switches_an_erratum_on(line: str, relation: str, text: str) -> None:
    name = line.rsplit(":", 1)[0]
    _, errata = check_derivation(DERIVATIONS[name], QUICK.mutate(lines={line: (relation, text)}))
    assert any(e.line == line for e in errata), [e.line for e in errata]


@pytest.mark.parametrize(
    ("left", "relation", "right", "status"),
    [
        ("H(n + 1)", "=", "H(n) + 1/(n + 1)", "proved"),
        ("H(n + 1)", "=", "H(n) + 1/n", "refuted"),
        ("ln(n*(n + 1))", "=", "ln(n) + ln(n + 1)", "proved"),
        ("n*l", "<=", "n*n", "proved"),
        ("n", "<=", "2*l + 5", "refuted"),
        ("H(n) - ln(n)", "<=", "EulerGamma", "refuted"),
    ],
)
def test_single_comparisons(left: str, relation: str, right: str, status: str) -> None:
    pairs = QUICK.pairs(20)
    assert (
        compare_sides(left, relation, right, ("l >= 2", "n >= 2*l + 5"), pairs=pairs).status
        == status
    )
