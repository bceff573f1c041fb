"""Graphs as data: nodes and edges with their labels, laid out.

One notation everywhere. An order of a row's entries is written as in ``L>0=J>R``; entries in
parentheses are below what stands before them, in an order that is not known or does not matter.
``{J,R}`` is the set of the largest entries, from which the agent chooses uniformly. ``J+`` is J
chosen with a proposal upwards, ``J-`` downwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd
from typing import Any

from flint import fmpq

from markov_lrsao.exact.intervals import UNKNOWN
from markov_lrsao.exact.rationals import rational_text
from markov_lrsao.figures.layout import Arrow, layered, text_size
from markov_lrsao.model.law import Share, StepLaw
from markov_lrsao.rows.patterns import Pattern
from markov_lrsao.rows.steps import Event

__all__ = [
    "edge",
    "event_text",
    "greedy_text",
    "laid_out",
    "node",
    "order_text",
    "share_at",
    "share_text",
]

_MARGIN = 0.55
"""Between a node's text and its border, in units of the font size."""


def node(identity: str, label: str, *, start: bool = False, end: bool = False) -> dict[str, Any]:
    """Return a node; ends are nodes that the graph does not continue from."""
    marks = {"start": start, "end": end}
    return {"id": identity, "label": label} | {k: v for k, v in marks.items() if v}


def edge(
    source: str, target: str, label: str, probability: fmpq, moved: int | None = None
) -> dict[str, Any]:
    """Return an edge; `moved` is what the step does to the position, where that has a meaning."""
    made = {
        "source": source,
        "target": target,
        "label": label,
        "probability": rational_text(probability),
    }
    return made if moved is None else made | {"moved": moved}


def laid_out(
    nodes: Sequence[Mapping[str, Any]],
    edges: Sequence[Mapping[str, Any]],
    ranks: Mapping[str, int] | None = None,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return nodes and edges with places and sizes in units of the font size, y upwards."""
    sizes = {n["id"]: text_size(n["label"], _MARGIN) for n in nodes}
    arrows = [Arrow(e["source"], e["target"], text_size(e["label"], 0.1)) for e in edges]
    found = layered(sizes, arrows, ranks)

    def rounded(values: Sequence[float]) -> list[float]:
        return [round(v, 3) for v in values]

    placed = []
    for n in nodes:
        (x, y), (width, height) = (rounded(found.middle[n["id"]]), sizes[n["id"]])
        placed.append({**n, "x": x, "y": y, "width": width, "height": height})
    drawn = [
        {**e, "path": [rounded(p) for p in curve.path], "at": rounded(curve.at)}
        for e, curve in zip(edges, found.curves, strict=True)
    ]
    return placed, drawn


# -- notation -----------------------------------------------------------------------------------


def order_text(pattern: Pattern, names: Sequence[str]) -> str:
    """Return the order of a row's entries, as far as it is known.

    >>> order_text(Pattern((-1, 0, -1), (-1, UNKNOWN, 1)), "LJR")
    '0=J>(L,R)'
    >>> order_text(Pattern((1, 0, -1), (1, 1, 1)), "LJR")
    'L>0=J>R'
    """
    if UNKNOWN not in pattern.signs and UNKNOWN not in pattern.order:
        return pattern.label(names)
    largest = pattern.maximal
    if pattern.undecided is not None:
        return pattern.label(names)  # which entry is largest is open: that is said in full
    known = {pattern.signs[i] for i in largest}
    rest = [i for i in range(len(names)) if i not in largest]
    levels = {
        sign: [names[i] for i in rest if pattern.signs[i] == sign] for sign in (1, 0, -1, UNKNOWN)
    }
    top = "=".join(names[i] for i in largest)
    if known == {0}:
        words = [f"0={top}"]
    elif known == {-1}:
        words = ["0", top]
    else:
        words = [top]
    words += [_level(levels[1])] if levels[1] else []
    zeros = levels[0]
    if known == {1} and (zeros or levels[-1]):
        words.append("=".join(["0", *zeros]))
    below = levels[-1] + levels[UNKNOWN]
    return ">".join([*words, _level(below)] if below else words)


def _level(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"({','.join(names)})"


def greedy_text(pattern: Pattern, names: Sequence[str]) -> str:
    """Return the set of the largest entries, e.g. "{J,R}"."""
    return f"{{{','.join(names[i] for i in pattern.maximal)}}}"


def event_text(law: StepLaw, events: Sequence[Event]) -> str:
    """Return what is chosen and proposed, e.g. "J+, R+"."""
    return ", ".join(f"{law.actions[e.action]}{'-+'[e.direction]}" for e in events)


def share_text(unit: int, share: Share) -> str:
    """Return the probability of a share in terms of the position p and n.

    >>> share_text(6, Share(0, 2)), share_text(6, Share(3, 3)), share_text(6, Share(4, 6))
    ('(n-p)/(3n)', '1/2', '(3n-p)/(3n)')
    >>> share_text(6, Share(4, 0)), share_text(6, Share(4, 2))
    ('2p/(3n)', '(n+p)/(3n)')
    """
    if share.up == share.down:
        return rational_text(fmpq(share.up, unit))
    if share.up == 0:
        return _over_n(fmpq(share.down, unit), "p")
    if share.down == 0:
        return _over_n(fmpq(share.up, unit), "(n-p)")
    return _sum_over_n(share.up, share.down - share.up, "p", unit)


def share_at(position: int, unit: int, share: Share) -> str:
    """Return a probability at a position in terms of n.

    >>> share_at(1, 2, Share(0, 2)), share_at(1, 2, Share(1, 0)), share_at(0, 2, Share(0, 1))
    ('(n-1)/n', '1/(2n)', '1/2')
    >>> share_at(2, 2, Share(1, 1)), share_at(2, 6, Share(4, 2))
    ('1/2', '(n+2)/(3n)')
    """
    if position == 0 or share.up == share.down:
        return rational_text(fmpq(share.up, unit))
    if share.up == 0:
        return _over_n(fmpq(share.down * position, unit), "")
    if share.down == 0:
        return _over_n(fmpq(share.up, unit), f"(n-{position})")
    return _sum_over_n(share.up, (share.down - share.up) * position, "", unit)


def _over_n(factor: fmpq, above: str) -> str:
    top = above if factor.p == 1 and above else f"{factor.p}{above}"
    return f"{top}/n" if factor.q == 1 else f"{top}/({factor.q}n)"


def _sum_over_n(of_n: int, rest: int, of: str, unit: int) -> str:
    """Return (of_n n + rest of)/(unit n) in lowest terms, `of` being p or nothing."""
    common = gcd(of_n, rest, unit)
    first, second, below = of_n // common, abs(rest) // common, unit // common
    top = f"{first if first > 1 else ''}n{'+' if rest > 0 else '-'}"
    top += of if second == 1 and of else f"{second}{of}"
    return f"({top})/n" if below == 1 else f"({top})/({below}n)"
