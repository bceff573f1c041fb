"""Families against their definitions on bit strings, written anew here, and against each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from math import ceil, floor

import pytest
from flint import fmpq

from markov_lrsao import Algorithm, Landscape, Parameters, hypothesis_h, runtime
from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.rationals import fraction
from markov_lrsao.model.families import BRIDGES, jump_m, regions, seqopt
from markov_lrsao.model.landscape import JUMP, LandscapeFamily
from markov_lrsao.model.law import DOWN, UP, StepLaw

Bits = Sequence[int]
DEFINITIONS: dict[str, tuple[Callable[[Bits], Fraction | int], Sequence[int]]] = {
    "onemax": (sum, range(1, 7)),
    "needle": (lambda x: int(all(x)), range(1, 7)),
    "jump-m:m=3": (
        lambda x: 3 + sum(x) if sum(x) <= len(x) - 3 or all(x) else len(x) - sum(x),
        range(4, 9),
    ),
    "cliff:d=3": (
        lambda x: sum(x) if sum(x) <= len(x) - 3 else sum(x) - 3 + Fraction(1, 2),
        range(4, 9),
    ),
    "cliff:m=5,d=2": (lambda x: sum(x) if sum(x) <= len(x) - 5 else sum(x) - 2 - 1, range(6, 9)),
    "xdivk:k=3": (lambda x: floor(Fraction(sum(x), 3)), (3, 6)),
    "hurdle:w=3": (
        lambda x: -ceil(Fraction(x.count(0), 3)) - Fraction(x.count(0) % 3, 3),
        range(3, 9),
    ),
    "plateau:k=2": (
        lambda x: len(x) if all(x) else min(sum(x), len(x) - 2),
        range(3, 8),
    ),
}


@pytest.mark.parametrize("text", DEFINITIONS)
def test_a_family_is_its_definition_on_bit_strings(text: str) -> None:
    definition, sizes = DEFINITIONS[text]
    for n in sizes:
        shape = Landscape.named(text, n=n)
        for x in product((0, 1), repeat=n):
            assert fraction(shape.value(shape.target, sum(x))) == definition(x)
        assert shape.optimum == n
        assert len(shape.phases) == len(shape.milestones)


def defined_regions(n: int, widths: Sequence[int], bridges: str) -> dict[str, list[int]]:
    """The issue's words, position by position."""
    k = len(widths)
    rest = n - sum(widths)
    slopes = [rest // (k - 1) + (i < rest % (k - 1)) for i in range(k - 1)]
    plateaus, p = [], 0
    for i, width in enumerate(widths):
        plateaus.append(range(p, p + width))
        p += width + (slopes[i] if i < k - 1 else 0)
    assert p == n
    assert sorted(slopes, reverse=True) == slopes
    flat = {q for plateau in plateaus for q in plateau}
    groups = {
        "own": [[i] for i in range(k)],
        "shared": [list(range(0, k, 2)), list(range(1, k, 2))],
        "all-but-last": [list(range(k - 1)), [k - 1]],
    }[bridges]
    found = {"F": [0 if q in flat else q for q in range(n + 1)]}
    for b, group in enumerate(groups, start=1):
        near = {q + d for i in group for q in plateaus[i] for d in (-1, 0, 1)}
        found[f"B{b}"] = [q if q in near else 0 for q in range(n + 1)]
    return found


@pytest.mark.parametrize("bridges", BRIDGES)
@pytest.mark.parametrize("widths", [(3, 4, 3), (1, 1), (2, 3, 1, 4), (1, 1, 1, 1, 1), (2, 2, 2)])
def test_regions_are_as_defined(widths: tuple[int, ...], bridges: str) -> None:
    least = sum(widths) + len(widths) - 1
    for n in range(least, least + 12):
        shape = Landscape.regions(n, widths, bridges)
        defined = defined_regions(n, widths, bridges)
        assert {k: v.tolist() for k, v in shape.objectives.items()} == defined
        assert shape.target == "F"
        assert shape.milestones[-1] == n
        # A phase ends where the target begins to be another: plateau, slope, plateau, ..
        kinds = [value > 0 for value in defined["F"][:-1]]
        turns = [p for p in range(1, n) if kinds[p] != kinds[p - 1]]
        assert shape.milestones == (*turns, n)
        assert shape.phases[:3] == ("plateau1", "slope1", "plateau2")
        largest = max(
            abs(values[p + 1] - values[p]) for values in defined.values() for p in range(n - 1)
        )
        assert shape.largest_gain == largest
    with pytest.raises(ParameterError, match=f"n = {least - 1} is not possible for regions"):
        Landscape.regions(least - 1, widths, bridges)


@pytest.mark.parametrize("bridges", BRIDGES)
@pytest.mark.parametrize(("n", "ell"), [(9, 2), (13, 4), (20, 3), (30, 1)])
def test_two_regions_are_jump(n: int, ell: int, bridges: str) -> None:
    jump, two = Landscape.jump(n, ell), Landscape.regions(n, (ell + 1, ell), bridges)
    own = [values.tolist() for values in two.objectives.values()]
    assert own == [values.tolist() for values in jump.objectives.values()]
    assert two.actions.index(two.target) == jump.actions.index(jump.target)
    assert two.milestones == jump.milestones
    assert two.largest_gain == jump.largest_gain
    if n == 9:
        assert runtime(two).total == runtime(jump).total
        paper = Parameters.paper(n)
        assert hypothesis_h(two, paper) == hypothesis_h(jump, paper)


def test_successive_local_optima() -> None:
    for n in range(5, 12):
        single = seqopt((3,)).at(n)
        assert single.objectives["S"].tolist() == jump_m(3).at(n).objectives["J"].tolist()
    for n, gaps in ((12, (3, 2)), (17, (2, 4)), (23, (3, 3, 2))):
        values = Landscape.named(f"seqopt:gaps={'+'.join(map(str, gaps))}", n=n)
        f = values.objectives["S"].tolist()
        peaks = [p for p in range(1, n + 1) if f[p] > f[p - 1] and (p == n or f[p] > f[p + 1])]
        assert len(peaks) == len(gaps) + 1
        assert [f[p] for p in peaks] == sorted(f[p] for p in peaks)
        for peak, gap in zip(peaks, gaps, strict=False):
            back = next(p for p in range(peak + 1, n + 1) if f[p] >= f[peak])
            assert back == peak + gap
            assert f[peak] > f[peak + 1]
            assert all(f[p] > f[p + 1] for p in range(peak, back - 1))
    with pytest.raises(ParameterError, match="gaps = 1 of seqopt"):
        seqopt((3, 1))


def test_rational_values_are_rewards_as_they_are() -> None:
    """LRSAO's rewards are the gains: a step of Cliff over the edge is worth its halves."""
    shape = Landscape.named("cliff:d=3", n=8, helpers=["onemax"])
    assert shape.scale == 2
    assert shape.largest_gain == fmpq(3, 2)
    law = StepLaw.of(shape, Algorithm.lrsao(Parameters.of("1/2", "1/9", 5)))
    assert law.step(6, "C", DOWN).reward == fmpq(3, 2)  # 7/2 -> 5 against the slope
    assert law.step(6, "C", DOWN).next_state == 5
    assert law.step(6, "C", UP).reward == 1
    assert law.step(5, "O", UP).reward == 1
    assert law.step(5, "O", UP).next_state == fmpq(7, 2)
    assert not law.step(5, "C", UP).accepted
    h = hypothesis_h(shape, Parameters.of("1/2", "1/9", 5))
    assert h.lower == (fmpq(9, 4) - 1) * fmpq(3, 2)


def test_scaling_a_landscape_and_its_penalty_changes_nothing() -> None:
    """Cliff, and twice Cliff as plain integers with twice the penalty, are the same walk."""
    shape = Landscape.named("cliff:d=2", n=6, helpers=["onemax", "zeromax"])
    twice = Landscape.from_arrays(
        {name: values.tolist() for name, values in shape.objectives.items()}, "C", shape.milestones
    )
    chosen = Parameters.of("1/2", "1/20", 3)
    doubled = Parameters.of("1/2", "1/20", 6)
    assert hypothesis_h(shape, chosen).holds
    once = runtime(shape, Algorithm.lrsao(chosen))
    again = runtime(twice, Algorithm.lrsao(doubled), outside_h=True)
    assert once.total == again.total
    assert once.variance == again.variance


def test_numbers_that_others_published() -> None:
    shape = Landscape.named("onemax", n=10, helpers=["zeromax"])
    assert runtime(shape, Algorithm.earl("1/2", "1/10")).total.rational == "6181/120"
    xdivk = Landscape.named("xdivk:k=3", n=12)
    assert runtime(xdivk, Algorithm.rls()).total.rational == "414622/1155"


@pytest.mark.parametrize("helper", ["onemax", "zeromax", "constant"])
def test_helpers_are_added(helper: str) -> None:
    shape = Landscape.named("hurdle:w=2", n=5, helpers=[helper])
    short = shape.actions[1]
    expected = {"onemax": range(6), "zeromax": range(5, -1, -1), "constant": [0] * 6}[helper]
    assert [shape.value(short, p) for p in range(6)] == list(expected)
    assert shape == Landscape.named(f"hurdle:w=2,helpers={helper}", n=5)
    assert shape.target == "H"


@pytest.mark.parametrize(
    ("text", "helpers", "message"),
    [
        ("jump:l=2", ["onemax"], "objectives L, J, R already"),
        ("regions:widths=3+2", ["onemax"], "objectives B1, F, B2 already"),
        ("onemax", ["onemax"], "already"),
        ("onemax", ["zeromax", "zeromax"], "zeromax is given twice"),
        ("onemax", ["twomax"], "'twomax' is not one of onemax, zeromax, constant"),
        ("onemax:helpers=zeromax", ["constant"], "twice"),
        ("jump:helpers=onemax", [], "'helpers' is not one of its keys"),
    ],
)
def test_helpers_that_cannot_be_added(text: str, helpers: list[str], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Landscape.named(text, n=9, helpers=helpers)


@pytest.mark.parametrize(
    ("text", "n", "message"),
    [
        ("jumpm", 9, "choose jump, jump-open, onemax"),
        ("jump-m", 9, "'m' is missing; the keys of jump-m are m, helpers"),
        ("jump-m:d=3", 9, "'d' is not one of its keys; the keys of jump-m are m, helpers"),
        ("jump-m:m=3,m=4", 9, "given twice"),
        ("jump-m:m=", 9, "has no value"),
        ("jump-m:m=x", 9, "not a rational expression"),
        ("jump-m:m=n/2", 9, "m of landscape jump-m:m=n/2 = n/2 is 9/2 at n = 9: an integer"),
        ("cliff:d=1/2", 9, "d=1/2 = 1/2 is no integer: an integer is needed"),
        ("jump-m:m=0", 9, "m >= 1 is needed"),
        ("jump-m:m=9", 9, "n = 9 is not possible for Jump_9: needed is n - m - 1 >= 0 .m = 9."),
        ("xdivk:k=4", 9, "needed is n a multiple of k .k = 4."),
        ("cliff:d=3,m=4", 9, "m = 4 of cliff with d = 3 is out of range: m >= 5"),
        ("zeromax", 9, "as a helper"),
        ("regions:widths=3", 9, r"1 plateau\(s\)"),
        ("regions:widths=3+x", 9, "not a rational expression"),
        ("regions:widths=3+0", 9, "widths = 0"),
        ("regions:widths=3+2,bridges=none", 9, "not one of own, shared, all-but-last"),
        ("needle:k=3", 9, "'k' is not one of its keys"),
        ("jump:l=2", None, "`n` is missing"),
        ("jump", 9, r"`ell` is missing: give the gap parameter, an integer in 2\.\.2"),
    ],
)
def test_texts_that_are_refused(text: str, n: int | None, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Landscape.named(text, n=n)


def test_values_may_follow_n() -> None:
    for n in (8, 12):
        assert Landscape.named("jump-m:m=n/4", n=n) == Landscape.named(f"jump-m:m={n // 4}", n=n)
        widths = f"regions:widths={n // 4}+2"
        assert Landscape.named("regions:widths=n/4+2", n=n) == Landscape.named(widths, n=n)
    assert Landscape.named("jump:l=2", n=9) == Landscape.named("jump", n=9, ell=2) == JUMP.at(9, 2)
    with pytest.raises(ParameterError, match="`ell` = 3 differs from l = 2"):
        Landscape.named("jump:l=2", n=11, ell=3)


def test_wrong_pieces_are_refused() -> None:
    """Pieces that overlap or leave a gap, were the definition of a bridge wrong by one."""
    good = regions((2, 2, 2), "all-but-last")
    bridge = dict(good.objectives)["B1"]
    for k, piece in enumerate(bridge):
        changed = (*bridge[:k], type(piece)(piece.first, piece.last + 1, piece.value))
        wrong = LandscapeFamily(
            "wrong",
            (("F", dict(good.objectives)["F"]), ("B1", (*changed, *bridge[k + 1 :]))),
            "F",
            good.milestones,
            parameters=good.parameters,
            derived=good.derived,
        )
        with pytest.raises(ParameterError, match=r"defined exactly once|outside"):
            wrong.at(14)
