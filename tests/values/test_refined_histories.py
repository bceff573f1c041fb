"""Every claim of the refined walk holds for the true Q-table, rare histories included."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from flint import fmpq
from histories import Foreseen, biased_run
from refined import COARSE, PLAIN, Point
from tiers import campaign

from markov_lrsao.values.tails import LEVELS, Level

POINTS = [
    Point(9, 2, "4/5", "1/10", "1/2"),
    Point(9, 2, "19/20", "1/10", "1/1000"),
    Point(9, 2, "1/2", "21/100", "199/200"),
    Point(9, 2, "99/100", "3/10", "1/20"),
    Point(9, 2, "1/100", "1/50", "1/200"),
    Point(12, 3, "99/100", "1/1000", "1/200"),
    Point(11, 2, "3/10", "1/7", "37/100"),
    Point(13, 4, "9/10", "1/4", "1/10"),
]


def explore(point: Point, level: Level, runs: int, seed: int, steps: int = 130) -> None:
    foreseen = Foreseen(point.law, level)
    rng = np.random.default_rng(seed)
    entered = ended = low = 0
    for _ in range(runs):
        run = biased_run(foreseen, rng, steps)
        entered += run.state is not None or run.gone or run.position == foreseen.law.optimum
        ended += run.position == foreseen.law.optimum
        low += run.undecided
    assert entered > runs / 4  # or else nothing has been tested
    assert ended > 0
    if level == COARSE and foreseen.whole.tail.undecided:
        assert low > 0  # open comparisons have been met


@pytest.mark.parametrize("level", [COARSE, PLAIN], ids=["coarse", "plain"])
@pytest.mark.parametrize(
    "point",
    [p if k != 2 else pytest.param(p, marks=pytest.mark.slow) for k, p in enumerate(POINTS[:5])],
    ids=str,
)
def test_the_true_table_is_where_the_walk_says_it_is(point: Point, level: Level) -> None:
    explore(point, level, runs=25 if level == COARSE else 12, seed=1)


@pytest.mark.parametrize(
    ("point", "level"),
    campaign(product(POINTS, [COARSE, Level(fmpq(4), 1, 0), *LEVELS[:2]])),
    ids=str,
)
def test_the_true_table_is_where_the_walk_says_it_is_in_many_runs(
    point: Point, level: Level
) -> None:
    explore(point, level, runs=400, seed=2, steps=250)
