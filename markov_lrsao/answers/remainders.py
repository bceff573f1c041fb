r"""What is left of runs whose table is not known: the probability that they end, and their time.

Over all ways of deciding in the process of `forward.patterns`, with h(s) the probability to end,

    h(s) = opt over ways of  sum_m p_m  opt over what may follow of  h(s'),
    E[T; T < infinity](s) = h(s) + opt sum_m p_m opt E[T; T < infinity](s'),

since the sum over k of P(k < T < infinity) is the mean of the sum of h along the run. The largest
and the smallest solutions enclose the truth for every table with these signs. If h is the same
whatever is decided, it is exact: one way is solved in fractions, and all others are seen to satisfy
its equations, which have one solution where every way of deciding comes to an end.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.chains.reaching import reach_probabilities
from markov_lrsao.chains.sources import chain_from_rows
from markov_lrsao.errors import NotAbsorbingError, SolverError
from markov_lrsao.exact.rationals import next_floats
from markov_lrsao.forward.patterns import Patterns, Way
from markov_lrsao.values.policies import FloatSystem

__all__ = ["Remainders"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
_MOST_EXACT = 20_000


@dataclass(frozen=True, eq=False)
class Remainders:
    """Bounds per state of a process of patterns that has been explored."""

    patterns: Patterns

    @cached_property
    def hopeless(self) -> list[bool]:
        """Whether no way of deciding leads to the optimum."""
        ways = self.patterns.ways
        before: list[set[int]] = [set() for _ in ways]
        for s, some in enumerate(ways):
            for t in {t for way in some for _, follow in way for t in follow}:
                before[t].add(s)
        reached, waiting = {0}, [0]
        while waiting:
            for s in before[waiting.pop()] - reached:
                reached.add(s)
                waiting.append(s)
        return [s not in reached for s in range(len(ways))]

    @cached_property
    def always_decided(self) -> bool:
        """Whether all ways of deciding lead to the optimum, or to where it is out of reach.

        If from every state some outcome leads nearer whatever is decided, the number of states
        bounds the steps of a chance that is never 0.
        """
        ways = self.patterns.ways
        sure = {s for s, lost in enumerate(self.hopeless) if lost} | {0}
        size = 0
        while size < len(sure):
            size = len(sure)
            for s in (*range(len(ways)), *reversed(range(len(ways)))):  # walks go both ways
                if s not in sure and all(
                    any(all(t in sure for t in follow) for _, follow in way) for way in ways[s]
                ):
                    sure.add(s)
        return len(sure) == len(ways)

    @cached_property
    def exact(self) -> list[fmpq] | None:
        """The probability to end, if it is the same whatever is decided."""
        ways = self.patterns.ways
        if not self.always_decided or len(ways) > _MOST_EXACT:
            return None
        rows: list[dict[int, fmpq]] = []
        for s, some in enumerate(ways):
            row: dict[int, fmpq] = {}
            for chance, follow in max(some, key=self._drift) if some else ():
                row[follow[0]] = row.get(follow[0], fmpq(0)) + chance
            rows.append(row or {s: fmpq(1)})
        chain = chain_from_rows(rows)
        found: list[fmpq] = reach_probabilities(chain, np.arange(len(rows)) == 0)
        same = all(
            all(found[t] == found[follow[0]] for _, follow in way for t in follow)
            and sum((chance * found[follow[0]] for chance, follow in way), fmpq(0)) == found[s]
            for s, some in enumerate(ways)
            for way in some
        )
        return found if same else None

    def _drift(self, way: Way) -> fmpq:
        """Return the mean of the next position: walks that go up are solved fast."""
        states = self.patterns.states
        return sum((chance * states[follow[0]][0] for chance, follow in way), fmpq(0))

    @cached_property
    def _system(self) -> _Choices:
        return _Choices.of(self)

    @cached_property
    def chances(self) -> tuple[FloatArray, FloatArray]:
        """Bounds of the probability to end, per state."""
        if self.exact is not None:
            ends = [next_floats(x) for x in self.exact]
            return np.array([a for a, _ in ends]), np.array([b for _, b in ends])
        low = np.zeros(len(self.hopeless))
        high = np.where(self.hopeless, 0.0, 1.0)
        low[0] = high[0] = 1.0
        if self.always_decided:
            bounds = self._system.bounds(*self._system.into_end.T)
            if bounds is not None:
                inside = self._system.kept >= 0
                low[inside] = np.maximum(low, bounds[0])[inside]
                high[inside] = np.minimum(high, bounds[1])[inside]
        return low, high

    @cached_property
    def times(self) -> tuple[FloatArray, FloatArray]:
        """Bounds of E[T; T < infinity], per state; infinite where none is known."""
        low, high = self.chances
        unknown = np.where(np.asarray(self.hopeless), 0.0, np.inf)
        unknown[0] = 0.0
        if not self.always_decided:
            return np.zeros(len(low)), unknown
        found = self._system.bounds(self._system.costs(low), self._system.costs(high))
        return (np.zeros(len(low)), unknown) if found is None else found


@dataclass(frozen=True, eq=False)
class _Choices:
    """The process as options: a state, and every outcome of which the end is open, chooses one.

    Attributes
    ----------
    kept : state of the patterns -> its number here; -1: the optimum, or hopeless
    into_end : option -> bounds of the probability to reach the optimum at once
    """

    system: FloatSystem
    kept: npt.NDArray[np.int64]
    into_end: FloatArray

    @classmethod
    def of(cls, of: Remainders) -> _Choices:
        """Write the process as options."""
        ways = of.patterns.ways
        kept = np.full(len(ways), -1, dtype=np.int64)
        inside = [s for s, lost in enumerate(of.hopeless) if s and not lost]
        kept[inside] = np.arange(len(inside))
        options: list[list[dict[int, fmpq]]] = [[] for _ in inside]
        open_: dict[tuple[int, ...], int] = {}
        for s in inside:
            for way in ways[s]:
                row: dict[int, fmpq] = {}
                for chance, follow in way:
                    node = follow[0] if len(follow) == 1 else None
                    if node is None:
                        if follow not in open_:
                            open_[follow] = len(ways) + len(open_)
                            options.append([{t: fmpq(1)} for t in follow])
                        node = open_[follow]
                    row[node] = row.get(node, fmpq(0)) + chance
                options[int(kept[s])].append(row)
        return cls._of(options, kept, len(inside), len(ways))

    @classmethod
    def _of(
        cls,
        options: list[list[dict[int, fmpq]]],
        kept: npt.NDArray[np.int64],
        inside: int,
        ways: int,
    ) -> _Choices:
        from scipy.sparse import csr_array

        owner: list[int] = []
        first: list[int] = []
        into_end: list[tuple[float, float]] = []
        rows: list[int] = []
        columns: list[int] = []
        low: list[float] = []
        high: list[float] = []
        for state, some in enumerate(options):
            first.append(len(owner))
            for row in some:
                into_end.append(next_floats(row.get(0, fmpq(0))))
                for t, chance in row.items():
                    to = inside + t - ways if t >= ways else int(kept[t])
                    if to >= 0:
                        least, most = next_floats(chance)
                        rows.append(len(owner))
                        columns.append(to)
                        low.append(least)
                        high.append(most)
                owner.append(state)
        shape = len(owner), len(options)
        where = np.array(rows, np.int64), np.array(columns, np.int64)
        lower, upper = (csr_array((np.array(x), where), shape=shape) for x in (low, high))
        owners, firsts = (np.array(x, dtype=np.int64) for x in (owner, first))
        system = FloatSystem(owners, firsts, lower, upper)
        return cls(system, kept, np.array(into_end).reshape(-1, 2))

    def costs(self, values: FloatArray) -> FloatArray:
        """Return option -> a value of its state; open outcomes take no time, and have none."""
        every = np.zeros(len(self.system.first))
        inside = self.kept >= 0
        every[self.kept[inside]] = values[inside]
        found: FloatArray = every[self.system.owner]
        return found

    def bounds(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """Return bounds of the mean sum of costs per state; None: the floats do not show any."""
        inside = self.kept >= 0
        found = np.zeros((2, len(self.kept)))
        if not inside.any():
            return found[0], found[1]
        try:
            least, most = self.system.bound(low, -1), self.system.bound(high, 1)
        except (SolverError, NotAbsorbingError):
            return None
        found[0, inside] = np.maximum(least[self.kept[inside]], 0.0)
        found[1, inside] = most[self.kept[inside]]
        return found[0], found[1]
