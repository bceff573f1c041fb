"""Crossing counts against the joint chain, closed forms and floats."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from fractions import Fraction

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from tiers import campaign

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw, runtime
from markov_lrsao.crossing.decomposition import decompose
from markov_lrsao.errors import CrossingError, StateSpaceTooLargeError
from markov_lrsao.exact.quantity import Exact, Quantity
from markov_lrsao.exact.rationals import fraction, harmonic_difference
from markov_lrsao.joint.enumeration import enumerate_joint
from markov_lrsao.model.landscape import JUMP
from markov_lrsao.rows.automata import derive_automata


def truth(q: Quantity) -> Fraction:
    """Return an exact quantity; as text it may have more digits than Python reads."""
    assert isinstance(q, Exact)
    return fraction(q.value)


def paper(n: int) -> Algorithm:
    return Algorithm.lrsao(Parameters.paper(n))


def valid(n_max: int) -> list[tuple[int, int]]:
    pairs = []
    for n in range(9, n_max + 1):
        allowed = JUMP.ell_range(n)
        assert allowed is not None
        pairs += [(n, ell) for ell in range(allowed[0], allowed[1] + 1)]
    return pairs


def same(n: int, ell: int, algorithm: Algorithm) -> None:
    landscape = Landscape.jump(n, ell)
    joint = runtime(landscape, algorithm, method="joint")
    crossing = runtime(landscape, algorithm, method="crossing")
    assert (crossing.method, joint.method) == ("crossing", "joint")
    assert crossing.total.value == joint.total.value
    assert [p.value for p in crossing.phases] == [p.value for p in joint.phases]
    assert crossing.variance.value == joint.variance.value
    assert [p.value for p in crossing.phase_variances] == [p.value for p in joint.phase_variances]


@pytest.mark.parametrize(("n", "ell"), [*valid(13), (17, 6), (26, 10), (31, 13)])
def test_crossing_equals_joint(n: int, ell: int) -> None:
    same(n, ell, paper(n))


@pytest.mark.parametrize(("n", "ell"), campaign(p for p in valid(24) if p[0] - 2 * p[1] <= 11))
def test_crossing_equals_joint_as_far_as_the_joint_chain_goes(n: int, ell: int) -> None:
    same(n, ell, paper(n))


@pytest.mark.parametrize("alpha", ["0.7", "0.9"])
@pytest.mark.parametrize(("n", "ell"), [(10, 2), (13, 3)])
def test_crossing_equals_joint_for_other_parameters(n: int, ell: int, alpha: str) -> None:
    same(n, ell, Algorithm.lrsao(Parameters.paper(n, alpha=alpha)))


def test_documented_reference_value() -> None:
    result = runtime(Landscape.jump(9, 2), paper(9), method="crossing")
    assert result.total.rational == "51740216905/1185192162"
    assert [p.rational for p in result.phases] == [
        "9853/2856",
        "3343673/212520",
        "1801504607/73614420",
    ]


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.integers(20, 400), st.data())
def test_floats_agree_with_rationals_to_1e_12(n: int, data: st.DataObject) -> None:
    low, high = JUMP.ell_range(n) or (2, 2)
    ell = data.draw(st.integers(low, high))
    landscape = Landscape.jump(n, ell)
    exact = runtime(landscape, paper(n), method="crossing")
    floats = runtime(landscape, paper(n), method="crossing", field="float", moments=4)
    for a, b in zip([exact.total, *exact.phases], [floats.total, *floats.phases], strict=True):
        known = truth(a)
        assert abs(Fraction(float(b)) / known - 1) < Fraction(1, 10**12)
    total = truth(exact.total)
    assert total == sum(truth(p) for p in exact.phases)
    # The run cannot beat the coupon collector.
    assert total > fraction(n * harmonic_difference(0, n))


def test_floats_agree_with_rationals_at_ten_thousand() -> None:
    landscape = Landscape.jump(10_000, 21)
    exact = runtime(landscape, paper(10_000), method="crossing")
    floats = runtime(landscape, paper(10_000), method="crossing", field="float")
    ratio = Fraction(float(floats.total)) / truth(exact.total)
    assert abs(ratio - 1) < Fraction(1, 10**12)
    ratio = Fraction(float(floats.variance)) / truth(exact.variance)
    assert abs(ratio - 1) < Fraction(1, 10**10)


def test_higher_moments_agree_with_the_joint_chain() -> None:
    landscape = Landscape.jump(11, 2)
    joint = runtime(landscape, paper(11), method="joint", moments=4)
    crossing = runtime(landscape, paper(11), method="crossing", moments=4)
    for a, b in zip(
        [joint.higher, *joint.phase_higher], [crossing.higher, *crossing.phase_higher], strict=True
    ):
        assert len(a) == len(b) == 2
        for x, y in zip(a, b, strict=True):
            assert x.exact
            assert not y.exact
            assert float(y) == pytest.approx(float(x), rel=1e-9)


def test_variance_becomes_a_marked_float_beyond_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = runtime(Landscape.jump(60, 4), paper(60), method="crossing")
    monkeypatch.setattr(sys.modules["markov_lrsao.answers.counting"], "EXACT_VARIANCE_LIMIT", 50)
    result = runtime(Landscape.jump(60, 4), paper(60), method="crossing")
    assert result.exact
    assert result.total.value == exact.total.value
    variance = result.to_dict()["variance"]
    assert variance["exact"] is False
    assert variance["rational"] is None
    assert float(variance["decimal"]) == pytest.approx(float(exact.variance), rel=1e-11)


def test_fractions_beyond_4300_digits_go_through_json() -> None:
    result = runtime(Landscape.jump(3000, 2), paper(3000), method="crossing")
    text = json.dumps(result.to_dict())
    value = json.loads(text)["total"]["rational"]
    assert len(value) > 8600
    numerator, denominator = value.split("/")
    from flint import fmpz

    assert fmpq(fmpz(numerator), fmpz(denominator)) == result.total.value


def test_sites_have_three_values_of_d_and_blocks_do_not_grow() -> None:
    small, large = (decompose(StepLaw.of(Landscape.jump(n, n // 5), paper(n))) for n in (200, 2000))
    assert max(site.outgoing for site in small.sites) == 2
    assert len(small.bottom.states) == len(large.bottom.states)
    assert small.tail is not None
    assert large.tail is not None
    assert len(small.tail.states) == len(large.tail.states)


def test_a_row_with_three_regions() -> None:
    # Three separate regions of target value 0: the cut is at the second, and the walk after it
    # meets fresh rows, sites of which some are never met again.
    objectives = {"F": [0, 0, 1, 2, 0, 0, 3, 4, 0, 0, 9], "H": list(range(11))}
    landscape = Landscape.from_arrays(objectives, target="F")
    algorithm = Algorithm.lrsao(Parameters.of("4/5", "1/11", 4))
    joint = runtime(landscape, algorithm, method="joint", outside_h=True)
    crossing = runtime(landscape, algorithm, method="crossing", outside_h=True)
    assert crossing.total.value == joint.total.value
    assert crossing.variance.value == joint.variance.value


def test_auto_falls_back_to_segments_and_the_joint_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    from markov_lrsao.crossing import blocks, shared

    landscape, algorithm = Landscape.jump(13, 2), paper(13)
    expected = runtime(landscape, algorithm, method="joint").total.value
    monkeypatch.setattr(sys.modules["markov_lrsao.answers.plan"], "_MOST_JOINT_ROWS", 1)
    assert runtime(landscape, algorithm).method == "crossing"
    monkeypatch.setattr(blocks, "_LARGEST_BLOCK", 10)
    with pytest.raises(CrossingError, match='use `method="segments"`'):
        runtime(landscape, algorithm, method="crossing")
    result = runtime(landscape, algorithm)
    assert (result.method, result.total.value) == ("segments", expected)
    monkeypatch.setattr(shared, "_MOST_STATES", 10)
    with pytest.raises(CrossingError, match='use `method="joint"`'):
        runtime(landscape, algorithm, method="crossing")
    result = runtime(landscape, algorithm)
    assert (result.method, result.total.value) == ("joint", expected)


def test_milestones_among_the_sites_are_refused() -> None:
    jump = Landscape.jump(30, 3)
    landscape = Landscape.from_arrays(
        {k: v.tolist() for k, v in jump.objectives.items()}, "J", milestones=[4, 15, 30]
    )
    with pytest.raises(CrossingError, match=r"states on their own|milestone"):
        decompose(StepLaw.of(landscape, paper(30)))


@pytest.mark.parametrize("n", [3, 7, 20])
def test_one_objective_is_the_coupon_collector(n: int) -> None:
    for method in ("joint", "crossing"):
        result = runtime(Landscape.onemax(n), Algorithm.rls(), method=method)
        assert result.total.value == n * harmonic_difference(0, n)
        variance = sum((fmpq(n * n, k * k) - fmpq(n, k) for k in range(1, n + 1)), fmpq(0))
        assert result.variance.value == variance


def test_too_large_n_is_refused() -> None:
    landscape = Landscape.from_arrays({"O": list(range(6))}, "O")
    object.__setattr__(landscape, "n", 10**9)
    with pytest.raises(StateSpaceTooLargeError, match="GB"):
        runtime(landscape, Algorithm.rls())


def test_row_automata_are_shared_with_the_joint_chain() -> None:
    law = StepLaw.of(Landscape.jump(12, 2), paper(12))
    automata = derive_automata(law)
    used = decompose(law, automata).automata
    merged = enumerate_joint(law, automata=automata).automata
    assert (used.patterns, used.following) == (merged.patterns, merged.following)
    # Not a copy: a changed transition of the automata changes the answer.
    kind = int(law.kind[6])
    key = next(k for k, to in automata.following.items() if k[0] == kind and to != k[2])
    changed = replace(automata, following=automata.following | {key: key[2]})
    assert decompose(law, changed).automata.following != used.following
