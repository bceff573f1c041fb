"""The page: templates filled with sections and data, everything in one file.

The page asks nothing of the network: scripts, style, data and icon are inside, and a content
security policy forbids the browser to load anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from markov_lrsao.errors import VerificationError
from markov_lrsao.figures.plots import COLOURS
from markov_lrsao.report.findings_section import findings_html
from markov_lrsao.report.markup import command, embed_json, escape, number, table, typeset
from markov_lrsao.report.statements_section import statements_html, verdict_counts

__all__ = ["Content", "render", "template"]

_SCRIPTS = ("marks.js", "maps.js", "graphs.js", "charts.js", "explorer.js", "page.js")


@dataclass(frozen=True, kw_only=True, eq=False)
class Content:
    """Everything the page shows.

    Attributes
    ----------
    values : exact results, from `markov_lrsao.report.values.exact_values`
    verification : verdicts, as `markov-lrsao verify --json` prints them
    numbers : "constants", "concentration" and "float64", from `markov_lrsao.report.findings`
    figures : the JSON data of the figures, in order
    version : of the toolkit
    command : what makes this page
    """

    values: Mapping[str, Any]
    verification: Mapping[str, Any]
    numbers: Mapping[str, Any]
    figures: Sequence[Mapping[str, Any]]
    version: str
    command: str


@cache
def template(name: str) -> str:
    """Return a template file's text."""
    return (files("markov_lrsao.report") / "templates" / name).read_text(encoding="utf-8")


def render(content: Content) -> str:
    """Return the HTML of the whole page."""
    scripts = "".join(f"<script>\n{template(name)}</script>\n" for name in _SCRIPTS)
    colours = ":root {" + "".join(f"--c{k}: {c};" for k, c in enumerate(COLOURS)) + "}"
    parts = {
        "style": f"{colours}\n{template('style.css')}",
        "scripts": scripts,
        "data": "\n".join(
            [
                embed_json("data-values", content.values),
                embed_json("data-figures", list(content.figures)),
            ]
        ),
        "cards": _cards(content),
        "n_max": str(content.values["n_max"]),
        "static_values": _static_values(content.values),
        "exact_commands": command("markov-lrsao reference --out reference_values.csv"),
        "findings": findings_html(content.values, content.numbers, content.verification),
        "figures": "\n".join(map(_figure, content.figures)),
        "figure_list": "".join(
            f'<li><a href="#figure-{escape(f["name"])}">{typeset(f["title"])}</a></li>'
            for f in content.figures
        ),
        "figure_command": command("markov-lrsao figures --out figures"),
        "statements": statements_html(content.verification),
        "level": escape(content.verification.get("level", "quick")),
        "statement_count": str(len(content.verification["statements"])),
        "verify_command": command("markov-lrsao verify --json > verify.json"),
        "report_command": command(content.command),
        "reproduce": _reproduce(content),
        "version": escape(content.version),
    }
    return _fill(template("page.html"), parts)


def _fill(text: str, parts: Mapping[str, str]) -> str:
    """Replace {{name}} by its part, all at once, so that no part is searched for marks."""
    used: set[str] = set()

    def part(match: re.Match[str]) -> str:
        used.add(match[1])
        return parts[match[1]]

    filled = re.sub(r"\{\{(\w+)\}\}", part, text)
    if used != set(parts):
        raise VerificationError(f"the template does not use {sorted(set(parts) - used)}")
    return filled


def _cards(content: Content) -> str:
    first = content.values["grid"][0]
    counts = verdict_counts(content.verification)
    rows = content.numbers["float64"]["rows"]
    worst = max(rows, key=lambda r: float(r["float64"]["factor"]))
    largest = content.values["schedules"][-1]["instances"][-1]
    verdicts = ", ".join(f"{k} {v.lower()}" for v, k in counts.items())
    cards = [
        (
            f"{float(first['total'][1]):.4f}",
            f"= <code>{escape(first['total'][0])}</code><br>exact E[T] at the smallest instance, "
            f"n = {first['n']}, l = {first['l']}",
            "#exact",
        ),
        (
            f"{largest['ratio']:.5f}",
            f"times the lower bound n·H<sub>n</sub> at n = {largest['n']:,}, l = {largest['l']:,}",
            "#finding-lower-bound",
        ),
        (
            f"{len(content.verification['statements'])}",
            f"statements of the paper checked: {verdicts}",
            "#statements-section",
        ),
        (
            f"C = {number(float(content.numbers['constants']['phase2']['constant']), 5)}",
            "the constant of the slope, in closed form",
            "#finding-phase-2",
        ),
        (
            f"× {worst['float64']['factor']:.2f}",
            f"what float64 does to E[T] at n = {worst['n']:,}, l = 2",
            "#finding-float64",
        ),
    ]
    return "".join(
        f'<li><a class="card" href="{link}"><span class="value">{value}</span> '
        f'<span class="what">{what}</span></a></li>'
        for value, what, link in cards
    )


def _static_values(values: Mapping[str, Any]) -> str:
    """Return the table that stands in for the sliders where scripts do not run."""
    rows = [
        [
            str(r["n"]),
            str(r["l"]),
            r["total"][1],
            *(p[1] for p in r["phases"]),
            r["deviation"],
            r["coupon"][1],
        ]
        for schedule in values["schedules"]
        for r in schedule["instances"]
    ]
    return table(
        "Exact values along the paper's schedules (20 digits)",
        [
            "n",
            "l",
            "E[T]",
            "E[T<sub>1</sub>]",
            "E[T<sub>2</sub>]",
            "E[T<sub>3</sub>]",
            "standard deviation",
            "n·H<sub>n</sub>",
        ],
        rows,
        right=range(8),
    )


def _figure(data: Mapping[str, Any]) -> str:
    name = escape(data["name"])
    return f"""<figure class="figure" id="figure-{name}" data-figure="{name}">
<h3>{typeset(data["title"])}</h3>
<div class="canvas" data-kind="{escape(data["kind"])}"></div>
<figcaption>{typeset(data["caption"])}</figcaption>
<div class="reproduce">{command(str(data["command"]))}</div>
</figure>"""


def _reproduce(content: Content) -> str:
    rows = [
        ("any exact value, phase by phase", "markov-lrsao exact --n 30 --ell 5"),
        ("E[T] along a schedule of l", "markov-lrsao curve --ell sqrt --n 50:10000:50"),
        ("the law of T, quantiles and tails", "markov-lrsao distribution --n 1000 --ell 10"),
        ("expected steps per position", "markov-lrsao sites --n 30 --ell 5"),
        ("closed forms and constants", "markov-lrsao formula phase3"),
        (
            "simulations with the true semantics",
            "markov-lrsao simulate --n 1000 --ell 2 --runs 2000 --seed 1",
        ),
        (
            "exact against simulated, at a stated error level",
            "markov-lrsao cross-validate --n-max 12",
        ),
        ("a verdict on every statement", "markov-lrsao verify"),
        ("every figure with its data", "markov-lrsao figures --out figures"),
        ("this page", content.command),
    ]
    return (
        '<dl class="commands">'
        + "".join(f"<dt>{escape(what)}</dt><dd>{command(text)}</dd>" for what, text in rows)
        + "</dl>"
    )
