"""Compiled runs: arrays and numbers in, arrays out, no validation.

One function plays a run, step by step or event by event, in either arithmetic.

*Event* kernel: rejections change nothing else than the maximum itself (0 stays 0), so as long as
it is unique, or tied at exactly 0, they are skipped at once: `moves`. The skip is cut at a step
limit, or where a decaying maximum comes near another positive entry. All other ties are played
step by step.

*True semantics* (exact = True): `entries`. A choice that its error bounds leave open is looked up
in `decisions`, made outside by exact arithmetic; if there is none, the run stops UNDECIDED.
*Plain float64* (exact = False): Q = (1 - alpha) Q + alpha (reward + gamma max), compared with ==.

Nothing is allocated inside the loops, and `compiled` is told so: counting references to the arrays
would cost more than the arithmetic.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

import numpy as np

from markov_lrsao.compiled import compiled
from simulate.kernels.entries import FIELDS, TAG
from simulate.kernels.floats import learn_float, work_out
from simulate.kernels.masks import nth, size_of
from simulate.kernels.monitors import note_rejections, watch_start, watch_step
from simulate.kernels.moves import accepted_move, accepted_weight, draw_rejections, reject
from simulate.kernels.names import LENGTH, forget
from simulate.kernels.philox import WORDS, below, raw, start
from simulate.kernels.records import Written
from simulate.kernels.sites import cross
from simulate.kernels.stop import asked
from simulate.kernels.tops import FRESH, unpack
from simulate.kernels.traces import COLUMNS, trace_event, trace_restart
from simulate.kernels.updates import learn, share_tag

__all__ = [
    "CENSORED",
    "COLUMNS",
    "DONE",
    "FACTS",
    "LENGTH",
    "STOPPED",
    "STUCK",
    "UNDECIDED",
    "UNLIMITED",
    "WORDS",
    "play",
    "play_block",
    "stream_words",
]

DONE, CENSORED, STUCK, UNDECIDED, STOPPED = 0, 1, 2, 3, 4
"""A run that is STUCK can surely never end, one that is CENSORED perhaps."""
UNLIMITED = 1 << 50
FACTS = 8


@compiled()
def stream_words(key0, key1, run, purpose, count):
    """Return the first words of a stream, for tests against NumPy's Philox."""
    stream = np.zeros(WORDS, dtype=np.uint64)
    start(stream, key0, key1, np.uint64(run), np.uint64(purpose))
    words = np.empty(count, dtype=np.uint64)
    for i in range(count):
        words[i] = raw(stream)
    return words


@compiled(forceinline=True, allocates=False)
def arrive(law, hits, phase, p, t):
    """Note the milestones that position p has reached at time t; return the phase it is in."""
    while phase < len(law.milestones) and p >= law.milestones[phase]:
        hits[phase] = t
        phase += 1
    return phase


@compiled(nogil=True, allocates=False)
def play(law, numbers, sites, mode, counts, run, decisions, scratch, written, stop):
    """Play one run; its tuples are those of `records`.

    Parameters
    ----------
    stop : a flag that another thread may set; the run then ends STOPPED, with nothing to use
    """
    event, exact, limit, restart = mode.event, mode.exact, mode.limit, mode.restart
    hits, facts, trace = written
    q, tops, names, codes = scratch.q, scratch.tops, scratch.names, scratch.codes
    actions = law.actions  # a constant for the compiler, which unrolls the loops over actions
    stream, aside = scratch.streams[0], scratch.streams[1]
    start(stream, mode.key0, mode.key1, np.uint64(run), np.uint64(0))
    start(aside, mode.key0, mode.key1, np.uint64(run), np.uint64(1))
    # Monitors and exact decisions need values and events one by one.
    by_signs = event and exact and len(sites.zone) > 0
    by_signs = by_signs and not counts.watch and len(trace) == 0 and len(decisions) == 0
    tops[:] = FRESH
    codes[:] = 0
    forget(names)
    hits[:] = -1
    zero = np.int64(0)  # where a 0 is written, Numba compiles everything for that number first
    t, p, phase, undecided, restarts, begun = zero, zero, zero, zero, zero, zero
    line = (zero, False, zero, zero, zero)
    endless, events = False, zero
    if counts.watch:
        counts.most[:] = 0
        watch_start(counts)
    while True:
        if p == law.optimum:
            status = DONE
            break
        if t >= limit:
            status = STUCK if endless else CENSORED
            break
        if asked(stop) != 0:
            status = STOPPED
            break
        if restart > 0 and t - begun >= restart:
            tops[:] = FRESH
            codes[:] = 0
            hits[:] = -1
            p, phase, begun = zero, zero, t
            restarts += 1
            line = trace_restart(trace, line, t)
            if counts.watch:
                watch_start(counts)
        events += 1
        if by_signs and sites.zone[p] != 0:
            until = limit if restart == 0 else min(limit, begun + restart)
            p, t, known, moves = cross(law, sites, codes, q, tops, stream, p, t, until, stop)
            events += moves
            if not known:
                status = UNDECIDED
                break
            phase = arrive(law, hits, phase, p, t)
            continue
        row = law.row[p]
        first = FIELDS * actions * row
        top = tops[row]
        mask, best, certain = unpack(top, actions)
        if not certain:
            if undecided == len(decisions):
                status = UNDECIDED
                facts[5], facts[6] = mask, p
                break
            mask = decisions[undecided]
            undecided += 1
            best = nth(mask, 0)
            share_tag(q, first, actions, mask)
        size = size_of(mask)
        at_zero = top == FRESH
        if not at_zero:
            i = first + FIELDS * best
            at_zero = q[i + TAG] == 0.0 if exact else q[i] == 0.0
        moment, rejections = t, zero
        if event and (size == 1 or at_zero):
            total = accepted_weight(law, p, mask, size, best)
            horizon = limit - t
            if restart > 0:
                horizon = min(horizon, restart - (t - begun))
            rejections, cut, action, direction = draw_rejections(
                law, stream, p, mask, size, best, total, horizon
            )
            for_ever = at_zero
            if rejections > 0 and not at_zero:
                made, for_ever = reject(numbers, q, tops, row, actions, best, rejections, exact)
                if made < rejections:
                    cut, rejections = True, made
            # Nothing is accepted any more, and no rejection changes which entries are largest.
            endless = total == 0 and restart == 0 and for_ever
            if endless:
                facts[5], facts[6] = mask, p
            if cut and t + rejections >= UNLIMITED:
                status = STUCK
                break
            if counts.watch and rejections > 0:
                note_rejections(
                    law, counts.uses, aside, phase, p, mask, size, best, rejections, stop
                )
            t += rejections
            if cut:
                action = -1
            elif action < 0:
                action, direction = accepted_move(law, stream, p, mask, size, best, total)
        else:
            direction = 0 if below(stream, law.n) < p else 1
            action = best if size == 1 else nth(mask, below(stream, size))
        kind = law.kind[p]
        if len(trace) > 0:
            quiet = (
                action >= 0
                and not law.accepted[kind, action, direction]
                and (size == 1 or at_zero)
                and numbers.gains[law.gain[kind, action, direction]] == 0.0
            )
            line = trace_event(
                trace, line, moment, t, p, mask, rejections, action, direction, quiet
            )
        if action < 0:
            continue
        t += 1
        to = p + 2 * direction - 1 if law.accepted[kind, action, direction] else p
        if counts.watch:
            counts.uses[phase, p, action] += 1
        g = law.gain[kind, action, direction]
        if exact:
            learn(numbers, q, tops, names, actions, row, law.row[to], mask, action, g)
        else:
            learn_float(numbers, q, tops, actions, row, law.row[to], action, g)
        if counts.watch:
            watch_step(law, counts, q, action, p, to, run, t)
        if to != p:
            p = to
            if counts.watch:
                counts.visits[p] += 1
            phase = arrive(law, hits, phase, p, t)
    if len(trace) > 0 and not exact:  # whoever asks for a trace may look at the table
        for k in range(law.rows):
            if tops[k] != FRESH:
                for a in range(actions):
                    work_out(numbers, q, FIELDS * (actions * k + a))
    facts[0], facts[1], facts[2], facts[3], facts[4] = status, t, undecided, restarts, line[0]
    facts[7] = events
    return status


@compiled(nogil=True)
def play_block(
    law, numbers, sites, mode, counts, first, decisions, places, scratch, hits, facts, stop
):
    """Play runs first, first + 1, ... and fill one row of `hits` and `facts` each.

    Run first + i may use ``decisions[places[i] : places[i + 1]]``.
    """
    trace = np.empty((0, COLUMNS), dtype=np.int64)
    for i in range(len(hits)):
        decided = decisions[places[i] : places[i + 1]]
        written = Written(hits[i], facts[i], trace)
        status = play(law, numbers, sites, mode, counts, first + i, decided, scratch, written, stop)
        if status == STOPPED:
            break
        if counts.watch and status != UNDECIDED:
            for row in range(law.rows):
                counts.positives[row, counts.most[row]] += 1
