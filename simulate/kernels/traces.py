"""Compiled traces: a line for each event of a run; `records.Written` names the columns.

What is known of the last line is (lines so far, whether it is open, its position, its mask, when it
ends).
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

from markov_lrsao.compiled import compiled

__all__ = ["COLUMNS", "trace_event", "trace_restart"]

COLUMNS = 6


@compiled(allocates=False)
def trace_restart(trace, line, t):
    """Add the line of a restart; return what is known of the last line."""
    lines = line[0] + 1
    if lines <= len(trace):
        trace[lines - 1] = -1
        trace[lines - 1, 0] = t
    return lines, False, line[2], line[3], line[4]


@compiled(allocates=False)
def trace_event(trace, line, moment, end, p, mask, rejections, action, direction, quiet):
    """Add an event to the last line or to a new one; return what is known of the last line.

    A `quiet` proposal is a rejection without reward; those, one after the other, share a line.
    """
    lines, is_open, last_p, last_mask, last_end = line
    if not (is_open and last_p == p and last_mask == mask and last_end == moment):
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
    return lines, quiet or action < 0, p, mask, end + (1 if quiet else 0)
