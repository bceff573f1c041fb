"""Exact Markov-chain analysis of LRSAO and its relatives.

>>> from markov_lrsao import Landscape, runtime
>>> runtime(Landscape.jump(9, 2)).total.rational
'51740216905/1185192162'

`docs/api.md` has every name with an example. Rooms, each built on those before it::

    exact      rationals, intervals, series, floats with error bounds
    model      landscape + parameters -> algorithm -> law, the table of all steps
    rows       law -> regions, bounds, patterns -> automata of single Q-rows
    chains     any finite Markov chain: sources, solvers, hitting times, visits
    crossing   automata -> sites and blocks -> generating functions, any n
    joint      automata -> every reachable (position, patterns), small n
    memoryless searches that do not learn: chains on (mode, position), by class
    values     what patterns leave open: clusters of values, choices, enclosures
    answers    expected runtimes, distributions, profiles, curves
    regimes    maps over hyper-parameters; forms: closed forms; exchange: files of other tools
    figures    pictures with their data; report: one page; cli: the command line

Names are imported when they are first used, so that the command line is up (and can be
interrupted) before numpy is there. `simulate` and `verify` are the functions of the packages
`simulate` and `proofs_check`, which come along and stay importable under their own names.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markov_lrsao.answers.budgets import BudgetResult, fixed_budget
    from markov_lrsao.answers.curves import Curve, curve
    from markov_lrsao.answers.distribution import distribution
    from markov_lrsao.answers.expected import runtime
    from markov_lrsao.answers.laws import Distribution
    from markov_lrsao.answers.oracle import OracleResult, oracle
    from markov_lrsao.answers.profile import Profile, profile
    from markov_lrsao.answers.restarts import RestartResult, restarts
    from markov_lrsao.answers.results import RuntimeResult
    from markov_lrsao.chains.chain import MarkovChain
    from markov_lrsao.chains.reaching import ReachingResult, reach
    from markov_lrsao.chains.sources import chain_from_matrix, chain_from_networkx, chain_from_rows
    from markov_lrsao.errors import LrsaoError
    from markov_lrsao.exact.quantity import Quantity
    from markov_lrsao.exchange import read_chain, write_chain
    from markov_lrsao.figures import plots
    from markov_lrsao.model.algorithm import Algorithm, AlgorithmFamily
    from markov_lrsao.model.landscape import Landscape, LandscapeFamily
    from markov_lrsao.model.law import StepLaw
    from markov_lrsao.model.levels import LeadingOnes
    from markov_lrsao.model.parameters import Parameters, hypothesis_h
    from markov_lrsao.model.search import Search
    from markov_lrsao.regimes.grid import MapPlan, RegimeMap, regime_map
    from proofs_check.claims.verdict import Verdicts
    from proofs_check.verification.checking import verify
    from simulate.runs.runner import simulate
    from simulate.runs.samples import Samples
    from simulate.statistics.estimates import Summary, summary

    __version__: str

__all__ = [
    "Algorithm",
    "AlgorithmFamily",
    "BudgetResult",
    "Curve",
    "Distribution",
    "Landscape",
    "LandscapeFamily",
    "LeadingOnes",
    "LrsaoError",
    "MapPlan",
    "MarkovChain",
    "OracleResult",
    "Parameters",
    "Profile",
    "Quantity",
    "ReachingResult",
    "RegimeMap",
    "RestartResult",
    "RuntimeResult",
    "Samples",
    "Search",
    "StepLaw",
    "Summary",
    "Verdicts",
    "chain_from_matrix",
    "chain_from_networkx",
    "chain_from_rows",
    "curve",
    "distribution",
    "fixed_budget",
    "hypothesis_h",
    "oracle",
    "plots",
    "profile",
    "reach",
    "read_chain",
    "regime_map",
    "restarts",
    "runtime",
    "simulate",
    "summary",
    "verify",
    "write_chain",
]

_NAMES = {
    "markov_lrsao.answers.budgets": "BudgetResult fixed_budget",
    "markov_lrsao.answers.curves": "Curve curve",
    "markov_lrsao.answers.distribution": "distribution",
    "markov_lrsao.answers.expected": "runtime",
    "markov_lrsao.answers.laws": "Distribution",
    "markov_lrsao.answers.oracle": "OracleResult oracle",
    "markov_lrsao.answers.profile": "Profile profile",
    "markov_lrsao.answers.restarts": "RestartResult restarts",
    "markov_lrsao.answers.results": "RuntimeResult",
    "markov_lrsao.chains.chain": "MarkovChain",
    "markov_lrsao.chains.reaching": "ReachingResult reach",
    "markov_lrsao.chains.sources": "chain_from_matrix chain_from_networkx chain_from_rows",
    "markov_lrsao.errors": "LrsaoError",
    "markov_lrsao.exact.quantity": "Quantity",
    "markov_lrsao.exchange": "read_chain write_chain",
    "markov_lrsao.figures": "plots",
    "markov_lrsao.model.algorithm": "Algorithm AlgorithmFamily",
    "markov_lrsao.model.landscape": "Landscape LandscapeFamily",
    "markov_lrsao.model.law": "StepLaw",
    "markov_lrsao.model.levels": "LeadingOnes",
    "markov_lrsao.model.parameters": "Parameters hypothesis_h",
    "markov_lrsao.model.search": "Search",
    "markov_lrsao.regimes.grid": "MapPlan RegimeMap regime_map",
    "proofs_check.claims.verdict": "Verdicts",
    "proofs_check.verification.checking": "verify",
    "simulate.runs.runner": "simulate",
    "simulate.runs.samples": "Samples",
    "simulate.statistics.estimates": "Summary summary",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    value: object
    if name == "__version__":
        from markov_lrsao.release import release

        value = release()
    elif name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, "__version__"})
