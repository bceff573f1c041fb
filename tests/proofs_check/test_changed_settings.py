"""Settings that users change: what is not there is refused, what has no value is no verdict."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from markov_lrsao.cli import main
from markov_lrsao.errors import ParameterError
from markov_lrsao.model.algorithm import Algorithm, Reward
from proofs_check import Setting, Verdict, all_statements, find, verify
from proofs_check.algebra.polynomials import non_negative, rational_limit
from proofs_check.claims.expressions import evaluate, relation_of, to_sympy
from proofs_check.logic.smt import Prover
from proofs_check.verification.changes import plain_name

QUICK = Setting(second_solver=False)


# -- names -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "lemma10",
        "Lemma 10",
        "lemma-10",
        "LEMMA_10",
        "  lemma\t10 ",
        "lem 10",
        "lem.10",
        "Lemma 010",
    ],
)
def test_ways_to_write_a_name(name: str) -> None:
    assert find(name).id == "Lemma 10"


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("thm 7", "Theorem 7"),
        ("theorem16", "Theorem 16"),
        ("remark-13", "Remark 13"),
        ("failing excursions no way out", "Failing excursions, no way out"),
        ("(a)", "(A)"),
        ("lemma 3 one position", "Lemma 3, one position"),
        ("H not empty", "(H) not empty"),
    ],
)
def test_names_without_their_punctuation(name: str, wanted: str) -> None:
    assert find(name).id == wanted


def test_no_two_statements_share_a_plain_name() -> None:
    assert len({plain_name(name) for name in all_statements()}) == len(all_statements())


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("Lema 12", "'Lemma 12'"),
        ("theorm 11", "'Theorem 11'"),
        ("failing excursion", "'Failing "),
        ("lemma 1O", "'Lemma 1"),
    ],
)
def test_an_unknown_name_gets_near_ones(
    name: str, near: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", name]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert f"did you mean {near}" in err
    assert "--list" in err


@pytest.mark.parametrize("name", ["", "*", "7" * 5000, "\N{GREEK SMALL LETTER LAMDA}", "a\x1b[1mb"])
def test_a_name_like_none(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", name]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "--list" in err
    assert "\x1b" not in err
    assert len(err) < 300


def test_statements_are_listed_one_per_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[0] for line in lines] == list(all_statements())
    assert main(["verify", "--list", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [entry["id"] for entry in found["statements"]] == list(all_statements())


def test_a_statement_named_twice_is_checked_once() -> None:
    assert [r.id for r in verify(["range of l", "Range-of-L"], QUICK)] == ["Range of l"]


# -- terms, lines and hypotheses ---------------------------------------------------------------

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"terms": {("Lemma 10", "visit"): "4"}}, "no term 'visit'.*'visits'"),
    ({"terms": {("lemma 10", "visits"): "4"}}, "no statement.*'Lemma 10'"),
    ({"terms": {("Lemma 3", "bound"): "4"}}, "none at all"),
    ({"terms": {("Lemma 2", "bound"): "1/0"}}, "divides by zero"),
    ({"terms": {("(A)", "formula"): "n/(l - l)"}}, "divides by zero"),
    ({"terms": {("(A)", "formula"): "n/((n + 1)**2 - n**2 - 2*n - 1)"}}, "divides by zero"),
    ({"terms": {("Lemma 17", "lower"): "ln(0)"}}, "not finite"),
    ({"terms": {("Theorem 11", "bound"): "n**n**n"}}, "exponents"),
    ({"terms": {("Theorem 1", "order"): "n**99999"}}, "exponents"),
    ({"terms": {("Theorem 1", "order"): "n < l"}}, "comparison"),
    ({"terms": {("Theorem 1", "order"): ""}}, "not a formula"),
    ({"terms": {("Theorem 1", "order"): "(" * 500 + "n" + ")" * 500}}, "not a formula"),
    ({"terms": {("Theorem 1", "order"): "9" * 5000}}, "not a formula"),
    ({"terms": {("Theorem 1", "order"): "n\0"}}, "not a formula"),
    ({"terms": {("Theorem 1", "order"): "True"}}, "not allowed"),
    ({"terms": {("Theorem 1", "order"): "zeta*n"}}, "speaks of zeta"),
    ({"terms": {("Theorem 1", "order"): "sin(n)"}}, "unknown function"),
    ({"terms": {("Theorem 1", "order"): "H(n, n, n)"}}, "has no value"),
    ({"terms": {("Range of l", "remark"): "l"}}, "a comparison is needed"),
    ({"terms": {("Range of l", "remark"): "l < 1/(n - n)"}}, "divides by zero"),
    ({"terms": {("Range of l", "remark"): "l in n"}}, "a comparison is needed"),
    ({"terms": {("Lemma 5", "also"): "fb"}}, "a comparison is needed"),
    ({"terms": {("Improvement", "paths"): "n;1/0"}}, "divides by zero"),
    ({"lines": {"Lemma 2:44": ("=", "n")}}, "no displayed line 'Lemma 2:44'"),
    ({"lines": {"Lemma 2:4": ("~", "n")}}, "relation '~'"),
    ({"lines": {"Lemma 2:0": ("=", "n")}}, "a first line has none"),
    ({"lines": {"Lemma 2:4": ("=", "n/(gamma - gamma)")}}, "divides by zero"),
    ({"hypothesis": ("0 < alpha", "r < 1/(gamma - gamma)")}, "divides by zero"),
    ({"hypothesis": ("0 < beta",)}, "beta"),
    ({"hypothesis": ("alpha",)}, "a comparison is needed"),
    ({"level": "medium"}, "quick or full"),
    ({"solver_seconds": float("nan")}, "solver_seconds"),
    ({"solver_seconds": 0.0}, "solver_seconds"),
]


@pytest.mark.parametrize(("changes", "words"), REFUSED, ids=[w for _, w in REFUSED])
def test_changes_that_are_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words) as caught:
        verify(["Range of l"], QUICK.mutate(**changes))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


UNREADABLE = [
    ("Lemma 9", "order", "2**n", "not a polynomial"),
    ("Lemma 9", "order", "-1", "and None times"),
    ("Lemma 9", "order", "ln(n)", "not a polynomial"),
    ("Smallest n", "n", "2*l", "an integer is needed"),
    ("Isolated points", "below", "1/2", "an integer is needed"),
    ("Optimality", "exponent", "2**n", "a number in 0..1"),
    ("Optimality", "exponent", "7", "a number in 0..1"),
    ("Remark 13", "moving", "L,X", "choose from"),
    ("Remark 13", "moving", "", "choose from"),
    ("End points", "L", "1/(n - 9)", "divides by zero"),
    ("Optimal order", "factor", "n", "unknown name"),
    ("Lemma 17, improved", "lower", "1/(n - 7)", "no value at n = 7"),
    ("Lemma 17, improved", "lower", "1/(2*n + l)", "unknown name 'l'"),
]


@pytest.mark.parametrize(
    ("name", "key", "text", "why"),
    [
        pytest.param(*item, marks=pytest.mark.slow) if item[0] == "Lemma 9" else item
        for item in UNREADABLE
    ],
)
def test_terms_without_a_value_are_unknown(name: str, key: str, text: str, why: str) -> None:
    """Never proved or verified by the evidence that does not read the term."""
    [result] = verify([name], QUICK.mutate(terms={(name, key): text}))
    assert result.verdict is Verdict.UNKNOWN
    assert any(re.search(why, e.summary) for e in result.evidence), [
        e.summary for e in result.evidence
    ]


def _dividing(parameters: Any) -> Algorithm:
    """LRSAO with a penalty that divides by zero."""
    algorithm: Algorithm = Algorithm.lrsao(parameters)
    return replace(algorithm, equal=Reward(constant=-1 / (parameters.r - parameters.r)))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("Lemma 4", marks=pytest.mark.exhaustive),
        "Isolated points",
        "Lemma 3, one position",
    ],
)
def test_a_penalty_that_divides_by_zero_is_no_verdict(name: str) -> None:
    [result] = verify([name], QUICK.mutate(algorithm=_dividing))
    assert result.verdict in (Verdict.UNKNOWN, Verdict.REFUTED)
    if result.verdict is Verdict.REFUTED:
        assert all(not c.replayable for c in result.counterexamples)


# -- formulas ------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["n != l", "n is l", "n in l", "n < l < 3"])
def test_relations_that_are_not_single_comparisons(text: str) -> None:
    with pytest.raises(ParameterError):
        relation_of(text)


def test_division_by_zero_is_an_error_in_every_algebra() -> None:
    for read in (to_sympy, Prover().term, lambda t: evaluate(t, {"n": 3})):
        with pytest.raises(ParameterError, match="divides by zero"):
            read("1/(2 - 2)")


@pytest.mark.parametrize("text", ["2**n", "n**(1/2)", "ln(n)*l", "H(n)"])
def test_no_polynomial_holds_it(text: str) -> None:
    with pytest.raises(ParameterError, match="not a polynomial"):
        non_negative(to_sympy(text))
    with pytest.raises(ParameterError, match="not a polynomial"):
        rational_limit(to_sympy(text), to_sympy("n"))


def test_a_point_where_something_is_divided_by_zero_refutes_nothing() -> None:
    """1/(x - 1) > 0 holds for all x >= 1 at which it is defined; z3 alone would say no."""
    prover = Prover()
    answer = prover.prove(["x >= 1"], "1/(x - 1) > 0")
    assert answer.status == "unknown"
    assert "divided by zero" in answer.reason
    answer = prover.prove(["x >= 0"], "1/(x - 1) > 0")
    assert answer.status == "refuted"
    assert answer.model["x"] != "1"
    assert prover.prove(["x > 1"], "1/(x - 1) > 0").status == "proved"
