"""Exact results for the page: every valid (n, l) up to some n, and the paper's schedules beyond.

Each instance carries E[T], its phases, the variance and the coupon collector's n H_n as
fractions and as decimals of 20 digits, with the paper's hyper-parameters. Fractions that are
longer than a page can show are shortened (first and last digits, and how many there are); the
command beside them prints all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Context, Decimal
from typing import Any

from flint import fmpq

from markov_lrsao.answers.curves import SCHEDULES, ell_of
from markov_lrsao.answers.expected import runtime
from markov_lrsao.exact.quantity import Quantity
from markov_lrsao.exact.rationals import rational_text, shorten
from markov_lrsao.interrupts import spread
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import JUMP
from markov_lrsao.model.parameters import Parameters
from markov_lrsao.progress import Progress, no_progress

__all__ = ["LONGEST", "SCHEDULE_TEXTS", "deviation_text", "exact_values", "instance_values"]

LONGEST = 2600
"""Fractions with more characters than this are shortened on the page."""

SCHEDULE_TEXTS = {
    "2": "l = 2",
    "cbrt": "l = ⌊∛n⌋",
    "sqrt": "l = ⌊√n⌋",
    "half": "l = ⌊(n−5)/2⌋",
}


def deviation_text(variance: fmpq, digits: int = 20) -> str:
    """Return the square root of an exact variance, rounded to `digits` significant digits.

    >>> deviation_text(fmpq(9, 4), 5), deviation_text(fmpq(2), 10)
    ('1.5000', '1.414213562')
    """
    wide = Context(prec=digits + 20)
    root = wide.sqrt(wide.divide(Decimal(int(variance.p)), Decimal(int(variance.q))))
    rounded = Context(prec=digits).plus(root)
    return f"{rounded:.{max(0, digits - 1 - rounded.adjusted())}f}"


def _pair(quantity: Quantity) -> list[str]:
    text = rational_text(quantity.value)  # instances of the page are small enough to be exact
    return [text if len(text) <= LONGEST else shorten(text, 90), quantity.decimal]


def instance_values(n: int, ell: int) -> dict[str, Any]:
    """Return what the page shows about one instance.

    >>> instance_values(9, 2)["total"]
    ['51740216905/1185192162', '43.655551027007213704']
    """
    result = runtime(JUMP.at(n, ell), Algorithm.lrsao(Parameters.paper(n)), method="crossing")
    coupon = result.coupon_collector
    return {
        "n": n,
        "l": ell,
        "total": _pair(result.total),
        "phases": [_pair(phase) for phase in result.phases],
        "shares": [float(phase) / float(result.total) for phase in result.phases],
        "variance": _pair(result.variance),
        "deviation": deviation_text(result.variance.value),
        "coupon": _pair(coupon),
        "ratio": float(result.total / coupon),
    }


def _job(pair: tuple[int, int]) -> dict[str, Any]:
    return instance_values(*pair)


def exact_values(
    n_max: int,
    sizes: Sequence[int],
    *,
    workers: int | None = None,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Return all (n, l) with n <= n_max, and the paper's schedules of l at the given sizes."""
    grid = [(n, ell) for n in range(9, n_max + 1) for ell in _valid(n)]
    schedules = {
        s: [(n, ell_of(s, n)) for n in sizes if ell_of(s, n) in _valid(n)] for s in SCHEDULES
    }
    pairs = sorted({*grid, *(pair for row in schedules.values() for pair in row)}, reverse=True)
    found: dict[tuple[int, int], dict[str, Any]] = {}
    with progress("exact values", total=len(pairs)) as bar:
        for pair, values in zip(pairs, spread(_job, pairs, workers), strict=True):
            found[pair] = values
            bar.advance()
    return {
        "n_max": n_max,
        "grid": [found[pair] for pair in grid],
        "schedules": [
            {"name": name, "text": SCHEDULE_TEXTS[name], "instances": [found[pair] for pair in row]}
            for name, row in schedules.items()
        ],
    }


def _valid(n: int) -> Iterable[int]:
    allowed = JUMP.ell_range(n)
    return range(allowed[0], allowed[1] + 1) if allowed else range(0)
