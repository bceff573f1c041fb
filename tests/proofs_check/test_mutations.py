"""Every statement can fail: at least one mutation turns each verdict to REFUTED.

A mutation changes the statement's terms, the landscape, the algorithm or the hypothesis. The
unmutated statement must not be REFUTED by the same checks, except where the paper is wrong; there
the *corrected* statement is the mutation, and must not be refuted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import sentences
from flint import fmpq
from mutations import FALSE, TRUE, Mutation, recorded

from proofs_check import Setting, Verdict, all_statements, verify

QUICK = Setting(second_solver=False)


def _verdict(name: str, **changes: Any) -> Verdict:
    [result] = verify([name], QUICK.mutate(**changes))
    return result.verdict


# Changed statements, models and hypotheses ----------------------------------

_CHEAP = 3
"""Seconds of processor time; longer ones are in the third tier."""


def _tiers(mutations: Sequence[Mutation]) -> list[Any]:
    table = recorded()
    # The first of a changed model derives everything anew, whatever the table says of it.
    cheap = [
        int(table[m.name]["seconds"]) <= _CHEAP
        and (not m.model or m.statement in ("(A)", "Remark 13"))
        for m in mutations
    ]
    marks = [pytest.mark.slow if easy else pytest.mark.exhaustive for easy in cheap]
    return [
        pytest.param(m, marks=mark, id=m.name) for m, mark in zip(mutations, marks, strict=True)
    ]


@pytest.mark.parametrize("mutation", _tiers(FALSE))
def test_a_false_statement_is_never_proved(mutation: Mutation) -> None:
    result = mutation.result()
    assert result.verdict not in (Verdict.PROVED, Verdict.VERIFIED)
    assert result.verdict.value == recorded()[mutation.name]["verdict"]
    if result.verdict is Verdict.REFUTED:
        assert result.counterexamples


@pytest.mark.parametrize("mutation", _tiers(TRUE))
def test_a_true_statement_is_never_refuted(mutation: Mutation) -> None:
    verdict = mutation.result().verdict
    assert verdict is not Verdict.REFUTED
    assert verdict.value == recorded()[mutation.name]["verdict"]


def test_the_table_of_mutations() -> None:
    """At least 60 false ones, 50 of them refuted; at least 20 true ones, 15 of them proved."""
    table = recorded()
    assert list(table) == [m.name for m in (*FALSE, *TRUE)]
    false = [table[m.name]["verdict"] for m in FALSE]
    true = [table[m.name]["verdict"] for m in TRUE]
    assert len(false) >= 60
    assert not {"PROVED", "VERIFIED"} & set(false)
    assert false.count("REFUTED") >= 50
    assert len(true) >= 20
    assert "REFUTED" not in true
    assert true.count("PROVED") >= 15


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
LONG = ("Failing", "After Lemma 14")


@pytest.mark.parametrize(
    ("name", "terms"),
    [
        pytest.param(*item, marks=pytest.mark.slow) if item[0].startswith(LONG) else item
        for item in CORRECTED
    ],
)
def test_the_corrected_statement_is_not_refuted(name: str, terms: dict[str, str]) -> None:
    assert _verdict(name) is Verdict.REFUTED
    changed = {(name, key): text for key, text in terms.items()}
    assert _verdict(name, terms=changed) is not Verdict.REFUTED


# A changed model ------------------------------------------------------------


@pytest.mark.exhaustive
def test_without_the_upper_end_of_h_nothing_is_proved_about_lemma_12() -> None:
    weaker = tuple(t for t in QUICK.hypothesis if t != "r < 1/(alpha*gamma)")
    [result] = verify(["Lemma 12"], QUICK.mutate(hypothesis=weaker))
    smt = [e for e in result.evidence if e.kind.value == "smt"]
    assert any(e.verdict is Verdict.UNKNOWN for e in smt)


@pytest.mark.slow
def test_other_tables_of_signs_are_missed() -> None:
    [result] = verify(
        ["Signs decide the slope"],
        QUICK.mutate(terms={("Signs decide the slope", "classes"): "l+1,l+2,l+3"}),
    )
    assert result.verdict is not Verdict.PROVED


@pytest.mark.slow
def test_i_i_d_excursions_and_readings_are_refuted_as_stated() -> None:
    for name in ("(E), i.i.d. excursions", "Lemma 3, one position", "Isolated points"):
        assert _verdict(name) is Verdict.REFUTED
    assert _verdict("Isolated points", terms={("Isolated points", "below"): "1"}) is (
        Verdict.REFUTED
    )


def test_every_statement_has_a_mutation() -> None:
    """One that makes it false, or, where the paper is wrong, one that mends it."""
    covered = (
        {m.statement for m in FALSE}
        | {change[0] for change in sentences.FALSE}
        | {name for name, _ in CORRECTED}
        | {
            "Signs decide the slope",
            "(E), i.i.d. excursions",
            "Lemma 3, one position",
            "Isolated points",
            "After Lemma 14, selected",  # false as it is
        }
    )
    assert set(all_statements()) <= covered


def test_fmpq_is_what_terms_evaluate_to() -> None:
    from proofs_check.verification.registry import workspace_of

    value = workspace_of(QUICK).value("Lemma 2", "bound", n=9, l=2, gamma=fmpq(1, 10))
    assert value == fmpq(20, 3)
