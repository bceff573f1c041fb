"""Agents that learn, with whole tables of Q-values in fractions: nothing abstract, nothing merged.

An oracle for laws of few steps: the number of tables grows with every step. It reads the law's
acceptance and rewards, and follows the update rule as it stands.
"""

from __future__ import annotations

from fractions import Fraction

from markov_lrsao import StepLaw
from markov_lrsao.exact.rationals import fraction

__all__ = ["Table", "laws", "still_running"]

Table = tuple[tuple[Fraction, ...], ...]
Law = dict[tuple[int, Table], Fraction]


def laws(law: StepLaw, steps: int, begin: dict[int, Fraction], ends: set[int]) -> list[Law]:
    """Return the law of (position, table) after 0, 1, .. steps; runs stay where they end."""
    a = law.algorithm
    keep, learn, boot, epsilon = map(fraction, (a.keep, a.learn, a.bootstrap, a.epsilon))
    actions, n = len(law.actions), law.n
    fresh: Table = ((Fraction(0),) * actions,) * (max(law.row.tolist()) + 1)
    now: Law = {(p, fresh): w for p, w in begin.items()}
    found = [now]
    for _ in range(steps):
        after: Law = {}
        for (p, q), weight in now.items():
            if p in ends:
                after[p, q] = after.get((p, q), Fraction(0)) + weight
                continue
            row = int(law.row[p])
            best = [b for b in range(actions) if q[row][b] == max(q[row])]
            for b in range(actions):
                share = epsilon / actions + (1 - epsilon) * Fraction(b in best) / len(best)
                for up in (0, 1):
                    chance = share * Fraction(n - p if up else p, n)
                    if not chance:
                        continue
                    to = p + 2 * up - 1 if law.accepted[p, b, up] else p
                    reward = fraction(law.reward(p, b, up))
                    value = keep * q[row][b] + learn * reward + boot * max(q[int(law.row[to])])
                    entries = (*q[row][:b], value, *q[row][b + 1 :])
                    state = (to, (*q[:row], entries, *q[row + 1 :]))
                    after[state] = after.get(state, Fraction(0)) + weight * chance
        now = after
        found.append(now)
    return found


def still_running(
    law: StepLaw, steps: int, begin: dict[int, Fraction] | None = None, ends: set[int] | None = None
) -> list[Fraction]:
    """Return P(T > t) for t = 0, 1, .., from 0 to the optimum unless told otherwise."""
    over = {law.optimum} if ends is None else ends
    found = laws(law, steps, begin or {0: Fraction(1)}, over)
    return [sum((w for (p, _), w in now.items() if p not in over), Fraction(0)) for now in found]
