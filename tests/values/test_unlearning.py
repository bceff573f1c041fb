"""How often objectives are unlearnt: against plain runs, and sums that are certain."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from markov_lrsao import Landscape
from markov_lrsao.model.law import StepLaw
from markov_lrsao.values import unlearning
from markov_lrsao.values.plateaus import Plateaus, plateaus_of
from markov_lrsao.values.row_grids import coarse_grid
from markov_lrsao.values.shared_row import SharedRow
from markov_lrsao.values.unlearning import unlearnings

RUNS = 4000


def place_of(n: int, widths: tuple[int, ...], bridges: str) -> Plateaus:
    return plateaus_of(StepLaw.of(Landscape.regions(n, widths, bridges)))


def plain_runs(place: Plateaus, seed: int) -> list[Counter[tuple[int, str]]]:
    """Play LRSAO with floats (in short runs nothing underflows) and count falls in row 0."""
    law, rng = place.law, random.Random(seed)
    parameters = law.algorithm.parameters
    assert parameters is not None
    alpha, gamma = (float(str(x.p)) / float(str(x.q)) for x in (parameters.alpha, parameters.gamma))
    actions = range(len(law.actions))
    rewards = {
        (p, a, d): float(str(law.reward(p, a, d).p)) / float(str(law.reward(p, a, d).q))
        for p in range(law.n)
        for a in actions
        for d in (0, 1)
        if law.accepted[p, a, d]
    }
    where = {p: i for i, (a, b) in enumerate(place.plateaus) for p in range(a, b + 1)}
    found = []
    for _ in range(RUNS):
        table: dict[int, list[float]] = {}
        p, counts = 0, Counter[tuple[int, str]]()
        while p < law.n:
            q = table.setdefault(int(law.row[p]), [0.0] * len(law.actions))
            a = rng.choice([b for b in actions if q[b] == max(q)])
            d = int(rng.random() >= p / law.n)
            to = p + 2 * d - 1 if (p, a, d) in rewards else p
            old, following = q[a], table.get(int(law.row[to]), [0.0])
            q[a] = (1 - alpha) * old + alpha * (
                rewards.get((p, a, d), 0.0) + gamma * max(following)
            )
            if to < law.n and p in where and old > 0 >= q[a]:
                counts[where[p], law.actions[a]] += 1
            p = to
        found.append(counts)
    return found


@pytest.mark.parametrize(
    ("n", "widths", "bridges"),
    [(9, (3, 2), "own"), (13, (3, 3, 3), "shared"), (8, (2, 1, 1), "all-but-last")],
)
def test_against_plain_runs(n: int, widths: tuple[int, ...], bridges: str) -> None:
    place = place_of(n, widths, bridges)
    runs = plain_runs(place, seed=15)
    for (plateau, names), quantity in unlearnings(place).items():
        counts = [sum(run[plateau, name] for name in names) for run in runs]
        mean = sum(counts) / RUNS
        error = (sum((c - mean) ** 2 for c in counts) / RUNS**2) ** 0.5
        assert quantity.upper is not None
        outside = max(float(quantity.lower) - mean, mean - float(quantity.upper), 0.0)
        assert outside <= 4 * error + 1e-9, (plateau, names)


def test_the_first_bridge_is_unlearnt_once_on_the_second_plateau() -> None:
    """It is all that is positive there, and no move is a gain for it."""
    found = unlearnings(place_of(20, (3, 3, 3), "shared"))
    first = found[1, ("B1",)]
    assert first.upper is not None
    assert abs(float(first.lower) - 1) < 1e-9
    assert abs(float(first.upper) - 1) < 1e-9
    assert all(float(q.upper or 0) < 1e-9 for (i, _), q in found.items() if i == 0)


def test_objectives_that_are_alike_are_counted_together() -> None:
    """On the last of three plateaus with a bridge each the first two bridges are alike."""
    walk = SharedRow(place_of(13, (3, 3, 3), "own"), [coarse_grid(13)])
    names = walk.law.actions
    groups = [{tuple(names[a] for a in g) for g in unlearning._groups(walk, i)} for i in range(3)]
    assert groups[2] == {("F",), ("B3",), ("B1", "B2")}
    assert groups[0] == groups[1] == {("B1",), ("F",), ("B2",), ("B3",)}


def test_who_counts_what_is_learnt_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that take the one for the other exclude what is certain."""
    positive = unlearning._positive
    monkeypatch.setattr(unlearning, "_positive", lambda r: not positive(r))
    found = unlearnings(place_of(9, (3, 2), "own"))
    first = found[1, ("B1",)]
    assert first.upper is not None
    assert float(first.upper) < 0.5
