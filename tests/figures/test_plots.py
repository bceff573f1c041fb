"""Plots draw onto the Axes they are given, return them, and touch nothing else."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from markov_lrsao import Landscape, curve, distribution, plots, profile, regime_map, runtime
from markov_lrsao import simulate as play
from markov_lrsao.errors import ParameterError
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.regimes.grid import MapPlan

NINE = Landscape.jump(9, 2)


@cache
def law() -> Any:
    return distribution(NINE)


@cache
def samples() -> Any:
    return play(NINE, runs=400, seed=1)


DRAWN: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "curve": (lambda ax: plots.curve(curve([9, 13], 2), ax=ax), "n", "expected steps"),
    "distribution": (
        lambda ax: plots.distribution(law(), quantiles=[0.5], ax=ax),
        "t (function evaluations)",
        "P(T <= t)",
    ),
    "steps": (
        lambda ax: plots.profile(profile(NINE), ax=ax),
        "position (number of ones)",
        "expected steps",
    ),
    "visits": (
        lambda ax: plots.profile(profile(NINE), visits=True, ax=ax),
        "position (number of ones)",
        "expected visits",
    ),
    "phases": (lambda ax: plots.phases(runtime(NINE), ax=ax), "", "expected steps"),
    "ecdf": (
        lambda ax: plots.ecdf(samples(), law(), ax=ax),
        "t (function evaluations)",
        "P(T <= t), share of runs",
    ),
    "histogram": (
        lambda ax: plots.histogram(samples(), law(), ax=ax),
        "t (function evaluations)",
        "P(T = t), averaged over a bin",
    ),
    "map": (
        lambda ax: plots.regime_map(
            regime_map(MapPlan.of(9, 2, "0.7:0.8@2", r_relative="0.4:0.6@2"), workers=1), ax=ax
        ),
        "alpha",
        "place of r in (H): (r - lower)/(upper - lower)",
    ),
}


def axes() -> Any:
    canvas = Figure()
    FigureCanvasAgg(canvas)
    return canvas.subplots()


def labelled(drawn: Any) -> dict[str, Any]:
    return {line.get_label(): line for line in drawn.get_lines()}


@pytest.mark.parametrize(
    "name",
    [name if name != "map" else pytest.param(name, marks=pytest.mark.slow) for name in DRAWN],
)
def test_axes_in_axes_out(name: str) -> None:
    draw, x, y = DRAWN[name]
    ax = axes()
    assert draw(ax) is ax
    assert (ax.get_xlabel(), ax.get_ylabel()) == (x, y)
    ax.figure.canvas.draw()  # nothing is left that cannot be drawn


def test_given_axes_leave_pyplot_alone() -> None:
    code = (
        "import sys\n"
        "from matplotlib import rcParams\n"
        "from matplotlib.figure import Figure\n"
        "from markov_lrsao import Landscape, distribution, plots, runtime\n"
        "before = rcParams.copy()\n"
        "one, two = Figure().subplots(2, 1)\n"
        "plots.distribution(distribution(Landscape.jump(9, 2)), ax=one)\n"
        "plots.phases(runtime(Landscape.jump(9, 2)), ax=two)\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
        "assert rcParams.copy() == before\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], timeout=300, check=True)


def test_without_axes_a_figure_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    from matplotlib import pyplot

    pyplot.switch_backend("agg")
    drawn = plots.phases(runtime(NINE))
    assert drawn.figure in map(pyplot.figure, pyplot.get_fignums())
    pyplot.close(drawn.figure)


def test_lines_are_the_numbers() -> None:
    found = curve([9, 13], 2)
    lines = labelled(plots.curve(found, ax=axes()))
    assert lines["E[T]"].get_ydata().tolist() == [float(p.result.total) for p in found]
    assert lines["E[T3]"].get_ydata().tolist() == [float(p.result.phases[2]) for p in found]
    assert lines["coupon collector"].get_xdata().tolist() == [9, 13]
    drawn: Any = plots.profile(profile(NINE), ax=axes())
    (steps, *ends) = drawn.get_lines()
    assert steps.get_ydata().sum() == pytest.approx(float(runtime(NINE).total))
    assert [line.get_xdata()[0] for line in ends] == [3, 7]


def test_bars_add_up() -> None:
    results = [runtime(Landscape.jump(n, 2)) for n in (9, 10)]
    drawn: Any = plots.phases(results, labels=["a", "b"], ax=axes())
    assert len(drawn.patches) == 6
    tops = [max(bar.get_y() + bar.get_height() for bar in drawn.patches[k::2]) for k in (0, 1)]
    assert tops == pytest.approx([float(result.total) for result in results])
    assert [label.get_text() for label in drawn.get_xticklabels()] == ["a", "b"]


def test_histograms_have_the_mass_of_the_runs_and_of_the_law() -> None:
    histogram: Any = plots.histogram(samples(), law(), ax=axes())
    drawn, bars = (patch.get_data() for patch in histogram.patches)
    widths = np.diff(drawn.edges)
    assert (drawn.values * widths).sum() == pytest.approx(1)
    first, last = int(samples().times.min()), int(samples().times.max())
    assert (bars.values * widths).sum() == pytest.approx(law().cdf(last) - law().cdf(first - 1))


def test_the_band_holds_the_law() -> None:
    ended = labelled(plots.ecdf(samples(), law(), ax=axes()))["400 runs"]
    times, share = ended.get_xdata(), ended.get_ydata()
    half = np.sqrt(np.log(2 / 0.05) / 800)  # Massart's constant
    assert np.max(np.abs(share - law().cdf(times))) <= half
    assert share[-1] == 1


def test_what_cannot_be_drawn() -> None:
    trap = Landscape.from_arrays({"F": [0, 1, 0, 0, 2], "H": [0, 1, 2, 3, 4]}, target="F")
    stuck = runtime(trap, Algorithm.rls())
    for results in ([], [stuck]):
        with pytest.raises(ParameterError, match="bars need results, each with a finite"):
            plots.phases(results, ax=axes())
    with pytest.raises(ParameterError, match="no run is known to end"):
        plots.distribution(distribution(trap, Algorithm.rls()), ax=axes())
    censored = play(NINE, runs=3, seed=1, limit=1)
    for draw in (plots.ecdf, plots.histogram):
        with pytest.raises(ParameterError, match="no run ended"):
            draw(censored, ax=axes())


def test_saved_pictures_are_whole_or_absent(tmp_path: Path) -> None:
    with plots.saved(tmp_path / "law.png") as ax:
        plots.distribution(law(), ax=ax)
    assert (tmp_path / "law.png").read_bytes().startswith(b"\x89PNG")
    absent = tmp_path / "no" / "x.png"
    with pytest.raises(ParameterError, match="cannot write"), plots.saved(absent) as ax:
        plots.distribution(law(), ax=ax)
    assert [p.name for p in tmp_path.iterdir()] == ["law.png"]
