"""Where runs with open choices get stuck, against brute force on small graphs."""

from __future__ import annotations

import random
from itertools import product

import networkx as nx
import pytest

from markov_lrsao.crossing.blocks import Exit
from markov_lrsao.values.traps import Fate, _breadth_first, _cannot_finish, _may_stay, _never_left

END = Exit(1, 0, ())
Successors = list[list[list[int | Exit]]]


def random_block(seed: int) -> Successors:
    """Up to six states with one or two options of one or two successors each."""
    rng = random.Random(seed)
    size = rng.randrange(1, 7)

    def successor() -> int | Exit:
        return END if rng.random() < 0.15 else rng.randrange(size)

    return [
        [[successor() for _ in range(rng.randrange(1, 3))] for _ in range(rng.randrange(1, 3))]
        for _ in range(size)
    ]


def graph_of(block: Successors) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(block)))
    for i, options in enumerate(block):
        graph.add_edges_from(
            (i, "end" if isinstance(t, Exit) else t) for targets in options for t in targets
        )
    return graph


@pytest.mark.parametrize("seed", range(200))
def test_against_brute_force(seed: int) -> None:
    block = random_block(seed)
    graph = graph_of(block)
    for given_up in ({k for k in range(len(block)) if seed >> k & 1}, set[int]()):
        traps = _cannot_finish(block, given_up)
        goals = given_up | {"end"}
        assert traps == {
            i for i in range(len(block)) if not goals & ({i} | nx.descendants(graph, i))
        }
    assert traps == {i for i in range(len(block)) if "end" not in nx.descendants(graph, i)}
    # A component of traps is never left if nothing leads out of it.
    closed = {
        i
        for i in traps
        if all(i in nx.descendants(graph, j) | {j} for j in nx.descendants(graph, i))
    }
    assert (_never_left(block, traps) if traps else set()) == closed
    # Some fixed choice keeps the run outside traps and exits for ever.
    staying = set()
    for choice in product(*(range(len(options)) for options in block)):
        fixed = nx.DiGraph()
        fixed.add_nodes_from(range(len(block)))
        for i, k in enumerate(choice):
            fixed.add_edges_from((i, "end" if isinstance(t, Exit) else t) for t in block[i][k])
        for i in range(len(block)):
            met = nx.descendants(fixed, i) | {i}
            if "end" not in met and not met & traps:
                staying.add(i)
    assert _may_stay(block, traps) == staying


def test_the_order_of_a_search() -> None:
    block: Successors = [[[2, END], [1]], [[3]], [[1]], [[3]], [[0]]]
    assert _breadth_first(block, [0]) == [0, 2, 1, 3]
    assert _breadth_first(block, [4, 4]) == [4, 0, 2, 1, 3]
    assert _breadth_first(block, [3, 1]) == [3, 1]


def test_stuck_only_with_a_positive_chance() -> None:
    from flint import fmpq

    fate = Fate((2,), (2,), 2, (fmpq(0), fmpq(1, 10**30), fmpq(1)), (fmpq(1),) * 3, False)
    assert [fate.stuck_from(i) for i in range(3)] == [False, True, True]
    assert not Fate((), (), None, (), (), True).stuck_from(5)
