"""Scopes: for which sizes and hyper-parameters something is claimed, proved or checked.

A proof for one choice of hyper-parameters does not prove a claim about all of (H), and one for
some n does not prove it for all. So a statement says what it claims, a piece of evidence what it
covers, and `Scope.covers` tells whether the one reaches the other.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "ALL_SIZES",
    "ANY_HYPER",
    "ANY_LANDSCAPE",
    "EVERYWHERE",
    "IN_H",
    "NOWHERE",
    "PAPER",
    "PAPER_HYPER",
    "SIZES_ONLY",
    "WITHOUT",
    "Scope",
]

ANY_LANDSCAPE, ALL_SIZES = "any landscape", "all valid n, l"
"""The second are the landscape's own constraints: l >= 2 and n >= 2l + 5 on Jump."""
ANY_HYPER, IN_H, PAPER_HYPER = "all alpha, gamma in (0, 1), r > 0", "all of (H)", "the paper's"
"""(H) is the setting's hypothesis."""
WITHOUT = "-"
"""The claim or the argument does not speak of sizes, or of hyper-parameters."""

_WIDE = ((ANY_LANDSCAPE, ALL_SIZES), (ANY_HYPER, IN_H))


def _reaches(mine: str, other: str, wide: tuple[str, ...]) -> bool:
    """Whether one coordinate covers the other; texts that are not wide cover only themselves."""
    if WITHOUT in (mine, other) or mine == other:
        return True
    return mine in wide and (other not in wide or wide.index(mine) < wide.index(other))


@dataclass(frozen=True)
class Scope:
    """What a claim speaks about, or what a piece of evidence covers.

    Attributes
    ----------
    sizes : n and l, or the landscapes, in words
    hyper : alpha, gamma and r, in words

    >>> EVERYWHERE.covers(PAPER), PAPER.covers(EVERYWHERE)
    (True, False)
    >>> Scope("n = 9, l = 2", IN_H).covers(EVERYWHERE)
    False
    """

    sizes: str = ALL_SIZES
    hyper: str = IN_H

    def covers(self, claimed: Scope) -> bool:
        """Whether evidence of this scope speaks about all that is claimed."""
        if not (self.sizes and self.hyper):
            return False
        return _reaches(self.sizes, claimed.sizes, _WIDE[0]) and _reaches(
            self.hyper, claimed.hyper, _WIDE[1]
        )

    def __str__(self) -> str:
        if self.hyper in ("", WITHOUT):
            return "" if self.sizes == WITHOUT else self.sizes
        return f"{self.sizes}; {self.hyper}"

    def to_dict(self) -> dict[str, str]:
        """Return the scope for machines."""
        return {"sizes": self.sizes, "hyper_parameters": self.hyper}


EVERYWHERE = Scope()
PAPER = Scope(hyper=PAPER_HYPER)
SIZES_ONLY = Scope(hyper=WITHOUT)
NOWHERE = Scope("", "")
"""The scope of evidence that states none: it covers nothing."""
