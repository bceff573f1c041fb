"""The two figures of transition probabilities (section 5): every arrow, its label, what follows.

Figure 2 is a plateau with an objective f that rises on it and has been learnt; figure 3 is
position 1 of the left plateau after J or R was used in the first step. Probabilities are read from
the step cases with n and l unknown, Q-values from the algorithm's own coefficients.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flint import fmpq

from markov_lrsao.model.affine import Affine
from markov_lrsao.model.landscape import P
from markov_lrsao.model.law import DOWN, UP
from proofs_check.claims.scope import EVERYWHERE, PAPER_HYPER, Scope
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.induction import StepFact, solver_number
from proofs_check.runs.run import Run
from proofs_check.statements.building import step_check
from proofs_check.statements.outcomes import compared, refuted_at
from proofs_check.statements.site_checks import outcomes_on
from proofs_check.statements.statement import Check, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]

_SECOND, _THIRD = "Figure 2", "Figure 3"
_STRICT = {
    "L": "zL > zJ and zL > zR and p <= l and p1 <= l",
    "R": "zR > zL and zR > zJ and p >= n - l and p1 <= n - 1",
}


def _plateau_arrows(workspace: Workspace) -> Iterable[Evidence]:
    """Show that f+ moves up and f- is rejected on all of the plateau, and compare the labels."""
    cut, optimum = workspace.setting.family.milestones[1:3]
    first = workspace.setting.family.milestones[0]
    for action, stretch in (("L", (P, first - 1 - P)), ("R", (P - cut, optimum - 1 - P))):
        up = outcomes_on(workspace, action, UP, stretch)
        down = outcomes_on(workspace, action, DOWN, stretch)
        part = f"arrows of {action}"
        if up != {1} or down != {-1}:
            n, ell = workspace.exhaustive_pairs[0]
            yield refuted_at(
                (_SECOND, part),
                f"{action}+ gains and {action}- is rejected on its plateau",
                f"outcomes up {sorted(up)}, down {sorted(down)} (1 gain, 0 equal, -1 rejected)",
                {"n": str(n), "l": str(ell)},
                kind=EvidenceKind.SMT,
            )
            continue
        for label, share in (("m -> m", "m/n"), ("m -> m+1", "(n - m)/n")):
            yield compared(
                workspace,
                (_SECOND, f"{part}, {label}"),
                (share, "=", workspace.term(_SECOND, label)),
                f"the chance of {label} with {action}",
                assume=("n >= 1", "m >= 0", "m <= n"),
            )


def _third_arrows(workspace: Workspace) -> Iterable[Evidence]:
    """Derive the three arrows at position 1 for all n, l: L and y tie at 0, x is at -alpha r."""
    here = (P - 1, Affine(constant=1) - P)
    for other in ("J", "R"):
        flows: dict[str, list[str]] = {"1 -> 0": [], "1 -> 1": [], "1 -> 2": []}
        for action in ("L", other):
            for direction, chance in ((DOWN, "1/n"), (UP, "(n - 1)/n")):
                outcomes = outcomes_on(workspace, action, direction, here)
                moves = {outcome >= 0 for outcome in outcomes}
                if len(moves) != 1:
                    yield Evidence(
                        kind=EvidenceKind.SMT,
                        verdict=Verdict.UNKNOWN,
                        part=f"y = {other}",
                        summary=f"{action} has outcomes {sorted(outcomes)} at position 1",
                    )
                    return
                to = 1 if moves == {False} else 2 if direction == UP else 0
                flows[f"1 -> {to}"].append(f"1/2*{chance}")
        for label, parts in flows.items():
            yield compared(
                workspace,
                (_THIRD, f"{label}, y = {other}"),
                (" + ".join(parts) or "0", "=", workspace.term(_THIRD, label)),
                f"the chance of {label} with y = {other}",
            )
        yield from _third_values(workspace, other)


def _third_values(workspace: Workspace, other: str) -> Iterable[Evidence]:
    """Prove the Q-pattern before the arrows, and the sign of the updated entry after each.

    Before: x was used at 0 with a fresh table, so its entry is -alpha r < 0 and L, y are 0. On
    positions 0..2 the row is that of the state 0, whose largest entry is 0.
    """
    induction = workspace.induction
    prover, algorithm = induction.prover, induction.algorithm
    zero = prover.term("0")

    def updated(reward: Any) -> Any:
        return (
            solver_number(algorithm.keep) * zero
            + solver_number(algorithm.learn) * reward
            + solver_number(algorithm.bootstrap) * zero
        )

    equal = solver_number(algorithm.equal.constant)
    better = solver_number(algorithm.better.constant) + solver_number(algorithm.better.chosen)
    rejected = solver_number(algorithm.rejected.constant)
    goals = {
        f"x is at {workspace.term(_THIRD, 'x')} after the first step": updated(equal)
        == prover.term(workspace.term(_THIRD, "x")),
        "x cannot be chosen": updated(equal) < 0,
        f"{other} is negative after its use": updated(equal) < 0,
        "L is positive after L+": updated(better) > 0,
        "L stays 0 after L-": updated(rejected) == 0,
    }
    answers = {text: prover.prove(induction.base, goal) for text, goal in goals.items()}
    failed = [text for text, answer in answers.items() if answer.status != "proved"]
    part = f"patterns, y = {other}"
    if failed:
        n, ell = workspace.exhaustive_pairs[0]
        law = workspace.law(n, ell)
        parameters = law.algorithm.parameters
        assert parameters is not None
        seen = law.algorithm.learn * law.reward(0, law.actions.index(other), UP)
        claimed = workspace.value(
            _THIRD, "x", alpha=parameters.alpha, gamma=parameters.gamma, r=parameters.r
        )
        if seen != fmpq(claimed):
            yield refuted_at(
                (_THIRD, part),
                f"the entry of x is {claimed} after the first step",
                f"it is {seen}",
                {"n": str(n), "l": str(ell), "r": str(parameters.r)},
                kind=EvidenceKind.SMT,
            )
            return
    yield Evidence(
        kind=EvidenceKind.SMT,
        verdict=Verdict.UNKNOWN if failed else Verdict.PROVED,
        part=part,
        summary=f"left open: {failed[0]}" if failed else "; ".join(goals),
        scope=EVERYWHERE,
    )


def _third_on_runs(workspace: Workspace) -> Iterable[Evidence]:
    """Read the arrows from exact runs after J+ and after R+ in the first step."""
    pairs = workspace.setting.pairs(workspace.setting.pick(16, 30))
    for other, used in (("J", "R"), ("R", "J")):
        part = f"patterns, y = {other}"
        for n, ell in pairs:
            run = Run(workspace.law(n, ell))
            first = fmpq(1, len(run.greedy()))
            if first != fmpq(workspace.value(_THIRD, "first", n=n, l=ell)):
                yield refuted_at(
                    (_THIRD, part),
                    f"each objective is used first with chance {workspace.term(_THIRD, 'first')}",
                    f"with {first}",
                    {"n": str(n), "l": str(ell)},
                )
                return
            run.step(used, UP)
            law, tied = run.law, run.greedy()
            chance = {"1 -> 0": fmpq(0), "1 -> 1": fmpq(0), "1 -> 2": fmpq(0)}
            for action in tied:
                for direction in (DOWN, UP):
                    share = fmpq(1 if direction == DOWN else n - 1, n)
                    to = law.step(run.position, action, direction).next_position
                    label = f"{run.position} -> {to}"
                    chance[label] = chance.get(label, fmpq(0)) + share / len(tied)
            for label, found in chance.items():
                known = label in ("1 -> 0", "1 -> 1", "1 -> 2")
                claimed = fmpq(workspace.value(_THIRD, label, n=n, l=ell)) if known else fmpq(0)
                if claimed != found:
                    yield refuted_at(
                        (_THIRD, part),
                        f"the chance of {label} is {claimed}",
                        f"it is {found} after {used}+",
                        {"n": str(n), "l": str(ell)},
                    )
                    return
        yield Evidence(
            kind=EvidenceKind.EXHAUSTIVE,
            verdict=Verdict.VERIFIED,
            part=part,
            summary=f"the arrows equal those of exact runs after {used}+",
            scope=Scope(f"all {len(pairs)} valid (n, l), n <= {pairs[-1][0]}", PAPER_HYPER),
        )


STATEMENTS = (
    Statement(
        id=_SECOND,
        title="transitions on a plateau with a learnt objective",
        where="402-420",
        claim="With f learnt on the plateau (L on the left one, R on the right one) m goes to "
        "m+1 with "
        "probability (n-m)/n and stays with m/n, and f stays the only greedy objective.",
        terms={"m -> m": "m/n", "m -> m+1": "(n - m)/n"},
        depends=("Lemma 4",),
        checks=(
            Check(EvidenceKind.SMT, _plateau_arrows, parts=("arrows of L", "arrows of R")),
            step_check(
                "L stays greedy",
                StepFact("L stays strictly largest", "zL1 > zJ1 and zL1 > zR1", _STRICT["L"], (1,)),
            ),
            step_check(
                "R stays greedy",
                StepFact("R stays strictly largest", "zR1 > zL1 and zR1 > zJ1", _STRICT["R"], (3,)),
            ),
        ),
    ),
    Statement(
        id=_THIRD,
        title="transitions at position 1 after J or R in the first step",
        where="456-477, 881-902",
        claim="The first step uses each objective with probability 1/3 and leads to 1. After x+ in "
        "{J+, R+} x is at -alpha r and not chosen, L and y tie, and position 1 goes to 1 with "
        "1/(2n) (L-), to 0 with 1/(2n) (y-), to 2 with 2(n-1)/(2n).",
        terms={
            "1 -> 1": "1/(2*n)",
            "1 -> 0": "1/(2*n)",
            "1 -> 2": "2*(n - 1)/(2*n)",
            "x": "-alpha*r",
            "first": "1/3",
        },
        depends=("Lemma 6",),
        checks=(
            Check(EvidenceKind.SMT, _third_arrows, parts=("y = J", "y = R")),
            Check(
                EvidenceKind.EXHAUSTIVE,
                _third_on_runs,
                parts=("patterns, y = J", "patterns, y = R"),
            ),
        ),
    ),
)
