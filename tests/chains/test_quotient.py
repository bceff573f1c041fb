"""Merging equal futures: exact, checked, and never too much."""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from peer_chains import chains

from markov_lrsao import Algorithm, Landscape, MarkovChain, Parameters, StepLaw
from markov_lrsao.chains.kernels import lumps
from markov_lrsao.chains.solvers import _exact, absorbing_outside
from markov_lrsao.chains.solvers import quotient as module
from markov_lrsao.chains.solvers.quotient import quotient
from markov_lrsao.chains.sources import chain_from_rows
from markov_lrsao.errors import VerificationError
from markov_lrsao.joint.enumeration import enumerate_joint
from markov_lrsao.progress import no_progress


def jump_chain(n: int) -> MarkovChain:
    law = StepLaw.of(Landscape.jump(n, 2), Algorithm.lrsao(Parameters.paper(n)))
    return enumerate_joint(law, merge=False).chain


def direct(chain: MarkovChain, inside: np.ndarray) -> list[fmpq]:
    values = [fmpq(0)] * chain.size
    _exact._solve(chain, inside, [fmpq(1)] * chain.size, values, no_progress)
    return values


def test_the_unmerged_chain_shrinks_and_keeps_every_value() -> None:
    chain = jump_chain(9)
    inside = chain.positions != 9
    merged = quotient(chain, inside, np.zeros(chain.size, np.int64))
    assert merged.chain.size < chain.size // 20
    small = direct(merged.chain, merged.inside)
    assert [small[b] for b in merged.class_of.tolist()] == direct(chain, inside)


def test_dictionaries_and_compiled_code_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = jump_chain(9)
    inside = chain.positions != 9
    colours = np.zeros(chain.size, np.int64)
    compiled = quotient(chain, inside, colours)
    monkeypatch.setattr(module, "_LARGEST_DENOMINATOR", 0)
    plain = quotient(chain, inside, colours)
    assert compiled.chain.size == plain.chain.size
    pairs = set(zip(compiled.class_of.tolist(), plain.class_of.tolist(), strict=True))
    assert len(pairs) == plain.chain.size  # the same partition, numbered in two ways


@settings(max_examples=80)
@given(
    chain=chains(),
    colours=st.lists(st.integers(0, 1), min_size=12, max_size=12),
    small=st.booleans(),
)
def test_random_quotients_are_lumpable(chain: MarkovChain, colours: list[int], small: bool) -> None:
    inside = ~chain.labelled("goal")
    cut = absorbing_outside(chain, inside)
    classes = np.array(colours[: chain.size], np.int64)
    if small:
        merged = quotient(cut, inside, classes)
    else:
        class_of, rows, representative = module._merge(cut, inside, classes)
        merged = module._assemble_rows(cut, inside, class_of, rows, representative)
    for i in np.flatnonzero(inside).tolist():
        sums: dict[int, fmpq] = {}
        for j, p in cut.row(i):
            b = int(merged.class_of[j])
            sums[b] = sums.get(b, fmpq(0)) + p
        assert dict(merged.chain.row(int(merged.class_of[i]))) == sums
    for b in range(merged.chain.size):
        assert len(set(classes[merged.class_of == b].tolist())) == 1


def test_equal_rows_merge_and_different_ones_do_not() -> None:
    rows: list[dict[int, object]] = [
        {1: "1/2", 2: "1/2"},
        {3: 1},
        {3: 1},
        {3: 1},
        {3: "1/2", 4: "1/2"},
    ]
    chain = chain_from_rows(rows)
    merged = quotient(chain, np.arange(5) != 3, np.zeros(5, np.int64))
    assert merged.class_of[1] == merged.class_of[2]
    assert len(set(merged.class_of.tolist())) == 4


def test_components_merge_as_wholes() -> None:
    pair: list[dict[int, object]] = [{1: "1/2", 4: "1/2"}, {0: "1/3", 4: "2/3"}]
    other: list[dict[int, object]] = [{2: "1/3", 4: "2/3"}, {3: "1/2", 4: "1/2"}]
    chain = chain_from_rows([*pair, {3: "1/2", 4: "1/2"}, {2: "1/3", 4: "2/3"}, {4: 1}])
    merged = quotient(chain, np.arange(5) != 4, np.zeros(5, np.int64))
    assert merged.chain.size == 3
    swapped = chain_from_rows([*pair, {3: "1/3", 4: "2/3"}, {2: "1/2", 4: "1/2"}, {4: 1}])
    assert quotient(swapped, np.arange(5) != 4, np.zeros(5, np.int64)).chain.size == 3
    assert other  # the two orders of the same pair


def test_a_wrong_merge_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = jump_chain(9)
    original = lumps.merge

    def wrong(*arguments: object) -> object:
        class_of, *rest = original(*arguments)
        class_of = class_of.copy()
        class_of[0] = class_of[1]
        return (class_of, *rest)

    monkeypatch.setattr(lumps, "merge", wrong)
    with pytest.raises(VerificationError, match="merged wrongly"):
        quotient(chain, chain.positions != 9, np.zeros(chain.size, np.int64))
