r"""Regimes of k exits: E[T_3] = E_inf + C ((n-l)/n)^k, for all n, l and k.

Write a = alpha, g = gamma, G = n-l-1 and D = 1 + g G/(1-g), a bound of the entries that L and the
slope can have (an invariant under (H)). If J stands at -a r when it first leaves n-l downwards,
i such exits leave it between

    low(q) = (1-q) G - a r q    and    high(q) = (1-q)(G + g D) - a r q,      q = (1-a)^i,

since an exit makes it (1-a) J + a G + a g M with 0 <= M <= D, whatever row n-l-1 has seen. The
*regime of k exits* is the part of (H) in which

    high((1-a)^(k-1)) < 0 < low((1-a)^k)      J becomes positive with the k-th exit,
    a (1-a) r > ((1-a)(1-a+ag) + ag) D        L falls below R with its second use,
    a G > D                                   J after a penalty is above L after one.

As high falls with q, the first line implies (1-a) r > G + g D for k >= 2; for k = 1 it says
(1-a) r < G. Under either, the solver decides every comparison of Q-entries on the right plateau for
all n and l; for k >= 2 the walk is left open where J is back after its first exit. From there J is
the only greedy action at n-l as long as it is negative. It falls with probability x = (n-l)/n
and comes back after n/(l+1) steps; or it steps up and is below R for good, and R leads. So with v_i
the mean time after i exits

    v_i = 1 + x (n/(l+1) + v_(i+1)) + (1-x) n H_(l-1)   for i < k,    v_k = v_+  (J is positive),

hence v_1 = v_inf + x^(k-1) (v_+ - v_inf), and E[T_3] is linear in v_1. The case k = 1 has a walk of
its own, which must give the same formula.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from markov_lrsao.errors import SolverError, VerificationError
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.law import DOWN, UP
from markov_lrsao.model.parameters import Parameters, hypothesis_h
from proofs_check.automata.abstraction import SlopeAutomata
from proofs_check.automata.closed import Form, Piecewise, form_of, fractions, left_forms
from proofs_check.automata.elimination import eliminate, first_exits
from proofs_check.automata.symbolic import Node, Plateau, Walk, derive, right_plateau
from proofs_check.claims.verdict import Verdict
from proofs_check.logic.induction import Fact, Induction, StepFact
from proofs_check.logic.journal import Shelf

__all__ = ["COMMON", "FIRST", "LATER", "ExitForms", "exit_forms", "regime_of"]

_GAIN = "(n - l - 1)"
_LARGEST = f"(1 + gamma*{_GAIN}/(1 - gamma))"
COMMON = (
    f"alpha*(1 - alpha)*r > ((1 - alpha)*(1 - alpha + alpha*gamma) + alpha*gamma)*{_LARGEST}",
    f"alpha*{_GAIN} > {_LARGEST}",
)
"""L falls below R with its second use; J after a penalty is above L after one."""
FIRST = f"(1 - alpha)*r < {_GAIN}"
"""One exit makes J positive."""
LATER = f"(1 - alpha)*r > {_GAIN} + gamma*{_LARGEST}"
"""One exit does not."""

_FACTS = (
    Fact("J below n - l - 2", f"s >= l + 1 and s <= n - l - 3 -> J <= {_LARGEST}"),
    Fact("R below n - l - 2", f"s >= l + 1 and s <= n - l - 3 -> R <= {_LARGEST}"),
    Fact("L at n - l - 1", "tL <= 0"),
    Fact("R at n - l - 1", f"tR <= {_LARGEST}"),
    Fact("L in row 0", f"zL <= {_LARGEST}", (1, 2)),
)


def _low(q: str) -> str:
    return f"(1 - {q})*{_GAIN} - alpha*r*{q}"


def _high(q: str) -> str:
    return f"(1 - {q})*({_GAIN} + gamma*{_LARGEST}) - alpha*r*{q}"


_NEXT = "((1 - alpha)*q)"
_EXITS = (
    StepFact(
        "an exit moves J from [low(q), high(q)] to [low((1-a) q), high((1-a) q)]",
        f"zJ1 >= {_low(_NEXT)} and zJ1 <= {_high(_NEXT)}",
        f"p = n - l and p1 = n - l - 1 and q > 0 and q <= 1 and zJ >= {_low('q')} and "
        f"zJ <= {_high('q')}",
        (3,),
        ("J",),
    ),
    StepFact(
        "a negative J that steps up falls below R for good",
        "zJ1 < -alpha*r",
        "p = n - l and p1 = n - l + 1 and zJ < 0",
        (3,),
        ("J",),
    ),
)


def regime_of(n: int, ell: int, parameters: Parameters, largest: int = 200) -> int | None:
    """Return k if hyper-parameters lie in the regime of k exits, k <= largest, else None.

    >>> regime_of(9, 2, Parameters.paper(9)), regime_of(9, 2, Parameters("1/2", "1/10", 13))
    (1, 2)
    """
    a, g, r = parameters.alpha, parameters.gamma, parameters.r
    gain = fmpq(n - ell - 1)
    most = 1 + g * gain / (1 - g)
    if not hypothesis_h(Landscape.jump(n, ell), parameters).holds or a * gain <= most:
        return None
    if a * (1 - a) * r <= ((1 - a) * (1 - a + a * g) + a * g) * most:
        return None
    q = fmpq(1)
    for k in range(1, largest + 1):
        if (1 - q) * (gain + g * most) - a * r * q >= 0:
            return None
        q *= 1 - a
        if (1 - q) * gain - a * r * q > 0:
            return k
    return None


@dataclass(frozen=True, eq=False)
class ExitForms:
    """E[T_3] = limit + factor ((n-l)/n)^k in the regime of k exits.

    Attributes
    ----------
    limit : E_inf
    factor : C
    walks : the walks for k = 1 and for k >= 2
    """

    limit: Piecewise
    factor: Piecewise
    walks: tuple[Walk, Walk]

    def at(self, n: int, ell: int, k: int) -> fmpq:
        """Return E[T_3] exactly."""
        return self.limit.at(n, ell) + self.factor.at(n, ell) * fmpq(n - ell, n) ** k


_KNOWN: Shelf[ExitForms] = Shelf("walks in the regimes of k exits")


def exit_forms(induction: Induction, slope: SlopeAutomata) -> ExitForms:
    """Derive both walks and solve them (once per model, hypothesis and set of facts).

    Raises
    ------
    SolverError
        Something is not decided for all n and l.
    VerificationError
        The walks for k = 1 and k >= 2 give different formulas.
    """
    setting = induction.setting
    key = (setting.family, setting.algorithm, setting.hypothesis, induction.facts)
    return _KNOWN.get(key, lambda: _derive(induction, slope))


def _widened(induction: Induction) -> Induction:
    """Return the induction with the further invariants, which hold for all of (H).

    Raises
    ------
    SolverError
        One is not derived.
    """
    wide = Induction(induction.setting, (*induction.established, *_FACTS), induction)
    found = wide.prove(_FACTS)
    if found.verdict is not Verdict.PROVED:
        raise SolverError(f"not an invariant: {found.details[-1]}")
    return wide


def _narrowed(wide: Induction, condition: str) -> Induction:
    """Return the induction in the regimes with a condition on the first exit.

    Raises
    ------
    SolverError
        How phase 3 begins, or what an exit does, is not derived.
    """
    setting = wide.setting
    hypothesis = (*setting.hypothesis, *COMMON, condition)
    narrow = Induction(setting.mutate(hypothesis=hypothesis), wide.established, wide)
    begins = StepFact(
        "L leads as phase 3 begins",
        f"zL1 > 0 and zL1 > zJ1 and zL1 > zR1 and zL1 <= {_LARGEST}",
        f"p1 = {wide.cut}",
        (2,),
    )
    found = narrow.prove([begins, *_EXITS])
    if found.verdict is not Verdict.PROVED:
        raise SolverError(f"not derived: {found.details[-1]}")
    return narrow


def _plateau(induction: Induction) -> Plateau:
    once = f"(1 - alpha + alpha*gamma)*{_LARGEST} - alpha*r"
    kept = f"(1 - alpha + alpha*gamma)*alpha*{_GAIN} - alpha*r"
    zero = (("0", "x = 0"), ("=", "x = -alpha*r"))
    return right_plateau(
        induction,
        (
            (
                "L",
                (
                    ("+", f"x > 0 and x <= {_LARGEST}"),
                    (">", f"x > -alpha*r and x <= {once}"),
                    ("-", "x < -alpha*r"),
                ),
            ),
            (
                "J",
                (
                    *zero,
                    ("+", f"x >= alpha*{_GAIN}"),
                    ("p", "x > 0"),
                    (">", f"x >= {kept} and x < 0"),
                    ("e", "x > -alpha*r and x < 0"),
                    ("-", "x < -alpha*r"),
                ),
            ),
            ("R", zero),
        ),
    )


def _exited(node: Node) -> bool:
    """Whether J has left n-l downwards, is negative and above L and R, and the walk is back."""
    return node.offset == 0 and node.zero[0] == "-" and node.zero[1] in (">", "e")


def _check_exited(walk: Walk) -> None:
    """Check that the nodes that are not followed come after one exit of J, from -alpha r.

    There R of row n-l-1 must be positive, so that the wait is n/(l+1), and R of row 0 -alpha r.

    Raises
    ------
    SolverError
        They may be reached otherwise.
    """
    below = set()
    for node, steps in walk.steps.items():
        for step in steps:
            target = step.target
            if not isinstance(target, Node):
                continue
            if _exited(target):
                below.add(node)
                if node.offset != -1 or target.top[2] != "+" or target.zero[2] != "=":
                    raise SolverError(f"{target} is not reached through n-l-1")
    for node, steps in walk.steps.items():
        for step in steps:
            first = step.action == "J" and step.direction == DOWN and node.zero == ("-", "=", "=")
            if step.target in below and node not in below and not first:
                raise SolverError(f"{step.target} is not reached by J's first exit")


# -- solving -------------------------------------------------------------------------------


def _solved(walk: Walk, fixed: int | None) -> Mapping[Hashable, Mapping[Hashable, Any]]:
    """Return for every node its mean time ("mean") and the chance of an open end ("exit").

    The mean counts the steps until the open end. At a fixed l nodes beyond n-1 are not there.
    """
    n, symbol, h, one = fractions()
    ell = symbol if fixed is None else fixed * one
    zero = 0 * one
    rows: dict[Hashable, dict[Hashable, Any]] = {}
    outputs: dict[Hashable, dict[Hashable, Any]] = {}

    def corridor(offset: int) -> Any:
        return n * (h - sum((one / (ell - i) for i in range(offset)), zero))

    for node, steps in walk.steps.items():
        if fixed is not None and node.offset > fixed - 1:
            continue
        rows[node] = {}
        if not steps:
            stopped = not walk.greedy[node]
            outputs[node] = {"exit": one} if stopped else {"mean": corridor(node.offset)}
            continue
        outputs[node] = {"mean": one}
        position = n - ell + node.offset
        for step in steps:
            chance = (position if step.direction == DOWN else n - position) / (n * step.ties)
            if fixed is not None and step.direction == UP and node.offset == fixed - 1:
                continue
            if isinstance(step.target, Node):
                rows[node][step.target] = rows[node].get(step.target, zero) + chance
            else:
                outputs[node]["mean"] += chance * corridor(step.target)
    return eliminate(rows, outputs, zero)


def _derive(induction: Induction, slope: SlopeAutomata) -> ExitForms:
    left, top = left_forms(induction), slope.automata["n-l-1"]
    marks = sorted({move.target for move in top.moves if move.moved == 1})
    starts = [Node(0, ("+", *cells), mark) for cells in left.law for mark in marks]
    positive = [Node(0, ("-", "p", "="), mark) for mark in marks if mark[2] == "+"]
    wide = _widened(induction)
    once, often = (_narrowed(wide, condition) for condition in (FIRST, LATER))
    walks = (
        derive(once, _plateau(once), starts),
        derive(often, _plateau(often), [*starts, *positive], _exited),
    )
    _check_exited(walks[1])
    n, symbol, h, one = fractions()

    def parts(fixed: int | None) -> tuple[Any, Any]:
        """Return E_inf and C over the field."""
        ell = symbol if fixed is None else fixed * one
        solved = [_solved(walk, fixed) for walk in walks]
        law = first_exits(top, n - ell - 1, n, 0 * one)
        means = [{"mean": 0 * one, "exit": 0 * one} for _ in walks]
        for cells, chance in left.law.items():
            for mark, share in law.items():
                for mean, values in zip(means, solved, strict=True):
                    found = values[Node(0, ("+", *cells), mark)]
                    for key in mean:
                        mean[key] += chance * share * found.get(key, 0 * one)
        fall = (n - ell) / n
        # v = 1 + fall (n/(l+1) + v) + (1 - fall) n H_(l-1)
        endless = n / ell * (1 + fall * n / (ell + 1)) + n * (h - one / ell)
        later = {solved[1][node]["mean"] for node in positive}
        if len(later) != 1 or means[0]["exit"] != 0:
            raise VerificationError("a positive J takes different times, or k = 1 is open")
        gain = later.pop() - endless
        limit = means[1]["mean"] + means[1]["exit"] * endless
        factor = means[1]["exit"] * gain / fall
        if means[0]["mean"] != limit + factor * fall:
            raise VerificationError("the formula for k >= 2 does not give the walk of k = 1")
        return limit, factor

    last = max(node.offset for walk in walks for node in walk.steps)
    found = {fixed: parts(fixed) for fixed in (None, *range(2, last + 1))}

    def form(fixed: int | None, which: int) -> Form:
        return form_of(fixed, last + 1 if fixed is None else fixed, found[fixed][which])

    limit, factor = (
        Piecewise(name, form(None, which), tuple(form(x, which) for x in range(2, last + 1)))
        for which, name in enumerate(("E_inf", "C"))
    )
    return ExitForms(limit, factor, walks)
