"""Where the time goes where comparisons stay open: bounds, and exact values inside them."""

from __future__ import annotations

import random
from functools import lru_cache

import pytest
from flint import fmpq
from open_instances import left_open

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw, distribution, profile, runtime
from markov_lrsao.answers import profile as profiles
from markov_lrsao.answers.plan import Followed, Options, quotient
from markov_lrsao.answers.profile import Counter, Profile, flow_of
from markov_lrsao.answers.profile_bounds import after_cut_enclosed, whole_runs
from markov_lrsao.crossing.generating import Evaluation
from markov_lrsao.errors import NotAbsorbingError
from markov_lrsao.exact.digits import Digits
from markov_lrsao.exact.quantity import Quantity
from markov_lrsao.values.refinement import Refined
from markov_lrsao.values.tails import LEVELS, refined_decomposition

BELOW = Algorithm.lrsao(Parameters.of("4/5", "1/10", "2"))
"""Below the lower bound of (H): values leave comparisons open, the quotient of tables does not."""
JUMP = Landscape.jump(9, 2)


@lru_cache
def law() -> StepLaw:
    return StepLaw.of(JUMP, BELOW)


@lru_cache
def exactly() -> tuple[list[Quantity], list[Quantity]]:
    """Return steps and visits by the quotient: another way, in which nothing is open."""
    found = quotient(law(), Options())
    assert isinstance(found, Followed)
    return whole_runs(found.levels)


def inside(values: list[fmpq], bounds: list[Quantity]) -> bool:
    return all(
        b.upper is not None and b.lower <= v <= b.upper for v, b in zip(values, bounds, strict=True)
    )


@pytest.mark.slow
@pytest.mark.parametrize(("level", "narrow"), [(0, 40), (1, 1)])
def test_bounds_after_the_cut_contain_the_quotient(level: int, narrow: int) -> None:
    d = refined_decomposition(law(), LEVELS[level])
    assert d.choices is not None
    counter = Counter(9, Evaluation(exact=True, order=1))
    profiles._sites(d, counter)
    found = after_cut_enclosed(d, counter)
    for bounds, exact in zip(found, exactly(), strict=True):
        assert inside([x.value for x in exact], bounds)
        assert sum(not b.exact for b in bounds) >= 2
        assert all(b.exact for b in bounds[:6])  # no comparison before the cut is open
    # Nothing would be shown by bounds that contain everything.
    assert all(b.upper is not None and b.upper - b.lower < narrow for b in found[0])


@pytest.mark.slow
def test_the_quotients_steps_add_up_to_the_expected_time() -> None:
    steps, visits = exactly()
    total = runtime(JUMP, BELOW, outside_h=True).total
    assert sum((x.value for x in steps), fmpq(0)) == total.value
    assert (steps[8].value, visits[9].value) == (fmpq(9), fmpq(1))


@lru_cache
def coarse() -> Refined:
    choices = refined_decomposition(law(), LEVELS[0]).choices
    assert choices is not None
    return choices


@pytest.mark.parametrize("seed", range(6))
def test_every_way_to_resolve_what_is_open_is_inside(seed: int) -> None:
    """Solve a chain in which every open state has picked one of its options, exactly."""
    from markov_lrsao.answers.profile_bounds import _bounded

    block = coarse()
    rng = random.Random(seed)
    chosen = [rng.randrange(len(options)) for options in block.options]
    start = rng.choice(block.undecided)
    one = block.block(chosen)
    counter = Counter(9, Evaluation(exact=True, order=1))
    counter.block(one, flow_of(one, {start: fmpq(1)}, back=False))
    spent, arrived = _bounded(block)
    for sides, truth in ((spent, counter.steps), (arrived, counter.visits())):
        for p, (lower, upper) in sides.items():
            assert lower[start] <= truth[p] <= upper[start], (p, seed)


def test_both_ends_are_attained() -> None:
    """Of all ways that pick one option per state, some come within 1e-6 of either end."""
    from markov_lrsao.answers.profile_bounds import _bounded

    block = coarse()
    spent, _ = _bounded(block)
    start = block.undecided[0]
    p = max(spent, key=lambda q: spent[q][1][start] - spent[q][0][start])
    lower, upper = (side[start] for side in spent[p])
    assert upper - lower > fmpq(1, 1000)
    for sign, end in ((-1, lower), (1, upper)):
        chosen = [0] * len(block.options)
        value = _spent_at(block, chosen, start, p)
        improved = True
        while improved:  # coordinate by coordinate
            improved = False
            for i in block.undecided:
                for k in range(len(block.options[i])):
                    tried = [*chosen[:i], k, *chosen[i + 1 :]]
                    other = _spent_at(block, tried, start, p)
                    if sign * other > sign * value:
                        chosen, value, improved = tried, other, True
        assert 0 <= sign * (end - value) < fmpq(1, 10**6)


def _spent_at(block: Refined, chosen: list[int], start: int, p: int) -> fmpq:
    one = block.block(chosen)
    counter = Counter(9, Evaluation(exact=True, order=1))
    counter.block(one, flow_of(one, {start: fmpq(1)}, back=False))
    value: fmpq = counter.steps[p]
    return value


def enclosed(monkeypatch: pytest.MonkeyPatch, digits: int | None = None) -> Profile:
    """Return the profile without quotients, as where none is found."""
    monkeypatch.setattr(profiles, "is_small", lambda law: False)
    left_open(monkeypatch)
    return profile(JUMP, BELOW, outside_h=True, digits=digits)


@pytest.mark.slow
def test_profiles_of_open_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = profile(JUMP, BELOW, outside_h=True)
    assert (exact.exact, exact.decided) == (True, True)
    assert [list(exact.steps), list(exact.visits)] == [[x.value for x in y] for y in exactly()]
    found = enclosed(monkeypatch)
    assert (found.exact, found.decided) == (False, False)
    assert inside(list(exact.steps), list(found.steps))
    assert inside(list(exact.visits), list(found.visits))
    assert sum((w.value for w in found.visit_laws[5]), fmpq(0)) == 1
    frame = found.to_frame()
    assert (frame["steps_lower"] <= frame["steps_upper"]).all()
    assert float(frame["steps_lower"][6]) < float(exact.steps[6]) < float(frame["steps_upper"][6])
    assert found.floats(found.steps)[6] == pytest.approx(float(exact.steps[6]), rel=1e-3)
    assert "17.5" in str(found)


@pytest.mark.slow
def test_digits_of_open_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = profile(JUMP, BELOW, outside_h=True, digits=12)
    assert (exact.certified, exact.decided) == (True, True)
    found = enclosed(monkeypatch, digits=12)
    assert (found.certified, found.decided) == (False, False)
    for digits, value in zip(found.steps, exactly()[0], strict=True):
        assert isinstance(digits, Digits)
        assert inside([value.value], [digits])


@pytest.mark.slow
def test_stuck_runs_have_no_profile() -> None:
    above = Algorithm.lrsao(Parameters.of("4/5", "1/10", "27/2"))
    with pytest.raises(NotAbsorbingError, match="stuck with positive probability"):
        profile(JUMP, above, outside_h=True)


@pytest.mark.slow
def test_the_quotient_narrows_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inversion leaves 5e-5 open where the quotient decides everything."""
    with monkeypatch.context() as patched:
        left_open(patched)
        wide = distribution(JUMP, BELOW, method="inversion", outside_h=True)
    found = distribution(JUMP, BELOW, outside_h=True)
    assert wide.error > 1e-5 > 1e-9 > found.error
    for t in (10, 30, 41, 100, 250):
        assert abs(float(found.cdf(t)) - float(wide.cdf(t))) <= wide.error
