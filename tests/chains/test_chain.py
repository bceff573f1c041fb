from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from instances import jump_chain, jump_law

from markov_lrsao import Landscape, MarkovChain, StepLaw, runtime
from markov_lrsao.chains.sources import birth_death_chain, chain_from_rows, plateau_walk
from markov_lrsao.errors import (
    ExactnessError,
    ParameterError,
    StateSpaceTooLargeError,
    VerificationError,
)
from markov_lrsao.joint.enumeration import enumerate_joint, expected_states


def chain(numerators: list[int], denominators: list[int]) -> MarkovChain:
    return MarkovChain(
        indptr=np.array([0, 2, 3]),
        indices=np.array([0, 1, 1]),
        numerators=np.array(numerators),
        denominators=np.array(denominators),
        start=np.array([0]),
        positions=np.array([0, 1]),
    )


def test_rows_must_sum_to_one_exactly() -> None:
    assert chain([1, 2, 1], [3, 1]).row(0) == [(0, fmpq(1, 3)), (1, fmpq(2, 3))]
    for numerators in ([1, 1, 1], [1, 3, 1], [1, 2, 2]):
        with pytest.raises(VerificationError, match="exactly 1"):
            chain(numerators, [3, 1])
    for numerators in ([-1, 4, 1], [0, 3, 1]):
        with pytest.raises(VerificationError, match="probability <= 0"):
            chain(numerators, [3, 1])


def test_empty_rows_are_refused() -> None:
    with pytest.raises(VerificationError):
        MarkovChain(
            indptr=np.array([0, 0, 1]),
            indices=np.array([1]),
            numerators=np.array([1]),
            denominators=np.array([1, 1]),
            start=np.array([0]),
            positions=np.zeros(2, int),
        )


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{0: "1/2"}], "sums to 1/2"),
        ([{0: "3/2", 1: "-1/2"}, {1: 1}], "negative"),
        ([{2: 1}], "does not exist"),
        ([{-1: 1}], "does not exist"),
    ],
)
def test_bad_rows(rows: list[dict[int, object]], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        chain_from_rows(rows)


def test_floats_are_refused_in_rows() -> None:
    with pytest.raises(ExactnessError, match="probability of 0 -> 1"):
        chain_from_rows([{0: "1/2", 1: 0.5}, {1: 1}])


def test_views() -> None:
    c = chain_from_rows([{0: "1/3", 1: "2/3", 2: 0}, {2: 1}, {2: 1}], labels=["a", "b", "c"])
    assert (c.size, c.transitions) == (3, 4)
    assert c.exact_rows()[0] == [(0, fmpq(1, 3)), (1, fmpq(2, 3))]
    assert c.to_scipy().toarray().tolist() == [[1 / 3, 2 / 3, 0], [0, 0, 1], [0, 0, 1]]
    graph = c.to_networkx()
    assert graph.nodes[1]["label"] == "b"
    assert graph.edges[0, 1]["probability"] == fmpq(2, 3)
    assert graph.number_of_edges() == 4
    assert c.at_positions([2]).tolist() == [False, False, True]


def test_huge_denominators_stay_exact() -> None:
    tiny = Fraction(1, 10**30)
    c = chain_from_rows([{0: 1 - tiny, 1: tiny}, {1: 1}])
    assert dict(c.row(0))[1] == fmpq(1, 10**30)


def test_plateau_walk_is_checked() -> None:
    assert plateau_walk(9, 3, 5).positions.tolist() == [3, 4, 5, 6]
    for first, last in ((5, 3), (0, 9), (-1, 2)):
        with pytest.raises(ParameterError, match="plateau"):
            plateau_walk(9, first, last)
    assert birth_death_chain([1]).size == 2


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize(("n", "ell"), [(9, 2), (10, 2), (11, 3)])
def test_joint_chains_are_well_formed(n: int, ell: int, merge: bool) -> None:
    joint = jump_chain(n, ell, merge=merge)
    c = joint.chain
    sums = np.add.reduceat(c.numerators, c.indptr[:-1])
    assert np.array_equal(sums, c.denominators)
    assert np.all(np.diff(joint.codes) > 0)
    for i in range(0, c.size, max(1, c.size // 300)):  # columns sorted, no duplicates
        columns = c.indices[c.indptr[i] : c.indptr[i + 1]]
        assert np.all(np.diff(columns) > 0)
        assert np.all(np.abs(c.positions[columns] - c.positions[i]) <= 1)
    assert c.label(int(c.start[0])) == "p=0"
    assert c.start.tolist() == [0]
    ends = c.at_positions([n])
    assert np.all(np.diff(c.indptr)[ends] == 1)
    if c.size < 20_000 and not merge:
        assert len({c.label(i) for i in range(c.size)}) == c.size


def test_all_states_are_reachable() -> None:
    from markov_lrsao.exact.graphs import reachable_from

    for merge in (True, False):
        c = jump_chain(9, 2, merge=merge).chain
        assert reachable_from(c.indptr, c.indices, c.start).all()


def test_too_many_states_are_refused_with_advice() -> None:
    with pytest.raises(StateSpaceTooLargeError, match=r"100 states.*`max_states`"):
        enumerate_joint(jump_law(9, 2), max_states=100)
    with pytest.raises(StateSpaceTooLargeError, match="raise `max_states`"):
        enumerate_joint(jump_law(100, 2))
    law = jump_law(100, 2)
    with pytest.raises(StateSpaceTooLargeError, match='`method="crossing"`'):
        runtime(law.landscape, law.algorithm, method="joint")


def test_the_expected_size_is_said_before_trying() -> None:
    with pytest.raises(StateSpaceTooLargeError, match=r"about \d\.\de\+\d+ states"):
        enumerate_joint(jump_law(30, 2))


@pytest.mark.parametrize(("n", "ell", "merge"), [(15, 2, True), (13, 2, False)])
def test_the_expected_size_is_about_right(n: int, ell: int, merge: bool) -> None:
    # 518,463 states at n = 11 and six times more per unit of n, unmerged, with l = 2
    expected = expected_states(jump_law(n, ell), merge=merge)
    assert expected is not None
    if merge:  # 71,523 states at n = 14, about three times more per unit of n
        assert 2 < expected / 71_523 < 4.5
    else:
        assert 5e6 < expected < 5e7


def test_the_estimate_does_not_refuse_what_is_decided() -> None:
    law = jump_law(15, 2, "1/2", "1/16", "114/5")
    runtime(law.landscape, law.algorithm, method="crossing", field="float")  # decided
    expected_states(law, merge=True)


def test_the_expected_size_comes_from_sizes_that_the_family_has() -> None:
    """XdivK has multiples of k only: once the refusal spoke of n = 4 where 60 was asked."""
    law = StepLaw.of(Landscape.named("xdivk:k=3", n=45, helpers=["onemax"]))
    expected = expected_states(law, merge=True)
    assert expected is not None
    assert 1 < expected / 196_603 < 10
