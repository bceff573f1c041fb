"""Reward rule (R) against Algorithm 1, one step of Algorithm 1 on bit strings, and the phases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import product

from flint import fmpq

from markov_lrsao.answers.expected import runtime
from markov_lrsao.exact.rationals import rational
from markov_lrsao.model.law import UP, StepLaw
from proofs_check.claims.counterexample import Counterexample
from proofs_check.claims.scope import ANY_HYPER, ANY_LANDSCAPE, PAPER_HYPER, Scope
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.induction import StepFact, solver_number
from proofs_check.logic.smt import Prover, summary_of
from proofs_check.statements.building import invariant_check, step_check
from proofs_check.statements.outcomes import refuted_at, verdict_of
from proofs_check.statements.statement import Check, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]

_RULE, _STEP, _PHASES = "(R) and Algorithm 1", "Algorithm 1, one step", "Phases"
_ANY = Scope(ANY_LANDSCAPE, ANY_HYPER)
_CASES = {"worse": "D < 0", "equal": "D = 0", "better": "D > 0"}
"""(R)'s cases, D = f_t(x_new) - f_t(x_t)."""


def _rule(workspace: Workspace) -> Iterable[Evidence]:
    """Compare (R) with lines 236-248 of Algorithm 1, and with the engine, for any real D and r.

    Algorithm 1: if D >= 0 then the reward is D, and -r if that is 0; else it is 0.
    """
    import z3

    setting = workspace.setting
    prover = Prover(seconds=setting.solver_seconds, second=setting.second_solver)
    gain, r = prover.name("D"), prover.name("r")
    printed = z3.If(gain >= 0, z3.If(gain == 0, -r, gain), z3.RealVal(0))
    algorithm = workspace.induction.algorithm
    engine = {"worse": algorithm.rejected, "equal": algorithm.equal, "better": algorithm.better}
    for part, when in _CASES.items():
        text = workspace.term(_RULE, part)
        rule = prover.term(text)
        form = engine[part]
        ours = solver_number(form.constant) + solver_number(form.chosen) * gain
        answers = [
            prover.prove(["r > 0", when], rule == printed),
            prover.prove(["r > 0", when], rule == ours),
        ]
        bad = next((a for a in answers if a.status == "refuted"), None)
        status = "refuted" if bad else "proved"
        status = "unknown" if not bad and any(a.status == "unknown" for a in answers) else status
        yield Evidence(
            kind=EvidenceKind.SMT,
            verdict=verdict_of(status),
            part=part,
            summary=f"{when}: (R) says {text}, and so do Algorithm 1 and the engine: {status}",
            scope=_ANY,
            second=summary_of(answers),
            counterexample=Counterexample(
                statement=_RULE,
                expected=f"where {when} the reward is {text}",
                observed="Algorithm 1 gives another one",
                values=dict(bad.model),
            )
            if bad
            else None,
        )


def _literal(
    bits: tuple[int, ...],
    flipped: int,
    objective: str,
    table: Mapping[tuple[int, str], Fraction],
    law: StepLaw,
) -> tuple[tuple[int, ...], tuple[int, ...], Fraction, dict[tuple[int, str], Fraction]]:
    """Return x_new, x_{t+1}, r_{t+1} and Q_{t+1} by lines 233-253; flip and choice are given."""
    parameters = law.algorithm.parameters
    assert parameters is not None
    alpha, gamma, r = (Fraction(str(x)) for x in (parameters.alpha, parameters.gamma, parameters.r))
    value = {a: values.tolist() for a, values in law.landscape.objectives.items()}
    new = tuple(1 - b if i == flipped else b for i, b in enumerate(bits))
    f, jump = value[objective], value[law.landscape.target]
    if f[sum(new)] >= f[sum(bits)]:
        reward, following = Fraction(f[sum(new)] - f[sum(bits)]), new
        if reward == 0:
            reward = -r
    else:
        reward, following = Fraction(0), bits
    s, s1 = jump[sum(bits)], jump[sum(following)]
    after = dict(table)
    best = max(table[s1, a] for a in value)
    after[s, objective] = (1 - alpha) * table[s, objective] + alpha * (reward + gamma * best)
    return new, following, reward, after


def _one_step(workspace: Workspace) -> Iterable[Evidence]:
    """Play Algorithm 1 on bit strings, line by line, and compare with the table of the law."""
    n, ell = workspace.exhaustive_pairs[0]
    law = workspace.law(n, ell)
    moved = workspace.number(_STEP, "distance")
    changed = workspace.number(_STEP, "entries")
    table = {
        (s, a): Fraction(3 * s + 5 * i - 7, 11)
        for s in range(n + 1)
        for i, a in enumerate(law.actions)
    }
    steps = 0
    for bits in product((0, 1), repeat=n):
        p = sum(bits)
        if p == law.optimum:
            continue
        for flipped, objective in product(range(n), law.actions):
            new, following, reward, after = _literal(bits, flipped, objective, table, law)
            direction = UP if bits[flipped] == 0 else 1 - UP
            step = law.step(p, objective, direction)
            entry = (int(law.row_value[law.row[p]]), objective)
            best = max(rational(table[int(step.next_state), a]) for a in law.actions)
            algorithm = law.algorithm
            value = (
                algorithm.keep * rational(table[entry])
                + algorithm.learn * step.reward
                + algorithm.bootstrap * best
            )
            proposed = abs(sum(new) - p)
            differing = {key for key in table if after[key] != table[key]} | {entry}
            wrong = [
                text
                for good, text in (
                    (sum(following) == step.next_position, "the next position"),
                    (rational(reward) == step.reward, "the reward"),
                    (rational(after[entry]) == value, "the updated entry"),
                    (proposed == moved, f"the offspring is at distance {proposed}"),
                    (len(differing) == changed, f"{len(differing)} entries are updated"),
                )
                if not good
            ]
            steps += 1
            if wrong:
                yield refuted_at(
                    (_STEP, ""),
                    f"one step of Algorithm 1 as the claim says, {objective} chosen at {p}",
                    wrong[0],
                    {"n": str(n), "l": str(ell), "x": "".join(map(str, bits))},
                )
                return
    yield Evidence(
        kind=EvidenceKind.EXHAUSTIVE,
        verdict=Verdict.VERIFIED,
        summary=f"{steps:,} steps of Algorithm 1 on bit strings equal the table of the law",
        scope=Scope(f"n = {n}, l = {ell}, all bit strings and flips", PAPER_HYPER),
    )


def _sum_of_phases(workspace: Workspace) -> Iterable[Evidence]:
    """Compare E[T] with E[T1] + E[T2] + E[T3] on exact chains."""
    share = fmpq(workspace.value(_PHASES, "share"))
    pairs = workspace.exhaustive_pairs[:2]
    for n, ell in pairs:
        law = workspace.law(n, ell)
        result = runtime(law.landscape, law.algorithm, outside_h=True)
        total, phases = result.total.value, [q.value for q in result.phases]
        if share * total != sum(phases, fmpq(0)):
            yield refuted_at(
                (_PHASES, ""),
                f"E[T1] + E[T2] + E[T3] = {share} E[T]",
                f"E[T] = {total}, phases {[str(x) for x in phases]}",
                {"n": str(n), "l": str(ell)},
            )
            return
    yield Evidence(
        kind=EvidenceKind.EXHAUSTIVE,
        verdict=Verdict.VERIFIED,
        summary="E[T] = E[T1] + E[T2] + E[T3] exactly",
        scope=Scope(f"(n, l) in {pairs}", PAPER_HYPER),
    )


STATEMENTS = (
    Statement(
        id=_RULE,
        title="the reward as printed and as programmed",
        where="211-216, 236-248; 117",
        claim="Rule (R) and lines 236-248 of Algorithm 1 give the same reward in all cases; every "
        "accepted offspring that does not increase the chosen objective is penalised.",
        scope=_ANY,
        terms={"worse": "0", "equal": "-r", "better": "D"},
        checks=(Check(EvidenceKind.SMT, _rule, parts=tuple(_CASES)),),
    ),
    Statement(
        id=_STEP,
        title="one iteration on bit strings",
        where="216, 226-253, 263, 366, 840",
        claim="The offspring's position differs from its parent's by one; the state is Jump's "
        "value; one "
        "iteration updates the entry [s_t, f_t] and no other.",
        terms={"distance": "1", "entries": "1"},
        checks=(Check(EvidenceKind.EXHAUSTIVE, _one_step),),
    ),
    Statement(
        id=_PHASES,
        title="T = T1 + T2 + T3",
        where="267, 498, 868",
        claim="The left plateau is left through l+1 and the right one entered through n-l, so "
        "that the "
        "phases follow each other and T = T1 + T2 + T3.",
        terms={"share": "1"},
        checks=(
            invariant_check("walk"),
            step_check(
                "",
                StepFact("a step moves by at most one", "p1 <= p + 1 and p1 >= p - 1", final=True),
            ),
            Check(EvidenceKind.EXHAUSTIVE, _sum_of_phases),
        ),
    ),
)
