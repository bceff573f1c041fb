"""l = 1, which the paper puts aside: the engine against Algorithm 1 on full exact Q-tables.

Patterns do not decide here (phase 1 may end without L), so the joint chain has values in its
states; crossing counts are the second way to the same numbers.
"""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import fmpq
from oracles import Rule, h_interval, paper_objectives, paper_parameters
from three_ways import Instance, compare_with_oracle

from markov_lrsao import Landscape, Parameters, StepLaw, runtime
from markov_lrsao.errors import ParameterError
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.regimes.grid import MapPlan
from markov_lrsao.values.whole_run import chain_with_values, everything
from simulate.runs.rules import Rules

PLACES = [None, "1/2", "99/100"]


def parameters_at(n: int, place: str | None) -> tuple[Fraction, Fraction, Fraction]:
    """The paper's hyper-parameters, or others whose r lies at that place of (H)."""
    if place is None:
        return paper_parameters(n)
    alpha, gamma = Fraction(9, 10), Fraction(1, 20)
    low, high = h_interval(n, 1, alpha, gamma)
    return alpha, gamma, low + (high - low) * Fraction(place)


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_the_law_of_the_position_is_algorithm_ones(place: str | None) -> None:
    n = 7
    chosen = parameters_at(n, place)
    instance = Instance(paper_objectives(n, 1), "J", (2, n - 1, n), Rule.lrsao(*chosen), chosen)
    law = StepLaw.of(Landscape.jump(n, 1), Algorithm.lrsao(Parameters.of(*chosen)))
    block = everything(law, fmpq(1, 5), exact_bits=24, largest=20_000)
    assert not block.undecided
    chain = chain_with_values(block)[0]
    assert compare_with_oracle(instance, chain, 30, largest=15_000) >= 10


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_two_ways_to_the_runtime_agree(place: str | None) -> None:
    n = 7
    algorithm = Algorithm.lrsao(Parameters.of(*parameters_at(n, place)))
    joint, crossing = (
        runtime(Landscape.jump(n, 1), algorithm, method=method) for method in ("joint", "crossing")
    )
    assert joint.kind == crossing.kind == "exact"
    assert joint.total.value == crossing.total.value
    assert [q.value for q in joint.phases] == [q.value for q in crossing.phases]


def test_what_rests_on_the_papers_range_leaves_l_1_alone() -> None:
    narrow, valid = (
        StepLaw.of(landscape) for landscape in (Landscape.jump(9, 1), Landscape.jump(9, 2))
    )
    assert Rules.of(narrow) == Rules()  # the paper's lemmas do not speak about it
    assert Rules.of(valid) != Rules()
    with pytest.raises(ParameterError, match=r"ell = 1 is out of range .* 2\.\.2"):
        MapPlan.of(9, 1, alpha="4/5", r_relative="1/2")
