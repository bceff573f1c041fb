"""Runs in IOHprofiler's format, so that IOHanalyzer and iohinspector open them.

A folder holds ``IOHprofiler_f<id>_<problem>.json`` and, per dimension, a ``.dat`` file in which
each run is a paragraph of lines ``evaluations raw_y``: the best value of the target so far, one
line per improvement and one for the last evaluation. IOH counts the evaluation of the start, so a
run of T steps ends at evaluation T + 1.

The improvements are read from the runs' traces, which replay the same runs. Positions stand for
bit strings here, so the field for the best bit string is there, as readers want it, but empty.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np
import numpy.typing as npt

from markov_lrsao.errors import ParameterError
from markov_lrsao.model.law import StepLaw
from markov_lrsao.storage import write_all
from simulate.runs.runner import trace_run
from simulate.runs.samples import Samples

__all__ = ["check_folder", "improvements", "write_ioh"]

_VERSION = "0.3.18"  # of the format
_FUNCTION = 1


def improvements(samples: Samples, run: int) -> list[tuple[int, float]]:
    """Return (step, best value of the target so far) at every improvement of run `run`.

    Raises
    ------
    ParameterError
        The runs were not made by an agent that learns greedily; only those have traces.
    """
    law = _traced(samples)
    trace = trace_run(
        law,
        seed=samples.seed,
        run=samples.first_run + run,
        kernel=samples.kernel,
        arithmetic=samples.arithmetic,
        limit=samples.limit,
        restart=samples.restart,
        path=samples.path,
    )
    landscape = law.landscape
    target: npt.NDArray[np.int64] = landscape.objectives[landscape.target]
    scale = landscape.scale
    best = int(target[0])
    found = [(0, best / scale if scale > 1 else best)]
    for t, p, _, rejections, action, direction in trace.tolist():
        if p < 0 or action < 0 or not law.accepted[p, action, direction]:
            continue
        value = int(target[p + 2 * direction - 1])
        if value > best:
            best = value
            found.append((t + rejections + 1, best / scale if scale > 1 else best))
    return found


def _traced(samples: Samples) -> StepLaw:
    """Return the law of runs that have traces."""
    law = samples.law
    if not isinstance(law, StepLaw) or law.algorithm.epsilon != 0:
        raise ParameterError(
            f"algorithm = {law.algorithm.name} has no traces for IOHprofiler's format, which "
            f"only greedy agents have; leave out the folder"
        )
    return law


def check_folder(folder: str | Path) -> None:
    """Refuse a folder that exists already and is not empty, or that cannot be made."""
    root = Path(folder)
    try:
        if root.exists() and (not root.is_dir() or any(root.iterdir())):
            raise ParameterError(f"folder {folder} exists and is not empty: choose another name")
        above = next(place for place in (root, *root.absolute().parents) if place.exists())
        writable = above.is_dir() and os.access(above, os.W_OK | os.X_OK)
    except OSError as error:
        raise _unwritable(folder, error.strerror) from None
    if not writable:
        raise _unwritable(folder, f"{above} is not a folder in which you may write")


def _unwritable(folder: str | Path, why: str | None) -> ParameterError:
    return ParameterError(f"folder {folder} cannot be written: {why}; choose another place for it")


def write_ioh(samples: Samples, folder: str | Path, *, problem: str | None = None) -> Path:
    """Write a new folder with the runs in IOHprofiler's format; return the JSON file's path.

    Raises
    ------
    ParameterError
        The folder exists already and is not empty.
    """
    check_folder(folder)
    root, law = Path(folder), _traced(samples)
    landscape, algorithm = law.landscape, law.algorithm
    own = landscape.name if landscape.family is not None and landscape.family.parameters else None
    short = own or f"{landscape.name.split(',')[0]}{landscape.ell}"
    name = re.sub(r"[^A-Za-z0-9]+", "", problem or short)
    data = Path(f"data_f{_FUNCTION}_{name}") / f"IOHprofiler_f{_FUNCTION}_DIM{landscape.n}.dat"
    paragraphs, runs = [], []
    for run in range(samples.runs):
        found = improvements(samples, run)
        last = int(samples.steps[run])
        lines = [f"{step + 1} {value:.10f}" for step, value in found]
        if found[-1][0] != last:
            lines.append(f"{last + 1} {found[-1][1]:.10f}")
        paragraphs.append("\n".join(["evaluations raw_y", *lines]))
        runs.append(
            {
                "instance": 1,
                "evals": last + 1,
                "best": {"evals": found[-1][0] + 1, "y": float(found[-1][1]), "x": []},
            }
        )
    description = samples.describe()
    index = {
        "version": _VERSION,
        "suite": "markov-lrsao",
        "function_id": _FUNCTION,
        "function_name": name,
        "maximization": True,
        "algorithm": {
            "name": algorithm.name,
            "info": ", ".join(
                f"{key}={description[key]}"
                for key in ("alpha", "gamma", "r", "arithmetic", "limit", "restart")
                if description[key] is not None
            ),
        },
        "attributes": ["evaluations", "raw_y"],
        "scenarios": [{"dimension": landscape.n, "path": data.as_posix(), "runs": runs}],
    }
    path = root / f"IOHprofiler_f{_FUNCTION}_{name}.json"
    try:
        (root / data).parent.mkdir(parents=True)
    except OSError as error:
        raise _unwritable(folder, error.strerror) from None
    write_all({root / data: "\n".join(paragraphs) + "\n", path: json.dumps(index, indent=1) + "\n"})
    return path
