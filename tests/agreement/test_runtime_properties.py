"""What must hold for all valid (n, l) and hyper-parameters."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from instances import jump_chain, paper_runtime, valid_pairs
from oracles import h_interval, harmonic

from markov_lrsao import Algorithm, Landscape, Parameters, RuntimeResult, StepLaw, runtime
from markov_lrsao.errors import UndecidedComparisonError
from markov_lrsao.joint.enumeration import enumerate_joint
from markov_lrsao.rows.automata import derive_automata
from markov_lrsao.rows.lumping import merge_patterns

# Few slope sites: the joint chain grows with n - 2l - 1, hardly with l.
SMALL = [(n, ell) for n, ell in valid_pairs(25) if n - 2 * ell <= 6]

rates = st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=40)
places = st.sampled_from([Fraction(k, 100) for k in (1, 5, 20, 50, 80, 95, 99)])


@st.composite
def instances(draw: st.DrawFn) -> tuple[Landscape, Algorithm]:
    """An instance in (H), r anywhere in its interval."""
    n, ell = draw(st.sampled_from(SMALL))
    alpha = draw(st.sampled_from([Fraction(4, 5), Fraction(9, 10)]) | rates)
    gamma = Fraction(1, n + 1) * draw(st.fractions(Fraction(1, 10), 1, max_denominator=10))
    low, high = h_interval(n, ell, alpha, gamma)
    assume(low < high)
    r = low + (high - low) * draw(places)
    return Landscape.jump(n, ell), Algorithm.lrsao(Parameters.of(alpha, gamma, r))


def fractions_of(result: RuntimeResult) -> list[Fraction]:
    return [Fraction(q.rational or "") for q in (result.total, *result.phases)]


@pytest.mark.slow
@given(instances())
@settings(max_examples=7)
def test_invariants(instance: tuple[Landscape, Algorithm]) -> None:
    landscape, algorithm = instance
    n, ell = landscape.n, landscape.ell
    result = runtime(landscape, algorithm, method="crossing")
    if result.kind == "enclosure":
        assert result.total.upper is not None
        assert Fraction(str(result.total.upper)) >= n * harmonic(n)
        assert 0 < result.total.upper - result.total.lower <= result.total.lower / 1000
        assert result.undecided is not None
        assert all(phase.exact for phase in result.phases[:2])
        return
    total, *phases = fractions_of(result)
    assert total == sum(phases)
    assert result.hypothesis_h is True
    # Each position above the start must be reached, one bit at a time.
    assert total >= n * harmonic(n)
    for begin, end, mean in zip((0, ell + 1, n - ell), (ell + 1, n - ell, n), phases, strict=True):
        assert mean >= n * (harmonic(n - begin) - harmonic(n - end))
    # Phase 1 does not depend on the hyper-parameters: formula (A).
    assert phases[0] == Fraction(2, 3 * (2 * n - 1)) + n * (harmonic(n) - harmonic(n - ell - 1))
    assert result.variance.value > 0
    if n > 15:
        return
    joint = runtime(landscape, algorithm, method="joint")
    assert (joint.total, joint.phases) == (result.total, result.phases)
    assert (joint.variance, joint.phase_variances) == (result.variance, result.phase_variances)
    floats = runtime(landscape, algorithm, method="crossing", field="float")
    for exact, approximate in zip(
        (result.total, *result.phases, result.variance),
        (floats.total, *floats.phases, floats.variance),
        strict=True,
    ):
        assert float(approximate) == pytest.approx(float(exact), rel=1e-11)


@given(instances(), st.booleans())
@settings(max_examples=7)
def test_rows_sum_to_one(instance: tuple[Landscape, Algorithm], merge: bool) -> None:
    law = StepLaw.of(*instance)
    automata = derive_automata(law)
    try:
        chain = enumerate_joint(law, automata=automata, merge=merge).chain
    except UndecidedComparisonError:
        return
    sums = np.add.reduceat(chain.numerators, chain.indptr[:-1])
    assert np.array_equal(sums, np.full(chain.size, law.denominator))
    below = chain.numerators[chain.positions[chain.indices] < chain.positions[chain.sources]]
    assert below.size  # the walk can fall
    assert chain.positions.max() == law.n


@pytest.mark.slow
@given(st.sampled_from([(9, 2), (11, 3)]), rates, places)
@settings(max_examples=3)
def test_only_the_patterns_matter(pair: tuple[int, int], alpha: Fraction, place: Fraction) -> None:
    """Hyper-parameters with the same merged automata give the same law, digit by digit."""
    n, ell = pair
    gamma = Fraction(1, n + 1)
    low, high = h_interval(n, ell, alpha, gamma)
    assume(low < high)
    r = low + (high - low) * place
    law = StepLaw.of(Landscape.jump(n, ell), Algorithm.lrsao(Parameters.of(alpha, gamma, r)))
    result = runtime(law.landscape, law.algorithm, method="crossing")
    reference = jump_chain(n, ell).automata
    merged, _ = merge_patterns(derive_automata(law))
    if merged.following == reference.following:
        assert result.total == paper_runtime(n, ell).total
    # Phases 1 and 2 see signs only, whatever the hyper-parameters in (H).
    assert result.phases[:2] == paper_runtime(n, ell).phases[:2]


@pytest.mark.parametrize("ell", [2, 3, 4])
def test_more_bits_take_longer(ell: int) -> None:
    # With l fixed, n -> n + 1 adds a slope site and lengthens every wait.
    means = [fractions_of(paper_runtime(n, ell))[0] for n in range(2 * ell + 5, 2 * ell + 8)]
    assert means == sorted(means)
    assert len(set(means)) == len(means)


@pytest.mark.parametrize("n", [13, 17])
def test_a_longer_plateau_has_fewer_slope_sites(n: int) -> None:
    states = [paper_runtime(n, ell).states for ell in range((n - 7) // 2, (n - 5) // 2 + 1)]
    assert states == sorted(states, reverse=True)
