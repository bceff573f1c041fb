"""Exact Markov-chain analysis of LRSAO and its relatives.

Rooms, each built on those before it::

    exact      rationals, intervals, series, floats with error bounds
    model      landscape + parameters -> algorithm -> law, the table of all steps
    rows       law -> regions, bounds, patterns -> automata of single Q-rows
    chains     any finite Markov chain: sources, solvers, hitting times, visits
    crossing   automata -> sites and blocks -> generating functions, any n
    joint      automata -> every reachable (position, patterns), small n
    values     what patterns leave open: clusters of values, choices, enclosures
    answers    expected runtimes, distributions, profiles, curves
    regimes    maps over hyper-parameters; forms: closed forms; exchange: files of other tools
    figures    pictures with their data; report: one page; cli: the command line

`runtime` goes all the way; `docs/architecture.md` says more.

Names are imported when they are first used, so that the command line is up (and can be
interrupted) before numpy is there.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markov_lrsao.answers.expected import runtime
    from markov_lrsao.answers.results import RuntimeResult
    from markov_lrsao.chains.chain import MarkovChain
    from markov_lrsao.errors import LrsaoError
    from markov_lrsao.exact.quantity import Quantity
    from markov_lrsao.joint.enumeration import enumerate_joint
    from markov_lrsao.model.algorithm import Algorithm
    from markov_lrsao.model.landscape import Landscape, LandscapeFamily
    from markov_lrsao.model.law import StepLaw
    from markov_lrsao.model.parameters import Parameters, hypothesis_h
    from markov_lrsao.rows.automata import derive_automata

__all__ = [
    "Algorithm",
    "Landscape",
    "LandscapeFamily",
    "LrsaoError",
    "MarkovChain",
    "Parameters",
    "Quantity",
    "RuntimeResult",
    "StepLaw",
    "derive_automata",
    "enumerate_joint",
    "hypothesis_h",
    "runtime",
]

_HOMES = {
    "Algorithm": "model.algorithm",
    "Landscape": "model.landscape",
    "LandscapeFamily": "model.landscape",
    "LrsaoError": "errors",
    "MarkovChain": "chains.chain",
    "Parameters": "model.parameters",
    "Quantity": "exact.quantity",
    "RuntimeResult": "answers.results",
    "StepLaw": "model.law",
    "derive_automata": "rows.automata",
    "enumerate_joint": "joint.enumeration",
    "hypothesis_h": "model.parameters",
    "runtime": "answers.expected",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
