"""One page that tells a visitor what this toolkit found: `markov-lrsao report`.

    values    exact E[T], phases, deviation for every (n, l) of the sliders
    verdicts  the verdict on every statement, read from a file or made by `proofs_check`
    findings  numbers behind the findings, computed by the engine and by simulations
    figures   the JSON data of `markov_lrsao.figures`
        -> sections -> page (templates/) -> one HTML file that needs no network

Like the command line, the report stands above simulations and statements and imports them
lazily. What takes long is kept in a folder, so that a second run only writes the page.
"""

from markov_lrsao.report.build import Scope, make_report
from markov_lrsao.report.page import Content, render

__all__ = ["Content", "Scope", "make_report", "render"]
