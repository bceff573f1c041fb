"""E[T] enclosed where nothing else decides: layers of tables, `markov_lrsao.forward.layers`.

Layers are made with few tables first, then with more, as long as the enclosure is wide and the
work allowed is not used up; what all of them show together is the answer. The first passes tell
tables apart by one measure each (`markov_lrsao.forward.measures`), and that of the narrowest serves
the others. Each pass steers the next one by the same measure by where it was wide. Variances stay
unknown.

Behind the last layer stands what positions alone show of the steps left. Where that has no upper
end, a chain with few values may: its largest bound holds for every table that a run can meet.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf, isfinite

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.answers.plan import Options, wants_exact
from markov_lrsao.errors import Refused, SolverError, StateSpaceTooLargeError, attempt
from markov_lrsao.exact.quantity import Enclosed, Quantity
from markov_lrsao.exact.rationals import next_floats, to_float
from markov_lrsao.forward.coarse import coarse
from markov_lrsao.forward.layers import Layers
from markov_lrsao.forward.measures import Kind
from markov_lrsao.forward.model import arrays_of
from markov_lrsao.model.law import StepLaw
from markov_lrsao.progress import Progress
from markov_lrsao.values.answer import Answer

__all__ = ["MOST_ENTRIES", "enclose_by_layers"]

FloatArray = npt.NDArray[np.float64]
_WORK = 80_000_000
"""Entries of all tables of all layers of a pass: half a minute, some two hundred megabytes."""


@dataclass(frozen=True)
class _Pass:
    """Layers that are made once.

    Attributes
    ----------
    tables : of a layer, when all runs are under way
    levels : that are always told apart
    work : entries of all tables of all layers
    steered : by the widths of the pass before
    kind : by which measure tables are told apart; None: by the best so far
    """

    tables: int
    levels: int = 3
    work: int = _WORK
    steered: bool = True
    kind: Kind | None = None


_KINDS: tuple[Kind, ...] = ("visits", "needs", "evenly")
_PASSES = (
    *(_Pass(4_000, work=_WORK // 8, kind=kind) for kind in _KINDS),
    _Pass(20_000, work=_WORK // 2),
    _Pass(20_000, levels=8, work=_WORK // 2),
)
"""Unlikely tables that are joined let the worst happen for good: with more levels they are kept
apart, at the cost of others. Where runs are long these passes must not use up the time."""
_MORE, _MOST = _Pass(80_000), _Pass(400_000, work=3 * _WORK)
_LONGER = _Pass(20_000, 2, 2 * _WORK, steered=False)
"""The last pass: more tables a layer, many more where it may take that many to be narrow, or, where
the second one left many runs under way, more layers."""
_HOPE = 4
"""Times what is wanted: a width beyond it is not expected to become narrow enough."""
_MANY = 0.05
_FEWEST, _FALL = 50, 0.6
"""A layer keeps at least this part of them, when few runs are still under way; before that they are
fewer by this power of what is under way. Widths grow late, when tables have become many: as many
tables in all, shared out in proportion to what is under way, leave more open."""
_LAST, _FEW, _FEW_LEVELS = 0.7, 1_000, 2
"""From this part of the work on layers have few tables, told apart by few levels: runs that never
come to their end within the layers cost more than tables that are joined."""
_ROOM = 0.6
"""Of the work allowed, as the second pass suggests it: more tables also take more layers."""
_UNDER_WAY = 1e-7
"""Layers end when so few runs are under way: what is left to positions is hundreds of steps."""
_VALUED_STATES, _LEVELS = 15_000, 2
"""Of a chain whose largest bound stands behind the last layer; levels of it that are tried."""
_MOST_LAYERS = 20_000
MOST_ENTRIES = 60
"""Tables with more entries are too many for their layers to tell anything."""


def enclose_by_layers(law: StepLaw, options: Options, *, hasty: bool = False) -> Answer | Refused:
    """Return enclosures of E[T] and of the phases; those of E[T] may have no upper end.

    A law keeps the passes that were made: who asks again is answered at once.

    Parameters
    ----------
    hasty : leave out the last pass, which takes longest
    """
    entries = (int(law.row.max()) + 1) * len(law.actions)
    if entries > MOST_ENTRIES:
        return Refused(StateSpaceTooLargeError(f"{entries} entries are too many to be followed"))
    enough = to_float(options.tolerance)
    key = "layers", enough, options.max_states
    seen: _Seen = law.derived.setdefault(key, _Seen())
    passes = len(_PASSES) + (not hasty) if wants_exact(options) else 1
    while seen.passes < passes and not seen.ended and seen.refused is None:
        last = seen.passes == len(_PASSES)
        chosen = _last(seen, enough) if last else _PASSES[seen.passes]
        seen.passes += 1
        if seen.passes == len(_PASSES) and seen.under_way > _MANY:
            continue  # layers were too few already
        largest = min(chosen.tables, options.max_states or chosen.tables)
        found = attempt(
            partial(_solved, law, replace(chosen, tables=largest), seen, options.progress)
        )
        if isinstance(found, Refused):
            seen.refused = found
            break
        bounds, seen.made = found
        if not isfinite(bounds[0, 1]) and not seen.asked and wants_exact(options):
            # Chains with values take a while: they are asked where layers alone do not do.
            seen.asked, seen.most = True, _most_left(law, options)
            if seen.most is not None:
                seen.passes -= 1
                continue
        seen.nodes.append(seen.made)
        seen.best = bounds if seen.best is None else _both(seen.best, bounds)
        seen.each.append(_width(bounds))
        if chosen.kind is not None and seen.each[-1] < min(seen.each[:-1], default=inf):
            seen.kind, seen.first = chosen.kind, seen.each[-1]
        seen.ended = _width(seen.best) <= enough or largest < chosen.tables
    if seen.refused is not None:
        return seen.refused
    assert seen.best is not None
    values = [[_quantity(*ends)] for ends in seen.best.tolist()]
    return Answer(values, "layers", seen.made, undecided=fmpq(1))


def _last(seen: _Seen, enough: float) -> _Pass:
    """Return the last pass: how those before did compared with the first tells what is needed."""
    if len(seen.each) < len(_PASSES):
        return _LONGER
    fewer, more = seen.each[len(_KINDS) :]
    levels = _PASSES[-2 if fewer <= more else -1].levels
    hopeful = enough < seen.promised <= _HOPE * enough
    chosen = _MOST if hopeful else _MORE
    # Layers that end too soon cost more than tables that are joined.
    room = _ROOM * chosen.work / seen.entries * _PASSES[-2].tables / max(seen.nodes[-2], 1)
    return replace(chosen, levels=levels, tables=min(chosen.tables, int(room)))


def _most_left(law: StepLaw, options: Options) -> float | None:
    """Return a bound of E[steps left] for all tables that are met, where positions have none."""
    from markov_lrsao.values.solving import most_steps
    from markov_lrsao.values.whole_run import chains_with_values

    phases = len(law.landscape.milestones)
    steps = coarse(law, arrays_of(law), np.ones((phases, 1), dtype=np.bool_)).steps
    if np.isfinite(steps).all():
        return None
    largest = min(_VALUED_STATES, options.max_states or _VALUED_STATES)
    levels = chains_with_values(law, largest, options.progress, exact=False)
    if isinstance(levels, Refused):
        return None
    for block in itertools.islice(levels, _LEVELS):
        most = most_steps(block)
        if most is not None:
            return next_floats(most)[1]
    return None


@dataclass
class _Seen:
    """What a pass leaves for the next: where it was wide, and who was under way near its end.

    Attributes
    ----------
    most, asked : a bound of E[steps left] for every table that is met, if one is known; whether
        one was sought
    passes, made : how many passes were made or left out, and the tables of the newest
    best, each, nodes : what all passes tell together, and the width and the tables of each
    widths : of the newest pass by each measure
    kind, first : the measure of the narrowest of the first passes, and its width
    entries : of a table
    """

    widths: dict[Kind, FloatArray | None] = field(default_factory=dict)
    kind: Kind = _KINDS[0]
    first: float = inf
    under_way: float = 0.0
    most: float | None = None
    asked: bool = False
    entries: int = 1
    passes: int = 0
    made: int = 0
    best: FloatArray | None = None
    each: list[float] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    ended: bool = False
    refused: Refused | None = None

    @property
    def promised(self) -> float:
        """The width that another gain like that over the first pass by this measure leads to."""
        if len(self.each) < len(_PASSES):
            return inf
        least = min(self.each)
        return least * (least / self.first)


def _solved(law: StepLaw, chosen: _Pass, seen: _Seen, progress: Progress) -> tuple[FloatArray, int]:
    """Return bounds of E[T] and of the phases, [quantity, side], and the number of tables."""
    kind = chosen.kind or seen.kind
    widths = seen.widths.get(kind) if chosen.steered else None
    layers = Layers(law, always=chosen.levels, widths=widths, most=seen.most, kind=kind)
    seen.entries = layers.tables.low.shape[1]
    most = chosen.work // seen.entries
    largest, seen.under_way = chosen.tables, 0.0
    with progress("following tables in layers") as bar:
        for _ in range(_MOST_LAYERS):
            going = layers.going
            if going <= _UNDER_WAY or layers.nodes > most:
                break
            wanted = max(largest // _FEWEST, int(largest * min(going, 1.0) ** _FALL), 1)
            if layers.nodes > _LAST * most:
                seen.under_way = max(seen.under_way, going)
                layers.always, wanted = _FEW_LEVELS, min(wanted, _FEW)
            layers.step(wanted)
            bar.advance()
    bounds = layers.solved()[0]
    seen.widths[kind] = layers.widths
    return bounds, layers.nodes


def _both(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return what two enclosures have in common.

    Raises
    ------
    SolverError
        They exclude each other.
    """
    low, high = np.maximum(one[:, 0], other[:, 0]), np.minimum(one[:, 1], other[:, 1])
    if (low > high).any():
        raise SolverError("two enclosures exclude each other; please report this instance")
    return np.stack([low, high], axis=1)


def _width(bounds: FloatArray) -> float:
    return float(((bounds[:, 1] - bounds[:, 0]) / np.maximum(bounds[:, 0], 1e-300)).max())


def _quantity(low: float, high: float) -> Quantity:
    lower = fmpq(*low.as_integer_ratio())
    return Enclosed(lower, fmpq(*high.as_integer_ratio()) if isfinite(high) else None)
