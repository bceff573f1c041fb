"""What later choices need of every entry, as a few runs have it: it steers layers of tables."""

from __future__ import annotations

import numpy as np
import pytest
from random_plateaus import RandomPlateaus

from markov_lrsao.forward.measures import Kind, measured, needs_ahead
from markov_lrsao.forward.model import arrays_of


def test_a_row_that_is_only_learnt_from_is_needed_less() -> None:
    """On the right plateau row 0 compares T with H0; row 4 refuses T, and row 0 learns from it.

    It does so with bootstrap = alpha gamma = 2/55. Rows 1 to 3 are never met again from there.
    """
    law = RandomPlateaus.held_out(48).law
    needed = needs_ahead(law, arrays_of(law)).reshape(8, 6, 2)
    assert (needed[5, 0] > 1).all()
    assert 0 < needed[5, 4].max() < needed[5, 0].max() / 10
    assert (needed[5, 1:4] == 0).all()
    assert (needed[7] == 0).all()  # nothing is needed at the optimum


@pytest.mark.parametrize("kind", ["visits", "needs", "evenly"])
def test_every_row_is_told_apart_at_every_place(kind: Kind) -> None:
    """Order and values of all rows come, sooner or later: heavy tables are not joined at all."""
    law = RandomPlateaus.held_out(170).law
    found = measured(law, arrays_of(law), kind)
    for levels in found.levels:
        assert {(r, c > 0) for r, c in levels} == {(r, v) for r in range(5) for v in (False, True)}
    assert (found.scales > 0).all()
    assert bool(found.scales.size) == (kind == "evenly")


def test_steps_are_in_proportion_to_needs() -> None:
    law = RandomPlateaus.held_out(48).law
    arrays = arrays_of(law)
    needed, scales = needs_ahead(law, arrays)[5], measured(law, arrays, "evenly").scales[5]
    assert scales[0] / scales[1] == pytest.approx(needed[0] / needed[1])
    assert np.abs(arrays.gains[arrays.gains[:, 0] != 0]).min() * scales.max() == pytest.approx(1)
