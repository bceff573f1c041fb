"""What a Q-table can still use, in fractions: a second way to `markov_lrsao.forward.unused`."""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from markov_lrsao import StepLaw
from markov_lrsao.forward.coarse import entry_ends

__all__ = ["Table", "Usable", "later_positions"]

Table = list[list[fmpq]]
_ZERO = fmpq(0)


@dataclass
class Usable:
    """What runs from a position with a table can choose, meet and feel.

    Attributes
    ----------
    dead : (row, action) of entries that are never chosen again
    met : rows that may be met again
    felt : rows whose values matter to a choice
    """

    dead: set[tuple[int, int]]
    met: set[int]
    felt: set[int]

    @classmethod
    def of(cls, law: StepLaw, position: int, table: Table) -> Usable:
        floors = _floors(law)
        actions = range(len(law.actions))
        dead: set[tuple[int, int]] = set()
        while True:
            places = _places(law, position, dead)
            met = {int(law.row[p]) for p in places}
            moves = {
                (r, a): [
                    (gain, int(law.row[to]))
                    for p in places
                    if law.row[p] == r
                    for _, to, gain in law.moves(p, a)
                    if to != law.optimum
                ]
                for r in met
                for a in actions
            }

            def keeps(r: int, a: int, grounded: set[int]) -> bool:
                return all(
                    gain >= 0
                    and (s == r or s in grounded or gain + law.algorithm.bootstrap * floors[s] >= 0)
                    for gain, s in moves[r, a]  # noqa: B023
                )

            grounded = set(met)
            while True:
                held = {
                    r
                    for r in grounded
                    if any(table[r][a] >= 0 and keeps(r, a, grounded) for a in actions)
                }
                if held == grounded:
                    break
                grounded = held
            found = {(r, a) for r in grounded for a in actions if table[r][a] < 0}
            for r in met:
                if any(table[r][a] > 0 and keeps(r, a, grounded) for a in actions):
                    found |= {(r, a) for a in actions if table[r][a] <= 0}
            if found <= dead:
                break
            dead |= found
        felt = {r for r in met if sum((r, a) not in dead for a in actions) > 1}
        while True:
            more = {
                s
                for (r, a), own in moves.items()
                if r in felt and (r, a) not in dead
                for _, s in own
            }
            if more <= felt:
                return cls(dead, met, felt)
            felt |= more

    def matters(self, row: int, action: int) -> bool:
        """Whether runs depend on the value of an entry that is not dead."""
        return row in self.felt and (row, action) not in self.dead


def _floors(law: StepLaw) -> list[fmpq]:
    """Return of every row what it never is below when seen from elsewhere; kept with the law."""
    if "floors of rows" not in law.derived:
        least, _, left = entry_ends(law)
        law.derived["floors of rows"] = [
            max(*line, seen) for line, seen in zip(least, left, strict=True)
        ]
    found: list[fmpq] = law.derived["floors of rows"]
    return found


def _places(law: StepLaw, position: int, dead: set[tuple[int, int]]) -> list[int]:
    """Return the positions that live entries lead to."""
    found = [position]
    for p in found:
        for a in range(len(law.actions)):
            if (int(law.row[p]), a) not in dead:
                found += [
                    q
                    for q in {to for _, to, _ in law.moves(p, a)} - {law.optimum}
                    if q not in found
                ]
    return found


def later_positions(law: StepLaw, position: int, table: Table, steps: int) -> list[dict[int, fmpq]]:
    """Return the laws of the position after each of some steps, exactly."""
    a = law.algorithm
    now: dict[tuple[int, tuple[tuple[fmpq, ...], ...]], fmpq] = {
        (position, tuple(map(tuple, table))): fmpq(1)
    }
    laws = []
    for _ in range(steps):
        after: dict[tuple[int, tuple[tuple[fmpq, ...], ...]], fmpq] = {}
        for (p, rows), mass in now.items():
            if p == law.optimum:
                after[p, rows] = after.get((p, rows), _ZERO) + mass
                continue
            r = int(law.row[p])
            greedy = [b for b, q in enumerate(rows[r]) if q == max(rows[r])]
            for b in greedy:
                for chance, to, gain in law.moves(p, b):
                    new = [list(line) for line in rows]
                    new[r][b] = (
                        a.keep * rows[r][b] + gain + a.bootstrap * max(rows[int(law.row[to])])
                    )
                    if to == law.optimum:  # nothing is learnt for later
                        new = [[_ZERO]]
                    key = to, tuple(map(tuple, new))
                    after[key] = after.get(key, _ZERO) + mass * fmpq(chance, law.n * len(greedy))
        now = after
        found: dict[int, fmpq] = {}
        for (p, _), mass in now.items():
            found[p] = found.get(p, _ZERO) + mass
        laws.append(found)
    return laws
