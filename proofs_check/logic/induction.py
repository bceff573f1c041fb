"""One induction over all runs, n, l and hyper-parameters: the invariants of the Q-table.

The state of a run is its phase, its position and the Q-table. Rows that the proofs single out
have names of their own: the row of the state 0 (`zL`, `zJ`, `zR`), which serves both plateaus,
and the row of the last state of the slope (`tL`, `tJ`, `tR`). Any other row is *the* row `L`,
`J`, `R` of a generic state `s`. A `Fact` is a formula about the state of a run that holds at the
start and is kept by every step. Facts prove each other, each from all of them at the time before,
so one that fails takes those with it that lean on it: what counts are the *established* facts, the
largest set in which each is kept by every step if all of them held before. Nothing else is ever
assumed. A `StepFact` is a formula about one step: names with a 1 appended are values after it.

Every step of every run is an instance of some case of `proofs_check.logic.cases`, so a fact that
the solver derives in every case holds for all n, l, alpha, gamma, r of the hypothesis and all
times. A failed derivation proves nothing: it is reported as unknown, with the case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from flint import fmpq

from markov_lrsao.errors import ParameterError, SolverError, VerificationError
from markov_lrsao.exact.rationals import rational_text
from markov_lrsao.model.landscape import Affine, LandscapeFamily, P
from proofs_check.claims.expressions import names_of
from proofs_check.claims.scope import EVERYWHERE
from proofs_check.claims.setting import Setting
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.cases import Case, affine_term, cases, region_solver, symbolic_algorithm
from proofs_check.logic.journal import Journal, Shelf, lean_on, texts_wanted, writing
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

    def __post_init__(self) -> None:
        if self.generic and self.phases != ALL_PHASES:
            # A new phase finds all rows as they are, but a step shows a fact for its own row.
            raise ParameterError(f"{self.text!r} speaks of every row: it must hold in all phases")

    @cached_property
    def generic(self) -> bool:
        """Whether it speaks about every row (it uses L, J, R) rather than a named one."""
        flat = self.text
        for sign in ("->", " or ", " and ", "!=", ">=", "<=", "<", ">", "="):
            flat = flat.replace(sign, "+")
        return any(len(name) == 1 and name.isupper() for name in names_of(flat))


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
    facts : the established facts among the assumptions, each with its formulas
    before, after : name -> solver term, before and after the step
    entries : the row of the present state before the step
    new : the updated entry
    """

    case: Case
    phase: int
    following: int
    assumptions: tuple[Any, ...]
    facts: tuple[tuple[Fact, Any], ...]
    before: dict[str, Any]
    after: dict[str, Any]
    entries: dict[str, Any]
    new: Any


@dataclass
class _Trial:
    """The answers about one fact, and the cases in which it was not derived."""

    answers: list[Answer] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    used: set[Fact] = field(default_factory=set)


@dataclass(frozen=True)
class _Row:
    prefix: str
    entries: dict[str, Any]


class Induction:
    """Proves facts for a setting.

    Parameters
    ----------
    facts : candidates for invariants; only those that are established are ever assumed
    given : an induction about the same model under a part of the hypothesis; what it
        establishes need not be proved again

    Raises
    ------
    VerificationError
        `given` is about another model, or assumes something that is not assumed here.
    """

    def __init__(
        self, setting: Setting, facts: Sequence[Fact], given: Induction | None = None
    ) -> None:
        self.setting, self.facts, self._given = setting, tuple(facts), given
        if given is not None and (
            (given.setting.family, given.setting.algorithm) != (setting.family, setting.algorithm)
            or not set(given.setting.hypothesis) <= set(setting.hypothesis)
        ):
            raise VerificationError("facts of another model, or of another hypothesis")
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
        self._tried: dict[Fact, _Trial] = {}
        self._shelf: Shelf[tuple[Fact, ...]] = Shelf("established facts")

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

    @cached_property
    def steps(self) -> tuple[Context, ...]:
        """All cases in all phases in which they can begin."""
        return self._steps(self.established)

    def _steps(self, facts: tuple[Fact, ...]) -> tuple[Context, ...]:
        return tuple(
            context
            for case in self.cases
            for phase in ALL_PHASES
            if (context := self._context(case, phase, facts)) is not None
        )

    def context(self, case: Case, phase: int) -> Context | None:
        """Return what is known about a case's step in a phase; None if it cannot begin there."""
        return self._context(case, phase, self.established)

    def _context(self, case: Case, phase: int, facts: tuple[Fact, ...]) -> Context | None:
        """Return the same if the given facts are assumed."""
        import z3

        def known(rows: dict[str, Any], generic: bool) -> list[tuple[Fact, Any]]:
            """Return the facts of the phase, instantiated; generic ones speak of one row."""
            return [
                (fact, self._formula(fact, rows))
                for fact in facts
                if phase in fact.phases and fact.generic == generic
            ]

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
            *[at.entries[case.action] >= x for x in at.entries.values()],
            *[largest >= x for x in to.entries.values()],
            z3.Or([largest == x for x in to.entries.values()]),
        ]
        used = [*known(before, False), *known(before, True)]
        if not case.same_row:
            used += known({**named, **to.entries, "s": s1, "p": p}, True)
        for q in ("z", "t"):
            if q not in (at.prefix, to.prefix):
                row = {a: named[q + a] for a in self.actions}
                value = 0 if q == "z" else affine_term(self.top, self.names)
                used += known({**named, **row, "s": value, "p": p}, True)
        return Context(
            case=case,
            phase=phase,
            following=following,
            assumptions=(*assumptions, *(formula for _, formula in used)),
            facts=tuple(used),
            before=before,
            after=after,
            entries=at.entries,
            new=new,
        )

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

    @property
    def established(self) -> tuple[Fact, ...]:
        """The largest set of facts in which each follows from all of them a step before.

        All candidates are assumed at first. One that does not hold at the start, or that some step
        does not keep, is dropped, and the others are tried again without it. Whoever uses them
        leans on the journals of all their proofs.

        Raises
        ------
        SolverError
            No parameters satisfy the hypothesis, so that everything would follow.
        """
        return self._shelf.get("established", self._establish)

    def _establish(self) -> tuple[Fact, ...]:
        lean_on(region_solver(self.setting.family).journal)
        if self.prover.satisfiable(self.base, "the hypothesis") is False:
            raise SolverError("no n, l, alpha, gamma, r satisfy the hypothesis: nothing to prove")
        kept = self.facts
        given: dict[Fact, _Trial] = {}
        if self._given is not None:
            given = {fact: self._given._tried[fact] for fact in self._given.established}
        self._tried.update(given)
        while True:
            steps = self._steps(kept)
            journals = {
                fact: Journal(f"fact: {fact.name}", texts_wanted())
                for fact in kept
                if fact not in given
            }
            for fact, journal in journals.items():
                with writing(journal):
                    self._tried[fact] = self._try(fact, steps)
            held = tuple(fact for fact in kept if not self._tried[fact].failures)
            if held == kept:
                for journal in journals.values():
                    lean_on(journal)
                return kept
            kept = held

    def _try(self, fact: Fact | StepFact, steps: Sequence[Context]) -> _Trial:
        """Ask whether a fact follows in all cases, and holds at the start."""
        trial = _Trial()
        if isinstance(fact, Fact):
            self._start(fact, trial.answers, trial.failures)
        for context in steps:
            goal = self._goal(fact, context, _reaches_optimum(self.setting, context.case))
            if goal is None:
                continue
            self.prover.second = self.second and (
                self.setting.full or len(trial.answers) % _SECOND_EVERY == 0
            )
            answer = self.prover.prove(
                [*context.assumptions, *goal[0]],
                goal[1],
                f"{fact.name}, phase {context.phase}, {context.case}",
            )
            trial.answers.append(answer)
            trial.used.update(used for used, _ in context.facts)
            if answer.status != "proved":
                why = answer.reason or "not inductive, e.g. " + ", ".join(
                    f"{k} = {v}" for k, v in answer.model.items()
                )
                trial.failures.append(f"{fact.name}, phase {context.phase}, {context.case}: {why}")
        return trial

    def leans_on(self, fact: Fact | StepFact) -> tuple[Fact, ...]:
        """Return the established facts from which z3 derives a fact: the union of unsat cores."""
        found: set[Fact] = set()
        for context in self.steps:
            goal = self._goal(fact, context, _reaches_optimum(self.setting, context.case))
            if goal is None:
                continue
            plain = context.assumptions[: len(context.assumptions) - len(context.facts)]
            formulas = [formula for _, formula in context.facts]
            core = self.prover.core([*plain, *goal[0]], formulas, goal[1])
            found.update(context.facts[i][0] for i in core)
        return tuple(other for other in self.facts if other in found)

    def prove(self, wanted: Sequence[Fact | StepFact], part: str = "") -> Evidence:
        """Prove facts (that they hold at the start, and are kept) and step facts."""
        established = self.established
        trials = [
            self._tried[fact]
            if isinstance(fact, Fact) and fact in self._tried
            else self._try(fact, self.steps)
            for fact in wanted
        ]
        answers = [answer for trial in trials for answer in trial.answers]
        failures = [failure for trial in trials for failure in trial.failures]
        dropped = [fact.name for fact in self.facts if fact not in established]
        used = set[Fact]().union(*(trial.used for trial in trials))
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
            scope=EVERYWHERE,
            details=(
                f"invariant: {names}",
                *([f"not established, so not used: {', '.join(dropped)}"] if dropped else []),
                *failures[:5],
            ),
            second=summary_of(answers),
            facts=tuple(fact.name for fact in self.facts if fact in used),
            seconds=sum(a.seconds for a in answers),
        )

    def _start(self, fact: Fact, answers: list[Answer], failures: list[str]) -> None:
        if 1 not in fact.phases:
            return
        zero = {q + a: self.prover.term("0") for q in ("z", "t", "") for a in self.actions}
        zero["p"] = self.prover.term("0")
        answer = self.prover.prove(
            self.base, self._formula(fact, zero), f"{fact.name} at the start"
        )
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
