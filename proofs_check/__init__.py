"""Automatic verification of the paper's statements.

`verify` runs the checks of any statement and returns verdicts with their evidence;
`docs/findings.md` tells what came out, `docs/statements.md` how statements are registered.

The flow, one module per step::

    setting -> changes -> workspace      the model and the statements, possibly mutated
    statements/* + registry              what is claimed, where, and how it is checked
    cases -> induction, facts            SMT: invariants for all n, l, alpha, gamma, r
    abstraction, slope, plateau, uniform finite automata for all parameters at once
    graph, excursions, phase3            joint chains with labelled steps, exact numbers
    expressions -> algebra, polynomials, points -> lines   displayed lines as data
    runs, monitors, search, landscapes   random exact runs, counterexamples, shrinking
    verdict, counterexample, report      what comes out
"""

from proofs_check.claims.counterexample import Counterexample
from proofs_check.claims.setting import Setting
from proofs_check.claims.verdict import Erratum, Evidence, Kind, StatementResult, Verdict, Verdicts
from proofs_check.statements.registry import Statement, all_statements, find, verify

__all__ = [
    "Counterexample",
    "Erratum",
    "Evidence",
    "Kind",
    "Setting",
    "Statement",
    "StatementResult",
    "Verdict",
    "Verdicts",
    "all_statements",
    "find",
    "verify",
]
