"""Simulations of LRSAO and its relatives that cross-validate the exact engine.

The flow of data, one module per arrow::

    law -> encoded                        the generated law as arrays, exact numbers behind floats
    seed -> streams -> _philox           one counter-based random stream per run
    encoded -> _entries, _kernels, ..     compiled runs, step by step or event by event
    open choices -> decide               settled in exact arithmetic
    runner -> samples -> statistics      all cores; means, ERT, ECDF
    samples -> crossval, ioh             against the exact engine; for IOHanalyzer
    plan -> sweep -> store               grids of experiments, resumable, on one machine or Dask

`reference` plays the paper's algorithm literally, in rationals. `docs/simulation.md` says more.
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
