"""The transition table against what the paper's definitions say, written out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpq
from instances import jump_law, valid_pairs
from oracles import paper_objectives

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from markov_lrsao.exact.rationals import fraction
from markov_lrsao.model.law import DOWN, UP

# Per objective and position 0..n-1 the outcome of proposing down, up: "x" rejected,
# "-r" a plateau move, a number the gain; "." means that no such move exists.
TABLES = {
    (9, 2): {
        "L": ". 1, x 1, x 1, x x, 3 -r, -r -r, -r -r, -r -r, -r -r",
        "J": ". -r, -r -r, -r 3, x 1, x 1, x 1, x x, 6 -r, -r 9",
        "R": ". -r, -r -r, -r -r, -r -r, -r -r, -r 6, x 1, x 1, x 1",
    },
    (11, 3): {
        "L": ". 1, x 1, x 1, x 1, x x, 4 -r, -r -r, -r -r, -r -r, -r -r, -r -r",
        "J": ". -r, -r -r, -r -r, -r 4, x 1, x 1, x 1, x x, 7 -r, -r -r, -r 11",
        "R": ". -r, -r -r, -r -r, -r -r, -r -r, -r -r, -r 7, x 1, x 1, x 1, x 1",
    },
}
STATES = {
    (9, 2): [0, 0, 0, 3, 4, 5, 6, 0, 0, 9],
    (11, 3): [0, 0, 0, 0, 4, 5, 6, 7, 0, 0, 0, 11],
}


@pytest.mark.parametrize(("n", "ell"), TABLES)
def test_table_by_hand(n: int, ell: int) -> None:
    law = jump_law(n, ell)
    states = STATES[n, ell]
    assert law.row_value[law.row].tolist() == states
    for action, line in TABLES[n, ell].items():
        cells = [cell.split() for cell in line.split(", ")]
        assert len(cells) == n
        for p, cell in enumerate(cells):
            for direction, text in zip((DOWN, UP), cell, strict=True):
                if text == ".":
                    assert (p, direction) == (0, DOWN)
                    continue
                step = law.step(p, action, direction)
                assert step.accepted == (text != "x")
                assert step.next_position == (p if text == "x" else p + 2 * direction - 1)
                assert step.next_state == states[step.next_position]
                expected = {"x": fmpq(0), "-r": -law.algorithm.parameters.r}  # type: ignore[union-attr]
                assert step.reward == (expected[text] if text in expected else fmpq(int(text)))


@pytest.mark.parametrize(("n", "ell"), valid_pairs(16))
def test_table_against_the_definitions(n: int, ell: int) -> None:
    law, objectives = jump_law(n, ell), paper_objectives(n, ell)
    r = fraction(law.algorithm.parameters.r)  # type: ignore[union-attr]
    for a, f in enumerate(objectives.values()):
        for p in range(n):
            for direction in (DOWN, UP):
                if p == 0 and direction == DOWN:
                    continue
                gain = f[p + 2 * direction - 1] - f[p]
                assert law.accepted[p, a, direction] == (gain >= 0)
                reward = fraction(law.reward(p, a, direction))
                assert reward == (gain if gain > 0 else -r if gain == 0 else 0)


def test_moves_tell_whether_the_row_is_kept() -> None:
    law = jump_law(9, 2)
    kind = law.kinds[int(law.kind[7])]  # n-l: the entrance of the right plateau
    left, jump = kind[0], kind[1]
    assert (left[DOWN].accepted, left[DOWN].stays_in_row) == (True, False)
    assert (left[UP].accepted, left[UP].stays_in_row) == (True, True)
    assert jump[DOWN].gain == fmpq(4, 5) * 6
    assert kind[2][DOWN].stays_in_row  # R rejects going down
    assert not kind[2][DOWN].accepted
    assert not law.kinds[int(law.kind[0])][0][DOWN].possible


@pytest.mark.parametrize(("n", "ell"), [(9, 2), (13, 3), (40, 10), (400, 20)])
def test_kinds_are_few_and_faithful(n: int, ell: int) -> None:
    law = jump_law(n, ell)
    assert len(law.kinds) <= 14
    for p in range(n):
        kind = law.kinds[int(law.kind[p])]
        for a, moves in enumerate(kind):
            for direction, move in enumerate(moves):
                assert move.possible == (p > 0 if direction == DOWN else p < n)
                if move.possible:
                    assert move.accepted == law.accepted[p, a, direction]
                    assert move.gain == law.algorithm.learn * law.reward(p, a, direction)
                    to = p + 2 * direction - 1 if move.accepted else p
                    assert move.stays_in_row == (law.row[to] == law.row[p])


def test_denominator_is_common() -> None:
    law = jump_law(9, 2)
    assert law.denominator == 54
    rls = StepLaw.of(Landscape.onemax(7), Algorithm.rls())
    assert (rls.actions, rls.denominator) == (("O",), 7)


def test_rejections_of_equal_offspring_if_so_told() -> None:
    from dataclasses import replace

    strict = replace(Algorithm.lrsao(Parameters.paper(9)), accept_equal=False)
    law = StepLaw.of(Landscape.jump(9, 2), strict)
    gains = np.diff(Landscape.jump(9, 2).objectives["J"])
    assert np.array_equal(law.accepted[:9, 1, UP], gains > 0)
