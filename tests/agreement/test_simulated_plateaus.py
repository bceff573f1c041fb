"""The committed campaign of three to five plateaus, against exact answers and a part of its runs.

docs/plateaus_simulated.csv has 10^6 runs a cell, docs/plateaus_growth.csv fewer at larger n;
`benchmarks/plateaus.py` says how they were made.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import pytest

from benchmarks.plateaus import COLUMNS, RUNS, Cell, cells, growing_cells, statistics
from markov_lrsao import runtime
from simulate import simulate

DOCS = Path(__file__).parents[2] / "docs"
ERRORS = 4.0


@cache
def table(
    name: str = "plateaus_simulated.csv",
) -> dict[tuple[int, int, str], dict[str, dict[str, str]]]:
    """Return cell -> quantity -> line."""
    found: dict[tuple[int, int, str], dict[str, dict[str, str]]] = {}
    with (DOCS / name).open(newline="") as stream:
        for line in csv.DictReader(stream):
            cell = int(line["n"]), int(line["k"]), line["bridges"]
            found.setdefault(cell, {})[line["quantity"]] = line
    return found


def lines_of(cell: Cell) -> dict[str, dict[str, str]]:
    return table()[cell.n, cell.plateaus, cell.bridges]


def test_all_cells_are_there_with_their_seeds() -> None:
    campaign = cells([13, 20, 40, 100])
    assert len(campaign) == 36 == len(table())
    for cell in campaign:
        lines = lines_of(cell)
        assert list(lines) == ["T", *cell.landscape.phases]
        for line in lines.values():
            assert tuple(line) == COLUMNS
            assert (line["seed"], line["runs"]) == (str(cell.seed), str(RUNS))
            assert line["censored"] == "0"
        phases = sum(float(line["mean"]) for name, line in lines.items() if name != "T")
        assert phases == pytest.approx(float(lines["T"]["mean"]), rel=1e-8)
        assert lines["T"]["rare_runs"] == "no"


def test_the_table_of_growth_has_all_cells() -> None:
    grown = table("plateaus_growth.csv")
    assert list(grown) == [(c.n, c.plateaus, c.bridges) for c, _ in growing_cells()]
    for cell, runs in growing_cells():
        line = grown[cell.n, cell.plateaus, cell.bridges]["T"]
        assert line["widths"] == "+".join("5" * cell.plateaus)
        assert (line["seed"], line["runs"]) == (str(cell.seed), str(runs))
        assert line["censored"] == "0"


EXACT = [
    Cell(13, 3, "all-but-last", 3),
    Cell(13, 5, "all-but-last", 1),
    Cell(40, 3, "all-but-last", 4),
]


@pytest.mark.slow
@pytest.mark.parametrize("cell", EXACT, ids=lambda c: f"{c.n}-{c.plateaus}")
def test_simulated_means_and_variances_are_the_exact_ones(cell: Cell) -> None:
    """Where patterns decide everything there is a fraction to hold the runs against."""
    result, lines = runtime(cell.landscape), lines_of(cell)
    assert result.kind == "exact"
    exact = {"T": result.total, **dict(zip(cell.landscape.phases, result.phases, strict=True))}
    for name, value in exact.items():
        error = float(lines[name]["error"])
        assert abs(float(lines[name]["mean"]) - float(value)) <= ERRORS * error
    away = abs(float(lines["T"]["variance"]) - float(result.variance))
    assert away <= ERRORS * float(lines["T"]["variance_error"])


@pytest.mark.slow
@pytest.mark.parametrize("bridges", ["own", "shared"])
def test_a_part_of_the_runs_is_played_again(bridges: str) -> None:
    """The first runs of a cell, whose mean has to fit into that of all of them."""
    cell = Cell(20, 4, bridges, 3)
    part = statistics(simulate(cell.landscape, runs=50_000, seed=cell.seed).times)
    whole = lines_of(cell)["T"]
    assert abs(float(part["mean"]) - float(whole["mean"])) <= ERRORS * float(part["error"])
    assert abs(float(part["variance"]) - float(whole["variance"])) <= ERRORS * float(
        part["variance_error"]
    )
