"""Points between two of the same course are not solved: held against solving, and against runs."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from flint import fmpq

import markov_lrsao.regimes.points as module
from markov_lrsao import Algorithm, Landscape, Parameters, hypothesis_h
from markov_lrsao.exact.quantity import Exact
from markov_lrsao.exact.rationals import rational
from markov_lrsao.model.law import StepLaw
from markov_lrsao.regimes.columns import solve_column
from markov_lrsao.regimes.points import Solved, Values, solve_point
from markov_lrsao.values.courses import Course, _Graph, course_of
from markov_lrsao.values.tails import LEVELS, refined_decomposition


def law_of(n: int, ell: int, alpha: str, r: fmpq) -> StepLaw:
    parameters = Parameters(rational(alpha), fmpq(1, n + 1), r)
    return StepLaw.of(Landscape.jump(n, ell), Algorithm.lrsao(parameters))


def penalties(n: int, ell: int, alpha: str, places: Sequence[str]) -> list[fmpq]:
    h = hypothesis_h(Landscape.jump(n, ell), Parameters(rational(alpha), fmpq(1, n + 1), fmpq(0)))
    return [h.lower + rational(x) * (h.upper - h.lower) for x in places]


def course(law: StepLaw) -> Course:
    d = refined_decomposition(law, LEVELS[0])
    assert d.course is not None
    found = d.course()
    assert isinstance(found, tuple)
    return found


def solved(n: int, ell: int, alpha: str, r: fmpq) -> Solved:
    return solve_point(
        n, ell, rational(alpha), fmpq(1, n + 1), r, tolerance=fmpq(1, 1000), max_states=1000
    )


class Table:
    """A Q-table played by hand: rows of fractions, nothing of patterns or clusters."""

    def __init__(self, law: StepLaw) -> None:
        self.law, self.position = law, 0
        self.rows = [[fmpq(0)] * len(law.actions) for _ in range(int(law.row.max()) + 1)]

    @property
    def greedy(self) -> tuple[int, ...]:
        row = self.rows[law_row(self.law, self.position)]
        return tuple(a for a, q in enumerate(row) if q == max(row))

    def play(self, action: int, up: int) -> None:
        law, before = self.law, self.position
        move = law.kinds[int(law.kind[before])][action][up]
        self.position = before + (2 * up - 1 if move.accepted else 0)
        row = self.rows[law_row(law, before)]
        if self.position == law.optimum:
            return
        learnt = max(self.rows[law_row(law, self.position)])
        row[action] = (
            law.algorithm.keep * row[action] + move.gain + law.algorithm.bootstrap * learnt
        )


def law_row(law: StepLaw, position: int) -> int:
    return int(law.row[position])


def histories_agree(laws: Sequence[StepLaw], runs: int, seed: int) -> bool:
    """Whether random histories have the same greedy actions under all laws."""
    draw = random.Random(seed)
    for _ in range(runs):
        tables = [Table(law) for law in laws]
        n, optimum = laws[0].n, laws[0].optimum
        for _ in range(400):
            if len({t.greedy for t in tables}) > 1:
                return False
            p = tables[0].position
            action, up = draw.choice(tables[0].greedy), int(draw.random() * n >= p)
            for t in tables:
                t.play(action, up)
            if tables[0].position == optimum:
                break
    return True


@pytest.mark.slow
@pytest.mark.parametrize(("alpha", "width"), [("4/5", "2/5"), ("1/2", "1/10")])
def test_runs_between_two_points_of_one_course_follow_it(alpha: str, width: str) -> None:
    first, last = rational("1/10"), rational("1/10") + rational(width)
    low, middle, high = penalties(9, 2, alpha, [str(x) for x in (first, (first + last) / 2, last)])
    laws = [law_of(9, 2, alpha, r) for r in (low, middle, high)]
    assert course(laws[0]) == course(laws[2])
    assert histories_agree(laws, 25, seed=3)


def test_courses_tell_regimes_apart() -> None:
    """Above (1-a) r = G one exit does not suffice: another course, which runs show as well."""
    below, at, above = (law_of(9, 2, "1/2", fmpq(k)) for k in (11, 12, 13))
    assert len({course(law) for law in (below, at, above)}) == 3
    assert not histories_agree([below, above], 60, seed=1)


def test_courses_of_other_instances_differ() -> None:
    found = {
        course(law_of(n, ell, "4/5", penalties(n, ell, "4/5", ["1/2"])[0]))
        for n, ell in ((9, 2), (10, 2), (13, 2), (13, 3))
    }
    assert len(found) == 4


def test_an_open_choice_has_no_course() -> None:
    d = refined_decomposition(law_of(9, 2, "1/2", fmpq(12001, 1000)), LEVELS[0])
    assert d.choices is not None
    assert d.course is None


def test_a_changed_successor_or_pattern_changes_the_course() -> None:
    """The form forgets nothing: every entry of it matters, and comes from the law."""
    law = law_of(9, 2, "4/5", fmpq(7, 2))
    once, again = course(law), course(law_of(9, 2, "4/5", fmpq(7, 2)))
    assert once == again
    assert course(law_of(9, 2, "4/5", fmpq(15, 4))) == once
    d = refined_decomposition(law, LEVELS[0])
    automata, bottom, tail, entered, marks = d.course.args  # type: ignore[union-attr]
    pairs = sorted(entered)
    swapped = dict(entered) | {pairs[0]: entered[pairs[-1]]}
    assert course_of(automata, bottom, tail, swapped, marks) != once
    key = next(k for k, to in automata.following.items() if to != 0)
    wrong = dict(automata.following) | {key: 0}
    changed = replace(automata, following=wrong)
    assert course_of(changed, bottom, tail, entered, marks) != once
    other = tuple(tuple(reversed(patterns)) for patterns in automata.patterns)
    assert course_of(replace(automata, patterns=other), bottom, tail, entered, marks) != once


def graph(labels: str, *successors: tuple[int, ...]) -> _Graph:
    return _Graph(list(labels), list(successors))


def test_the_form_of_an_automaton_is_unique() -> None:
    """Labels and the order of successors count; numbers of nodes and copies of them do not."""
    once = graph("abc", (1, 2), (0, 1), (2, 2)).minimal(0)
    assert graph("cba", (0, 0), (2, 1), (1, 0)).minimal(2) == once  # other numbers
    assert graph("abcb", (3, 2), (0, 3), (2, 2), (0, 1)).minimal(0) == once  # b twice
    assert graph("abcx", (1, 2), (0, 1), (2, 2), (3, 3)).minimal(0) == once  # x is never met
    assert graph("abb", (1, 2), (0, 1), (2, 2)).minimal(0) != once  # another greedy action
    assert graph("abc", (2, 1), (0, 1), (2, 2)).minimal(0) != once  # directions swapped
    assert graph("abc", (1, 2), (1, 1), (2, 2)).minimal(0) != once
    assert graph("abc", (1, 2), (0, 1), (2, 2)).minimal(1) != once  # begins elsewhere


@pytest.mark.slow
def test_a_column_is_what_its_points_are(monkeypatch: pytest.MonkeyPatch) -> None:
    alpha, places = "4/5", [f"{k}/10" for k in range(2, 6)]
    rs = penalties(9, 2, alpha, places)
    calls = []

    def solve(i: int) -> Solved:
        calls.append(i)
        return solved(9, 2, alpha, rs[i])

    found = solve_column(len(rs), solve)
    assert len(calls) < len(rs)
    monkeypatch.setattr(module, "_solved", {})
    for i in {*range(len(rs))} - {*calls}:
        module._solved.clear()  # nothing is remembered: each is solved
        assert found[i] == solved(9, 2, alpha, rs[i]).values


@pytest.mark.parametrize(
    ("n", "ell", "alpha"),
    [
        pytest.param(9, 2, "19/20", marks=pytest.mark.slow),
        pytest.param(13, 3, "1/5", marks=pytest.mark.exhaustive),
        pytest.param(16, 4, "9/10", marks=pytest.mark.slow),
        pytest.param(30, 5, "1/4", marks=pytest.mark.slow),
    ],
)
def test_columns_of_other_instances(n: int, ell: int, alpha: str) -> None:
    rs = penalties(n, ell, alpha, [f"{2 * k + 1}/40" for k in range(20)])
    found = solve_column(len(rs), lambda i: solved(n, ell, alpha, rs[i]))
    for r, values in zip(rs, found, strict=True):
        module._solved.clear()
        alone = solved(n, ell, alpha, r).values
        if alone.kind == "exact":
            assert values == alone
        elif values.kind == "exact":  # decided by its neighbours
            assert alone.means[0].lower <= values.means[0].value <= alone.means[0].upper  # type: ignore[operator]


def made(courses: str) -> tuple[list[Values], list[int]]:
    """Return what a column of invented courses gives (. has none), and which points are solved."""
    calls: list[int] = []

    def solve(i: int) -> Solved:
        calls.append(i)
        value = Values("exact", (Exact(fmpq(ord(courses[i]))),))
        return Solved(value, None if courses[i] == "." else courses[i])

    return solve_column(len(courses), solve), calls


@pytest.mark.parametrize(
    "courses", ["", "a", "ab", "aaaaaaaaa", "aaabbbbbc", "a.........b", "........", "ab.cd.e"]
)
def test_every_point_of_a_column_has_its_own_value(courses: str) -> None:
    found, calls = made(courses)
    assert [v.means[0] for v in found] == [Exact(fmpq(ord(c))) for c in courses]
    assert len(calls) == len(set(calls))


def test_only_points_next_to_borders_are_solved() -> None:
    assert len(made("a" * 100)[1]) == 2
    assert len(made("a" * 60 + "b" * 40)[1]) <= 9
    assert len(made("." * 20)[1]) == 20  # no course, nothing is taken over


def test_equal_values_of_different_courses_are_not_taken_over() -> None:
    calls: list[int] = []

    def solve(i: int) -> Solved:
        calls.append(i)
        return Solved(Values("exact", (Exact(fmpq(1)),)), i)

    solve_column(9, solve)
    assert sorted(calls) == list(range(9))


@pytest.mark.slow
def test_solved_values_are_kept_by_course(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kept value is used for its own course only: a wrong one under another key is not seen."""
    monkeypatch.setattr(module, "_solved", {})
    r, other = fmpq(11), fmpq(12)
    first = solved(9, 2, "1/2", r)
    wrong = Values("exact", (Exact(fmpq(0)),) * 4, Exact(fmpq(0)))
    module._solved[first.course] = wrong
    assert solved(9, 2, "1/2", r).values is wrong  # the cache is what answers
    assert solved(9, 2, "1/2", other).values.means[0] != wrong.means[0]
