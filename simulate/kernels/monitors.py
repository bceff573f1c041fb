"""Compiled monitors: what `play` counts and watches for besides the runs themselves."""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

from markov_lrsao.compiled import compiled
from simulate.kernels.entries import ERROR, FIELDS, SCALE
from simulate.kernels.moves import weight
from simulate.kernels.philox import below
from simulate.kernels.stop import asked

__all__ = ["broken_rule", "count_positive", "note_rejections", "watch_start", "watch_step"]

_LEAST_FLOAT = 5e-324
_PATIENCE = 1 << 16  # draws between two looks at the flag


@compiled(allocates=False)
def count_positive(q, row, actions):
    """Count the entries of a row that are certainly positive."""
    count = 0
    for a in range(actions):
        i = row + FIELDS * a
        if q[i] > q[i + ERROR]:
            count += 1
    return count


@compiled(forceinline=True, allocates=False)
def watch_start(counts):
    """Note that a run starts at 0, for the first time or again."""
    counts.visits[0] += 1
    counts.mine[:] = 0
    counts.mine[0] = 1


@compiled(forceinline=True, allocates=False)
def watch_step(law, counts, q, action, p, to, run, t):
    """Look at the row that step t of a run has changed, and note the first broken rule."""
    actions = law.actions
    row = FIELDS * actions * law.row[p]
    count = count_positive(q, row, actions)
    counts.most[law.row[p]] = max(counts.most[law.row[p]], count)
    counts.mine[to] += to != p
    violation = counts.violation
    if violation[0] < 0 and to != law.optimum:
        broken = broken_rule(q, row, actions, action, count, to, counts.mine, counts.rules)
        if broken >= 0:
            violation[0], violation[1], violation[2] = run, t, law.row[p]
            violation[3], violation[4], violation[5] = p, action, broken


@compiled(allocates=False)
def broken_rule(q, row, actions, a, positive, to, mine, rules):
    """Return the number of the rule that a step has surely broken, or -1; see `rules`."""
    i = row + FIELDS * a
    least, greatest = rules.least[i // FIELDS], rules.greatest[i // FIELDS]
    low, high = q[i] - q[i + ERROR], q[i] + q[i + ERROR]
    if q[i + SCALE] < 0.0:  # nearer to 0 than any bound but 0 itself
        low = high = _LEAST_FLOAT if q[i] > 0.0 else -_LEAST_FLOAT
    if positive > rules.most_positive:
        return 0
    if mine[to] > rules.most_visits[to]:
        return 1
    if high < least:
        return 2
    if low > greatest:
        return 3
    return -1


@compiled(forceinline=True, allocates=False)
def note_rejections(law, uses, stream, phase, p, mask, size, best, count, stop):
    """Count which of the tied actions were rejected; drawn from the monitors' own stream."""
    if size == 1:
        uses[phase, p, best] += count
        return
    total = 0
    for a in range(law.actions):
        if mask >> a & 1:
            total += law.n - weight(law, p, a)
    for k in range(count):
        if k % _PATIENCE == 0 and asked(stop) != 0:
            break
        x = below(stream, total)
        for a in range(law.actions):
            if mask >> a & 1:
                x -= law.n - weight(law, p, a)
                if x < 0:
                    uses[phase, p, a] += 1
                    break
