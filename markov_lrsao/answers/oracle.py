"""The price of learning: E[T] of an agent against selectors that need not learn.

The oracle sees the position and knows the objectives. From 0 to the optimum, with steps of one,
let s(x) be its expected time from x to x + 1; with objective a chosen at x it is
(1 + down_a s(x-1)) / up_a, which grows with s(x-1). So the best choices are found from 0 upwards,
each by an exact comparison: policy iteration ends after one round. Ties go to the first
objective. `markov_lrsao.answers.selectors` has the best selectors that see what the agent sees.

>>> from markov_lrsao.model.landscape import Landscape
>>> found = oracle(Landscape.jump(9, 2))
>>> print(found.best, f"{float(found.price):.4g}")
7129/280 1.715
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flint import fmpq

from markov_lrsao.answers.expected import runtime
from markov_lrsao.answers.profile import profile
from markov_lrsao.answers.results import RuntimeResult
from markov_lrsao.answers.selectors import BestSelectors, Selector, best_selectors
from markov_lrsao.errors import NotAbsorbingError, Refused, attempt
from markov_lrsao.exact.quantity import Exact, Quantity
from markov_lrsao.exact.rationals import fraction, to_float
from markov_lrsao.model.algorithm import Algorithm, AlgorithmFamily
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.law import DOWN, UP, StepLaw
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.tables import table

__all__ = ["OracleResult", "Regret", "oracle"]


@dataclass(frozen=True)
class Regret:
    """One position: the oracle's objective, its expected steps there and the agent's."""

    position: int
    choice: str
    best: Quantity
    agent: float | None


@dataclass(frozen=True)
class OracleResult:
    """An agent against the oracle.

    Attributes
    ----------
    agent : what `runtime` says about the algorithm
    best : the oracle's expected time
    positions : what is lost where; the agent's steps are missing where no profile is known
    selectors : the best selectors per agent state, without memory; None: too many to look at
    """

    agent: RuntimeResult
    best: Exact
    positions: tuple[Regret, ...]
    selectors: BestSelectors | None = None

    @property
    def price(self) -> Quantity:
        """E[T] of the agent divided by that of the oracle."""
        return self.agent.total / self.best.value

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "landscape": self.agent.landscape,
            "algorithm": self.agent.algorithm,
            "n": self.agent.n,
            "ell": self.agent.ell,
            "total": self.agent.total.to_dict(),
            "oracle": self.best.to_dict(),
            "price": None if self.agent.total.infinite else self.price.to_dict(),
            "selectors": None if self.selectors is None else self.selectors.to_dict(),
            "positions": [
                {"position": p.position, "choice": p.choice, "oracle": p.best.to_dict(),
                 "agent": p.agent}
                for p in self.positions
            ],
        }  # fmt: skip

    def __str__(self) -> str:
        """Return a table for people: totals, and the positions where most is lost."""
        head = f"{self.agent.algorithm} on {self.agent.landscape}, n = {self.agent.n}"
        if self.agent.ell:
            head += f", l = {self.agent.ell}"
        rows = [
            ["the agent", self.agent.total.decimal, self._over(self.best)],
            ["oracle: knows the position", self.best.decimal, "1"],
        ]
        if self.selectors is not None:
            s = self.selectors
            rows += [
                ["best objective per agent state", *self._row(s.deterministic)],
                ["weights of objectives per agent state", *self._row(s.randomised)],
            ]
        lost = sorted(
            (p for p in self.positions if p.agent is not None),
            key=lambda p: float(p.best) - (p.agent or 0.0),
        )[:10]
        body = table(["selector", "E[T]", "E[T] / oracle's"], rows)
        if self.selectors is not None:
            body += f"\n{self._bound(self.selectors.randomised)}"
        if not lost:
            return f"{head}\n\n{body}"
        where = table(
            ["position", "oracle takes", "its steps", "agent's steps"],
            [[str(p.position), p.choice, f"{float(p.best):.6g}", f"{p.agent:.6g}"] for p in lost],
        )
        return f"{head}\n\n{body}\n\nwhere most is lost:\n{where}"

    def _over(self, best: Exact) -> str:
        total = self.agent.total
        return "infinite" if total.infinite else f"{float(total / best.value):.6g}"

    def _row(self, selector: Selector) -> list[str]:
        if selector.total.infinite:
            return ["infinite", "infinite"]
        return [selector.total.decimal, f"{float(selector.total / self.best.value):.6g}"]

    def _bound(self, selector: Selector) -> str:
        if selector.least is None or selector.total.infinite:
            return "no selector per agent state reaches the optimum for sure"
        shown = [
            f"{state}: " + ", ".join(f"{name} {float(fraction(w)):.6g}" for name, w in chosen)
            for state, chosen in selector.states
            if len(chosen) > 1
        ]
        told = f"; weights {'; '.join(shown[:5])}" if shown else "; no weights but 0 and 1"
        return f"no weights give less than {to_float(selector.least):.8g}{told}"


def oracle(
    landscape: Landscape,
    algorithm: Algorithm | AlgorithmFamily | None = None,
    *,
    outside_h: bool = False,
    progress: Progress = no_progress,
) -> OracleResult:
    """Return the best selector with full information, and what the agent pays for learning.

    Raises
    ------
    NotAbsorbingError
        No choice of objectives leads to the optimum.
    """
    law = StepLaw.of(landscape, algorithm)
    choices, times, up, down = _best(law)
    steps = _steps(up, down)
    best = sum(times, fmpq(0))
    selectors = attempt(lambda: best_selectors(law, best))
    agent = runtime(
        landscape, law.algorithm, outside_h=outside_h,
        field="exact" if landscape.n <= 1000 else "float", progress=progress,
    )  # fmt: skip
    spent: list[float | None] = [None] * law.optimum
    if not agent.total.infinite and agent.kind != "enclosure":
        found = attempt(lambda: profile(landscape, law.algorithm, exact=False, outside_h=outside_h))
        if not isinstance(found, Refused):
            spent = [float(found.steps[p]) for p in range(law.optimum)]
    return OracleResult(
        agent,
        Exact(best),
        tuple(Regret(p, law.actions[a], Exact(steps[p]), spent[p]) for p, a in enumerate(choices)),
        None if isinstance(selectors, Refused) else selectors,
    )


def _best(law: StepLaw) -> tuple[list[int], list[fmpq], list[fmpq], list[fmpq]]:
    """Return the best objective of every position, the times to the next, and the moves."""
    n, before = law.n, fmpq(0)
    choices: list[int] = []
    moves: tuple[list[fmpq], list[fmpq], list[fmpq]] = ([], [], [])
    for p in range(law.optimum):
        options = []
        for a in range(len(law.actions)):
            up = fmpq(n - p, n) if law.accepted[p, a, UP] else fmpq(0)
            down = fmpq(p, n) if law.accepted[p, a, DOWN] and p > 0 else fmpq(0)
            if up:
                options.append(((1 + down * before) / up, a, up, down))
        if not options:
            raise NotAbsorbingError(f"no objective accepts a move from position {p} upwards")
        before, a, up, down = min(options)
        choices.append(a)
        for found, value in zip(moves, (before, up, down), strict=True):
            found.append(value)
    return choices, *moves


def _steps(up: list[fmpq], down: list[fmpq]) -> list[fmpq]:
    """Return the expected steps at every position: s(x) up(x) = 1 + s(x+1) down(x+1)."""
    found: list[fmpq] = []
    flow = fmpq(1)
    for u, d in zip(reversed(up), reversed(down), strict=True):
        found.append(flow / u)
        flow = 1 + found[-1] * d
    return found[::-1]
