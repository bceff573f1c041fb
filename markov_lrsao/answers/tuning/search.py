"""`tune`: the parameters of a named algorithm that minimise E[T].

The search is made in floats: a grid over the coordinates of the keys (`domains`), then Brent's
method between the neighbours of the best point; with several keys Nelder's and Mead's, and Brent's
once more along each of them. The value at what was found is exact or enclosed. Around it
neighbours are looked for at which E[T] is certainly larger, and for one key of some classes a proof
covers the whole range (`ranges`).

>>> found = tune(LeadingOnes(20), "ea").points[0]
>>> print(f"{float(found.value('rate')):.6f} {float(found.total):.4f}")  # close to 1.59/n
0.076655 308.6642
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import inf
from typing import Literal

from flint import fmpq

from markov_lrsao.answers.expected import runtime
from markov_lrsao.answers.searches import Start, mean_time
from markov_lrsao.answers.tuning.domains import Domain, Limits, Setting, domains, keys_of
from markov_lrsao.answers.tuning.ranges import whole_range
from markov_lrsao.answers.tuning.results import Bracket, Range, Tuned, TuneResult
from markov_lrsao.errors import LrsaoError, ParameterError, UndecidedComparisonError
from markov_lrsao.exact.quantity import Quantity
from markov_lrsao.exact.rationals import RationalLike, rational_text
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.levels import LeadingOnes, shape_named
from markov_lrsao.model.named import NamedAlgorithm
from markov_lrsao.model.search import Search
from markov_lrsao.progress import Bar, Progress, no_progress

__all__ = ["tune"]

Shape = Landscape | LeadingOnes
_GRID = {1: 41, 2: 11, 3: 7}
_FEW = 9
_STEPS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
"""Distances of neighbours, in coordinates."""


def tune(
    landscape: Shape | str | Callable[[int], Shape],
    algorithm: str | NamedAlgorithm,
    keys: Sequence[str] | None = None,
    *,
    n: int | Iterable[int] | None = None,
    limits: Limits | None = None,
    start: Start | None = None,
    at_least: RationalLike | None = None,
    outside_h: bool = False,
    prove: bool = True,
    progress: Progress = no_progress,
) -> TuneResult:
    """Return the parameters that minimise E[T], over n, with fitted exponents.

    Parameters
    ----------
    landscape : a landscape, or its name or a function of n, with the sizes in `n`
    algorithm : a name; what is to be tuned may be missing, e.g. "mmahh:q=1/2"
    keys : what to tune; default: the algorithm's first numeric keys that have no value
    limits : key -> (smallest, largest), rationals or expressions in n
    start, at_least : where runs begin and end
    prove : look for a proof that covers the whole range

    Raises
    ------
    ParameterError
        A key cannot be tuned, or no setting gives a finite time.
    """
    named = algorithm
    if isinstance(named, str):
        named = NamedAlgorithm.of(named, open_keys=True)
    tuned = keys_of(named, named.written, keys)
    points = []
    shapes = _shapes(landscape, n)
    for key in limits or {}:
        if key not in tuned:
            raise ParameterError(f"{key!r} has limits but is not tuned: {', '.join(tuned)} are")
    with progress("tuning") as bar:
        for shape in shapes:
            ranges = domains(named, tuned, shape, limits or {}, outside_h=outside_h)
            task = _Task(named, shape, ranges, start, at_least, outside_h, bar)
            points.append(_tuned(task, prove=prove))
    return TuneResult(shapes[0].name, named.text, tuple(tuned), tuple(points))


def _shapes(
    landscape: Shape | str | Callable[[int], Shape], n: int | Iterable[int] | None
) -> list[Shape]:
    if isinstance(landscape, Landscape | LeadingOnes):
        if n not in (None, landscape.n):
            raise ParameterError(f"n = {n} differs from the landscape's n = {landscape.n}")
        return [landscape]
    if n is None:
        raise ParameterError("`n` is missing: give one or several sizes, e.g. `n=[20, 40, 80]`")
    sizes = sorted({n} if isinstance(n, int) else set(n))
    if not sizes:
        raise ParameterError("`n` is empty: give one or several sizes")
    if isinstance(landscape, str):
        return [shape_named(landscape, size) for size in sizes]
    return [landscape(size) for size in sizes]


@dataclass
class _Task:
    """E[T] as a function of the coordinates of what is tuned."""

    named: NamedAlgorithm
    shape: Shape
    domains: list[Domain]
    start: Start | None
    at_least: RationalLike | None
    outside_h: bool
    bar: Bar
    known: dict[Setting, float] = field(default_factory=dict)
    problem: LrsaoError | None = None

    def algorithm(self, setting: Setting) -> Algorithm | Search:
        """Return the algorithm with given values."""
        found = self.named
        for key, value in self.values(setting):
            text = tuple(map(rational_text, value))
            found = found.given(key, text if key == "weights" else value[0])
        return found.on(self.shape)

    def values(self, setting: Setting) -> list[tuple[str, tuple[fmpq, ...]]]:
        """Return key -> value, the weights put together: each takes its share of what is left."""
        found: dict[str, tuple[fmpq, ...]] = {}
        left = fmpq(1)
        for domain, value in zip(self.domains, setting, strict=True):
            if domain.kind != "weight":
                found[domain.key] = (value,)
                continue
            found["weights"] = (*found.get("weights", ()), left * value)
            left *= 1 - value
        if "weights" in found:
            found["weights"] = (*found["weights"], left)
        return list(found.items())

    def setting(self, coordinates: Iterable[float]) -> Setting:
        """Return the values at coordinates."""
        return tuple(d.at(u) for d, u in zip(self.domains, coordinates, strict=True))

    def time(self, coordinates: Iterable[float]) -> float:
        """Return E[T] as a float; infinite where there is none."""
        setting = self.setting(coordinates)
        if setting not in self.known:
            try:
                self.known[setting] = float(self.total(setting, floats=True))
            except (LrsaoError, OverflowError) as error:
                self.known[setting] = inf
                self.problem = error if isinstance(error, LrsaoError) else self.problem
            self.bar.advance()
        return self.known[setting]

    def total(self, setting: Setting, *, floats: bool) -> Quantity:
        """Return E[T]: exact or enclosed unless floats are asked for."""
        algorithm = self.algorithm(setting)
        if isinstance(algorithm, Search):
            kind: Literal["float", "enclosed"] = "float" if floats else "enclosed"
            return mean_time(self.shape, algorithm, self.start, self.at_least, kind)[0]
        return runtime(
            self.shape,
            algorithm,
            field="float" if floats else "exact",
            outside_h=self.outside_h,
            start=self.start,
            at_least=self.at_least,
        ).total


def _tuned(task: _Task, *, prove: bool) -> Tuned:
    coordinates = _minimised(task)
    setting = task.setting(coordinates)
    if task.known[setting] == inf:
        raise task.problem or ParameterError(
            f"{task.named.text} on {task.shape.name}: E[T] is infinite for all {len(task.known)} "
            f"settings that were tried"
        )
    setting, total = _certified(task, setting)
    flat = len(task.known) > 1 and _flat(task.known.values())
    brackets: tuple[Bracket, ...] = ()
    if not flat:
        brackets = tuple(_bracket(task, setting, total, i) for i in range(len(task.domains)))
    algorithm = task.algorithm(setting)
    method = "" if isinstance(algorithm, Algorithm) else _method(task, algorithm)
    proved: Range | None = None
    if prove and not flat and len(task.domains) == 1 and total.upper is not None:
        proved = whole_range(
            task.named, task.domains[0], task.shape, task.start, task.at_least, total.upper
        )
    return Tuned(
        task.shape.n,
        task.shape.ell,
        tuple(task.values(setting)),
        total,
        method,
        len(task.known),
        brackets,
        proved,
        flat,
    )


def _method(task: _Task, algorithm: Search) -> str:
    return mean_time(task.shape, algorithm, task.start, task.at_least, "float")[1]


def _minimised(task: _Task) -> tuple[float, ...]:
    """Return coordinates at which E[T] is small."""
    ends = [domain.ends for domain in task.domains]
    count = _GRID.get(len(ends), 5)
    if task.named.name in ("lrsao", "earl"):  # a chain is derived anew at every point
        count = min(count, _FEW)
    lines = [[a + (b - a) * i / (count - 1) for i in range(count)] for a, b in ends]
    points = list(product(*lines))
    best = min(points, key=task.time)
    if task.time(best) == inf or _flat([task.time(point) for point in points]):
        return points[len(points) // 2]
    if len(ends) > 1:
        best = _together(task, best, ends)
    for _ in range(1 if len(ends) == 1 else 2):
        for i, (a, b) in enumerate(ends):
            step = (b - a) / (count - 1)
            best = _along(task, best, i, (max(a, best[i] - step), min(b, best[i] + step)))
    # The best of all that were tried, wherever it was met.
    setting = min(task.known, key=lambda s: task.known[s])
    if task.known[setting] < task.time(best):
        best = tuple(d.coordinate(v) for d, v in zip(task.domains, setting, strict=True))
    return best


def _flat(times: Iterable[float]) -> bool:
    """Whether all times are the same, up to the rounding of floats."""
    known = list(times)
    return max(known) - min(known) <= 1e-12 * max(known) < inf


def _together(
    task: _Task, begin: tuple[float, ...], ends: list[tuple[float, float]]
) -> tuple[float, ...]:
    """Improve several keys together, by Nelder's and Mead's method."""
    from scipy.optimize import minimize

    found = minimize(
        lambda u: task.time(map(float, u)),
        begin,
        method="Nelder-Mead",
        bounds=ends,
        options={"xatol": 1e-6, "fatol": 0.0, "maxfev": 150 * len(ends)},
    )
    after = tuple(map(float, found.x))
    return after if task.time(after) < task.time(begin) else begin


def _along(
    task: _Task, begin: tuple[float, ...], i: int, within: tuple[float, float]
) -> tuple[float, ...]:
    """Improve one key alone, by Brent's method; integers one by one at the end."""
    from scipy.optimize import minimize_scalar

    def moved(u: float) -> tuple[float, ...]:
        return (*begin[:i], float(u), *begin[i + 1 :])

    domain = task.domains[i]
    if domain.whole:
        return _whole(task, domain, moved, within, begin)
    found = minimize_scalar(
        lambda u: task.time(moved(u)), bounds=within, method="bounded", options={"xatol": 1e-9}
    )
    after = moved(found.x)
    return after if task.time(after) < task.time(begin) else begin


def _whole(
    task: _Task,
    domain: Domain,
    moved: Callable[[float], tuple[float, ...]],
    within: tuple[float, float],
    begin: tuple[float, ...],
) -> tuple[float, ...]:
    """Narrow an interval of integers by thirds, then try what is left."""
    low, high = (int(domain.at(u).p) for u in within)

    def at(k: int) -> float:
        return task.time(moved(domain.coordinate(fmpq(k))))

    while high - low > 8:
        third = (high - low) // 3
        if at(low + third) <= at(high - third):
            high -= third
        else:
            low += third
    best = min(range(low, high + 1), key=at)
    after = moved(domain.coordinate(fmpq(best)))
    return after if task.time(after) < task.time(begin) else begin


def _certified(task: _Task, setting: Setting) -> tuple[Setting, Quantity]:
    """Return what was found, with an exact or enclosed E[T].

    What is drawn to an end of its range is put there, if that is no worse.
    """
    total = task.total(setting, floats=False)
    ends = tuple(_end(d, value) for d, value in zip(task.domains, setting, strict=True))
    if ends != setting:
        other = task.total(ends, floats=False)
        if other.upper is not None and other.upper <= total.lower:
            return ends, other
    return setting, total


def _bracket(task: _Task, setting: Setting, total: Quantity, i: int) -> Bracket:
    """Look for neighbours of one value at which E[T] is certainly larger."""
    domain, value = task.domains[i], setting[i]
    if not domain.low < value < domain.high or _end(domain, value) != value:
        return Bracket(domain.key, value, value, certain=False, edge=True)
    sides: list[fmpq] = []
    for sign in (-1, 1):
        for other in _neighbours(domain, value, sign):
            at = (*setting[:i], other, *setting[i + 1 :])
            try:
                if task.total(at, floats=False) > total:
                    sides.append(other)
                    break
            except UndecidedComparisonError:
                continue
            except LrsaoError:
                break
    if len(sides) == 2:
        return Bracket(domain.key, sides[0], sides[1], certain=True, edge=False)
    return Bracket(domain.key, value, value, certain=False, edge=False)


def _end(domain: Domain, value: fmpq) -> fmpq:
    """Return the end of the range that a value is drawn to, or the value itself."""
    a, b = domain.ends
    u = domain.coordinate(value)
    if domain.whole or min(u - a, b - u) >= 1e-5 * (b - a):
        return value
    if domain.closed:
        return fmpq(int(u - a > b - u))
    return domain.low if u - a < b - u else domain.high


def _neighbours(domain: Domain, value: fmpq, sign: int) -> list[fmpq]:
    if domain.whole:
        return [value + sign]
    u = domain.coordinate(value)
    found = (domain.at(u + sign * step) for step in _STEPS)
    return [other for other in found if (other - value) * sign > 0]
