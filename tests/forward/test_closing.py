"""Members hold every table of every run; what they exclude bounds E[T] where ends do not."""

from __future__ import annotations

import random
from copy import deepcopy
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from flint import fmpq

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from markov_lrsao.errors import VerificationError
from markov_lrsao.forward import closing
from markov_lrsao.forward.closing import Closed, closed, followed_rows
from markov_lrsao.forward.coarse import coarse, entry_ends
from markov_lrsao.forward.model import Arrays, Tables, arrays_of
from markov_lrsao.forward.options import member_options
from markov_lrsao.values.stuck import seen_trap

Point = tuple[int, int, str, str, str]
NO_TRAP: list[Point] = [
    (9, 2, "4/5", "9/10", "1"),
    (12, 2, "4/5", "9/10", "1"),
    (11, 3, "1/2", "4/5", "2"),
    (9, 2, "4/5", "19/20", "5/4"),
]
"""1 + gamma f < 0 for the lowest f at which the ends let row 0 be left: they exclude no trap."""
TRAP: list[Point] = [(9, 2, "4/5", "9/10", "3/2"), (9, 2, "1/2", "7/10", "3")]


def law_of(point: Point) -> StepLaw:
    n, ell, *rest = point
    return StepLaw.of(Landscape.jump(n, ell), Algorithm.lrsao(Parameters.of(*rest)))


def members_of(law: StepLaw) -> Closed:
    least, most = (
        np.array([float(x.p) / float(x.q) + side * 1e-9 for line in ends for x in line])
        for ends, side in zip(entry_ends(law)[:2], (-1, 1), strict=True)
    )
    found = closed(law, arrays_of(law), (least, most))
    assert found is not None
    return found


def upper_end(law: StepLaw) -> float:
    phases = len(law.landscape.milestones)
    return float(coarse(law, arrays_of(law), np.ones((phases, 1), dtype=bool)).steps[0, 0, 0, 1])


def holds(members: Tables, position: int, phase: int, table: list[list[fmpq]]) -> bool:
    """Whether a table in fractions lies in some member."""
    actions = len(table[0])
    values = [float(q.p) / float(q.q) for row in table for q in row]
    signs = [
        (row[a] > row[b]) - (row[a] < row[b])
        for row in table
        for a in range(actions)
        for b in range(a + 1, actions)
    ]
    here = (members.position == position) & (members.phase == phase)
    inside = (members.low <= np.nextafter(values, np.inf)).all(axis=1)
    inside &= (members.high >= np.nextafter(values, -np.inf)).all(axis=1)
    ordered = ((members.order == 2) | (members.order == signs)).all(axis=1)
    return bool((here & inside & ordered).any())


def strays(law: StepLaw, members: Tables, runs: int, longest: int = 80) -> int:
    """Return how many of some runs, played in fractions, leave the members."""
    found, milestones = 0, law.landscape.milestones
    for seed in range(runs):
        draw = random.Random(seed)
        table = [[fmpq(0)] * len(law.actions) for _ in range(int(law.row.max()) + 1)]
        position = phase = 0
        for _ in range(longest):
            if not holds(members, position, phase, table):
                found += 1
                break
            row = table[int(law.row[position])]
            a = draw.choice([b for b, q in enumerate(row) if q == max(row)])
            moves = law.moves(position, a)
            _, to, gain = draw.choices(moves, [chance for chance, _, _ in moves])[0]
            if to == law.optimum:
                break
            seen = max(table[int(law.row[to])])
            row[a] = law.algorithm.keep * row[a] + gain + law.algorithm.bootstrap * seen
            position = to
            while phase < len(milestones) and to >= milestones[phase]:
                phase += 1
    return found


def test_rows_that_come_back_or_refuse_everything_are_followed() -> None:
    law = law_of((12, 2, "4/5", "9/10", "1"))
    assert [int(law.state(int(r)).p) for r in followed_rows(law)] == [0, 3, 9]


@pytest.mark.parametrize(
    "point", [*NO_TRAP[:2], *(pytest.param(p, marks=pytest.mark.slow) for p in NO_TRAP[2:])]
)
def test_traps_are_excluded(point: Point) -> None:
    """A walk that goes down whenever it may would need some 2^n steps."""
    law = law_of(point)
    assert 2 ** (law.n - 2) < upper_end(law) < 2 ** (law.n + 1)
    assert seen_trap(law) is None


@pytest.mark.parametrize("point", [TRAP[0], pytest.param(TRAP[1], marks=pytest.mark.slow)])
def test_where_runs_get_stuck_nothing_is_excluded(point: Point) -> None:
    law = law_of(point)
    assert upper_end(law) == np.inf
    assert seen_trap(law) is not None


def test_ends_alone_exclude_no_trap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closing, "_MOST_MEMBERS", 100)
    assert upper_end(law_of(NO_TRAP[0])) == np.inf


@pytest.mark.parametrize(
    "point",
    [
        NO_TRAP[0],
        pytest.param(NO_TRAP[2], marks=pytest.mark.slow),
        pytest.param(TRAP[0], marks=pytest.mark.slow),
        pytest.param((9, 2, "4/5", "1/2", "1/10"), marks=pytest.mark.slow),
    ],
)
def test_runs_stay_within_the_members(point: Point) -> None:
    law = law_of(point)
    assert strays(law, members_of(law).members, 25) == 0


def _narrow(found: Closed) -> None:
    """Let row 0 be as low as it is in most members only."""
    low = found.members.low
    low[:, :3] = np.maximum(low[:, :3], -0.5)


def _too_sure(found: Closed) -> None:
    """Leave nothing open in a row that is not followed."""
    row = found.members.order[:, 6:9]
    row[row == 2] = 1


def _one_less(found: Closed) -> None:
    found.members = found.members.chosen(slice(0, -1))


def _no_start(found: Closed) -> None:
    found.members = found.members.chosen(slice(1, None))


def _less_bootstrap(arrays: Arrays) -> Arrays:
    return replace(arrays, bootstrap=(0.0, 0.0), sums=arrays.sums * 0 - 1)


@lru_cache
def right_members() -> Closed:
    found = members_of(law_of(NO_TRAP[0]))
    member_options(found)
    return found


@pytest.mark.parametrize("wrong", [_narrow, _too_sure, _one_less, _no_start])
def test_wrong_members_are_refused(wrong: object) -> None:
    found = deepcopy(right_members())
    wrong(found)  # type: ignore[operator]
    with pytest.raises(VerificationError, match="leave its members"):
        member_options(found)


@pytest.mark.slow
def test_members_of_another_law_lose_runs() -> None:
    law = law_of(NO_TRAP[0])
    right = members_of(law)
    other = closed(law, _less_bootstrap(right.arrays), right.ends)
    assert other is not None
    assert strays(law, other.members, 25) > 0
