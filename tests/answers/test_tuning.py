"""Tuning: published optima, certificates that hold, and certificates that must not."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from flint import fmpq

from markov_lrsao import Algorithm, Landscape, LeadingOnes, runtime
from markov_lrsao.answers.tuning import tune
from markov_lrsao.answers.tuning.domains import Domain, domains
from markov_lrsao.answers.tuning.ranges import _bound, whole_range
from markov_lrsao.answers.tuning.results import fit
from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.rationals import fraction
from markov_lrsao.model.named import NamedAlgorithm


@pytest.mark.slow
def test_the_best_static_rate_on_onemax() -> None:
    """Buskulic and Doerr: rate 0.011703501410416376, E[T] = 1057.1514825221814 at n = 100."""
    found = tune("onemax", "ea", n=100, start="random").points[0]
    assert float(fraction(found.value("rate"))) == pytest.approx(0.011703501410416376, rel=1e-7)
    assert float(found.total) == pytest.approx(1057.1514825221814, rel=1e-12)
    assert found.range is not None
    assert found.range.low < found.value("rate") < found.range.high


def test_the_best_rate_on_leading_ones_by_its_formula() -> None:
    """E[T] = ((1-p)^(1-n) - (1-p)) / (2 p^2): no better rate on a fine grid of fractions."""
    n = 12

    def formula(p: Fraction) -> Fraction:
        return ((1 - p) ** (1 - n) - (1 - p)) / (2 * p * p)

    found = tune(LeadingOnes(n), "ea").points[0]
    assert found.total.lower <= fmpq(*formula(fraction(found.value("rate"))).as_integer_ratio())
    least = min(formula(Fraction(k, 2000)) for k in range(1, 2000))
    assert fraction(found.total.lower) <= least
    (bracket,) = found.brackets
    assert bracket.certain
    for end in (bracket.low, bracket.high):
        assert formula(fraction(end)) > fraction(found.total.lower)
    assert found.range is not None
    assert found.range.least <= float(least)


CASES = [
    ("mahh", "p", "cliff:d=3", 12, "zero"),
    ("mahh", "p", "jump-m:m=2", 10, "random"),
    ("metropolis", "base", "cliff:d=3", 12, "random"),
    ("random", "weights", "xdivk:k=3,helpers=onemax", 12, "zero"),
    ("ea", "rate", "jump-m:m=2", 8, "random"),
    ("ea-positive", "rate", "onemax", 9, "zero"),
    ("ea-positive", "rate", "leadingones", 9, "random"),
]


@pytest.mark.parametrize(("name", "key", "landscape", "n", "start"), CASES)
def test_bounds_of_cells_are_below_all_values_in_them(
    name: str, key: str, landscape: str, n: int, start: str
) -> None:
    shape = LeadingOnes(n) if landscape == "leadingones" else Landscape.named(landscape, n=n)
    named = NamedAlgorithm.of(name, open_keys=True)
    (domain,) = domains(named, [key], shape, {}, outside_h=False)
    bound = _bound(named, domain, shape, start, None)
    assert bound is not None
    dice = random.Random(n)
    a, b = domain.ends
    import numpy as np

    for width in (0.5, 0.05):
        for _ in range(6):
            left = a + (b - a - width) * dice.random()
            low, high = domain.at(left), domain.at(left + width)
            least = bound(np.array([float(fraction(low))]), np.array([float(fraction(high))]))[0]
            values = [domain.at(left + width * dice.random()) for _ in range(3)]
            times = [_time(named, key, value, shape, start) for value in (low, high, *values)]
            assert least * (1 - 1e-9) <= min(times)
            assert least >= 0.2 * min(times) or width == 0.5


def _time(named: NamedAlgorithm, key: str, value: fmpq, shape: Landscape | LeadingOnes, start: str
          ) -> float:  # fmt: skip
    given = named.given(key, (str(value), str(1 - value)) if key == "weights" else value)
    return float(runtime(shape, given, start=start, field="float").total)


def test_a_value_that_nothing_reaches_proves_nothing() -> None:
    """With a claim below the minimum every cell would be done with: no range is returned."""
    shape = Landscape.named("cliff:d=3", n=12)
    named = NamedAlgorithm.of("mahh", open_keys=True)
    (domain,) = domains(named, ["p"], shape, {}, outside_h=False)
    best = tune(shape, "mahh").points[0]
    assert best.total.upper is not None
    right = whole_range(named, domain, shape, None, None, best.total.upper)
    assert right is not None
    assert right.low < best.value("p") < right.high
    assert right.low > domain.low
    assert right.high < domain.high
    assert whole_range(named, domain, shape, None, None, best.total.upper * fmpq(9, 10)) is None


def test_integers_are_compared_with_their_neighbours() -> None:
    found = tune(LeadingOnes(30), "gradient:portfolio=1+2").points[0]
    (bracket,) = found.brackets
    tau = int(found.value("tau").p)
    assert bracket.certain
    assert (int(bracket.low.p), int(bracket.high.p)) == (tau - 1, tau + 1)
    times = {
        t: runtime(LeadingOnes(30), Algorithm.named(f"gradient:portfolio=1+2,tau={t}")).total
        for t in range(max(1, tau - 25), tau + 40)
    }
    assert min(times, key=lambda t: float(times[t])) == tau


@pytest.mark.slow
def test_two_keys_and_exponents() -> None:
    found = tune("jump-m:m=3", "mmahh:accept=worsening", n=[14, 20], start="random")
    assert found.keys == ("p", "q")
    for point in found.points:
        assert all(b.certain for b in point.brackets)
        p, q = (float(fraction(point.value(key))) for key in ("p", "q"))
        shape = Landscape.named("jump-m:m=3", n=point.n)
        for factor_p, factor_q in ((1.2, 1), (0.8, 1), (1, 1.2), (1, 0.8), (1.2, 1.2)):
            text = f"mmahh:p={p * factor_p:.6f},q={q * factor_q:.6f},accept=worsening"
            other = runtime(shape, Algorithm.named(text), start="random", field="float")
            assert float(other.total) > float(point.total)
    assert {f.of for f in found.fits} == {"E[T]", "p", "q"}


def test_ends_of_ranges_are_told() -> None:
    """MAHH on OneMax should accept nothing that is worse: p is drawn to the end of its range."""
    found = tune("onemax", "mahh", n=6, limits={"p": ("1/n**2", "1/2")}).points[0]
    assert found.value("p") == fmpq(1, 36)
    assert found.brackets[0].edge
    assert "end of its range" in found.certified
    assert tune("onemax", "mahh", n=6).points[0].value("p") == 0


@pytest.mark.slow
def test_the_penalty_does_not_matter_inside_h() -> None:
    flat = tune(Landscape.jump(9, 2), "lrsao").points[0]
    assert flat.flat
    assert "the same" in flat.certified
    assert flat.total.rational == "51740216905/1185192162"


def test_what_cannot_be_tuned() -> None:
    for text, keys, match in (
        ("rls", None, "nothing to tune"),
        ("mahh:p=1/2", None, "nothing to tune"),
        ("mahh:p=1/2", ["p"], "has a value"),
        ("mahh", ["accept"], "numeric keys of mahh are p, rate"),
        ("random", None, "needs helpers"),
    ):
        with pytest.raises(ParameterError, match=match):
            tune("onemax", text, keys, n=9)
    with pytest.raises(ParameterError, match="no range"):
        tune("onemax", "mahh", n=9, limits={"p": ("1/2", "1/3")})
    with pytest.raises(ParameterError, match="infinite"):
        tune("jump-m:m=4", "rls-k", n=7, limits={"k": (1, 2)})
    assert fit("E[T]", [5], [1.0]) is None
    assert Domain("k", "integer", fmpq(1), fmpq(9)).at(0.8) == 2
