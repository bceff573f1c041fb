"""What templates do to text and numbers: mathematics in running text, anchors, digits, data."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping

from markupsafe import Markup

__all__ = ["anchor", "embedded", "number", "pairs", "typeset"]

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


def typeset(text: object) -> Markup:
    """Return HTML for a sentence with formulas in it, as the statements write them.

    >>> str(typeset("E[T_3^1] >= n**2/(4*l**2), alpha < 1"))
    'E[T<sub>3</sub><sup>1</sup>] ≥ n<sup>2</sup>/(4·l<sup>2</sup>), α &lt; 1'
    >>> str(typeset("H_{n-l-1} and n^(1/2)"))
    'H<sub>n-l-1</sub> and n<sup>1/2</sup>'
    """
    shown = html.escape(str(text), quote=True)
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
    shown = re.sub(
        r"\^(?:\{([^}]*)\}|\(([^()]*)\)|(-?\w+))",
        lambda m: f"<sup>{m[1] or m[2] or m[3]}</sup>",
        shown,
    )
    return Markup(shown)


def anchor(name: str) -> str:
    """Return the id of a statement's place on the page.

    >>> anchor("Lemma 10"), anchor("(E), k*"), anchor("(E)")
    ('s-lemma-10', 's-e-k', 's-e')
    """
    kept = "".join(c if c.isalnum() else "-" for c in name.lower())
    return "s-" + "-".join(part for part in kept.split("-") if part)


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


def embedded(data: object, identifier: str) -> Markup:
    """Return a script element that holds data; nothing in the data can end it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    shown = Markup(text.replace("<", "\\u003c"))
    return Markup('<script type="application/json" id="{}">{}</script>').format(identifier, shown)


def pairs(data: Mapping[str, object], between: str, after: str) -> str:
    """Return names and values as text.

    >>> pairs({"n": 9, "l": 2}, " = ", ", ")
    'n = 9, l = 2'
    """
    return after.join(f"{name}{between}{value}" for name, value in data.items())
