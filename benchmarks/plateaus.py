"""Simulated runtimes with three to five plateaus, for exact results to be held against.

Run ``python -m benchmarks.plateaus docs/plateaus_simulated.csv`` (minutes): 10^6 runs of LRSAO with
the paper's hyper-parameters in each of the cells below. The seed of a cell is a function of the
cell, fixed before anything was played: 1000 n + 10 k + (1 own, 2 shared, 3 all-but-last); so
``markov-lrsao simulate`` with that seed plays the same runs. All cells are written, whatever comes
out.

Every line is one quantity of one cell: T, or the time of a phase. Its mean and its variance come
with standard errors; the variance's is sqrt((m4 - m2^2) / runs) with the central moments m2, m4 of
the sample. A mean is an estimate of E[T] only as far as the sample has seen the long runs that
contribute to it: `longest_share` is the share of all steps that the longest thousandth of the
runs made. Where it is far above a thousandth, the mean and its error are carried by few runs
(`rare_runs` says so from a tenth on), and so is the variance long before that.

``python -m benchmarks.plateaus docs/plateaus_growth.csv --growth`` plays fewer runs at larger n, on
plateaus of five positions: how the time grows. Seeds are the same function of the cell.
"""

from __future__ import annotations

import argparse
import csv
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from markov_lrsao import Landscape
from markov_lrsao.storage import write_whole
from simulate.runs.runner import default_limit, simulate

BRIDGES = ("own", "shared", "all-but-last")
WIDTHS = {
    13: {3: 3, 4: 2, 5: 1},
    20: {3: 3, 4: 3, 5: 2},
    40: {3: 4, 4: 4, 5: 4},
    100: {3: 5, 4: 5, 5: 5},
}
"""n -> number of plateaus -> width of each."""
RUNS = 1_000_000
GROWTH_WIDTH = 5
GROWTH = {
    50: {3: 20_000, 4: 20_000, 5: 20_000},
    200: {3: 20_000, 4: 20_000, 5: 5000},
    400: {3: 20_000, 4: 10_000},
    800: {3: 5000, 4: 4000},
}
"""n -> number of plateaus -> runs."""
COLUMNS = (
    "n",
    "k",
    "widths",
    "bridges",
    "alpha",
    "gamma",
    "r",
    "seed",
    "runs",
    "censored",
    "quantity",
    "mean",
    "error",
    "variance",
    "variance_error",
    "skewness",
    "median",
    "largest",
    "longest_share",
    "rare_runs",
)
_RARE = 0.1


@dataclass(frozen=True)
class Cell:
    """One landscape of the campaign."""

    n: int
    plateaus: int
    bridges: str
    width: int

    @property
    def widths(self) -> tuple[int, ...]:
        """The widths of the plateaus."""
        return (self.width,) * self.plateaus

    @property
    def seed(self) -> int:
        """The seed, a function of the cell."""
        return 1000 * self.n + 10 * self.plateaus + 1 + BRIDGES.index(self.bridges)

    @property
    def landscape(self) -> Landscape:
        """The landscape."""
        return Landscape.regions(self.n, self.widths, self.bridges)

    def lines(self, runs: int) -> Iterator[dict[str, str]]:
        """Play the cell and yield a line for T and for each phase."""
        landscape = self.landscape
        samples = simulate(landscape, runs=runs, seed=self.seed, limit=default_limit(self.n))
        about = samples.describe()
        cell = {
            "n": str(self.n),
            "k": str(self.plateaus),
            "widths": "+".join(map(str, self.widths)),
            "bridges": self.bridges,
            **{key: about[key] for key in ("alpha", "gamma", "r")},
            "seed": str(self.seed),
            "runs": str(samples.runs),
            "censored": str(int(samples.censored.sum())),
        }
        for name, times in zip(
            ("T", *landscape.phases), (samples.times, *samples.phase_times.T), strict=True
        ):
            yield cell | {"quantity": name} | statistics(times)


def cells(sizes: list[int]) -> list[Cell]:
    """Return the cells of some n, in the order of the table."""
    return [
        Cell(n, k, bridges, width)
        for n in sizes
        for k, width in WIDTHS[n].items()
        for bridges in BRIDGES
    ]


def growing_cells() -> list[tuple[Cell, int]]:
    """Return the cells at larger n, each with its number of runs."""
    return [
        (Cell(n, k, bridges, GROWTH_WIDTH), runs)
        for n, counts in GROWTH.items()
        for k, runs in counts.items()
        for bridges in BRIDGES[:2]
    ]


def statistics(times: npt.NDArray[np.int64]) -> dict[str, str]:
    """Return mean and variance with their standard errors, and how much the longest runs weigh."""
    count = len(times)
    mean = float(times.mean())
    away = times - mean
    second, third, fourth = (float((away**power).mean()) for power in (2, 3, 4))
    variance = second * count / (count - 1)
    longest = float(np.sort(times)[-max(1, count // 1000) :].sum() / times.sum())
    numbers = {
        "mean": mean,
        "error": math.sqrt(variance / count),
        "variance": variance,
        "variance_error": math.sqrt(max(fourth - second**2, 0.0) / count),
        "skewness": third / second**1.5 if second else 0.0,
        "median": float(np.median(times)),
        "largest": float(times.max()),
        "longest_share": longest,
    }
    return {key: f"{value:.10g}" for key, value in numbers.items()} | {
        "rare_runs": "yes" if longest >= _RARE else "no"
    }


def text(lines: list[dict[str, str]]) -> str:
    """Return the table as CSV."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return out.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="CSV file; written anew after every cell")
    parser.add_argument("--n", type=int, nargs="*", default=list(WIDTHS), choices=list(WIDTHS))
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--growth", action="store_true", help="plateaus of five, larger n")
    options = parser.parse_args()
    lines: list[dict[str, str]] = []
    played = growing_cells() if options.growth else [(c, options.runs) for c in cells(options.n)]
    for cell, runs in played:
        lines += cell.lines(runs)
        write_whole(options.file, text(lines))
        total = next(line for line in reversed(lines) if line["quantity"] == "T")
        print(
            f"n = {cell.n}, {total['widths']}, {cell.bridges}, seed {cell.seed}: "
            f"{total['mean']} +- {total['error']}, censored {total['censored']}, "
            f"longest thousandth {total['longest_share']}",
            flush=True,
        )


if __name__ == "__main__":
    main()
