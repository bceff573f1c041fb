"""Exact Markov-chain analysis of LRSAO and its relatives.

The flow of data, one module per arrow::

    landscape + parameters -> algorithm -> law        (position, action, direction) table
    law -> regions, bounds, patterns -> automata      what of each Q-row the walk can see
    automata -> lumping -> joint -> chain             every reachable (position, patterns)
    chain -> solvers -> hitting, visits -> results    exact rationals or floats

`runtime` goes all the way; `docs/architecture.md` says more.

Names are imported when they are first used, so that the command line is up (and can be
interrupted) before numpy is there.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_HOMES = {
    "Algorithm": "algorithm",
    "Landscape": "landscape",
    "LandscapeFamily": "landscape",
    "LrsaoError": "errors",
    "MarkovChain": "chain",
    "Parameters": "parameters",
    "Quantity": "results",
    "RuntimeResult": "results",
    "StepLaw": "law",
    "derive_automata": "automata",
    "enumerate_joint": "joint",
    "hypothesis_h": "parameters",
    "runtime": "runtime",
}


class _Package(ModuleType):
    """The names come when asked for; `runtime` is the function, not the module of that name."""

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and _HOMES.get(name) == name:
            value = getattr(value, name)
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{self.__name__}.{_HOMES[name]}"), name)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_HOMES})


sys.modules[__name__].__class__ = _Package
