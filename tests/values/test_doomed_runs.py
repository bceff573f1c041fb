"""Runs that fall below the tail and are held on their way back: traps at any n, narrowly."""

from __future__ import annotations

import pytest
from flint import fmpq

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw, runtime
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.values.enclosure import trap_after_cut
from markov_lrsao.values.quotient.across import DOOMED, LOST, AcrossCut
from markov_lrsao.values.refinement import ValueWalk
from simulate.runs.runner import simulate


def law_of(n: int, ell: int, r: str) -> StepLaw:
    algorithm = Algorithm.lrsao(Parameters("4/5", f"1/{n + 1}", r))
    return StepLaw.of(Landscape.jump(n, ell), algorithm)


def say_of_fallen_runs(doomed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let both ways to a trap's probability say the same of all runs that fall."""
    place = DOOMED if doomed else LOST
    monkeypatch.setattr(ValueWalk, "dooms", lambda *_: doomed)
    monkeypatch.setattr(AcrossCut, "_fallen", lambda *_: (place, []))


def bounds(law: StepLaw, *, narrow: bool = True) -> tuple[fmpq, fmpq]:
    found = trap_after_cut(law, narrow=narrow)
    assert found is not None
    return found[0].lower, found[0].upper


@pytest.mark.parametrize(
    ("n", "ell", "r"),
    [
        pytest.param(9, 2, "30", marks=pytest.mark.slow),
        pytest.param(9, 2, "15", marks=pytest.mark.slow),
        pytest.param(10, 2, "15", marks=pytest.mark.slow),
    ],
)
def test_the_quotient_of_all_tables_agrees(n: int, ell: int, r: str) -> None:
    law = law_of(n, ell, r)
    low, high = bounds(law)
    whole = runtime(law.landscape, law.algorithm, outside_h=True)
    assert whole.method == "quotient"
    assert whole.trap is not None
    assert low <= whole.trap.lower == whole.trap.upper <= high
    assert high - low <= fmpq(1, 10**6)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "r"), [(9, "30"), (40, "200")])
def test_without_doomed_runs_little_is_known(
    n: int, r: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    law = law_of(n, 2, r)
    low, high = bounds(law)
    assert high - low < fmpq(1, 10**6)
    say_of_fallen_runs(False, monkeypatch)
    law = law_of(n, 2, r)
    less, more = bounds(law, narrow=False)
    assert less < low - fmpq(1, 100)
    assert more >= high - fmpq(1, 10**9)


@pytest.mark.slow
def test_just_above_the_hypothesis_beyond_all_tables() -> None:
    """At n = 13 no quotient is tried: [0.182, 0.195] before fallen runs were told apart."""
    law = law_of(13, 2, "20")
    low, high = map(to_float, bounds(law))
    assert high - low < 1e-6
    samples = simulate(law, runs=4_000, seed=5, limit=20_000)
    stuck = samples.censored.mean()
    error = (stuck * (1 - stuck) / samples.runs) ** 0.5
    assert abs(stuck - low) <= 4 * error


COMING_BACK = [
    (
        {
            "T": [0, 1, 2, 3, 4, 0, 9],
            "A": [0, 1, 2, 1, 1, 2, 0],
            "B": [1, 2, 0, 0, 1, 1, 2],
        },
        ("3/4", "1/2", "12"),
    ),
    (
        {
            "T": [0, 1, 2, 3, 4, 0, 9],
            "A": [1, 2, 1, 1, 2, 2, 0],
            "B": [1, 1, 2, 0, 0, 2, 1],
        },
        ("3/4", "1/10", "1"),
    ),
]
"""Laws in which some runs that fall are held when they come back, and others go on."""


@pytest.mark.parametrize(("objectives", "rates"), COMING_BACK)
def test_runs_that_can_come_back_are_not_doomed(
    objectives: dict[str, list[int]], rates: tuple[str, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    landscape = Landscape.from_arrays(objectives, "T")
    law = StepLaw.of(landscape, Algorithm.lrsao(Parameters(*rates)))
    whole = runtime(landscape, law.algorithm, outside_h=True).trap
    assert whole is not None
    low, high = bounds(law, narrow=False)
    assert low <= whole.lower == whole.upper <= high
    say_of_fallen_runs(True, monkeypatch)
    assert bounds(StepLaw.of(landscape, law.algorithm), narrow=False)[0] > whole.upper
    say_of_fallen_runs(False, monkeypatch)
    assert bounds(StepLaw.of(landscape, law.algorithm), narrow=False)[0] < low
