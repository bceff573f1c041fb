"""The plateaus' walks for symbolic n and l: against the engine, and with something wrong."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import pytest
from flint import fmpq

from markov_lrsao import runtime
from markov_lrsao.errors import SolverError, VerificationError
from markov_lrsao.model.algorithm import Algorithm, Reward
from markov_lrsao.model.landscape import JUMP
from markov_lrsao.model.law import DOWN, UP
from markov_lrsao.model.parameters import Parameters
from proofs_check import Setting, Verdict, verify
from proofs_check.automata import closed
from proofs_check.automata.closed import left_forms, right_forms
from proofs_check.automata.elimination import eliminate
from proofs_check.automata.phase3 import entry_law, first_subphase, probability_of_e
from proofs_check.automata.slope_bounds import slope_bounds
from proofs_check.automata.symbolic import Node, Plateau, Walk, derive
from proofs_check.claims.expressions import evaluate, to_ball, to_sympy
from proofs_check.logic.induction import Fact, Induction
from proofs_check.statements.workspace import Workspace
from proofs_check.verification.registry import workspace_of

QUICK = Setting(second_solver=False)
Rows = dict[Hashable, dict[Hashable, Any]]
PAIRS = [(9, 2), (10, 2), (11, 3), (13, 4), (15, 5), (17, 6), (19, 7), (24, 2), (30, 4), (31, 9)]


# -- elimination ---------------------------------------------------------------------------


def test_elimination_solves_gamblers_ruin() -> None:
    half = fmpq(1, 2)
    rows: Rows = {k: {j: half for j in (k - 1, k + 1) if 0 < j < 5} for k in range(1, 5)}
    outputs: Rows = {
        k: {"steps": fmpq(1), **({"won": half} if k == 4 else {})} for k in range(1, 5)
    }
    found = eliminate(rows, outputs, fmpq(0))
    for k in range(1, 5):
        assert found[k]["steps"] == k * (5 - k)
        assert found[k]["won"] == fmpq(k, 5)


def test_elimination_refuses_a_part_that_is_never_left() -> None:
    rows: Rows = {"a": {"b": fmpq(1)}, "b": {"a": fmpq(1)}}
    with pytest.raises(VerificationError, match="never left"):
        eliminate(rows, {"a": {"x": fmpq(1)}, "b": {}}, fmpq(0))


# -- against the engine --------------------------------------------------------------------


@pytest.fixture(scope="module")
def workspace() -> Workspace:
    return workspace_of(QUICK)


def _at(text: str, n: int, ell: int) -> fmpq:
    def harmonic(m: fmpq) -> fmpq:
        return sum((fmpq(1, k) for k in range(1, int(m.p) + 1)), fmpq(0))

    names = {"n": fmpq(n), "l": fmpq(ell)}
    value: fmpq = evaluate(text, names, {"number": fmpq, "H": harmonic})
    return value


@pytest.mark.slow
def test_the_left_plateau_is_the_engines(workspace: Workspace) -> None:
    forms = left_forms(workspace.induction)
    assert forms.walk.largest_offset == 2  # L leads after two mistakes at the latest
    assert all(step.ties <= 3 for steps in forms.walk.steps.values() for step in steps)
    for n, ell in PAIRS:
        exact = runtime(JUMP.at(n, ell), Algorithm.lrsao(Parameters.paper(n))).phases[0]
        assert exact.rational == str(_at(forms.mean, n, ell))
        automata = workspace.automata(n, ell)
        assert probability_of_e(automata) == _at(forms.probability, n, ell)
        signs = automata.patterns[automata.place(0)[1]]
        law: dict[tuple[str, ...], fmpq] = {}
        for (_, zero, _), weight in entry_law(automata).items():
            cells = tuple("=" if s < 0 else "0" for s in signs[zero].signs[1:])
            law[cells] = law.get(cells, fmpq(0)) + weight
        assert law == {
            cells: _at(str(value.as_expr()), n, ell) for cells, value in forms.law.items()
        }


@pytest.mark.slow
def test_the_right_plateau_is_the_engines(workspace: Workspace) -> None:
    forms = right_forms(workspace.induction, workspace.slope)
    assert {form.ell for form in forms.whole.special} == {2, 3, 4}
    for n, ell in PAIRS:
        exact = runtime(JUMP.at(n, ell), Algorithm.lrsao(Parameters.paper(n))).phases[2]
        assert exact.rational == str(forms.whole.at(n, ell))
        assert first_subphase(workspace.automata(n, ell)) == forms.first.at(n, ell)


@pytest.mark.slow
def test_every_node_proposes_with_probability_one(workspace: Workspace) -> None:
    walk = right_forms(workspace.induction, workspace.slope).walk
    for node, steps in walk.steps.items():
        for action in {step.action for step in steps}:
            mine = [step for step in steps if step.action == action]
            assert sorted(step.direction for step in mine) == [DOWN, UP]
            assert {step.ties for step in mine} == {len(walk.greedy[node])}


@pytest.mark.slow
def test_bounds_on_phase_2_hold_at_instances(workspace: Workspace) -> None:
    bounds = slope_bounds(workspace.induction, workspace.slope)
    for n, ell in [*PAIRS, (60, 2), (60, 27)]:
        exact = runtime(JUMP.at(n, ell), Algorithm.lrsao(Parameters.paper(n))).phases[1]
        at = {"n": fmpq(n), "l": fmpq(ell)}
        low, high = (to_ball(to_sympy(text), at) for text in (bounds.low, bounds.high))
        value = to_ball(to_sympy(exact.rational), {})
        assert low < value < high


# -- with something wrong ------------------------------------------------------------------


def _changed(plateau: Plateau, action: str, cell: str, text: str) -> Plateau:
    cells = tuple(
        (a, tuple((c, text if (a, c) == (action, cell) else old) for c, old in spec))
        for a, spec in plateau.cells
    )
    return replace(plateau, cells=cells)


STARTS = [Node(0, ("+", j, r), ("-", "0", "+")) for j in "0=" for r in "0="]


@pytest.fixture(scope="module")
def pinned(workspace: Workspace) -> Induction:
    found = closed.pinned_induction(workspace.induction)
    found.prover.seconds = 2.0  # what is wrong here may keep the solver busy
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("action", "cell", "text"),
    [
        ("L", "+", "x > 0"),  # too wide: L may then stay positive after a penalty
        ("L", ">", "x > -alpha*r"),
        ("J", "+", "x >= 0"),
        ("J", ">", "x < 0"),
        ("R", "=", "x = -r"),
    ],
)
def test_a_wrong_cell_is_refused(pinned: Induction, action: str, cell: str, text: str) -> None:
    plateau = closed._right_plateau(pinned)
    with pytest.raises(SolverError):
        derive(pinned, _changed(plateau, action, cell, text), STARTS)


def _poorer(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, facts: list[Fact], pin: tuple[str, ...]
) -> Induction:
    monkeypatch.setattr(closed, "pinned_facts", lambda: facts)
    monkeypatch.setattr(closed, "PINNED", pin)
    found = closed.pinned_induction(workspace.induction)
    found.prover.seconds = 2.0
    return found


@pytest.mark.slow
@pytest.mark.parametrize("dropped", [0, 1])
def test_the_further_invariants_are_needed(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, dropped: int
) -> None:
    """Either another invariant leans on it, or a comparison stays open."""
    facts = [fact for k, fact in enumerate(closed.pinned_facts()) if k != dropped]

    def walk() -> Walk:
        poorer = _poorer(workspace, monkeypatch, facts, closed.PINNED)
        return derive(poorer, closed._right_plateau(poorer), STARTS)

    with pytest.raises(SolverError):
        walk()


@pytest.mark.slow
def test_the_start_of_phase_3_is_proved(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    poorer = _poorer(workspace, monkeypatch, closed.pinned_facts()[:-1], closed.PINNED)
    with pytest.raises(SolverError, match="may begin otherwise"):
        closed._begins(poorer, "1 + 2*gamma")


@pytest.mark.slow
def test_an_invariant_that_does_not_hold_is_refused(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = [*closed.pinned_facts()[:-1], Fact("L in row 0, wrong", "zL <= 1/2", (1, 2))]
    with pytest.raises(SolverError, match="not an invariant"):
        _poorer(workspace, monkeypatch, facts, closed.PINNED)


@pytest.mark.slow
def test_without_the_papers_hyper_parameters_comparisons_stay_open(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = closed.pinned_facts()[:-1]  # the last one needs alpha, gamma and r
    free = _poorer(workspace, monkeypatch, facts, ())
    plateau = closed._right_plateau(free)
    with pytest.raises(SolverError):
        derive(free, plateau, STARTS)


@pytest.mark.slow
def test_the_closed_form_does_not_depend_on_the_penalty(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closed, "PINNED", closed.PINNED[:2])  # any r in (H)
    forms = closed._right(workspace.induction, workspace.slope)
    for r in ("12/5", "7", "12"):
        algorithm = Algorithm.lrsao(Parameters("4/5", "1/10", r))
        assert runtime(JUMP.at(9, 2), algorithm).phases[2].rational == str(forms.whole.at(9, 2))


@pytest.mark.slow
def test_hyper_parameters_outside_h_are_refused(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = ("alpha = 1/2", "gamma*(n + 1) = 1", "4*r = n + 5")
    with pytest.raises(SolverError, match="hypothesis"):
        _poorer(workspace, monkeypatch, closed.pinned_facts(), outside)


@pytest.mark.slow
def test_another_engine_is_noticed(workspace: Workspace) -> None:
    forms = right_forms(workspace.induction, workspace.slope)
    wrong = replace(forms.whole.general, rest=forms.whole.general.rest + 1)
    with pytest.raises(VerificationError, match="not the engine's"):
        closed._same_whole(replace(forms.whole, general=wrong))
    with pytest.raises(VerificationError, match="by the engine"):
        closed._same_mean("n*(H(n) - H(n - l - 1))")


def test_facts_of_another_hypothesis_are_not_taken_over() -> None:
    narrow = Induction(QUICK.mutate(hypothesis=(*QUICK.hypothesis, "alpha = 4/5")), ())
    with pytest.raises(VerificationError, match="another hypothesis"):
        Induction(QUICK, (), narrow)


# -- changed models ------------------------------------------------------------------------


def _rewarded(parameters: Any) -> Algorithm:
    """LRSAO that rewards moves on a plateau."""
    algorithm: Algorithm = Algorithm.lrsao(parameters)
    return replace(algorithm, equal=Reward(constant=parameters.r))


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["P(E)", "Theorem 11", "Theorem 16, explicit"])
def test_rewarded_plateaus_are_not_covered(name: str) -> None:
    [result] = verify([name], QUICK.mutate(algorithm=_rewarded, solver_seconds=2.0))
    assert result.verdict in (Verdict.UNKNOWN, Verdict.REFUTED)


@pytest.mark.exhaustive
def test_the_left_plateau_needs_its_facts(workspace: Workspace) -> None:
    kept = [fact for fact in workspace.induction.facts if fact.name != "few mistakes"]
    short = QUICK.mutate(solver_seconds=1.0)
    poorer = Induction(short, [fact for fact in kept if "row 0" not in fact.name])
    with pytest.raises(SolverError):
        closed._left(poorer)
