"""The rounding error that an inversion claims, against ball arithmetic.

The same points and the same truncation are evaluated once more with FLINT's complex balls of 160
bits: rational weights, roots of unity enclosed. What is left of the difference to the floats is
their rounding error, known to thirty digits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from flint import acb, arb, ctx, fmpq

import markov_lrsao.answers.inversion as inversion
from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from markov_lrsao.answers.inversion import Problem
from markov_lrsao.answers.laws import Inversion
from markov_lrsao.errors import StateSpaceTooLargeError, granted
from markov_lrsao.exact.evaluation import Evaluation
from markov_lrsao.exact.quantity import Exact
from markov_lrsao.progress import no_progress

BITS = 160


@dataclass(frozen=True)
class InBalls(Evaluation):
    """Evaluate at complex points, every number a ball around a rational one."""

    @property
    def one(self) -> Any:
        return (np.array([acb(1)] * len(self.nodes), dtype=object),)

    def number(self, numerator: int, denominator: int) -> Any:
        return acb(arb(fmpq(int(numerator), int(denominator))))

    def column(self, numerators: Any, denominator: int) -> Any:
        return np.array([[self.number(x, denominator)] for x in numerators], dtype=object)


def root(j: int, points: int) -> acb:
    """exp(2 pi i j / points)."""
    return acb(arb(fmpq(2 * (j % points), points))).exp_pi_i()


def in_balls(problem: Problem, law: Inversion) -> Any:
    """Return G at the points that the inversion uses, enclosed."""
    nodes = np.array([root(j, law.points) for j in range(len(law.values))], dtype=object)
    return problem.evaluate(InBalls(exact=False, nodes=nodes))[0]


def summed(law: Inversion, values: Any, t: int) -> arb:
    """Return what the inversion's formula gives for P(T <= t) without rounding, enclosed."""
    total: arb = (t + 1) * values[0].real
    for j in range(1, len(values)):
        weight = 1 if 2 * j == law.points else 2
        turned = (1 - root(-j * (t + 1), law.points)) / (1 - root(-j, law.points))
        total += weight * (values[j] * turned).real
    return total / law.points


def inverted(
    landscape: Landscape, algorithm: Algorithm, phase: int | None
) -> tuple[Problem, Inversion]:
    found = inversion._decomposition(StepLaw.of(landscape, algorithm), no_progress)
    problem = Problem.of(granted(found), phase)
    never = Exact(1 - problem.reached)
    return problem, inversion._inversion(problem, problem.moments, never, 0.0, no_progress)


def paper(n: int, ell: int, phase: int | None = None) -> tuple[Problem, Inversion]:
    return inverted(Landscape.jump(n, ell), Algorithm.lrsao(Parameters.paper(n)), phase)


def stuck() -> tuple[Problem, Inversion]:
    shape = Landscape.from_arrays({"T": [0, 2, 1, 3, 7], "C": [4, 1, 2, 0, 3]}, target="T")
    return inverted(shape, Algorithm.lrsao(Parameters.of("1/2", "1/4", "5")), None)


INSTANCES = {
    "9-2": lambda: paper(9, 2),
    "20-3": lambda: paper(20, 3),
    "60-5": lambda: paper(60, 5),
    "31-13": lambda: paper(31, 13),
    "phase 2": lambda: paper(20, 3, 2),
    "phase 3": lambda: paper(14, 4, 3),
    "stuck": stuck,
}
LONG = ("60-5", "20-3")


@pytest.mark.parametrize(
    "name",
    [pytest.param(x, marks=pytest.mark.slow) if x in LONG else x for x in INSTANCES],
)
def test_rounding_is_within_the_claim_and_the_claim_within_reason(name: str) -> None:
    """A claim 20,000 times smaller would be exceeded on every instance."""
    problem, law = INSTANCES[name]()
    claimed = law.rounding
    mean = int(law.finite_mean)
    times = [0, 1, 7, mean // 2, mean, mean + 1, 2 * mean, 3 * mean, law.horizon // 2]
    with ctx.workprec(BITS):
        values = in_balls(problem, law)
        assert max(float(value.rad()) for value in values) < 1e-35
        errors = [float(abs(arb(law.cdf(t)) - summed(law, values, t)).upper()) for t in times]
    assert max(errors) <= claimed <= 20_000 * max(errors)
    assert claimed <= law.error


@pytest.mark.parametrize("name", ["20-3", "stuck"])
def test_every_value_is_within_its_radius(name: str) -> None:
    problem, law = INSTANCES[name]()
    with ctx.workprec(BITS):
        exact = in_balls(problem, law)
        found = [
            float(abs(acb(value.real, value.imag) - truth).upper())
            for value, truth in zip(law.values, exact, strict=True)
        ]
    assert np.all(np.array(found) <= law.radii)
    assert max(found) > 2.0**-53


@pytest.mark.slow
def test_balls_see_a_value_that_is_off_by_a_little() -> None:
    """One value changed by 1e-9: the sums differ by more than the rounding claimed."""
    problem, law = paper(9, 2)
    claimed = law.rounding
    law.values[3] *= 1 + 1e-9
    law = replace(law)  # forgets what it has computed from the values
    with ctx.workprec(BITS):
        values = in_balls(problem, law)
        mean = int(law.finite_mean)
        assert float(abs(arb(law.cdf(mean)) - summed(law, values, mean)).lower()) > claimed


def test_angles_beyond_machine_integers() -> None:
    """j (t + 1) exceeds 2^63 at the last point, which is the only one of weight."""
    points, last = 3**30, 50_000
    values = np.zeros(last + 1, dtype=np.complex128)
    values[0], values[last] = 1.0, 1.0
    law = Inversion(
        expectation=Exact(fmpq(1)),
        variance=Exact(fmpq(1)),
        finite_mean=1.0,
        never=Exact(fmpq(0)),
        error=0.0,
        horizon=points - 1,
        points=points,
        values=values,
        radii=np.zeros(last + 1),
    )
    t = points - 10**9
    with ctx.workprec(BITS):
        turned = (1 - root(-last * (t + 1), points)) / (1 - root(-last, points))
        truth = ((t + 1) + 2 * turned.real) / points
        assert float(abs(arb(law.cdf(t)) - truth).upper()) < 1e-15


@pytest.mark.slow
def test_points_are_evaluated_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """One point at a time gives what all at once give; the last time is N - 1."""
    _, law = stuck()
    for size in (1, 5, 92):
        monkeypatch.setattr(inversion, "_CHUNK", size)
        _, pieces = stuck()
        assert np.abs(pieces.values - law.values).max() < 1e-14
    assert law.horizon == law.points - 1


@pytest.mark.slow
def test_too_many_points_at_too_many_sites(monkeypatch: pytest.MonkeyPatch) -> None:
    """At n = 60, l = 5 the positions 8 to 53 are sites: 46 of them."""
    monkeypatch.setattr(inversion, "_MOST_WORK", 46 * 780 - 1)
    with pytest.raises(StateSpaceTooLargeError, match="needs 780 points at 46 sites"):
        paper(60, 5)
    monkeypatch.setattr(inversion, "_MOST_WORK", 46 * 780)
    assert len(paper(60, 5)[1].values) == 781
