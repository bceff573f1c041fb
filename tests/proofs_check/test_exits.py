"""The regimes of k exits: what they are, and that each condition is needed."""

from __future__ import annotations

import pytest
from flint import fmpq

from markov_lrsao.answers.expected import runtime
from markov_lrsao.errors import SolverError
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import JUMP
from markov_lrsao.model.parameters import Parameters
from markov_lrsao.regimes.borders import decided_exits
from proofs_check import Setting, Verdict, verify
from proofs_check.automata import exits
from proofs_check.automata.exits import COMMON, FIRST, LATER, exit_forms, regime_of
from proofs_check.claims.expressions import holds
from proofs_check.statements.exits import _FULL
from proofs_check.verification.registry import workspace_of

QUICK = Setting(second_solver=False)
GRID = [
    (n, ell, fmpq(a, 20), fmpq(r, 2))
    for n, ell in ((9, 2), (20, 3), (30, 12))
    for a in range(2, 20)
    for r in range(2, 480, 9)
]


def test_regimes_lie_within_the_borders() -> None:
    """Wherever k is given here, the borders of docs/regimes.md give the same k."""
    seen = set()
    for n, ell, alpha, r in GRID:
        k = regime_of(n, ell, Parameters(alpha, fmpq(1, n + 1), r))
        if k is not None:
            seen.add(k)
            assert decided_exits(n, ell, alpha, fmpq(1, n + 1), r) == k
    assert {1, 2, 3, 4, 5} <= seen


def test_regimes_are_the_conditions_of_the_walks() -> None:
    """k = 1 and k >= 2 imply what their walks assume, and the end points are no part of them."""
    for n, ell, alpha, r in GRID:
        parameters = Parameters(alpha, fmpq(1, n + 1), r)
        k = regime_of(n, ell, parameters)
        names = {"n": fmpq(n), "l": fmpq(ell), "alpha": alpha, "gamma": parameters.gamma, "r": r}
        if k is not None:
            assert QUICK.admits(n, ell, parameters)
            assert all(holds(text, names) for text in (*COMMON, FIRST if k == 1 else LATER))
    assert regime_of(9, 2, Parameters("1/2", "1/10", 12)) is None  # (1-a) r = G: a tie


slow = pytest.mark.slow  # the walks take half a minute


@slow
def test_formula_is_the_engines_value() -> None:
    workspace = workspace_of(QUICK)
    forms = exit_forms(workspace.induction, workspace.slope)
    seen = set()
    for n, ell, alpha, r in _FULL:
        parameters = Parameters(alpha, fmpq(1, n + 1), r)
        k = regime_of(n, ell, parameters)
        assert k is not None
        seen.add(k)
        assert runtime(JUMP.at(n, ell), Algorithm.lrsao(parameters)).phases[2] == forms.at(
            n, ell, k
        )
    assert seen == {1, 2, 3, 4, 5, 6}


@slow
def test_verdict_and_wrong_factors() -> None:
    name = "Regimes of k exits"
    [result] = verify([name], QUICK)
    assert result.verdict is Verdict.PROVED
    for factor in ("n/(6*l)", "0", "l"):
        [wrong] = verify([name], QUICK.mutate(terms={(name, "C"): factor}))
        assert wrong.verdict is Verdict.REFUTED
        assert wrong.counterexamples


@pytest.mark.exhaustive
@pytest.mark.parametrize("kept", [COMMON[:1], COMMON[1:]], ids=["J against L", "L again"])
def test_every_condition_is_needed(kept, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    workspace = workspace_of(QUICK)
    monkeypatch.setattr(exits, "COMMON", kept)
    with pytest.raises(SolverError):
        exits._derive(workspace.induction, workspace.slope)


@slow
def test_a_wrong_step_of_j_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bounds after an exit cannot be those before it."""
    from dataclasses import replace

    workspace = workspace_of(QUICK)
    wide = exits._widened(workspace.induction)
    first, up = exits._EXITS
    sharper = replace(first, text=first.text.replace("((1 - alpha)*q)", "((1 - alpha)**2*q)"))
    monkeypatch.setattr(exits, "_EXITS", (sharper, up))
    with pytest.raises(SolverError, match="not derived"):
        exits._narrowed(wide, LATER)
