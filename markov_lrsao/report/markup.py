"""What templates do to text and numbers: mathematics in running text, anchors, digits, data."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Mapping

from markupsafe import Markup

from markov_lrsao.report.mathematics import displayed, formula

__all__ = ["anchor", "displayed_line", "embedded", "number", "pairs", "typeset"]

_WORDS = {
    "alpha": "α",
    "gamma": "γ",
    "lambda": "λ",
    "tau": "τ",
    "Theta": "Θ",
    "Omega": "Ω",
    "EulerGamma": "C_E",
    "infinity": "∞",
    "oo": "∞",
}
_MOST_DIGITS = 12
_FUNCTIONS = {"sqrt": "√", "harmonic": "H"}
_BALL = re.compile(r"\[(-?\d+(?:\.\d+)?)(?:e([+-]?\d+))? \+/- (\d+(?:\.\d+)?(?:e[+-]?\d+)?)\]")
_ZEROS = re.compile(r"\b(\d+\.\d*?[1-9])0{4,}\b")
_JUDGED = re.compile(r"((?:<=|>=|=|<|>)(?: O| o)? .*): (proved|refuted|unknown|undecided) \((.*)\)")
_INHERITED = re.compile(r"(.*) \(should be (.*)\)")
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
    >>> str(typeset("[0.072131774774831 +/- 8.33e-16] against 1.12500000000000"))
    '0.072131774774… against 1.125'
    >>> str(typeset("H_n - ln n - EulerGamma, gamma < 1"))
    'H<sub>n</sub> - ln n - C<sub>E</sub>, γ &lt; 1'
    """
    plain = _ZEROS.sub(r"\1", _BALL.sub(_certain_digits, str(text)))
    shown = html.escape(plain, quote=True)
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


def _certain_digits(found: re.Match[str]) -> str:
    """Return the digits of a ball that are certain, and that there are more of them."""
    exponent = int(found[2] or 0)
    places = -math.floor(math.log10(float(found[3]))) - 2 + exponent
    whole, _, digits = found[1].partition(".")
    kept = digits[: max(0, min(places, _MOST_DIGITS))]
    power = f"·10^{exponent}" if exponent else ""
    return f"{whole}.{kept}…{power}" if kept else f"{whole}…{power}"


def displayed_line(text: str) -> Markup:
    """Return a displayed line as mathematics: alone, with its verdict, or with what it should be.

    >>> str(displayed_line("= H(n): proved (computer algebra)"))[-41:]
    '</mrow></math>: proved (computer algebra)'
    >>> str(displayed_line("plain words"))
    'plain words'
    """
    if (judged := _JUDGED.fullmatch(text)) and (line := displayed(judged[1])) is not None:
        return Markup("{}: {} ({})").format(line, judged[2], typeset(judged[3]))
    if inherited := _INHERITED.fullmatch(text):
        both = [formula(part) for part in inherited.groups()]
        if None not in both:
            return Markup("{} (should be {})").format(*both)
    return displayed(text) or typeset(text)


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
