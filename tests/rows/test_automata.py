"""Row classes, row automata and their merging."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from instances import jump_automata, jump_chain, jump_law

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from markov_lrsao.chains.hitting import phase_moments
from markov_lrsao.errors import UndecidedComparisonError
from markov_lrsao.exact.rationals import fraction
from markov_lrsao.joint.enumeration import enumerate_joint
from markov_lrsao.rows.automata import derive_automata
from markov_lrsao.rows.lumping import merge_patterns, pattern_classes
from markov_lrsao.rows.regions import Regions


def row_class(n: int, ell: int, state: int) -> int:
    law = jump_law(n, ell)
    row = law.row_value.tolist().index(state)
    return int(jump_automata(n, ell).regions.row_class[row])


def labels(n: int, ell: int, state: int) -> set[str]:
    automata, c = jump_automata(n, ell), row_class(n, ell, state)
    return {automata.label(c, k) for k in range(len(automata.patterns[c]))}


@pytest.mark.parametrize(("n", "ell"), [(9, 2), (14, 3), (60, 5), (1000, 10)])
def test_row_classes_of_jump(n: int, ell: int) -> None:
    regions = Regions.of(jump_law(n, ell))
    law = regions.law
    row_of = {int(v): r for r, v in enumerate(law.row_value)}
    # 0 occurs on both plateaus; it is explored with its neighbours l+1 and n-l-1.
    assert set(regions.tracked) == {row_of[0], row_of[ell + 1], row_of[n - ell - 1]}
    inner = {int(regions.row_class[row_of[s]]) for s in range(ell + 3, n - ell - 2)}
    assert len(inner) <= 1  # all interior slope sites share one automaton
    assert regions.classes <= 7
    own = [
        int(regions.row_class[row_of[s]])
        for s in (0, ell + 1, ell + 2, n - ell - 2, n - ell - 1, n)
    ]
    assert len(set(own)) == 6


def test_the_number_of_abstract_positions_does_not_grow_with_n() -> None:
    sizes = {
        sum(len(g.positions) for g in Regions.of(jump_law(n, ell)).groups)
        for n, ell in [(90, 40), (900, 400), (901, 400)]
    }
    assert len(sizes) == 1


@pytest.mark.parametrize(("n", "ell"), [(9, 2), (12, 2), (13, 4)])
def test_patterns_of_the_slope_by_signs(n: int, ell: int) -> None:
    """Section 1 of the method: what each row of the slope can show under (H)."""
    # l+1: L is a strict local maximum (stays 0), J becomes positive, R negative
    assert labels(n, ell, ell + 1) == {"0=L=J=R", "0=L=J>R", "J>0=L=R", "J>0=L>R"}
    automata, c = jump_automata(n, ell), row_class(n, ell, n - ell - 1)
    for pattern in automata.patterns[c]:  # n-l-1: J is a strict local maximum
        assert pattern.signs[1] == 0
        assert pattern.signs[2] >= 0  # Lemma 12: Q[n-l-1, R] >= 0
    if n - 2 * ell - 1 > 4:  # interior sites: L, R in {0, -}, J in {0, +}
        c = row_class(n, ell, ell + 3)
        for pattern in jump_automata(n, ell).patterns[c]:
            assert pattern.signs[0] in (0, -1)
            assert pattern.signs[1] in (0, 1)
            assert pattern.signs[2] in (0, -1)


@pytest.mark.parametrize(("n", "ell"), [(9, 2), (12, 3), (20, 5)])
def test_lemmas_2_4_and_12_in_the_bounds(n: int, ell: int) -> None:
    automata = jump_automata(n, ell)
    parameters = automata.law.algorithm.parameters
    assert parameters is not None
    limit = Fraction(n - ell - 1) / (1 - fraction(parameters.gamma))
    zero = row_class(n, ell, 0)
    for c, patterns in enumerate(automata.patterns):
        for pattern, box in zip(patterns, automata.boxes[c], strict=True):
            assert sum(s == 1 for s in pattern.signs) <= 1  # Lemma 4
            for a, interval in enumerate(box):  # Lemma 2, with its strict inequality
                # Q[0, J] is left out: it holds the last step's reward n, which comes at time T
                if (c, a) != (zero, 1):
                    high = fraction(interval.high)
                    assert high < limit or (high == limit and not interval.high_attained)
    lowest = min(fraction(box[2].low) for box in automata.boxes[zero])
    assert lowest == -fraction(parameters.alpha * parameters.r)  # Lemma 12: Q[0,R] >= -alpha r


def test_fresh_rows_come_first() -> None:
    automata = jump_automata(9, 2)
    for patterns in automata.patterns:
        assert patterns[0].maximal == (0, 1, 2)
        assert len(set(patterns)) == len(patterns)


def test_undecided_choices_are_raised_with_names_and_bounds() -> None:
    automata = jump_automata(9, 2, None, None, "100")
    messages = []
    for c, patterns in enumerate(automata.patterns):
        for k, pattern in enumerate(patterns):
            if pattern.undecided is None:
                assert automata.choose(c, k) == pattern.maximal
                continue
            with pytest.raises(UndecidedComparisonError, match=r"agent state .*Q\[.\] in .*Q\[.\]"):
                automata.choose(c, k)
            messages.append(k)
    assert messages
    with pytest.raises(UndecidedComparisonError, match=r"in state p=\d"):
        enumerate_joint(automata.law, automata=automata)


@pytest.mark.parametrize(
    ("n", "ell"),
    [(9, 2), (10, 2), (11, 3), (13, 4), pytest.param(11, 2, marks=pytest.mark.slow)],
)
def test_merged_and_unmerged_agree(n: int, ell: int) -> None:
    merged, plain = jump_chain(n, ell), jump_chain(n, ell, merge=False)
    assert merged.chain.size < plain.chain.size
    assert (merged.merged, plain.merged) == (True, False)
    for milestone in merged.law.landscape.milestones:
        found = [
            phase_moments(x.chain, None, x.chain.positions >= milestone) for x in (merged, plain)
        ]
        assert found[0] == found[1]


def test_merging_is_stable_and_keeps_the_first() -> None:
    automata = jump_automata(12, 2)
    merged, classes = merge_patterns(automata)
    again, trivial = merge_patterns(merged)
    for c in range(automata.regions.classes):
        assert classes[c] == pattern_classes(automata, c)
        assert trivial[c] == list(range(len(merged.patterns[c])))
        assert merged.patterns[c][0] == automata.patterns[c][0]
    assert again.following == merged.following
    interior = row_class(12, 2, 5)
    assert len(merged.patterns[interior]) == 3  # both unused, one used, J alone


def test_an_algorithm_that_never_learns() -> None:
    """Keeping Q at 0, every step picks an objective at random: a walk on positions alone."""
    blank = replace(Algorithm.rls(), actions="all")
    landscape = Landscape.jump(9, 2)
    joint = enumerate_joint(StepLaw.of(landscape, blank))
    assert joint.chain.size == 10
    total, _ = phase_moments(joint.chain, None, joint.chain.at_positions([9]))
    # the same by hand: up_p / down_p are the shares of objectives that accept
    values = [landscape.objectives[a].tolist() for a in "LJR"]
    expected, climb = Fraction(0), Fraction(0)
    for p in range(9):  # time from p to p+1: (1 + down * climb) / up
        up = Fraction(9 - p, 9) * sum(f[p + 1] >= f[p] for f in values) / 3
        down = Fraction(p, 9) * sum(f[p - 1] >= f[p] for f in values) / 3 if p else Fraction(0)
        climb = (1 + down * climb) / up
        expected += climb
    assert fraction(total) == expected


def test_a_blind_agent() -> None:
    blind = replace(Algorithm.lrsao(Parameters.paper(5)), state="blind")
    joint = enumerate_joint(StepLaw.of(Landscape.onemax(5), blind))
    total, _ = phase_moments(joint.chain, None, joint.chain.at_positions([5]))
    assert fraction(total) == Fraction(137, 12)


def test_derivation_is_reproducible() -> None:
    one, two = derive_automata(jump_law(9, 2)), derive_automata(jump_law(9, 2))
    assert (one.patterns, one.boxes, one.following) == (two.patterns, two.boxes, two.following)
