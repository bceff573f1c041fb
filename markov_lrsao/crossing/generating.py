"""Evaluating the generating functions of a decomposition: moments, or values at complex z.

`GeneratingFunction` yields E[z^T] of a `Decomposition` as one element (see
`markov_lrsao.exact.series`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from markov_lrsao.crossing.blocks import Block, Corridor, Exit, Weight
from markov_lrsao.crossing.decomposition import Decomposition, Site, exit_marks
from markov_lrsao.crossing.exits import NEVER_BACK, count_exits, first_exit, site_events
from markov_lrsao.errors import NotAbsorbingError
from markov_lrsao.exact.evaluation import Evaluation
from markov_lrsao.exact.functions import RationalFunction
from markov_lrsao.exact.matrices import Product, SiteMatrices, Vector, product
from markov_lrsao.exact.measures import Measure
from markov_lrsao.exact.progressions import Progression
from markov_lrsao.exact.series import (
    Element,
    add,
    divide_by_one_minus,
    multiply,
    scale,
    solve,
)
from markov_lrsao.model.law import UP, Share

__all__ = [
    "EdgeWeights",
    "Evaluation",
    "GeneratingFunction",
    "site_functions",
    "site_matrices",
    "solve_block",
    "top_vector",
]

_STRETCH = 2**17
"""Sites whose matrices are held at once: about 100 MB of floats."""
_LAST_PLACES = 16 * 2.0**-53
"""Floats that should be equal and differ by less are taken as equal."""


def corridor(evaluation: Evaluation, n: int, first: int, last: int) -> Element:
    """Return the generating function of walking up from `first` through `last`.

    Each position q is left with probability u = (n-q)/n per step: z u / (1 - z (1 - u)).
    """
    if evaluation.at_one and evaluation.order == 0:
        return evaluation.one
    if evaluation.by_position:
        x = RationalFunction.variable()
        factor = _waiting(evaluation.over_functions, (n - x) / n, x / n)
        return _only(
            evaluation, _by_position(evaluation, [({(0, 0): factor}, (1, 1), last, first)])
        )
    positions = np.arange(first, last + 1)
    up, stay = evaluation.column(n - positions, n), evaluation.column(positions, n)
    if evaluation.at_one:
        factor = _waiting(evaluation, up, stay)
        if isinstance(factor, Measure):
            factor = factor.full(len(positions))
    else:
        factor = (_waiting_at(evaluation, up, stay),)
    matrices: SiteMatrices = {(0, 0): factor}
    return _only(
        evaluation,
        product([matrices], stochastic=evaluation.at_one and not evaluation.central),
    )


def _waiting(evaluation: Evaluation, up: Any, stay: Any) -> Element:
    """Return z u / (1 - z (1 - u)) about z = 1."""
    step = evaluation.z
    leaving = divide_by_one_minus(scale(step, stay), up, evaluation.length, True)
    return multiply(scale(step, up), leaving)


def _waiting_at(evaluation: Evaluation, up: Any, stay: Any) -> Any:
    """Return z u / (1 - z (1 - u)) at complex points, or its modulus."""
    z = evaluation.nodes[None, :]
    if evaluation.complements is not None:
        found = z * up / (up + stay * evaluation.complements[None, :])
        return found.modulus() if evaluation.majorant else found
    plain = z * up / (1 - z * stay)
    return np.abs(plain) if evaluation.majorant else plain


def _by_position(
    evaluation: Evaluation,
    factors: Iterable[tuple[dict[tuple[int, int], Element], tuple[int, int], int, int]],
) -> Product:
    """Multiply matrices of functions of the position, each from a highest to a lowest one."""
    whole: Any = None
    for entries, shape, high, low in factors:
        progression = Progression(entries, shape)
        part: Any = (
            progression.exact(high, low) if evaluation.exact else progression.balls(high, low)
        )
        whole = part if whole is None else whole @ part
    if evaluation.exact:
        return Product(None, whole.reduced())
    return Product(whole.entries)


def _only(evaluation: Evaluation, whole: Product) -> Element:
    """Return the one entry of a product."""
    unit = {0: evaluation.one}
    found = whole.contract([(unit, unit)])
    assert found is not None
    return found


class EdgeWeights:
    """The weights of a block's transitions as elements; every corridor is computed once."""

    def __init__(self, evaluation: Evaluation, n: int, denominator: int) -> None:
        self.evaluation, self.n, self.denominator = evaluation, n, denominator
        self._step = {True: evaluation.z, False: evaluation.one}
        self._corridors: dict[Corridor, Element] = {}

    def __call__(self, position: int, weight: Weight, counts: bool) -> Element:
        """Return the weight of a transition from a position, whose steps count or not."""
        if not isinstance(weight, Corridor):
            numerator = weight.numerator(position, self.n)
            return scale(self._step[counts], self.evaluation.number(numerator, self.denominator))
        if not counts:
            return self.evaluation.one
        if weight not in self._corridors:
            self._corridors[weight] = corridor(self.evaluation, self.n, weight.first, weight.last)
        return self._corridors[weight]


def solve_block(
    evaluation: Evaluation,
    block: Block,
    counts: Callable[[int], bool],
    until: int | None = None,
) -> dict[int, dict[Exit, Element]]:
    """Return for each state of a block the generating function of reaching each exit.

    Parameters
    ----------
    counts : phase -> whether its steps weigh z
    until : number of phases after which the walk is followed no further: then entering
        the next phase is an exit
    """
    end = Exit(UP, len(block.law.landscape.milestones), ())
    weigh = EdgeWeights(evaluation, block.law.n, block.denominator)
    rows: dict[int, dict[int, Element]] = {}
    outputs: dict[int, dict[Exit, Element]] = {}
    missing: dict[int, Any] = {}
    for i, (state, edges) in enumerate(zip(block.states, block.edges, strict=True)):
        rows[i], outputs[i] = {}, {}
        marked = counts(state.phase)
        missing[i] = evaluation.missing(marked)
        for target, weight in edges:
            element = weigh(state.position, weight, marked)
            if isinstance(weight, Corridor) and missing[i] is not None:
                missing[i] = 1 - element[0]
            if isinstance(target, Exit):
                outputs[i][target] = element
            elif until is not None and block.states[target].phase >= until:
                outputs[i][end] = add(outputs[i][end], element) if end in outputs[i] else element
            else:
                rows[i][target] = element
        evaluation.without_loop(i, rows[i], outputs[i], marked)
    return solve(
        rows,
        outputs,
        block.order,
        length=evaluation.length,
        at_one=evaluation.at_one,
        lossy=evaluation.lossy,
        missing=missing if evaluation.missing(True) is not None else None,
    )


def site_matrices(
    evaluation: Evaluation, decomposition: Decomposition, site: Site, counts: bool
) -> SiteMatrices:
    """Return K_s(z) of all positions of a site at once, each entry an element of arrays.

    Entries are listed from the highest position to the lowest; see `markov_lrsao.crossing.exits`.
    """
    n, denominator = decomposition.law.n, decomposition.law.denominator
    positions = np.arange(site.high, site.low - 1, -1)
    down, up = (evaluation.column(x, denominator) for x in (positions, n - positions))
    kernel = _site_kernel(evaluation, site, counts, down, up)
    if evaluation.central:
        return {key: Measure(element).full(len(positions)) for key, element in kernel.items()}
    return kernel


def site_functions(
    evaluation: Evaluation, decomposition: Decomposition, site: Site, counts: bool
) -> dict[tuple[int, int], Element]:
    """Return K_x(z) of a site as a function of its position x, each entry a series over Q(x)."""
    n, denominator = decomposition.law.n, decomposition.law.denominator
    x = RationalFunction.variable()
    down, up = x / denominator, (n - x) / denominator
    return _site_kernel(evaluation.over_functions, site, counts, down, up)


def _site_kernel(
    evaluation: Evaluation, site: Site, counts: bool, down: Any, up: Any
) -> dict[tuple[int, int], Element]:
    """Return K(z), given the shares of one downward and one upward flip."""
    z = evaluation.z if counts else evaluation.one

    def weight(share: Share) -> Element:
        parts = [c * times for c, times in ((down, share.down), (up, share.up)) if times]
        return scale(z, sum(parts[1:], parts[0]))

    events = site_events(
        site,
        weight,
        length=evaluation.length,
        at_one=evaluation.at_one,
        lossy=evaluation.lossy,
        prepare=lambda k, row, leaving: evaluation.without_loop(k, row, leaving, counts),
        missing=evaluation.missing(counts),
    )
    unit = evaluation.one if evaluation.central else tuple(c + 0 * up for c in evaluation.one)
    return count_exits(events, site.incoming, site.outgoing, unit)


class _NoWayUpError(Exception):
    """A site is never left upwards for good."""


def _not_empty(kernel: SiteMatrices) -> SiteMatrices:
    if not kernel:
        raise _NoWayUpError
    return kernel


@dataclass(frozen=True, eq=False)
class GeneratingFunction:
    """E[z^T] of a decomposition, for any choice of the phases whose steps count.

    The product over the sites is computed once and kept.

    Attributes
    ----------
    until : number of phases after which a run is followed no further, so that getting stuck
        later does no harm; at least those before the cut
    """

    decomposition: Decomposition
    evaluation: Evaluation
    until: int | None = None

    @cached_property
    def middle(self) -> Product:
        """The product of all K_s(z)."""
        return self._product(self.evaluation, True)

    @cached_property
    def middle_uncounted(self) -> Product:
        """The product of all K_s(1): the law of the crossing counts alone."""
        e = self.evaluation
        if not e.central and not e.balls:
            return self._product(e, False)
        masses = self._product(replace(e, order=0), False)
        assert masses.entries is not None
        return replace(
            masses,
            entries={key: scale(e.one, element[0]) for key, element in masses.entries.items()},
        )

    def _product(self, e: Evaluation, counts: bool) -> Product:
        """Multiply the sites' matrices; those of floats a stretch at a time, to save memory."""
        d = self.decomposition
        try:
            if e.by_position:
                return _by_position(
                    e,
                    (
                        (
                            _not_empty(site_functions(e, d, site, counts)),
                            (site.incoming + 1, site.outgoing + 1),
                            site.high,
                            site.low,
                        )
                        for site in d.sites
                    ),
                )
            stretches = (
                replace(site, high=high, low=max(site.low, high - _STRETCH + 1))
                for site in d.sites
                for high in range(site.high, site.low - 1, -_STRETCH)
            )
            return product(
                (_not_empty(site_matrices(e, d, site, counts)) for site in stretches),
                stochastic=e.at_one and not e.central and not e.lossy,
            )
        except _NoWayUpError:
            return Product({})

    def __call__(self, phases: Sequence[bool]) -> Element:
        """Return E[z^T], T the number of steps in the marked phases."""
        return self.combine(phases, self._after_cut(phases))

    def probability_of_ends(self, chosen: set[tuple[Exit, int]]) -> Any:
        """Return the probability that the cut is hit with one of the (bottom exit, mark)."""
        one = self.evaluation.one
        zero = tuple(0 * c for c in one)
        ends = {
            (x, m): one if (x, m) in chosen else zero
            for x in self.decomposition.bottom.exits
            if x.direction == UP
            for m in exit_marks(self.decomposition.top_region)
        }
        count = len(self.decomposition.law.landscape.milestones)
        return self.combine([False] * count, ends)[0]

    def combine(self, phases: Sequence[bool], ends: Mapping[tuple[Exit, int], Element]) -> Element:
        """Multiply bottom block, sites and top region with what follows the cut."""
        d, e = self.decomposition, self.evaluation

        def counts(phase: int) -> bool:
            return phases[phase]

        bottom = solve_block(e, d.bottom, counts)
        if d.top_region is None:
            return self._sum(
                [multiply(v, ends[exit_, 0]) for exit_, v in bottom[d.bottom.start[0]].items()]
            )
        top = top_vector(e, d, phases[d.phase])
        columns = _bottom_columns(d, bottom)
        pairs: list[tuple[Vector, Vector]] = []
        for mark in dict.fromkeys(m for m, _ in top):
            row = {c: v for (m, c), v in top.items() if m == mark}
            column = {
                c: self._sum([multiply(v, ends[exit_, mark]) for exit_, v in exits.items()])
                for c, exits in enumerate(columns)
            }
            pairs.append((row, column))
        if not d.sites:
            return self._sum(
                [multiply(v, column[c]) for row, column in pairs for c, v in row.items()]
            )
        if phases[d.phase]:
            return self.middle.contract(pairs) or self._sum([])
        if (
            e.at_one
            and not e.central
            and not e.lossy
            and all(_alike(v, column[0]) for _, column in pairs for v in column.values())
        ):
            # What follows does not depend on the crossing counts: the result is a mean of
            # equal values.
            return _total([multiply(v, column[0]) for row, column in pairs for v in row.values()])
        return self.middle_uncounted.contract(pairs) or self._sum([])

    def _after_cut(self, phases: Sequence[bool]) -> dict[tuple[Exit, int], Element]:
        """Return the generating function of what follows the cut, per (bottom exit, mark)."""
        d, e = self.decomposition, self.evaluation
        exits = [x for x in d.bottom.exits if x.direction == UP]
        marks = exit_marks(d.top_region)
        if d.tail is None:
            return {(x, m): e.one for x in exits for m in marks}
        tail = solve_block(e, d.tail, lambda phase: phases[phase], self.until)
        result: dict[tuple[Exit, int], Element] = {}
        for key, i in d.tail_start.items():
            over = self.until is not None and d.tail.states[i].phase >= self.until
            result[key] = (
                e.one
                if over
                else self._sum([v for exit_, v in tail[i].items() if exit_.direction == UP])
            )
        return result

    def _sum(self, elements: Sequence[Element]) -> Element:
        """Add up; nothing at all is worth 0: there a run never ends."""
        return _total(elements) if elements else scale(self.evaluation.one, 0)


def _alike(a: Element, b: Element) -> bool:
    """Whether two elements are equal: exactly, or as floats up to a few last places."""
    return all(
        x == y or (isinstance(x, float) and abs(x - y) <= _LAST_PLACES * abs(y))
        for x, y in zip(a, b, strict=True)
    )


def _total(elements: Sequence[Element]) -> Element:
    total = elements[0]
    for element in elements[1:]:
        total = add(total, element)
    return total


def top_vector(
    evaluation: Evaluation, d: Decomposition, counted: bool
) -> dict[tuple[int, int], Element]:
    """Return (mark, D of the top region) -> element: one upward exit, counting downward ones."""
    assert d.top_region is not None
    events = solve_block(evaluation, d.top_region, lambda _: counted)
    return first_exit(d.top_region, events, d.top_counts, evaluation.one)


def _bottom_columns(
    d: Decomposition, bottom: Mapping[int, Mapping[Exit, Element]]
) -> list[dict[Exit, Element]]:
    """Return for D = 0, 1, .. the generating function of 1 + D upward exits of the bottom."""
    largest = d.sites[-1].outgoing if d.sites else d.top_counts
    columns = [dict(bottom[d.bottom.start[0]])]
    for _ in range(largest):
        following: dict[Exit, Element] = {}
        for exit_, weight in columns[-1].items():
            back = d.bottom.comes_back(exit_)
            if back is None:
                raise NotAbsorbingError(NEVER_BACK)
            for again, w in bottom[back].items():
                term = multiply(weight, w)
                following[again] = add(following[again], term) if again in following else term
        columns.append(following)
    return columns
