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

from markov_lrsao.errors import LrsaoError, ParameterError, VerificationError
from markov_lrsao.progress import Progress, no_progress
from proofs_check.algebra.lines import Derivation, check_derivation
from proofs_check.claims.setting import Setting
from proofs_check.claims.verdict import (
    Erratum,
    Evidence,
    EvidenceKind,
    StatementResult,
    Verdict,
    Verdicts,
)
from proofs_check.runs.monitors import Counter, Monitor
from proofs_check.runs.search import Battery, instances, judge, search
from proofs_check.statements.statement import Check, Statement
from proofs_check.verification.changes import check_changes
from proofs_check.verification.registry import all_statements, find, workspace_of

__all__ = ["verify"]


def verify(
    names: str | Sequence[str] | None = None,
    setting: Setting | None = None,
    *,
    progress: Progress = no_progress,
) -> Verdicts:
    """Check one statement, several, or all (the default), and return the verdicts.

    >>> [result] = verify("Range of l")
    >>> result.verdict.value
    'PROVED'

    Raises
    ------
    ParameterError
        A name is unknown, or the setting changes something that is not there.
    """
    setting = setting if setting is not None else Setting()
    check_changes(setting, all_statements())
    names = [names] if isinstance(names, str) else names
    chosen = (
        [all_statements()[x] for x in dict.fromkeys(find(name).id for name in names)]
        if names
        else list(all_statements().values())
    )
    verification = _Verification(setting, chosen)
    results = []
    with progress("checking statements", total=len(chosen)) as bar:
        for statement in chosen:
            results.append(verification.result(statement))
            bar.advance()
    refuted = {r.id for r in results if r.verdict is Verdict.REFUTED}
    return Verdicts(
        replace(r, refuted_support=tuple(d for d in r.depends if d in refuted)) for r in results
    )


def _tried(kind: EvidenceKind, find_out: Callable[[], Iterable[Evidence]]) -> list[Evidence]:
    """Return the evidence, or one that says why there is none.

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
                part="as written" if unreadable else "",
                summary=f"gave up: {type(error).__name__}: {' '.join(str(error).split())}",
            )
        ]
    seconds = (time.perf_counter() - begun) / max(1, len(found))
    return [replace(e, seconds=e.seconds or seconds) for e in found]


class _Verification:
    """A workspace, the statements to be checked, and the random runs that all of them watch."""

    def __init__(self, setting: Setting, statements: Sequence[Statement]) -> None:
        self.setting, self.statements = setting, statements
        self.workspace = workspace_of(setting)

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
            raise VerificationError("its closed form is that of the paper's model only")
        return check.run(self.workspace)

    def result(self, statement: Statement) -> StatementResult:
        """Run the checks, the monitors and the displayed lines of a statement."""
        begun = time.perf_counter()
        evidence: list[Evidence] = []
        errata: list[Erratum] = []

        def lines(derivation: Derivation) -> list[Evidence]:
            found, wrong = check_derivation(derivation, self.setting)
            errata.extend(wrong)
            return [found]

        for check in statement.checks:
            evidence += _tried(check.kind, partial(self._checked, check))
        evidence += _tried(EvidenceKind.STATISTICAL, partial(self._monitored, statement))
        for derivation in statement.derivations:
            evidence += _tried(EvidenceKind.LINES, partial(lines, derivation))
        return StatementResult(
            id=statement.id,
            title=statement.title,
            location=f"source lines {statement.where}",
            claim=statement.claim,
            evidence=tuple(evidence),
            errata=tuple(errata),
            depends=statement.depends,
            code=statement.code,
            seconds=time.perf_counter() - begun,
        )
