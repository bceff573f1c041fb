"""Beyond the paper's setting, in numbers: no (H), more plateaus, restarts, an oracle.

Every number says what it is: exact, rigorously enclosed, infinite, or simulated with its interval.
What the engine cannot answer within small limits is simulated; the page is made in minutes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from flint import fmpq

from markov_lrsao.answers.expected import runtime, seek_runtime
from markov_lrsao.answers.oracle import oracle
from markov_lrsao.answers.plan import Options
from markov_lrsao.errors import Refused
from markov_lrsao.exact.quantity import Enclosed, Infinite, Quantity
from markov_lrsao.exact.rationals import rational, to_float
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.law import StepLaw
from markov_lrsao.model.parameters import Parameters
from markov_lrsao.progress import Progress, no_progress

__all__ = ["best_cutoffs", "more_plateaus", "price_of_learning", "relaxed", "restarts"]

SEED = 1
_FEW_STATES = 3000
_EXACT_ZERO = 10
"""Largest n at which r = 0 is solved in rationals."""
_WIDE = fmpq(1, 4)
"""Relative width from which on a simulated mean is shown instead of an enclosure."""


def known(quantity: Quantity) -> dict[str, Any]:
    """Return a number as the page shows it: its kind, a value or two ends."""
    if quantity.infinite:
        return {"kind": "infinite"}
    if isinstance(quantity, Enclosed):
        upper = None if quantity.upper is None else to_float(quantity.upper)
        return {"kind": "enclosure", "low": to_float(quantity.lower), "high": upper}
    return {"kind": "exact" if quantity.exact else "float", "value": float(quantity)}


def relaxed(
    zero: Sequence[int],
    below: Sequence[int],
    above: Sequence[int],
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Return E[T] for penalties outside (H), l = 2.

    Parameters
    ----------
    zero : n at which r = 0 and the limit r -> 0 are compared with the inside of (H)
    below : n at which r is 1% below the lower bound of (H), and 5% above it
    above : n at which r is a hundred times the upper bound
    """
    with progress("outside (H)", total=len(zero) + len(below) + len(above)) as bar:
        rows: dict[str, list[dict[str, Any]]] = {"zero": [], "below": [], "above": []}
        for name, sizes, row in (
            ("zero", zero, _zero),
            ("below", below, _below),
            ("above", above, _above),
        ):
            for n in sizes:
                rows[name].append({"n": n, **row(n)})
                bar.advance()
    for before, after in zip(rows["below"], rows["below"][1:], strict=False):
        growth = math.log(after["n"] / before["n"])
        for side in ("outside", "inside"):
            if "value" in before[side] and "value" in after[side]:
                quotient = after[side]["value"] / before[side]["value"]
                after[side]["exponent"] = math.log(quotient) / growth
    return rows


def _zero(n: int) -> dict[str, Any]:
    from markov_lrsao.regimes.vanishing import expected_time, vanishing_law

    landscape, parameters = Landscape.jump(n, 2), Parameters.paper(n)
    law = vanishing_law(landscape, parameters)
    none, limit = (
        expected_time(law, limit=limit, field="exact" if n <= _EXACT_ZERO else "float")
        for limit in (False, True)
    )
    return {"none": known(none), "limit": known(limit), "inside": known(runtime(landscape).total)}


def _asked(n: int, factor: str, bound: Any) -> Any:
    """Ask the engine at a penalty in units of a bound of (H)."""
    from markov_lrsao.regimes.penalties import relative_penalty

    landscape = Landscape.jump(n, 2)
    given = relative_penalty(landscape, Parameters.paper(n), rational(factor), bound)
    options = Options(max_states=_FEW_STATES)
    return seek_runtime(landscape, Algorithm.lrsao(given), options, outside_h=True)


def _below(n: int) -> dict[str, Any]:
    found = {
        side: _asked(n, factor, "lower")
        for side, factor in (("outside", "0.99"), ("inside", "1.05"))
    }
    return {
        side: {"kind": "open"} if isinstance(answer, Refused) else known(answer.total)
        for side, answer in found.items()
    }


def _above(n: int) -> dict[str, Any]:
    found = _asked(n, "100", "upper")
    if isinstance(found, Refused) or found.trap is None:
        return {"kind": "open"}
    return {
        "kind": "infinite",
        "low": to_float(found.trap.lower),
        "high": to_float(found.trap.upper),
    }


def more_plateaus(
    instances: Sequence[tuple[int, str, str]],
    runs: int,
    progress: Progress = no_progress,
    max_states: int | None = None,
) -> dict[str, Any]:
    """Return E[T] on lines with several plateaus, paper's hyper-parameters.

    Parameters
    ----------
    instances : n, widths of the plateaus as in "5+5+5", "shared" or "own" bridges
    runs : of simulations, where the engine has no answer within `max_states`, or a wide one
    """
    rows = []
    with progress("more plateaus", total=len(instances)) as bar:
        for n, widths, bridges in instances:
            landscape = Landscape.named(f"regions:widths={widths},bridges={bridges}", n=n)
            algorithm = Algorithm.lrsao(Parameters.paper(n))
            found = seek_runtime(landscape, algorithm, Options(max_states=max_states))
            answer = (
                _estimated(landscape, algorithm, runs)
                if isinstance(found, Refused) or _is_wide(found.total)
                else known(found.total)
            )
            rows.append({"n": n, "widths": widths, "bridges": bridges, **answer})
            bar.advance()
    return {"runs": runs, "seed": SEED, "rows": rows}


def _is_wide(quantity: Quantity) -> bool:
    """Whether a simulation tells more about a number than what is certain does."""
    if quantity.infinite or not isinstance(quantity, Enclosed):
        return False
    return quantity.relative_width is None or quantity.relative_width > _WIDE


def _estimated(landscape: Landscape, algorithm: Algorithm, runs: int) -> dict[str, Any]:
    """Return a simulated mean with its 95% interval."""
    from simulate.runs.runner import simulate
    from simulate.statistics.estimates import summary

    mean = summary(simulate(StepLaw.of(landscape, algorithm), runs=runs, seed=SEED)).total
    assert mean is not None  # no limit: every run ends
    return {"kind": "simulated", "value": mean.point, "low": mean.low, "high": mean.high}


def price_of_learning(
    instances: Sequence[tuple[int, int]], progress: Progress = no_progress
) -> list[dict[str, Any]]:
    """Return E[T] beside that of a selector which knows the objectives and where it is."""
    rows = []
    with progress("price of learning", total=len(instances)) as bar:
        for n, ell in instances:
            found = oracle(Landscape.jump(n, ell))
            lost = [
                (p.agent - float(p.best), p.position)
                for p in found.positions
                if p.agent is not None
            ]
            most, where = max(lost)
            rows.append(
                {
                    "n": n,
                    "l": ell,
                    "agent": float(found.agent.total),
                    "best": float(found.best),
                    "price": float(found.price),
                    "position": where,
                    "share": most / (float(found.agent.total) - float(found.best)),
                }
            )
            bar.advance()
    return rows


def best_cutoffs(
    sizes: Sequence[int], runs: int, progress: Progress = no_progress
) -> dict[str, Any]:
    """Return the best cut-offs at l = 2: LRSAO's from the law of T, EA+RL's from runs.

    EA+RL's is chosen on one half of the runs and valued on the other.
    """
    from markov_lrsao.answers.restarts import from_runs
    from markov_lrsao.answers.restarts import restarts as best_restart
    from simulate.runs.runner import simulate

    rows = []
    with progress("cut-offs", total=len(sizes)) as bar:
        for n in sizes:
            shape = Landscape.jump(n, 2)
            known = best_restart(shape)
            limit = int(8 * n * sum(1 / k for k in range(1, n + 1)))
            played = simulate(shape, Algorithm.earl(), runs=runs, seed=SEED, limit=limit)
            times = np.where(played.censored, -1, played.steps)
            other = from_runs(shape, "EA+RL", times, limit, Infinite())
            rows.append(
                {
                    "n": n,
                    "without": float(runtime(shape, digits=15).total.decimal),
                    "cutoff": known.cutoff if known.pays else None,
                    "value": known.value,
                    "other_cutoff": other.cutoff,
                    "other": [other.value, other.value - 1.96 * other.error,
                              other.value + 1.96 * other.error],
                }
            )  # fmt: skip
            bar.advance()
    return {"rows": rows, "runs": runs, "seed": SEED}


def restarts(figures: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what restarts do for EA+RL, from the data of the figures on it."""
    rows = []
    for name in ("earl-2-log", "earl-half-log"):
        data = next((f for f in figures if f["name"] == name), None)
        if data is None:
            continue
        exact = data["series"][0]
        plain, again = (s for s in data["series"] if s["name"].startswith("EA+RL"))
        at = dict(zip(exact["x"], exact["y"], strict=True))
        for i in range(len(plain["x"])):
            n = plain["x"][i]
            rows.append(
                {
                    "schedule": data["title"].partition(", ")[2].removesuffix(" (log scale)"),
                    "n": int(n),
                    "lrsao": at[n],
                    "plain": [plain[key][i] for key in ("y", "low", "high")],
                    "restarted": [again[key][i] for key in ("y", "low", "high")],
                    "success": data["notes"]["success_rate"][i],
                    "runs": data["notes"]["runs"],
                }
            )
    return rows
