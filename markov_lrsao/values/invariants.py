"""Clusters of values as an inductive invariant: confirmed from nothing but the clusters.

Whatever grew them: if every row with which a walk begins lies in its cluster, and every update of
a cluster leads into the cluster that it is said to lead to, then no run ever leaves them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from markov_lrsao.errors import VerificationError
from markov_lrsao.exact.intervals import UNKNOWN, Interval
from markov_lrsao.rows.orders import narrowed
from markov_lrsao.rows.patterns import Pattern
from markov_lrsao.values.cells import Traits, is_dead
from markov_lrsao.values.clusters import Clusters

__all__ = ["check_invariant", "implies"]


def check_invariant(clusters: Clusters) -> None:
    """Confirm that every update leads into its cluster and keeps the claimed relations.

    Raises
    ------
    VerificationError
        It does not: the clusters are not an invariant.
    """
    for number, traits in enumerate(clusters.traits):
        narrowed(traits.pattern, clusters.boxes[number])
    for pattern, box, safe, number in clusters.given:
        _check_within(clusters, number, pattern, narrowed(pattern, box), safe, "a row given")
    for update, target in clusters.following.items():
        what = f"an update of action {clusters.law.actions[update.action]}"
        _check_within(clusters, target, *clusters.image(update), update.safe, what)


def _check_within(
    clusters: Clusters,
    number: int,
    pattern: Pattern,
    box: Sequence[Interval],
    safe: tuple[int, ...],
    what: str,
) -> None:
    traits, into = clusters.traits[number], clusters.boxes[number]
    wrong = [a for a, b in enumerate(box) if traits.cells[a] is not None and b not in into[a]]
    if wrong or not implies(pattern, traits, safe):
        raise VerificationError(
            f"{what} leads out of its cluster of values: {', '.join(map(str, box))} is not "
            f"within {', '.join(map(str, into))}"
        )


def implies(pattern: Pattern, traits: Traits, safe: tuple[int, ...]) -> bool:
    """Whether a pattern proves all relations, and all forgetting, that traits claim."""
    k = len(traits.cells)
    claims = [(pattern.signs[i], traits.pattern.signs[i]) for i in range(k)]
    claims += [
        (pattern.relation(i, j), traits.pattern.relation(i, j))
        for i, j in combinations(range(k), 2)
    ]
    fine = all(claimed in (UNKNOWN, known) for known, claimed in claims)
    return fine and all(
        cell is not None or is_dead(pattern, i, safe) for i, cell in enumerate(traits.cells)
    )
