"""Enclosures hold the truth, and say how wide they are; traps are those of the whole chain."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import Rule
from refined import COARSE, Point
from three_ways import Instance, by_values, compare_with_oracle

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw, runtime
from markov_lrsao.answers.distribution import distribution
from markov_lrsao.crossing.blocks import Exit, State, Stretch
from markov_lrsao.errors import LrsaoError, StateSpaceTooLargeError, granted
from markov_lrsao.exact.moments import central_enclosures
from markov_lrsao.exact.quantity import Enclosed
from markov_lrsao.model.law import Share
from markov_lrsao.values.enclosure import (
    _width,
    _with_lost_runs,
    enclose_moments,
    resolve,
    trap_after_cut,
)
from markov_lrsao.values.refinement import Refined
from markov_lrsao.values.tails import refined_decomposition
from markov_lrsao.values.traps import fate


def law_of(objectives: dict[str, list[int]], alpha: str, gamma: str, r: str) -> StepLaw:
    return StepLaw.of(
        Landscape.from_arrays(objectives, next(iter(objectives))),
        Algorithm.lrsao(Parameters.of(alpha, gamma, r)),
    )


# -- central moments --------------------------------------------------------------------


def central(law: Sequence[Fraction]) -> list[Fraction]:
    """Return the mean and the central moments 2..4 of a law on 0, 1, .., from the definition."""
    mean = sum((t * w for t, w in enumerate(law)), Fraction(0))
    return [
        mean,
        *(sum(((t - mean) ** k * w for t, w in enumerate(law)), Fraction(0)) for k in (2, 3, 4)),
    ]


def rational(x: Fraction) -> fmpq:
    return fmpq(x.numerator, x.denominator)


@given(
    st.lists(st.integers(0, 9), min_size=2, max_size=7).filter(any),
    st.sampled_from([Fraction(0), Fraction(1, 50), Fraction(1, 3)]),
)
@settings(max_examples=60)
def test_central_moments_from_factorial_ones(weights: list[int], slack: Fraction) -> None:
    law = [Fraction(w, sum(weights)) for w in weights]
    binomial = [sum((comb(t, k) * w for t, w in enumerate(law)), Fraction(0)) for k in range(5)]
    lower = tuple(rational(b * (1 - slack if k else 1)) for k, b in enumerate(binomial))
    upper = tuple(rational(b * (1 + slack if k else 1)) for k, b in enumerate(binomial))
    for k, (found, true) in enumerate(
        zip(central_enclosures(lower, upper), central(law), strict=True)
    ):
        value = rational(true)
        if slack == 0:
            assert found.value == value
            continue
        low, high = found.lower, found.upper
        assert high is not None
        assert low <= value <= high
        if k == 0:
            assert (low, high) == (lower[1], upper[1])
        if k in (1, 3):
            assert low >= 0


# -- widths and levels ------------------------------------------------------------------


@pytest.mark.slow
def test_the_width_is_that_of_the_enclosure() -> None:
    seen = 0
    for point in (Point(9, 2, "1/2", "1/5", "199/200"), Point(12, 3, "19/20", "1/4", "1/20")):
        law = point.law
        d = refined_decomposition(law, COARSE)
        if d.choices is None:
            continue
        means = [quantities[0] for quantities in enclose_moments(d, 1).values]
        found = [q.relative_width for q in means if isinstance(q, Enclosed)]
        relative = [width for width in found if width is not None]
        assert float(_width(d)) == pytest.approx(float(max(relative)), rel=1e-6)
        seen += max(relative) > fmpq(1, 10**5)
        best = granted(resolve(law, tolerance=fmpq(10)))
        assert best.choices is None or _width(best) <= 10
    assert seen


# -- chains with values -----------------------------------------------------------------

VALUED = [
    ({"A": [0, 1, 3], "B": [1, 0, 2]}, ("1/2", "1/2", "1")),
    ({"A": [0, 0, 3], "B": [2, 1, 1]}, ("1/4", "1/5", "2")),
    ({"A": [0, 1, 1, 5], "B": [0, 1, 0, 1]}, ("3/4", "1/10", "3/2")),
    ({"A": [0, 1, 2, 3, 4]}, ("1/2", "1/4", "1")),
]


@pytest.mark.parametrize(("objectives", "rates"), VALUED)
def test_chains_with_values_make_the_steps_of_full_tables(
    objectives: dict[str, list[int]], rates: tuple[str, str, str]
) -> None:
    alpha, gamma, r = map(Fraction, rates)
    instance = Instance(
        objectives, "A", (len(objectives["A"]) - 1,), Rule.lrsao(alpha, gamma, r), (alpha, gamma, r)
    )
    _, chain = by_values(StepLaw.of(instance.landscape, instance.algorithm))
    assert chain is not None
    assert compare_with_oracle(instance, chain, 9) >= 4


# -- traps after the cut ----------------------------------------------------------------

FALLING = [
    (
        {"T": [0, 1, 2, 3, 0, 8], "A": [2, 2, 2, 2, 0, 2], "B": [2, 1, 0, 1, 1, 1]},
        ("9/10", "1/10", "2"),
    ),
    (
        {
            "T": [0, 1, 2, 3, 4, 5, 3, 3, 3, 12],
            "A": [0, 2, 0, 1, 0, 2, 1, 0, 2, 0],
            "B": [2, 1, 1, 1, 1, 1, 2, 2, 1, 1],
        },
        ("3/4", "1/10", "5"),
    ),
]


@pytest.mark.parametrize(("objectives", "rates"), FALLING)
def test_runs_that_are_given_up_are_no_traps(
    objectives: dict[str, list[int]], rates: tuple[str, str, str]
) -> None:
    """States from which every run is given up were taken for traps, and then not found."""
    law = law_of(objectives, *rates)
    answer = runtime(law.landscape, law.algorithm, outside_h=True)
    whole = answer.trap
    found = trap_after_cut(law)
    assert found is None or (
        whole is not None and found[0].lower <= whole.upper and whole.lower <= found[0].upper
    )
    with pytest.raises(LrsaoError, match='use `method="segments"`'):
        runtime(law.landscape, law.algorithm, outside_h=True, max_states=3, method="joint")
    segments = runtime(law.landscape, law.algorithm, outside_h=True, max_states=3)
    assert (segments.method, segments.total) == ("segments", answer.total)
    assert (segments.trap and segments.trap.probability) == (whole and whole.probability)


TRAPPED = [
    (
        {"T": [0, 1, 2, 3, 4, 1, 9], "A": [0, 1, 0, 0, 2, 2, 1], "B": [0, 1, 0, 0, 1, 0, 1]},
        ("3/4", "1/2", "2"),
    ),
    ({"T": [0, 1, 2, 3, 0, 8], "A": [0, 1, 0, 1, 1, 1]}, ("9/10", "1/10", "2")),
    ({"T": [0, 1, 2, 0, 2, 8], "A": [2, 0, 2, 2, 2, 0]}, ("1/2", "1/10", "5")),
]


@pytest.mark.parametrize(("objectives", "rates"), TRAPPED)
def test_the_trap_after_the_cut_is_that_of_the_whole_chain(
    objectives: dict[str, list[int]], rates: tuple[str, str, str]
) -> None:
    law = law_of(objectives, *rates)
    found = trap_after_cut(law)
    assert found is not None
    whole = runtime(law.landscape, law.algorithm, method="joint", outside_h=True).trap
    assert whole is not None
    assert found[0].lower <= whole.upper
    assert whole.lower <= found[0].upper
    assert found[0].upper - found[0].lower <= fmpq(1, 10**6)


def test_what_leads_to_lost_runs_is_unknown() -> None:
    """Of four states: one is lost, one leads there, one is stuck, one leads to either or up."""
    law = law_of({"T": [0, 1, 2, 3], "A": [0, 1, 2, 3]}, "1/2", "1/2", "1")
    unit = law.denominator // law.n
    part = unit // 2
    assert 2 * part == unit
    down, up = Exit(0, 0, ()), Exit(1, 1, ())
    automata = type("Automata", (), {"law": law})()
    options = (
        (((1, Share(part, 0)), (2, Share(part, 0)), (up, Share(0, unit))),),
        (((down, Share(unit, unit)),),),
        (((2, Share(unit, unit)),),),
    )
    block = Refined(
        Stretch(automata, 1, 3, ()),
        tuple(State(1, 0, (i,)) for i in range(3)),
        (0,),
        law.denominator,
        None,  # type: ignore[arg-type]
        frozenset(),
        options,
    )
    whole, lost = _with_lost_runs(block)
    assert lost == 3
    assert whole.options[1] == (((3, (unit, unit)),),)
    assert whole.options[0] == options[0]
    outcome = fate(whole, lost=lost)
    assert outcome.traps == outcome.ends == (2,)
    assert outcome.entry == 2
    # From p = 1 of 3 a step goes down with 1/3: half of that is stuck, half of it lost.
    for found, value in ((outcome.lower, fmpq(1, 6)), (outcome.upper, fmpq(1, 3))):
        assert abs(found[0] - value) <= fmpq(1, 10**6)
    assert outcome.lower[0] <= fmpq(1, 6)
    assert outcome.upper[0] >= fmpq(1, 3)
    assert outcome.upper[1] >= 1
    assert outcome.lower[1] <= 0


def test_what_no_way_can_begin_is_refused_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def refuse(*_: object, **__: object) -> None:
        calls.append(1)
        raise StateSpaceTooLargeError("too many patterns; use fewer objectives", advised=True)

    for name in ("plan.enumerate_joint", "inversion.invert", "powers.powers_of_values"):
        monkeypatch.setattr(f"markov_lrsao.answers.{name}", refuse)
    with pytest.raises(StateSpaceTooLargeError, match=r"use fewer objectives$"):
        distribution(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.paper(9)))
    assert len(calls) == 1
