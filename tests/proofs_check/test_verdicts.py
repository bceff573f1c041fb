"""What comes out for the paper as it is, the registry's completeness, reports and replay."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from flint import fmpq

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from markov_lrsao.cli import main
from markov_lrsao.errors import FileFormatError, ParameterError
from markov_lrsao.model.landscape import JUMP
from proofs_check import (
    Counterexample,
    Setting,
    Verdict,
    all_statements,
    find,
    verify,
)
from proofs_check.automata.slope import slope_times
from proofs_check.logic.cases import cases
from proofs_check.logic.facts import named
from proofs_check.logic.induction import Induction
from proofs_check.logic.smt import Answer, Prover
from proofs_check.runs.run import Run, replay
from proofs_check.runs.search import shrink, watch
from proofs_check.statements.workspace import Workspace
from proofs_check.verification.registry import workspace_of
from proofs_check.verification.report import (
    detail_text,
    markdown_report,
    summary_text,
    table_text,
    traceability,
)

QUICK = Setting(second_solver=False)
NUMBERED = [
    "Theorem 1",
    "Lemma 2",
    "Lemma 3",
    "Lemma 4",
    "Lemma 5",
    "Lemma 6",
    "Theorem 7",
    "Lemma 8",
    "Lemma 9",
    "Lemma 10",
    "Theorem 11",
    "Lemma 12",
    "Remark 13",
    "Lemma 14",
    "Lemma 15",
    "Theorem 16",
    "Lemma 17",
]
CLAIMS = [
    "(A)",
    "(B)",
    "(H) sufficient",
    "(H) not empty",
    "Range of l",
    "Smallest n",
    "After Lemma 14, moves",
    "After Lemma 14, choices",
    "Failing excursions",
    "Failing excursions, no way out",
    "P(E)",
    "tau recurrences",
    "(E), i.i.d. excursions",
]


@pytest.fixture(scope="module")
def workspace() -> Workspace:
    return workspace_of(QUICK)


def test_every_numbered_statement_and_named_claim_is_registered() -> None:
    known = all_statements()
    assert [s for s in known if known[s].numbered] == NUMBERED
    assert set(CLAIMS) <= set(known)


def test_every_statement_has_a_check_and_its_supports_exist() -> None:
    known = all_statements()
    for name, engine, checks in traceability():
        assert checks, name
        assert set(known[name].depends) <= set(known), name
        assert known[name].where, name
        assert isinstance(engine, tuple)


def test_engine_code_is_recorded_for_the_statements_it_realises() -> None:
    table = {name: engine for name, engine, _ in traceability()}
    for name in ("Lemma 2", "Lemma 4", "Lemma 8", "Lemma 10", "Theorem 7", "Lemma 15"):
        assert table[name], name


@pytest.mark.slow
def test_invariants_hold_for_all_parameters(workspace: Workspace) -> None:
    for group, facts in named(workspace.terms).items():
        assert workspace.induction.prove(facts).verdict is Verdict.PROVED, group
    assert workspace.induction.satisfiable_steps() > 50  # the assumptions are not contradictory


@pytest.mark.slow
def test_slope_automata_are_decided_and_agree_with_the_engine(workspace: Workspace) -> None:
    assert all(a.decided for a in workspace.slope.automata.values())
    times = slope_times(workspace.slope, 9, 2)
    assert times.total == fmpq(3343673, 212520)  # design document, section 2
    automata = workspace.automata(12, 2)
    regions, law = automata.regions, automata.law
    for position, name in ((3, "l+1"), (4, "l+2"), (6, "interior"), (8, "n-l-2"), (9, "n-l-1")):
        engine = {
            "".join("-0+"[s + 1] for s in shown.signs)
            for shown in automata.patterns[int(regions.row_class[law.row[position]])]
        }
        assert engine == {"".join(c) for c in workspace.slope.automata[name].states}, name


def test_cases_agree_with_the_step_law() -> None:
    n, ell = 11, 3
    law = StepLaw.of(Landscape.jump(n, ell), Algorithm.lrsao(Parameters.paper(n)))
    for p in range(n):
        for a, action in enumerate(law.actions):
            for d in (0, 1):
                if not 0 <= p + 2 * d - 1 <= n:
                    continue
                fitting = [
                    c
                    for c in cases(JUMP)
                    if (c.action, c.direction) == (action, d)
                    and all(f(n=n, ell=ell, p=p) >= 0 for f in c.region)
                ]
                assert len({(c.outcome >= 0, c.gain(n=n, ell=ell, p=p)) for c in fitting}) == 1
                assert (fitting[0].outcome >= 0) == bool(law.accepted[p, a, d])


@pytest.mark.slow
def test_known_problems_come_out_by_themselves() -> None:
    wrong = [
        "Smallest n",
        "Lemma 5",
        "After Lemma 14, choices",
        "End points",
        "Failing excursions, no way out",
        "(E), i.i.d. excursions",
    ]
    results = {r.id: r for r in verify([*wrong, "After Lemma 14, moves", "Theorem 7"], QUICK)}
    assert all(results[name].verdict is Verdict.REFUTED for name in wrong)
    assert results["After Lemma 14, moves"].verdict is Verdict.PROVED
    assert results["Theorem 7"].verdict is Verdict.PROVED
    assert len(results["Theorem 7"].errata) == 1
    assert results["After Lemma 14, moves"].refuted_support == ()
    # the paper's own hyper-parameters contradict a step of the proof of Lemma 15
    run = results["Failing excursions, no way out"].counterexamples[0]
    assert (run.values["alpha"], run.values["r"]) == ("4/5", "7/2")
    _, records = replay(run)
    assert [r.sign for r in records[-3:]] == ["J+", "J-", "L-"]
    assert records[-1].next_position == 6


@pytest.mark.slow
def test_counterexamples_replay_and_round_trip(tmp_path: Path) -> None:
    [result] = verify(["After Lemma 14, choices"], QUICK)
    [bad] = [c for c in result.counterexamples if c.replayable]
    path = tmp_path / "bad.json"
    bad.save(path)
    again = Counterexample.load(path)
    assert again == bad
    run, records = replay(again)
    late = [r for r in records if r.phase == 3 and r.action == "L" and r.position >= 7]
    assert len(late) == 3
    assert run.time == len(bad.steps)


def test_replay_refuses_impossible_steps_and_broken_files(tmp_path: Path) -> None:
    [result] = verify(["Lemma 5"], QUICK)
    [bad] = result.counterexamples
    impossible = Counterexample.from_dict({**bad.to_dict(), "steps": [["F", "down"]]})
    with pytest.raises(ParameterError, match="impossible at position 0"):
        replay(impossible)
    with pytest.raises(FileFormatError, match="missing or unknown keys"):
        Counterexample.from_dict({"format": "markov-lrsao counterexample 1"})
    (tmp_path / "x.json").write_text("[", encoding="utf-8")
    with pytest.raises(FileFormatError):
        Counterexample.load(tmp_path / "x.json")


def test_shrinking_keeps_the_violation() -> None:
    from proofs_check.runs.monitors import Counter

    law = StepLaw.of(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.paper(9)))
    monitor = Counter(
        "x", "", "steps up", 1, lambda law, r: r.accepted and r.direction == 1
    ).monitor()
    choices = [("L", 1), ("L", 0), ("L", 0), ("L", 1)]
    short, seen = shrink(law, choices, monitor)
    assert (short, seen) == ([("L", 1), ("L", 1)], "steps up: 2")
    assert watch(law, [("L", 1)], monitor) is None


def test_a_run_follows_the_update_rule() -> None:
    law = StepLaw.of(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.paper(9)))
    run = Run(law)
    record = run.step("R", 1)
    assert (record.new, run.position) == (-fmpq(4, 5) * fmpq(7, 2), 1)
    with pytest.raises(ParameterError, match="L, J have the largest"):
        run.step("R", 1)


def test_a_solver_that_gives_up_is_unknown_never_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def gives_up(self: Prover, assumptions: object, goal: object, purpose: str = "") -> Answer:
        return Answer("unknown", reason="z3: timeout")

    monkeypatch.setattr(Prover, "prove", gives_up)
    [result] = verify(["(H) sufficient"], QUICK)
    assert result.verdict is Verdict.UNKNOWN
    workspace = workspace_of(QUICK)
    wanted = named(workspace.terms)["Lemma 2"]
    induction = Induction(QUICK, wanted)
    evidence = induction.prove(wanted)
    assert induction.established == ()
    assert evidence.verdict is Verdict.UNKNOWN
    assert any("timeout" in line for line in evidence.details)


def test_the_second_solver_agrees() -> None:
    [result] = verify(["(H) not empty"], Setting())
    assert "cvc5 confirms 2 of 2" in result.evidence[0].second


def test_reports(tmp_path: Path) -> None:
    results = verify(["Range of l", "Smallest n", "Theorem 7"], QUICK)
    assert "PROVED" in table_text(results)
    assert "n = 8 admits no l" in summary_text(results)
    assert "22*n + 5" in detail_text(results[2])
    text = markdown_report(results, "quick")
    assert "[Theorem 7](#s-theorem-7)" in text
    assert "phase1_formula" in text


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "bad"
    assert main(["verify", "Smallest n", "Lemma 5", "--strict", "--save", str(folder)]) == 1
    assert "verdict: REFUTED" in capsys.readouterr().out
    assert main(["verify", "range of l", "--json", "--strict"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"] == {"PROVED": 1}
    assert main(["replay", str(folder / "lemma-5.json")]) == 0
    shown = capsys.readouterr().out
    assert "confirmed: the run violates the claim" in shown
    assert "rejected" in shown
    assert main(["replay", str(folder / "lemma-5.json"), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["steps"]) == 5
    assert main(["replay", str(folder / "smallest-n.json")]) == 0
    assert "confirmed: the claim fails at the point" in capsys.readouterr().out
    assert main(["verify", "Lemma 99"]) == 2
    assert "no statement 'Lemma 99'" in capsys.readouterr().err
    assert main(["verify", "--list"]) == 0
    assert "Lemma 17: Harmonic numbers" in capsys.readouterr().out


def test_find_ignores_case() -> None:
    assert find("lemma 10").id == "Lemma 10"


TABLE = Path(__file__).with_name("verdicts_quick.csv")
"""statement, verdict, lines with an erratum: of the paper as it is, at level quick."""


def known_verdicts() -> list[tuple[str, str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as stream:
        return [(r["statement"], r["verdict"], r["errata"]) for r in csv.DictReader(stream)]


def test_the_table_of_verdicts_is_complete() -> None:
    known = known_verdicts()
    assert [name for name, _, _ in known] == list(all_statements())
    assert {verdict for _, verdict, _ in known} <= {"PROVED", "VERIFIED", "REFUTED"}
    verdicts = {name: verdict for name, verdict, _ in known}
    for name in NUMBERED:
        assert verdicts[name] == ("REFUTED" if name == "Lemma 5" else "PROVED"), name


@pytest.mark.slow
def test_every_verdict_at_level_quick() -> None:
    """A verdict that changes, for better or worse, is looked at before the table is changed."""
    found = [
        (r.id, r.verdict.value, ";".join(e.line for e in r.errata)) for r in verify(None, Setting())
    ]
    assert found == known_verdicts()


@pytest.mark.exhaustive
def test_every_verdict_at_level_full(record_property: Callable[[str, object], None]) -> None:
    """Wider ranges and more time change no verdict."""
    found = [(r.id, r.verdict.value) for r in verify(None, Setting(level="full"))]
    for kind, count in Counter(verdict for _, verdict in found).items():
        record_property(kind, count)
    assert found == [(name, verdict) for name, verdict, _ in known_verdicts()]
