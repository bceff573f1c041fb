"""A user's own lemmas: `check_claims` decides claims on instances, and tries to prove them.

Every claim is decided on all runs of every instance (`proofs_check.own`). On Jump with LRSAO a
claim that is an invariant of the step is also tried by the induction, together with the paper's
facts; if that succeeds it is PROVED for all n, l and all of (H).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from markov_lrsao.answers.expected import check_hypothesis
from markov_lrsao.errors import ParameterError, VerificationError
from markov_lrsao.model.algorithm import Algorithm, AlgorithmFamily
from markov_lrsao.model.landscape import JUMP, Landscape
from markov_lrsao.model.law import StepLaw
from markov_lrsao.model.parameters import hypothesis_h
from markov_lrsao.progress import Progress, no_progress
from proofs_check.claims.counterexample import OWN, Counterexample
from proofs_check.claims.setting import Setting
from proofs_check.claims.verdict import Evidence, Verdict
from proofs_check.logic.facts import facts
from proofs_check.logic.induction import Fact, Induction
from proofs_check.own.checking import Finding, Outcome, check_instance
from proofs_check.own.invariants import facts_of
from proofs_check.own.language import Claim, parse_claim
from proofs_check.own.targets import targets_of
from proofs_check.runs.run import run_of
from proofs_check.verification.registry import workspace_of

__all__ = ["MAX_STATES", "ClaimResult", "check_claims"]

MAX_STATES = 300_000
"""States that one search may have by default: some twenty seconds."""


@dataclass(frozen=True)
class ClaimResult:
    """What was found out about a claim.

    Attributes
    ----------
    findings : instance by instance, in their order, up to the first on which the claim fails
    proof : what the induction says for all n, l and all of (H); None where it was not asked
    """

    claim: Claim
    findings: tuple[Finding, ...]
    proof: Evidence | None = None

    @property
    def proved(self) -> bool:
        """Whether the induction proves it for all n, l and all of (H)."""
        return self.proof is not None and self.proof.verdict is Verdict.PROVED

    @property
    def outcome(self) -> Outcome:
        """What is known on the instances."""
        found = {f.outcome for f in self.findings}
        if "fails" in found:
            return "fails"
        # A proof covers instances that were too large to be listed, as long as (H) holds there.
        open_ = [f for f in self.findings if f.outcome == "undecided"]
        if not open_ or (self.proved and all(_in_h(f.law) for f in open_)):
            return "holds"
        return "undecided"

    @property
    def verdict(self) -> Verdict:
        """PROVED for all n, l and (H), VERIFIED on the instances, REFUTED or UNKNOWN."""
        if self.outcome == "holds":
            return Verdict.PROVED if self.proved else Verdict.VERIFIED
        return Verdict.REFUTED if self.outcome == "fails" else Verdict.UNKNOWN

    @cached_property
    def counterexample(self) -> Counterexample | None:
        """The run that violates it; None if there is none."""
        for found in self.findings:
            if found.outcome == "fails":
                return run_of(
                    found.law,
                    found.choices,
                    statement=OWN,
                    expected=str(self.claim),
                    observed=found.seen,
                    claim=str(self.claim),
                )
        return None

    @property
    def scope(self) -> str:
        """The instances and hyper-parameters that the verdict speaks about, in words."""
        sizes = _sizes([f.law for f in self.findings])
        if self.outcome == "holds" and self.proved:
            return f"all valid n, l; all of (H); also on all runs at {sizes}"
        return sizes

    def describe(self) -> str:
        """Return what is to be said about it, in a few lines."""
        lines = [f"{self.claim}: {self.outcome} ({self.verdict.value})", f"    for: {self.scope}"]
        for found in self.findings:
            if found.outcome == "fails" and self.counterexample is not None:
                run = " ".join(a + "-+"[d] for a, d in found.choices)
                kind = "a shortest run" if found.shortest else "a run (a shorter one may exist)"
                lines.append(f"    {_size(found.law)}: {found.seen}")
                lines.append(f"    {kind}, {len(found.choices)} steps: {run or 'before any step'}")
            if found.outcome == "undecided":
                lines.append(f"    {_size(found.law)}: {found.reason}")
        if self.proof is not None and self.outcome != "fails":
            lines.append(
                f"    induction over all n, l and (H): {self.proof.verdict.value}, "
                f"{self.proof.summary}"
            )
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the result for machines."""
        bad = self.counterexample
        return {
            "claim": str(self.claim),
            "outcome": self.outcome,
            "verdict": self.verdict.value,
            "scope": self.scope,
            "instances": [
                {
                    "n": f.law.n,
                    "ell": f.law.landscape.ell,
                    "outcome": f.outcome,
                    "states": f.states,
                    "reason": f.reason,
                    "observed": f.seen,
                    "shortest": f.shortest if f.outcome == "fails" else None,
                }
                for f in self.findings
            ],
            "proof": self.proof.to_dict() if self.proof is not None else None,
            "counterexample": bad.to_dict() if bad is not None else None,
        }


def check_claims(
    claims: str | Claim | Sequence[str | Claim],
    landscapes: Landscape | Iterable[Landscape],
    algorithm: Algorithm | AlgorithmFamily | None = None,
    *,
    outside_h: bool = False,
    max_states: int | None = None,
    proof: bool = True,
    progress: Progress = no_progress,
) -> list[ClaimResult]:
    """Decide claims about runs on every landscape given.

    Parameters
    ----------
    claims : in the language of docs/own_lemmas.md
    landscapes : the instances, tried in this order; a claim that fails is not tried further
    algorithm : default LRSAO with the paper's hyper-parameters at every n
    outside_h : allow hyper-parameters outside hypothesis (H)
    max_states : states that one search may have; beyond, a claim is undecided there
    proof : try the induction over all n, l and (H), where landscapes and algorithm are the paper's

    >>> [found] = check_claims("visits at 5 <= 4", Landscape.jump(11, 2), proof=False)
    >>> found.outcome, len(found.counterexample.steps)
    ('fails', 13)

    Raises
    ------
    ParameterError
        A claim cannot be read, or an instance has no such position or objective.
    """
    given = [claims] if isinstance(claims, str | Claim) else list(claims)
    read = [c if isinstance(c, Claim) else parse_claim(c) for c in given]
    shapes = [landscapes] if isinstance(landscapes, Landscape) else list(landscapes)
    if not read or not shapes:
        raise ParameterError("give at least one claim and one landscape")
    limit = MAX_STATES if max_states is None else max_states
    if limit < 1:
        raise ParameterError(f"max_states = {limit}: must be at least 1")
    laws = [StepLaw.of(shape, algorithm) for shape in shapes]
    for law in laws:
        check_hypothesis(law.landscape, law.algorithm, outside_h=outside_h)
        for claim in read:
            targets_of(claim, law)  # what cannot be understood is said before anything is computed
    proofs = _Proofs(read) if proof and all(_of_paper(law) for law in laws) else None
    found = []
    for claim in read:
        findings = _findings(claim, laws, limit, progress)
        fails = findings[-1].outcome == "fails"
        evidence = None if proofs is None or (fails and _in_h(findings[-1].law)) else proofs(claim)
        result = ClaimResult(claim, findings, evidence)
        if fails and result.proved and _in_h(findings[-1].law):
            raise VerificationError(f"{claim} is proved, and a run violates it; please report this")
        found.append(result)
    return found


def _findings(
    claim: Claim, laws: Sequence[StepLaw], limit: int, progress: Progress
) -> tuple[Finding, ...]:
    findings: list[Finding] = []
    for law in laws:
        with progress(f"{claim} at {_size(law)}") as bar:
            findings.append(check_instance(claim, law, limit=limit, bar=bar))
        if findings[-1].outcome == "fails":
            break
    return tuple(findings)


class _Proofs:
    """One induction for the paper's facts and all claims that are facts about rows."""

    def __init__(self, claims: Sequence[Claim]) -> None:
        terms = workspace_of(Setting()).terms
        self.known = {fact.text: fact for fact in facts(terms)}
        self.wanted: dict[Claim, list[Fact]] = {}
        for claim in claims:
            found = [self.known.setdefault(f.text, f) for f in facts_of(claim, JUMP) or ()]
            if found:
                self.wanted[claim] = found

    @cached_property
    def induction(self) -> Induction:
        """The induction over all n, l and (H)."""
        return Induction(Setting(), list(self.known.values()))

    def __call__(self, claim: Claim) -> Evidence | None:
        return self.induction.prove(self.wanted[claim]) if claim in self.wanted else None


def _of_paper(law: StepLaw) -> bool:
    """Whether the induction speaks about an instance: LRSAO on Jump."""
    parameters = law.algorithm.parameters
    return (
        law.landscape.family == JUMP
        and parameters is not None
        and law.algorithm == Algorithm.lrsao(parameters)
    )


def _in_h(law: StepLaw) -> bool:
    parameters = law.algorithm.parameters
    return parameters is not None and hypothesis_h(law.landscape, parameters).holds


def _sizes(laws: Sequence[StepLaw]) -> str:
    """Return instances in words: a few by name, many by their range."""
    if len(laws) <= 3:
        return ", ".join(_size(law) for law in laws)
    ells = {law.landscape.ell for law in laws}
    n = f"n = {min(law.n for law in laws)}..{max(law.n for law in laws)}"
    ell = f", l = {min(ells)}..{max(ells)}" if max(ells) > min(ells) else f", l = {min(ells)}"
    return f"{n}{ell if max(ells) else ''} ({len(laws)} instances)"


def _size(law: StepLaw) -> str:
    ell = f", l = {law.landscape.ell}" if law.landscape.ell else ""
    return f"(n = {law.n}{ell})"
