r"""Explicit bounds on E[T_2] for all n, l and all of (H), from the slope's automata.

**Above.** On l+2..n-l-2 every objective accepts an upward move, so by Wald's identity the expected
number of steps at s is n/(n-s) E[1 + D_(s+1)], D_s the falls from s to s-1, which are at most two.
At n-l-1 a step leads up with probability at least `share` (l+1)/n. At l+2 a step leads up with
probability (n-l-2)/n > 1/2, so all exits take 2 `most` steps on average and fewer falls; at l+1 at
least one of the greedy actions leads up, with probability (n-l-1)/n > 1/2; at l only L is used, and
a step leads up with probability (n-l)/n > 1/2.

**Below.** D_s is at least the number g(s) of falls before s is first left upwards, a rational
function of s/n, and 2 - E[g(s)] <= c (n-s)/n.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from markov_lrsao.errors import SolverError
from markov_lrsao.exact.rationals import rational_text
from markov_lrsao.model.landscape import P
from markov_lrsao.model.law import DOWN, UP
from proofs_check.automata.abstraction import Automaton, SlopeAutomata
from proofs_check.automata.elimination import eliminate
from proofs_check.logic.cases import cases, region_solver
from proofs_check.logic.induction import Induction
from proofs_check.logic.journal import Shelf

__all__ = ["SlopeBounds", "slope_bounds", "upward_shares"]


@dataclass(frozen=True)
class SlopeBounds:
    """Formulas low <= E[T_2] <= high for all l >= 2, n >= 2l + 5, and what they come from.

    Attributes
    ----------
    most : the largest number of upward exits of a site of l+2..n-l-2, one more than its returns
    share : how many of the greedy actions at n-l-1 lead up at least
    constant : bound on the expected time at or below l+2
    missing : c with 2 - E[g(s)] <= c (n-s)/n
    """

    most: int
    share: fmpq
    constant: fmpq
    missing: int

    @property
    def sites(self) -> str:
        """The time on l+3..n-l-2 at most."""
        return f"{self.most}*n*(H(n - l - 3) - H(l + 1))"

    @property
    def waiting(self) -> str:
        """The time at n-l-1 at most."""
        return f"{rational_text(1 / self.share)}*n/(l + 1)"

    @property
    def high(self) -> str:
        """The upper bound."""
        return f"{self.sites} + {self.waiting} + {rational_text(self.constant)}"

    @property
    def low(self) -> str:
        """The lower bound."""
        return f"{self.most}*n*(H(n - l - 3) - H(l + 3)) - {self.missing}*n"


_KNOWN: Shelf[SlopeBounds] = Shelf("bounds of E[T2]")


def slope_bounds(induction: Induction, slope: SlopeAutomata) -> SlopeBounds:
    """Derive the bounds (once per model, hypothesis and set of facts).

    Raises
    ------
    SolverError
        The argument does not apply: what it needs is not so, or not proved.
    """
    setting = induction.setting
    key = (setting.family, setting.algorithm, setting.hypothesis, induction.facts)
    return _KNOWN.get(key, lambda: _derive(induction, slope))


def _derive(induction: Induction, slope: SlopeAutomata) -> SlopeBounds:
    wanted = ("l+1", "l+2", "interior", "n-l-2", "n-l-1")
    if set(slope.automata) != set(wanted):
        raise SolverError(f"the slope has other kinds of sites: {', '.join(slope.automata)}")
    _check_acceptance(induction)
    most = 1 + max(_falls(slope.automata[name]) for name in ("interior", "n-l-2", "n-l-1"))
    shares = {name: min(upward_shares(a)) for name, a in slope.automata.items()}
    if min(shares.values()) <= 0:
        raise SolverError("a site of the slope may be left downwards only")
    if slope.foot:
        raise SolverError(slope.foot)
    exits = 2 * most / shares["l+2"]
    stays = 2 / shares["l+1"]
    at_foot = exits + (1 + exits) * stays + 2 * _falls(slope.automata["l+1"])
    missing = _missing(slope.automata["interior"], most - 1)
    return SlopeBounds(most, shares["n-l-1"], fmpq(at_foot), missing)


def _falls(automaton: Automaton) -> int:
    """Return how often a site can be left downwards.

    Raises
    ------
    SolverError
        There is no bound.
    """
    found = automaton.most(lambda move: move.moved == -1)
    if found is None:
        raise SolverError(f"no number bounds the falls from {automaton.name}")
    return found


def upward_shares(automaton: Automaton) -> list[fmpq]:
    """Return, per state of a site, the share of greedy actions that move up."""
    result = []
    for cells in automaton.states:
        moves = [m for m in automaton.moves if m.source == cells]
        actions = {m.action for m in moves}
        up = {m.action for m in moves if m.moved == 1}
        result.append(fmpq(len(up), len(actions)))
    return result


def _check_acceptance(induction: Induction) -> None:
    """Check that every objective accepts upward moves on l+2..n-l-2."""
    family = induction.setting.family
    solver = region_solver(family)
    inside = (P - induction.first - 1, induction.top - 1 - P)
    found = cases(family, (induction.first, induction.top), induction.algorithm.accept_equal)
    for case in found:
        if case.direction == UP and case.outcome < 0 and solver.feasible((*case.region, *inside)):
            raise SolverError(f"an upward move is rejected on the slope: {case}")


def _missing(automaton: Automaton, largest: int) -> int:
    """Return c with largest - E[g] <= c (1 - x) for all x in [0, 1], x = s/n.

    Raises
    ------
    SolverError
        The coefficients prove it for no c tried.
    """
    import sympy
    from sympy import QQ
    from sympy.polys.fields import field

    fractions, x = field("x", QQ)
    zero = 0 * fractions.one
    rows: dict[Hashable, dict[Hashable, Any]] = {}
    outputs: dict[Hashable, dict[Hashable, Any]] = {}
    for cells in automaton.states:
        here = [m for m in automaton.moves if m.source == cells]
        ties = len({m.action for m in here})
        rows[cells], outputs[cells] = {}, {"falls": zero}
        for move in here:
            chance = (x if move.direction == DOWN else 1 - x) / ties
            if move.moved == 1:
                continue
            rows[cells][move.target] = rows[cells].get(move.target, zero) + chance
            if move.moved == -1:
                outputs[cells]["falls"] += chance
    if not automaton.decided:
        raise SolverError(f"the automaton of {automaton.name} is not decided")
    falls = eliminate(rows, outputs, zero)[automaton.states[0]]["falls"].as_expr()
    # x = 1/(1+y) takes [0, 1] to y >= 0, where one-signed coefficients settle a sign
    y, old = sympy.Symbol("y"), sympy.Symbol("x")
    for constant in range(1, 101):
        gap = constant * (1 - old) - (largest - falls)
        top, bottom = sympy.fraction(sympy.cancel(sympy.together(gap.subs(old, 1 / (1 + y)))))
        signs = [{c > 0 for c in sympy.Poly(part, y).coeffs() if c != 0} for part in (top, bottom)]
        if len(signs[1]) == 1 and signs[0] in (set(), signs[1]):
            return constant
    raise SolverError("falls before the first exit are not bounded from below")
