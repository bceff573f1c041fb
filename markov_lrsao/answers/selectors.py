"""The best selector without memory: one objective, or one law of objectives, per agent state.

It sees what the agent sees, but learns nothing: positions that share an agent state share a choice.
With steps of one let s(x) be the time from x to x + 1; a choice with the chances up and down at x
makes it (1 + down s(x-1)) / up, and E[T] is the sum of all s(x).

*Deterministic*: dynamic programming over the positions. What counts of the past are the choices of
states that will be met again, the sum so far and the last s(x). What follows costs a + b s(x) with
b >= 0, so of all pairs (sum, s) with the same choices only the lower left convex hull can win. All
in fractions: the answer is the best of all |objectives|^|states| selectors, exactly.

*Randomised*: s(x) is a quotient of linear functions of the weights. Weights are found in floats, by
moving weight between two objectives at a time, and become rationals, at which E[T] is exact.
Below, a bound holds for all weights: over a simplex of weights (1 + down s) / up is smallest at one
of its corners, and taking the best corner at each position by itself can only be faster. Simplices
are halved until the bound is near. States that are met at one position only need no weights: there
one of the objectives is best.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.errors import StateSpaceTooLargeError
from markov_lrsao.exact.quantity import Exact, Infinite, Quantity
from markov_lrsao.exact.rationals import rational, rational_text, to_float
from markov_lrsao.model.law import DOWN, UP, StepLaw

__all__ = ["BestSelectors", "Selector", "best_selectors"]

FloatArray = npt.NDArray[np.float64]
Point = tuple[fmpq, fmpq, "Chosen | None"]
"""The sum so far, the last s(x), and what was chosen."""
_MOST_CHOICES = 50_000
_MOST_WEIGHTS = 40
_MOST_DIMENSIONS = 3
_MOST_CELLS = 60_000
_GAP = 1e-3
_ZERO = fmpq(0)
_MARGIN = 1e-9
_DIGITS = 9


@dataclass(frozen=True)
class Chosen:
    """A choice and those before it."""

    row: int
    action: int
    before: Chosen | None


@dataclass(frozen=True)
class Selector:
    """A selector without memory.

    Attributes
    ----------
    total : its E[T]; infinite if no selector of its class reaches the optimum
    states : agent state -> (objective, probability), in words
    least : a lower bound of E[T] over all selectors of its class
    """

    total: Quantity
    states: tuple[tuple[str, tuple[tuple[str, fmpq], ...]], ...]
    least: fmpq | None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "total": self.total.to_dict(),
            "least": None if self.least is None else to_float(self.least),
            "states": [
                {"state": state, "objectives": {a: rational_text(w) for a, w in chosen}}
                for state, chosen in self.states
            ],
        }


@dataclass(frozen=True)
class BestSelectors:
    """The best deterministic selector, and a good randomised one."""

    deterministic: Selector
    randomised: Selector

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "deterministic": self.deterministic.to_dict(),
            "randomised": self.randomised.to_dict(),
        }


def best_selectors(law: StepLaw, oracle: fmpq = _ZERO) -> BestSelectors:
    """Return the best selectors without memory, from 0^n to the optimum.

    Parameters
    ----------
    oracle : the least E[T] with full information, which is a bound for all selectors

    Raises
    ------
    StateSpaceTooLargeError
        Too many states are met again and again.
    """
    walk = _Walk(law, oracle)
    deterministic = walk.deterministic()
    return BestSelectors(deterministic, walk.randomised(deterministic))


class _Walk:
    """What every objective accepts at every position below the optimum."""

    def __init__(self, law: StepLaw, oracle: fmpq) -> None:
        self.law, self.last, self.oracle = law, law.optimum, oracle
        n = law.n
        self.rows: list[int] = law.row[: self.last].tolist()
        self.up: list[list[fmpq]] = []
        self.down: list[list[fmpq]] = []
        for p in range(self.last):
            self.up.append(
                [fmpq(n - p, n) * int(law.accepted[p, a, UP]) for a in range(len(law.actions))]
            )
            self.down.append(
                [fmpq(p, n) * int(law.accepted[p, a, DOWN]) for a in range(len(law.actions))]
            )
        self.ends = {row: p for p, row in enumerate(self.rows)}
        first = {row: p for p, row in reversed(list(enumerate(self.rows)))}
        self.shared = [row for row in first if first[row] != self.ends[row]]

    @cached_property
    def kinds(self) -> dict[int, list[int]]:
        """Row -> its objectives that differ somewhere, the first of each kind."""
        acts: dict[int, list[list[bool]]] = {}
        for p, row in enumerate(self.rows):
            accepted = self.law.accepted[p].tolist()
            lines = acts.setdefault(row, [[] for _ in accepted])
            for line, some in zip(lines, accepted, strict=True):
                line += some
        found = {}
        for row, lines in acts.items():
            first: dict[tuple[bool, ...], int] = {}
            for a, line in enumerate(lines):
                first.setdefault(tuple(line), a)
            found[row] = list(first.values())
        return found

    # -- one objective per state ------------------------------------------------------------------

    def deterministic(self) -> Selector:
        """Return the best selector of all."""
        open_: dict[tuple[tuple[int, int], ...], list[Point]] = {(): [(fmpq(0), fmpq(0), None)]}
        for p, row in enumerate(self.rows):
            after: dict[tuple[tuple[int, int], ...], list[Point]] = {}
            for chosen, points in open_.items():
                known = dict(chosen).get(row)
                for a in self.kinds[row] if known is None else [known]:
                    if not self.up[p][a]:
                        continue
                    kept = tuple(c for c in chosen if c[0] != row)
                    if self.ends[row] > p:
                        kept = tuple(sorted((*kept, (row, a))))
                    after.setdefault(kept, []).extend(
                        self._stepped(point, p, row, a, new=known is None) for point in points
                    )
            open_ = {chosen: _hull(points) for chosen, points in after.items()}
            if sum(map(len, open_.values())) > _MOST_CHOICES:
                raise StateSpaceTooLargeError(
                    f"the best selector per agent state: more than {_MOST_CHOICES:,} combinations "
                    f"of choices are open at position {p}"
                )
        best = min((point for points in open_.values() for point in points), default=None,
                   key=lambda point: point[0])  # fmt: skip
        if best is None:
            return Selector(Infinite(), (), None)
        weights, made = {}, best[2]
        while made is not None:
            weights[made.row] = {made.action: fmpq(1)}
            made = made.before
        return Selector(Exact(best[0]), self._words(weights), best[0])

    def _stepped(self, point: Point, p: int, row: int, a: int, *, new: bool) -> Point:
        total, time, made = point
        time = (1 + self.down[p][a] * time) / self.up[p][a]
        return total + time, time, Chosen(row, a, made) if new else made

    def _words(
        self, weights: dict[int, dict[int, fmpq]]
    ) -> tuple[tuple[str, tuple[tuple[str, fmpq], ...]], ...]:
        law = self.law
        return tuple(
            (
                rational_text(law.state(row)),
                tuple((law.actions[a], w) for a, w in sorted(weights[row].items()) if w),
            )
            for row in sorted(weights)
        )

    # -- a law of objectives per state ------------------------------------------------------------

    def randomised(self, deterministic: Selector) -> Selector:
        """Return a selector whose weights cannot be improved two at a time, and a bound."""
        rows = [row for row in self.shared if len(self.kinds[row]) > 1]
        free = sum(len(self.kinds[row]) - 1 for row in rows)
        if not rows:
            return deterministic
        if free > _MOST_WEIGHTS:
            return replace(deterministic, least=self.oracle)
        weights = {row: np.full(len(self.kinds[row]), 1 / len(self.kinds[row])) for row in rows}
        begun = [weights]
        if not deterministic.total.infinite:
            begun.append(self._corner(rows, deterministic))
        found = min((self._descended(some) for some in begun), key=self._float_time)
        exact = {row: dict(zip(self.kinds[row], _rounded(found[row]), strict=True)) for row in rows}
        total, chosen = self._exact_time(exact)
        if not deterministic.total.infinite and (
            total is None or deterministic.total.value <= total
        ):
            total, words = deterministic.total.value, deterministic.states
        elif total is None:
            return Selector(Infinite(), (), None)
        else:
            words = self._words(exact | chosen)
        least = self.oracle
        if free <= _MOST_DIMENSIONS and self.oracle < total:
            least = max(least, self._least(rows, to_float(total)))
        return Selector(Exact(total), words, least)

    def _corner(self, rows: list[int], deterministic: Selector) -> dict[int, FloatArray]:
        """Return the weights of the best deterministic selector."""
        chosen = {state: dict(some) for state, some in deterministic.states}
        found = {}
        for row in rows:
            names = chosen[rational_text(self.law.state(row))]
            kinds = self.kinds[row]
            found[row] = np.array([float(self.law.actions[a] in names) for a in kinds])
        return found

    def _exact_time(
        self, weights: dict[int, dict[int, fmpq]]
    ) -> tuple[fmpq | None, dict[int, dict[int, fmpq]]]:
        """Return E[T] and what is best at positions of their own."""
        total, time = fmpq(0), fmpq(0)
        chosen: dict[int, dict[int, fmpq]] = {}
        for p, row in enumerate(self.rows):
            options = [weights[row]] if row in weights else [
                {a: fmpq(1)} for a in self.kinds[row]
            ]  # fmt: skip
            times = []
            for some in options:
                up = sum((w * self.up[p][a] for a, w in some.items()), fmpq(0))
                down = sum((w * self.down[p][a] for a, w in some.items()), fmpq(0))
                if up:
                    times.append(((1 + down * time) / up, some))
            if not times:
                return None, {}
            time, best = min(times, key=lambda pair: pair[0])
            if row not in weights:
                chosen[row] = best
            total += time
        return total, chosen

    def _float_time(self, weights: dict[int, FloatArray]) -> float:
        up, down = self._floats
        total = time = 0.0
        for p, row in enumerate(self.rows):
            kinds = self.kinds[row]
            if row in weights:
                rise = float(up[p, kinds] @ weights[row])
                if rise <= 0:
                    return np.inf
                time = (1 + float(down[p, kinds] @ weights[row]) * time) / rise
            else:
                with np.errstate(divide="ignore"):
                    time = float(((1 + down[p, kinds] * time) / up[p, kinds]).min())
            total += time
        return total

    @cached_property
    def _floats(self) -> tuple[FloatArray, FloatArray]:
        up = np.array([[to_float(w) for w in line] for line in self.up])
        return up, np.array([[to_float(w) for w in line] for line in self.down])

    def _descended(self, weights: dict[int, FloatArray]) -> dict[int, FloatArray]:
        """Move weight between two objectives of a state at a time, as long as it helps."""
        from scipy.optimize import minimize_scalar

        weights = {row: some.copy() for row, some in weights.items()}
        known = self._float_time(weights)
        for _ in range(60):
            before = known
            for row, some in weights.items():
                for i, j in combinations(range(len(some)), 2):
                    both = some[i] + some[j]
                    if both <= 0:
                        continue

                    def time(
                        share: float,
                        row: int = row,
                        i: int = i,
                        j: int = j,
                        both: float = both,
                        some: FloatArray = some,
                    ) -> float:
                        moved = some.copy()
                        moved[i], moved[j] = both * share, both * (1 - share)
                        return self._float_time(weights | {row: moved})  # fmt: skip

                    inner = minimize_scalar(time, bounds=(0.0, 1.0), method="bounded",
                                            options={"xatol": 1e-10})  # fmt: skip
                    share = min((0.0, 1.0, float(inner.x)), key=time)
                    if time(share) < known:
                        known = time(share)
                        some[i], some[j] = both * share, both * (1 - share)
            if before - known <= 1e-13 * known:
                break
        return weights

    def _least(self, rows: list[int], known: float) -> fmpq:
        """Return a lower bound of E[T] over all weights, by halving simplices."""
        cells = [np.eye(len(self.kinds[row]))[None] for row in rows]
        settled = np.inf
        while True:
            bounds = self._bounds(rows, cells)
            left = bounds < known * (1 - _GAP)
            settled = min([settled, *bounds[~left].tolist()])
            if not left.any() or 2 * left.sum() > _MOST_CELLS:
                settled = min([settled, *bounds[left].tolist()])
                return rational(repr(max(0.0, settled * (1 - _MARGIN))), "least")
            cells = _halved([c[left] for c in cells])

    def _bounds(self, rows: list[int], cells: list[FloatArray]) -> FloatArray:
        """Return lower bounds of E[T] in cells; each has one simplex [corner, weight] per row."""
        up, down = self._floats
        count = len(cells[0])
        total, time = np.zeros(count), np.zeros(count)
        number = {row: i for i, row in enumerate(rows)}
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            for p, row in enumerate(self.rows):
                kinds = self.kinds[row]
                if row in number:
                    simplex = cells[number[row]]
                    rise, fall = simplex @ up[p, kinds], simplex @ down[p, kinds]
                else:
                    rise = np.broadcast_to(up[p, kinds], (count, len(kinds)))
                    fall = np.broadcast_to(down[p, kinds], (count, len(kinds)))
                back = np.where(fall > 0, fall * time[:, None], 0.0)
                time = np.where(rise > 0, (1 + back) / rise, np.inf).min(axis=1)
                total = total + time
        return total


def _hull(points: list[Point]) -> list[Point]:
    """Return the corners of the lower left convex hull of (sum, s)."""
    found: list[Point] = []
    for point in sorted(points, key=lambda q: (q[1], q[0])):  # by s, then by sum
        if found and point[0] >= found[-1][0]:
            continue
        while len(found) > 1 and _above(found[-2], found[-1], point):
            found.pop()
        found.append(point)
    return found


def _above(first: Point, middle: Point, last: Point) -> bool:
    """Whether the middle of three points lies on or above the line between the others."""
    (a, s, _), (b, t, _), (c, u, _) = first, middle, last
    return bool((b - a) * (u - s) >= (c - a) * (t - s))


def _rounded(weights: FloatArray) -> list[fmpq]:
    """Return weights as rationals of few digits that add up to one."""
    parts = [rational(f"{w:.{_DIGITS}f}", "weight") for w in weights]
    largest = int(np.argmax(weights))
    parts[largest] += 1 - sum(parts, fmpq(0))
    return parts


def _halved(cells: list[FloatArray]) -> list[FloatArray]:
    """Halve in every cell the simplex with the longest edge, along it."""
    count = len(cells[0])
    lengths = np.zeros((count, len(cells)))
    edges = []
    for k, simplex in enumerate(cells):
        corners = simplex.shape[1]
        pairs = [(i, j) for i in range(corners) for j in range(i)]
        away = np.stack([np.abs(simplex[:, i] - simplex[:, j]).sum(axis=1) for i, j in pairs], 1)
        lengths[:, k] = away.max(axis=1)
        edges.append(np.array(pairs)[away.argmax(axis=1)])
    longest = lengths.argmax(axis=1)
    one, other = [c.copy() for c in cells], [c.copy() for c in cells]
    for k, simplex in enumerate(cells):
        which = np.flatnonzero(longest == k)
        i, j = edges[k][which, 0], edges[k][which, 1]
        middle = (simplex[which, i] + simplex[which, j]) / 2
        one[k][which, i] = middle
        other[k][which, j] = middle
    return [np.concatenate(pair) for pair in zip(one, other, strict=True)]
