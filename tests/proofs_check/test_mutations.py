"""Every statement can fail: at least one mutation turns each verdict to REFUTED.

A mutation changes the statement's terms, the landscape, the algorithm or the hypothesis. The
unmutated statement must not be REFUTED by the same checks, except where the paper is wrong; there
the *corrected* statement is the mutation, and must not be refuted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from flint import fmpq

from markov_lrsao.model.algorithm import Algorithm, Reward
from markov_lrsao.model.landscape import ELL, JUMP, JUMP_OPEN, N, P, Piece
from proofs_check import Setting, Verdict, all_statements, verify

pytestmark = pytest.mark.slow  # a minute and more together

QUICK = Setting(second_solver=False)


def _verdict(name: str, **changes: Any) -> Verdict:
    [result] = verify([name], QUICK.mutate(**changes))
    return result.verdict


# A changed term of the statement -------------------------------------------

TERMS = [
    ("Range of l", "remark", "l < n/2 - 5/2"),
    ("(H) not empty", "condition", "gamma < 1/2"),
    ("(H) sufficient", "gamma", "1/2"),
    ("Optimality", "exponent", "2/5"),
    ("Theorem 1", "order", "n*ln(n)"),
    ("Theorem 1", "order", "n**2/l"),
    ("Optimal order", "factor", "2"),
    ("Lemma 2", "bound", "(n - l - 1)/2"),
    ("Lemma 4", "most", "0"),
    ("Lemma 6", "uses", "0"),
    ("Lemma 6", "value", "-r"),
    ("(A)", "formula", "n*(H(n) - H(n - l - 1))"),
    ("Theorem 7", "bound", "2*l*ln(2)"),
    ("Theorem 7", "expansion", "n*ln(1/(1 - (l + 1)/n))"),
    ("Lemma 8", "uses", "0"),
    ("Lemma 9", "order", "1/n"),
    ("(E), k*", "mean", "n/(n - l - 2)"),
    ("Lemma 10", "visits", "3"),
    ("Theorem 11", "bound", "2*n*ln((n - l - 3)/(l + 1)) + 2*n/l"),
    ("Lemma 12", "row 0", "-alpha*r/2"),
    ("Leaving n-l-1", "bound", "l/n"),
    ("Remark 13", "moving", "L,J,R"),
    ("Lemma 14", "J moves", "1"),
    ("After Lemma 14, moves", "times", "1"),
    ("Failing excursions", "bound", "0"),
    ("Failing excursions, one", "bound", "0"),
    ("Failing excursions, two moves", "bound", "3"),
    ("Moves in a walk", "bound", "3"),
    ("Lemma 15", "order", "n**2/l"),
    ("P(E)", "bound", "1/8"),
    ("tau recurrences", "bound", "n**2/l"),
    ("(B)", "bound", "n*H(l - 2)"),
    ("Theorem 16", "order", "n*ln(l)"),
    ("Lemma 17", "lower", "1/(2*n + 1/4)"),
    ("Lemma 17", "upper", "1/(2*n + 1)"),
    ("Lemma 17", "expansion", "ln(n) + EulerGamma"),
    ("Lemma 17, improved", "lower", "1/(2*n + 1/3)"),
    ("Uniform over (H)", "ratio", "1/2"),
]


SLOW_TERMS = {
    ("Lemma 17", "lower"),
    ("Lemma 17", "expansion"),
    ("Theorem 11", "bound"),
    ("Lemma 2", "bound"),
    ("Lemma 6", "value"),
    ("Lemma 6", "uses"),
    ("Theorem 7", "expansion"),
    ("Lemma 12", "row 0"),
    ("Lemma 8", "uses"),
    ("Lemma 4", "most"),
    ("After Lemma 14, moves", "times"),
    ("Theorem 1", "order"),
    ("Failing excursions", "bound"),
    ("Lemma 14", "J moves"),
    ("Lemma 17", "upper"),
}
"""Some five seconds each, a minute together."""


@pytest.mark.parametrize(
    ("name", "key", "text"),
    [
        pytest.param(*term, marks=pytest.mark.slow) if term[:2] in SLOW_TERMS else term
        for term in TERMS
    ],
)
def test_a_changed_term_is_refuted(name: str, key: str, text: str) -> None:
    assert _verdict(name, terms={(name, key): text}) is Verdict.REFUTED


# What the paper has wrong: the corrected statement passes ------------------

CORRECTED = [
    ("Smallest n", {"n": "9"}),
    ("End points", {"R": "n - l - 1"}),
    ("Improvement", {"paths": "n**(1/3);n**(1/2);n**(3/4)"}),
    ("Lemma 5", {"also": "fb1 >= fb"}),
    ("After Lemma 14, choices", {"times": "600"}),
    ("Failing excursions, no way out", {"bound": "3"}),
    ("Failing excursions, one", {"bound": "2"}),
]


@pytest.mark.parametrize(
    ("name", "terms"),
    [
        pytest.param(*item, marks=pytest.mark.slow) if item[0].startswith("Failing") else item
        for item in CORRECTED
    ],
)
def test_the_corrected_statement_is_not_refuted(name: str, terms: dict[str, str]) -> None:
    assert _verdict(name) is Verdict.REFUTED
    changed = {(name, key): text for key, text in terms.items()}
    assert _verdict(name, terms=changed) is not Verdict.REFUTED


# A changed model ------------------------------------------------------------


def _with(action: str, *pieces: Piece) -> Any:
    objectives = tuple((a, pieces if a == action else old) for a, old in JUMP.objectives)
    return replace(JUMP, name="mutated Jump", objectives=objectives)


@pytest.mark.slow
def test_a_plateau_of_one_position_breaks_lemma_6() -> None:
    family = replace(JUMP, constraints=(ELL - 1, N - 2 * ELL - 5))
    [result] = verify(["Lemma 6"], QUICK.mutate(family=family))
    assert result.verdict is Verdict.REFUTED
    assert any(c.values["l"] == "1" for c in result.counterexamples)


def test_a_bridge_that_rejects_breaks_remark_13() -> None:
    # LeftBridge that grows on the right plateau rejects moves away from the optimum
    family = _with(
        "L", Piece.of(0, ELL + 1, P), Piece.of(ELL + 2, N - ELL - 1, 0), Piece.of(N - ELL, N, P)
    )
    assert _verdict("Remark 13", family=family) is Verdict.REFUTED


def test_bridges_without_end_points_change_e_t1() -> None:
    assert _verdict("(A)", family=JUMP_OPEN) is Verdict.REFUTED


def _rewarded(parameters: Any) -> Algorithm:
    """LRSAO that rewards moves on a plateau."""
    algorithm: Algorithm = Algorithm.lrsao(parameters)
    return replace(algorithm, equal=Reward(constant=parameters.r))


def _punished(parameters: Any) -> Algorithm:
    """LRSAO that punishes rejected proposals."""
    algorithm: Algorithm = Algorithm.lrsao(parameters)
    return replace(algorithm, rejected=Reward(constant=-parameters.r))


@pytest.mark.slow
def test_rewarded_plateaus_break_lemma_8() -> None:
    assert _verdict("Lemma 8", algorithm=_rewarded) is Verdict.REFUTED


def test_punished_rejections_break_lemma_3() -> None:
    assert _verdict("Lemma 3", algorithm=_punished) is Verdict.REFUTED


def test_punished_rejections_break_lemma_5() -> None:
    [result] = verify(
        ["Lemma 5"], QUICK.mutate(algorithm=_punished, terms={("Lemma 5", "also"): "fb1 >= fb"})
    )
    assert any(e.verdict is Verdict.REFUTED and e.part == "(1)" for e in result.evidence)


def test_a_choice_that_is_not_greedy_breaks_lemma_4() -> None:
    assert _verdict("Lemma 4", terms={("Lemma 4", "chosen"): "c <= o"}) is Verdict.REFUTED


def test_without_the_upper_end_of_h_nothing_is_proved_about_lemma_12() -> None:
    weaker = tuple(t for t in QUICK.hypothesis if t != "r < 1/(alpha*gamma)")
    [result] = verify(["Lemma 12"], QUICK.mutate(hypothesis=weaker))
    smt = [e for e in result.evidence if e.kind.value == "smt"]
    assert any(e.verdict is Verdict.UNKNOWN for e in smt)


def test_other_tables_of_signs_are_missed() -> None:
    [result] = verify(
        ["Signs decide the slope"],
        QUICK.mutate(terms={("Signs decide the slope", "classes"): "l+1,l+2,l+3"}),
    )
    assert result.verdict is not Verdict.PROVED


def test_i_i_d_excursions_and_readings_are_refuted_as_stated() -> None:
    for name in ("(E), i.i.d. excursions", "Lemma 3, one position", "Isolated points"):
        assert _verdict(name) is Verdict.REFUTED
    assert _verdict("Isolated points", terms={("Isolated points", "below"): "1"}) is (
        Verdict.REFUTED
    )


def test_every_statement_has_a_mutation() -> None:
    covered = (
        {name for name, _, _ in TERMS}
        | {name for name, _ in CORRECTED}
        | {
            "Lemma 3",
            "Lemma 5",
            "Signs decide the slope",
            "(E), i.i.d. excursions",
            "Lemma 3, one position",
            "Isolated points",
        }
    )
    assert set(all_statements()) <= covered


def test_fmpq_is_what_terms_evaluate_to() -> None:
    from proofs_check.verification.registry import workspace_of

    value = workspace_of(QUICK).value("Lemma 2", "bound", n=9, l=2, gamma=fmpq(1, 10))
    assert value == fmpq(20, 3)
