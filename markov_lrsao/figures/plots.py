"""Pictures of single results, drawn with matplotlib (imported when needed).

Colours are from the Okabe-Ito palette, which colour-blind readers can tell apart.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import isinf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.storage import write_whole

if TYPE_CHECKING:
    from markov_lrsao.answers.distribution import Distribution, Quantile
    from markov_lrsao.answers.profile import Profile

__all__ = ["COLOURS", "figure", "plot_distribution", "plot_profile"]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


@contextmanager
def figure(path: Path, rows: int = 1, width: float = 7.0, height: float = 4.2) -> Iterator[Any]:
    """Yield matplotlib axes; save the figure to `path` whole when the block ends."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    canvas = Figure(figsize=(width, height * rows), layout="constrained")
    FigureCanvasAgg(canvas)
    axes = canvas.subplots(rows, 1)
    yield axes
    drawn = io.BytesIO()
    canvas.savefig(drawn, format=path.suffix.lstrip(".").lower(), dpi=160)
    write_whole(path, drawn.getvalue())


def plot_distribution(
    law: Distribution,
    quantiles: Sequence[Quantile],
    name: str,
    title: str,
    path: Path,
) -> None:
    """Draw P(T <= t) over t on a logarithmic axis, with the quantiles marked.

    Raises
    ------
    ParameterError
        No run ends, so that there is nothing to draw.
    """
    reached = to_float(law.reached[0])
    if reached <= 2 * law.error:
        raise ParameterError(f"nothing to draw: {name} is not known to be finite ever")
    ends = [law.quantile_range(q * reached).value for q in (1e-4, 1 - 1e-4)]
    low, high = (min(t, law.horizon) for t in ends)
    times = np.unique(np.geomspace(max(low * 0.9, 1), max(high * 1.1, 2), 400).astype(np.int64))
    with figure(path) as axes:
        axes.step(times, law.cdf(times), where="post", color=COLOURS[0], lw=1.8)
        axes.set_xscale("log")
        given = "" if law.never.value == 0 else f" | {name} < inf"
        axes.axvline(
            law.finite_mean,
            color=COLOURS[1],
            lw=1.2,
            ls="--",
            label=f"E[{name}{given}] = {law.finite_mean:,.6g}",
        )
        for q in quantiles:
            if isinf(q.value):
                continue
            axes.plot([q.value], [q.level], "o", color=COLOURS[2], ms=5)
            axes.annotate(
                f"{q.level:g}: {q}",
                (q.value, q.level),
                textcoords="offset points",
                xytext=(6, -9),
                fontsize=8,
            )
        axes.set_xlabel("t (function evaluations)")
        axes.set_ylabel(f"P({name} <= t)")
        axes.set_ylim(-0.02, 1.04)
        axes.set_title(title, fontsize=10)
        axes.grid(alpha=0.3, which="both", lw=0.4)
        axes.legend(loc="lower right", fontsize=8)


def plot_profile(found: Profile, path: Path) -> None:
    """Draw expected steps and expected visits per position."""

    def floats(values: Sequence[Any]) -> Any:
        return np.array([to_float(v) for v in values]) if found.exact else np.asarray(values)

    landscape = found.landscape
    positions = np.arange(landscape.n + 1)
    with figure(path, rows=2, height=2.8) as axes:
        for axis, values, text in (
            (axes[0], floats(found.steps), "expected steps"),
            (axes[1], floats(found.visits), "expected visits"),
        ):
            axis.plot(
                positions[:-1],
                values[:-1],
                color=COLOURS[0],
                lw=1.4,
                marker="o" if landscape.n <= 60 else None,
                ms=3,
            )
            for milestone in landscape.milestones[:-1]:
                axis.axvline(milestone, color=COLOURS[1], lw=0.8, ls="--")
            axis.set_ylabel(text)
            axis.set_yscale("log" if text == "expected steps" else "linear")
            axis.grid(alpha=0.3, which="both", lw=0.4)
        axes[1].set_xlabel("position (number of ones); dashed: phase boundaries")
        axes[0].set_title(
            f"where the time goes: {landscape.name}, n = {landscape.n}, l = {landscape.ell}",
            fontsize=10,
        )
