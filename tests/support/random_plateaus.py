"""Random landscapes with several plateaus and many objectives, LRSAO with random r in (H)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from oracles import Rule, h_interval
from plateaus import bridge, plateaus_of

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw

__all__ = ["RandomPlateaus"]


@dataclass(frozen=True)
class RandomPlateaus:
    """An instance drawn from its seed.

    Attributes
    ----------
    objectives : the target "T", 0 on two to four plateaus, |x| elsewhere; one to four helpers
    alpha, gamma, r : hyper-parameters that obey (H)
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
