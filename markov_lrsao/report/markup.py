"""Small pieces of HTML: escaped text, mathematics in running text, tables, commands to copy."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from typing import Any

__all__ = ["anchor", "badge", "command", "embed_json", "escape", "number", "table", "typeset"]

_WORDS = {
    "alpha": "α",
    "gamma": "γ",
    "lambda": "λ",
    "tau": "τ",
    "Theta": "Θ",
    "Omega": "Ω",
    "EulerGamma": "γ",
    "infinity": "∞",
    "oo": "∞",
}
_FUNCTIONS = {"sqrt": "√", "harmonic": "H"}
_SIGNS = (
    (" &gt;= ", " ≥ "),
    (" &lt;= ", " ≤ "),
    ("&gt;=", "≥"),
    ("&lt;=", "≤"),
    ("-&gt;", "→"),
    ("**", "^"),
)
_MARKS = {"PROVED": "✓", "VERIFIED": "✓", "SUPPORTED": "≈", "UNKNOWN": "?", "REFUTED": "✗"}


def escape(text: object) -> str:
    """Return text that HTML shows as it is, inside attributes too."""
    return html.escape(str(text), quote=True)


def typeset(text: str) -> str:
    """Return HTML for a sentence with formulas in it, as the statements write them.

    >>> typeset("E[T_3^1] >= n**2/(4*l**2), alpha < 1")
    'E[T<sub>3</sub><sup>1</sup>] ≥ n<sup>2</sup>/(4·l<sup>2</sup>), α &lt; 1'
    >>> typeset("H_{n-l-1} and n^(1/2)")
    'H<sub>n-l-1</sub> and n<sup>1/2</sup>'
    """
    shown = escape(text)
    for old, new in _SIGNS:
        shown = shown.replace(old, new)
    shown = re.sub(r"\b(" + "|".join(_WORDS) + r")\b(?!-)", lambda m: _WORDS[m[1]], shown)
    shown = re.sub(r"\b(" + "|".join(_FUNCTIONS) + r")(?=\()", lambda m: _FUNCTIONS[m[1]], shown)
    shown = re.sub(r"(?<=[\w)])\*(?=[\w(])", "·", shown)
    shown = re.sub(
        r"(?<![A-Za-z])([A-Za-zτ])_(?:\{([^}]*)\}|\(([^()]*)\)|(\w+))",
        lambda m: f"{m[1]}<sub>{m[2] or m[3] or m[4]}</sub>",
        shown,
    )
    return re.sub(
        r"\^(?:\{([^}]*)\}|\(([^()]*)\)|(-?\w+))",
        lambda m: f"<sup>{m[1] or m[2] or m[3]}</sup>",
        shown,
    )


def anchor(name: str) -> str:
    """Return the id of a statement's place on the page.

    >>> anchor("Lemma 10"), anchor("(E), k*"), anchor("(E)")
    ('s-lemma-10', 's-e-k', 's-e')
    """
    kept = "".join(c if c.isalnum() else "-" for c in name.lower())
    return "s-" + "-".join(part for part in kept.split("-") if part)


def badge(verdict: str) -> str:
    """Return a verdict as a label that is told apart without its colour, too."""
    mark = _MARKS[verdict]
    return (
        f'<span class="badge {verdict.lower()}"><span aria-hidden="true">{mark}</span> '
        f"{escape(verdict)}</span>"
    )


def command(text: str) -> str:
    """Return a command with a button that copies it."""
    return (
        '<div class="command"><code>' + escape(text) + "</code>"
        f'<button type="button" class="copy" data-copy="{escape(text)}" '
        f'aria-label="Copy the command {escape(text)}">Copy</button></div>'
    )


def table(
    caption: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[int] = (),
    head: bool = True,
) -> str:
    """Return a table whose cells are HTML already; it scrolls in itself on a narrow screen."""

    def cell(tag: str, column: int, text: str, scope: str = "") -> str:
        style = ' class="number"' if column in right else ""
        return f"<{tag}{style}{scope}>{text}</{tag}>"

    top = "".join(cell("th", c, text, ' scope="col"') for c, text in enumerate(header))
    body = "".join(
        "<tr>"
        + "".join(
            cell("th", 0, text, ' scope="row"') if c == 0 and head else cell("td", c, text)
            for c, text in enumerate(row)
        )
        + "</tr>\n"
        for row in rows
    )
    label = escape(re.sub(r"<[^>]*>", "", caption))
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{label}"><table>'
        f"<caption>{caption}</caption><thead><tr>{top}</tr></thead>\n"
        f"<tbody>{body}</tbody></table></div>"
    )


def number(value: float, digits: int = 6) -> str:
    """Return a number with thousands separators and at most `digits` significant digits.

    >>> number(127320.5156), number(-2.8646422, 4), number(0.000123), number(2.0e9)
    ('127,321', '−2.865', '0.000123', '2,000,000,000')
    """
    if value == 0:
        return "0"
    magnitude = abs(value)
    if magnitude >= 10 ** (digits - 1):
        text = f"{magnitude:,.0f}"
    elif magnitude >= 1e-4:
        shown = f"{magnitude:.{digits}g}"
        text = shown if "e" in shown else f"{float(shown):,.{len(shown.partition('.')[2])}f}"
    else:
        text = f"{magnitude:.{digits - 1}e}"
    return ("−" if value < 0 else "") + text


def embed_json(identifier: str, data: Any) -> str:
    """Return a script element that holds data; nothing in the data can end it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return (
        f'<script type="application/json" id="{identifier}">'
        + text.replace("<", "\\u003c")
        + "</script>"
    )
