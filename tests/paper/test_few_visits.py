"""Lemma 10: each state in l+3..n-l-2 is visited at most five times, read off the chain.

A visit is an arrival from another position. The largest number of visits over all runs is
the heaviest path in the graph of strongly connected components, an arrival inside a
component making it infinite. Nothing of the engine is used but the chain itself.
"""

from __future__ import annotations

import numpy as np
import pytest
from instances import jump_chain

from markov_lrsao import MarkovChain


def most_visits(chain: MarkovChain, position: int) -> float:
    order = chain.components
    source, target = chain.sources, chain.indices
    arrival = (chain.positions[target] == position) & (chain.positions[source] != position)
    best = np.zeros(len(order))
    by_component = np.argsort(order.label[source], kind="stable")  # successors first
    for e in by_component.tolist():
        c, d = order.label[source[e]], order.label[target[e]]
        if c == d and arrival[e]:
            return float("inf")
        best[c] = max(best[c], best[d] + arrival[e])
    return float(best[order.label[chain.start[0]]])


@pytest.mark.parametrize(("n", "ell"), [(9, 2), (10, 2), (11, 2), (12, 3), (14, 4)])
def test_at_most_five_visits(n: int, ell: int) -> None:
    chain = jump_chain(n, ell).chain
    visits = {s: most_visits(chain, s) for s in range(ell + 3, n - ell - 1)}
    assert max(visits.values()) <= 5
    if n - 2 * ell > 6:
        assert max(visits.values()) == 5  # attained
    assert most_visits(chain, ell + 1) == float("inf")  # but not on the lowest sites


def test_after_entering_the_right_plateau_the_slope_is_not_climbed_again() -> None:
    # Lemma 12: in phase 3 the walk cannot fall from n-l-1 to n-l-2.
    joint = jump_chain(9, 2, merge=False)
    chain = joint.chain
    from markov_lrsao.exact.graphs import reachable_from

    seen = reachable_from(chain.indptr, chain.indices, np.flatnonzero(chain.positions == 7))
    assert chain.positions[seen].min() == 6
