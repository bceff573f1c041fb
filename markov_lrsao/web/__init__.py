"""What pages share: charts, graphs and maps drawn in the browser, from the data of figures.

`static` has the components (scripts without a build step, one style sheet) and uPlot, which draws
the charts, as it comes from npm, with its licence. The explorer serves these files; the report
has them inside its one page.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["SCRIPTS", "STYLES", "asset", "assets"]

SCRIPTS = ("uPlot.min.js", "base.js", "charts.js", "graphs.js", "maps.js", "figures.js")
"""In the order in which a page loads them."""
STYLES = ("uPlot.min.css", "components.css")


def assets() -> Any:
    """Return the folder of the components."""
    return files("markov_lrsao.web") / "static"


@cache
def asset(name: str) -> str:
    """Return the text of a component."""
    text: str = (assets() / name).read_text(encoding="utf-8")
    return text
