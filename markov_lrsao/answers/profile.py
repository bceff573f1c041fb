r"""Where the time goes: expected steps and visits per position, and the law of visits, any n.

Every position p < optimum is crossed upwards once more than downwards. With U_p the number
of moves p -> p+1 and V_p that of moves p+1 -> p, a position is visited U_{p-1} + V_p times.
At a site s before the cut, V_{s-1} = D_s and U_s = 1 + D_{s+1}, so it is visited
1 + D_s + D_{s+1} times: at most five times where D <= 2 (Lemma 10). Blocks are solved for
their expected numbers of steps per state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from flint import arb, fmpq

from markov_lrsao.answers.expected import check_hypothesis, check_size
from markov_lrsao.answers.plan import (
    Bounded,
    Composed,
    Counted,
    Followed,
    Options,
    Trapped,
    after_cut,
    composed,
    counted,
    is_small,
    quotient,
    slopes_follow,
    when_stuck,
)
from markov_lrsao.crossing.blocks import Block, Corridor, Exit
from markov_lrsao.crossing.decomposition import Decomposition
from markov_lrsao.crossing.exits import NEVER_BACK
from markov_lrsao.crossing.generating import Evaluation, site_matrices
from markov_lrsao.crossing.shared import Core
from markov_lrsao.errors import (
    CrossingError,
    NotAbsorbingError,
    ParameterError,
    Refused,
    UndecidedComparisonError,
)
from markov_lrsao.exact.digits import Digits, check_digits, refined, with_digits
from markov_lrsao.exact.frames import data_frame
from markov_lrsao.exact.linear import solve_rows
from markov_lrsao.exact.quantity import Exact, Quantity
from markov_lrsao.exact.rationals import next_floats, rational_text, to_float
from markov_lrsao.model.algorithm import Algorithm, AlgorithmFamily, algorithm_at
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.law import UP, StepLaw
from markov_lrsao.model.statements import implements
from markov_lrsao.tables import html_table, table

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Counter", "Profile", "flow_of", "profile"]

EXACT_PROFILE_LIMIT = 300
"""Largest n for which a profile is exact by default: its fractions have O(n) digits each."""

Number = Any
_HEADER = ["position", "steps", "visits"]
_MOST_SHOWN, _FEW_SHOWN = 61, 20


@dataclass(frozen=True, eq=False)
class Profile:
    """Expected steps and visits per position 0..n, and the law of visits of the sites.

    Attributes
    ----------
    steps : expected number of steps begun at each position; they add up to E[T]
    visits : expected number of arrivals at each position
    visit_laws : site -> [P(V = 0), P(V = 1), ..]; sites are those that crossing counts handle
        one by one, up to the region below the cut, and V counts visits before the cut is hit
    exact : whether the numbers are rationals
    digits : where it is given, the numbers are `Digits`, so many of them asked for
    decided : whether all comparisons are; otherwise steps and visits are `Quantity`, some of them
        enclosed (`answers.profile_bounds`)
    """

    landscape: Landscape
    steps: Sequence[Number]
    visits: Sequence[Number]
    visit_laws: Mapping[int, Sequence[Number]]
    exact: bool
    digits: int | None = None
    decided: bool = True

    @property
    def certified(self) -> bool:
        """Whether every digit that was asked for is certain."""
        numbers = [*self.steps, *self.visits, *(w for law in self.visit_laws.values() for w in law)]
        return self.digits is not None and all(x.certified for x in numbers)

    def floats(self, values: Sequence[Number]) -> npt.NDArray[np.float64]:
        """Return numbers of this profile as floats."""
        if self.exact:
            return np.array([to_float(v) for v in values], np.float64)
        return np.array([float(v) for v in values], np.float64)

    def to_frame(self) -> DataFrame:
        """Return a table with one line per position."""
        cells: dict[str, object] = {"position": np.arange(self.landscape.n + 1)}
        for name, values in (("steps", self.steps), ("visits", self.visits)):
            cells[name] = self.floats(values)
            cells[f"{name}_exact"] = [rational_text(v) if self.exact else None for v in values]
            if not self.decided:
                cells[f"{name}_lower"] = [next_floats(v.lower)[0] for v in values]
                cells[f"{name}_upper"] = [next_floats(v.upper)[1] for v in values]
        return data_frame(cells)

    def __str__(self) -> str:
        """Return steps and visits per position; at large n of those that take most steps."""
        return f"{self._head()}\n\n{table(_HEADER, self._rows(), right=[0, 1, 2])}"

    def _repr_html_(self) -> str:
        """Return the same as HTML, for notebooks."""
        return f"<p>{escape(self._head())}</p>{html_table(_HEADER, self._rows())}"

    def _head(self) -> str:
        shape = self.landscape
        size = f"n = {shape.n}" + (f", l = {shape.ell}" if shape.ell else "")
        return f"where a run spends its time on {shape.name}, {size}"

    def _rows(self) -> list[list[str]]:
        steps, visits = ([float(x) for x in numbers] for numbers in (self.steps, self.visits))
        shown: Sequence[int] = range(len(steps))
        if len(steps) > _MOST_SHOWN:
            longest = sorted(shown, key=lambda p: -steps[p])
            shown = sorted(longest[:_FEW_SHOWN])
        return [[f"{p:,}", f"{steps[p]:.6g}", f"{visits[p]:.6g}"] for p in shown]


@implements("Lemma 10")
def profile(
    landscape: Landscape,
    algorithm: Algorithm | AlgorithmFamily | None = None,
    *,
    exact: bool | None = None,
    digits: int | None = None,
    outside_h: bool = False,
) -> Profile:
    """Return where a run spends its time.

    Parameters
    ----------
    algorithm : default LRSAO with the paper's hyper-parameters at the landscape's n
    exact : rationals or floats; default rationals up to n = 300
    digits : significant digits instead, each certain where `certified` says so

    Where comparisons stay open, numbers are enclosed, whatever is asked for; see `Profile.decided`.
    """
    check_size(landscape)
    if digits is not None:
        check_digits(digits)
        if exact:
            raise ParameterError(f"digits = {digits} excludes exact rationals: give one of them")
    algorithm = algorithm_at(algorithm, landscape.n)
    check_hypothesis(landscape, algorithm, outside_h=outside_h)
    law = StepLaw.of(landscape, algorithm)
    if slopes_follow(law):
        match composed(law):
            case Composed(Core() as core):
                return _of_segments(core, exact, digits)
    match counted(law):
        case Refused(CrossingError(advised=False) as reason):
            raise CrossingError(f"{reason}; estimate with `simulate()`", advised=True)
        case Refused(UndecidedComparisonError()):
            match after_cut(law, patient=True):
                case Refused(CrossingError(advised=False) as reason) if not is_small(law):
                    raise CrossingError(f"{reason}; estimate with `simulate()`", advised=True)
                case Refused(reason) if not is_small(law):
                    raise reason
                case Refused():
                    return _followed(law, when_stuck(law, Options()), exact, digits)
                case Bounded(d):
                    return _enclosed(law, d, exact, digits)
                case Counted(d):
                    pass
        case Refused(reason):
            raise reason
        case Counted(d):
            pass
    exact = landscape.n <= EXACT_PROFILE_LIMIT if exact is None else exact
    if d.top_region is None:
        raise ParameterError(
            f"{landscape.name} has no sites that crossing counts handle one by one; "
            f"`runtime()` gives E[T] and its phases"
        )
    if digits is not None:
        return _certified_profile(landscape, d, digits)
    counter, laws = _counted(d, Evaluation(exact=exact, order=1))
    return Profile(landscape, counter.steps, counter.visits(), laws, exact)


def _counted(d: Decomposition, evaluation: Evaluation) -> tuple[Counter, dict[int, list[Any]]]:
    counter = Counter(d.law.n, evaluation)
    laws = _sites(d, counter)
    _ends(d, counter)
    return counter, laws


def _certified_profile(landscape: Landscape, d: Decomposition, digits: int) -> Profile:
    """Count in balls, at higher and higher precision until all digits are certain."""
    sites: list[int] = []

    def evaluate() -> list[list[arb]]:
        counter, laws = _counted(d, Evaluation(exact=False, balls=True, order=1))
        sites[:] = laws
        return [counter.steps, counter.visits(), *laws.values()]

    steps, visits, *laws = refined(evaluate, digits, 2 * landscape.n.bit_length())
    return Profile(landscape, steps, visits, dict(zip(sites, laws, strict=True)), False, digits)


def _enclosed(law: StepLaw, d: Decomposition, exact: bool | None, digits: int | None) -> Profile:
    """Bound what follows the cut, unless the quotient of all tables decides it."""
    if is_small(law):
        match quotient(law, Options()):
            case Followed() as found:
                return _followed(law, found, exact, digits)
    from markov_lrsao.answers.profile_bounds import after_cut_enclosed

    counter = Counter(law.n, Evaluation(exact=True, order=1))
    laws = _sites(d, counter)
    steps, visits = after_cut_enclosed(d, counter)
    return _of_quantities(law.landscape, steps, visits, laws, exact, digits)


def _followed(
    law: StepLaw, found: Followed | Trapped | Refused, exact: bool | None, digits: int | None
) -> Profile:
    """Return the profile of a run whose values are followed from the start."""
    from markov_lrsao.answers.profile_bounds import whole_runs

    match found:
        case Refused(reason):
            raise reason
        case Trapped(trap):
            raise NotAbsorbingError(
                f"runs get stuck, e.g. in {trap.state}: E[T] is infinite, and so are the steps of "
                f"some positions"
            )
        case Followed(levels):
            steps, visits = whole_runs(levels)
    return _of_quantities(law.landscape, steps, visits, {}, exact, digits)


def _of_quantities(
    landscape: Landscape,
    steps: Sequence[Quantity],
    visits: Sequence[Quantity],
    laws: Mapping[int, Sequence[fmpq]],
    exact: bool | None,
    digits: int | None,
) -> Profile:
    """Return numbers that are exact or enclosed in the form that was asked for."""

    def told(tell: Callable[[Quantity], Number], *, exact: bool, decided: bool) -> Profile:
        return Profile(
            landscape,
            [tell(x) for x in steps],
            [tell(x) for x in visits],
            {p: [tell(Exact(w)) for w in law] for p, law in laws.items()},
            exact,
            digits,
            decided,
        )

    decided = all(x.exact for x in (*steps, *visits))
    if digits is not None:
        wanted = digits
        return told(lambda x: with_digits(x, wanted), exact=False, decided=decided)
    if not decided:
        return told(lambda x: x, exact=False, decided=False)
    if exact or (exact is None and landscape.n <= EXACT_PROFILE_LIMIT):
        return told(lambda x: x.value, exact=True, decided=True)
    return told(float, exact=False, decided=True)


def _of_segments(core: Core, exact: bool | None, digits: int | None) -> Profile:
    """Return the profile of slopes between shared rows; it is computed in rationals."""
    from markov_lrsao.answers.segment_profile import count_segments

    landscape = core.law.landscape
    counter = Counter(landscape.n, Evaluation(exact=True, order=1))
    count_segments(core, counter)
    steps, visits = counter.steps, counter.visits()
    if digits is not None:
        steps, visits = ([Digits(x, x, digits, x) for x in values] for values in (steps, visits))
        return Profile(landscape, steps, visits, {}, False, digits)
    exact = landscape.n <= EXACT_PROFILE_LIMIT if exact is None else exact
    if not exact:
        steps, visits = (np.array([to_float(x) for x in values]) for values in (steps, visits))
    return Profile(landscape, steps, visits, {}, exact)


class Counter:
    """Adds up expected steps and crossings per position."""

    def __init__(self, n: int, evaluation: Evaluation) -> None:
        self.n, self.evaluation = n, evaluation
        self.listed = evaluation.exact or evaluation.balls
        zero = evaluation.one[1]
        self.steps: Any = [zero] * (n + 1) if self.listed else np.zeros(n + 1)
        self.up: Any = [zero] * (n + 1) if self.listed else np.zeros(n + 1)
        self.down: Any = [zero] * (n + 1) if self.listed else np.zeros(n + 1)

    def number(self, value: Any) -> Any:
        """Turn an exact number into the chosen field."""
        if self.evaluation.exact or not isinstance(value, fmpq):
            return value
        return arb(value) if self.evaluation.balls else to_float(value)

    def visits(self) -> Any:
        """Return arrivals per position: from below and from above."""
        zero = self.evaluation.one[1]
        below = [zero, *self.up[:-1]] if self.listed else np.append(zero, self.up[:-1])
        if self.listed:
            return [a + b for a, b in zip(below, self.down, strict=True)]
        return below + self.down

    def block(self, block: Block, flow: Sequence[Any]) -> None:
        """Count the steps of a block, given the expected number of steps begun per state."""
        for i, (edges, amount) in enumerate(zip(block.edges, flow, strict=True)):
            if amount == 0:
                continue
            p = block.states[i].position
            for target, weight in edges:
                if isinstance(weight, Corridor):
                    self.corridor(weight, amount)
                    continue
                part = amount * self.number(block.probability(i, weight))
                self.step(p, self._target(block, target), part)

    def step(self, p: int, to: int, part: Any) -> None:
        """Count steps from a position to itself or to a neighbour."""
        self.steps[p] += part
        if to == p + 1:
            self.up[p] += part
        elif to == p - 1:
            self.down[p - 1] += part

    @staticmethod
    def _target(block: Block, target: int | Exit) -> int:
        if isinstance(target, int):
            return block.states[target].position
        if target.direction == UP:
            return min(block.stretch.last + 1, block.law.optimum)
        return block.stretch.first - 1

    def corridor(self, corridor: Corridor, amount: Any) -> None:
        """Count the steps of walking up a corridor."""
        if self.listed:
            for q in range(corridor.first, corridor.last + 1):
                self.steps[q] += amount * fmpq(self.n, self.n - q)
                self.up[q] += amount
            return
        positions = np.arange(corridor.first, corridor.last + 1)
        self.steps[positions] += amount * self.n / (self.n - positions)
        self.up[positions] += amount


def flow_of(block: Block, source: Mapping[int, Any], back: bool) -> list[fmpq]:
    """Return the expected number of steps (or corridors) begun in each state, exactly.

    `back` sends downward exits back into the block at once.
    """
    size = len(block.states)
    rows: list[list[tuple[int, fmpq]]] = [[] for _ in range(size)]
    for i, edges in enumerate(block.edges):
        for target, weight in edges:
            if isinstance(target, Exit):
                if not back or target.direction == UP:
                    continue
                to = block.comes_back(target)
                assert to is not None, "a downward exit from which nothing comes back"
            else:
                to = target
            rows[i].append((to, block.probability(i, weight)))
    try:
        return solve_rows(rows, [source.get(i, fmpq(0)) for i in range(size)])
    except ZeroDivisionError:
        raise NotAbsorbingError(
            "the walk can enter a set of states that it never leaves: E[T] is infinite, and so "
            "are the steps of some positions; `runtime()` shows the trap"
        ) from None


def _exits(block: Block, flow: Sequence[Any]) -> dict[Exit, Any]:
    """Return the probability of each upward exit, given the flow."""
    result: dict[Exit, Any] = {}
    for i, (edges, amount) in enumerate(zip(block.edges, flow, strict=True)):
        for target, weight in edges:
            if isinstance(target, Exit) and target.direction == UP and amount != 0:
                part = amount * block.probability(i, weight)
                result[target] = result.get(target, fmpq(0)) + part
    return result


def _sites(d: Decomposition, counter: Counter) -> dict[int, list[Any]]:
    """Count the sites from the top down, and the bottom block; return the laws of visits."""
    evaluation = counter.evaluation
    top = d.top_region
    assert top is not None
    from markov_lrsao.crossing.generating import top_vector

    law: list[Any] = [counter.number(fmpq(0))] * (d.top_counts + 1)
    for (_, count), element in top_vector(evaluation, d, True).items():
        law[count] = law[count] + element[0]
    # Downward moves from the top region, and the matching returns, are part of its block.
    counter.block(
        top, [counter.number(x) for x in flow_of(top, {top.start[0]: fmpq(1)}, back=True)]
    )
    laws: dict[int, list[Any]] = {
        top.stretch.first: [0 * law[0], *law],  # 1 + D visits before the cut
    }
    for site in d.sites:
        matrices = site_matrices(evaluation, d, site, True)
        for offset, s in enumerate(range(site.high, site.low - 1, -1)):
            following = [0 * law[0]] * (site.outgoing + 1)
            visits = [0 * law[0]] * (site.incoming + site.outgoing + 2)
            for (i, j), element in matrices.items():
                weight = law[i] * element[0][offset]
                following[j] = following[j] + weight
                visits[1 + i + j] = visits[1 + i + j] + weight
                counter.steps[s] += law[i] * element[1][offset]
            counter.up[s] += 1 + sum((i * w for i, w in enumerate(law)), 0 * law[0])
            counter.down[s - 1] += sum((j * w for j, w in enumerate(following)), 0 * law[0])
            laws[s] = _trimmed(visits)
            total = sum(following[1:], following[0])
            law = following if counter.listed else [w / total for w in following]
    _bottom(d, counter, law)
    return dict(sorted(laws.items()))


def _trimmed(law: list[Any]) -> list[Any]:
    while len(law) > 1 and law[-1] == 0:
        law = law[:-1]
    return law


def _bottom(d: Decomposition, counter: Counter, law: Sequence[Any]) -> None:
    """Count the bottom block: its j-th return from above happens if D >= j."""
    block = d.bottom
    source: dict[int, fmpq] = {block.start[0]: fmpq(1)}
    for j in range(len(law)):
        flow = flow_of(block, source, back=False)
        reached = sum(law[j:][1:], law[j:][0])
        counter.block(block, [counter.number(x) * reached for x in flow])
        source = {}
        if j + 1 == len(law):
            break
        for exit_, probability in _exits(block, flow).items():
            i = block.comes_back(exit_)
            if i is None:
                raise NotAbsorbingError(NEVER_BACK)
            source[i] = source.get(i, fmpq(0)) + probability


def _ends(d: Decomposition, counter: Counter) -> None:
    """Count the tail, from the law of its start."""
    if d.tail is None:
        return
    from markov_lrsao.crossing.generating import GeneratingFunction

    function = GeneratingFunction(d, replace(counter.evaluation, order=0))
    starts: dict[int, list[tuple[Exit, int]]] = {}
    for key, i in d.tail_start.items():
        starts.setdefault(i, []).append(key)
    for i, pairs in starts.items():
        weight = function.probability_of_ends(set(pairs))
        flow = flow_of(d.tail, {i: fmpq(1)}, back=False)
        counter.block(d.tail, [counter.number(x) * weight for x in flow])
