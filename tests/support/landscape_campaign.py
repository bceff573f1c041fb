"""The campaign of random landscapes: the engine's answers against full Q-tables.

Run ``python tests/support/landscape_campaign.py FILE.csv --seeds 0:300``: a line per instance with
kind, method and processor time of the answer, what the oracle says, and the instance as JSON.

Every answer is held against things that know neither patterns nor values of the engine:

- the distribution over (position, whole Q-table) in Fractions, merged by equal tables only: the
  law of the position after every step (identical fractions) where the answer is a chain, else the
  bounds of P(T <= t);
- sums of lower bounds of P(T > t) over a hundred steps, which stay below E[T]: the heaviest tables
  are kept, the others count as finished, and every step loses more than its roundings; and runs
  that are seen to reject for ever;
- E[T] and P(T = infinity) themselves, modulo a prime, from tables that are told apart by what they
  do (`behaviours`), where several depths agree on them;
- the mean of many runs with the true semantics, or the share of runs that never end.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import multiprocessing
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from against_tables import Disagreement, compare_behaviour, compare_bounds, compare_positions
from oracles import RuleOracle, Table
from random_plateaus import RandomPlateaus

from markov_lrsao import RuntimeResult, distribution, runtime
from markov_lrsao.answers.plan import Followed, Joint, Options, plan
from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.errors import LrsaoError
from markov_lrsao.exact.quantity import Enclosed
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.model.law import StepLaw
from markov_lrsao.values.whole_run import chain_with_values
from simulate.runs.runner import simulate

__all__ = [
    "NARROW",
    "Disagreement",
    "Line",
    "check",
    "checked_apart",
    "compare_laws",
    "compare_mean",
    "compare_runs",
    "decided_chain",
    "least_mean",
    "survival",
]

NARROW = Fraction(1, 1000)
TABLES, STEPS = 2000, 14
"""The exact distribution is advanced so many steps, or until it has so many tables."""
_LONGEST = 100
_LOSS = 1 - 2.0**-40
_DEVIATIONS = 5.0
_PATIENCE = 20.0
"""Seconds of processor time that a comparison has in a process of its own."""


class OutOfTimeError(Exception):
    """The limit of processor time was reached."""


@dataclass
class Line:
    """What came out for one instance."""

    seed: int
    kind: str
    method: str = ""
    states: int = 0
    seconds: float = 0.0
    mean: str = ""
    width: str = ""
    trap: str = ""
    oracle: str = ""
    notes: list[str] = field(default_factory=list)
    instance: dict[str, Any] = field(default_factory=dict)

    COLUMNS = (
        *("seed", "n", "plateaus", "objectives", "kind", "method", "states", "seconds", "mean"),
        *("width", "trap", "oracle", "notes", "instance"),
    )

    def row(self, plateaus: int) -> list[str]:
        """Return the cells of the table."""
        objectives = self.instance["objectives"]
        return [
            str(self.seed),
            str(len(objectives["T"]) - 1),
            str(plateaus),
            str(len(objectives)),
            self.kind,
            self.method,
            str(self.states),
            f"{self.seconds:.2f}",
            self.mean,
            self.width,
            self.trap,
            self.oracle,
            "; ".join(self.notes),
            json.dumps(self.instance),
        ]


# -- the oracle -----------------------------------------------------------------------------------


def survival(instance: RandomPlateaus, steps: int = STEPS, tables: int = TABLES) -> list[Fraction]:
    """Return P(T > t) exactly, t = 0, 1, .., as far as the tables can be listed."""
    oracle = RuleOracle(instance.objectives, "T", instance.rule)
    end = (oracle.optimum, oracle.zero_table())
    return [
        1 - Fraction(weights.get(end, 0), oracle.denominator**t)
        for t, weights in enumerate(
            oracle.propagate({(0, oracle.zero_table()): 1}, steps, largest=tables)
        )
    ]


def least_mean(
    instance: RandomPlateaus, steps: int = _LONGEST, heaviest: int = TABLES // 20
) -> tuple[float, float]:
    """Return a lower bound of E[T], and how much mass was followed to the end of it.

    E[T] is the sum of P(T > t). The masses are floats that are too small: tables beyond the
    heaviest count as finished, and the masses are multiplied by 1 - 2^-40 after each step, which is
    more than the roundings of a step (each mass is a sum of fewer than 2^10 products).
    """
    oracle = RuleOracle(instance.objectives, "T", instance.rule)
    now: dict[tuple[int, Table], float] = {(0, oracle.zero_table()): 1.0}
    total, lost = 0.0, 0.0
    for _ in range(steps):
        total += math.fsum(now.values()) * _LOSS
        following: dict[tuple[int, Table], float] = {}
        for (p, table), mass in now.items():
            for c in oracle.choices(p, table):
                if c.position != oracle.optimum:
                    key = (c.position, c.table)
                    share = mass * (c.weight / oracle.denominator)
                    following[key] = following.get(key, 0.0) + share
        kept = sorted(following.items(), key=lambda x: -x[1])
        lost += math.fsum(mass for _, mass in kept[heaviest:])
        now = {key: mass * _LOSS for key, mass in kept[:heaviest]}
    return total, lost + math.fsum(now.values())


# -- comparisons ----------------------------------------------------------------------------------


def decided_chain(law: StepLaw) -> MarkovChain | None:
    """Return the chain behind an exact answer."""
    match plan(law, Options()):
        case Joint(chain):
            return chain
        case Followed(levels):
            for block in levels:
                if not block.undecided:
                    return chain_with_values(block)[0]
    return None


def compare_laws(
    instance: RandomPlateaus, law: StepLaw, result: RuntimeResult, tables: int = TABLES
) -> str:
    """Compare the law of the position, or of T, with the distribution over tables."""
    chain = decided_chain(law) if result.method in ("joint", "quotient") else None
    if result.kind != "enclosure" and chain is not None:
        steps = compare_positions(instance, chain, 10 * tables)
        return f"positions equal for {steps} steps"
    if result.kind == "infinite":
        return "no chain"  # all that is known are bounds of a probability
    known = distribution(law.landscape, law.algorithm, outside_h=True)
    left = survival(instance, tables=tables)
    for t, p in enumerate(left):
        low, high = known.bounds(t)
        if not Fraction(low) <= 1 - p <= Fraction(high):
            raise Disagreement(f"P(T <= {t}) = {float(1 - p)}, not in [{low}, {high}]")
    return f"P(T <= t) within {known.error:.1e} for {len(left) - 1} steps"


def compare_mean(instance: RandomPlateaus, result: RuntimeResult, tables: int = TABLES) -> str:
    """Compare E[T] with what is certainly not more than it."""
    least, _ = least_mean(instance, heaviest=tables // 20)
    upper = result.total.upper
    if upper is not None and least > to_float(upper) * (1 + 1e-12):
        raise Disagreement(f"E[T] >= {least}, not <= {to_float(upper)}")
    share = least / to_float(upper) if upper is not None and upper > 0 else math.nan
    return f"sums reach {share:.4f}"


def compare_runs(law: StepLaw, result: RuntimeResult, seed: int, runs: int) -> str:
    """Compare with runs; what is more than five standard errors away is not by chance.

    Where few long runs carry the mean (the longest hundredth makes a third of all steps), its
    error is not known, and nothing is concluded.
    """
    limit = 20_000_000 // max(1, runs // 1000) if result.trap is None else 2000
    samples = simulate(law, runs=runs, seed=seed, limit=limit)
    done = ~np.asarray(samples.censored)
    if result.trap is not None:
        stuck, error = 1 - float(done.mean()), 0.5 / runs**0.5
        if stuck < to_float(result.trap.lower) - _DEVIATIONS * error:
            raise Disagreement(f"{stuck:.4f} of the runs stay, not {result.trap.lower}")
        return f"{stuck:.4f} of the runs stay"
    if not done.all():
        return f"{int((~done).sum())} runs censored"
    times = np.sort(np.asarray(samples.times, dtype=float))
    if times[-runs // 100 :].sum() > times.sum() / 3:
        return "few long runs carry the mean"
    mean, error = float(times.mean()), float(times.std()) / runs**0.5
    low, high = to_float(result.total.lower), result.total.upper
    away = max(low - mean, 0.0 if high is None else mean - to_float(high), 0.0)
    deviations = away / error if error else (0.0 if away < 1e-9 * mean else math.inf)
    if deviations > _DEVIATIONS:
        raise Disagreement(f"runs: {mean:.6g} +- {error:.2g}, {deviations:.1f} from {low:.10g}")
    return f"runs {mean:.6g} +- {error:.2g}, {deviations:.1f} off"


# -- one instance ---------------------------------------------------------------------------------


@contextmanager
def _at_most(seconds: float | None) -> Iterator[None]:
    """Raise `OutOfTimeError` after so much processor time of this process."""

    def end(*_: object) -> None:
        raise OutOfTimeError

    if seconds is None:
        yield
        return
    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def check(
    instance: RandomPlateaus,
    *,
    seconds: float | None = None,
    patience: float | None = None,
    runs: int = 20_000,
    tables: int = TABLES,
    compared: bool = True,
) -> Line:
    """Solve an instance and hold it against the oracle.

    Parameters
    ----------
    seconds : processor time of the answer
    patience : processor time of each comparison
    runs : simulated runs; 0 leaves them out
    tables : what the oracle may list
    compared : False leaves the oracle out
    """
    line = Line(instance.seed, "none", instance=instance.to_dict())
    law = instance.law
    begun = time.process_time()
    try:
        with _at_most(seconds):
            result = runtime(law.landscape, law.algorithm, outside_h=True)
    except LrsaoError as error:
        line.seconds = time.process_time() - begun
        line.notes.append(f"{type(error).__name__}: {error}")
        return line
    except OutOfTimeError:
        line.seconds = time.process_time() - begun
        line.notes.append("out of time")
        return line
    line.seconds = time.process_time() - begun
    _describe(line, result)
    if not compared:
        return line
    comparisons: list[Callable[[], str]] = [
        lambda: compare_laws(instance, law, result, tables),
        lambda: compare_bounds(instance, result, _LONGEST, tables // 10),
        lambda: compare_behaviour(instance, result, 150 * tables),
        lambda: compare_runs(law, result, instance.seed, runs),
    ]
    if runs == 0:
        del comparisons[3]
    line.oracle = "agrees"
    for compare in comparisons:
        try:
            with _at_most(patience):
                line.notes.append(compare())
        except Disagreement as found:
            line.oracle = "DISAGREES"
            line.notes.append(str(found))
        except LrsaoError as error:
            line.notes.append(f"law: {type(error).__name__}")
        except OutOfTimeError:
            line.notes.append("comparison out of time")
    return line


def _describe(line: Line, result: RuntimeResult) -> None:
    """Write down what the answer is."""
    line.method, line.states, total = result.method, result.states or 0, result.total
    line.kind = result.kind
    if result.trap is not None:
        line.trap = f"{to_float(result.trap.lower):.10g}..{to_float(result.trap.upper):.10g}"
    if result.kind == "exact":
        line.mean = str(total.value)
    elif isinstance(total, Enclosed):
        upper = "?" if total.upper is None else f"{to_float(total.upper):.12g}"
        line.mean = f"{to_float(total.lower):.12g}..{upper}"
        width = total.relative_width
        line.width = "inf" if width is None else f"{to_float(width):.3g}"


# -- the whole campaign ---------------------------------------------------------------------------


DRAWN: dict[str, Callable[[int], RandomPlateaus]] = {
    "drawn": RandomPlateaus.drawn,
    "hostile": RandomPlateaus.hostile,
    "held-out": RandomPlateaus.held_out,
}


def _in_child(
    out: Connection, instance: RandomPlateaus, seconds: float, runs: int, compared: bool
) -> None:
    most = int(seconds + 5 * _PATIENCE) + 30
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 5))
    line = check(instance, seconds=seconds, patience=_PATIENCE, runs=runs, compared=compared)
    out.send(line)


def checked_apart(
    instance: RandomPlateaus, seconds: float, runs: int, compared: bool = True
) -> Line:
    """Check an instance in a process of its own, which the system ends if it does not itself."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_in_child, args=(theirs, instance, seconds, runs, compared))
    child.start()
    theirs.close()
    try:
        line: Line = ours.recv()
    except EOFError:
        notes = ["the process ended"]
        line = Line(instance.seed, "none", notes=notes, instance=instance.to_dict())
    child.join()
    return line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--sample", default="hostile", choices=DRAWN)
    parser.add_argument("--seeds", default="0:300", help="first:end, or seeds with commas")
    parser.add_argument("--answers-only", action="store_true", help="leave the oracle out")
    parser.add_argument("--seconds", type=float, default=60.0, help="processor time per answer")
    parser.add_argument("--runs", type=int, default=20_000)
    options = parser.parse_args()
    first, colon, end = options.seeds.partition(":")
    seeds = range(int(first), int(end)) if colon else map(int, options.seeds.split(","))
    found: Counter[str] = Counter()
    with options.file.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(Line.COLUMNS)
        for seed in seeds:
            compared = not options.answers_only
            instance = DRAWN[options.sample](seed)
            line = checked_apart(instance, options.seconds, options.runs, compared)
            row = line.row(len(instance.plateaus))
            table.writerow(row)
            file.flush()
            print(*row[:-1], sep=" | ", flush=True)
            found[line.kind] += 1
            found[f"oracle {line.oracle or 'not asked'}"] += 1
    print(dict(found))
    sys.exit(1 if found["oracle DISAGREES"] else 0)


if __name__ == "__main__":
    main()
