"""Exact Markov-chain analysis of LRSAO and its relatives.

The flow of data, one module per arrow::

    landscape + parameters -> algorithm -> law        (position, action, direction) table
    law -> regions, bounds, patterns -> automata      what of each Q-row the walk can see
    automata -> lumping -> joint -> chain             every reachable (position, patterns)
    chain -> solvers -> hitting, visits -> results    exact rationals or floats

`runtime` goes all the way; `docs/architecture.md` says more.
"""

from markov_lrsao.algorithm import Algorithm
from markov_lrsao.automata import derive_automata
from markov_lrsao.chain import MarkovChain
from markov_lrsao.errors import LrsaoError
from markov_lrsao.joint import enumerate_joint
from markov_lrsao.landscape import Landscape, LandscapeFamily
from markov_lrsao.law import StepLaw
from markov_lrsao.parameters import Parameters, hypothesis_h
from markov_lrsao.results import Quantity, RuntimeResult
from markov_lrsao.runtime import runtime

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
