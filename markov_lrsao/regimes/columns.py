"""The points of a map, column by column: between two of the same course none is solved.

A column has the points of one alpha, in the order of r. See `markov_lrsao.values.courses` for why
what its ends have in common holds between them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from flint import fmpq

from markov_lrsao.interrupts import spread
from markov_lrsao.progress import Progress
from markov_lrsao.regimes.points import Point, Solved, Values, solve_point

if TYPE_CHECKING:
    from markov_lrsao.regimes.grid import MapPlan
    from markov_lrsao.regimes.store import PointStore

__all__ = ["solve_column", "solved_points"]

_COMMIT_SECONDS = 0.5
_AT_ONCE = 25
"""Points of a column per job: with more, fewer are solved; with fewer, Ctrl-C loses less."""


def solve_column(count: int, solve: Callable[[int], Solved]) -> list[Values]:
    """Return what is known at points that differ in r only, in the order of r.

    Where two of them have the same course, so have all between, by the theorem of
    `markov_lrsao.values.courses`: those are not solved. Elsewhere the middle is, and so on.

    Parameters
    ----------
    count : number of points
    solve : the number of a point -> what is found there
    """
    found = {i: solve(i) for i in sorted({0, count - 1}) if count}
    values = {i: at.values for i, at in found.items()}
    open_between = [(0, count - 1)]
    while open_between:
        low, high = open_between.pop()
        if high - low < 2:
            continue
        if found[low].course is not None and found[low].course == found[high].course:
            values |= dict.fromkeys(range(low + 1, high), values[low])
            continue
        middle = (low + high) // 2
        found[middle] = solve(middle)
        values[middle] = found[middle].values
        open_between += [(middle, high), (low, middle)]
    return [values[i] for i in range(count)]


_Job = tuple[list[tuple[str, Point]], int, int, fmpq, int]
"""Points with their keys, which differ in r only and are in its order; n, l, tolerance, states."""


def _solve(job: _Job) -> list[tuple[str, Values]]:
    keyed, n, ell, tolerance, most = job

    def at(i: int) -> Solved:
        p = keyed[i][1]
        return solve_point(n, ell, p.alpha, p.gamma, p.r, tolerance=tolerance, max_states=most)

    found = solve_column(len(keyed), at)
    return [(key, values) for (key, _), values in zip(keyed, found, strict=True)]


def _columns(keyed: Mapping[str, Point]) -> Iterator[list[tuple[str, Point]]]:
    """Yield points with the same alpha and gamma together, some at a time, in the order of r."""
    columns: dict[tuple[str, str], list[tuple[str, Point]]] = {}
    for key, p in keyed.items():
        columns.setdefault((str(p.alpha), str(p.gamma)), []).append((key, p))
    for column in columns.values():
        column.sort(key=lambda item: item[1].r)
        yield from (column[i : i + _AT_ONCE] for i in range(0, len(column), _AT_ONCE))


def solved_points(
    plan: MapPlan,
    points: Sequence[Point],
    store: PointStore,
    workers: int | None,
    scheduler: str | None,
    title: str,
    progress: Progress,
) -> list[Values]:
    """Return what is known at points: from the store, or solved now and put there."""
    keys = [plan.key(p) for p in points]
    found = store.get(dict.fromkeys(keys))
    missing = {k: p for k, p in zip(keys, points, strict=True) if k not in found}
    jobs: list[_Job] = [
        (column, plan.n, plan.ell, plan.tolerance, plan.max_states) for column in _columns(missing)
    ]
    with progress(title, total=len(keys)) as bar:
        bar.advance(len(found))
        waiting: list[tuple[str, Values]] = []
        last = time.monotonic()
        try:
            with closing(spread(_solve, jobs, workers, scheduler=scheduler)) as solving:
                for solved in solving:
                    waiting += solved
                    found |= solved
                    bar.advance(len(solved))
                    if time.monotonic() - last > _COMMIT_SECONDS:
                        store.add(waiting)
                        waiting, last = [], time.monotonic()
        finally:
            if waiting:  # Ctrl-C, too, keeps what is solved
                store.add(waiting)
    return [found[key] for key in keys]
