"""Restarts: cut-offs against fractions computed by hand, bounds, and simulated restarts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from bit_strings import ONE, Strings, flips, not_worse

from markov_lrsao import Algorithm, Landscape, simulate
from markov_lrsao.answers.restarts import _best, from_runs, restarts
from markov_lrsao.errors import NotAbsorbingError, ParameterError
from markov_lrsao.exact.quantity import Infinite

TRAP = [0, 1, 2, 1, 3, 0, 1]
"""One-bit flips from a random start get stuck at 2 or 6, or find the optimum at 4."""


def by_hand(values: list[int], horizon: int) -> list[Fraction | None]:
    """R(c) of RLS from a random start, on bit strings, in fractions."""
    n = len(values) - 1
    strings = Strings.of_ones(values)
    next_ = strings.mixed([(ONE, strings.f, flips(n, 1), not_worse)])
    now, spent, found = dict(strings.start("random")), Fraction(0), []
    for _ in range(horizon + 1):
        ended = sum((p for (x, _), p in now.items() if x in strings.best), Fraction(0))
        found.append(spent / ended if ended else None)
        spent += 1 - ended
        after: dict[tuple[int, int], Fraction] = {}
        for state, p in now.items():
            for other, w in [(state, ONE)] if state[0] in strings.best else next_(state):
                after[other] = after.get(other, Fraction(0)) + p * w
        now = after
    return found


def test_the_curve_is_that_of_bit_strings() -> None:
    known = by_hand(TRAP, 12)
    shape = Landscape.from_arrays({"F": TRAP}, target="F")
    found = restarts(shape, Algorithm.named("rls"), start="random", horizon=12)
    assert found.curve[0] == float("inf")
    for ours, theirs in zip(found.curve[1:], known[1:], strict=True):
        assert ours == pytest.approx(float(theirs)) if theirs is not None else ours == float("inf")
    best = min(t for t in known[1:] if t is not None)
    assert abs(found.value - float(best)) <= found.error < 1e-9


def test_restarts_pay_where_runs_get_stuck() -> None:
    shape = Landscape.from_arrays({"F": TRAP}, target="F")
    found = restarts(shape, Algorithm.named("rls"), start="random")
    assert found.pays
    assert found.settled
    assert found.mean.infinite
    played = simulate(
        shape, Algorithm.named("rls"), start="random", runs=4000, seed=2, threads=1,
        restart=found.cutoff,
    )  # fmt: skip
    error = played.times.std() / 4000**0.5
    assert abs(played.times.mean() - found.value) < 4.5 * error


def test_restarts_do_not_pay_for_lrsao_nor_for_the_coupon_collector() -> None:
    assert not restarts(Landscape.onemax(12), Algorithm.named("rls")).pays
    found = restarts(Landscape.jump(9, 2))
    assert not found.pays
    assert "do not pay" in str(found)
    assert found.to_dict()["pays"] is False


def test_a_wrong_horizon_is_refused() -> None:
    with pytest.raises(ParameterError, match="horizon"):
        restarts(Landscape.onemax(9), Algorithm.named("rls"), horizon=0)


def test_restarts_do_not_help_where_no_run_ends() -> None:
    """RLS from 0^n stops below Jump_2's gap for sure: refused at once, not after all horizons."""
    shape = Landscape.named("jump-m:m=2", n=5)
    with pytest.raises(NotAbsorbingError, match="no run from this start"):
        restarts(shape, Algorithm.named("rls"))
    assert restarts(shape, Algorithm.named("rls"), start="random").pays


def test_the_error_covers_the_rounding_of_long_sums() -> None:
    """A million floats added up, most of them rounded the same way; the exact sum is known."""
    count, share = 2**20, 1e-7 / 3
    reached = np.full(count + 1, share)
    reached[-1] = 1.0
    found = _best(Landscape.onemax(5), "made up", reached, 0.0, Infinite())
    assert found.cutoff == count
    exact = count * (1 - Fraction(share))
    assert abs(Fraction(found.value) - exact) <= Fraction(found.error)
    assert found.error < 1e-8 * found.value


@pytest.mark.slow
def test_restarts_pay_for_lrsao_at_larger_n_and_small_l() -> None:
    """Certain at n = 300, l = 2; a simulation with restarts has the same mean."""
    shape = Landscape.jump(300, 2)
    found = restarts(shape)
    assert found.pays
    assert found.settled
    assert (found.cutoff, round(found.value, 3)) == (5289, 11903.169)
    played = simulate(shape, runs=4000, seed=5, threads=1, restart=found.cutoff)
    assert abs(played.times.mean() - found.value) < 4.5 * played.times.std() / 4000**0.5


def test_cut_offs_from_runs() -> None:
    """RLS with traps: estimated from runs, against the cut-off that the law gives."""
    shape = Landscape.from_arrays({"F": TRAP}, target="F")
    known = restarts(shape, Algorithm.named("rls"), start="random")
    played = simulate(shape, Algorithm.named("rls"), start="random", runs=20_000, seed=3, limit=500,
                      threads=1)  # fmt: skip
    times = np.where(played.censored, -1, played.steps)
    found = from_runs(shape, "rls", times, 500, Infinite())
    assert found.cutoff == known.cutoff
    assert abs(found.value - known.value) < 4.5 * found.error < 0.2 * known.value
    assert found.settled
    assert found.pays
    assert "estimated from 20,000 runs" in str(found)
    with pytest.raises(NotAbsorbingError, match="none of"):
        from_runs(shape, "rls", np.full(10, -1), 500, Infinite())


def test_cut_offs_before_the_first_run_can_end_are_not_shown() -> None:
    """The law is known within an error: noise is no probability of having ended."""
    found = restarts(Landscape.named("jump-m:m=3", n=12, helpers=["onemax"]))
    assert np.isinf(found.curve[:12]).all()
    assert found.to_dict()["curve"][0][0] == 12
    shown = str(found).splitlines()[4].split()
    # A straight climb: the first action down to chance once, and OneMax where Jump_3 rejects.
    assert shown[0] == "12"
    assert found.doubts is not None
    assert abs(float(shown[1]) - found.curve[12]) <= 2 * found.doubts[12] + 0.1
    assert len(shown[1].replace(".", "")) < 8
