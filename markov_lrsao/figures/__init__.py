"""The paper's pictures redrawn with exact curves on top, and what else the toolkit can show.

    settings -> compute -> FigureData -> JSON, CSV
                                      -> canvas -> PNG, SVG

`FIGURES` names them all, `build` makes those that are missing in a folder. Figures stand where
the command line stands: they may use simulations and the statements of the paper, lazily.
"""

from markov_lrsao.figures import plots
from markov_lrsao.figures.base import Figure, FigureData, Series, Settings
from markov_lrsao.figures.registry import FIGURES, build, chosen

__all__ = ["FIGURES", "Figure", "FigureData", "Series", "Settings", "build", "chosen", "plots"]
