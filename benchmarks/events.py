"""What one event of a simulation costs, for many n, both arithmetics and three to six objectives.

An event is a line of a run's trace: some rejected moves and what comes after them. All instances
are played in turn in one process, on one thread, round after round; of each the fastest round
counts, in processor time. So the ratios within a table do not depend on what else the machine does.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.report import Section, seconds
from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from simulate.runs.encoding import EncodedLaw
from simulate.runs.game import Game
from simulate.runs.runner import simulate
from simulate.runs.samples import Arithmetic
from simulate.runs.streams import stream_key

__all__ = ["arithmetics", "growth", "objectives"]

_SEED = 17
_EVENTS = 400_000  # per instance and round
_COUNTED = 50_000  # positions, of all runs together, whose events are counted


@dataclass(frozen=True)
class Instance:
    """A law in one arithmetic, under the name that the table has for it."""

    name: str
    landscape: Landscape
    arithmetic: Arithmetic = "exact"

    @property
    def law(self) -> StepLaw:
        """LRSAO with the paper's hyper-parameters."""
        return StepLaw.of(self.landscape, Algorithm.lrsao(Parameters.paper(self.landscape.n)))


def _measured(instances: Sequence[Instance], rounds: int) -> list[tuple[float, float]]:
    """Return (events per run, seconds per event) of each."""
    counts, laws = [], [instance.law for instance in instances]
    for instance, law in zip(instances, laws, strict=True):
        exact = instance.arithmetic == "exact"
        game = Game(EncodedLaw.of(law), stream_key(_SEED), True, exact, None, None)
        some = range(max(5, _COUNTED // law.n))
        counts.append(sum(int(game.play_one(run, []).facts[4]) for run in some) / len(some))
    best = [float("inf")] * len(laws)
    for _ in range(rounds + 1):  # the first one loads the kernels and the tables
        for k, (instance, law) in enumerate(zip(instances, laws, strict=True)):
            runs = max(2, round(_EVENTS / counts[k]))
            begun = time.process_time()
            simulate(law, runs=runs, seed=_SEED, threads=1, arithmetic=instance.arithmetic)
            best[k] = min(best[k], (time.process_time() - begun) / runs)
    return [(count, each / count) for count, each in zip(counts, best, strict=True)]


def _section(title: str, instances: Sequence[Instance], rounds: int, remark: str) -> Section:
    found = _measured(instances, rounds)
    return Section(
        title,
        ["instance", "events per run", "per run", "per event", "ratio to the first"],
        [
            [
                instance.name,
                f"{events:,.0f}",
                seconds(events * each),
                f"{1e9 * each:.0f} ns",
                f"{each / found[0][1]:.2f}",
            ]
            for instance, (events, each) in zip(instances, found, strict=True)
        ],
        remark,
    )


def growth(quick: bool) -> Section:
    """An event at growing n."""
    sizes = (100, 1000) if quick else (1000, 10_000, 100_000, 1_000_000)
    return _section(
        "Simulation: an event on Jump (l = 2) at growing n, one core, processor time",
        [Instance(f"n = {n:,}", Landscape.jump(n, 2)) for n in sizes],
        1 if quick else 5,
        "Positions of the slope are two bytes each (`simulate.runs.signs`); at small n more of the "
        "events are those of the plateaus, which keep their values.",
    )


def arithmetics(quick: bool) -> Section:
    """Plain float64 beside the true semantics."""
    kinds: tuple[Arithmetic, ...] = ("exact", "float64")
    return _section(
        "Simulation: exact and float64 arithmetic on Jump (l = 2)",
        [
            Instance(f"n = {n:,}, {kind}", Landscape.jump(n, 2), kind)
            for n in ((100,) if quick else (100, 1000, 10_000))
            for kind in kinds
        ],
        1 if quick else 5,
        "float64 has to keep the values of the slope: whether an entry has decayed to 0 is what "
        "it is about.",
    )


def objectives(quick: bool) -> Section:
    """Three to six objectives."""
    shapes = [("shared", 3), ("own", 3), ("own", 4), ("own", 5), ("shared", 5)]
    return _section(
        "Simulation: three to six objectives (n = 100, plateaus of five positions)",
        [
            Instance(f"{k} plateaus, {bridges} bridges: {len(shape.actions)} objectives", shape)
            for bridges, k in shapes
            for shape in [Landscape.regions(100, (5,) * k, bridges)]
        ],
        1 if quick else 5,
        "",
    )
