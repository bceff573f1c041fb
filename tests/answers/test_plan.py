"""How a law is answered is decided once: every case is met, and all who ask agree with it."""

from __future__ import annotations

import pytest
from flint import fmpq
from shared_plateaus import one_bridge_for_all_but_the_last

import markov_lrsao.answers.expected as expected
import markov_lrsao.answers.plan as planning
from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw, runtime
from markov_lrsao.answers.distribution import distribution
from markov_lrsao.answers.expected import seek_runtime
from markov_lrsao.answers.plan import (
    Bounded,
    Composed,
    Counted,
    Followed,
    Joint,
    Method,
    Options,
    Plan,
    Trapped,
    plan,
    when_stuck,
)
from markov_lrsao.answers.profile import profile
from markov_lrsao.errors import (
    CrossingError,
    NotAbsorbingError,
    ParameterError,
    Refused,
    SolverError,
    StateSpaceTooLargeError,
    UndecidedComparisonError,
    attempt,
    granted,
)
from markov_lrsao.values.plateaus import several_plateaus

PAPER = Algorithm.lrsao(Parameters.paper(9))
JUMP = Landscape.jump(9, 2)
BELOW_H = Algorithm.lrsao(Parameters.of("4/5", "1/10", "2"))
"""r below the lower bound of (H): patterns leave comparisons open, and values some of them."""
NEAR_H = Algorithm.lrsao(Parameters.of("19/20", "1/10", "26/25"))
"""r just inside (H): patterns leave comparisons open, and values decide them all."""
ABOVE_H = Algorithm.lrsao(Parameters.paper(40, r="200"))
"""r above the upper bound of (H): runs get stuck."""
THIRDS = Landscape.from_arrays({"X": [p // 3 for p in range(34)], "O": list(range(34))}, "X")
"""Agent states of three positions, between which a walk falls back any number of times."""
PLATEAUS = one_bridge_for_all_but_the_last(22, (3, 3, 3))
"""The row of the plateaus comes back twice, and slopes follow."""
NEEDLE = Landscape.from_arrays({"J": [0, 1, 0, 2]}, "J")
"""A local optimum that is never left."""


def planned(landscape: Landscape, algorithm: Algorithm, **options: object) -> Plan:
    return plan(StepLaw.of(landscape, algorithm), Options(**options))  # type: ignore[arg-type]


# -- every case -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("landscape", "algorithm", "method", "case", "kind"),
    [
        (JUMP, PAPER, "auto", Joint, "exact"),
        (JUMP, PAPER, "joint", Joint, "exact"),
        (JUMP, PAPER, "crossing", Counted, "exact"),
        (Landscape.jump(60, 4), Algorithm.lrsao(Parameters.paper(60)), "auto", Counted, "exact"),
        (JUMP, NEAR_H, "auto", Counted, "exact"),
        pytest.param(JUMP, NEAR_H, "joint", Followed, "exact", marks=pytest.mark.slow),
        (JUMP, BELOW_H, "crossing", Bounded, "enclosure"),
        pytest.param(JUMP, BELOW_H, "joint", Followed, "exact", marks=pytest.mark.slow),
        (Landscape.jump(40, 3), ABOVE_H, "auto", Trapped, "infinite"),
        (JUMP, PAPER, "segments", Composed, "exact"),
        (THIRDS, Algorithm.earl("1/2", "1/33"), "auto", Composed, "exact"),
        pytest.param(
            *(PLATEAUS, Algorithm.lrsao(Parameters.paper(22)), "auto", Composed, "exact"),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_every_case_is_met(
    landscape: Landscape, algorithm: Algorithm, method: Method, case: type, kind: str
) -> None:
    enough = "1/10" if kind == "enclosure" else None  # with the default this one is exact
    options = {} if enough is None else {"tolerance": fmpq(1, 10)}
    assert type(planned(landscape, algorithm, method=method, **options)) is case
    result = runtime(landscape, algorithm, method=method, outside_h=True, tolerance=enough)
    assert result.kind == kind
    names = {Joint: ("joint",), Followed: ("joint", "quotient"), Composed: ("segments",)}
    assert result.method in names.get(case, ("crossing",))
    assert (result.trap is not None) == (kind == "infinite")
    assert (result.undecided is not None) == (kind == "enclosure")


@pytest.mark.slow
def test_values_decide_what_patterns_leave_open() -> None:
    law = StepLaw.of(JUMP, NEAR_H)
    assert isinstance(planning.counted(law), Refused)
    found = planning.after_cut(law)
    assert isinstance(found, Counted)
    assert found.decomposition.choices is None
    assert isinstance(planning.crossing(law), Counted)
    followed = plan(law, Options(method="joint"))
    assert isinstance(followed, Followed)
    assert any(not block.undecided for block in followed.levels)


def test_a_trap_that_patterns_show_is_found_when_the_chain_is_solved() -> None:
    """Patterns decide all comparisons here; that runs get stuck shows in the solution."""
    law = StepLaw.of(NEEDLE, Algorithm.rls())
    options = Options()
    assert isinstance(plan(law, options), Joint)
    assert isinstance(when_stuck(law, options), Followed)
    result = runtime(NEEDLE, Algorithm.rls())
    assert result.kind == "infinite"
    assert result.trap is not None
    assert result.trap.probability == 1


@pytest.mark.slow
def test_a_law_that_nothing_settles_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    found = when_stuck(StepLaw.of(JUMP, BELOW_H), Options(max_states=50))
    assert isinstance(found, Refused)
    assert isinstance(found.reason, UndecidedComparisonError)
    monkeypatch.setattr(expected, "plan", lambda *_: found)
    monkeypatch.setattr(expected, "_narrower", lambda *given: given[-1])
    with pytest.raises(UndecidedComparisonError, match="raise `max_states`") as refused:
        runtime(JUMP, BELOW_H, outside_h=True)
    assert refused.value is found.reason  # as it is: it says what to do


def test_too_large_a_chain_is_refused_with_advice() -> None:
    found = planned(JUMP, PAPER, method="joint", max_states=50)
    assert isinstance(found, Refused)
    assert isinstance(found.reason, StateSpaceTooLargeError)
    with pytest.raises(StateSpaceTooLargeError, match='or use `method="crossing"`'):
        runtime(JUMP, PAPER, method="joint", max_states=50)
    assert isinstance(planned(JUMP, PAPER, max_states=50), Counted)  # auto takes the other way


@pytest.mark.slow
def test_wrong_parameters_are_errors_and_no_refusals() -> None:
    far = Algorithm.lrsao(Parameters.paper(9, r="90"))
    with pytest.raises(ParameterError, match="outside hypothesis"):
        seek_runtime(JUMP, far, Options())
    assert not isinstance(seek_runtime(JUMP, far, Options(), outside_h=True), Refused)


# -- all who ask agree ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "algorithm", [PAPER, *(pytest.param(a, marks=pytest.mark.slow) for a in (NEAR_H, BELOW_H))]
)
def test_runtime_distribution_and_profile_agree(algorithm: Algorithm) -> None:
    law = StepLaw.of(JUMP, algorithm)
    chosen = planning.crossing(law)
    result = runtime(JUMP, algorithm, method="crossing", outside_h=True)
    laws = distribution(JUMP, algorithm, method="inversion", outside_h=True)
    if isinstance(chosen, Bounded):
        assert result.kind == "enclosure"
        assert laws.expectation == result.total
        # The quotient of all tables decides what crossing counts leave open.
        spent = sum(profile(JUMP, algorithm, outside_h=True).steps, fmpq(0))
        assert result.total.upper is not None
        assert result.total.lower <= spent <= result.total.upper
        return
    assert result.kind == "exact"
    assert laws.mean == pytest.approx(float(result.total), rel=1e-9)
    assert sum(profile(JUMP, algorithm, outside_h=True).steps, fmpq(0)) == result.total.value


def test_the_plan_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def counting(law: StepLaw, options: Options) -> Plan:
        asked.append(options.method)
        return plan(law, options)

    monkeypatch.setattr(expected, "plan", counting)
    for method in ("auto", "joint", "crossing"):
        runtime(JUMP, PAPER, method=method)
    assert asked == ["auto", "joint", "crossing"]


# -- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error", [CrossingError, NotAbsorbingError, StateSpaceTooLargeError, UndecidedComparisonError]
)
def test_four_errors_are_refusals_and_no_others(error: type) -> None:
    def fails(kind: type) -> None:
        raise kind("because")

    found = attempt(lambda: fails(error))
    assert isinstance(found, Refused)
    with pytest.raises(error, match="because"):
        granted(found)
    for other in (SolverError, ParameterError, ZeroDivisionError):
        with pytest.raises(other):
            attempt(lambda kind=other: fails(kind))  # type: ignore[misc]
    assert granted(attempt(lambda: 7)) == 7


def test_slopes_with_endless_histories_are_left_to_other_ways() -> None:
    """Three positions between plateaus of one bridge: once `exact` simulated where layers tell."""
    law = StepLaw.of(Landscape.named("regions:widths=2+1+2,bridges=all-but-last", n=10))
    assert not isinstance(several_plateaus(law), Refused)
    assert isinstance(plan(law, Options(tolerance=fmpq(1, 10))), Followed)
    large = Landscape.named("regions:widths=6+7+7+7+5,bridges=all-but-last", n=44)
    found = runtime(large)
    assert found.kind == "exact"
    assert abs(float(found.total) - 303.3013801870798) < 1e-9
