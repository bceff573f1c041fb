"""From statements to verdicts.

`verify` runs the checks, the random runs and the displayed lines of every chosen statement, and
turns what they find into verdicts. A check that gives up (an undecided comparison, a state space
that does not fit, a solver's time limit) leaves evidence UNKNOWN with the reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path

from markov_lrsao.errors import LrsaoError, ParameterError, VerificationError
from markov_lrsao.model.landscape import JUMP
from markov_lrsao.progress import Progress, no_progress
from proofs_check.algebra.lines import Derivation, check_derivation
from proofs_check.certificates.folder import Noted, check_place, write_certificates
from proofs_check.claims.scope import ALL_SIZES
from proofs_check.claims.setting import Setting
from proofs_check.claims.verdict import (
    Erratum,
    Evidence,
    EvidenceKind,
    Solvers,
    StatementResult,
    Verdict,
    Verdicts,
)
from proofs_check.logic.journal import Journal, closure, writing
from proofs_check.logic.smt import second_opinions
from proofs_check.runs.monitors import Counter, Monitor
from proofs_check.runs.search import Battery, instances, judge, search
from proofs_check.statements.statement import Check, Statement
from proofs_check.verification.changes import check_changes
from proofs_check.verification.confirming import Status, confirm
from proofs_check.verification.registry import all_statements, find, workspace_of

__all__ = ["verify"]


def verify(
    names: str | Sequence[str] | None = None,
    setting: Setting | None = None,
    *,
    progress: Progress = no_progress,
    certificates: str | Path | None = None,
) -> Verdicts:
    """Check one statement, several, or all (the default), and return the verdicts.

    At level full cvc5 is asked about every query. With `certificates`, what the verdicts rest on
    is written into that folder, for `python -m proofs_check.checker`.

    >>> [result] = verify("Range of l")
    >>> result.verdict.value
    'PROVED'

    Raises
    ------
    ParameterError
        A name is unknown, the setting changes something that is not there, or the folder for
        certificates holds something else.
    """
    setting = setting if setting is not None else Setting()
    if certificates is not None:
        check_place(Path(certificates))
    check_changes(setting, all_statements())
    names = [names] if isinstance(names, str) else names
    chosen = (
        [all_statements()[x] for x in dict.fromkeys(find(name).id for name in names)]
        if names
        else list(all_statements().values())
    )
    verification = _Verification(setting, chosen, texts=certificates is not None)
    results = []
    with progress("checking statements", total=len(chosen)) as bar:
        for statement in chosen:
            results.append(verification.result(statement))
            bar.advance()
    if setting.full and setting.second_solver:
        journals = [noted.journal for found in verification.noted.values() for noted in found]
        second_opinions(journals, setting.solver_seconds)
    refuted = {r.id for r in results if r.verdict is Verdict.REFUTED}
    verdicts = Verdicts(
        replace(
            r,
            refuted_support=tuple(d for d in r.depends if d in refuted),
            solvers=_solvers(verification.noted[r.id]),
        )
        for r in results
    )
    if certificates is not None:
        write_certificates(
            Path(certificates), setting, verdicts, verification.noted, progress=progress
        )
    return verdicts


def _solvers(noted: Iterable[Noted]) -> Solvers:
    """Return how many queries without a model stand behind what is PROVED."""
    proved = [x for x in noted if any(e.verdict is Verdict.PROVED for e in x.evidence)]
    judged = [x for x in proved if x.kind is not EvidenceKind.LINES] or proved
    queries = {
        (query.key if query.text else id(query)): query
        for journal in closure(x.journal for x in judged)
        for query in journal.queries
        if query.status == "unsat"
    }
    return Solvers(len(queries), sum(q.second == "agrees" for q in queries.values()))


def _tried(
    kind: EvidenceKind, parts: Sequence[str], find_out: Callable[[], Iterable[Evidence]]
) -> list[Evidence]:
    """Return the evidence, or why there is none for any of the parts.

    What cannot be read as written (a term that divides by zero, say) is a part of its own: no
    other evidence makes up for it.
    """
    begun = time.perf_counter()
    try:
        found = list(find_out())
    except Exception as error:
        library = type(error).__module__.partition(".")[0] in ("sympy", "z3")
        if not library and not isinstance(
            error, LrsaoError | ArithmeticError | NotImplementedError
        ):
            raise
        unreadable = isinstance(error, ParameterError | ArithmeticError)
        found = [
            Evidence(
                kind=kind,
                verdict=Verdict.UNKNOWN,
                part=part,
                summary=f"gave up: {type(error).__name__}: {' '.join(str(error).split())}",
            )
            for part in (["as written"] if unreadable else parts)
        ]
    seconds = (time.perf_counter() - begun) / max(1, len(found))
    return [replace(e, seconds=e.seconds or seconds) for e in found]


class _Verification:
    """A workspace, the statements to be checked, and the random runs that all of them watch."""

    def __init__(
        self, setting: Setting, statements: Sequence[Statement], *, texts: bool = False
    ) -> None:
        self.setting, self.statements = setting, statements
        self.workspace = workspace_of(setting)
        self.texts = texts or (setting.full and setting.second_solver)
        self.noted: dict[str, list[Noted]] = {s.id: [] for s in statements}
        self.known: dict[str, StatementResult] = {}

    def _monitors(self, statement: Statement) -> list[Monitor]:
        if statement.monitors is None:
            return []
        found = statement.monitors(self.workspace)
        return [m.monitor() if isinstance(m, Counter) else m for m in found]

    @cached_property
    def battery(self) -> Battery:
        """Random runs that all monitors of the chosen statements watch."""
        watched = [m for s in self.statements for m in self._monitors(s)]
        runs = self.setting.pick(8, 60)
        return search(instances(self.setting), watched, runs=runs, seed=self.setting.seed)

    def _monitored(self, statement: Statement) -> list[Evidence]:
        return [judge(self.battery, m) for m in self._monitors(statement)]

    def _checked(self, check: Check) -> Iterable[Evidence]:
        if check.model_only and not self.setting.paper_model:
            raise VerificationError(
                "its closed form is that of the paper's model and hyper-parameters only"
            )
        return check.run(self.workspace)

    def _named(self, evidence: Evidence, statement: Statement) -> Evidence:
        """Let a counterexample name its part and the changed terms, in words that were recomputed.

        A witness that is not confirmed refutes nothing.
        """
        if evidence.counterexample is None:
            return evidence
        own = {key: self.workspace.term(statement.id, key) for key in statement.terms}
        changed = {key: text for key, text in own.items() if text != statement.terms[key]}
        bad = replace(evidence.counterexample, part=evidence.part, terms=changed)
        judged = confirm(bad, self.setting, again=False)
        if judged.status is Status.NOT_CONFIRMED and evidence.verdict is Verdict.REFUTED:
            return replace(
                evidence,
                verdict=Verdict.UNKNOWN,
                summary=f"a witness that is not confirmed ({judged.reason}): {evidence.summary}",
                counterexample=None,
            )
        if judged.status is Status.CONFIRMED:
            bad = replace(bad, observed=judged.seen)
        return replace(evidence, counterexample=bad)

    def result(self, statement: Statement) -> StatementResult:
        """Return what is known about a statement, found out when first asked for."""
        if statement.id not in self.known:
            self.known[statement.id] = self._result(statement)
        return self.known[statement.id]

    def _resting(self, evidence: Evidence, statement: Statement) -> Evidence:
        """Return the evidence; a proof that rests on what is not proved here is none.

        Computer algebra speaks of the sizes of Jump, whatever sizes a changed family admits.
        """
        if evidence.verdict is not Verdict.PROVED or evidence.kind is EvidenceKind.LINES:
            return evidence
        if (
            evidence.kind is EvidenceKind.SYMBOLIC
            and evidence.scope.sizes == ALL_SIZES
            and self.setting.family.constraints != JUMP.constraints
        ):
            evidence = replace(evidence, scope=replace(evidence.scope, sizes="l >= 2, n >= 2l + 5"))
        for name in statement.rests:
            self.noted.setdefault(name, [])
            found = self.result(all_statements()[name]).verdict
            if found is not Verdict.PROVED:
                why = f"rests on {name}, which is {found.value} here: {evidence.summary}"
                return replace(evidence, verdict=Verdict.UNKNOWN, summary=why)
        return evidence

    def _result(self, statement: Statement) -> StatementResult:
        """Run the checks, the monitors and the displayed lines of a statement."""
        begun = time.perf_counter()
        evidence: list[Evidence] = []
        errata: list[Erratum] = []

        def lines(derivation: Derivation) -> list[Evidence]:
            found, wrong = check_derivation(derivation, self.setting)
            errata.extend(wrong)
            return [found]

        def tried(
            kind: EvidenceKind,
            name: str,
            parts: Sequence[str],
            find_out: Callable[[], Iterable[Evidence]],
        ) -> None:
            journal = Journal(name, self.texts)
            with writing(journal):
                found = _tried(kind, parts, find_out)
            self.noted[statement.id].append(Noted(kind, tuple(found), journal))
            evidence.extend(found)

        for check in statement.checks:
            tried(check.kind, check.code, check.parts, partial(self._checked, check))
        tried(EvidenceKind.STATISTICAL, "random runs", [""], partial(self._monitored, statement))
        for derivation in statement.derivations:
            display = f"display {derivation.id}"
            tried(EvidenceKind.LINES, display, [display], partial(lines, derivation))
        return StatementResult(
            id=statement.id,
            title=statement.title,
            location=f"source lines {statement.where}",
            claim=statement.claim,
            evidence=tuple(self._resting(self._named(e, statement), statement) for e in evidence),
            scope=statement.scope,
            group=statement.group,
            errata=tuple(errata),
            depends=statement.depends,
            code=statement.code,
            seconds=time.perf_counter() - begun,
        )
