"""Instances that several test files use, built once."""

from __future__ import annotations

from functools import cache

from markov_lrsao import (
    Algorithm,
    Landscape,
    Parameters,
    RuntimeResult,
    StepLaw,
    runtime,
)
from markov_lrsao.joint.enumeration import JointChain, enumerate_joint
from markov_lrsao.rows.automata import RowAutomata, derive_automata

Text = str | None


def valid_pairs(largest_n: int, smallest_n: int = 9) -> list[tuple[int, int]]:
    """Return all (n, l) with 2 <= l <= floor((n-1)/2) - 2, as the paper states the range."""
    return [
        (n, ell) for n in range(smallest_n, largest_n + 1) for ell in range(2, (n - 1) // 2 - 1)
    ]


@cache
def jump_law(n: int, ell: int, alpha: Text = None, gamma: Text = None, r: Text = None) -> StepLaw:
    return StepLaw.of(Landscape.jump(n, ell), Algorithm.lrsao(Parameters.paper(n, alpha, gamma, r)))


@cache
def jump_automata(
    n: int, ell: int, alpha: Text = None, gamma: Text = None, r: Text = None
) -> RowAutomata:
    return derive_automata(jump_law(n, ell, alpha, gamma, r))


@cache
def jump_chain(
    n: int, ell: int, alpha: Text = None, gamma: Text = None, r: Text = None, *, merge: bool = True
) -> JointChain:
    return enumerate_joint(
        jump_law(n, ell, alpha, gamma, r),
        automata=jump_automata(n, ell, alpha, gamma, r),
        merge=merge,
    )


@cache
def paper_runtime(n: int, ell: int, field: str = "exact") -> RuntimeResult:
    return runtime(
        Landscape.jump(n, ell),
        Algorithm.lrsao(Parameters.paper(n)),
        method="joint",
        field="float" if field == "float" else "exact",
    )
