"""Verdicts and what they rest on.

A statement has *parts* (Lemma 5 has (1) and (2)); every piece of evidence speaks about one
part, and covers a scope. A part is REFUTED if any evidence refutes it, with an exact witness.
It is PROVED if some evidence proves it for all that the statement claims; a proof for less (for the
paper's hyper-parameters, say) counts as VERIFIED. Where a proof was tried and is open, weaker
evidence does not outrank it: the part is UNKNOWN. Otherwise the strongest evidence counts. A
statement is worth what its weakest part is worth.

A displayed line of a proof that does not follow from its neighbour is an `Erratum` of the
statement, not a refutation of it: the conclusion may survive.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from markov_lrsao.errors import VerificationError
from markov_lrsao.exact.frames import data_frame
from proofs_check.claims.counterexample import Counterexample
from proofs_check.claims.scope import EVERYWHERE, NOWHERE, Scope

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = [
    "Erratum",
    "Evidence",
    "EvidenceKind",
    "Solvers",
    "StatementResult",
    "Verdict",
    "Verdicts",
    "combine",
]


class Verdict(StrEnum):
    """What is known about a statement, from best to worst."""

    PROVED = "PROVED"
    VERIFIED = "VERIFIED"
    SUPPORTED = "SUPPORTED"
    UNKNOWN = "UNKNOWN"
    REFUTED = "REFUTED"

    @property
    def rank(self) -> int:
        """0 for PROVED .. 4 for REFUTED."""
        return list(Verdict).index(self)


class EvidenceKind(StrEnum):
    """How a piece of evidence was obtained."""

    SMT = "smt"
    AUTOMATA = "automata"
    EXHAUSTIVE = "exhaustive"
    SYMBOLIC = "symbolic"
    QUANTITATIVE = "quantitative"
    STATISTICAL = "statistical"
    LINES = "lines"

    @property
    def proves(self) -> bool:
        """Whether evidence of this kind is a proof, where it succeeds."""
        return self in (EvidenceKind.SMT, EvidenceKind.AUTOMATA, EvidenceKind.SYMBOLIC)


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What one check found out about one part of a statement.

    Attributes
    ----------
    part : the part it speaks about; "" for the whole statement
    summary : one line
    scope : the sizes and hyper-parameters it covers
    details : further lines for the detailed view
    second : what a second solver said, or ""
    facts : the invariants it leans on, each proved in the same setting

    Raises
    ------
    VerificationError
        It refutes without a witness.
    """

    kind: EvidenceKind
    verdict: Verdict
    summary: str
    part: str = ""
    scope: Scope = NOWHERE
    details: tuple[str, ...] = ()
    second: str = ""
    facts: tuple[str, ...] = ()
    counterexample: Counterexample | None = None
    seconds: float = 0.0

    def __post_init__(self) -> None:
        refutes = self.verdict is Verdict.REFUTED and self.kind is not EvidenceKind.LINES
        if refutes and self.counterexample is None:
            raise VerificationError(f"a refutation without a witness: {self.summary}")

    def to_dict(self) -> dict[str, Any]:
        """Return the evidence for machines."""
        return {
            "kind": self.kind.value,
            "verdict": self.verdict.value,
            "part": self.part,
            "summary": self.summary,
            "scope": self.scope.to_dict(),
            "facts": list(self.facts),
            "details": list(self.details),
            "second_solver": self.second,
            "seconds": round(self.seconds, 3),
            "counterexample": self.counterexample.to_dict() if self.counterexample else None,
        }


@dataclass(frozen=True, kw_only=True)
class Erratum:
    """A displayed line that does not follow from its neighbour, and the line that does.

    Attributes
    ----------
    step : the two sides with their relation between them, as formulas
    assume : what the names satisfy there
    point : where the line fails, exactly, if there is such a point
    """

    line: str
    location: str
    printed: str
    corrected: str
    reason: str
    inherited: tuple[str, ...] = ()
    step: tuple[str, str, str] = ("", "", "")
    assume: tuple[str, ...] = ()
    point: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the erratum for machines."""
        return {
            "line": self.line,
            "location": self.location,
            "printed": self.printed,
            "corrected": self.corrected,
            "reason": self.reason,
            "inherited": list(self.inherited),
            "point": dict(self.point),
        }


@dataclass(frozen=True)
class Solvers:
    """The queries behind what is PROVED of a statement: how many, and confirmed by cvc5.

    Only queries without a model count: on these a proof rests.

    >>> str(Solvers(105, 105)), str(Solvers(105, 9)), str(Solvers())
    ('z3, cvc5', 'z3, cvc5 9/105', '')
    """

    queries: int = 0
    confirmed: int = 0

    @property
    def two(self) -> bool:
        """Whether two solvers agree on every query."""
        return 0 < self.queries == self.confirmed

    def __str__(self) -> str:
        if not self.queries:
            return ""
        if self.two:
            return "z3, cvc5"
        return f"z3, cvc5 {self.confirmed}/{self.queries}" if self.confirmed else "z3"


@dataclass(frozen=True, kw_only=True)
class StatementResult:
    """The outcome of all checks of one statement.

    Attributes
    ----------
    scope : what the statement claims
    group : "claim", "reading" or "sharper"; see `Statement`
    refuted_support : statements it leans on in the paper that came out REFUTED
    solvers : the solver queries behind what is PROVED
    """

    id: str
    title: str
    location: str
    claim: str
    evidence: tuple[Evidence, ...]
    scope: Scope = EVERYWHERE
    group: str = "claim"
    errata: tuple[Erratum, ...] = ()
    depends: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    refuted_support: tuple[str, ...] = field(default=())
    solvers: Solvers = Solvers()
    seconds: float = 0.0

    @property
    def verdict(self) -> Verdict:
        """The verdict that the evidence amounts to."""
        return combine(self.evidence, self.scope)

    @property
    def covered(self) -> Scope:
        """What the verdict speaks about: all that is claimed, or what the best evidence covers."""
        if self.verdict is Verdict.PROVED:
            return self.scope
        if self.verdict is Verdict.UNKNOWN:
            return NOWHERE
        deciding = [e for e in self.evidence if e.verdict is self.verdict]
        if self.verdict is Verdict.VERIFIED:  # a proof for less than is claimed says most
            deciding = [e for e in self.evidence if e.verdict is Verdict.PROVED] + deciding
        return deciding[0].scope if deciding else NOWHERE

    @property
    def kinds(self) -> tuple[EvidenceKind, ...]:
        """The kinds of evidence, without repetition."""
        return tuple(dict.fromkeys(e.kind for e in self.evidence))

    @property
    def counterexamples(self) -> tuple[Counterexample, ...]:
        """All counterexamples found."""
        return tuple(e.counterexample for e in self.evidence if e.counterexample is not None)

    def to_dict(self) -> dict[str, Any]:
        """Return the result for machines."""
        return {
            "id": self.id,
            "title": self.title,
            "location": self.location,
            "claim": self.claim,
            "group": self.group,
            "scope": self.scope.to_dict(),
            "verdict": self.verdict.value,
            "covered": self.covered.to_dict(),
            "evidence": [e.to_dict() for e in self.evidence],
            "errata": [e.to_dict() for e in self.errata],
            "depends": list(self.depends),
            "refuted_support": list(self.refuted_support),
            "solvers": {
                "queries": self.solvers.queries,
                "confirmed_by_second": self.solvers.confirmed,
            },
            "code": list(self.code),
            "seconds": round(self.seconds, 3),
        }


class Verdicts(list[StatementResult]):
    """Outcomes of several statements, in the order in which they were checked."""

    def to_frame(self) -> DataFrame:
        """Return a table with one line per statement."""
        return data_frame(
            {
                "id": result.id,
                "title": result.title,
                "group": result.group,
                "verdict": result.verdict.value,
                "sizes": result.covered.sizes,
                "hyper_parameters": result.covered.hyper,
                "evidence": ", ".join(kind.value for kind in result.kinds),
                "errata": len(result.errata),
                "counterexamples": len(result.counterexamples),
                "seconds": result.seconds,
            }
            for result in self
        )


def combine(evidence: Iterable[Evidence], claimed: Scope = EVERYWHERE) -> Verdict:
    """Return what evidence amounts to: judged part by part, then the worst over the parts.

    >>> proved = Evidence(
    ...     kind=EvidenceKind.SMT, verdict=Verdict.PROVED, summary="", scope=EVERYWHERE
    ... )
    >>> from dataclasses import replace
    >>> from proofs_check.claims.scope import PAPER
    >>> combine([proved]).value, combine([replace(proved, scope=PAPER)]).value, combine([]).value
    ('PROVED', 'VERIFIED', 'UNKNOWN')
    """
    return max(
        (_part_verdict(items, claimed) for items in _by_part(evidence)),
        key=lambda verdict: verdict.rank,
        default=Verdict.UNKNOWN,
    )


def _by_part(evidence: Iterable[Evidence]) -> Iterable[list[Evidence]]:
    found = list(evidence)
    # A display that fails is an erratum; it decides only where there is nothing else. Nor do
    # random runs that could not be made: they would support, not prove.
    judged = [e for e in found if e.kind is not EvidenceKind.LINES and not _idle(e)] or found
    parts: dict[str, list[Evidence]] = {}
    for item in judged:
        parts.setdefault(item.part, []).append(item)
    return parts.values()


def _idle(e: Evidence) -> bool:
    return e.kind is EvidenceKind.STATISTICAL and e.verdict is Verdict.UNKNOWN and not e.part


def _part_verdict(items: Sequence[Evidence], claimed: Scope) -> Verdict:
    if any(e.verdict is Verdict.REFUTED for e in items):
        return Verdict.REFUTED
    proofs = [e for e in items if e.verdict is Verdict.PROVED]
    if any(e.scope.covers(claimed) for e in proofs):
        return Verdict.PROVED
    if any(e.kind.proves and e.verdict is Verdict.UNKNOWN for e in items):
        return Verdict.UNKNOWN
    worth = [Verdict.VERIFIED if e in proofs else e.verdict for e in items]
    return min(worth, key=lambda verdict: verdict.rank)
