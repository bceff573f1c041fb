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
from simulate.kernels.entries import FIELDS, TAG, argmax
from simulate.kernels.monitors import note_rejections, watch_start, watch_step
from simulate.kernels.moves import accepted_move, accepted_weight, draw_rejections, reject
from simulate.kernels.philox import WORDS, below, raw, start
from simulate.kernels.records import Written
from simulate.kernels.stop import asked
from simulate.kernels.traces import COLUMNS, NO_LINE, trace_event, trace_restart
from simulate.kernels.updates import argmax_float, learn, learn_float, nth, share_tag

__all__ = [
    "CENSORED",
    "COLUMNS",
    "DONE",
    "FACTS",
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
FACTS = 7


@compiled()
def stream_words(key0, key1, run, purpose, count):
    """Return the first words of a stream, for tests against NumPy's Philox."""
    stream = np.zeros(WORDS, dtype=np.uint64)
    start(stream, key0, key1, np.uint64(run), np.uint64(purpose))
    words = np.empty(count, dtype=np.uint64)
    for i in range(count):
        words[i] = raw(stream)
    return words


@compiled(nogil=True, allocates=False)
def play(law, numbers, mode, counts, run, decisions, q, streams, written, stop):
    """Play one run; its tuples are those of `records`.

    Parameters
    ----------
    q : scratch, the Q-table; see `entries`
    streams : two rows of WORDS words, scratch: for the run, and for the monitors
    stop : a flag that another thread may set; the run then ends STOPPED, with nothing to use
    """
    event, exact, limit, restart = mode.event, mode.exact, mode.limit, mode.restart
    hits, facts, trace = written
    actions = len(law.each)  # a constant for the compiler, which unrolls the loops over actions
    stream, aside = streams[0], streams[1]
    start(stream, mode.key0, mode.key1, np.uint64(run), np.uint64(0))
    start(aside, mode.key0, mode.key1, np.uint64(run), np.uint64(1))
    width = FIELDS * actions
    q[:] = 0.0
    hits[:] = -1
    t, p, phase, undecided, restarts, begun = 0, 0, 0, 0, 0, 0
    line = NO_LINE
    mask, best, certain, known, endless = 0, 0, True, False, False
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
            q[:] = 0.0
            hits[:] = -1
            p, phase, begun, known = 0, 0, t, False
            restarts += 1
            line = trace_restart(trace, line, t)
            if counts.watch:
                watch_start(counts)
        row = width * law.row[p]
        if exact:
            if not known:
                mask, best, certain = argmax(q, row, actions)
            if not certain:
                if undecided == len(decisions):
                    status = UNDECIDED
                    facts[5], facts[6] = mask, p
                    break
                mask = decisions[undecided]
                undecided += 1
                best = nth(mask, 0)
                share_tag(q, row, actions, mask)
        else:
            mask, best = argmax_float(q, row, actions)
        size = 0
        for a in range(actions):
            size += mask >> a & 1
        i = row + FIELDS * best
        at_zero = q[i + TAG] == 0.0 if exact else q[i] == 0.0
        moment, rejections, known = t, 0, False
        if event and (size == 1 or at_zero):
            total = accepted_weight(law, p, mask)
            horizon = limit - t
            if restart > 0:
                horizon = min(horizon, restart - (t - begun))
            rejections, cut, action, direction = draw_rejections(
                law, stream, p, mask, size, best, total, horizon
            )
            for_ever = at_zero
            if rejections > 0 and not at_zero:
                made, for_ever = reject(numbers, q, row, actions, best, rejections, exact)
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
                action, direction = accepted_move(law, stream, p, mask, total)
        else:
            direction = 0 if below(stream, law.n) < p else 1
            action = best if size == 1 else nth(mask, below(stream, size))
        if len(trace) > 0:
            quiet = (
                action >= 0
                and not law.accepted[p, action, direction]
                and (size == 1 or at_zero)
                and numbers.gains[law.gain[p, action, direction]] == 0.0
            )
            line = trace_event(
                trace, line, moment, t, p, mask, rejections, action, direction, quiet
            )
        if action < 0:
            continue
        t += 1
        to = p + 2 * direction - 1 if law.accepted[p, action, direction] else p
        if counts.watch:
            counts.uses[phase, p, action] += 1
        target = width * law.row[to]
        g = law.gain[p, action, direction]
        if exact:
            known = target != row  # the next choice is made in that row, which stays as it is
            if known:
                mask, best, certain = argmax(q, target, actions)
            learn(numbers, q, actions, row, target, mask, best, certain, action, g)
        else:
            learn_float(numbers, q, actions, row, target, action, g)
        if counts.watch:
            watch_step(law, counts, q, row, action, p, to, run, t)
        if to != p:
            p = to
            if counts.watch:
                counts.visits[p] += 1
            while phase < len(law.milestones) and p >= law.milestones[phase]:
                hits[phase] = t
                phase += 1
    facts[0], facts[1], facts[2], facts[3], facts[4] = status, t, undecided, restarts, line[0]
    return status


@compiled(nogil=True)
def play_block(law, numbers, mode, counts, first, decisions, places, hits, facts, stop):
    """Play runs first, first + 1, ... and fill one row of `hits` and `facts` each.

    Run first + i may use ``decisions[places[i] : places[i + 1]]``.
    """
    q = np.empty(law.rows * len(law.each) * FIELDS)
    streams = np.empty((2, WORDS), dtype=np.uint64)
    trace = np.empty((0, COLUMNS), dtype=np.int64)
    for i in range(len(hits)):
        decided = decisions[places[i] : places[i + 1]]
        written = Written(hits[i], facts[i], trace)
        status = play(law, numbers, mode, counts, first + i, decided, q, streams, written, stop)
        if status == STOPPED:
            break
        if counts.watch and status != UNDECIDED:
            for row in range(law.rows):
                counts.positives[row, counts.most[row]] += 1
