"""Lemma 5, the plateau lemma: (1) the decay bound, (2) an objective once learnt is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import numpy as np
from flint import fmpq

from markov_lrsao.chains.hitting import hitting_times
from markov_lrsao.exact.rationals import harmonic_difference, rational_text
from markov_lrsao.joint.enumeration import enumerate_joint
from markov_lrsao.model.algorithm import Algorithm, Reward
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.law import DOWN, UP, StepLaw
from markov_lrsao.model.parameters import Parameters
from proofs_check.algebra.lines import Derivation, Line
from proofs_check.claims.counterexample import Counterexample
from proofs_check.claims.expressions import COMPARISONS, evaluate
from proofs_check.claims.scope import ANY_HYPER, ANY_LANDSCAPE, Scope
from proofs_check.claims.setting import HYPOTHESIS
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.cases import symbolic_algorithm
from proofs_check.logic.induction import solver_number as number
from proofs_check.logic.smt import Prover, summary_of
from proofs_check.runs.monitors import Monitor, step_monitor
from proofs_check.runs.run import Record, Run, run_of
from proofs_check.statements.building import at_law
from proofs_check.statements.statement import Check, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]

_UNIT = HYPOTHESIS[:5]
_LAMBDA = "(1 - alpha*(1 - gamma))"
_LARGEST_JOINT = 11


def _updates(workspace: Workspace) -> tuple[Prover, Any, Any, Any]:
    """Return the prover and q' after a rejection, a move on the own plateau, and a gain."""
    prover = Prover(
        seconds=workspace.setting.solver_seconds, second=workspace.setting.second_solver
    )
    rule = symbolic_algorithm(
        workspace.setting.algorithm, *(prover.name(x) for x in ("alpha", "gamma", "r"))
    )
    q, gain = prover.name("q"), prover.name("gain")
    both = (number(rule.keep) + number(rule.bootstrap)) * q
    rejected = both + number(rule.learn) * number(rule.rejected.constant)
    better = both + number(rule.learn) * (
        number(rule.better.constant) + number(rule.better.chosen) * gain
    )
    return prover, rejected, both, better


def _decay(workspace: Workspace) -> Iterable[Evidence]:
    """Prove (1): q >= w before a use of f gives q' >= lambda w after it."""
    prover, rejected, _, better = _updates(workspace)
    factor = prover.term(workspace.term("Lemma 5", "factor"))
    goal = factor * prover.name("w")
    known = [*_UNIT, "q >= w"]
    answers = [
        prover.prove(known, rejected >= goal),
        prover.prove([*known, "gain > 0"], better >= goal),
    ]
    good = all(a.status == "proved" for a in answers)
    bad = next((dict(a.model) for a in answers if a.status == "refuted"), None)
    yield Evidence(
        kind=EvidenceKind.SMT,
        part="(1)",
        verdict=Verdict.PROVED if good else Verdict.UNKNOWN,
        summary="inductive for rejected and for accepted uses of f (z3)"
        if good
        else f"not inductive, e.g. {bad}",
        scope=Scope(ANY_LANDSCAPE, ANY_HYPER),
        second=summary_of(answers),
    )


def _kept(workspace: Workspace) -> Iterable[Evidence]:
    """Prove that f stays the only greedy action: q above every other entry m, before and after.

    By Lemma 4 the two are not both positive.
    """
    prover, rejected, _, better = _updates(workspace)
    one = "q <= 0 or m <= 0"
    gained = ["gain > 0", *_UNIT]
    answers = [
        prover.prove([*gained, "q >= m", one], better > prover.name("m")),
        prover.prove([*_UNIT, "q > m", one], rejected > prover.name("m")),
        prover.prove([*gained, "q > m", one], better > prover.name("m")),
    ]
    good = all(a.status == "proved" for a in answers)
    yield Evidence(
        kind=EvidenceKind.SMT,
        part="(2), f stays selected",
        verdict=Verdict.PROVED if good else Verdict.UNKNOWN,
        summary="after f+ and after every further use on the plateau f is the only largest entry "
        "(z3)"
        if good
        else "not derived",
        scope=Scope(ANY_LANDSCAPE, ANY_HYPER),
        second=summary_of(answers),
    )


def _small_landscapes(largest_n: int) -> Iterator[StepLaw]:
    """Yield LRSAO on every landscape with target F and objective f, values 0..2, n small."""
    parameters = Parameters(fmpq(1, 2), fmpq(1, 10), fmpq(1))
    for n in range(2, largest_n + 1):
        for target in product(range(3), repeat=n + 1):
            if target.count(max(target)) != 1 or target[0] == max(target):
                continue
            for f in product(range(3), repeat=n + 1):
                yield StepLaw.of(
                    Landscape.from_arrays({"F": list(target), "f": list(f)}, "F"),
                    Algorithm.lrsao(parameters),
                )


def _plateaus(law: StepLaw) -> Iterator[tuple[int, int]]:
    """Yield all a < b < n with F constant and f strictly increasing on a..b."""
    target, f = law.landscape.objectives["F"], law.landscape.objectives["f"]
    for a in range(law.n):
        for b in range(a + 1, law.n):
            if np.all(target[a : b + 1] == target[a]) and np.all(np.diff(f[a : b + 1]) > 0):
                yield a, b


def _leaves(workspace: Workspace) -> Iterable[Evidence]:
    """Decide (2) on every small landscape: does f carry the walk from k in (a..b] to b+1?"""
    also = workspace.term("Lemma 5", "also")
    limit = workspace.setting.pick(3, 4) if also else 3
    count = 0
    for law in _small_landscapes(limit):
        f = law.landscape.objectives["f"]
        for a, b in _plateaus(law):
            if also:
                names = {"fb": int(f[b]), "fb1": int(f[b + 1])}
                if not all(COMPARISONS[rel](x, y) for rel, x, y in evaluate(also, names)):
                    continue
            count += 1
            index = law.actions.index("f")
            stuck = [
                m
                for m in range(a + 1, b + 1)
                if not law.accepted[m, index, UP] or law.accepted[m, index, DOWN]
            ]
            if stuck and a == 0:
                yield _stuck(law, a, b)
                return
    yield Evidence(
        kind=EvidenceKind.EXHAUSTIVE,
        verdict=Verdict.VERIFIED,
        part="(2)",
        summary=f"f accepts exactly the upward moves up to b+1 in all {count} plateaus",
        scope=Scope(
            f"all landscapes with two objectives, values 0..2, n <= {limit}"
            + (f", and {also}" if also else ""),
            "alpha = 1/2, gamma = 1/10, r = 1",
        ),
    )


def _stuck(law: StepLaw, a: int, b: int) -> Evidence:
    """Return the refutation: f is learnt, and every proposal at b is rejected."""
    climb = [("f", UP)] * (b - a)
    choices = [*climb, ("f", UP), ("f", DOWN), ("f", UP), ("f", DOWN)]
    run = Run(law)
    records = run.play(choices)
    mean = law.n * harmonic_difference(law.n - b - 1, law.n - a - 1)
    rejected = sum(not r.accepted for r in records)
    return Evidence(
        kind=EvidenceKind.EXHAUSTIVE,
        verdict=Verdict.REFUTED,
        part="(2)",
        summary=f"n = {law.n}: f = {law.landscape.objectives['f'].tolist()} is strictly increasing "
        f"on {a}..{b}, but f(b+1) < f(b): once learnt it never leaves {b}",
        scope=Scope(
            "all landscapes with two objectives, values 0..2", "alpha = 1/2, gamma = 1/10, r = 1"
        ),
        counterexample=run_of(
            law,
            choices,
            statement="Lemma 5",
            expected=f"b+1 = {b + 1} is reached from k = {a + 1} after "
            f"{rational_text(mean)} steps on average",
            observed=f"the last {rejected} proposals at position {run.position} were all rejected, "
            f"f has the only largest entry, and so it stays for ever",
        ),
    )


def _stays(workspace: Workspace) -> Monitor:
    """Return the monitor of (2): an objective that is learnt leaves the plateau upwards.

    It is violated where f, increasing on the plateau a..b of the target, has the only positive
    entry at a position k in a+1..b and rejects every proposal there: each rejection multiplies its
    entry by a positive factor and changes no other, so that the walk stays at k for ever.
    """
    also = workspace.term("Lemma 5", "also")

    def look(run: Run, record: Record) -> str | None:
        law, k = run.law, run.position
        row = run.row(k)
        positive = [a for a, x in enumerate(row) if x > 0]
        if len(positive) != 1 or run.finished or law.algorithm.rejected != Reward():
            return None
        a, (low, high) = positive[0], plateau_of(law, k)
        f = law.landscape.objectives[law.actions[a]]
        learnt = low < k and high < law.n and bool(np.all(np.diff(f[low : high + 1]) > 0))
        moves = [d for d in (DOWN, UP) if 0 <= k + 2 * d - 1 <= law.n and law.accepted[k, a, d]]
        if not learnt or moves:
            return None
        if also:
            names = {"fb": int(f[high]), "fb1": int(f[high + 1])}
            if not all(COMPARISONS[rel](x, y) for rel, x, y in evaluate(also, names)):
                return None
        return (
            f"{law.actions[a]} has the only positive entry in the state of position {k} and "
            f"rejects every proposal there: {high + 1} is never reached"
        )

    return step_monitor("Lemma 5", "(2)", "an objective once learnt leaves its plateau", look)


def plateau_of(law: StepLaw, p: int) -> tuple[int, int]:
    """Return the ends of the largest interval around a position in which the state is the same."""
    low = high = p
    while low > 0 and law.row[low - 1] == law.row[p]:
        low -= 1
    while high < law.n and law.row[high + 1] == law.row[p]:
        high += 1
    return low, high


def _on_jump(workspace: Workspace) -> Iterable[Evidence]:
    """Compare (2)'s expectation with the exact chain, on the left plateau of Jump."""
    checked = 0
    # The chain with all rows, independent of the labelled one: small instances only.
    small = [pair for pair in workspace.exhaustive_pairs if pair[0] <= _LARGEST_JOINT]
    for n, ell in small:
        joint = enumerate_joint(workspace.law(n, ell), merge=False)
        chain, coding = joint.chain, joint.coding
        end = workspace.setting.family.milestones[0](n=n, ell=ell)
        times = hitting_times(chain, chain.positions >= end)
        patterns = joint.automata.patterns[joint.automata.class_of(0)]
        shown = coding.pattern(joint.codes, 0)
        left = joint.law.actions.index("L")
        for i in np.flatnonzero(chain.positions < end).tolist():
            k = int(chain.positions[i])
            if k < 1 or patterns[int(shown[i])].maximal != (left,):
                continue
            if patterns[int(shown[i])].signs[left] != 1:
                continue
            wanted = workspace.value(
                "Lemma 5",
                "time",
                n=n,
                Hk=harmonic_difference(0, n - k),
                Hb=harmonic_difference(0, n - end),
            )
            checked += 1
            if times[i] != wanted:
                yield Evidence(
                    kind=EvidenceKind.EXHAUSTIVE,
                    verdict=Verdict.REFUTED,
                    part="(2), time on Jump",
                    summary=f"n = {n}, l = {ell}, k = {k}: exact {times[i]}, formula {wanted}",
                    scope=workspace.exhaustive_scope,
                    counterexample=Counterexample(
                        statement="Lemma 5",
                        expected=f"{wanted} steps on average from k to l+1 once L+ has occurred",
                        observed=f"{times[i]} steps",
                        values={"n": str(n), "l": str(ell), "k": str(k)},
                    ),
                )
                return
    yield Evidence(
        kind=EvidenceKind.EXHAUSTIVE,
        verdict=Verdict.VERIFIED,
        part="(2), time on Jump",
        summary=f"the expected time equals the formula exactly in all {checked} states",
        scope=Scope(f"joint chains of (n, l) = {small}", workspace.exhaustive_scope.hyper),
    )


def _decays(workspace: Workspace) -> Monitor:
    """Return the monitor of (1), for every objective increasing on the present plateau."""
    decay = at_law(workspace.term("Lemma 5", "factor"))

    def look(run: Run, record: Record, memory: Any) -> tuple[Any, str | None]:
        law = run.law
        before, after = plateau_of(law, record.position), plateau_of(law, record.next_position)
        row = run.row(record.position)
        at = law.actions.index(record.action)
        if memory is None or memory[0] != before:
            old = [record.old if i == at else x for i, x in enumerate(row)]
            memory = (before, tuple(old), (0,) * len(row))
        _, start, uses = memory
        uses = tuple(u + (i == at) for i, u in enumerate(uses))
        if after != before:
            return None, None
        low, high = before
        for i, name in enumerate(law.actions):
            values = law.landscape.objectives[name][low : high + 1]
            if (
                high > low
                and np.all(np.diff(values) > 0)
                and (row[i] < decay(law) ** uses[i] * start[i])
            ):
                return None, f"Q[{name}] = {row[i]} after {uses[i]} uses, start {start[i]}"
        return (before, start, uses), None

    return Monitor("Lemma 5", "(1)", "Q_t >= lambda^uses Q_ts along a walk", look)


def _walks(workspace: Workspace) -> Iterable[Evidence]:
    """Watch (1) on random landscapes."""
    yield workspace.on_random_landscapes(_decays(workspace), 200, 2000)


_HIT = "n*(H(n - k) - H(n - {}))"
"""E of the time to hit a position from k when every step up is accepted and none down."""

STATEMENTS = (
    Statement(
        id="Lemma 5",
        title="Plateau lemma",
        where="372-428",
        claim="(1) Q_t[c,f] >= lambda^l(t) Q_ts[c,f] along a walk on a plateau of the target on "
        "which f is strictly increasing; (2) once f+ has occurred there f is selected until "
        "b+1 is reached, in n(H_{n-k} - H_{n-b-1}) steps on average.",
        terms={"factor": _LAMBDA, "also": "", "time": "n*(Hk - Hb)"},
        watched=lambda w, law: [_decays(w), _stays(w)],
        general=True,
        depends=("Lemma 4",),
        checks=(
            Check(EvidenceKind.SMT, _decay, parts=("(1)",)),
            Check(EvidenceKind.STATISTICAL, _walks, parts=("(1)",)),
            Check(EvidenceKind.SMT, _kept, parts=("(2), f stays selected",)),
            Check(EvidenceKind.EXHAUSTIVE, _leaves, parts=("(2)",)),
            Check(EvidenceKind.EXHAUSTIVE, _on_jump, parts=("(2), time on Jump",)),
        ),
        derivations=(
            Derivation(
                "Lemma 5 (1)",
                "387-391",
                (*_UNIT, "rew >= 0", "q >= w"),
                (
                    Line("", "update(q, rew, q)"),
                    Line("=", "(1 - alpha)*q + alpha*(rew + gamma*q)"),
                    Line(">=", f"{_LAMBDA}*q"),
                    Line(">=", f"{_LAMBDA}*w"),
                ),
            ),
            Derivation(
                "Lemma 5 (2) update",
                "395-399",
                _UNIT,
                (
                    Line("", "update(q, rew, q)"),
                    Line("=", "(1 - alpha)*q + alpha*(rew + gamma*q)"),
                    Line("=", f"{_LAMBDA}*q + alpha*rew"),
                ),
            ),
            Derivation(
                "Lemma 5 (2) base",
                "401",
                (*_UNIT, "rew > 0", "q <= 0", "q >= m"),
                (
                    Line("", "update(q, rew, q)"),
                    Line(">", "q"),
                    Line(">=", "m"),
                ),
            ),
            Derivation(
                "Lemma 5 (2) rejected",
                "403",
                (*_UNIT, "q > m", "q <= 0 or m <= 0"),
                (
                    Line("", "update(q, 0, q)"),
                    Line("=", f"{_LAMBDA}*q"),
                    Line(">", "m"),
                ),
            ),
            Derivation(
                "Lemma 5 (2) time",
                "424",
                ("k >= 1", "k <= b", "b < n"),
                (
                    Line("", _HIT.format("b"), candidate=("", _HIT.format("(b + 1)"))),
                    Line("=", "summation(n/(n - m), m, k, b)"),
                ),
            ),
            Derivation(
                "Lemma 5 (2) expectation",
                "425-426",
                ("k >= 1", "k <= b", "b < n"),
                (
                    Line("", _HIT.format("b"), candidate=("", _HIT.format("(b + 1)"))),
                    Line("=", "summation(n/(n - m), m, k, b)"),
                    Line("=", "n*summation(1/m, m, n - b, n - k)"),
                    Line("=", "n*(H(n - k) - H(n - (b + 1)))"),
                ),
            ),
        ),
    ),
)
