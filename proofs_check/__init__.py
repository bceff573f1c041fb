"""Automatic verification of the paper's statements.

`verify` runs the checks of any statement and returns verdicts with their evidence;
`docs/findings.md` tells what came out, `docs/statements.md` how statements are registered.

Rooms, each built on those before it::

    claims        what is claimed: expressions, the setting, terms, verdicts, counterexamples
    logic         SMT: cases of a step, one induction, facts for all n, l, alpha, gamma, r
    runs          exact runs, joint chains with labelled steps, monitors, random search
    algebra       displayed lines: symbolic proofs and refuting points
    automata      finite automata for all parameters at once, and exact expectations from them
    own           a user's own lemmas: claims in a small language, decided on all runs
    statements    the statements as data, and the workspace that their checks share
    certificates  what verdicts rest on, written for others to check
    verification  the registry, the run of all checks, the reports

Beside them stands `checker`, which imports none of them: it checks a folder of certificates.

The flow is one way: a `Setting` makes a `Workspace`, a check reads the workspace and yields
`Evidence`, and the evidence on a statement amounts to its `Verdict`.

Names are imported when they are first used: to replay a counterexample takes no statement.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proofs_check.claims.counterexample import Counterexample
    from proofs_check.claims.setting import Setting
    from proofs_check.claims.verdict import (
        Erratum,
        Evidence,
        EvidenceKind,
        StatementResult,
        Verdict,
        Verdicts,
    )
    from proofs_check.runs.run import replay
    from proofs_check.statements.statement import Statement
    from proofs_check.verification.checking import verify
    from proofs_check.verification.own_claims import ClaimResult, check_claims
    from proofs_check.verification.registry import all_statements, find

__all__ = [
    "ClaimResult",
    "Counterexample",
    "Erratum",
    "Evidence",
    "EvidenceKind",
    "Setting",
    "Statement",
    "StatementResult",
    "Verdict",
    "Verdicts",
    "all_statements",
    "check_claims",
    "find",
    "replay",
    "verify",
]

_HOMES = {
    "Counterexample": "claims.counterexample",
    "Setting": "claims.setting",
    "replay": "runs.run",
    "Statement": "statements.statement",
    "verify": "verification.checking",
    "ClaimResult": "verification.own_claims",
    "check_claims": "verification.own_claims",
    "all_statements": "verification.registry",
    "find": "verification.registry",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES.get(name, "claims.verdict")
    return getattr(import_module(f"{__name__}.{home}"), name)
