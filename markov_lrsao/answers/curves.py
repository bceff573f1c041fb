"""E[T] over many n: the paper's four schedules of l, and the table of reference values.

Instances are independent, so they are spread over processes; results come back in order.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isqrt

from flint import fmpq

from markov_lrsao.answers.expected import runtime
from markov_lrsao.answers.results import RuntimeResult
from markov_lrsao.chains.solvers import Field
from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.rationals import decimal_text, rational_text
from markov_lrsao.interrupts import spread
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import JUMP
from markov_lrsao.model.parameters import Parameters
from markov_lrsao.progress import Progress, no_progress

__all__ = ["SCHEDULES", "CurvePoint", "curve", "ell_of", "reference_csv", "reference_instances"]

SCHEDULES = ("2", "cbrt", "sqrt", "half")
"""The paper's schedules of l: 2, cube root of n, square root of n, floor((n-5)/2)."""


def integer_root(n: int, k: int) -> int:
    """Return the largest integer whose k-th power is at most n."""
    root: int = round(n ** (1 / k))
    while root**k > n:
        root -= 1
    while (root + 1) ** k <= n:
        root += 1
    return root


def ell_of(schedule: str, n: int) -> int:
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
    if re.fullmatch("[0-9]{1,18}", schedule):
        return int(schedule)
    raise ParameterError(
        f"schedule = {schedule!r} is unknown: choose {', '.join(SCHEDULES)} or a number"
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


def _point(job: tuple[int, int, Field]) -> CurvePoint:
    n, ell, field = job
    result = runtime(
        JUMP.at(n, ell), Algorithm.lrsao(Parameters.paper(n)), field=field, method="crossing"
    )
    return CurvePoint(n, ell, result)


def curve(
    schedule: str,
    ns: Iterable[int],
    *,
    field: Field = "float",
    workers: int = 1,
    progress: Progress = no_progress,
) -> Iterator[CurvePoint]:
    """Yield E[T] with the paper's hyper-parameters at each n, in order."""
    jobs: list[tuple[int, int, Field]] = [(n, ell_of(schedule, n), field) for n in ns]
    for n, ell, _ in jobs:
        JUMP.check(n, ell)
    with progress(f"curve l = {schedule}", total=len(jobs)) as bar:
        for point in spread(_point, jobs, workers):
            yield point
            bar.advance()


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
            r = _point((n, ell, "exact")).result
            values = [r.total, *r.phases, r.variance]
            row: list[str] = [str(n), str(ell)]
            for quantity in values:
                assert isinstance(quantity.value, fmpq)
                row += [rational_text(quantity.value), decimal_text(quantity.value)]
            writer.writerow(row)
            bar.advance()
    return out.getvalue()
