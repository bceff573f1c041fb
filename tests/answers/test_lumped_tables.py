"""Lumps of tables that are not stable: enclosures, and styles of cutting."""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpq
from landscape_campaign import compare_mean, compare_runs
from random_plateaus import RandomPlateaus

from markov_lrsao import runtime
from markov_lrsao.answers.lumped_tables import LumpedTables
from markov_lrsao.answers.plan import Layered, Lumped, Options, _in_common, layered, lumped
from markov_lrsao.errors import Refused, SolverError
from markov_lrsao.exact.quantity import Enclosed, Quantity
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.forward.coarse import coarse
from markov_lrsao.forward.model import arrays_of
from markov_lrsao.values.answer import Answer
from markov_lrsao.values.quotient.cutting import BOLD, PLAIN, STEADY
from markov_lrsao.values.quotient.level import quick_quotient, quotient_level
from markov_lrsao.values.refinement import Refined
from markov_lrsao.values.solving import solve_values
from markov_lrsao.values.whole_run import everything
from simulate.runs.runner import simulate


@pytest.mark.slow
def test_styles_find_the_same_fraction() -> None:
    """Whichever planes lumps are cut by, the quotient is that of the same chain."""
    law = RandomPlateaus.hostile(103).law
    by_values = everything(law, fmpq(64), exact_bits=16, largest=2_000)
    assert not by_values.undecided
    expected = solve_values(by_values, "exact", 2).values
    for style in (PLAIN, BOLD):
        level = quotient_level(law, largest=500, style=style)
        assert solve_values(level, "exact", 2).values == expected


@pytest.mark.slow
def test_a_quotient_that_first_gains_hide() -> None:
    """Cut by first gains, thousands of lumps are not enough here; without them some fifty are."""
    instance = RandomPlateaus.drawn(6)
    law = instance.law
    found = quick_quotient(law, 1_000)
    assert isinstance(found, Refined)
    assert len(found.states) < 200
    assert quick_quotient(law, 1_000) is found
    result = runtime(law.landscape, law.algorithm, outside_h=True)
    assert (result.kind, result.total.rational) == ("exact", "69/4")
    compare_mean(instance, result)
    compare_runs(law, result, 6, 20_000)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("size", [20, pytest.param(60, marks=pytest.mark.slow)])
def test_lumps_enclose_what_is_known(seed: int, size: int) -> None:
    """However few lumps are made, an enclosure holds the exact fraction of another way.

    Without what is left where nothing is followed it does not: the truth is beyond it.
    """
    law = RandomPlateaus.drawn(seed).law
    expected = runtime(law.landscape, law.algorithm, outside_h=True)
    truth = expected.total.lower
    assert expected.kind == "exact"
    counted = np.array([[True, True]])
    left = coarse(law, arrays_of(law), counted).steps
    tables = LumpedTables(law, STEADY, left, counted)
    tables.refine(size)
    low, high = tables.enclosed()[0]
    assert low <= truth <= high
    wrong = LumpedTables(law, STEADY, 0 * left, counted)
    wrong.refine(size)
    if high - low > fmpq(1, 10**6) * low:
        assert wrong.enclosed()[0][1] < truth


@pytest.mark.slow
def test_no_quotient_and_narrow_all_the_same() -> None:
    instance = RandomPlateaus.hostile(106)
    law = instance.law
    assert isinstance(quick_quotient(law, 1_000), Refused)
    found = lumped(law, Options())
    assert isinstance(found, Lumped)
    low, high = found.bounds[0]
    assert to_float(high - low) < 1e-3 * to_float(low)
    result = runtime(law.landscape, law.algorithm, outside_h=True)
    compare_mean(instance, result)
    compare_runs(law, result, 106, 100_000)


def test_enclosures_by_layers_and_by_lumps_are_intersected() -> None:
    def of(*ends: tuple[int, int | None]) -> Answer:
        values: list[list[Quantity]] = [
            [Enclosed(fmpq(low), None if high is None else fmpq(high))] for low, high in ends
        ]
        return Answer(values, "layers", 7, undecided=fmpq(1))

    def known(answer: Answer) -> list[tuple[str, str]]:
        return [(str(q.lower), str(q.upper)) for q, *_ in answer.values if isinstance(q, Enclosed)]

    lumps = Lumped([(fmpq(10), fmpq(14)), (fmpq(2), fmpq(3))], 5)
    both = _in_common(of((9, 12), (1, None)), lumps)
    assert known(both) == [("10", "12"), ("2", "3")]
    assert (both.method, both.states) == ("lumps", 5)
    narrower = _in_common(of((11, 12), (2, 2)), lumps)
    assert known(narrower) == [("11", "12"), ("2", "2")]
    assert narrower.method == "layers"
    with pytest.raises(SolverError, match="exclude each other"):
        _in_common(of((15, 16), (2, 3)), lumps)


@pytest.mark.slow
def test_lumps_are_tried_before_the_last_pass_of_layers() -> None:
    """Here some layers leave percents open, and lumps that take less time next to nothing."""
    law = RandomPlateaus.held_out(173).law
    layers = layered(law, Options(max_states=1_000), hasty=True)
    assert isinstance(layers, Layered)
    lumps = lumped(law, Options())
    assert isinstance(lumps, Lumped)
    assert lumps.width < fmpq(1, 2_000) < fmpq(1, 200) < layers.answer.relative_width
    both = _in_common(layers.answer, lumps)  # they do not exclude each other
    assert (both.method, both.relative_width <= lumps.width) == ("lumps", True)
    low, high = lumps.bounds[0]
    times = simulate(law, runs=100_000, seed=1).times
    error = 4 * float(times.std()) / len(times) ** 0.5
    assert to_float(low) - error < float(times.mean()) < to_float(high) + error
