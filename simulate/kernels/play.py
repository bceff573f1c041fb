"""Compiled runs: arrays and numbers in, arrays out, no validation.

One function plays a run, step by step or event by event, in either arithmetic.

*Event* kernel: while the row's maximum is unique, or tied at exactly 0, the same action (or a
fresh uniform choice among the tied ones) is proposed until a move is accepted, and rejections
change nothing else than the maximum itself (0 stays 0). So the number of rejections is geometric
and is drawn at once; the geometric law has no memory, so the skip may be cut anywhere: at a step
limit, or where a decaying maximum comes near another positive entry. All other ties are played
step by step. The draw inverts the tail with a 53-bit uniform number.

*True semantics* (exact = True): `entries`. A choice that its error bounds leave open is looked up
in `decisions`, made outside by exact arithmetic; if there is none, the run stops UNDECIDED.
*Plain float64* (exact = False): Q = (1 - alpha) Q + alpha (reward + gamma max), compared with ==.

Nothing is allocated inside the loops, so reference counting is off (_nrt): it would cost more than
the arithmetic.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

import math

import numpy as np

from markov_lrsao.compiled import compiled
from simulate.kernels.entries import ERROR, FIELDS, NONE, SCALE, TAG, argmax, decay, safe_rejections
from simulate.kernels.monitors import broken_rule, count_positive, note_rejections
from simulate.kernels.philox import WORDS, below, raw, start, unit
from simulate.kernels.stop import asked
from simulate.kernels.updates import argmax_float, learn, nth, reject_float, share_tag

__all__ = [
    "CENSORED",
    "DONE",
    "FACTS",
    "STOPPED",
    "STUCK",
    "TRACE",
    "UNDECIDED",
    "UNLIMITED",
    "WORDS",
    "play",
    "play_block",
    "stream_words",
]

DONE, CENSORED, STUCK, UNDECIDED, STOPPED = 0, 1, 2, 3, 4
UNLIMITED = 1 << 50
TRACE = 6
"""Columns of a trace: time, position, mask of largest entries, rejections, action, direction.

At `time` the walk was at `position` and the entries in `mask` were largest. `rejections` moves
without reward were rejected; then (action, direction) was proposed, unless action is -1. A line
with position -1 is a restart.
"""
FACTS = 7

_HUGE = 4.0e18


@compiled()
def stream_words(key0, key1, run, purpose, count):
    """Return the first words of a stream, for tests against NumPy's Philox."""
    stream = np.zeros(WORDS, dtype=np.uint64)
    start(stream, key0, key1, np.uint64(run), np.uint64(purpose))
    words = np.empty(count, dtype=np.uint64)
    for i in range(count):
        words[i] = raw(stream)
    return words


@compiled(nogil=True, _nrt=False)
def play(
    law,
    numbers,
    event,
    exact,
    key0,
    key1,
    run,
    limit,
    restart,
    decisions,
    q,
    streams,
    hits,
    facts,
    watch,
    monitors,
    rules,
    trace,
    stop,
):
    """Play one run.

    Parameters
    ----------
    q : scratch, the Q-table; see `entries`
    streams : two rows of WORDS words, scratch
    hits : out, time at which each milestone was first reached since the last restart, or -1
    facts : out, (status, steps, undecided choices, restarts, lines of trace if there is one, and
        where the run stopped undecided or is stuck: mask of candidates, position); a run that
        is STUCK can surely never end, one that is CENSORED perhaps
    watch : whether to fill `monitors` = (visits, uses, most, violation, mine) and look at `rules`;
        most[row] and mine[position] are of this run, the others are added to
    trace : out, as many lines as it has room for; see TRACE
    stop : a flag that another thread may set; the run then ends STOPPED, with nothing to use
    """
    # Arrays taken out of a tuple are reference-counted, too dear inside the loop.
    row_of, accepted, gain, weight = law.row, law.accepted, law.gain, law.weight
    inverse_log = law.inverse_log
    n, optimum, milestones = law.n, law.optimum, law.milestones
    actions = len(law.each)  # a constant for the compiler, which unrolls the loops over actions
    mantissas, exponents = numbers.lam_mantissa, numbers.lam_exponent
    core, lowest = numbers.core, numbers.lowest
    log_lam, rewards, gains = numbers.log_lam, numbers.rewards, numbers.gains
    successor, tag_value = numbers.successor, numbers.tag_value
    coefficients = numbers.keep, numbers.boot, numbers.lam
    complement, rate, discount = numbers.complement, numbers.learn, numbers.discount
    visits, uses, most, violation, mine = monitors
    stream, aside = streams[0], streams[1]
    start(stream, key0, key1, np.uint64(run), np.uint64(0))
    start(aside, key0, key1, np.uint64(run), np.uint64(1))
    width = FIELDS * actions
    q[:] = 0.0
    hits[:] = -1
    t, p, phase, undecided, restarts, lines, begun = 0, 0, 0, 0, 0, 0, 0
    open_line, last_p, last_mask, last_end = False, 0, 0, 0
    mask, best, certain, known, endless = 0, 0, True, False, False
    if watch:
        visits[0] += 1
        most[:] = 0
        mine[:] = 0
        mine[0] = 1
    while True:
        if p == optimum:
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
            lines += 1
            if lines <= len(trace):
                trace[lines - 1] = -1
                trace[lines - 1, 0] = t
            open_line = False
            if watch:
                visits[0] += 1
                mine[:] = 0
                mine[0] = 1
        row = width * row_of[p]
        if exact:
            if not known:
                mask, best, certain = argmax(q, row, actions)
            known = False
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
        moment, rejections, action, direction = t, 0, -1, -1
        if event and (size == 1 or at_zero):
            total = 0
            for a in range(actions):
                if mask >> a & 1:
                    total += weight[p, a]
            horizon = limit - t
            if restart > 0:
                horizon = min(horizon, restart - (t - begun))
            cut = total == 0
            if cut:
                rejections = horizon
            elif 2 * total >= size * n:  # trying is cheaper than a logarithm
                while rejections < horizon:
                    x = below(stream, size * n)
                    action = nth(mask, 0)
                    while x >= n:
                        x -= n
                        action += 1
                        while not mask >> action & 1:
                            action += 1
                    direction = 0 if x < p else 1
                    if accepted[p, action, direction]:
                        break
                    rejections += 1
            else:
                tail = inverse_log[p, best] if size == 1 else 1.0 / math.log1p(-total / (size * n))
                rejections = int(min(math.log(unit(stream)) * tail, _HUGE))
            if rejections >= horizon:
                cut, rejections = True, horizon
            # Nothing is accepted any more, and no rejection changes which entries are largest.
            endless = total == 0 and restart == 0 and at_zero
            if rejections > 0 and not at_zero:
                if exact:
                    safe = safe_rejections(q, row, actions, best, log_lam)
                    endless = total == 0 and restart == 0 and safe < 0
                    if 0 <= safe < rejections:
                        cut, rejections = True, safe
                    q[i], q[i + ERROR], q[i + SCALE] = decay(
                        q[i], q[i + ERROR], q[i + SCALE], rejections, mantissas, exponents
                    )
                    q[i + TAG] = NONE
                else:
                    made = reject_float(
                        q, row, actions, best, rejections, complement, rate, discount
                    )
                    if made < rejections:
                        cut, rejections = True, made
            if endless:
                facts[5], facts[6] = mask, p
            if cut and t + rejections >= UNLIMITED:
                status = STUCK
                break
            if watch and rejections > 0:
                note_rejections(
                    uses, weight, n, actions, aside, phase, p, mask, size, best, rejections, stop
                )
            t += rejections
            if cut:
                action = -1
            elif action < 0:
                x = below(stream, total)
                for a in range(actions):
                    if mask >> a & 1:
                        if x < weight[p, a]:
                            action = a
                            break
                        x -= weight[p, a]
                direction = 0 if x < (p if accepted[p, action, 0] else 0) else 1
        else:
            direction = 0 if below(stream, n) < p else 1
            action = best if size == 1 else nth(mask, below(stream, size))
        if len(trace) > 0:
            quiet = (
                action >= 0
                and not accepted[p, action, direction]
                and (size == 1 or at_zero)
                and gains[gain[p, action, direction]] == 0.0
            )
            # Rejections without reward, one after the other, share a line.
            if not (open_line and last_p == p and last_mask == mask and last_end == moment):
                lines += 1
                if lines <= len(trace):
                    trace[lines - 1, 0] = moment
                    trace[lines - 1, 1] = p
                    trace[lines - 1, 2] = mask
                    trace[lines - 1, 3] = 0
            if lines <= len(trace):
                trace[lines - 1, 3] += rejections + (1 if quiet else 0)
                trace[lines - 1, 4] = -1 if quiet else action
                trace[lines - 1, 5] = -1 if quiet else direction
            open_line = quiet or action < 0
            last_p, last_mask, last_end = p, mask, t + (1 if quiet else 0)
        if action < 0:
            continue
        t += 1
        to = p + 2 * direction - 1 if accepted[p, action, direction] else p
        if watch:
            uses[phase, p, action] += 1
        g = gain[p, action, direction]
        if exact:
            target = width * row_of[to]
            known = target != row  # the next choice is made in that row, which stays as it is
            if known:
                mask, best, certain = argmax(q, target, actions)
            learn(
                q,
                actions,
                row,
                target,
                mask,
                best,
                certain,
                action,
                g,
                coefficients,
                gains,
                core,
                lowest,
                successor,
                tag_value,
            )
        else:
            _, largest = argmax_float(q, width * row_of[to], actions)
            largest = width * row_of[to] + FIELDS * largest
            i = row + FIELDS * action
            q[i] = complement * q[i] + rate * (rewards[g] + discount * q[largest])
        if watch:
            count = count_positive(q, row, actions)
            most[row_of[p]] = max(most[row_of[p]], count)
            mine[to] += to != p
            if violation[0] < 0 and to != optimum:
                broken = broken_rule(q, row, actions, action, count, to, mine, rules)
                if broken >= 0:
                    violation[0], violation[1], violation[2] = run, t, row_of[p]
                    violation[3], violation[4], violation[5] = p, action, broken
        if to != p:
            p = to
            if watch:
                visits[p] += 1
            while phase < len(milestones) and p >= milestones[phase]:
                hits[phase] = t
                phase += 1
    facts[0], facts[1], facts[2], facts[3], facts[4] = status, t, undecided, restarts, lines
    return status


@compiled(nogil=True)
def play_block(
    law,
    numbers,
    event,
    exact,
    key0,
    key1,
    first,
    limit,
    restart,
    decisions,
    places,
    hits,
    facts,
    watch,
    visits,
    uses,
    positives,
    violation,
    rules,
    stop,
):
    """Play runs first, first + 1, ... and fill one row of `hits` and `facts` each.

    Run first + i may use ``decisions[places[i] : places[i + 1]]``.

    ``positives[row, c]`` counts the runs whose row never had more than c positive entries at
    once, but c at some time.
    """
    q = np.empty(law.rows * len(law.each) * FIELDS)
    streams = np.empty((2, WORDS), dtype=np.uint64)
    trace = np.empty((0, TRACE), dtype=np.int64)
    most = np.zeros(law.rows if watch else 0, dtype=np.int64)
    mine = np.zeros(law.n + 1 if watch else 0, dtype=np.int64)
    monitors = (visits, uses, most, violation, mine)
    for i in range(len(hits)):
        decided = decisions[places[i] : places[i + 1]]
        status = play(
            law,
            numbers,
            event,
            exact,
            key0,
            key1,
            first + i,
            limit,
            restart,
            decided,
            q,
            streams,
            hits[i],
            facts[i],
            watch,
            monitors,
            rules,
            trace,
            stop,
        )
        if status == STOPPED:
            break
        if watch and status != UNDECIDED:
            for row in range(law.rows):
                positives[row, most[row]] += 1
