"""What a statement is: data.

What is claimed (with its adjustable terms), where, what it leans on, the displayed lines of its
proof, the monitors that watch runs for it, and its checks, which turn a `Workspace` into evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from markov_lrsao.model.law import StepLaw
from proofs_check.algebra.lines import Derivation
from proofs_check.claims.scope import EVERYWHERE, Scope
from proofs_check.claims.verdict import Evidence, EvidenceKind
from proofs_check.runs.monitors import Counter, Monitor
from proofs_check.statements.workspace import Workspace

__all__ = ["Check", "CheckFunction", "Group", "PointCheck", "Statement"]

Group = Literal["claim", "reading", "sharper"]
CheckFunction = Callable[[Workspace], Iterable[Evidence]]
PointCheck = Callable[[Workspace, Mapping[str, str]], str | None]
"""(workspace, values of a point) -> what contradicts the statement there, or None.

Everything is computed anew from the values. ParameterError: the point cannot be judged.
"""


@dataclass(frozen=True)
class Check:
    """One check; `run` yields evidence of the given kind.

    Attributes
    ----------
    model_only : it rests on closed forms of the paper's own model: on another landscape or
        algorithm, or where the hypothesis excludes the paper's hyper-parameters, it says nothing
    parts : the parts it speaks about; if it gives up, these are open as far as it is concerned
    """

    kind: EvidenceKind
    run: CheckFunction
    model_only: bool = False
    parts: tuple[str, ...] = ("",)

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
    scope : the sizes and hyper-parameters that the claim speaks about
    group : "claim" is what the paper says; "reading" another reading of a sentence of it;
        "sharper" a sharper form that the paper does not claim
    terms : the adjustable parts of the claim, as text
    words : the terms that are lists of names rather than formulas
    depends : statements that its proof in the paper uses
    rests : statements that its proof here uses; if one of them is not PROVED in the same setting,
        neither is this one
    monitors : the statement as something that single steps can violate
    watched : further monitors, which may depend on the instance: they judge a run that is replayed,
        but no random runs
    points : part -> what judges a point that is said to contradict it
    general : it speaks about any landscape and any alpha, gamma, r > 0, not only about Jump and (H)
    """

    id: str
    title: str
    where: str
    claim: str
    checks: tuple[Check, ...]
    scope: Scope = EVERYWHERE
    group: Group = "claim"
    terms: Mapping[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    depends: tuple[str, ...] = ()
    rests: tuple[str, ...] = ()
    derivations: tuple[Derivation, ...] = ()
    monitors: Callable[[Workspace], Sequence[Monitor | Counter]] | None = None
    watched: Callable[[Workspace, StepLaw], Sequence[Monitor | Counter]] | None = None
    points: Mapping[str, PointCheck] = field(default_factory=dict)
    general: bool = False

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
