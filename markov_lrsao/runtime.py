"""Expected runtimes: the one function behind `markov-lrsao exact`.

>>> from markov_lrsao import Landscape, Algorithm, Parameters
>>> result = runtime(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.paper(9)), method="joint")
>>> result.total.rational
'51740216905/1185192162'
>>> [phase.rational for phase in result.phases]
['9853/2856', '3343673/212520', '1801504607/73614420']
"""

from __future__ import annotations

import time
from typing import Literal

from markov_lrsao.algorithm import Algorithm
from markov_lrsao.errors import ParameterError
from markov_lrsao.hitting import mean_and_variance
from markov_lrsao.joint import enumerate_joint
from markov_lrsao.landscape import Landscape
from markov_lrsao.law import StepLaw
from markov_lrsao.parameters import hypothesis_h
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.results import Quantity, RuntimeResult
from markov_lrsao.solvers import Field

__all__ = ["Method", "check_hypothesis", "runtime"]

Method = Literal["auto", "joint", "crossing"]


def check_hypothesis(
    landscape: Landscape, algorithm: Algorithm, *, outside_h: bool = False
) -> bool | None:
    """Return whether (H) holds; None where it does not apply.

    Raises
    ------
    ParameterError
        (H) fails and `outside_h` does not allow that.
    """
    if algorithm.parameters is None:
        return None
    h = hypothesis_h(landscape, algorithm.parameters)
    if not h.holds and not outside_h:
        raise ParameterError(
            f"r = {algorithm.parameters.r} is outside hypothesis (H): {h.describe()}; "
            f"--outside-h computes anyway where the patterns still decide"
        )
    return h.holds


def runtime(
    landscape: Landscape,
    algorithm: Algorithm,
    *,
    method: Method = "auto",
    field: Field = "exact",
    merge: bool = True,
    outside_h: bool = False,
    max_states: int | None = None,
    progress: Progress = no_progress,
) -> RuntimeResult:
    """Return E[T], its phases and variances.

    Parameters
    ----------
    method : "joint" enumerates all (position, patterns); "crossing" counts crossings
    field : "exact" rationals or "float"
    merge : merge equivalent patterns first (joint only)
    outside_h : compute although (H) does not hold
    max_states : refuse larger joint chains
    """
    begun = time.perf_counter()
    holds = check_hypothesis(landscape, algorithm, outside_h=outside_h)
    law = StepLaw.of(landscape, algorithm)
    joint = enumerate_joint(law, merge=merge, max_states=max_states, field=field,
                            progress=progress)
    chain = joint.chain
    ends = [chain.positions >= m for m in landscape.milestones]
    total, variance = mean_and_variance(chain, None, ends[-1], field=field, progress=progress)
    phases = [
        mean_and_variance(chain, begin, end, field=field, progress=progress)
        for begin, end in zip([None, *ends[:-1]], ends, strict=True)
    ] if len(ends) > 1 else [(total, variance)]

    def quantity(value: object) -> Quantity:
        return Quantity(value if field == "exact" else float(value))  # type: ignore[arg-type]

    return RuntimeResult(
        landscape=landscape.name, algorithm=algorithm.name, n=landscape.n, ell=landscape.ell,
        parameters=algorithm.parameters, hypothesis_h=holds, method="joint", merged=merge,
        states=chain.size, seconds=time.perf_counter() - begun,
        total=quantity(total), phases=tuple(quantity(m) for m, _ in phases),
        variance=quantity(variance), phase_variances=tuple(quantity(v) for _, v in phases),
    )
