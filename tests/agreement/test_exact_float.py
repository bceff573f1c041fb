"""Exact = float to 1e-12, joint = crossing exactly, and the reference values."""

from __future__ import annotations

from fractions import Fraction

import pytest
from instances import jump_chain, jump_law, paper_runtime, valid_pairs

from markov_lrsao import Algorithm, Landscape, Parameters, runtime
from markov_lrsao.chains.hitting import hitting_times
from markov_lrsao.chains.solvers._exact import check_residual
from markov_lrsao.exact.rationals import fraction

# n = 9, l = 2, the paper's hyper-parameters; found before the code was written, by the joint
# chain solved in rationals, by the Storm model checker on the same chain, and by simulation.
REFERENCE = {
    "total": "51740216905/1185192162",
    "phases": ["9853/2856", "3343673/212520", "1801504607/73614420"],
}


@pytest.mark.parametrize("method", ["auto", "joint", "crossing"])
@pytest.mark.parametrize("merge", [True, False])
def test_reference_values(method: str, merge: bool) -> None:
    algorithm = Algorithm.lrsao(Parameters.of("0.8", Fraction(1, 10), "7/2"))
    result = runtime(Landscape.jump(9, 2), algorithm, method=method, merge=merge)
    assert result.total.rational == REFERENCE["total"]
    assert [phase.rational for phase in result.phases] == REFERENCE["phases"]
    assert result.exact


@pytest.mark.parametrize(("n", "ell"), valid_pairs(13))
def test_exact_float_and_crossing(n: int, ell: int) -> None:
    exact, floats = paper_runtime(n, ell), paper_runtime(n, ell, "float")
    assert exact.exact
    assert not floats.exact
    for x, y in zip(
        (exact.total, *exact.phases, exact.variance, *exact.phase_variances),
        (floats.total, *floats.phases, floats.variance, *floats.phase_variances),
        strict=True,
    ):
        assert float(y) == pytest.approx(float(x), rel=1e-12)
    law = jump_law(n, ell)
    crossing = runtime(law.landscape, law.algorithm, method="crossing")
    assert crossing.method == "crossing"
    assert (crossing.total, crossing.phases) == (exact.total, exact.phases)
    assert (crossing.variance, crossing.phase_variances) == (exact.variance, exact.phase_variances)


@pytest.mark.parametrize(("n", "ell"), [(9, 2), (11, 3)])
def test_the_solution_satisfies_every_equation_of_the_whole_chain(n: int, ell: int) -> None:
    """The exact solver may solve a quotient; its answer is checked here on all states."""
    from flint import fmpq

    chain = jump_chain(n, ell, merge=False).chain
    inside = ~chain.at_positions([n])
    times = hitting_times(chain, ~inside)
    check_residual(chain, inside, [fmpq(1)] * chain.size, times)
    for i in range(0, chain.size, 997):  # and by hand, in the standard library
        if inside[i]:
            total = sum((fraction(w) * fraction(times[j]) for j, w in chain.row(i)), Fraction(1))
            assert fraction(times[i]) == total


@pytest.mark.exhaustive
@pytest.mark.parametrize(("n", "ell"), [(12, 2)])
def test_unmerged_in_floats(n: int, ell: int) -> None:
    law = jump_law(n, ell)
    floats = runtime(law.landscape, law.algorithm, method="joint", field="float", merge=False)
    assert float(floats.total) == pytest.approx(float(paper_runtime(n, ell).total), rel=1e-12)


@pytest.mark.parametrize(
    "objectives",
    [
        {"A": [0, 0, 1, 2, 1]},
        {"A": [0, 1, 2, 3, 4], "B": [0, 0, 1, 1, 2]},
        {"A": [0, 1, 2, 3, 4, 5, 6]},
    ],
    ids=str,
)
def test_crossing_on_other_landscapes(objectives: dict[str, list[int]]) -> None:
    landscape = Landscape.from_arrays(objectives, "A")
    algorithm = Algorithm.lrsao(Parameters.of("2/5", "1/4", 7))
    joint = runtime(landscape, algorithm, method="joint", outside_h=True)
    crossing = runtime(landscape, algorithm, method="crossing", outside_h=True)
    assert (crossing.total, crossing.variance) == (joint.total, joint.variance)


@pytest.mark.parametrize(
    "objectives", [{"A": [3, 3, 0, 4]}, {"A": [0, 1, 2, 3, 4], "B": [4, 3, 2, 1, 0]}], ids=str
)
def test_crossing_where_the_optimum_may_be_missed(objectives: dict[str, list[int]]) -> None:
    landscape = Landscape.from_arrays(objectives, "A")
    algorithm = Algorithm.lrsao(Parameters.of("2/5", "1/4", 7))
    for method in ("crossing", "joint"):
        found = runtime(landscape, algorithm, method=method, outside_h=True)
        assert found.kind == "infinite"
        assert found.trap is not None
        assert found.trap.lower > 0
