r"""The long middle of a slope, by its histories: positive weights, any numbers, linear time.

A *history* is the word of a segment's entries and exits so far. All that the rest of the line can
know of the segment's memory is its law given the history, with the generating function of the
steps so far. Adding the region Y above a segment X, that law is a distribution over pairs (history
of X, memory of Y), and what happens next follows from it: the walk bounces between X and Y until it
leaves, so the exits of a pair are a small linear system, solved once per pair.

Where rows settle, histories close: in the middle of Jump's slope there are eleven of them at every
length. A history is the same as the one before where every pair answers by itself alone and all
with the same weight, one entry of Y's crossings: then the law does not change, whatever the
numbers, and the weight g(z) is that of the answer. Every other answer is a new history; its weight
is a number, and the steps are kept with the law, to be counted when the run ends (`totals`). That
number is the answer's probability, or in floats any number close to it, taken as exact: the law is
divided by it, so nothing is lost, and bounds of errors grow linearly with the length. The same
structure serves rationals, floats with bounds and complex points, and nothing is subtracted.
(`markov_lrsao.crossing.composition` minimises linearly instead: that closes always, but weights
lose their signs and fractions grow.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import fmpq

from markov_lrsao.crossing.segments import Crossings, Region
from markov_lrsao.errors import CrossingError
from markov_lrsao.exact.balls import Positive
from markov_lrsao.exact.evaluation import Evaluation
from markov_lrsao.exact.graphs import components_of
from markov_lrsao.exact.linear import solve_rows
from markov_lrsao.exact.series import Element, accumulate, add, multiply, scale, solve, vanishes
from markov_lrsao.model.law import DOWN, UP

__all__ = [
    "LEAST_WEIGHT",
    "Histories",
    "Response",
    "entries_of",
    "histories_of",
    "losing",
    "structure_of",
]

LEAST_WEIGHT = 1e-90
"""In floats smaller weights are taken as this one: falling through a long slope is less likely than
any float. That adds less than 1e-90 to a probability, so a mean changes by less than 1e-90 times
the expected number of steps times the largest mean of any state; `generating_function` allows for
it."""
_MOST_HISTORIES = 60
"""More histories than this, and the regions are better followed one by one."""

Pair = tuple[int, int]
"""A history of the segment below, and a memory of the region above."""
Response = tuple[int, int, Element]
"""The end at which a segment is left, the history that follows, the weight."""
_Port = tuple[bool, int | None, int, int]
"""Whether steps count, the end at which Y is entered (None: X is entered), and the pair."""


@dataclass(eq=False)
class Histories:
    """The histories of a segment.

    Attributes
    ----------
    sides : history -> the end at which the walk is, and enters next; history 0 is the fresh one
    totals : history -> generating function of its steps that no weight has counted; at z = 1 it
        is 1, in floats about 1
    responses : (history, whether steps count) -> all ways in which the next entry may end
    normalised : whether weights add up to 1 at z = 1, or do not matter there
    """

    sides: list[int] = field(default_factory=list)
    totals: list[Element] = field(default_factory=list)
    responses: dict[tuple[int, bool], tuple[Response, ...]] = field(default_factory=dict)
    normalised: bool = True

    @property
    def structure(self) -> tuple[object, ...]:
        """Which history follows which, whatever the weights."""
        ways = {key: [way[:2] for way in found] for key, found in self.responses.items()}
        return self.sides, ways

    @property
    def losing(self) -> set[tuple[int, bool]]:
        """The keys of responses whose exact weights at z = 1 do not add up to 1."""
        return {
            key
            for key, ways in self.responses.items()
            if sum((weight[0] for _, _, weight in ways), fmpq(0)) != 1
        }

    def ratio(self, history: int, following: int) -> Any:
        """Return what a weight is multiplied by so that answers add up to 1 at z = 1."""
        if self.normalised:
            return 1
        return self.totals[following][0] / self.totals[history][0]


def histories_of(
    regions: Iterable[Region], evaluation: Evaluation, flags: Sequence[bool] = (True,)
) -> Histories:
    """Return the histories of neighbouring regions, the lowest first.

    Parameters
    ----------
    flags : (True,): all steps count; (False, True): they count from some time on

    Raises
    ------
    CrossingError
        There are too many histories.
    """
    below: Histories | None = None
    for region in regions:
        crossings = {flag: region.crossings(evaluation, flag) for flag in flags}
        below = _Raising(below, crossings, evaluation, flags).histories()
    assert below is not None, "a segment has a region"
    return below


def entries_of(
    regions: Sequence[Region], entered: Mapping[int, fmpq]
) -> Iterator[tuple[Region, dict[tuple[int, int], fmpq]]]:
    """Yield the expected number of entries of each region, from the highest to the lowest.

    Entries are told by the end at which a region is entered and its memory then.

    Parameters
    ----------
    entered : history -> expected number of entries of the whole segment with that history
    """
    evaluation = Evaluation(exact=True, order=0)
    levels: list[_Raising] = []
    below: Histories | None = None
    for region in regions:
        levels.append(_Raising(below, {True: region.crossings(evaluation)}, evaluation, (True,)))
        below = levels[-1].histories()
    for region, level in zip(reversed(regions), reversed(levels), strict=True):
        own, entered = level.passed_on(entered)
        yield region, own


def structure_of(regions: Sequence[Region], flags: Sequence[bool]) -> Histories:
    """Return the histories of regions that are alike, without regard to their weights.

    What a further region of the same kind makes of the histories depends on their structure only;
    once it repeats, it does for ever.
    """
    anywhere = Evaluation(exact=False, order=0, nodes=np.ones(1, np.complex128))
    below: Histories | None = None
    for region in regions:
        crossings = {flag: region.crossings(anywhere, flag) for flag in flags}
        found = _Raising(below, crossings, anywhere, flags).histories()
        if below is not None and found.structure == below.structure:
            return found
        below = found
    assert below is not None, "a segment has a region"
    return below


def losing(regions: Sequence[Region], flags: Sequence[bool]) -> set[tuple[int, bool]]:
    """Return the (history, whether steps count) after which some runs stay for ever.

    As with `structure_of`, what repeats from one region to the next does for ever.
    """
    evaluation = Evaluation(exact=True, order=0)
    below: Histories | None = None
    lost: set[tuple[int, bool]] = set()
    for region in regions:
        crossings = {flag: region.crossings(evaluation, flag) for flag in flags}
        found = _Raising(below, crossings, evaluation, flags).histories()
        before, lost = lost, found.losing
        if below is not None and (found.structure, lost) == (below.structure, before):
            break
        below = found
    return lost


class _Raising:
    """Adds a region above a segment."""

    def __init__(
        self,
        below: Histories | None,
        crossings: Mapping[bool, Crossings],
        evaluation: Evaluation,
        flags: Sequence[bool],
    ) -> None:
        self.below, self.evaluation, self.flags = below, evaluation, flags
        self.moves: dict[tuple[bool, int, int], list[tuple[int, int, Element]]] = {}
        for flag, weights in crossings.items():
            for (entered, left), entries in weights.items():
                for (i, j), weight in entries.items():
                    self.moves.setdefault((flag, entered, i), []).append((left, j, weight))
        self.solved: dict[_Port, dict[tuple[int, Pair], Element]] = {}
        self.laws: list[tuple[int, dict[Pair, Element]]] = []

    def histories(self) -> Histories:
        """Return all histories, in the order of their discovery."""
        found = Histories(normalised=self.evaluation.exact or not self.evaluation.at_one)
        laws: list[dict[Pair, Element]] = []
        last: list[bool] = []  # whether the steps that led here counted

        def new(side: int, law: dict[Pair, Element], flag: bool) -> int:
            if len(laws) >= _MOST_HISTORIES:
                raise CrossingError(
                    f"a segment of private rows can be entered and left in more than "
                    f"{_MOST_HISTORIES} ways that matter"
                )
            found.sides.append(side)
            found.totals.append(self._total(law))
            laws.append(law)
            last.append(flag)
            return len(laws) - 1

        new(DOWN, {(0, 0): self.evaluation.one}, self.flags[0])
        for history, law in enumerate(laws):
            side = found.sides[history]
            for flag in self.flags:
                if last[history] and not flag:
                    continue  # once steps count, they do
                ways: list[Response] = []
                for left, parts in self._exits(law, side, flag).items():
                    loop = _same(law, parts) if left == side else None
                    if loop is not None:
                        ways.append((left, history, loop))
                        continue
                    whole = _gathered(parts)
                    weight = self._weight(whole)
                    if weight is None:
                        continue
                    factor = 1 / weight
                    scaled = {pair: scale(w, factor) for pair, w in whole.items()}
                    one = scale(self.evaluation.one, self._at_least(weight))
                    ways.append((left, new(left, scaled, flag), one))
                found.responses[history, flag] = tuple(ways)
        self.laws = list(zip(found.sides, laws, strict=True))
        return found

    def passed_on(
        self, entered: Mapping[int, fmpq]
    ) -> tuple[dict[tuple[int, int], fmpq], dict[int, fmpq]]:
        """Return the expected entries of Y by (end, memory), and of X by its history.

        x = b + x P over the ports, b the entries from outside.
        """
        source: dict[_Port, fmpq] = {}
        for history, amount in entered.items():
            side, law = self.laws[history]
            for pair, weight in law.items():
                port = self._entry(side, pair, True)
                source[port] = source.get(port, fmpq(0)) + amount * weight[0]
        number = {port: k for k, port in enumerate(source)}
        ports = list(source)
        rows: list[list[tuple[int, fmpq]]] = []
        for port in ports:
            row = []
            for to, _, weight in self._successors(port):
                if to is not None:
                    if to not in number:
                        number[to] = len(ports)
                        ports.append(to)
                    row.append((number[to], weight[0]))
            rows.append(row)
        flow = solve_rows(rows, [source.get(port, fmpq(0)) for port in ports])
        own: dict[tuple[int, int], fmpq] = {}
        below: dict[int, fmpq] = {}
        for (_, end, q, i), amount in zip(ports, flow, strict=True):
            if end is None:
                below[q] = below.get(q, fmpq(0)) + amount
            else:
                own[end, i] = own.get((end, i), fmpq(0)) + amount
        return own, below

    def _entry(self, side: int, pair: Pair, flag: bool) -> _Port:
        """Return the port by which the segment is entered at an end."""
        return (flag, side if side == UP or self.below is None else None, *pair)

    def _total(self, law: Mapping[Pair, Element]) -> Element:
        """Return the generating function of the steps of a law."""
        terms = [
            weight if self.below is None else multiply(weight, self.below.totals[q])
            for (q, _), weight in law.items()
        ]
        total = terms[0]
        for term in terms[1:]:
            total = add(total, term)
        return total

    def _weight(self, law: Mapping[Pair, Element]) -> Any:
        """Return the number that a law is divided by; None where nothing is left of it."""
        if not self.evaluation.at_one:
            return 1.0
        total = self._total(law)[0]
        if vanishes(total):
            return None
        return Positive(total.value) if isinstance(total, Positive) else total

    def _at_least(self, weight: Any) -> Any:
        """Return a weight that products of floats do not lose; see `LEAST_WEIGHT`."""
        if self.evaluation.exact or not self.evaluation.at_one:
            return weight
        if isinstance(weight, Positive):
            return Positive(max(weight.value, LEAST_WEIGHT))
        return max(weight, LEAST_WEIGHT)

    def _exits(
        self, law: Mapping[Pair, Element], side: int, flag: bool
    ) -> dict[int, list[tuple[Pair, Element, Pair, Element]]]:
        """Return per end the (pair, its weight, pair that follows, weight of the answer)."""
        result: dict[int, list[tuple[Pair, Element, Pair, Element]]] = {}
        for pair, weight in law.items():
            port = self._entry(side, pair, flag)
            if port not in self.solved:
                self._solve(port)
            for (left, following), answer in self.solved[port].items():
                result.setdefault(left, []).append((pair, weight, following, answer))
        return result

    def _successors(
        self, port: _Port
    ) -> Iterator[tuple[_Port | None, tuple[int, Pair] | None, Element]]:
        """Yield (next port or None, exit or None, weight)."""
        flag, entered, q, i = port
        if entered is None:
            assert self.below is not None
            for left, following, weight in self.below.responses.get((q, flag), ()):
                if left == UP:
                    yield (flag, DOWN, following, i), None, weight
                else:
                    yield None, (DOWN, (following, i)), weight
            return
        for left, j, weight in self.moves.get((flag, entered, i), ()):
            if left == DOWN and self.below is not None:
                yield (flag, None, q, j), None, weight
            else:
                yield None, (left, (q, j)), weight

    def _solve(self, start: _Port) -> None:
        """Solve for the exits from a port, and from all that it leads to."""
        number = {start: 0}
        ports = [start]
        rows: dict[int, dict[int, Element]] = {}
        outputs: dict[int, dict[tuple[int, Pair], Element]] = {}
        for k, port in enumerate(ports):
            rows[k], outputs[k] = {}, dict(self.solved.get(port, {}))
            if port in self.solved:
                continue
            for to, label, weight in self._successors(port):
                if to is None:
                    assert label is not None
                    accumulate(outputs[k], label, weight)
                    continue
                if to not in number:
                    number[to] = len(ports)
                    ports.append(to)
                accumulate(rows[k], number[to], weight)
        if len(ports) == 1:  # left at once: the weights stay what they are
            self.solved[start] = outputs[0]
            return
        order = components_of([list(rows[k]) for k in range(len(ports))])
        if len(order) == len(ports) and not any(k in row for k, row in rows.items()):
            values = outputs  # nothing comes back: add up, without any division
            for k in order.members.tolist():
                for j, weight in rows[k].items():
                    for label, value in values[j].items():
                        accumulate(values[k], label, multiply(weight, value))
        else:
            e = self.evaluation
            missing = None
            if e.missing(True) is not None or (e.exact and e.at_one):
                # Runs that are lost below, in states that are never left, lower the sum too.
                missing = {
                    k: 1 - sum(w[0] for w in (*rows[k].values(), *outputs[k].values()))
                    for k in rows
                }
            values = solve(
                rows,
                outputs,
                order,
                length=e.length,
                at_one=e.at_one,
                lossy=True,
                missing=missing,
            )
        self.solved.update((port, values[k]) for k, port in enumerate(ports))


def _same(
    law: Mapping[Pair, Element], parts: Sequence[tuple[Pair, Element, Pair, Element]]
) -> Element | None:
    """Return the one weight with which every pair of a law answers by itself; None: not so."""
    answer = parts[0][3]
    if len(parts) == len(law) and all(
        pair == following and weight is answer for pair, _, following, weight in parts
    ):
        return answer
    return None


def _gathered(parts: Sequence[tuple[Pair, Element, Pair, Element]]) -> dict[Pair, Element]:
    whole: dict[Pair, Element] = {}
    for _, weight, following, answer in parts:
        accumulate(whole, following, multiply(weight, answer))
    return whole
