"""One induction over all runs, n, l and hyper-parameters: the invariants of the Q-table.

The state of a run is its phase, its position and the Q-table. Rows that the proofs single out
have names of their own: the row of the state 0 (`zL`, `zJ`, `zR`), which serves both plateaus,
and the row of the last state of the slope (`tL`, `tJ`, `tR`). Any other row is *the* row `L`,
`J`, `R` of a generic state `s`. A `Fact` is a formula about the state of a run that holds at the
start and is kept by every step; all facts are proved together, each from all of them at the time
before. A `StepFact` is a formula about one step: names with a 1 appended are values after it.

Every step of every run is an instance of some case of `proofs_check.logic.cases`, so a fact that
the solver derives in every case holds for all n, l, alpha, gamma, r of the hypothesis and all
times. A failed derivation proves nothing: it is reported as unknown, with the case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from flint import fmpq

from markov_lrsao.exact.rationals import rational_text
from markov_lrsao.model.landscape import Affine, LandscapeFamily, P
from proofs_check.claims.expressions import names_of
from proofs_check.claims.setting import Setting
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.cases import Case, affine_term, cases, region_solver, symbolic_algorithm
from proofs_check.logic.smt import Answer, Prover, summary_of

__all__ = ["Context", "Fact", "Induction", "StepFact", "solver_number"]

ALL_PHASES = (1, 2, 3)
_SECOND_EVERY = 12
"""At level quick the second solver is asked about every twelfth query, at full about all."""


@dataclass(frozen=True)
class Fact:
    """A formula about every state of a run in the given phases."""

    name: str
    text: str
    phases: tuple[int, ...] = ALL_PHASES


@dataclass(frozen=True)
class StepFact:
    """A formula about every step that begins in one of the phases and satisfies `when`.

    Attributes
    ----------
    actions : the chosen actions it speaks about; empty for all
    final : whether it speaks about a step into the optimum, too
    """

    name: str
    text: str
    when: str = ""
    phases: tuple[int, ...] = ALL_PHASES
    actions: tuple[str, ...] = ()
    final: bool = False


@dataclass(frozen=True, eq=False)
class Context:
    """A case in a phase, with all that is known about its step.

    Attributes
    ----------
    before, after : name -> solver term, before and after the step
    entries : the row of the present state before the step
    new : the updated entry
    """

    case: Case
    phase: int
    following: int
    assumptions: tuple[Any, ...]
    before: dict[str, Any]
    after: dict[str, Any]
    entries: dict[str, Any]
    new: Any


@dataclass(frozen=True)
class _Row:
    prefix: str
    entries: dict[str, Any]


class Induction:
    """Proves facts for a setting.

    Parameters
    ----------
    facts : the invariants that may be assumed before a step, all of which must be proved
    """

    def __init__(self, setting: Setting, facts: Sequence[Fact]) -> None:
        self.setting, self.facts = setting, tuple(facts)
        family = setting.family
        self.actions = [name for name, _ in family.objectives]
        self.first, self.cut = family.milestones[0], family.milestones[1]
        self.top = self.cut - 1
        self.prover = Prover(
            seconds=setting.solver_seconds,
            second=setting.second_solver,
            second_on_search=setting.full,
        )
        self.second = self.prover.second
        self.algorithm = symbolic_algorithm(
            setting.algorithm, *(self.prover.name(x) for x in ("alpha", "gamma", "r"))
        )
        self.names = {x: self.prover.name(x) for x in ("p", "n", "l")}

    # -- the steps -----------------------------------------------------------------

    @property
    def cases(self) -> tuple[Case, ...]:
        """All cases, the named rows and phase boundaries told apart."""
        return cases(self.setting.family, (self.first - 1, self.top), self.algorithm.accept_equal)

    def _forms(self, forms: Iterable[Affine]) -> list[Any]:
        return [affine_term(f, self.names) >= 0 for f in forms]

    @cached_property
    def base(self) -> list[Any]:
        """The landscape's constraints, the hypothesis and 0 <= p <= n."""
        formulas = self._forms((*self.setting.family.constraints, P, Affine(n=1) - P))
        return formulas + [self.prover.formula(t) for t in self.setting.hypothesis]

    def _row(self, state: Affine, region: tuple[Affine, ...], generic: str) -> _Row:
        """Return the row of a state: a named one where the region decides, else a generic one."""
        if state == Affine():
            prefix = "z"
        elif state == self.top or (state.p and _decides(self.setting, state, region, self.top)):
            prefix = "t"
        else:
            prefix = generic
        return _Row(prefix, {a: self.prover.name(prefix + a) for a in self.actions})

    def _formula(self, fact: Fact, rows: dict[str, Any]) -> Any:
        return self.prover.formula(fact.text, rows)

    def _facts(self, phase: int, rows: dict[str, Any], generic: bool) -> Iterator[Any]:
        """Yield the facts of a phase, instantiated; generic ones for one row only."""
        for fact in self.facts:
            if phase in fact.phases and _is_generic(fact.text) == generic:
                yield self._formula(fact, rows)

    @cached_property
    def steps(self) -> tuple[Context, ...]:
        """All cases in all phases in which they can begin."""
        return tuple(
            context
            for case in self.cases
            for phase in ALL_PHASES
            if (context := self.context(case, phase)) is not None
        )

    def context(self, case: Case, phase: int) -> Context | None:
        """Return what is known about a case's step in a phase; None if it cannot begin there."""
        import z3

        following = self._next_phase(case, phase)
        if following is None:
            return None
        at = self._row(case.state, case.region, "x")
        to = at if case.same_row else self._row(case.next_state, case.region, "y")
        p = self.names["p"]
        s, s1 = (affine_term(f, self.names) for f in (case.state, case.next_state))
        named = {q + a: self.prover.name(q + a) for q in "zt" for a in self.actions}
        before = {**named, **at.entries, "s": s, "p": p, "p1": p + case.moved}
        largest = z3.Real("M")
        new = self._new_value(case, at.entries[case.action], largest)
        changed = {**at.entries, case.action: new}
        after = {**named, **changed, "s": s, "p": p + case.moved}
        if at.prefix in "zt":
            after.update({at.prefix + a: changed[a] for a in self.actions})
        assumptions = [
            *self.base,
            *self._forms(case.region),
            *self._facts(phase, before, False),
            *self._facts(phase, before, True),
            *[at.entries[case.action] >= x for x in at.entries.values()],
            *[largest >= x for x in to.entries.values()],
            z3.Or([largest == x for x in to.entries.values()]),
        ]
        if not case.same_row:
            target = {**named, **to.entries, "s": s1, "p": p}
            assumptions += list(self._facts(phase, target, True))
        for q in ("z", "t"):
            if q not in (at.prefix, to.prefix):
                row = {a: named[q + a] for a in self.actions}
                value = 0 if q == "z" else affine_term(self.top, self.names)
                assumptions += list(self._facts(phase, {**named, **row, "s": value, "p": p}, True))
        return Context(case, phase, following, tuple(assumptions), before, after, at.entries, new)

    def _next_phase(self, case: Case, phase: int) -> int | None:
        """Return the phase after a step, or None if the step cannot begin in this phase."""
        bounds = {
            1: (Affine(), self.first - 1),
            2: (Affine(), self.top),
            3: (Affine(), self.setting.family.milestones[2] - 1),
        }
        low, high = bounds[phase]
        feasible = _feasibility(self.setting)
        if not feasible((*case.region, P - low, high - P)):
            return None
        goal = {1: self.first, 2: self.cut, 3: None}[phase]
        if goal is None or case.moved != 1:
            return phase
        hits = not feasible((*case.region, goal - P - 2)) and not feasible((*case.region, P - goal))
        return phase + 1 if hits else phase

    def _new_value(self, case: Case, old: Any, largest: Any) -> Any:
        """Return the updated entry, from the algorithm's own coefficients."""
        algorithm = self.algorithm
        form = (algorithm.rejected, algorithm.equal, algorithm.better)[case.outcome + 1]
        gain = affine_term(case.gain, self.names)
        target_gain = affine_term(case.next_state - case.state, self.names)
        reward = (
            solver_number(form.constant)
            + solver_number(form.chosen) * gain
            + (solver_number(form.target) * target_gain)
        )
        return (
            solver_number(algorithm.keep) * old
            + solver_number(algorithm.learn) * reward
            + solver_number(algorithm.bootstrap) * largest
        )

    # -- the proofs ----------------------------------------------------------------

    def prove(self, wanted: Sequence[Fact | StepFact], part: str = "") -> Evidence:
        """Prove facts (that they hold at the start, and are kept) and step facts."""
        answers: list[Answer] = []
        failures: list[str] = []
        for fact in wanted:
            if isinstance(fact, Fact):
                self._start(fact, answers, failures)
        for context in self.steps:
            case, phase = context.case, context.phase
            final = _reaches_optimum(self.setting, case)
            for fact in wanted:
                goal = self._goal(fact, context, final)
                if goal is None:
                    continue
                self.prover.second = self.second and (
                    self.setting.full or len(answers) % _SECOND_EVERY == 0
                )
                answer = self.prover.prove([*context.assumptions, *goal[0]], goal[1])
                answers.append(answer)
                if answer.status != "proved":
                    why = answer.reason or "not inductive, e.g. " + ", ".join(
                        f"{k} = {v}" for k, v in answer.model.items()
                    )
                    failures.append(f"{fact.name}, phase {phase}, {case}: {why}")
        names = ", ".join(f"{f.text}" for f in wanted)
        return Evidence(
            kind=EvidenceKind.SMT,
            part=part,
            verdict=Verdict.UNKNOWN if failures else Verdict.PROVED,
            summary=(
                f"{len(failures)} of {len(answers)} cases not derived"
                if failures
                else f"inductive in all {len(answers)} cases (z3)"
            ),
            range="all n, l, alpha, gamma, r in (H), all times",
            details=(f"invariant: {names}", *failures[:5]),
            second=summary_of(answers),
            seconds=sum(a.seconds for a in answers),
        )

    def _start(self, fact: Fact, answers: list[Answer], failures: list[str]) -> None:
        if 1 not in fact.phases:
            return
        zero = {q + a: self.prover.term("0") for q in ("z", "t", "") for a in self.actions}
        zero["p"] = self.prover.term("0")
        answer = self.prover.prove(self.base, self._formula(fact, zero))
        answers.append(answer)
        if answer.status != "proved":
            failures.append(f"{fact.name} at the start: {answer.reason or answer.model}")

    def _goal(
        self, fact: Fact | StepFact, context: Context, final: bool
    ) -> tuple[list[Any], Any] | None:
        """Return (further assumptions, what is to be shown), or None if nothing is."""
        after = context.after
        if isinstance(fact, Fact):
            if context.following not in fact.phases or final:
                return None
            return [], self._formula(fact, after)
        if context.phase not in fact.phases or (
            fact.actions and context.case.action not in fact.actions
        ):
            return None
        if final and not fact.final:
            return None
        names = {**context.before, **{k + "1": v for k, v in after.items() if k not in ("p", "s")}}
        when = [self.prover.formula(fact.when, names)] if fact.when else []
        return when, self.prover.formula(fact.text, names)

    def satisfiable_steps(self) -> int:
        """Return for how many steps the assumptions can hold: proofs must not be vacuous."""
        self.prover.second = self.second
        return sum(self.prover.satisfiable(c.assumptions) is True for c in self.steps)


def solver_number(value: Any) -> Any:
    """Return an exact rational or a solver term as a solver term."""
    import z3

    return z3.RealVal(rational_text(value)) if isinstance(value, fmpq) else value


def _is_generic(text: str) -> bool:
    """Whether a fact speaks about every row (it uses L, J, R) rather than a named one."""
    flat = text.replace("->", "+").replace(" or ", "+").replace(" and ", "+")
    flat = flat.replace("!=", "+").replace(">=", "+").replace("<=", "+")
    for sign in "<>=":
        flat = flat.replace(sign, "+")
    return any(len(name) == 1 and name.isupper() for name in names_of(flat))


@cache
def _feasible_cache(family: LandscapeFamily, forms: tuple[Affine, ...]) -> bool:

    return region_solver(family).feasible(forms)


def _feasibility(setting: Setting) -> Callable[[Iterable[Affine]], bool]:
    return lambda forms: _feasible_cache(setting.family, tuple(forms))


def _decides(setting: Setting, state: Affine, region: tuple[Affine, ...], value: Affine) -> bool:
    """Whether the state equals the value all over the region."""
    feasible = _feasibility(setting)
    return not feasible((*region, state - value - 1)) and not feasible((*region, value - state - 1))


def _reaches_optimum(setting: Setting, case: Case) -> bool:
    """Whether a case's step ends in the optimum."""
    optimum = setting.family.milestones[-1]
    return case.moved == 1 and _decides(setting, P + 1, case.region, optimum)
