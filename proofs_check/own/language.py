"""The language of claims: ``quantity [per row | per position | at P] relation number``.

Quantities are ``visits``, ``uses(OBJ)``, ``positive entries``, ``entry(OBJ)`` and ``moves before
hit(P)``; relations ``<=``, ``<``, ``=``, ``>=``, ``>``; the number is an integer, a fraction or a
decimal, read exactly. A position P is a number or a form in n and l, such as ``n - l - 1``.

>>> str(parse_claim(" visits per  position<=5.0"))
'visits per position <= 5'
>>> parse_claim("uses(J) at n-l < 3/2").at
'n-l'

What the words mean is told in docs/own_lemmas.md; `proofs_check.own.targets` computes it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from typing import Literal, get_args

from flint import fmpq

from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.rationals import rational, rational_text
from markov_lrsao.model.landscape import Landscape
from proofs_check.claims.expressions import COMPARISONS, brief, evaluate

__all__ = ["GRAMMAR", "Claim", "Quantity", "Span", "parse_claim", "position_of"]

Quantity = Literal["visits", "uses", "positive entries", "entry", "moves before hit"]
Span = Literal["", "row", "position", "at"]

GRAMMAR = (
    "write QUANTITY [per row | per position | at P] (<= | < | = | >= | >) NUMBER, where QUANTITY "
    "is visits, uses(OBJ), positive entries, entry(OBJ) or moves before hit(P)"
)
_FORMS = {
    "visits": "visits",
    "positive entries": "positive entries",
    "uses": "uses(OBJ)",
    "entry": "entry(OBJ)",
    "moves before hit": "moves before hit(P)",
}
_QUANTITY = re.compile(r"([a-z]+(?: [a-z]+)*)\s*(?:\((.*)\))?", re.IGNORECASE)
_SPAN = re.compile(r"(.*?\S)\s+(?:per\s+(\S+)|at\s+(.+))", re.IGNORECASE)
_RELATION = re.compile(r"[<>=!\u2264\u2265~]+")
_MEANT = {
    "==": "=",
    "=<": "<=",
    "=>": ">=",
    "<>": "=",
    "\u2264": "<=",
    "\u2265": ">=",
    "<<": "<",
    ">>": ">",
}
_LONGEST = 500


@dataclass(frozen=True)
class Claim:
    """A claim about all runs of an instance.

    Attributes
    ----------
    of : the objective of uses and entry, the position of hit; "" for other quantities
    span : "row" and "position": for each of them; "at": at one position; "" as the quantity has it
    at : the position, with span "at"
    """

    quantity: Quantity
    relation: str
    number: fmpq
    of: str = ""
    span: Span = ""
    at: str = ""

    @property
    def counts(self) -> bool:
        """Whether it speaks about a number of steps of a run, rather than about Q-values."""
        return self.quantity in ("visits", "uses", "moves before hit")

    def holds(self, value: fmpq | int) -> bool:
        """Whether a value stands in the claimed relation to the number."""
        return bool(COMPARISONS[self.relation](fmpq(value), self.number))

    def __str__(self) -> str:
        of = f"({self.of})" if self.of else ""
        where = {"": "", "at": f" at {self.at}"}.get(self.span, f" per {self.span}")
        return f"{self.quantity}{of}{where} {self.relation} {rational_text(self.number)}"


def parse_claim(text: str) -> Claim:
    """Read a claim.

    Raises
    ------
    ParameterError
        It cannot be understood; the message says why, and what may have been meant.
    """
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise ParameterError(f"a claim must be text of at most {_LONGEST} characters; {GRAMMAR}")
    words = " ".join(text.split())
    relations = _RELATION.findall(words)
    if len(relations) != 1:
        what = "has no relation" if not relations else "has more than one relation"
        raise ParameterError(f"claim {brief(text)} {what}; {GRAMMAR}")
    relation = relations[0]
    if relation not in COMPARISONS:
        meant = f": did you mean {_MEANT[relation]!r}?" if relation in _MEANT else ""
        raise ParameterError(
            f"claim {brief(text)}: {relation!r} is no relation{meant}; choose from "
            f"{', '.join(COMPARISONS)}"
        )
    left, right = (side.strip() for side in words.split(relation))
    try:
        number = rational(right, "its number")
    except ParameterError as error:
        raise ParameterError(f"claim {brief(text)}: {error}") from None
    quantity, of, span, at = _left_side(left, text)
    return Claim(quantity, relation, number, of, span, at)


def _left_side(left: str, text: str) -> tuple[Quantity, str, Span, str]:
    """Return the quantity with its argument, and the span with its position."""
    span: Span = ""
    at = ""
    match = _SPAN.fullmatch(left)
    if match:
        left = match[1]
        if match[3] is not None:
            span, at = "at", _form(match[3], text)
        elif match[2].lower() in ("row", "position"):
            span = "row" if match[2].lower() == "row" else "position"
        else:
            near = _near(match[2].lower(), ("row", "position"))
            raise ParameterError(
                f"claim {brief(text)}: 'per {match[2]}' is not understood{near}; choose per row, "
                f"per position, or at P"
            )
    match = _QUANTITY.fullmatch(left)
    name = match[1].lower() if match else left
    of = (match[2] or "").strip() if match else ""
    for known in get_args(Quantity):
        if match and name == known:
            form = _FORMS[known]
            if ("(" in form) != bool(of) or ("(" in left and not of):
                raise ParameterError(f"claim {brief(text)}: write {form}, not {brief(left)}")
            of = _form(of, text) if known == "moves before hit" else of
            return known, of, span, at
    near = _near(name, _FORMS)
    raise ParameterError(f"claim {brief(text)}: no quantity {brief(left)}{near}; {GRAMMAR}")


def _near(word: str, known: object) -> str:
    names = list(known) if isinstance(known, dict | tuple) else []
    found = get_close_matches(word, names, n=1, cutoff=0.5)
    return f": did you mean {_FORMS.get(found[0], found[0])!r}?" if found else ""


def _form(text: str, claim: str) -> str:
    """Return the text of a position, if it can be one."""
    try:
        evaluate(text, {"n": Fraction(9), "l": Fraction(2)}, {"number": Fraction})
    except ParameterError as error:
        raise ParameterError(
            f"claim {brief(claim)}: {brief(text)} is no position ({error}); write a number or a "
            f"form in n and l, such as n - l - 1"
        ) from None
    return text


def position_of(text: str, landscape: Landscape) -> int:
    """Return the position that a number or a form in n and l stands for on a landscape.

    Raises
    ------
    ParameterError
        It is none of 0..n, or it speaks of an l that the landscape does not have.
    """
    names = {"n": Fraction(landscape.n)}
    if landscape.ell:
        names["l"] = Fraction(landscape.ell)
    elif re.search(r"\bl\b", text):
        raise ParameterError(
            f"position {brief(text)}: landscape {landscape.name} has no l; write a number or a "
            f"form in n"
        )
    found = evaluate(text, names, {"number": Fraction})
    value = int(found) if isinstance(found, Fraction | int) and found == int(found) else None
    if value is None:
        raise ParameterError(f"position {brief(text)} is {found} at n = {landscape.n}: no integer")
    if not 0 <= value <= landscape.n:
        raise ParameterError(
            f"position {brief(text)} is {value} at n = {landscape.n}: choose one of "
            f"0..{landscape.n}"
        )
    return value
