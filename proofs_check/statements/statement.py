"""What a statement is: data.

What is claimed (with its adjustable terms), where, what it leans on, the displayed lines of its
proof, the monitors that watch runs for it, and its checks, which turn a `Workspace` into evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from proofs_check.algebra.lines import Derivation
from proofs_check.claims.verdict import Evidence, EvidenceKind
from proofs_check.runs.monitors import Counter, Monitor
from proofs_check.statements.workspace import Workspace

__all__ = ["Check", "CheckFunction", "Statement"]

CheckFunction = Callable[[Workspace], Iterable[Evidence]]


@dataclass(frozen=True)
class Check:
    """One check; `run` yields evidence of the given kind.

    `model_only` marks a check that rests on closed forms of the paper's own model: on another
    landscape or algorithm it says nothing.
    """

    kind: EvidenceKind
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
