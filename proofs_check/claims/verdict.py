"""Verdicts and what they rest on.

A statement has *parts* (Lemma 5 has (1) and (2)); every piece of evidence speaks about one
part. Evidence of several kinds on one part complement each other: the strongest counts,
unless one of them refutes the part. A statement is worth what its weakest part is worth.

A displayed line of a proof that does not follow from its neighbour is an `Erratum` of the
statement, not a refutation of it: the conclusion may survive.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from markov_lrsao.exact.frames import data_frame
from proofs_check.claims.counterexample import Counterexample

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = [
    "Erratum",
    "Evidence",
    "EvidenceKind",
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


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What one check found out about one part of a statement.

    Attributes
    ----------
    part : the part it speaks about; "" for the whole statement
    summary : one line
    range : the parameters it covers, in words
    details : further lines for the detailed view
    second : what a second solver said, or ""
    """

    kind: EvidenceKind
    verdict: Verdict
    summary: str
    part: str = ""
    range: str = ""
    details: tuple[str, ...] = ()
    second: str = ""
    counterexample: Counterexample | None = None
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the evidence for machines."""
        return {
            "kind": self.kind.value,
            "verdict": self.verdict.value,
            "part": self.part,
            "summary": self.summary,
            "range": self.range,
            "details": list(self.details),
            "second_solver": self.second,
            "seconds": round(self.seconds, 3),
            "counterexample": self.counterexample.to_dict() if self.counterexample else None,
        }


@dataclass(frozen=True, kw_only=True)
class Erratum:
    """A displayed line that does not follow from its neighbour, and the line that does."""

    line: str
    location: str
    printed: str
    corrected: str
    reason: str
    inherited: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the erratum for machines."""
        return {
            "line": self.line,
            "location": self.location,
            "printed": self.printed,
            "corrected": self.corrected,
            "reason": self.reason,
            "inherited": list(self.inherited),
        }


@dataclass(frozen=True, kw_only=True)
class StatementResult:
    """The outcome of all checks of one statement.

    Attributes
    ----------
    refuted_support : statements it leans on in the paper that came out REFUTED
    """

    id: str
    title: str
    location: str
    claim: str
    evidence: tuple[Evidence, ...]
    errata: tuple[Erratum, ...] = ()
    depends: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    refuted_support: tuple[str, ...] = field(default=())
    seconds: float = 0.0

    @property
    def verdict(self) -> Verdict:
        """The verdict that the evidence amounts to."""
        return combine(self.evidence)

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
            "verdict": self.verdict.value,
            "evidence": [e.to_dict() for e in self.evidence],
            "errata": [e.to_dict() for e in self.errata],
            "depends": list(self.depends),
            "refuted_support": list(self.refuted_support),
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
                "verdict": result.verdict.value,
                "evidence": ", ".join(kind.value for kind in result.kinds),
                "errata": len(result.errata),
                "counterexamples": len(result.counterexamples),
                "seconds": result.seconds,
            }
            for result in self
        )


def combine(evidence: Iterable[Evidence]) -> Verdict:
    """Return what evidence amounts to: best per part (unless refuted), then worst over parts.

    >>> proved = Evidence(kind=EvidenceKind.SMT, verdict=Verdict.PROVED, summary="", part="(1)")
    >>> open_ = Evidence(kind=EvidenceKind.SMT, verdict=Verdict.UNKNOWN, summary="", part="(2)")
    >>> combine([proved, open_]).value, combine([]).value
    ('UNKNOWN', 'UNKNOWN')
    """
    parts: dict[str, Verdict] = {}
    found = list(evidence)
    # A display that fails is an erratum; it decides only where there is nothing else.
    judged = [e for e in found if e.kind is not EvidenceKind.LINES] or found
    for item in judged:
        known = parts.get(item.part)
        if known is None or Verdict.REFUTED in (known, item.verdict):
            parts[item.part] = (
                Verdict.REFUTED if Verdict.REFUTED in (known, item.verdict) else item.verdict
            )
        elif item.verdict.rank < known.rank:
            parts[item.part] = item.verdict
    return max(parts.values(), key=lambda v: v.rank, default=Verdict.UNKNOWN)
