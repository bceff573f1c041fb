"""Counterexamples judged: nothing that a file says about itself is believed."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from markov_lrsao.errors import ParameterError
from markov_lrsao.model.algorithm import Algorithm, Reward
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.law import DOWN, UP, StepLaw
from markov_lrsao.model.parameters import Parameters
from proofs_check import Counterexample, Setting, Verdict, check_claims, verify
from proofs_check.runs.run import algorithm_data, algorithm_of, replay, run_of
from proofs_check.verification.confirming import Judgement, Status, confirm

QUICK = Setting(second_solver=False)
CHEAP = [
    "Plateau sizes",
    "Lemma 3, one position",
    "Smallest n",
    "Isolated points",
    "End points",
    "Improvement",
]
SLOW = [
    "Lemma 5",
    "After Lemma 14, choices",
    "After Lemma 14, selected",
    "Failing excursions, no way out",
    "Failing excursions, one",
    "(E), i.i.d. excursions",
]


def _bad(statement: str, setting: Setting = QUICK) -> list[Counterexample]:
    [result] = verify([statement], setting)
    assert result.verdict is Verdict.REFUTED
    return list(result.counterexamples)


@pytest.fixture(scope="module")
def own() -> Counterexample:
    """A run with five visits to position 5."""
    [found] = check_claims("visits at 5 <= 4", Landscape.jump(10, 2), proof=False)
    assert found.counterexample is not None
    return found.counterexample


def _confirmed(bad: Counterexample) -> Judgement:
    """Write, read and judge; what was observed is what is seen."""
    judged = confirm(Counterexample.from_dict(bad.to_dict()))
    assert judged.status is Status.CONFIRMED
    assert judged.seen == bad.observed
    return judged


def test_these_are_all_refuted_statements() -> None:
    with (Path(__file__).parent / "verdicts_quick.csv").open(encoding="utf-8") as file:
        refuted = [row[0] for row in csv.reader(file) if row[1] == "REFUTED"]
    assert sorted(refuted) == sorted([*CHEAP, *SLOW])


@pytest.mark.parametrize("statement", CHEAP)
def test_every_refutation_is_confirmed(statement: str) -> None:
    for bad in _bad(statement):
        _confirmed(bad)


@pytest.mark.slow
def test_every_other_refutation_is_confirmed() -> None:
    for result in verify(SLOW, QUICK):
        assert result.verdict is Verdict.REFUTED
        for bad in result.counterexamples:
            _confirmed(bad)


def test_a_run_of_an_own_claim_is_confirmed(own: Counterexample) -> None:
    judged = _confirmed(own)
    assert judged.steps == len(own.steps) == 13
    assert judged.hypothesis.startswith("satisfied")
    assert judged.remarks == ()


CHANGES: dict[str, Callable[[Counterexample], dict[str, Any]]] = {
    "a cut run": lambda bad: {"steps": bad.steps[:-1]},
    "an empty run": lambda bad: {"steps": ()},
    "a weaker claim": lambda bad: {"claim": "visits at 5 <= 5"},
    "another claim": lambda bad: {"claim": "visits at 6 <= 4"},
    "an impossible step": lambda bad: {"steps": (("L", "down"), *bad.steps[1:])},
    "an action that is not greedy": lambda bad: {"steps": (*bad.steps[:1], ("R", "up"))},
    "no penalty": lambda bad: {"values": {**bad.values, "r": "0"}},
    "another landscape": lambda bad: {
        "objectives": {**bad.objectives, "L": tuple(reversed(bad.objectives["L"]))}
    },
    "another algorithm": lambda bad: {"algorithm": "rls"},
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_run_is_not_confirmed(own: Counterexample, change: str) -> None:
    changed = replace(own, **CHANGES[change](own))
    assert confirm(changed).status is Status.NOT_CONFIRMED


def test_what_is_said_to_be_observed_is_not_believed(own: Counterexample) -> None:
    judged = confirm(replace(own, observed="42 failing excursions"))
    assert judged.status is Status.CONFIRMED
    assert judged.seen == "visits at 5: 5"
    assert judged.remarks == ("the file says '42 failing excursions' instead",)
    cut = confirm(replace(own, observed="42 visits", steps=own.steps[:5]))
    assert (cut.status, cut.seen) == (Status.NOT_CONFIRMED, "")


def test_more_steps_than_needed_are_told(own: Counterexample) -> None:
    judged = confirm(replace(own, steps=(*own.steps, ("J", "up"))))
    assert (judged.status, judged.steps) == (Status.CONFIRMED, 13)
    assert judged.remarks == ("the last 1 steps of the run are not needed",)


@pytest.mark.parametrize(
    ("values", "status"),
    [
        ({"n": "8"}, Status.CONFIRMED),
        ({"n": "9"}, Status.NOT_CONFIRMED),
        ({"n": "7"}, Status.NOT_CONFIRMED),  # below what is claimed
        ({"n": "eight"}, Status.CANNOT_BE_JUDGED),
        ({}, Status.CANNOT_BE_JUDGED),
    ],
)
def test_points_are_computed_anew(values: dict[str, str], status: Status) -> None:
    bad = Counterexample(statement="Smallest n", expected="", observed="", values=values)
    assert confirm(bad).status is status


@pytest.mark.parametrize(
    ("statement", "values", "status"),
    [
        ("Isolated points", {"n": "9", "l": "3"}, Status.CONFIRMED),
        ("Isolated points", {"n": "9", "l": "2"}, Status.NOT_CONFIRMED),
        ("End points", {"n": "9", "l": "2"}, Status.CONFIRMED),
        ("End points", {"n": "9", "l": "3"}, Status.CANNOT_BE_JUDGED),
        ("Improvement", {"n": "oo", "l": "(n - 5)/2"}, Status.CONFIRMED),
        ("Improvement", {"n": "oo", "l": "n**(1/3)"}, Status.NOT_CONFIRMED),
        ("Improvement", {"n": "oo", "l": "n"}, Status.CANNOT_BE_JUDGED),
        ("Range of l", {"n": "9", "l": "2"}, Status.NOT_CONFIRMED),
        ("(H) sufficient", {"alpha": "1/2", "gamma": "1/10", "n": "9", "l": "2"}, "not confirmed"),
        ("Lemma 99", {"n": "9"}, Status.CANNOT_BE_JUDGED),
    ],
)
def test_points_of_statements(statement: str, values: dict[str, str], status: str) -> None:
    bad = Counterexample(statement=statement, expected="", observed="", values=values)
    assert confirm(bad).status.value == status


def test_changed_terms_travel_with_the_counterexample() -> None:
    """A statement made false by one: the file says so, and refutes that, not the paper's."""
    [bad] = _bad("Smallest n", QUICK.mutate(terms={("Smallest n", "n"): "7"}))
    assert bad.terms == {"n": "7"}
    assert bad.values == {"n": "7"}
    judged = _confirmed(bad)
    assert judged.remarks == ("the claim was changed: 'n' is 7, the paper has 8",)
    assert confirm(replace(bad, terms={})).status is Status.NOT_CONFIRMED
    assert confirm(replace(bad, terms={"m": "7"})).status is Status.CANNOT_BE_JUDGED


def _four_visits(**changes: Any) -> Counterexample:
    law = StepLaw.of(Landscape.jump(9, 2))
    signs = "L+ L+ L+ J+ L+ L- J+ R- J+ J+ L-"
    choices = [(x[0], UP if x[1] == "+" else DOWN) for x in signs.split()]
    bad = run_of(
        law,
        choices,
        statement="Lemma 10",
        expected="at most 3 visits",
        observed="",
        terms={"visits": "3"},
    )
    return replace(bad, **changes)


def test_statements_speak_about_their_own_model() -> None:
    """Four visits to a site refute "at most 3", but only on Jump, with LRSAO, inside (H)."""
    assert confirm(_four_visits()).status is Status.CONFIRMED
    assert confirm(_four_visits(terms={})).status is Status.NOT_CONFIRMED
    below = confirm(_four_visits(values={**_four_visits().values, "r": "2"}))
    assert below.status is Status.NOT_CONFIRMED
    assert "(H)" in below.reason
    assert below.hypothesis.startswith("NOT satisfied")
    higher = {name: tuple(2 * x for x in v) for name, v in _four_visits().objectives.items()}
    other = confirm(_four_visits(objectives=higher))
    assert other.status is Status.NOT_CONFIRMED
    unknown = confirm(_four_visits(part="no such part"), again=False)
    assert unknown.status is Status.CANNOT_BE_JUDGED


def test_general_lemmas_do_not_assume_h() -> None:
    [bad] = _bad("Lemma 3, one position")
    judged = _confirmed(bad)
    assert "the claim does not assume it" in judged.hypothesis


def test_checks_are_run_again_where_nothing_judges_a_point() -> None:
    [found] = _bad("Optimality", QUICK.mutate(terms={("Optimality", "exponent"): "1/4"}))
    assert confirm(found, again=False).status is Status.CANNOT_BE_JUDGED
    judged = confirm(found)
    assert judged.status is Status.CONFIRMED
    assert "run again" in judged.reason
    other = confirm(replace(found, values={"l": "n^(1/3)"}))
    assert other.status is Status.CANNOT_BE_JUDGED


def test_algorithms_travel_with_the_counterexample() -> None:
    odd = Algorithm(
        name="odd",
        rejected=Reward(),
        equal=Reward(constant=Parameters.paper(9).r),
        better=Reward(target=Parameters.paper(9).alpha),
        keep=Parameters.paper(9).gamma,
        learn=Parameters.paper(9).alpha,
        bootstrap=Parameters.paper(9).gamma,
        accept_equal=False,
    )
    for algorithm in (Algorithm.earl(), Algorithm.rls(), Algorithm.lrsao().at(9), odd):
        law = StepLaw.of(Landscape.jump(9, 2), algorithm)
        bad = run_of(law, [("J", UP)], statement="own claim", expected="", observed="")
        again = Counterexample.from_dict(bad.to_dict())
        assert again == bad
        assert algorithm_of(again.algorithm, again.values) == algorithm
        assert replay(again)[1][0].action == "J"
    data, values = algorithm_data(odd)
    assert isinstance(data, dict)
    for broken in ({**data, "keep": "x"}, {**data, "state": "?"}, {"keep": "1"}):
        with pytest.raises(ParameterError):
            algorithm_of(broken, values)
    with pytest.raises(ParameterError, match="unknown"):
        algorithm_of("ea", {})


def test_files_of_the_first_version_are_judged_by_all_monitors() -> None:
    old = Path(__file__).resolve().parents[1] / "data" / "0.1" / "lemma-5.json"
    bad = Counterexample.load(old)
    assert bad.part is None
    judged = confirm(bad)
    assert judged.status is Status.CONFIRMED
    assert "never reached" in judged.seen


def test_a_witness_that_is_not_confirmed_refutes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from proofs_check.statements import setup

    def wrong(workspace: object, values: dict[str, str]) -> str | None:
        return "seen by a broken check" if values["n"] == "9" else None

    monkeypatch.setattr(setup, "no_ell_at", wrong)
    [result] = verify(["Smallest n"], QUICK)
    assert result.verdict is Verdict.UNKNOWN
    assert "not confirmed" in result.evidence[0].summary
