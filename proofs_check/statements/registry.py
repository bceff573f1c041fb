"""Statements of the paper and how they are checked.

A `Statement` is data: what is claimed (with its adjustable terms), where, what it leans on, the
displayed lines of its proof, and the checks. `verify` runs the checks and turns what they find
into verdicts; a check that gives up (an undecided comparison, a state space that does not fit, a
solver's time limit) leaves evidence UNKNOWN with the reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING

from markov_lrsao.errors import LrsaoError, ParameterError, VerificationError
from markov_lrsao.progress import Progress, no_progress
from proofs_check.algebra.lines import Derivation, check_derivation
from proofs_check.claims.changes import check_changes, near, plain_name
from proofs_check.claims.expressions import brief
from proofs_check.claims.setting import Setting
from proofs_check.claims.verdict import Erratum, Evidence, Kind, StatementResult, Verdict, Verdicts

if TYPE_CHECKING:
    from proofs_check.runs.monitors import Counter, Monitor
    from proofs_check.statements.workspace import Workspace

__all__ = ["Check", "Statement", "all_statements", "find", "verify"]

CheckFunction = Callable[["Workspace"], Iterable[Evidence]]


@dataclass(frozen=True)
class Check:
    """One check; `run` yields evidence of the given kind.

    `model_only` marks a check that rests on closed forms of the paper's own model: on another
    landscape or algorithm it says nothing.
    """

    kind: Kind
    run: CheckFunction
    model_only: bool = False

    @property
    def code(self) -> str:
        """Where the check lives."""
        return f"{self.run.__module__}.{self.run.__qualname__}"


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A numbered statement of the paper, or a claim that a proof leans on.

    Attributes
    ----------
    id : "Lemma 10", or a short name for a claim without a number
    where : source lines
    claim : what is checked, in words; says which reading is meant
    terms : the adjustable parts of the claim, as text
    depends : statements that its proof uses
    monitors : the statement as something that single steps can violate
    """

    id: str
    title: str
    where: str
    claim: str
    checks: tuple[Check, ...]
    terms: Mapping[str, str] = field(default_factory=dict)
    depends: tuple[str, ...] = ()
    derivations: tuple[Derivation, ...] = ()
    monitors: Callable[[Workspace], Sequence[Monitor | Counter]] | None = None

    @property
    def numbered(self) -> bool:
        """Whether the paper numbers it."""
        return (
            self.id.split(" ")[0] in ("Theorem", "Lemma", "Remark") and len(self.id.split(" ")) == 2
        )

    @property
    def code(self) -> tuple[str, ...]:
        """Where its checks live."""
        return tuple(check.code for check in self.checks)


@cache
def all_statements() -> dict[str, Statement]:
    """Return all statements in the paper's order."""
    from proofs_check.statements import STATEMENTS

    found: dict[str, Statement] = {}
    for statement in STATEMENTS:
        if statement.id in found:
            raise ParameterError(f"statement {statement.id} is registered twice")
        found[statement.id] = statement
    return found


def find(name: str) -> Statement:
    """Return the statement of that name, ignoring case, spaces and punctuation.

    >>> find("lemma-10").id, find("Thm. 7").id
    ('Lemma 10', 'Theorem 7')

    Raises
    ------
    ParameterError
        There is none; the message names near ones.
    """
    wanted = plain_name(name)
    for key, statement in all_statements().items():
        if plain_name(key) == wanted:
            return statement
    raise ParameterError(
        f"no statement {brief(name)}{near(name, all_statements())}; `all_statements()` lists all"
    )


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
    from proofs_check.statements.workspace import Workspace

    setting = setting if setting is not None else Setting()
    check_changes(setting, all_statements())
    names = [names] if isinstance(names, str) else names
    chosen = (
        [all_statements()[x] for x in dict.fromkeys(find(name).id for name in names)]
        if names
        else list(all_statements().values())
    )
    workspace = Workspace(setting, tuple(chosen))
    results = []
    with progress("checking statements", total=len(chosen)) as bar:
        for statement in chosen:
            results.append(_verify(statement, workspace))
            bar.advance()
    refuted = {r.id for r in results if r.verdict is Verdict.REFUTED}
    return Verdicts(
        replace(r, refuted_support=tuple(d for d in r.depends if d in refuted)) for r in results
    )


def _tried(kind: Kind, find_out: Callable[[], Iterable[Evidence]]) -> list[Evidence]:
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


def _checked(check: Check, workspace: Workspace) -> Iterable[Evidence]:
    if check.model_only and not workspace.setting.paper_model:
        raise VerificationError("its closed form is that of the paper's model only")
    return check.run(workspace)


def _verify(statement: Statement, workspace: Workspace) -> StatementResult:
    begun = time.perf_counter()
    evidence: list[Evidence] = []
    errata: list[Erratum] = []

    def lines(derivation: Derivation) -> list[Evidence]:
        found, wrong = check_derivation(derivation, workspace.setting)
        errata.extend(wrong)
        return [found]

    for check in statement.checks:
        evidence += _tried(check.kind, partial(_checked, check, workspace))
    evidence += _tried(Kind.STATISTICAL, partial(workspace.monitored, statement))
    for derivation in statement.derivations:
        evidence += _tried(Kind.LINES, partial(lines, derivation))
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
