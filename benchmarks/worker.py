"""One tool on one chain, in a process of its own: ``python -m benchmarks.worker TASK ...``.

Prints one JSON object: seconds per stage (all repetitions), the value, peak memory in MB.
Seconds are processor time of this process, which other work on the machine does not disturb;
all tools run single-threaded. ``BENCHMARK_CLOCK=wall`` takes the time of day instead.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal

from benchmarks import umfpack

__all__ = ["TASKS", "main"]

Result = dict[str, Any]
Field = Literal["exact", "float"]
Kernel = Literal["event", "step"]
_TINY = """@type: DTMC
@value_type: rational
@nr_states
3
@nr_choices
3
@model
state 0 init
\taction 0
\t\t0 : 1/3
\t\t1 : 2/3
state 1
\taction 0
\t\t0 : 1/2
\t\t2 : 1/2
state 2 target
\taction 0
\t\t2 : 1
"""


_now = time.perf_counter if os.environ.get("BENCHMARK_CLOCK") == "wall" else time.process_time


def _clock(stages: dict[str, list[float]], name: str, work: Callable[[], Any]) -> Any:
    begun = _now()
    result = work()
    stages.setdefault(name, []).append(_now() - begun)
    return result


def _ours(path: str, label: str, repeat: int, field: Field, quantity: str) -> Result:
    """Solve for every state; floats come with a bound of each error, which is timed as well."""
    import numba  # noqa: F401  the compiled paths are what is measured, also on small chains

    from markov_lrsao.chains.hitting import hitting_times, hitting_times_with_errors
    from markov_lrsao.chains.reaching import reach_probabilities, reach_probabilities_with_errors
    from markov_lrsao.exchange import read_chain

    exactly = hitting_times if quantity == "time" else reach_probabilities
    nearly = hitting_times_with_errors if quantity == "time" else reach_probabilities_with_errors
    stages: dict[str, list[float]] = {}
    result: Result = {}
    for _ in range(repeat):
        chain = _clock(stages, "load", lambda: read_chain(path)).chain
        target = chain.labelled(label)
        start = int(chain.start[0])
        if field == "exact":
            result["value"] = str(_clock(stages, "solve", partial(exactly, chain, target))[start])
        else:
            found = _clock(stages, "solve", partial(nearly, chain, target))
            result["value"] = str(found.mid[start])
            result["bound"] = float(found.rad[start] / found.mid[start])
        result["states"] = chain.size
    return {"stages": stages, **result}


def _storm(path: str, label: str, repeat: int, field: str, quantity: str) -> Result:
    import stormpy

    stages: dict[str, list[float]] = {}
    formula = stormpy.parse_properties(f'{"T" if quantity == "time" else "P"}=? [F "{label}"]')[0]
    environment = None
    if field in ("topological", "plain"):
        environment = stormpy.environments.Environment()
        if field == "topological":
            environment.solver().set_linear_equation_solver_type(
                stormpy.environments.EquationSolverType.TOPOLOGICAL
            )
    load = (
        stormpy.build_model_from_drn[stormpy.Rational]
        if field == "exact"
        else stormpy.build_model_from_drn[float]
    )
    for _ in range(repeat):
        model = _clock(stages, "load", lambda: load(path))
        result = _clock(
            stages,
            "solve",
            partial(stormpy.model_checking, model, formula, environment=environment),
        )
        value = result.get_value(model.initial_states[0])
    return {"stages": stages, "value": str(value), "states": model.nr_states}


def _scipy(path: str, label: str, repeat: int, method: str, quantity: str) -> Result:
    """Solve (1 - P) x = b for every state that may or may not reach the label, by SciPy."""
    import numpy as np
    from scipy.sparse import csc_array, eye_array

    from markov_lrsao.chains.reaching import qualitative
    from markov_lrsao.exchange import read_chain

    stages: dict[str, list[float]] = {}
    chain = read_chain(path).chain
    never, surely = qualitative(chain, chain.labelled(label))
    unknown = ~chain.labelled(label) if quantity == "time" else ~never & ~surely
    inside = np.flatnonzero(unknown)
    solve = _LINEAR[method]
    for _ in range(repeat):
        matrix = chain.to_scipy()
        system = csc_array(eye_array(len(inside)) - matrix[inside][:, inside])
        right = np.ones(len(inside))
        if quantity != "time":
            right = matrix[inside] @ surely.astype(float)
        values = _clock(stages, "solve", partial(solve, system, right))
    at = int(np.searchsorted(inside, chain.start[0]))
    return {"stages": stages, "value": repr(float(values[at])), "states": chain.size}


def _spsolve(system: Any, right: Any) -> Any:
    from scipy.sparse.linalg import spsolve

    return spsolve(system, right)


def _superlu(system: Any, right: Any) -> Any:
    from scipy.sparse.linalg import splu

    factors = splu(
        system,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    return factors.solve(right)


def _bicgstab(system: Any, right: Any) -> Any:
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import LinearOperator, bicgstab

    rows, diagonal = csr_array(system), system.diagonal()
    jacobi = LinearOperator(rows.shape, lambda x: x / diagonal)
    values, failed = bicgstab(rows, right, rtol=1e-13, atol=0.0, maxiter=2000, M=jacobi)
    if failed:
        raise ArithmeticError("BiCGSTAB did not converge")
    return values


_LINEAR = {
    "spsolve": _spsolve,
    "superlu": _superlu,
    "bicgstab": _bicgstab,
    "umfpack": umfpack.solve,
}


def _sympy(path: str, label: str, repeat: int) -> Result:
    import numpy as np
    from sympy import QQ
    from sympy.polys.matrices import DomainMatrix

    from markov_lrsao.exchange import read_chain

    stages: dict[str, list[float]] = {}
    chain = read_chain(path).chain
    inside = np.flatnonzero(~chain.labelled(label)).tolist()
    place = {i: k for k, i in enumerate(inside)}
    rows: dict[int, dict[int, Any]] = {}
    for i, k in place.items():
        row = {k: QQ(1)}
        for j, p in chain.row(i):
            if j in place:
                row[place[j]] = row.get(place[j], QQ(0)) - QQ(int(p.p), int(p.q))
        rows[k] = {j: w for j, w in row.items() if w}
    system = DomainMatrix(rows, (len(inside), len(inside)), QQ)
    ones = DomainMatrix({k: {0: QQ(1)} for k in range(len(inside))}, (len(inside), 1), QQ)
    for _ in range(repeat):
        solution = _clock(stages, "solve", lambda: system.lu_solve(ones))
    value = solution.to_Matrix()[place[int(chain.start[0])], 0]
    return {"stages": stages, "value": str(value), "states": chain.size}


def _enumerate(n: int, merge: bool, repeat: int, solve: Field | Literal[""]) -> Result:
    from benchmarks.chains import jump_law
    from markov_lrsao.chains.hitting import hitting_times
    from markov_lrsao.joint.enumeration import enumerate_joint

    stages: dict[str, list[float]] = {}
    for _ in range(repeat):
        chain = _clock(
            stages, "build", lambda: enumerate_joint(jump_law(n), merge=merge, field="float")
        ).chain
        value = None
        if solve:
            times = _clock(
                stages, "solve", partial(hitting_times, chain, chain.positions == n, field=solve)
            )
            value = times[int(chain.start[0])]
    return {"stages": stages, "value": str(value), "states": chain.size}


def _storm_build(n: int, merge: bool, repeat: int, solve: str) -> Result:
    import stormpy

    from benchmarks.chains import jump_law
    from markov_lrsao.exchange.prism_language import write_prism_language

    stages: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.prism"
        write_prism_language(jump_law(n), path, merge=merge)
        for _ in range(repeat):
            program = _clock(stages, "read", lambda: stormpy.parse_prism_program(str(path)))
            build = (
                stormpy.build_model[stormpy.Rational] if solve == "exact" else (stormpy.build_model)
            )
            model = _clock(stages, "build", lambda: build(program))  # noqa: B023
            formula = stormpy.parse_properties('T=? [F "target"]', program)[0]
            value = None
            if solve:
                result = _clock(stages, "solve", lambda: stormpy.model_checking(model, formula))  # noqa: B023
                value = result.get_value(model.initial_states[0])
    return {"stages": stages, "value": str(value), "states": model.nr_states}


def _crossing(n: int, ell: int, repeat: int, kind: str) -> Result:
    """Count crossings: "exact", "float", or a number of digits."""
    from markov_lrsao import Algorithm, Landscape, Parameters, runtime

    stages: dict[str, list[float]] = {}
    algorithm = Algorithm.lrsao(Parameters.paper(n))
    landscape = Landscape.jump(n, ell)
    digits = int(kind) if kind.isdigit() else None
    work = (
        partial(runtime, landscape, algorithm, method="crossing", field=_field(kind))
        if digits is None
        else partial(runtime, landscape, algorithm, digits=digits)
    )
    for _ in range(repeat):
        result = _clock(stages, "solve", work)
    if digits is not None and not result.certified:
        raise ArithmeticError("some digits are not certain")
    value = result.total.decimal
    return {"stages": stages, "value": value, "states": result.states}


def _derive(n: int, ell: int, repeat: int) -> Result:
    """Derive the patterns of the rows from the update rule, each time anew."""
    from benchmarks.chains import jump_law
    from markov_lrsao.rows.automata import derive_automata

    stages: dict[str, list[float]] = {}
    derive_automata(jump_law(n, ell))
    for _ in range(repeat):
        found = _clock(stages, "derive", partial(derive_automata, jump_law(n, ell)))
    return {"stages": stages, "value": "", "states": sum(map(len, found.patterns))}


def _simulate(n: int, ell: int, repeat: int, kernel: Kernel, runs: int) -> Result:
    from benchmarks.chains import jump_law
    from simulate.runs.runner import simulate

    law = jump_law(n, ell)
    simulate(law, runs=1, seed=1, kernel=kernel, threads=1)
    stages: dict[str, list[float]] = {}
    for k in range(repeat):
        samples = _clock(
            stages, "run", partial(simulate, law, runs=runs, seed=2 + k, kernel=kernel, threads=1)
        )
    stages["run"] = [value / runs for value in stages["run"]]
    return {"stages": stages, "value": str(float(samples.times.mean())), "states": runs}


def _field(text: str) -> Field:
    return "exact" if text == "exact" else "float"


def _file_task(name: str, path: str, label: str, repeat: int, quantity: str) -> Result:
    tool, _, field = name.partition("-")
    if tool == "ours":
        return _ours(path, label, repeat, _field(field), quantity)
    if tool == "storm":
        return _storm(path, label, repeat, field, quantity)
    if tool in _LINEAR:
        return _scipy(path, label, repeat, tool, quantity)
    return _sympy(path, label, repeat)


TASKS = (
    "ours-exact",
    "ours-float",
    "storm-exact",
    "storm-double",
    "storm-topological",
    "storm-plain",
    "spsolve",
    "superlu",
    "bicgstab",
    "umfpack",
    "sympy",
    "enumerate",
    "storm-build",
    "crossing",
    "derive",
    "simulate",
)


def main(arguments: list[str]) -> Result:
    """Run one task; arguments: task, repetitions, then the task's own."""
    task, repeat, *rest = arguments
    if task == "enumerate":
        result = _enumerate(
            int(rest[0]), rest[1] == "merged", int(repeat), _field(rest[2]) if rest[2] else ""
        )
    elif task == "storm-build":
        result = _storm_build(int(rest[0]), rest[1] == "merged", int(repeat), rest[2])
    elif task == "crossing":
        result = _crossing(int(rest[0]), int(rest[1]), int(repeat), rest[2])
    elif task == "derive":
        result = _derive(int(rest[0]), int(rest[1]), int(repeat))
    elif task == "simulate":
        kernel: Kernel = "event" if rest[2] == "event" else "step"
        result = _simulate(int(rest[0]), int(rest[1]), int(repeat), kernel, int(rest[3]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            tiny = Path(folder) / "tiny.drn"
            tiny.write_text(_TINY, encoding="utf-8")
            _file_task(task, str(tiny), "target", 1, "time")
            if task.startswith("ours"):
                _warm_compiled(tiny)
        result = _file_task(task, rest[0], rest[1], int(repeat), rest[2])
    result["memory"] = _peak_memory()
    return result


def _peak_memory() -> float:
    """Return this process's peak in MB.

    Linux lets a new program inherit the ru_maxrss of the process that started it; VmHWM starts
    afresh.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _warm_compiled(tiny: Path) -> None:
    """Compile (or load from the cache) what only large chains use."""
    import numpy as np

    from benchmarks.chains import plane_walk, random_sparse, symmetric_walk
    from markov_lrsao.chains.hitting import hitting_times_with_errors
    from markov_lrsao.chains.reaching import reach_probabilities_with_errors
    from markov_lrsao.chains.solvers.quotient import quotient
    from markov_lrsao.exchange._drn_fast import read_fast
    from markov_lrsao.exchange._reading import Source

    read = read_fast(Source.open(tiny))
    assert read is not None
    inside = ~read.chain.labelled("target")
    quotient(read.chain, inside, np.zeros(read.chain.size, np.int64))
    for chain in (plane_walk(30), random_sparse(900), symmetric_walk(900)):
        target = chain.labelled("target")
        hitting_times_with_errors(chain, target)
        reach_probabilities_with_errors(chain, target)


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:])))
