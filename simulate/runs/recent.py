"""Values of entries from what happened last, whatever the length of the run.

An update  keep x + gain + boot y  lets the past fade: with |keep| + |boot| < 1 no entry ever
leaves [-B, B], B = max |gain| / (1 - |keep| - |boot|), and a value that enters with the weight w
(the product of the coefficients on the way) moves the result by w B at most. So a value is enclosed
from the few events whose weights exceed 2^-bits; all others are [-B, B]. What is left out is wide,
never wrong: the weights only say where to stop, and the balls carry what follows.

An event is made of earlier ones only. Taken from the latest downwards, an event has its weight
(the largest over all ways to it) before it is reached.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush
from math import inf, log2

from flint import arb, ctx, fmpq

from markov_lrsao.exact.rationals import to_float
from simulate.runs.encoding import EncodedLaw
from simulate.runs.events import Events

__all__ = ["MOST_EVENTS", "enclosed"]

MOST_EVENTS = 20_000
"""Beyond so many the whole history is as cheap."""


def enclosed(
    encoded: EncodedLaw, events: Events, wanted: Iterable[int], bits: int
) -> dict[int, arb]:
    """Return balls around the values that events made (-1: 0), from the heaviest of the past."""
    algorithm = encoded.step_law.algorithm
    keep, boot = algorithm.keep, algorithm.bootstrap
    before = ctx.prec
    ctx.prec = bits + 32
    try:
        faded = _bound(encoded)
        found: dict[int, arb] = {-1: arb(0)}
        heavy, light = _heaviest(events, set(wanted), (keep, boot), bits)
        for event in light:
            found[event] = faded
        for event, own, others in reversed(heavy):
            count = int(events.count[event])
            if count:
                found[event] = found[own] * arb(keep + boot) ** count
                continue
            best = found[others[0]] if others else found[own]
            for part in others[1:]:
                best = best.max(found[part])
            gain = arb(encoded.gains[int(events.gain[event])])
            found[event] = arb(keep) * found[own] + gain + arb(boot) * best
        return found
    finally:
        ctx.prec = before


def _bound(encoded: EncodedLaw) -> arb:
    """Return the ball that holds every entry at all times."""
    algorithm = encoded.step_law.algorithm
    room = 1 - abs(algorithm.keep) - abs(algorithm.bootstrap)
    if room <= 0:
        return arb(0, inf)
    most = max((abs(gain) for gain in encoded.gains), default=fmpq(0)) / room
    return arb(0, (arb(most) * (1 + arb(2) ** -20)).upper())


def _heaviest(
    events: Events, wanted: set[int], rates: tuple[fmpq, fmpq], bits: int
) -> tuple[list[tuple[int, int, list[int]]], list[int]]:
    """Return the events of weight 2^-bits and more, latest first, and those beyond them.

    The former come with what they are made of.
    """
    keep, boot = (_log2(rate) for rate in rates)
    lam = _log2(rates[0] + rates[1])
    weight = {event: 0.0 for event in wanted if event >= 0}
    heap = [-event for event in sorted(weight, reverse=True)]
    heavy: list[tuple[int, int, list[int]]] = []
    light: list[int] = []
    while heap:
        event = -heappop(heap)
        now = weight[event]
        if now < -bits or len(heavy) >= MOST_EVENTS:
            light.append(event)
            continue
        own, others = events.made_of(event)
        heavy.append((event, own, others))
        count = int(events.count[event])
        # Looking at its own row the entry enters twice, which is lam.
        enters = count * lam if count else (keep if others else lam)
        for part, rate in ((own, enters), *((part, boot) for part in others)):
            if part >= 0:
                if part not in weight:
                    heappush(heap, -part)
                weight[part] = max(weight.get(part, -inf), now + rate)
    return heavy, light


def _log2(rate: fmpq) -> float:
    return log2(abs(to_float(rate))) if rate != 0 else -inf
