"""Random landscapes with several plateaus and many objectives, for LRSAO.

`RandomPlateaus.drawn` has bridges as the families have them and obeys (H); `RandomPlateaus.hostile`
draws what a reader would who wants the engine to fail. `RandomPlateaus.held_out` is the sample that
answers are counted on: its 300 seeds were written down before any of them was asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from oracles import Rule, h_interval, paper_parameters
from plateaus import bridge, plateaus_of

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw

__all__ = ["HELD_OUT", "HELD_OUT_AGAIN", "RandomPlateaus"]

HELD_OUT = range(300)
"""Seeds of `RandomPlateaus.held_out`: 25 for every number of plateaus and objectives."""
HELD_OUT_AGAIN = range(1000, 1060)
"""More seeds of the same design, for what was tuned on some of the first: written down, and
committed, before any of them was asked. 5 for every number of plateaus and objectives."""


@dataclass(frozen=True)
class RandomPlateaus:
    """An instance drawn from its seed.

    Attributes
    ----------
    objectives : the target "T" with two to four plateaus, and one to four helpers
    alpha, gamma, r : hyper-parameters
    """

    seed: int
    objectives: dict[str, list[int]]
    plateaus: tuple[tuple[int, int], ...]
    alpha: Fraction
    gamma: Fraction
    r: Fraction

    @property
    def n(self) -> int:
        return len(self.objectives["T"]) - 1

    @property
    def target(self) -> str:
        return "T"

    @property
    def law(self) -> StepLaw:
        """The engine's law of the instance."""
        algorithm = Algorithm.lrsao(Parameters.of(self.alpha, self.gamma, self.r))
        return StepLaw.of(Landscape.from_arrays(self.objectives, "T"), algorithm)

    @property
    def rule(self) -> Rule:
        return Rule.lrsao(self.alpha, self.gamma, self.r)

    def to_dict(self) -> dict[str, Any]:
        """Return all that is needed to ask the engine again."""
        return {
            "seed": self.seed,
            "objectives": self.objectives,
            "target": self.target,
            "alpha": str(self.alpha),
            "gamma": str(self.gamma),
            "r": str(self.r),
        }

    @classmethod
    def drawn(cls, seed: int) -> RandomPlateaus:
        """Draw sizes, helpers and hyper-parameters; nothing is drawn again to suit the engine.

        Three helpers in four are bridges, each over random plateaus; the others are OneMax, ZeroMax
        or any values. In three instances of four the bridges are given plateaus until each has one.
        """
        rng = np.random.default_rng([2026, seed])
        count = int(rng.integers(2, 5))
        n = int(rng.integers(max(4, 2 * count - 1), 9))
        cuts = np.sort(rng.choice(np.arange(1, n), 2 * count - 2, replace=False)).tolist()
        lengths = np.diff([0, *cuts, n]).tolist()
        plateaus = plateaus_of(lengths[::2], lengths[1::2])
        flat = {p for first, last in plateaus for p in range(first, last + 1)}
        helpers = int(rng.integers(1, 5))
        kinds = rng.choice(["bridge", "one", "zero", "any"], helpers, p=[0.75, 0.12, 0.06, 0.07])
        kinds[0] = "bridge"
        owners = [
            {int(i) for i in np.flatnonzero(rng.random(count) < 0.4)} or {int(rng.integers(count))}
            for _ in range(helpers)
        ]
        if rng.random() < 0.75:
            bridges = np.flatnonzero(kinds == "bridge")
            for i in range(count):
                if not any(i in owners[k] for k in bridges):
                    owners[int(rng.choice(bridges))].add(i)
        objectives = {"T": [0 if p in flat else p for p in range(n + 1)]}
        for k, kind in enumerate(kinds.tolist()):
            if kind == "bridge":
                values = bridge(n, [plateaus[i] for i in sorted(owners[k])])
            elif kind == "any":
                values = rng.integers(0, n + 1, n + 1).tolist()
            else:
                values = [p if kind == "one" else n - p for p in range(n + 1)]
            objectives[f"H{k}"] = values
        gain = max(abs(f[p + 1] - f[p]) for f in objectives.values() for p in range(n))
        while True:
            alpha = Fraction(int(rng.integers(1, 20)), 20)
            gamma = Fraction(1, int(rng.integers(2, 2 * n + 3)))
            low, high = h_interval(gain + 1, 0, alpha, gamma)
            if low < high:
                break
        r = low + (high - low) * Fraction(int(rng.integers(1, 20)), 20)
        return cls(seed, objectives, tuple(plateaus), alpha, gamma, r)

    @classmethod
    def hostile(cls, seed: int) -> RandomPlateaus:
        """Draw bridges and helpers of any small values, hyper-parameters inside and outside (H).

        In one instance of four the plateaus have levels of their own, and the slopes any values. A
        third of the instances has LRSAO's defaults, a third obeys (H) where that can be, the others
        have any rates and penalties, 0 among them. Nothing is drawn again to suit the engine.

        Where no helper leads over a plateau runs get stuck before it, mostly for sure; so from seed
        100 on every plateau has a helper that is |x| on and next to it, whatever it is elsewhere.
        """
        rng = np.random.default_rng([1509, seed])
        count = int(rng.integers(2, 5))
        n = int(rng.integers(2 * count - 1, 9))
        cuts = np.sort(rng.choice(np.arange(1, n), 2 * count - 2, replace=False)).tolist()
        lengths = np.diff([0, *cuts, n]).tolist()
        plateaus = plateaus_of(lengths[::2], lengths[1::2])
        objectives = {"T": _target(rng, n, plateaus)}
        for k in range(int(rng.integers(1, 5))):
            objectives[f"H{k}"] = _helper(rng, n, plateaus, always_a_bridge=k == 0)
        for first, last in plateaus if seed >= 100 else ():
            chosen = objectives[f"H{rng.integers(len(objectives) - 1)}"]
            near = range(max(first - 1, 0), last + 2)
            chosen[near.start : near.stop] = near
        return cls(seed, objectives, tuple(plateaus), *_rates(rng, objectives))

    @classmethod
    def held_out(cls, seed: int) -> RandomPlateaus:
        """Draw from a design: as many instances for each number of plateaus and of objectives.

        A fifth has LRSAO's defaults, two fifths obey (H) with any rational rates for which it can
        be obeyed, two fifths have any rates and penalties. In three instances of four every plateau
        has a helper that leads over it; in one of four the target has levels and slopes of any
        values. Nothing is drawn again to suit the engine.
        """
        rng = np.random.default_rng([15, 300, seed])
        count, helpers, regime = 2 + seed % 3, 1 + seed // 3 % 4, seed // 12 % 5
        n = int(rng.integers(max(4, 2 * count - 1), 9))
        cuts = np.sort(rng.choice(np.arange(1, n), 2 * count - 2, replace=False)).tolist()
        lengths = np.diff([0, *cuts, n]).tolist()
        plateaus = plateaus_of(lengths[::2], lengths[1::2])
        objectives = {"T": _target(rng, n, plateaus)}
        for k in range(helpers):
            objectives[f"H{k}"] = _helper(rng, n, plateaus, always_a_bridge=k == 0)
        if rng.random() < 0.75:
            for first, last in plateaus:
                chosen = objectives[f"H{rng.integers(helpers)}"]
                near = range(max(first - 1, 0), last + 2)
                chosen[near.start : near.stop] = near
        gain = max(abs(f[p + 1] - f[p]) for f in objectives.values() for p in range(n))
        parameters = _inside(rng, gain) if regime in (1, 2) else _any(rng)
        if regime == 0:
            parameters = paper_parameters(n)
        return cls(seed, objectives, tuple(plateaus), *parameters)


def _rate(rng: np.random.Generator) -> Fraction:
    """Return a fraction between 0 and 1 with a denominator up to 20."""
    below = int(rng.integers(2, 21))
    return Fraction(int(rng.integers(1, below)), below)


def _any(rng: np.random.Generator) -> tuple[Fraction, Fraction, Fraction]:
    """Return any alpha and gamma, and any r up to 12."""
    below = int(rng.integers(1, 7))
    return _rate(rng), _rate(rng), Fraction(int(rng.integers(12 * below + 1)), below)


def _inside(rng: np.random.Generator, gain: int) -> tuple[Fraction, Fraction, Fraction]:
    """Return hyper-parameters in (H), with the largest gain for n-l-1."""
    while True:
        alpha, gamma = _rate(rng), _rate(rng)
        low, high = h_interval(gain + 1, 0, alpha, gamma)
        if low < high:
            return alpha, gamma, low + (high - low) * _rate(rng)


def _target(rng: np.random.Generator, n: int, plateaus: list[tuple[int, int]]) -> list[int]:
    """Return a target that is constant on every plateau and largest at n only."""
    values = list(range(n + 1))
    levels = [0] * len(plateaus)
    if rng.random() < 0.25:
        values = rng.integers(0, n, n + 1).tolist()
        levels = rng.integers(0, 3, len(plateaus)).tolist()
    for (first, last), level in zip(plateaus, levels, strict=True):
        values[first : last + 1] = [level] * (last + 1 - first)
    return [*values[:n], max(n, max(values[:n]) + 1)]


def _helper(
    rng: np.random.Generator, n: int, plateaus: list[tuple[int, int]], *, always_a_bridge: bool
) -> list[int]:
    """Return a bridge over some plateaus, even or uneven, or a helper that knows of none."""
    kinds = ["bridge", "uneven", "any", "one", "zero", "constant"]
    kind = str(rng.choice(kinds, p=[0.4, 0.25, 0.17, 0.08, 0.06, 0.04]))
    if always_a_bridge and kind not in ("bridge", "uneven"):
        kind = "bridge"
    some = [one for one in plateaus if rng.random() < 0.45]
    over = bridge(n, some or [plateaus[int(rng.integers(len(plateaus)))]])
    highest = int(rng.integers(1, 6))
    match kind:
        case "bridge":
            return over
        case "uneven":
            drawn = rng.integers(0, highest + 1, n + 1).tolist()
            return [v if on else 0 for v, on in zip(drawn, over, strict=True)]
        case "any":
            return [int(v) for v in rng.integers(0, highest + 1, n + 1)]
        case "constant":
            return [highest] * (n + 1)
    return [p if kind == "one" else n - p for p in range(n + 1)]


def _rates(
    rng: np.random.Generator, objectives: dict[str, list[int]]
) -> tuple[Fraction, Fraction, Fraction]:
    """Return alpha, gamma and r: LRSAO's defaults, in (H), or any."""
    n = len(objectives["T"]) - 1
    kind = int(rng.integers(3))
    if kind == 0:
        return paper_parameters(n)
    alpha = Fraction(int(rng.integers(1, 50)), 50)
    gamma = Fraction(int(rng.integers(1, 50)), 50)
    r = Fraction(int(rng.integers(49)), 4)
    if kind == 1:
        gain = max(abs(f[p + 1] - f[p]) for f in objectives.values() for p in range(n))
        gamma = Fraction(1, int(rng.integers(2, 2 * n + 3)))
        low, high = h_interval(gain + 1, 0, alpha, gamma)
        if low < high:
            r = low + (high - low) * Fraction(int(rng.integers(1, 20)), 20)
    return alpha, gamma, r
