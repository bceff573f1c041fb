"""Lumps of the values that plateaus share: against Jump, runs, the mesh and wrong candidates."""

from __future__ import annotations

import csv
import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from flint import fmpq

from markov_lrsao import Landscape, runtime
from markov_lrsao.errors import SolverError
from markov_lrsao.exact.quantity import UNKNOWN, Quantity
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.model.law import StepLaw
from markov_lrsao.values import relearning
from markov_lrsao.values.answer import Answer
from markov_lrsao.values.lumped_row import enclose_by_lumps
from markov_lrsao.values.plateaus import Plateaus, plateaus_of
from markov_lrsao.values.quotient.known import Known
from markov_lrsao.values.quotient.lumps import Lump, Point
from markov_lrsao.values.quotient.minimising import Minimised
from markov_lrsao.values.quotient.planes import Equalities
from markov_lrsao.values.quotient.plateaus import SharedEntries
from markov_lrsao.values.quotient.systems import Place
from markov_lrsao.values.remaining import Remaining
from markov_lrsao.values.row_grids import coarse_grid

NARROW = fmpq(1, 10**9)
SIMULATED = Path(__file__).parents[2] / "docs" / "plateaus_simulated.csv"


def shared(n: int, widths: tuple[int, ...]) -> Plateaus:
    return plateaus_of(StepLaw.of(Landscape.regions(n, widths, "shared")))


def total(answer: Answer) -> tuple[fmpq, fmpq]:
    found = answer.values[0][0]
    assert found.upper is not None
    return found.lower, found.upper


@pytest.mark.parametrize(("n", "ell"), [(9, 2), (13, 4)])
def test_two_plateaus_are_jump_whose_values_are_exact(n: int, ell: int) -> None:
    landscape = Landscape.jump(n, ell)
    place = plateaus_of(StepLaw.of(landscape))
    found = enclose_by_lumps(place, 2, tolerance=NARROW, largest=3_000, nodes=20_000)
    truth = runtime(landscape, method="crossing")
    assert found.undecided is None  # all lumps became stable
    assert found.relative_width < NARROW
    for values, exact in zip(found.values, (truth.total, *truth.phases), strict=True):
        assert values[0].lower <= exact.value <= (values[0].upper or 0)


def test_a_changed_update_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    landscape = Landscape.jump(9, 2)
    truth = runtime(landscape, method="crossing").total.value

    class Forgiving(SharedEntries):
        """Rejections make an entry 0."""

        def __init__(self, place: Plateaus) -> None:
            super().__init__(place)
            self.lam = fmpq(0)

    monkeypatch.setattr("markov_lrsao.values.lumped_row.SharedEntries", Forgiving)
    place = plateaus_of(StepLaw.of(landscape))
    low, high = total(enclose_by_lumps(place, 1, tolerance=NARROW, largest=3_000, nodes=20_000))
    assert not low <= truth <= high


def walked(system: SharedEntries, rng: random.Random, steps: int) -> list[tuple[Place, Point]]:
    """A run of exact points, which neither lumps nor nodes know of."""
    place, point = system.start, Point.zero(system.count)
    found = [(place, point)]
    for _ in range(steps):
        events = system.look(place, point.table).events
        event = rng.choices(events, [e.weight for e in events])[0]
        if event.to is None:
            break
        place, point = event.to, point.updated(event.update)
        found.append((place, point))
    return found


def at(place: Place, point: Point) -> Lump:
    """A lump of one point."""
    known = Known((), point.floats, point.floats, Equalities({}))
    return Lump(-1, place, known, None, 0, point)


@pytest.mark.slow
def test_every_state_of_a_run_meets_a_node() -> None:
    system = SharedEntries(shared(8, (2, 1, 1)))
    remaining = Remaining(system, fmpq(1, 4), 20_000)
    rng = random.Random(5)
    visited = [state for _ in range(100) for state in walked(system, rng, 100)]
    assert len({place for place, _ in visited}) > 20
    for place, point in visited:
        low, high = remaining.of(at(place, point))
        assert (low <= high).all()
    signs = remaining._signs.copy()
    assert (signs == 1).any()
    assert (signs == -1).any()
    remaining._signs = np.where(abs(signs) == 1, -signs, signs)  # ordered the wrong way
    remaining._known.clear()
    with pytest.raises(SolverError, match="no node meets"):
        [remaining.of(at(place, point)) for place, point in visited]
    remaining._signs = signs
    centres = remaining._boxes.mean(axis=1, keepdims=True)
    remaining._boxes = centres.repeat(2, axis=1)  # too narrow
    remaining._known.clear()
    with pytest.raises(SolverError, match="no node meets"):
        [remaining.of(at(place, point)) for place, point in visited]


def strays(minimised: Minimised, runs: int) -> tuple[int, int]:
    """Count steps of random runs on stable lumps that do not go where these move, and all."""
    system, rng, found, steps = minimised.system, random.Random(8), 0, 0
    assert isinstance(system, SharedEntries)
    for _ in range(runs):
        for (before, a), (place, b) in pairwise(walked(system, rng, 100)):
            lump = minimised.trees.leaf(before, a)
            if lump.point is None or not minimised.settled(lump):
                break
            ways = {m.target for m in lump.moves or () if m.to == place}
            found += minimised.trees.leaf(place, b) not in ways
            steps += 1
    return found, steps


def test_runs_follow_the_lumps() -> None:
    minimised = Minimised(SharedEntries(shared(8, (2, 1, 1))))
    minimised.refine(400)
    found, steps = strays(minimised, 100)
    assert found == 0
    assert steps > 1_000
    move = next(m for m in minimised.start.moves or () if m.target is not None)
    assert move.target is not None
    move.target = Lump(-1, move.target.place, move.target.known, None, 0)
    assert strays(minimised, 100)[0] > 0


def test_answers_that_exclude_each_other_are_refused() -> None:
    def answer(low: int, high: int) -> Answer:
        return Answer([[Quantity.enclosed(fmpq(low), fmpq(high)), UNKNOWN]], "crossing", 1)

    assert total(relearning._both(answer(1, 4), answer(3, 9))) == (fmpq(3), fmpq(4))
    with pytest.raises(SolverError, match="exclude"):
        relearning._both(answer(1, 2), answer(3, 9))


@pytest.mark.slow
def test_three_plateaus_agree_with_a_million_runs_and_with_the_mesh() -> None:
    with SIMULATED.open() as file:
        row = next(
            row
            for row in csv.DictReader(file)
            if (row["n"], row["k"], row["bridges"], row["quantity"]) == ("20", "3", "shared", "T")
        )
    place = shared(20, tuple(map(int, row["widths"].split("+"))))
    low, high = total(
        enclose_by_lumps(place, 1, tolerance=fmpq(1, 2_000), largest=8_000, nodes=60_000)
    )
    assert high - low < low / 200
    mean, error = float(row["mean"]), float(row["error"])
    assert to_float(low) - 4 * error <= mean <= to_float(high) + 4 * error
    mesh = total(relearning._coarse(place, 1, 60_000, coarse_grid(20)))
    assert mesh[0] <= high
    assert low <= mesh[1]
    assert (high - low) * 4 < mesh[1] - mesh[0]
