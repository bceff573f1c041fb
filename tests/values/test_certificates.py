"""Every certificate is handed wrong candidates, and must refuse them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import cast

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from markov_lrsao.chains.solvers._exact import check_residual
from markov_lrsao.chains.sources import birth_death_chain
from markov_lrsao.crossing.blocks import Exit, State, Stretch, Target
from markov_lrsao.errors import LrsaoError, SolverError, VerificationError
from markov_lrsao.exact.intervals import UNKNOWN, Interval, compare
from markov_lrsao.model.law import Share
from markov_lrsao.rows.automata import RowAutomata, derive_automata
from markov_lrsao.rows.lumping import merge_patterns, pattern_classes
from markov_lrsao.rows.orders import largest_of, narrowed, resolutions
from markov_lrsao.rows.patterns import Pattern
from markov_lrsao.values.choices import _bound, _ending, _holds, _System, bound_moments
from markov_lrsao.values.clusters import Clusters
from markov_lrsao.values.merging import merge_alike
from markov_lrsao.values.refinement import Refined, safe_actions

# -- bounds over choices ----------------------------------------------------------------

Options = list[list[list[tuple[int, int]]]]
"""State -> options -> (target or -1, weight out of 12)."""


def system(options: Options) -> _System:
    from scipy.sparse import csr_array

    owner: list[int] = []
    first: list[int] = []
    terms: list[list[tuple[int, tuple[fmpq, ...]]]] = []
    rows: list[int] = []
    columns: list[int] = []
    entries: list[float] = []
    for i, choices in enumerate(options):
        first.append(len(owner))
        for edges in choices:
            for to, w in edges:
                if to >= 0:
                    rows.append(len(owner))
                    columns.append(to)
                    entries.append(w / 12)
            owner.append(i)
            terms.append([(to, (fmpq(w, 12),)) for to, w in edges])
    matrix = csr_array(
        (np.array(entries), (np.array(rows, np.int64), np.array(columns, np.int64))),
        shape=(len(owner), len(options)),
    )
    return _System(np.array(owner), np.array(first), terms, matrix, 0)


@st.composite
def systems(draw: st.DrawFn) -> Options:
    """Up to four states with one to three options each; every option may end the run."""
    size = draw(st.integers(1, 4))
    result: Options = []
    for _ in range(size):
        choices = []
        for _ in range(draw(st.integers(1, 3))):
            targets = draw(st.lists(st.integers(0, size - 1), max_size=3, unique=True))
            weights = [draw(st.integers(1, 3)) for _ in targets]
            choices.append([*zip(targets, weights, strict=True), (-1, 12 - sum(weights))])
        result.append(choices)
    return result


def optimal(s: _System, constant: Sequence[fmpq], sign: int) -> list[fmpq]:
    """Return the exact optimal values, by solving for every choice of options."""
    size = len(s.first)
    ends = [*s.first.tolist()[1:], len(s.owner)]
    best: list[fmpq] | None = None
    for chosen in product(*(range(a, b) for a, b in zip(s.first.tolist(), ends, strict=True))):
        matrix, right = fmpq_mat(size, size), fmpq_mat(size, 1)
        for i, option in enumerate(chosen):
            matrix[i, i] = matrix[i, i] + 1
            right[i, 0] = constant[option]
            for to, element in s.terms[option]:
                if to >= 0:
                    matrix[i, to] = matrix[i, to] - element[0]
        solution = matrix.solve(right)
        values = [solution[i, 0] for i in range(size)]
        best = (
            values
            if best is None
            else [max(a, b) if sign > 0 else min(a, b) for a, b in zip(best, values, strict=True)]
        )
    assert best is not None
    return best


@given(systems(), st.data())
@settings(max_examples=60)
def test_bounds_over_choices(options: Options, data: st.DataObject) -> None:
    s = system(options)
    constant = [fmpq(data.draw(st.integers(0, 4)), 3) for _ in s.owner]
    for sign in (-1, 1):
        exact = optimal(s, constant, sign)
        assert _holds(s, constant, exact, sign)
        found = _bound(s, constant, sign)
        for bound, value in zip(found, exact, strict=True):
            assert sign * (bound - value) >= 0
            assert abs(bound - value) <= fmpq(1, 10**5)
        # A candidate that cuts off even a little of one state is refused.
        for i in range(len(exact)):
            wrong = list(exact)
            wrong[i] -= sign * fmpq(1, 10**25)
            assert not _holds(s, constant, wrong, sign)
        if exact != optimal(s, constant, -sign):
            assert not _holds(s, constant, optimal(s, constant, -sign), sign)


def test_a_choice_that_never_ends_has_no_bound() -> None:
    stay = [[[(0, 12)], [(-1, 12)]]]
    with pytest.raises(LrsaoError):
        _ = system(stay).steps
    loop = [[[(1, 12)]], [[(0, 12)], [(-1, 12)]]]
    with pytest.raises(LrsaoError):
        _ = system(loop).steps


@given(systems())
@settings(max_examples=20)
def test_steps_bound_the_longest_walk(options: Options) -> None:
    s = system(options)
    longest = optimal(s, [fmpq(1)] * len(s.owner), 1)
    assert all(a >= b for a, b in zip(s.steps, longest, strict=True))
    ended = _ending(s, {0})
    assert not ended.terms[0]
    assert optimal(ended, [fmpq(1)] * len(s.owner), 1)[0] == 1
    # The matrix of floats says the same as the exact terms.
    for option, terms in enumerate(ended.terms):
        exact = np.zeros(len(options))
        for to, element in terms:
            if to >= 0:
                exact[to] += float(element[0].p) / float(element[0].q)
        assert np.allclose(ended.matrix.toarray()[option], exact, rtol=1e-15)


# -- blocks of states with choices ------------------------------------------------------

LAW = StepLaw.of(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.paper(9)))
Pair = tuple[Target, tuple[int, int]]
"""Where a transition leads, and its shares of p and n - p."""


def block(options: Sequence[Sequence[Sequence[Pair]]], positions: Sequence[int]) -> Refined:
    states = tuple(State(p, 0, (i,)) for i, p in enumerate(positions))
    automata = cast(RowAutomata, type("Law", (), {"law": LAW})())
    return Refined(
        Stretch(automata, 0, 9, ()),
        states,
        (0,),
        54,
        cast(Clusters, None),
        frozenset(),
        tuple(tuple(tuple((t, Share(*w)) for t, w in e) for e in o) for o in options),
    )


def test_moments_over_choices_by_hand() -> None:
    """At p = 3 of 9, up with 6/9 or, if so chosen, with 3/9: T is geometric of mean 3/2 or 3."""
    quick: list[Pair] = [(0, (6, 0)), (Exit(1, 1, ()), (0, 6))]
    slow: list[Pair] = [(0, (6, 3)), (Exit(1, 1, ()), (0, 3))]
    bounds = bound_moments(block([[quick, slow]], [3]), lambda _: True, 2)
    lower, upper = bounds.lower[0], bounds.upper[0]
    assert lower[1] <= fmpq(3, 2) <= lower[1] + fmpq(1, 10**9)
    assert upper[1] - fmpq(1, 10**9) <= fmpq(3) <= upper[1]
    # E[T(T-1)/2] of a geometric law of parameter u is (1-u)/u^2.
    assert lower[2] <= fmpq(3, 4) <= lower[2] + fmpq(1, 10**8)
    assert upper[2] - fmpq(1, 10**8) <= fmpq(6) <= upper[2]
    only = bound_moments(block([[quick]], [3]), lambda _: False, 2)
    assert only.lower[0] == only.upper[0] == (1, 0, 0)  # steps that do not count


def test_only_states_that_behave_alike_are_merged() -> None:
    one, two = Exit(1, 0, (1,)), Exit(1, 0, (2,))
    options: list[list[list[Pair]]] = [
        [[(1, (6, 0)), (2, (0, 6))]],
        [[(one, (6, 6))]],
        [[(two, (6, 6))]],
        [[(one, (6, 6))]],
    ]
    b = block(options, [3, 4, 4, 4])
    _, apart, exits = merge_alike(b, lambda x: x.patterns)
    assert len({apart[1], apart[2]}) == 2
    assert apart[1] == apart[3]
    assert exits == {one: one, two: two}
    small, together, exits = merge_alike(b, lambda x: x.direction)
    assert together[1] == together[2] == together[3]
    assert exits == {one: one, two: one}
    assert small.options[together[0]] == (((together[1], (6, 6)),),)
    # Another position, phase, share or number of options keeps states apart.
    shares = block(
        [[[(one, (6, 6))]], [[(0, (3, 0)), (one, (3, 6))]], [[(one, (6, 6))], [(two, (6, 6))]]],
        [4, 4, 4],
    )
    _, became, _ = merge_alike(shares, lambda x: x.patterns)
    assert len(set(became.values())) == 3
    _, moved, _ = merge_alike(
        block([[[(one, (6, 6))]], [[(one, (6, 6))]]], [3, 4]), lambda x: x.direction
    )
    assert len(set(moved.values())) == 2


def test_exits_that_lead_back_to_different_states_are_not_merged() -> None:
    """The walk comes back at the upper end, with the patterns it left with."""
    a, b, end = Exit(1, 0, (0,)), Exit(1, 0, (1,)), Exit(1, 1, (7,))
    options: list[list[list[Pair]]] = [
        [[(a, (6, 6))]],
        [[(1, (6, 0)), (b, (0, 6))]],
        [[(end, (6, 6))]],
    ]
    built = block(options, [9, 9, 9])
    _, became, exits = merge_alike(built, lambda x: x.phase, returns=1)
    assert exits[a] != exits[b]
    assert became[0] != became[1]


def test_the_walk_finds_its_way_back_from_exits_that_stay_apart() -> None:
    """After two exits of different outcome the walk comes back to states that behave alike."""
    a, b, end = Exit(1, 0, (0,)), Exit(1, 0, (1,)), Exit(1, 1, (7,))
    options: list[list[list[Pair]]] = [
        [[(end, (6, 6))]],
        [[(end, (6, 6))]],
        [[(a, (6, 0)), (b, (0, 6))]],
    ]
    merged, _, exits = merge_alike(block(options, [9, 9, 9]), lambda x: x.patterns, returns=1)
    assert exits[a] != exits[b]
    assert all(merged.comes_back(exits[x]) is not None for x in (a, b))


# -- orders of entries ------------------------------------------------------------------

numbers = [Fraction(k, 2) for k in range(-4, 5)]


def sign(x: Fraction) -> int:
    return (x > 0) - (x < 0)


def truth(row: Sequence[Fraction]) -> Pattern:
    return Pattern(tuple(map(sign, row)), tuple(sign(a - b) for a, b in combinations(row, 2)))


def agrees(row: Sequence[Fraction], pattern: Pattern) -> bool:
    true = truth(row)
    return all(
        p in (UNKNOWN, t)
        for p, t in zip((*pattern.signs, *pattern.order), (*true.signs, *true.order), strict=True)
    )


def inside(x: Fraction, interval: Interval) -> bool:
    q = fmpq(x.numerator, x.denominator)
    return bool(
        (interval.low < q or (interval.low == q and interval.low_attained))
        and (q < interval.high or (q == interval.high and interval.high_attained))
    )


@st.composite
def rows_and_boxes(draw: st.DrawFn) -> tuple[list[Fraction], Pattern, list[Interval]]:
    """A row, a pattern that says some of the truth about it, and a box around it."""
    row = draw(st.lists(st.sampled_from(numbers), min_size=2, max_size=3))
    true = truth(row)
    hide = [draw(st.booleans()) for _ in (*true.signs, *true.order)]
    known = [UNKNOWN if h else t for h, t in zip(hide, (*true.signs, *true.order), strict=True)]
    box = []
    for x in row:
        low, high = (
            draw(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(2)])) for _ in range(2)
        )
        box.append(
            Interval(
                fmpq(*(x - low).as_integer_ratio()),
                fmpq(*(x + high).as_integer_ratio()),
                low == 0 or draw(st.booleans()),
                high == 0 or draw(st.booleans()),
            )
        )
    return row, Pattern(tuple(known[: len(row)]), tuple(known[len(row) :])), box


@pytest.mark.slow
@given(rows_and_boxes())
@settings(max_examples=150)
def test_orders_never_cut_off_a_row(case: tuple[list[Fraction], Pattern, list[Interval]]) -> None:
    row, pattern, box = case
    cut = narrowed(pattern, box)
    for x, interval, before in zip(row, cut, box, strict=True):
        assert inside(x, interval)
        assert interval in before
    top = max(row)
    greedy = tuple(i for i, x in enumerate(row) if x == top)
    assert inside(top, largest_of(box))
    options = resolutions(pattern, box)
    fitting = [o for o in options if o.greedy == greedy]
    assert fitting
    assert all(agrees(row, o.pattern) for o in fitting)
    for option in options:  # each is possible as far as the pattern tells
        for i, j in combinations(range(len(row)), 2):
            assert pattern.relation(i, j) in (UNKNOWN, option.pattern.relation(i, j))


@given(rows_and_boxes())
@settings(max_examples=100)
def test_narrowed_bounds_are_no_wider_than_pairs_allow(
    case: tuple[list[Fraction], Pattern, list[Interval]],
) -> None:
    """Afterwards no bound of an entry contradicts a known relation to another's bounds."""
    _, pattern, box = case
    cut = narrowed(pattern, box)
    for i, j in combinations(range(len(cut)), 2):
        relation = pattern.relation(i, j)
        if relation in (1, -1):
            high, low = (cut[i], cut[j]) if relation == 1 else (cut[j], cut[i])
            assert compare(high, low) in (1, UNKNOWN)
            assert low.low <= high.low or not low.low_attained
            assert low.high <= high.high
            assert not (low.high == high.high and low.high_attained)
            assert not (low.low == high.low and high.low_attained)
        elif relation == 0:
            assert (cut[i].low, cut[i].high) == (cut[j].low, cut[j].high)
    for s, interval in zip(pattern.signs, cut, strict=True):
        if s == 1:
            assert compare(interval, Interval.point(0)) == 1
        elif s == -1:
            assert compare(interval, Interval.point(0)) == -1
        elif s == 0:
            assert interval == Interval.point(0)


@pytest.mark.parametrize(
    "box",
    [
        [Interval(fmpq(0), fmpq(1)), Interval(fmpq(1), fmpq(2))],  # only 1 = 1 would remain
        [Interval(fmpq(0), fmpq(1)), Interval(fmpq(3), fmpq(4))],
        [Interval(fmpq(1), fmpq(2), True, False), Interval(fmpq(2), fmpq(3))],
    ],
)
def test_bounds_that_contradict_an_order_are_refused(box: list[Interval]) -> None:
    with pytest.raises(VerificationError, match="contradict"):
        narrowed(Pattern((UNKNOWN, UNKNOWN), (1,)), box)


# -- safe actions -----------------------------------------------------------------------


@given(st.data())
@settings(max_examples=60)
def test_safe_actions_are_those_that_cannot_fall(data: st.DataObject) -> None:
    """Tried out on values: an entry x, and a maximum M of the row it may learn from."""
    n = data.draw(st.integers(2, 6))
    values = st.lists(st.integers(0, 2), min_size=n + 1, max_size=n + 1)
    objectives = {a: data.draw(values) for a in "AB"}
    objectives["A"][n] = 5
    law = StepLaw.of(
        Landscape.from_arrays(objectives, "A"),
        Algorithm.lrsao(Parameters.of("1/2", "1/2", data.draw(st.integers(0, 1)))),
    )
    first = data.draw(st.integers(0, n - 1))
    row = int(law.row[data.draw(st.integers(first, n - 1))])
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    for a, claimed in enumerate(safe_actions(law, first, n, row)):
        falls = False
        for p in (q for q in range(first, n) if law.row[q] == row):
            for direction, to in ((0, p - 1), (1, p + 1)):
                f = objectives["AB"[a]]
                if not 0 <= to <= n or (to == n and f[to] >= f[p]):
                    continue
                after = to if f[to] >= f[p] else p
                reward = Fraction(str(law.reward(p, a, direction)))
                same = law.row[after] == row
                for x in (Fraction(-1), Fraction(0), Fraction(1)):
                    for m in [max(x, Fraction(0)), x] if same else [Fraction(-99)]:
                        falls |= half * x + half * reward + quarter * m < min(x, Fraction(0))
        assert claimed == (not falls)


# -- lumping and residuals --------------------------------------------------------------


def test_patterns_that_differ_are_not_lumped() -> None:
    automata = derive_automata(LAW)
    merged, classes = merge_patterns(automata)
    for c in range(automata.regions.classes):
        assert pattern_classes(automata, c) == classes[c]
        for k, number in enumerate(classes[c]):
            for (kind, of, shown, action, direction), to in automata.following.items():
                if (of, shown) != (c, k):
                    continue
                # All members move alike: same probability of accepting, same next class.
                law_of = [
                    sorted(
                        (
                            automata.law.kinds[kind][a][direction].accepted,
                            classes[c][automata.following[kind, c, m, a, direction]],
                        )
                        for a in automata.patterns[c][m].maximal
                    )
                    for m, other in enumerate(classes[c])
                    if other == number
                ]
                shares = [
                    {x: Fraction(found.count(x), len(found)) for x in found} for found in law_of
                ]
                assert all(s == shares[0] for s in shares)
                assert action in automata.patterns[c][k].maximal
                assert 0 <= classes[c][to] < len(merged.patterns[c])


def test_a_wrong_solution_has_a_residual() -> None:
    chain = birth_death_chain([fmpq(1, 2), fmpq(1, 3), fmpq(2, 5)])
    inside_ = ~chain.at_positions([3])
    from markov_lrsao.chains.hitting import hitting_times

    right = hitting_times(chain, ~inside_)
    constant = [fmpq(1)] * chain.size
    check_residual(chain, inside_, constant, right)
    for i in range(3):
        for wrong in (right[i] + fmpq(1, 10**30), right[i] - fmpq(1, 10**30)):
            values = list(right)
            values[i] = wrong
            with pytest.raises(SolverError):
                check_residual(chain, inside_, constant, values)
