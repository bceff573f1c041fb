"""Shared rows: slopes as histories between plateaus, against joint chains and crossing counts."""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpq
from shared_plateaus import one_bridge_for_all_but_the_last

from markov_lrsao import Algorithm, Landscape, Parameters, RuntimeResult, StepLaw, runtime
from markov_lrsao.answers.plan import Composed, Counted, Options, plan
from markov_lrsao.crossing import histories as histories_module
from markov_lrsao.crossing.composition import Letter, slope_automaton
from markov_lrsao.crossing.decomposition import decompose
from markov_lrsao.crossing.generating import GeneratingFunction
from markov_lrsao.crossing.histories import histories_of, losing, structure_of
from markov_lrsao.crossing.shared import core_of, generating_function
from markov_lrsao.errors import CrossingError
from markov_lrsao.exact.evaluation import Evaluation
from markov_lrsao.model.law import DOWN, UP
from markov_lrsao.rows.derived import automata_of
from markov_lrsao.rows.lumping import merge_patterns


def same(a: RuntimeResult, b: RuntimeResult) -> bool:
    return (
        a.total == b.total
        and a.variance == b.variance
        and a.phases == b.phases
        and a.phase_variances == b.phase_variances
    )


@pytest.mark.parametrize(
    ("n", "ell"),
    [
        (9, 2),
        *(
            pytest.param(*size, marks=pytest.mark.slow)
            for size in [(12, 2), (20, 3), (24, 5), (40, 15)]
        ),
    ],
)
def test_jump_comes_out_as_by_crossing_counts(n: int, ell: int) -> None:
    landscape = Landscape.jump(n, ell)
    segments = runtime(landscape, method="segments")
    assert segments.method == "segments"
    assert same(segments, runtime(landscape, method="crossing"))
    algorithm = Algorithm.lrsao(Parameters.paper(n))
    assert not isinstance(plan(StepLaw.of(landscape, algorithm), Options()), Composed)


@pytest.mark.parametrize("widths", [(3, 3, 3), (4, 3, 3)])
def test_three_plateaus_against_the_joint_chain(widths: tuple[int, ...]) -> None:
    """The row of the plateaus comes back twice."""
    landscape = one_bridge_for_all_but_the_last(sum(widths) + 4, widths)
    segments = runtime(landscape, method="segments")
    assert segments.kind == "exact"
    assert same(segments, runtime(landscape, method="joint"))


@pytest.mark.slow
def test_three_plateaus_against_crossing_counts_and_larger_joint_chains() -> None:
    longer = one_bridge_for_all_but_the_last(17, (3, 4, 3))
    assert same(runtime(longer, method="segments"), runtime(longer, method="joint"))
    with_middle = one_bridge_for_all_but_the_last(20, (3, 3, 3))
    assert len(core_of(StepLaw.of(with_middle)).middles) == 1
    assert same(runtime(with_middle, method="segments"), runtime(with_middle, method="crossing"))


def test_the_number_of_states_does_not_depend_on_n() -> None:
    sizes = []
    for n in (30, 45):
        law = StepLaw.of(one_bridge_for_all_but_the_last(n, (3, 3, 3)))
        found = plan(law, Options())
        assert isinstance(found, Composed)
        sizes.append(len(core_of(law).chain(0, 3).states))
    assert sizes[0] == sizes[1] < 4000


@pytest.mark.slow
def test_floats_enclose_the_fractions() -> None:
    landscape = one_bridge_for_all_but_the_last(24, (3, 3, 3))
    exact = runtime(landscape, moments=3)
    floats = runtime(landscape, field="float", moments=3)
    assert (exact.kind, floats.kind, floats.method) == ("exact", "float", "segments")
    for a, b in zip(
        (exact.total, exact.variance, *exact.higher, *exact.phases, *exact.phase_variances),
        (floats.total, floats.variance, *floats.higher, *floats.phases, *floats.phase_variances),
        strict=True,
    ):
        assert b.upper is not None
        assert b.lower <= a.value <= b.upper
        assert abs(float(a) - float(b)) <= 1e-8 * float(a)


@pytest.mark.slow
def test_the_generating_function_on_the_circle_is_that_of_crossing_counts() -> None:
    law = StepLaw.of(Landscape.jump(14, 3))
    nodes = np.exp(1j * np.linspace(0, np.pi, 9))
    at_nodes = Evaluation(exact=False, order=0, nodes=nodes)
    for begin, end in ((0, 3), (0, 1), (1, 2), (2, 3)):
        ours = generating_function(core_of(law).chain(begin, end), at_nodes)[0]
        counted = [begin <= phase < end for phase in range(3)]
        other = GeneratingFunction(decompose(law), at_nodes)(counted)[0]
        assert np.abs(ours - other).max() < 1e-12
    bound = generating_function(
        core_of(law).chain(0, 3), Evaluation(exact=False, order=0, nodes=nodes, majorant=True)
    )[0]
    exact = generating_function(core_of(law).chain(0, 3), at_nodes)[0]
    assert (bound >= np.abs(exact) * (1 - 1e-12)).all()
    assert (np.diff(bound) <= 1e-15).all()


def test_runs_that_get_stuck() -> None:
    """The agent may learn never to leave the first position of the shared row."""
    landscape = Landscape.from_arrays({"J": [0, 1, 0, 0, 2], "A": [0, 1, 2, 3, 4]}, "J", [2, 4])
    for algorithm in (Algorithm.rls(), Algorithm.earl("1/2", "1/3")):
        segments = runtime(landscape, algorithm, method="segments")
        joint = runtime(landscape, algorithm, method="joint")
        assert (segments.kind, segments.method) == (joint.kind, "segments")
        assert segments.kind == "infinite"
        assert segments.trap is not None
        assert joint.trap is not None
        assert segments.trap.probability == joint.trap.probability
        assert segments.phases == joint.phases


# -- histories ----------------------------------------------------------------------------------


def test_histories_have_the_weights_of_the_linear_automaton() -> None:
    automata, _ = merge_patterns(automata_of(StepLaw.of(Landscape.jump(14, 3))))
    middle = core_of(StepLaw.of(Landscape.jump(14, 3))).middles[0]
    slope = slope_automaton(automata, middle[0].first, middle[-1].last + 1, order=1)
    found = histories_of(middle, Evaluation(exact=True, order=1))
    assert len(found.sides) == 11
    fresh: tuple[Letter, ...] = ()
    reached = {0: (fresh, fmpq(1))}  # history -> its word and probability
    for history, side in enumerate(found.sides):
        word, probability = reached[history]
        ways = found.responses[history, True]
        assert sum((w[0] for *_, w in ways), fmpq(0)) == 1
        for left, following, weight in ways:
            longer = (*word, (side, left, None))
            mass, steps = slope.weight(longer)
            assert mass == probability * weight[0]
            if following != history:
                reached[following] = (longer, mass)
                assert steps == mass * found.totals[following][1]


def test_structure_repeats_and_too_many_histories_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    law = StepLaw.of(Landscape.jump(24, 3))
    middle = core_of(law).middles[0]
    everywhere = histories_of(middle, Evaluation(exact=True, order=0), (False, True))
    assert structure_of(middle, (False, True)).structure == everywhere.structure
    assert {*everywhere.sides} == {DOWN, UP}
    monkeypatch.setattr(histories_module, "_MOST_HISTORIES", 8)
    with pytest.raises(CrossingError, match="more than 8 ways"):
        structure_of(middle, (True,))
    assert isinstance(plan(law, Options()), Counted)


@pytest.mark.parametrize(
    ("text", "n", "helpers"),
    [
        ("seqopt:gaps=2+2", 9, ["onemax", "zeromax"]),
        ("seqopt:gaps=2+2", 10, ["onemax", "zeromax"]),
        ("cliff:m=4,d=1", 10, ["zeromax", "constant"]),
    ],
)
def test_what_stays_within_a_slope_for_ever_is_lost(text: str, n: int, helpers: list[str]) -> None:
    """Answers of a middle then add up to less than 1: once they were taken to add up to 1.

    Two neighbours of the middle lead to each other for ever, one by OneMax and one by ZeroMax.
    """
    landscape = Landscape.named(text, n=n, helpers=helpers)
    joint, segments = (runtime(landscape, method=m, outside_h=True) for m in ("joint", "segments"))
    assert joint.trap is not None
    assert segments.trap is not None
    assert (joint.method, segments.method) == ("joint", "segments")
    assert segments.trap.lower == segments.trap.upper == joint.trap.lower == joint.trap.upper


def test_a_middle_that_swallows_runs_is_seen_by_its_histories() -> None:
    law = StepLaw.of(Landscape.named("seqopt:gaps=2+2", n=9, helpers=["onemax", "zeromax"]))
    core = core_of(law)
    (middle,) = core.middles
    assert losing(middle, (True,))
    chain = core.chain(0, len(law.landscape.milestones))
    assert chain.trapped is not None
    assert chain._swallowed() is not None
    jump = core_of(StepLaw.of(Landscape.jump(30, 5)))
    assert jump.middles
    assert not any(losing(m, (False, True)) for m in jump.middles)
