"""The invariants of the Q-table that the lemmas assert, in the form the induction proves.

The names are those of `proofs_check.logic.induction`: L, J, R with s for any row, zL .. for the row
of the state 0, tL .. for the row of n - l - 1. Terms of the statements (the bound of Lemma 2, the
lower bounds of Lemma 12) are read as the setting has them, so that a changed statement is what is
proved or not.
"""

from __future__ import annotations

from proofs_check.claims.terms import Terms
from proofs_check.logic.induction import Fact

__all__ = ["facts", "named"]


def named(terms: Terms) -> dict[str, list[Fact]]:
    """Return the facts by the statement that asserts them; "walk" holds those about phases."""
    bound = terms.term("Lemma 2", "bound")
    low_zero = terms.term("Lemma 12", "row 0")
    low_top = terms.term("Lemma 12", "row n-l-1")
    values = terms.term("Lemma 6", "value")
    slope_j = terms.term("Lemma 8", "J")
    return {
        "walk": [
            Fact("phase 1 stays on the left plateau", "p <= l", (1,)),
            Fact("phase 2 ends at n - l", "p <= n - l - 1", (2,)),
        ],
        "Lemma 2": [Fact("upper bound", f"L < {bound} and J < {bound} and R < {bound}")],
        "Lemma 3": [Fact("J at n - l - 1", "tJ = 0"), Fact("L at l + 1", "s = l + 1 -> L = 0")],
        "Lemma 4": [
            Fact("L or J", "L <= 0 or J <= 0"),
            Fact("L or R", "L <= 0 or R <= 0"),
            Fact("J or R", "J <= 0 or R <= 0"),
        ],
        "Lemma 6": [
            Fact("L on the left plateau", "zL >= 0", (1,)),
            Fact("J in row 0", f"zJ = 0 or zJ = {values}", (1, 2)),
            Fact("R in row 0", f"zR = 0 or zR = {values}", (1, 2)),
            Fact(
                "few mistakes",
                "zL > 0 or p <= 0 or p <= 1 and zJ < 0 or p <= 1 and zR < 0 "
                "or p <= 2 and zJ < 0 and zR < 0",
                (1,),
            ),
        ],
        "Lemma 8": [
            Fact("J on the slope", f"s >= l + 1 and s <= n - l - 1 -> {slope_j}"),
            Fact("R below n - l - 2", "s >= l + 1 and s <= n - l - 3 -> R <= 0"),
            Fact("L above l + 2", "s >= l + 3 -> L <= 0"),
            Fact("L in row 0", "zL > 0", (2,)),
        ],
        "Lemma 12": [
            Fact("R in row 0", f"zR >= {low_zero}"),
            Fact("R at n - l - 1", f"tR >= {low_top}"),
            Fact("R above L at n - l - 1", "tR > tL", (3,)),
            Fact("no way back", "p >= n - l - 1", (3,)),
        ],
    }


def facts(terms: Terms) -> list[Fact]:
    """Return all facts."""
    return [fact for group in named(terms).values() for fact in group]
