"""Least bounds on Q-entries: the exact solution of a system of max-affine equations.

Every update of an entry is ``keep * q + gain + bootstrap * M`` with non-negative
coefficients, so an upper bound on the old values gives an upper bound on the new one, and
the least upper bounds u solve

    u_i = max( floors of i,  u_j for every copy j -> i,
               a u_j + c + b u_m  for every update (j, m) -> i ),        a + b < 1.

Copies (entries that a transition leaves alone) are contracted along their cycles; after
that every cycle shrinks, the solution is unique, and policy iteration finds it in finitely
many exact linear solves: fix for each i the term that is largest, solve, choose again.
Iterating the inequalities instead would converge to Lemma 2's bound (n-l-1)/(1-gamma) but
never reach it.

A bound is *attained* if finitely many updates lead to it; one that is approached along a
cycle only is not. Lower bounds are the upper bounds of the negated entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from flint import fmpq

from markov_lrsao.errors import SolverError
from markov_lrsao.exact.graphs import grouped
from markov_lrsao.exact.linear import solve_columns

__all__ = ["Term", "least_bounds"]

_LARGEST_NUMBER_OF_POLICIES = 1000


class Term(NamedTuple):
    """A lower estimate ``sum of weight * unknown + constant`` of the unknown `target`."""

    target: int
    constant: fmpq
    weights: tuple[tuple[int, fmpq], ...] = ()


def least_bounds(
    size: int, terms: Sequence[Term], copies: Sequence[tuple[int, int]]
) -> tuple[list[fmpq | None], list[bool]]:
    """Solve the system above.

    Parameters
    ----------
    size : number of unknowns
    terms : floors (no weights) and updates; the weights of one term add up to less than 1
    copies : pairs (target, source), meaning u_target >= u_source

    Returns
    -------
    values, attained
        The value is None for an unknown that nothing flows into.
    """
    copies = list(dict.fromkeys(copies))
    group = _copy_groups(size, copies)
    count = max(group) + 1 if size else 0
    options: list[list[Term]] = [[] for _ in range(count)]
    seen: dict[tuple[int, ...], list[Term]] = {}  # by the unknowns: the hash of an fmpq is slow
    for target, constant, weights in terms:
        merged = Term(group[target], constant, tuple([(group[j], w) for j, w in weights if w != 0]))
        alike = seen.setdefault((merged.target, *[j for j, _ in merged.weights]), [])
        if merged not in alike:
            alike.append(merged)
            options[merged.target].append(merged)
    one, zero = fmpq(1), fmpq(0)
    for target, source in dict.fromkeys([(group[t], group[s]) for t, s in copies]):
        if target != source:
            options[target].append(Term(target, zero, ((source, one),)))
    values = _policy_iteration(options)
    attained = _attained(options, values)
    return [values[g] for g in group], [attained[g] for g in group]


def _copy_groups(size: int, copies: Sequence[tuple[int, int]]) -> list[int]:
    """Contract the cycles of the copy graph, without repetitions: all on one are equal."""
    sources: list[list[int]] = [[] for _ in range(size)]
    for target, source in sorted(copies):
        sources[target].append(source)
    return grouped(sources)[0]


def _value(term: Term, values: Sequence[fmpq | None]) -> fmpq | None:
    total = term.constant
    for j, weight in term.weights:
        known = values[j]
        if known is None:
            return None
        total += weight * known
    return total


def _policy_iteration(options: Sequence[Sequence[Term]]) -> list[fmpq | None]:
    values: list[fmpq | None] = [None] * len(options)
    policy: list[Term | None] = [None] * len(options)
    for _ in range(_LARGEST_NUMBER_OF_POLICIES):
        improved = False
        for i, terms in enumerate(options):
            best = values[i]
            for term in terms:
                if term is policy[i] and best is not None:
                    continue  # its value is that of the policy
                value = _value(term, values)
                if value is not None and (best is None or value > best):
                    best, policy[i], improved = value, term, True
            if policy[i] is not None and values[i] is None:
                values[i] = best  # lets the first sweep reach its successors
        if not improved:
            return values
        _evaluate(policy, values)
    raise SolverError("bounds on the Q-entries did not settle; please report this instance")


def _evaluate(policy: Sequence[Term | None], values: list[fmpq | None]) -> None:
    """Solve u_i = policy_i(u) exactly, component by component."""
    _, groups = grouped([[j for j, _ in t.weights] if t else () for t in policy])
    for members in groups:
        if policy[members[0]] is None:
            continue
        if len(members) == 1:  # most are: no matrix is needed
            values[members[0]] = _alone(members[0], policy[members[0]], values)
            continue
        local = {i: k for k, i in enumerate(members)}
        rows: list[list[tuple[int, fmpq]]] = []
        constants: list[fmpq] = []
        for i in members:
            term = policy[i]
            assert term is not None
            total = term.constant
            rows.append([(local[j], weight) for j, weight in term.weights if j in local])
            for j, weight in term.weights:
                if j not in local:
                    known = values[j]
                    assert known is not None
                    total += weight * known
            constants.append(total)
        for i, value in zip(members, solve_columns(rows, constants), strict=True):
            values[i] = value


def _alone(i: int, term: Term | None, values: Sequence[fmpq | None]) -> fmpq:
    """Solve u_i = term, where no other unknown depends on u_i."""
    assert term is not None
    total, own = term.constant, fmpq(1)
    for j, weight in term.weights:
        if j == i:
            own -= weight
            continue
        known = values[j]
        assert known is not None
        total += weight * known
    return total / own


def _attained(options: Sequence[Sequence[Term]], values: Sequence[fmpq | None]) -> list[bool]:
    """Return which bounds finitely many updates lead to: along terms that are tight."""
    attained = [False] * len(options)
    tight = [
        [[j for j, _ in term.weights] for term in terms if _value(term, values) == values[i]]
        for i, terms in enumerate(options)
    ]
    changed = True
    while changed:
        changed = False
        for i, ways in enumerate(tight):
            if not attained[i] and any(all(attained[j] for j in way) for way in ways):
                attained[i] = changed = True
    return attained
