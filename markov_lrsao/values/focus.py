r"""A grid that becomes finer where open comparisons come from.

`markov_lrsao.values.tails` tells all values apart on one mesh. Where a comparison depends on the
history, few of them matter: with alpha = 23/27, gamma = 1/5 the last use of L leaves it above R or
below it by what R had learnt below the cut, and the meshes that decide this everywhere have too
many clusters. So a round of refinement asks of every entry how narrow it has to be:

* entries that leave a comparison open a quarter of their width;
* where an update makes x' = keep x + gain + bootstrap M and x' has to be narrower than w, x has to
  be narrower than w / sqrt(lam), lam = keep + bootstrap, and M than what this leaves over,
  w (1 - keep / sqrt(lam)) / bootstrap; both demands are milder than w, so that asking ends;
* entries that an update leaves alone are asked for the same.

Cells that are too wide for what is asked are halved, and values are followed anew. Nothing rests
on which cells are: whatever they are, clusters are an invariant that is confirmed from the
clusters alone (`markov_lrsao.values.invariants`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from math import ceil, log2, sqrt
from typing import NamedTuple

from flint import fmpq

from markov_lrsao.crossing.decomposition import Decomposition
from markov_lrsao.errors import Refused, attempt
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.values.cells import Precision, Traits
from markov_lrsao.values.clusters import Clusters, Update
from markov_lrsao.values.refinement import Refined
from markov_lrsao.values.tails import LEVELS, AroundCut, before_cut, followed

__all__ = ["Needs", "focused"]

_MOST_STATES = 15_000
_ALL_STATES = 16_000
"""States of all rounds together: half a minute."""
_NARROWER = 4
_BROUGHT_FINER, _COARSER = 64, 2
"""How much finer the lower region is told apart than what follows the cut, since it has few values;
how often the mesh becomes `_NARROWER` times coarser where they are too many."""
_LEAST = 2.0**-40


def focused(around: AroundCut, largest: int = _MOST_STATES) -> Iterator[Decomposition]:
    """Yield decompositions, each with a grid that is finer where the last one left something open.

    The last of all is decided, or there is no further one within the limits.

    Parameters
    ----------
    largest : states that a round may have
    """
    algorithm = around.law.algorithm
    lam = algorithm.keep + algorithm.bootstrap
    coarse = LEVELS[0].precision(around.law, around.below)
    if algorithm.keep < 0 or algorithm.bootstrap < 0 or not 0 < lam < 1:
        return
    # A margin of a quarter for ends that are rounded outwards.
    precision = replace(coarse, slack=max(fmpq(1), fmpq(5, 4) * lam / (1 - lam)))
    below = _LowerRegion(around, coarse, largest)
    finer: dict[Traits, tuple[int, ...]] = {}
    spent = 0
    while spent < _ALL_STATES:
        bottom = below.followed()
        if isinstance(bottom, Refused):
            return
        found = attempt(
            partial(followed, around, bottom, precision, largest=largest, finer=dict(finer))
        )
        if isinstance(found, Refused):
            return
        yield found.decomposition
        if found.decomposition.choices is None:
            return
        spent += len(found.tail.states)
        needs = Needs.of(found.tail)
        divided = _divide(finer, found.tail.clusters, needs, precision)
        told = needs.brought is not None and below.tell(needs.brought)
        if not divided and not told:
            return


class _LowerRegion:
    """What the row of the cut brings along, told apart on a mesh of its own."""

    def __init__(self, around: AroundCut, coarse: Precision, largest: int) -> None:
        self._around, self._largest = around, largest
        self._precision, self._mesh = replace(coarse, exact_bits=0), coarse.mesh / _BROUGHT_FINER
        self._known: Refined | Refused | None = None

    def followed(self) -> Refined | Refused:
        """Return the lower region; on a coarser mesh, if it has too many states."""
        if self._known is None:
            self._known = self._at(self._mesh)
            for _ in range(_COARSER):
                if isinstance(self._known, Refused):
                    self._mesh *= _NARROWER
                    self._known = self._at(self._mesh)
        return self._known

    def tell(self, width: float) -> bool:
        """Tell values apart that are so far from each other; return whether that is new."""
        if width >= to_float(self._mesh):
            return False
        finer = self._at(self._mesh / _NARROWER)
        if isinstance(finer, Refused):
            return False
        self._known, self._mesh = finer, self._mesh / _NARROWER
        return True

    def _at(self, mesh: fmpq) -> Refined | Refused:
        stretch, row = self._around.stretch, self._around.row
        precision = replace(self._precision, mesh=mesh)
        return attempt(partial(before_cut, stretch, row, precision, self._largest))


class Needs(NamedTuple):
    """How narrow entries have to be.

    Attributes
    ----------
    entries : (cluster, entry) -> the width that is asked for, where it is wider than that
    brought : the least width that is asked of a row with which the cut is hit; None: of none
    """

    entries: dict[tuple[int, int], float]
    brought: float | None

    @classmethod
    def of(cls, found: Refined) -> Needs:
        """Ask, from the open comparisons of a walk backwards along all updates."""
        asked = _Asked(found.clusters)
        slot = {row: i for i, row in enumerate(found.stretch.rows)}
        for i in found.undecided:
            state = found.states[i]
            number = state.patterns[slot[int(found.law.row[state.position])]]
            for entry in found.clusters.traits[number].pattern.maximal:
                asked.ask(number, entry, asked.width(number, entry) / _NARROWER)
        asked.backwards()
        given = {number for _, _, _, number in found.clusters.given}
        return cls(
            asked.needs,
            min((w for (number, _), w in asked.needs.items() if number in given), default=None),
        )


class _Asked:
    """Widths that were asked for, and entries whose sources were not asked yet."""

    def __init__(self, clusters: Clusters) -> None:
        self.clusters = clusters
        self.needs: dict[tuple[int, int], float] = {}
        self._waiting: list[tuple[int, int]] = []
        self._entering: dict[int, list[Update]] = {}
        for update, target in clusters.following.items():
            self._entering.setdefault(target, []).append(update)
        algorithm = clusters.law.algorithm
        self._bootstrap = to_float(algorithm.bootstrap)
        self._within = to_float(algorithm.keep + algorithm.bootstrap)
        self._share = to_float(algorithm.keep) / sqrt(self._within)

    def width(self, number: int, entry: int) -> float:
        """Return how wide an entry is; one that is never chosen again is as good as known."""
        if self.clusters.traits[number].cells[entry] is None:
            return 0.0
        box = self.clusters.boxes[number][entry]
        return to_float(box.high - box.low)

    def ask(self, number: int, entry: int, width: float) -> None:
        """Ask an entry to be narrower than some width."""
        width = max(width, _LEAST)
        if self.width(number, entry) > width < 0.99 * self.needs.get((number, entry), 1e300):
            self.needs[number, entry] = width
            self._waiting.append((number, entry))

    def backwards(self) -> None:
        """Ask the sources of all that was asked."""
        while self._waiting:
            number, entry = self._waiting.pop()
            width = self.needs[number, entry]
            for update in self._entering.get(number, ()):
                if update.action != entry:
                    self.ask(update.source, entry, width)
                elif update.neighbour is None:
                    self.ask(update.source, entry, width / self._within)
                else:
                    self.ask(update.source, entry, width / sqrt(self._within))
                    if isinstance(update.neighbour, int) and self._bootstrap > 0:
                        rest = width * (1 - self._share) / self._bootstrap
                        for a in self.clusters.traits[update.neighbour].pattern.maximal:
                            self.ask(update.neighbour, a, rest)


def _divide(
    finer: dict[Traits, tuple[int, ...]], clusters: Clusters, needs: Needs, precision: Precision
) -> bool:
    """Halve the cells that are too wide; return whether there are any."""
    divided = False
    for (number, entry), width in needs.entries.items():
        traits, present = clusters.traits[number], clusters.halvings[number]
        # What a cell holds is up to slack + 1 meshes wide, in the middle of that one mesh less.
        holds = to_float(precision.mesh * traits.coarser * (precision.slack + 1)) / 2
        halvings = max(0, ceil(log2(holds / width)))
        if halvings > present[entry]:
            before = finer.get(traits, present)
            finer[traits] = tuple(
                max(h, halvings) if a == entry else h for a, h in enumerate(before)
            )
            divided = True
    return divided
