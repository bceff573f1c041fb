"""Areas between borders: they cover (H), each once; their values are the engine's."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from flint import fmpq

from markov_lrsao.errors import VerificationError
from markov_lrsao.exact.quantity import Enclosed
from markov_lrsao.exact.rationals import rational
from markov_lrsao.figures.maps import map_areas, map_figure
from markov_lrsao.regimes.areas import areas, inner_point
from markov_lrsao.regimes.borders import borders, decided_exits
from markov_lrsao.regimes.grid import MapPlan, RegimeMap, regime_map


@pytest.mark.parametrize("seed", range(20))
def test_every_point_of_h_lies_in_one_area_or_on_a_border(seed: int) -> None:
    draw = random.Random(seed)
    n, ell = draw.choice([(9, 2), (20, 4), (30, 5), (31, 13)])
    alpha = fmpq(draw.randint(3, 99), 100)
    gamma = fmpq(1, n + 1)
    lower, upper = (b.r(alpha) for b in borders(n, ell, gamma)[:2])
    r = lower + (upper - lower) * fmpq(draw.randint(1, 999), 1000)
    found = [a for a in areas(n, ell, [alpha], gamma) if a.contains(alpha, r)]
    assert len(found) == 1
    exits = decided_exits(n, ell, alpha, gamma, r)
    assert (found[0].name == f"k = {exits}") == (exits is not None)
    assert areas(n, ell, [alpha], gamma)[0].decided
    beyond = upper + 1
    assert not any(a.contains(alpha, beyond) for a in areas(n, ell, [alpha], gamma))


def test_points_on_a_border_are_in_no_area() -> None:
    on_border = next(b for b in borders(9, 2) if b.name == "J always, 1").r("1/2")
    assert not any(a.contains(fmpq(1, 2), on_border) for a in areas(9, 2, [fmpq(1, 2)]))


def test_outlines_are_the_intervals() -> None:
    alphas = [fmpq(k, 50) for k in range(2, 50)]
    for area in areas(30, 5, alphas):
        for alpha in alphas:
            exact, drawn = area.interval(alpha), area.outline(float(alpha.p) / float(alpha.q))
            if exact is None:
                assert drawn is None or drawn[0] == drawn[1]
            else:
                assert drawn == pytest.approx([float(v.p) / float(v.q) for v in exact])


def test_inner_points_are_inside_and_short() -> None:
    alphas = [fmpq(k, 100) for k in range(5, 100)]
    for area in areas(30, 5, alphas):
        alpha, r = inner_point(area, alphas)
        assert area.contains(alpha, r)
        assert len(str(r)) <= 12


@pytest.fixture(scope="module")
def solved() -> RegimeMap:
    """A coarse map of n = 9: areas are known all the same."""
    return regime_map(MapPlan.of(9, 2, "0.3:0.96@2", r_relative="0.3:0.7@2"), workers=1)


@pytest.mark.slow
def test_values_follow_the_family_of_exits(solved: RegimeMap) -> None:
    """E_k - E_(k+1) shrinks by (n-l)/n with every exit: exactly, whatever the grid."""
    found = {a["name"]: a for a in map_areas(solved, "total")}
    values = [rational(found[f"k = {k}"]["exact"]) for k in (1, 2, 3)]
    assert values[0] == fmpq(51740216905, 1185192162)
    assert (values[1] - values[2]) / (values[0] - values[1]) == fmpq(7, 9)
    assert len(solved.probed) >= 2  # areas in which no point of the grid lies
    assert found["L always, k = 1"]["value"] > 45


@pytest.mark.slow
def test_points_that_disagree_with_their_area_are_refused(solved: RegimeMap) -> None:
    k, members = next((k, m) for k, m in enumerate(solved.plan.members) if len(m) > 1)
    assert solved.plan.areas[k].decided
    values = list(solved.values)
    stranger = next(v for v in solved.probed.values() if v.regime != values[members[0]].regime)
    values[members[0]] = stranger
    with pytest.raises(VerificationError, match="different laws"):
        map_figure(replace(solved, values=tuple(values)), "total")
    away = Enclosed(fmpq(1), fmpq(2))
    values[members[0]] = replace(stranger, kind="enclosure", means=(away,) * 4)
    with pytest.raises(VerificationError, match="different laws"):
        map_figure(replace(solved, values=tuple(values)), "total")
    around = Enclosed(fmpq(1), fmpq(200))
    values[members[0]] = replace(stranger, kind="enclosure", means=(around,) * 4)
    map_figure(replace(solved, values=tuple(values)), "total")


@pytest.mark.slow
def test_labels_lie_in_their_areas(solved: RegimeMap) -> None:
    data = map_figure(solved, "total")
    assert data.grid is not None
    written = [a for a in data.grid["areas"] if "label" in a]
    assert {a["name"] for a in written} >= {"k = 1", "k = 2", "k = 3"}
    for area in written:
        x, y = area["label"].get("to", area["label"]["at"])
        i = min(range(len(area["x"])), key=lambda k: abs(area["x"][k] - x))
        assert area["low"][i] - 0.02 <= y <= area["high"][i] + 0.02
        assert f"{area['value']:.6g}" in area["label"]["text"]
