"""The page: templates filled with sections and data, everything in one file.

The page asks nothing of the network: scripts, style, data and icon are inside, and a content
security policy forbids the browser to load anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from markov_lrsao.figures.plots import COLOURS
from markov_lrsao.report import remarks
from markov_lrsao.report.beyond import restarts
from markov_lrsao.report.hero import hero
from markov_lrsao.report.markup import (
    anchor,
    displayed_line,
    embedded,
    number,
    pairs,
    typeset,
)
from markov_lrsao.report.verdicts import counterexample_file, run_rows
from markov_lrsao.web import SCRIPTS, STYLES, asset

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["Content", "render", "template", "templates"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Content:
    """Everything the page shows.

    Attributes
    ----------
    values : exact results, from `markov_lrsao.report.values.exact_values`
    verification : verdicts, as `markov-lrsao verify --json` prints them
    numbers : "constants", "concentration" and "float64" from `markov_lrsao.report.findings`;
        "relaxed", "plateaus" and "learning" from `markov_lrsao.report.beyond`
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
def templates() -> Environment:
    """Return the templates with what they may use; text is escaped unless it is typeset."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=PackageLoader("markov_lrsao.report"),
        autoescape=True,
        undefined=StrictUndefined,  # a misspelt name is an error, not an empty place
        trim_blocks=True,
    )
    found.filters |= {
        "anchor": anchor,
        "displayed": displayed_line,
        "embedded": embedded,
        "number": number,
        "pairs": pairs,
        "quoted": '"{}"'.format,
        "thousands": "{:,}".format,
        "typeset": typeset,
    }
    found.tests["theorem"] = lambda name: name.startswith("Theorem ")
    found.globals |= {
        "COLOURS": COLOURS,
        "counterexample_file": counterexample_file,
        "run_rows": run_rows,
        "source": lambda name: Markup(template(name)),
        "component": lambda name: Markup(asset(name)),
        "SCRIPTS": SCRIPTS,
        "STYLES": STYLES,
        **{name: getattr(remarks, name) for name in remarks.__all__},
    }
    return found


@cache
def template(name: str) -> str:
    """Return a template file's text."""
    return (files("markov_lrsao.report") / "templates" / name).read_text(encoding="utf-8")


def render(content: Content) -> str:
    """Return the HTML of the whole page."""
    from proofs_check.verification.report import GROUPS

    statements = content.verification["statements"]
    counts = Counter(s["verdict"] for s in statements)
    return (
        templates()
        .get_template("page.html")
        .render(
            values=content.values,
            numbers=content.numbers,
            figures=content.figures,
            hero=hero(content.figures),
            restarted=restarts(content.figures),
            statements=statements,
            groups=GROUPS,
            counts={verdict: counts[verdict] for verdict in remarks.MARKS if counts[verdict]},
            level=content.verification.get("level", "quick"),
            version=content.version,
            line_of_page=content.command,
        )
    )
