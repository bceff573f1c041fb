"""Beyond the paper: how E[T3] depends on the hyper-parameters, in the regimes of k exits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from flint import fmpq

from markov_lrsao.answers.expected import runtime
from markov_lrsao.errors import VerificationError
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import JUMP
from markov_lrsao.model.parameters import Parameters
from proofs_check.algebra.brackets import compare_sides
from proofs_check.algebra.lines import RANGE
from proofs_check.automata.exits import exit_forms, regime_of
from proofs_check.claims.expressions import to_sympy
from proofs_check.claims.scope import ALL_SIZES, Scope
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.statements.judging import judged
from proofs_check.statements.statement import Check, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]

_NAME = "Regimes of k exits"
_FACTOR = (
    "(n - l + 1)/(3*l*(2*n - 1))"
    "*(((n - l)**2 + l*(n - l + 1))/n + (n - 1)*(n - l)*l*(n - l + 1)/n**3)"
)
_HYPER = "the regimes of k exits, all k"


def _family(workspace: Workspace) -> Iterable[Evidence]:
    """Derive E_inf and C from walks that the solver decides, and compare C with the claim."""
    claimed = to_sympy(workspace.term(_NAME, "C"))
    found = exit_forms(workspace.induction, workspace.slope)
    pairs = workspace.setting.pairs(30)
    for form in found.factor.forms:
        there = [pair for pair in pairs if found.factor.of(pair[1]) is form]
        value = claimed if form.ell is None else claimed.subs(to_sympy("l"), form.ell)
        assume = (*RANGE, f"l {'>=' if form.ell is None else '='} {form.smallest}")
        outcome = compare_sides(str(form.rest), "=", str(value), assume, pairs=there)
        if outcome.status == "refuted":
            n, ell = (int(outcome.point[x]) for x in ("n", "l"))
            outcome = replace(outcome, how=f"C = {found.factor.at(n, ell)} there")
        if outcome.status != "proved":
            break
    limit = found.limit.general
    yield judged(
        outcome,
        _NAME,
        f"E[T3] = E_inf + C ((n-l)/n)^k with C = {claimed}",
        kind=EvidenceKind.AUTOMATA,
        scope=Scope(ALL_SIZES, _HYPER),
        details=(
            f"walks for k = 1 and k >= 2: {' and '.join(str(len(w.steps)) for w in found.walks)} "
            f"nodes, {sum(w.queries for w in found.walks)} questions",
            f"l >= {limit.smallest}: E_inf = ({limit.rest}) + ({limit.factor})*H(l)",
        ),
    )


_QUICK = ((9, 2, "4/5", "7/2"), (9, 2, "1/2", "13"), (12, 3, "3/10", "40"))
_FULL = (
    *_QUICK,
    (11, 3, "1/2", "16"),
    (12, 3, "13/50", "197/4"),
    (14, 4, "1/5", "299/4"),
    (15, 5, "9/50", "353/4"),
)


def _instances(workspace: Workspace) -> Iterable[Evidence]:
    """Compare the formula with the engine's exact E[T_3] at hyper-parameters of several regimes.

    Raises
    ------
    VerificationError
        They differ, or a point lies in no regime.
    """
    found = exit_forms(workspace.induction, workspace.slope)
    seen = []
    for n, ell, alpha, r in _FULL if workspace.setting.full else _QUICK:
        parameters = Parameters(alpha, fmpq(1, n + 1), r)
        k = regime_of(n, ell, parameters)
        if k is None:
            raise VerificationError(f"n = {n}, l = {ell}, {parameters} lies in no regime")
        exact = runtime(JUMP.at(n, ell), Algorithm.lrsao(parameters)).phases[2]
        if exact != found.at(n, ell, k):
            raise VerificationError(f"n = {n}, l = {ell}, {parameters}: E[T3] = {exact}, k = {k}")
        seen.append(f"(n, l, k) = ({n}, {ell}, {k})")
    yield Evidence(
        kind=EvidenceKind.QUANTITATIVE,
        verdict=Verdict.VERIFIED,
        summary=f"the engine's E[T3] exactly, {len(seen)} times",
        scope=Scope(", ".join(seen), "one point of each regime"),
    )


STATEMENTS = (
    Statement(
        id=_NAME,
        title="E[T3] as a function of k",
        where="(docs/regimes.md)",
        claim="If J, once penalised, becomes positive with its k-th exit through n-l, L falls "
        "below R with its second use, and alpha (n-l-1) > 1 + gamma (n-l-1)/(1-gamma), then E[T3] "
        "= E_inf + C ((n-l)/n)^k, where E_inf and C depend on n and l only.",
        scope=Scope(ALL_SIZES, _HYPER),
        group="sharper",
        terms={"C": _FACTOR},
        depends=("Signs decide the slope", "Lemma 6", "Lemma 12"),
        checks=(
            Check(EvidenceKind.AUTOMATA, _family),
            Check(EvidenceKind.QUANTITATIVE, _instances, True),
        ),
    ),
)
