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

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from flint import fmpq

from markov_lrsao.errors import SolverError
from markov_lrsao.exact.graphs import grouped
from markov_lrsao.exact.linear import solve_columns

__all__ = ["Term", "contract", "contracted_bounds", "least_bounds"]

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
    group, between = contract(size, copies)
    merged = [
        Term(
            group[t], constant, tuple([(group[j], weight) for j, weight in weights if weight != 0])
        )
        for t, constant, weights in terms
    ]
    values, attained = contracted_bounds(max(group, default=-1) + 1, merged, between)
    return [values[g] for g in group], [attained[g] for g in group]


def contract(
    size: int, copies: Iterable[tuple[int, int]]
) -> tuple[list[int], list[tuple[int, int]]]:
    """Contract the cycles of the copy graph: all unknowns on one are equal.

    Returns
    -------
    group, between
        The group of every unknown, and the copies between groups, without repetitions.
    """
    sources: list[set[int]] = [set() for _ in range(size)]
    for target, source in copies:
        sources[target].add(source)
    group = grouped(sources)[0]
    between = {
        (group[target], group[source]): None
        for target, known in enumerate(sources)
        for source in known
        if group[target] != group[source]
    }
    return group, sorted(between)


def contracted_bounds(
    size: int, terms: Iterable[Term], copies: Iterable[tuple[int, int]]
) -> tuple[list[fmpq | None], list[bool]]:
    """Solve a system whose copies have no cycle, and no term a weight 0; see `least_bounds`."""
    options: list[list[Term]] = [[] for _ in range(size)]
    for term in terms:
        options[term.target].append(term)
    one, zero = fmpq(1), fmpq(0)
    for target, source in copies:
        options[target].append(Term(target, zero, ((source, one),)))
    return _solve(options)


def _value(term: Term, values: Sequence[fmpq | None]) -> fmpq | None:
    total = term.constant
    for j, weight in term.weights:
        known = values[j]
        if known is None:
            return None
        total += weight * known
    return total


def _solve(options: Sequence[Sequence[Term]]) -> tuple[list[fmpq | None], list[bool]]:
    """Solve component by component of all terms: most unknowns are by themselves, and the
    others need policies among few.
    """
    values: list[fmpq | None] = [None] * len(options)
    attained = [False] * len(options)
    _, groups = grouped([[j for term in terms for j, _ in term.weights] for terms in options])
    for members in groups:
        if len(members) == 1:
            i = members[0]
            values[i], attained[i] = _alone(i, options[i], values, attained)
        else:
            _policy_iteration(members, options, values)
            _mark_attained(members, options, values, attained)
    return values, attained


def _alone(
    i: int, terms: Sequence[Term], values: Sequence[fmpq | None], attained: Sequence[bool]
) -> tuple[fmpq | None, bool]:
    """Solve for an unknown that depends on itself at most: the largest of its terms' solutions.

    Terms along itself count from where something flows into it; the bound is attained where a
    term that is not along itself leads there.
    """
    best, reached = None, False
    along = []
    for term in terms:
        total, met = term.constant, True
        for j, weight in term.weights:
            if j == i:
                along.append(term)
                break
            known = values[j]
            if known is None:
                break
            total += weight * known
            met = met and attained[j]
        else:
            if best is None or total > best:
                best, reached = total, met
            elif met and not reached and total == best:
                reached = True
    if best is not None:
        for term in along:
            value = _fixed(i, term, values)
            if value is not None and value > best:
                best, reached = value, False
    return best, reached


def _fixed(i: int, term: Term, values: Sequence[fmpq | None]) -> fmpq | None:
    """Return the solution of u_i = term, where no other unknown depends on u_i."""
    total, own = term.constant, fmpq(1)
    for j, weight in term.weights:
        if j == i:
            own -= weight
            continue
        known = values[j]
        if known is None:
            return None
        total += weight * known
    return total / own


def _policy_iteration(
    members: Sequence[int], options: Sequence[Sequence[Term]], values: list[fmpq | None]
) -> None:
    """Find the values of one component; those it depends on are known."""
    inside, policy = set(members), dict[int, Term]()
    choices: list[tuple[int, list[Term]]] = []
    for i in members:  # of the terms that stay as they are, the largest will do
        largest, given, others = None, None, []
        for term in options[i]:
            if not inside.isdisjoint(j for j, _ in term.weights):
                others.append(term)
                continue
            value = _value(term, values)
            if value is not None and (largest is None or value > largest):
                largest, given = value, term
        choices.append((i, others if given is None else [given, *others]))
    for _ in range(_LARGEST_NUMBER_OF_POLICIES):
        improved = False
        for i, terms in choices:
            best, followed = values[i], policy.get(i)
            for term in terms:
                if term is followed and best is not None:
                    continue  # its value is that of the policy
                value = _value(term, values)
                if value is not None and (best is None or value > best):
                    best, policy[i], improved = value, term, True
            if values[i] is None:
                values[i] = best  # lets the first sweep reach its successors
        if not improved:
            return
        _evaluate(policy, values)
    raise SolverError("bounds on the Q-entries did not settle; please report this instance")


def _evaluate(policy: dict[int, Term], values: list[fmpq | None]) -> None:
    """Solve u_i = policy_i(u) exactly, component by component."""
    place = {i: k for k, i in enumerate(policy)}
    terms = list(policy.items())
    _, groups = grouped([[place[j] for j, _ in t.weights if j in place] for _, t in terms])
    for group in groups:
        if len(group) == 1:  # most are: no matrix is needed
            i, term = terms[group[0]]
            values[i] = _fixed(i, term, values)
            continue
        local = {terms[k][0]: at for at, k in enumerate(group)}
        rows: list[list[tuple[int, fmpq]]] = []
        constants: list[fmpq] = []
        for k in group:
            term = terms[k][1]
            total = term.constant
            rows.append([(local[j], weight) for j, weight in term.weights if j in local])
            for j, weight in term.weights:
                if j not in local:
                    known = values[j]
                    assert known is not None
                    total += weight * known
            constants.append(total)
        for i, value in zip(local, solve_columns(rows, constants), strict=True):
            values[i] = value


def _mark_attained(
    members: Sequence[int],
    options: Sequence[Sequence[Term]],
    values: Sequence[fmpq | None],
    attained: list[bool],
) -> None:
    """Mark which bounds finitely many updates lead to: along terms that are tight."""
    ways = [
        (i, [j for j, _ in term.weights])
        for i in members
        for term in options[i]
        if values[i] is not None and _value(term, values) == values[i]
    ]
    changed = True
    while changed:
        changed = False
        for i, sources in ways:
            if not attained[i] and all(attained[j] for j in sources):
                attained[i] = changed = True
