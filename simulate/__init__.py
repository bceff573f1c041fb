"""Simulations of LRSAO and its relatives that cross-validate the exact engine.

Rooms, each built on those before it::

    kernels     compiled runs, step by step or event by event
    runs        law + seed -> encoding, streams -> game -> samples; open comparisons decided exactly
    statistics  samples -> means, ERT, quantiles; tests against the exact engine
    sweeps      plan -> batches of runs -> results file; resumable, on threads or Dask

`runs.reference` plays the paper's algorithm literally, in rationals; `docs/simulation.md` says
more.
"""

from simulate.runs.runner import simulate, trace_run
from simulate.runs.samples import Samples
from simulate.statistics.crossval import Agreement, cross_validate
from simulate.statistics.estimates import Summary, ecdf, summary
from simulate.sweeps.plan import Plan
from simulate.sweeps.sweep import run_sweep, sweep_results

__all__ = [
    "Agreement",
    "Plan",
    "Samples",
    "Summary",
    "cross_validate",
    "ecdf",
    "run_sweep",
    "simulate",
    "summary",
    "sweep_results",
    "trace_run",
]
