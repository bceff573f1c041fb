"""E[T] over many n: the paper's four schedules of l, and the table of reference values.

Instances are independent, so they are spread over processes; results come back in order.

>>> found = curve([50, 100], ell="sqrt")
>>> [(point.n, point.ell, round(float(point.result.total))) for point in found]
[(50, 7, 329), (100, 10, 780)]
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import TYPE_CHECKING, SupportsIndex, overload

from markov_lrsao.answers.expected import runtime
from markov_lrsao.answers.plan import Method
from markov_lrsao.answers.results import RuntimeResult
from markov_lrsao.chains.solvers import Field
from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.digits import check_digits
from markov_lrsao.exact.frames import columns, data_frame
from markov_lrsao.exact.rationals import integer, rational_text
from markov_lrsao.interrupts import spread
from markov_lrsao.model.algorithm import Algorithm, AlgorithmFamily
from markov_lrsao.model.landscape import JUMP, LandscapeFamily
from markov_lrsao.progress import Progress, no_progress

if TYPE_CHECKING:
    from pandas import DataFrame

    from markov_lrsao.exact.quantity import Quantity

__all__ = [
    "SCHEDULES",
    "Curve",
    "CurvePoint",
    "Schedule",
    "curve",
    "ell_of",
    "reference_csv",
    "reference_instances",
]

SCHEDULES = ("2", "cbrt", "sqrt", "half")
"""The paper's schedules of l: 2, cube root of n, square root of n, floor((n-5)/2)."""
Schedule = SupportsIndex | str | Callable[[int], SupportsIndex]
"""One l for all n, one of `SCHEDULES`, or a function from n to l."""
_Job = tuple[LandscapeFamily, int, int, Algorithm | AlgorithmFamily | None, Field, int | None, bool]


def integer_root(n: int, k: int) -> int:
    """Return the largest integer whose k-th power is at most n."""
    root: int = round(n ** (1 / k))
    while root**k > n:
        root -= 1
    while (root + 1) ** k <= n:
        root += 1
    return root


def ell_of(schedule: Schedule, n: int) -> int:
    """Return l at n; roots are rounded down, and at least 2.

    >>> [ell_of(s, 1000) for s in SCHEDULES]
    [2, 10, 31, 497]
    """
    if schedule == "cbrt":
        return max(2, integer_root(n, 3))
    if schedule == "sqrt":
        return max(2, isqrt(n))
    if schedule == "half":
        return (n - 5) // 2
    if not isinstance(schedule, str):
        return integer(schedule(n) if callable(schedule) else schedule, "ell")
    if re.fullmatch("[0-9]{1,18}", schedule):
        return int(schedule)
    raise ParameterError(
        f"ell = {schedule!r} is unknown: choose {', '.join(SCHEDULES)} or a number"
    )


@dataclass(frozen=True)
class CurvePoint:
    """E[T] at one n, with the coupon collector's n H_n below it."""

    n: int
    ell: int
    result: RuntimeResult

    @property
    def coupon_collector(self) -> float:
        """The value n H_n, the mean time of a local search from 0 that never loses a one."""
        return float(self.result.coupon_collector)

    def __str__(self) -> str:
        """Return E[T] and how it compares."""
        total = float(self.result.total)
        return (
            f"n = {self.n}, l = {self.ell}: E[T] = {total:.6g}, "
            f"{total / self.coupon_collector:.4g} times n H_n"
        )


@dataclass(frozen=True)
class Curve(Sequence[CurvePoint]):
    """E[T] at several n, in the order in which they were asked for."""

    points: tuple[CurvePoint, ...]

    def __len__(self) -> int:
        return len(self.points)

    @overload
    def __getitem__(self, index: int) -> CurvePoint: ...

    @overload
    def __getitem__(self, index: slice) -> Curve: ...

    def __getitem__(self, index: int | slice) -> CurvePoint | Curve:
        return Curve(self.points[index]) if isinstance(index, slice) else self.points[index]

    def to_frame(self) -> DataFrame:
        """Return a table with one line per n: E[T], its phases, deviation and n H_n."""
        return data_frame(
            {"n": p.n, "ell": p.ell}
            | columns({"total": p.result.total, **_phases(p.result), "variance": p.result.variance})
            | {"coupon_collector": p.coupon_collector}
            for p in self.points
        )


def _phases(result: RuntimeResult) -> dict[str, Quantity]:
    return {f"phase{k}": phase for k, phase in enumerate(result.phases, start=1)}


def _point(job: _Job) -> CurvePoint:
    family, n, ell, algorithm, field, digits, outside_h = job
    method: Method = "crossing" if family.has_ell else "auto"
    result = runtime(
        family.at(n, ell),
        algorithm,
        field=field,
        method=method,
        digits=digits,
        outside_h=outside_h,
    )
    return CurvePoint(n, ell, result)


def curve(
    ns: Iterable[SupportsIndex],
    ell: Schedule = 2,
    algorithm: Algorithm | AlgorithmFamily | None = None,
    *,
    family: LandscapeFamily | Callable[[int], LandscapeFamily] = JUMP,
    field: Field | None = None,
    digits: int | None = None,
    outside_h: bool = False,
    workers: int = 1,
    scheduler: str | None = None,
    progress: Progress = no_progress,
) -> Curve:
    """Return E[T] at each n.

    Parameters
    ----------
    ns : lengths of the bit strings
    ell : one l for all n, one of `SCHEDULES` as text, or a function from n to l
    algorithm : default LRSAO with the paper's hyper-parameters at each n
    family : the landscape, with n and l left open, or a function from n to such a family; without
        a parameter l the schedule is of no account
    field : "float" (the default), or "exact" rationals, which take longer
    digits : significant digits, each certain, instead
    outside_h : compute although (H) does not hold
    workers : processes
    scheduler : address of a Dask scheduler whose workers compute the points instead

    Raises
    ------
    ParameterError
        The family has no such (n, l), or (H) does not hold.
    SchedulerError
        The scheduler cannot be reached, or has no workers.
    """
    sizes = [integer(n, "n") for n in ns]
    if digits is not None:
        check_digits(digits)
    chosen: Field = field or ("float" if digits is None else "exact")
    jobs: list[_Job] = []
    for n in sizes:
        own = family if isinstance(family, LandscapeFamily) else family(n)
        size = own.check(n, ell_of(ell, n) if own.has_ell else 0)
        jobs.append((own, *size, algorithm, chosen, digits, outside_h))
    points: list[CurvePoint] = []
    schedule = "" if callable(ell) else f" l = {ell}"
    with progress(f"curve{schedule}", total=len(jobs)) as bar:
        for point in spread(_point, jobs, workers, scheduler=scheduler):
            points.append(point)
            bar.advance()
    return Curve(tuple(points))


def reference_instances() -> list[tuple[int, int]]:
    """Return the grid of docs/reference_values.csv: all of n <= 20, and round n up to 100."""
    grid = []
    for n in [*range(9, 21), 25, 30, 40, 50, 75, 100]:
        allowed = JUMP.ell_range(n)
        assert allowed is not None
        grid += [
            (n, ell)
            for ell in range(allowed[0], allowed[1] + 1)
            if n <= 20 or ell in (2, 3, 5, 10, 20, allowed[1])
        ]
    return grid


def reference_csv(instances: Sequence[tuple[int, int]], progress: Progress = no_progress) -> str:
    """Return the table of exact E[T] and phases as CSV text."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = ("total", "phase1", "phase2", "phase3", "variance")
    writer.writerow(["n", "ell", *[f"{name}{kind}" for name in names for kind in ("", "_decimal")]])
    with progress("reference values", total=len(instances)) as bar:
        for n, ell in instances:
            r = _point((JUMP, n, ell, None, "exact", None, False)).result
            values = [r.total, *r.phases, r.variance]
            row: list[str] = [str(n), str(ell)]
            for quantity in values:
                row += [rational_text(quantity.value), quantity.decimal]
            writer.writerow(row)
            bar.advance()
    return out.getvalue()
