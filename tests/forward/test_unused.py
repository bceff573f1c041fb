"""What tables cannot use is dropped: runs from what is left move alike, in law."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pytest
from flint import fmpq
from random_plateaus import RandomPlateaus
from usable import Table, Usable, later_positions

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from markov_lrsao.exact.rationals import next_floats
from markov_lrsao.forward.model import Tables, arrays_of
from markov_lrsao.forward.unused import Unused

STEPS = 5


def jump(*parameters: str) -> StepLaw:
    return StepLaw.of(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.of(*parameters)))


def held_out(seed: int) -> StepLaw:
    return RandomPlateaus.held_out(seed).law


LAWS: dict[str, Callable[[], StepLaw]] = {
    "jump": lambda: jump("4/5", "1/2", "1"),
    "jump, large gamma": lambda: jump("1/3", "9/10", "1/10"),
    **{f"held out {k}": partial(held_out, k) for k in (42, 48, 173, 225)},
}


def met(law: StepLaw, seed: int, steps: int) -> tuple[int, Table] | None:
    """Return where a run is after some steps, and its table; None: it has ended."""
    rng, a = random.Random(seed), law.algorithm
    table = [[fmpq(0)] * len(law.actions) for _ in range(int(law.row.max()) + 1)]
    p = 0
    for _ in range(steps):
        row = table[int(law.row[p])]
        b = rng.choice([b for b, q in enumerate(row) if q == max(row)])
        moves = law.moves(p, b)
        _, to, gain = rng.choices(moves, [chance for chance, _, _ in moves])[0]
        row[b] = a.keep * row[b] + gain + a.bootstrap * max(table[int(law.row[to])])
        p = to
        if p == law.optimum:
            return None
    return p, table


def dropped(law: StepLaw, unused: Unused, position: int, table: Table) -> Table:
    """Return a table as the kernel leaves it, read back into fractions."""
    arrays = unused.arrays
    found = Tables.start(law, arrays)
    found.position[0] = position
    actions = len(law.actions)
    pairs = [(a, b) for a in range(actions) for b in range(a + 1, actions)]
    known: dict[tuple[float, float], fmpq] = {(0.0, 0.0): fmpq(0)}
    for r, row in enumerate(table):
        for a, q in enumerate(row):
            ends = (0.0, 0.0) if q == 0 else next_floats(q)
            known[ends] = q
            found.low[0, r * actions + a], found.high[0, r * actions + a] = ends
            found.name[0, r * actions + a] = arrays.zero if q == 0 else -1
        for k, (a, b) in enumerate(pairs):
            found.order[0, r * len(pairs) + k] = (row[a] > row[b]) - (row[a] < row[b])
    unused.drop(found)
    known[unused.dead, unused.dead] = fmpq(*unused.dead.as_integer_ratio())
    boxes = zip(found.low[0].tolist(), found.high[0].tolist(), strict=True)
    flat = [known[box] for box in boxes]
    left = [flat[r * actions : (r + 1) * actions] for r in range(len(table))]
    for r, row in enumerate(left):
        # The order that is kept is the order there is.
        if known[unused.dead, unused.dead] < min(map(min, table)):
            for k, (a, b) in enumerate(pairs):
                assert found.order[0, r * len(pairs) + k] == (row[a] > row[b]) - (row[a] < row[b])
    return left


def alike(law: StepLaw, unused: Unused, seeds: range) -> Iterator[bool]:
    """Yield of tables that dropping changes whether runs move alike without what is dropped."""
    for seed in seeds:
        state = met(law, seed, 5 + seed % 40)
        if state is None:
            continue
        position, table = state
        left = dropped(law, unused, position, table)
        if left != table:
            yield later_positions(law, position, table, STEPS) == later_positions(
                law, position, left, STEPS
            )


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
def test_runs_move_alike_without_what_is_dropped(name: str) -> None:
    law = LAWS[name]()
    found = list(alike(law, Unused(law, arrays_of(law)), range(60)))
    assert len(found) > 10
    assert all(found)


def told_apart(law: StepLaw, unused: Unused, seeds: range) -> tuple[dict[str, int], int]:
    """Return how often something was dropped, and how many rows fractions leave otherwise."""
    counted, differ = {"dead": 0, "row": 0, "free": 0}, 0
    for seed in seeds:
        state = met(law, seed, 3 + seed)
        if state is None:
            continue
        position, table = state
        usable = Usable.of(law, position, table)
        left = dropped(law, unused, position, table)
        for r, (row, before) in enumerate(zip(left, table, strict=True)):
            if r not in usable.met:
                differ += row != [0] * len(row)
                counted["row"] += 1
                continue
            alive = [q for a, q in enumerate(before) if (r, a) not in usable.dead]
            kept = [q for q in row if q != fmpq(*unused.dead.as_integer_ratio())]
            differ += sorted(kept) != (sorted(alive) if r in usable.felt else [0])
            counted["free"] += r not in usable.felt and before != row
            counted["dead"] += len(row) - len(kept)
    return counted, differ


def test_what_is_dropped_is_what_fractions_tell() -> None:
    """Dead entries, rows without use and values without use, as found in another way."""
    law = RandomPlateaus.held_out(173).law
    counted, differ = told_apart(law, Unused(law, arrays_of(law)), range(40))
    assert min(counted.values()) > 0
    assert differ == 0


def test_rows_that_sink_ground_nothing() -> None:
    """With floors of 0 rows seem to be grounded that are not."""
    law = RandomPlateaus.held_out(48).law
    unused = Unused(law, arrays_of(law))
    assert told_apart(law, unused, range(25))[1] == 0
    unused.floors[:] = 0.0
    assert told_apart(law, unused, range(25))[1] > 0


def _all_twins(unused: Unused) -> None:
    unused.twin[:] = 0


def _zeros_are_dead(unused: Unused) -> None:
    unused.dead = 0.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "law"),
    [
        (_all_twins, "held out 42"),
        (_zeros_are_dead, "held out 42"),
    ],
)
def test_what_is_dropped_wrongly_is_seen(wrong: Callable[[Unused], None], law: str) -> None:
    here = LAWS[law]()
    unused = Unused(here, arrays_of(here))
    wrong(unused)
    assert not all(alike(here, unused, range(60)))


def test_twins_are_found() -> None:
    """Two helpers that are the same are twins in all rows; T is like neither in row 0."""
    law = RandomPlateaus.held_out(225).law
    twin = Unused(law, arrays_of(law)).twin.reshape(-1, len(law.actions))
    assert (twin[:, 1] == twin[:, 3]).all()
    assert twin[0, 0] != twin[0, 1]
    assert np.array_equal(twin[:, 0], np.zeros(len(twin)))
