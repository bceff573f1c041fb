"""Every certificate of the solvers is handed a wrong candidate, and refuses it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from markov_lrsao import MarkovChain
from markov_lrsao.chains.hitting import central_moments, hitting_times
from markov_lrsao.chains.kernels import lumps
from markov_lrsao.chains.solvers import _exact, absorbing_outside, backward, forward
from markov_lrsao.chains.solvers import quotient as module
from markov_lrsao.chains.solvers.quotient import Quotient, quotient, worth_merging
from markov_lrsao.chains.sources import birth_death_chain, chain_from_rows
from markov_lrsao.errors import SolverError, VerificationError
from markov_lrsao.exact.graphs import (
    components,
    components_within,
    reachable_from,
    reversed_graph,
    sort_components,
)

CHAIN = chain_from_rows(
    [{0: "1/2", 1: "1/4", 2: "1/4"}, {0: "1/3", 3: "2/3"}, {1: "1/5", 2: "1/5", 3: "3/5"}, {3: 1}]
)
INSIDE = np.arange(4) != 3


def solution() -> list[fmpq]:
    """v0 = 1 + v0/2 + v1/4 + v2/4, v1 = 1 + v0/3, v2 = 1 + v1/5 + v2/5, by hand."""
    return [fmpq(78, 19), fmpq(45, 19), fmpq(35, 19), fmpq(0)]


def test_the_residual_is_exact() -> None:
    ones = [fmpq(1)] * 4
    values = hitting_times(CHAIN, ~INSIDE)
    assert values == solution()
    _exact.check_residual(CHAIN, INSIDE, ones, values)
    for i in range(4):
        for error in (fmpq(1), fmpq(1, 10**40), -fmpq(1, 10**40)):
            wrong = list(values)
            wrong[i] += error
            with pytest.raises(SolverError, match="fails its equation in state"):
                _exact.check_residual(CHAIN, INSIDE, ones, wrong)
    for i in range(3):
        other = list(ones)
        other[i] += fmpq(1, 10**40)
        with pytest.raises(SolverError, match=f"in state {i}"):
            _exact.check_residual(CHAIN, INSIDE, other, values)
    _exact.check_residual(CHAIN, INSIDE, [*ones[:3], fmpq(9)], values)  # outside is given


CERTAIN = chain_from_rows(
    [{1: 1}, {2: 1}, {2: "1/2", 3: "1/6", 4: "1/3"}, {3: 1}, {0: "1/2", 4: "1/2"}, {5: 1}]
)


@pytest.mark.parametrize("small", [False, True])
def test_certain_steps_are_checked_as_well(small: bool) -> None:
    """0 and 1 have one successor each: their values are copies, and a wrong copy is refused.

    v2 = v2/2 + 1/6 + v4/3 with v4 = v0/2 + v4/2 = v0, and v0 = v1 = v2: all are 1.
    """
    inside = np.array([True, True, True, False, True, False])
    zeros, outside = [fmpq(0)] * 6, [fmpq(k == 3) for k in range(6)]
    values = backward(CERTAIN, inside, zeros, outside)
    assert values == [1, 1, 1, 1, 1, 0]
    tiny = fmpq(1, 10**40) if small else fmpq(1)
    for i in np.flatnonzero(inside).tolist():
        wrong = list(values)
        wrong[i] = wrong[i] + tiny
        with pytest.raises(SolverError, match="fails its equation in state"):
            _exact.check_residual(CERTAIN, inside, zeros, wrong)
        if i in (0, 1):  # a certain step that costs something is no copy
            other = [tiny if k == i else fmpq(0) for k in range(6)]
            with pytest.raises(SolverError, match=f"in state {i}"):
                _exact.check_residual(CERTAIN, inside, other, values)
    costs = backward(CERTAIN, inside, [fmpq(2)] * 6, [fmpq(0)] * 6)
    _exact.check_residual(CERTAIN, inside, [fmpq(2)] * 6, costs)
    assert costs[0] == 2 + costs[1] == 4 + costs[2]


@pytest.mark.parametrize("seed", range(4))
def test_components_compiled_and_not(seed: int) -> None:
    from markov_lrsao.chains.chain import strong_components

    rng, size = np.random.default_rng(seed), 60
    degrees = rng.integers(0, 3, size)
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
    indices = rng.integers(0, size, indptr[-1])
    inside = rng.random(size) < 0.8
    one, two = (
        components_within(indptr, indices, inside, f) for f in (components, strong_components)
    )
    assert {tuple(sorted(c)) for c in one} == {tuple(sorted(c)) for c in two}
    place = {i: c for c, states in enumerate(two) for i in states}
    for i in np.flatnonzero(inside).tolist():
        for j in indices[indptr[i] : indptr[i + 1]].tolist():
            assert not inside[j] or place[i] >= place[j]


@pytest.mark.parametrize("merged", [False, True])
def test_a_solver_that_errs_is_noticed(merged: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both on the chain itself and on its quotient the residual is looked at."""
    twin = chain_from_rows(
        [{1: "1/2", 2: "1/2"}, {3: "1/2", 1: "1/2"}, {3: "1/2", 2: "1/2"}, {3: 1}]
    )
    original = _exact._solve

    def wrong(chain: MarkovChain, inside: Any, constant: Any, values: Any, progress: Any) -> None:
        original(chain, inside, constant, values, progress)
        values[int(np.flatnonzero(inside)[-1])] += fmpq(1, 10**30)

    monkeypatch.setattr(_exact, "worth_merging", lambda _: merged)
    inside = np.arange(4) != 3
    right = backward(twin, inside, [fmpq(1)] * 4)
    assert right == [fmpq(3), fmpq(2), fmpq(2), fmpq(0)]
    monkeypatch.setattr(_exact, "_solve", wrong)
    with pytest.raises(SolverError, match="fails its equation"):
        backward(twin, inside, [fmpq(1)] * 4)


def test_what_merging_depends_on() -> None:
    """On the number of states, and on nothing that happened before."""
    from markov_lrsao.chains.kernels import lumps as compiled  # imports the compiler

    assert compiled is lumps
    small, large = birth_death_chain(["1/2"] * 1998), birth_death_chain(["1/2"] * 1999)
    assert not worth_merging(small)
    assert worth_merging(large)


def pieces() -> tuple[MarkovChain, np.ndarray, Quotient]:
    """Two equal pairs of states before one end: five states, three blocks."""
    chain = chain_from_rows(
        [
            {1: "1/2", 4: "1/2"},
            {0: "1/3", 4: "2/3"},
            {3: "1/2", 4: "1/2"},
            {2: "1/3", 4: "2/3"},
            {4: 1},
        ]
    )
    inside = np.arange(5) != 4
    return chain, inside, quotient(chain, inside, np.zeros(5, np.int64))


def compiled_check(chain: MarkovChain, inside: np.ndarray, found: Quotient) -> int:
    q = found.chain
    return int(
        lumps.check(
            chain.indptr,
            chain.indices,
            chain.numerators,
            chain.denominators,
            inside,
            found.class_of,
            q.indptr,
            q.indices,
            q.numerators,
            q.denominators,
        )
    )


@pytest.mark.parametrize("check", [module._check, compiled_check])
def test_lumpability_is_checked_row_by_row(check: Any) -> None:
    chain, inside, found = pieces()
    assert found.chain.size == 3
    assert check(chain, inside, found) == -1
    for i in range(4):  # a state in the wrong class
        class_of = found.class_of.copy()
        class_of[i] = found.class_of[(i + 1) % 2]
        assert check(chain, inside, replace(found, class_of=class_of)) >= 0
    for numerators in ([1, 1], [2, 1]):  # a row of the quotient with other probabilities
        rows = found.chain
        b = int(found.class_of[1])
        span = slice(int(rows.indptr[b]), int(rows.indptr[b + 1]))
        other, below = rows.numerators.copy(), rows.denominators.copy()
        other[span], below[b] = numerators, sum(numerators)
        wrong = replace(rows, numerators=other, denominators=below)
        assert (check(chain, inside, replace(found, chain=wrong)) >= 0) == (
            sorted(numerators) != sorted(rows.numerators[span].tolist())
            or other.tolist() != rows.numerators.tolist()
        )
    first = int(found.class_of[0])  # a row of the quotient that lacks a successor
    rows_left = [found.chain.row(b) for b in range(3)]
    lost = [dict(row) if b != first else {row[0][0]: fmpq(1)} for b, row in enumerate(rows_left)]
    wrong = chain_from_rows(lost)
    assert check(chain, inside, replace(found, chain=wrong)) >= 0


def test_a_wrong_merge_by_dictionaries_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    chain, inside, _ = pieces()
    original = module._merge

    def wrong(*arguments: Any) -> Any:
        block, *rest = original(*arguments)
        block = block.copy()
        block[0], block[1] = block[1], block[0]
        return (block, *rest)

    monkeypatch.setattr(module, "_LARGEST_DENOMINATOR", 0)
    assert quotient(chain, inside, np.zeros(5, np.int64)).chain.size == 3
    monkeypatch.setattr(module, "_merge", wrong)
    with pytest.raises(VerificationError, match="merged wrongly"):
        quotient(chain, inside, np.zeros(5, np.int64))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"numerators": [2, 1, 1, 1, 2, 1, 1, 4, 1]}, "does not sum to exactly 1"),
        ({"denominators": [4, 3, 6, 1]}, "does not sum to exactly 1"),
        ({"numerators": [5, -1, 0, 1, 2, 1, 1, 3, 1]}, "probability <= 0"),
        ({"numerators": [3, 1, 0, 1, 2, 1, 1, 3, 1]}, "probability <= 0"),
        ({"indptr": [0, 3, 3, 8, 9]}, "every state a transition"),
    ],
)
def test_chains_check_their_rows(change: dict[str, list[int]], message: str) -> None:
    with pytest.raises(VerificationError, match=message):
        replace(CHAIN, **{name: np.array(values) for name, values in change.items()})  # type: ignore[arg-type]
    with pytest.raises(VerificationError, match="needs a state"):
        replace(CHAIN, indptr=np.array([0]))


def test_states_outside_are_made_absorbing() -> None:
    cut = absorbing_outside(CHAIN, np.array([True, False, True, False]))
    assert cut.row(1) == [(1, fmpq(1))]
    assert cut.row(0) == CHAIN.row(0)
    assert cut.row(2) == CHAIN.row(2)
    assert absorbing_outside(CHAIN, INSIDE) is CHAIN
    lazy = chain_from_rows([{0: "1/2", 1: "1/2"}, {1: "1/2", 0: "1/2"}])
    assert absorbing_outside(lazy, np.array([True, False])).row(1) == [(1, fmpq(1))]


def test_values_given_outside_are_used() -> None:
    given = [fmpq(0), fmpq(7), fmpq(0), fmpq(2)]
    inside = np.array([True, False, True, False])
    # v2 = 7/5 + v2/5 + 6/5, v0 = v0/2 + 7/4 + v2/4
    assert backward(CHAIN, inside, [fmpq(0)] * 4, given) == [
        fmpq(41, 8),
        fmpq(7),
        fmpq(13, 4),
        fmpq(2),
    ]
    floats = backward(CHAIN, inside, np.zeros(4), np.array([0.0, 7.0, 0.0, 2.0]), field="float")
    np.testing.assert_allclose(floats, [41 / 8, 7, 13 / 4, 2], rtol=1e-15)


def test_flows_by_hand() -> None:
    """From 0 only: x0 = 1 + x0/2 + x1/3, x1 = x0/4 + x2/5, x2 = x0/4 + x2/5."""
    flow = forward(CHAIN, INSIDE, [fmpq(1), fmpq(0), fmpq(0), fmpq(0)])
    assert flow[:3] == [fmpq(48, 19), fmpq(15, 19), fmpq(15, 19)]
    floats = forward(CHAIN, INSIDE, np.array([1.0, 0, 0, 0]), field="float")
    np.testing.assert_allclose(floats[:3], [48 / 19, 15 / 19, 15 / 19], rtol=1e-15)


@pytest.mark.parametrize("field", ["exact", "float"])
def test_moments_against_the_geometric_law(field: str) -> None:
    """Mean 1/p, variance q/p^2, third q (1+q)/p^3, fourth q (p^2 + 9q)/p^4; here p = 1/4."""
    chain = chain_from_rows([{0: "3/4", 1: "1/4"}, {1: 1}])
    found = central_moments(chain, np.array([False, True]), 4, field=field)  # type: ignore[arg-type]
    p, q = fmpq(1, 4), fmpq(3, 4)
    truth = [1 / p, q / p**2, q * (1 + q) / p**3, q * (p**2 + 9 * q) / p**4]
    for values, value in zip(found, truth, strict=True):
        if field == "exact":
            assert values[0] == value
        else:
            assert values[0] == pytest.approx(int(value.p) / int(value.q), rel=1e-13)


def test_reachability_on_a_graph() -> None:
    indptr, indices = np.array([0, 2, 3, 3, 4]), np.array([1, 2, 0, 3])
    assert reachable_from(indptr, indices, np.array([1])).tolist() == [True, True, True, False]
    assert reachable_from(indptr, indices, np.array([2, 3])).tolist() == [False, False, True, True]
    assert reachable_from(indptr, indices, np.array([], np.int64)).tolist() == [False] * 4
    back = reversed_graph(indptr, indices)
    assert reachable_from(*back, np.array([2])).tolist() == [True, True, True, False]


@pytest.mark.parametrize("seed", range(5))
def test_components_are_solved_successors_first(seed: int) -> None:
    import networkx as nx

    rng = np.random.default_rng(seed)
    matrix = rng.random((12, 12)) < 0.12
    graph = nx.DiGraph(list(zip(*map(np.ndarray.tolist, np.nonzero(matrix)), strict=True)))
    graph.add_nodes_from(range(12))
    indptr = np.concatenate([[0], np.cumsum(matrix.sum(axis=1))]).astype(np.int64)
    found = components(indptr, np.nonzero(matrix)[1].astype(np.int64))
    groups = {
        frozenset(found.members[a:b].tolist())
        for a, b in zip(found.start[:-1], found.start[1:], strict=True)
    }
    assert groups == {frozenset(c) for c in nx.strongly_connected_components(graph)}
    assert all(found.label[i] >= found.label[j] for i, j in graph.edges)
    sources, targets = np.nonzero(matrix)
    shuffled = rng.permutation(len(found))
    number = sort_components(
        len(found), shuffled[found.label[sources]], shuffled[found.label[targets]]
    )
    assert sorted(number.tolist()) == list(range(len(found)))
    assert all(
        number[shuffled[found.label[i]]] >= number[shuffled[found.label[j]]] for i, j in graph.edges
    )


def test_a_set_that_is_never_left_is_named() -> None:
    from markov_lrsao.errors import NotAbsorbingError

    chain = chain_from_rows([{1: 1}, {0: 1}, {2: 1}])
    solves: tuple[Callable[[], object], ...] = (
        lambda: hitting_times(chain, np.arange(3) == 2),
        lambda: hitting_times(chain, np.arange(3) == 2, field="float"),
        lambda: forward(chain, np.arange(3) != 2, [fmpq(1), fmpq(0), fmpq(0)]),
    )
    for solve in solves:
        with pytest.raises(NotAbsorbingError, match="never left"):
            solve()


@pytest.mark.parametrize("merged", [False, True])
def test_phases_are_the_same_on_the_quotient(merged: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """States 1 and 2 have equal futures, a mean time of 2, but only 2 begins the phase."""
    from markov_lrsao.chains import hitting

    chain = chain_from_rows(
        [
            {1: "3/4", 2: "1/4"},
            {1: "1/2", 4: "1/2"},
            {2: "1/2", 4: "1/2"},
            {3: "2/3", 4: "1/3"},
            {4: 1},
        ]
    )
    monkeypatch.setattr(hitting, "worth_merging", lambda _: merged)
    end = np.arange(5) == 4
    assert hitting.phase_moments(chain, None, end) == [fmpq(3), fmpq(2)]
    # The phase from 2 on; a run through 1 begins and ends it at 4, with time 0.
    begin = np.array([False, False, True, False, True])
    mean, variance = hitting.phase_moments(chain, begin, end)
    assert mean == fmpq(1, 2)
    # E[T^2] = 1/4 (2 + 4) = 3/2, less 1/4
    assert variance == fmpq(5, 4)


def test_flows_through_several_components() -> None:
    """0 goes to 1 or 2, both lead on to the pair 3 and 4, which is left from 4 half of the time."""
    chain = chain_from_rows(
        [{1: "1/4", 2: "3/4"}, {3: 1}, {2: "1/2", 3: "1/2"}, {4: 1}, {3: "1/2", 5: "1/2"}, {5: 1}]
    )
    inside = np.arange(6) != 5
    flow = forward(chain, inside, [fmpq(int(i == 0)) for i in range(6)])
    assert flow[:5] == [fmpq(1), fmpq(1, 4), fmpq(3, 2), fmpq(2), fmpq(2)]
    floats = forward(chain, inside, np.eye(6)[0], field="float")
    np.testing.assert_allclose(floats[:5], [1, 0.25, 1.5, 2, 2], rtol=1e-15)


def test_progress_is_told() -> None:
    """One step for every 4,096 components, begun with the first."""
    from collections.abc import Iterator
    from contextlib import contextmanager

    told: list[int] = []

    class Bar:
        def advance(self, count: int = 1) -> None:
            told.append(count)

    @contextmanager
    def progress(_: str, *, total: int | None = None) -> Iterator[Bar]:
        told.append(-(total or 0))
        yield Bar()

    ones, source = [fmpq(1)] * 4, [fmpq(1), fmpq(0), fmpq(0), fmpq(0)]
    line = chain_from_rows([{1: 1}, {2: 1}, {3: 1}, {3: 1}])
    forward(line, INSIDE, source, progress=progress)
    assert told == [-3, 4096]
    told.clear()
    backward(
        chain_from_rows([{0: "1/2", 1: "1/2"}, {1: 1}]),
        np.array([True, False]),
        ones[:2],
        progress=progress,
    )
    assert told[0] == -1
