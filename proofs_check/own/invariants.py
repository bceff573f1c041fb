"""Claims as invariants of the step: what the induction can prove for all n, l, alpha, gamma, r.

A claim about the Q-table ("positive entries per row <= 1", "entry(J) at n - l - 1 = 0") is a
formula about every row, or about the row of one position. It is tried together with the facts of
the paper's lemmas (`proofs_check.logic.facts`). A claim that is no invariant may hold all the same:
the exhaustive check tells on instances.
"""

from __future__ import annotations

from itertools import combinations

from markov_lrsao.exact.rationals import rational_text
from markov_lrsao.model.landscape import Affine, LandscapeFamily
from proofs_check.logic.induction import Fact
from proofs_check.own.language import Claim

__all__ = ["facts_of"]


def facts_of(claim: Claim, family: LandscapeFamily) -> list[Fact] | None:
    """Return a claim as facts; None where it is none of every single row, or fails at the start.

    >>> from markov_lrsao.model.landscape import JUMP
    >>> from proofs_check.own.language import parse_claim
    >>> [fact.text for fact in facts_of(parse_claim("positive entries per row < 2"), JUMP)]
    ['L <= 0 or J <= 0', 'L <= 0 or R <= 0', 'J <= 0 or R <= 0']
    >>> facts_of(parse_claim("visits <= 5"), JUMP) is None
    True
    """
    actions = [name for name, _ in family.objectives]
    whole_table = claim.quantity == "positive entries" and claim.span == ""
    if claim.counts or whole_table or not claim.holds(0) or "//" in claim.at:
        return None  # a rounded position has no meaning over the reals
    if claim.quantity == "entry":
        if claim.of not in actions:
            return None
        texts = [f"{claim.of} {claim.relation} {rational_text(claim.number)}"]
    else:
        most = max(k for k in range(len(actions) + 1) if claim.holds(k))
        texts = [
            " or ".join(f"{a} <= 0" for a in chosen) for chosen in combinations(actions, most + 1)
        ]
    guards = _rows_at(claim.at, family) if claim.span == "at" else [""]
    return [
        Fact(f"{claim}, case {number}", f"{guard}{text}")
        for number, (guard, text) in enumerate(((g, t) for g in guards for t in texts), start=1)
    ]


def _rows_at(position: str, family: LandscapeFamily) -> list[str]:
    """Return for each piece of the target the condition that s is the state of a position there.

    The optimum's row is never updated, and needs no fact.
    """
    pieces = dict(family.objectives)[family.target]
    optimum = family.milestones[-1]
    return [
        f"{position} >= {piece.first} and {position} <= {piece.last} and "
        f"s = {piece.value.p}*({position}) + {_text(piece.value)} -> "
        for piece in pieces
        if not piece.first == piece.last == optimum
    ]


def _text(form: Affine) -> str:
    """Return the part of a form without p."""
    return f"({form.n}*n + {form.ell}*l + {form.constant})"
