"""P(T <= t) to certified digits: those of exact powers, by inversion and by powers in integers."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, fmpq
from instances import jump_chain, jump_law

from markov_lrsao import Algorithm, Landscape, MarkovChain, Parameters, distribution, runtime
from markov_lrsao.answers import law_digits
from markov_lrsao.answers.laws import Distribution, Inversion, Powers
from markov_lrsao.exact.digits import Digits
from markov_lrsao.exact.quantity import Enclosed
from markov_lrsao.exact.rationals import decimal_text
from markov_lrsao.progress import no_progress


def exact_law(chain: MarkovChain, last: int) -> list[fmpq]:
    """Return P(T <= t) for t = 0 .. last, T the time to the largest position, as fractions."""
    end = int(chain.positions.max())
    vector = {int(chain.start[0]): fmpq(1)}
    arrived, found = fmpq(0), []
    rows = chain.exact_rows()
    for _ in range(last + 1):
        arrived += sum(vector.pop(i) for i in list(vector) if chain.positions[i] == end)
        found.append(arrived)
        following: dict[int, fmpq] = {}
        for i, p in vector.items():
            for j, w in rows[i]:
                following[j] = following.get(j, fmpq(0)) + p * w
        vector = following
    return found


@pytest.fixture(scope="module")
def truth() -> list[fmpq]:
    return exact_law(jump_chain(9, 2).chain, 60)


@pytest.mark.parametrize("method", ["powers", "inversion"])
@pytest.mark.parametrize("digits", [1, 12, 40])
def test_digits_are_those_of_exact_powers(method: str, digits: int, truth: list[fmpq]) -> None:
    law = distribution(Landscape.jump(9, 2), method=method)  # type: ignore[arg-type]
    times = list(range(-1, 61, 4))
    for above in (False, True):
        for t, found in zip(times, law.digits(times, digits, above=above), strict=True):
            value = truth[t] if t >= 0 else fmpq(0)
            value = 1 - value if above else value
            assert found.upper is not None
            assert found.lower <= value <= found.upper
            assert found.certified
            assert found.decimal == decimal_text(value, digits)


def in_h(rng: random.Random, n: int, ell: int) -> Parameters:
    """Return hyper-parameters inside (H)."""
    while True:
        alpha, gamma = Fraction(rng.randrange(50, 99), 100), Fraction(1, rng.randrange(n, 5 * n))
        low = (1 / (alpha * (1 - gamma)) - 1) * (n - ell - 1)
        high = 1 / (alpha * gamma)
        if low < high:
            return Parameters(alpha, gamma, low + (high - low) * Fraction(rng.randrange(1, 9), 10))


def compare_at_random(seed: int, largest: int, digits: int) -> str:
    """Compare both ways of P(T <= t), and E[T]'s digits with its fraction; return what it was."""
    rng = random.Random(f"law {seed}")
    n = rng.randrange(9, largest)
    ell = rng.randrange(2, (n - 1) // 2 - 1)
    landscape, algorithm = Landscape.jump(n, ell), Algorithm.lrsao(in_h(rng, n, ell))
    exact = runtime(landscape, algorithm)
    if isinstance(exact.total, Enclosed):
        return "enclosed"
    certain = runtime(landscape, algorithm, method="crossing", digits=digits)
    assert certain.total.decimal == decimal_text(exact.total.value, digits)
    assert certain.variance.decimal == decimal_text(exact.variance.value, digits)
    mean = float(exact.total)
    times = sorted({int(mean * rng.uniform(0.2, 2)) for _ in range(3)})
    first, second = (
        distribution(landscape, algorithm, method=method).digits(times, digits)
        for method in ("powers", "inversion")
    )
    for a, b in zip(first, second, strict=True):
        assert a.certified
        assert b.certified
        assert a.decimal == b.decimal
    return "compared"


def test_a_random_point_of_the_hypothesis() -> None:
    assert compare_at_random(6, 13, 25) == "compared"


@pytest.mark.parametrize(
    ("seeds", "least"),
    [
        pytest.param(6, 3, marks=pytest.mark.slow),
        pytest.param(16, 10, marks=pytest.mark.exhaustive),
    ],
)
def test_more_random_points_of_the_hypothesis(seeds: int, least: int) -> None:
    outcomes = [compare_at_random(seed, 13, 40) for seed in range(seeds)]
    assert outcomes.count("compared") >= least


@pytest.mark.slow
def test_floats_contain_the_digits() -> None:
    """The law in floats and in balls, at a size where no power is computed."""
    law = distribution(Landscape.jump(60, 8))
    assert isinstance(law, Inversion)
    times = [300, 400, 600]
    for t, found in zip(times, law.digits(times, 20), strict=True):
        low, high = law.bounds(t)
        assert found.upper is not None
        assert fmpq(*low.as_integer_ratio()) <= found.lower
        assert found.upper <= fmpq(*high.as_integer_ratio())
        assert found.certified


@pytest.mark.parametrize("phase", [1, 2, 3])
def test_digits_of_phases(phase: int) -> None:
    ways = [
        distribution(Landscape.jump(9, 2), phase=phase, method=m) for m in ("powers", "inversion")
    ]
    times = [2, 5, 12, 30]
    first, second = ([x.decimal for x in law.digits(times, 30)] for law in ways)
    assert first == second


# -- what the ends rest on ---------------------------------------------------------------------


def ends(digits: int, times: list[int]) -> list[tuple[fmpq, fmpq]]:
    law = distribution(Landscape.jump(9, 2), method="inversion")
    assert isinstance(law, Inversion)
    assert law.source is not None
    return law_digits.inverted(law.source, times, digits, no_progress)


def test_aliasing_is_part_of_the_ends(truth: list[fmpq], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it, ends of few digits miss the truth."""
    monkeypatch.setattr(law_digits, "_SPARE", 0)
    times = list(range(20, 60))
    for t, (low, high) in zip(times, ends(1, times), strict=True):
        assert low <= truth[t] <= high
    monkeypatch.setattr(law_digits, "ends", without_aliasing())
    found = zip(times, ends(1, times), strict=True)
    assert not all(low <= truth[t] <= high for t, (low, high) in found)


def without_aliasing() -> object:
    from markov_lrsao.exact.digits import ends as original

    def narrowed(ball: object) -> tuple[fmpq, fmpq]:
        low, high = original(ball)  # type: ignore[arg-type]
        return (low, high) if low < fmpq(5, 1000) or low > fmpq(2, 10) else (low, fmpq(0))

    return narrowed


@pytest.mark.slow
def test_what_is_left_out_is_part_of_the_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Points beyond the cut are bounded by the majorant; without the bound the truth is missed."""
    law = distribution(Landscape.jump(60, 8))
    assert isinstance(law, Inversion)
    assert law.source is not None
    times = [400, 500]
    truth = law_digits.inverted(law.source, times, 60, no_progress)
    original = law_digits._truncated

    def shorter(generate: Any, points: int, bits: float) -> tuple[int, Any]:
        cut, beyond = original(generate, points, 20.0)
        assert cut < points // 2
        return cut, beyond

    monkeypatch.setattr(law_digits, "_truncated", shorter)
    for (low, high), (least, most) in zip(
        law_digits.inverted(law.source, times, 10, no_progress), truth, strict=True
    ):
        assert low <= least < most <= high
    monkeypatch.setattr(law_digits, "_truncated", lambda *given: (shorter(*given)[0], arb(0)))
    for (low, high), (least, most) in zip(
        law_digits.inverted(law.source, times, 10, no_progress), truth, strict=True
    ):
        assert most < low or high < least


def test_powers_lose_less_than_they_say(truth: list[fmpq], monkeypatch: pytest.MonkeyPatch) -> None:
    """Quotients are rounded down: the truth is above the lower end and below the upper one."""
    monkeypatch.setattr(law_digits, "bits_of", lambda digits: 8)
    law = distribution(Landscape.jump(9, 2), method="powers")
    assert isinstance(law, Powers)
    assert law.source is not None
    times = list(range(61))
    for t, (low, high) in zip(
        times, law_digits.cumulated(law.source, times, 1, no_progress), strict=True
    ):
        assert low <= truth[t] <= high
        assert t < 9 or low < truth[t] < high


@pytest.mark.slow
def test_times_that_no_run_meets_are_certain() -> None:
    for method in ("powers", "inversion"):
        law = distribution(Landscape.jump(9, 2), method=method)
        never, first = law.digits([8, 9], 10)
        assert never.lower == never.upper == 0
        assert never.certified
        assert first.lower > 0


def test_what_takes_too_long_is_an_enclosure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(law_digits, "_MOST_WORK", 1)
    law = distribution(Landscape.jump(30, 5))
    (found,) = law.digits([177], 30)
    assert not found.certified
    assert 10 < found.certain < 20
    low, high = law.bounds(177)
    assert (found.lower, found.upper) == tuple(fmpq(*x.as_integer_ratio()) for x in (low, high))


def test_small_probabilities_get_more_digits() -> None:
    asked: list[int] = []

    def near(digits: int) -> list[tuple[fmpq, fmpq]]:
        asked.append(digits)
        value, off = fmpq(1, 7 * 10**30), fmpq(1, 10**digits)
        return [(max(value - off, fmpq(0)), value + off)]

    (found,) = law_digits.refined_law(near, 8)
    assert (found.decimal, found.certified) == ("1.4285714e-31", True)
    assert asked[0] == 8
    assert len(asked) <= 5


def test_open_comparisons_leave_floats() -> None:
    """Without a source, digits are those of the bounds."""
    law = distribution(Landscape.jump(9, 2))
    plain = Distribution._ends(law, [40], 30, no_progress)
    low, high = law.bounds(40)
    assert plain == [(fmpq(*low.as_integer_ratio()), fmpq(*high.as_integer_ratio()))]
    assert not Digits(*plain[0], 30).certified
    assert jump_law(9, 2).n == 9
