"""Crossing counts on custom landscapes: exits, walls, milestones, rows met again, stretches."""

from __future__ import annotations

import json
import re
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from markov_lrsao import Algorithm, Landscape, Parameters, RuntimeResult, StepLaw, runtime
from markov_lrsao.answers.counting import _whole
from markov_lrsao.answers.profile import profile
from markov_lrsao.cli.app import app
from markov_lrsao.crossing import shared
from markov_lrsao.crossing.decomposition import Steps, decompose, most_exits_down, phase_of_sites
from markov_lrsao.errors import (
    CrossingError,
    LrsaoError,
    NotAbsorbingError,
    StateSpaceTooLargeError,
    VerificationError,
)
from markov_lrsao.exact.balls import Positive
from markov_lrsao.model.law import Share
from markov_lrsao.values.solving import solve_values
from markov_lrsao.values.tails import LEVELS, refined_decomposition
from markov_lrsao.values.traps import fate
from markov_lrsao.values.whole_run import describe_state, everything, joint_with_values

# -- how often a site can be left downwards ---------------------------------------------


def by_brute_force(steps: Steps, ups: int) -> int | None:
    """Walk all paths, counting; more exits than (class, ups left) pairs means a cycle."""
    bound = len(steps) * ups + 1
    seen, stack = set(), [(0, ups, 0)]
    while stack:
        k, left, count = stack.pop()
        if (k, left, count) in seen or left == 0:
            seen.add((k, left, count))
            continue
        seen.add((k, left, count))
        if count > bound:
            return None
        stack += [(to, left - (moved == 1), count + (moved == -1)) for moved, to, _ in steps[k]]
    return max(count for _, _, count in seen)


tables = st.integers(1, 5).flatmap(
    lambda k: st.lists(
        st.lists(
            st.tuples(st.sampled_from([-1, 0, 0, 1]), st.integers(0, k - 1), st.just(Share(1, 0))),
            max_size=3,
        ),
        min_size=k,
        max_size=k,
    )
)


@given(tables, st.integers(1, 4))
@settings(max_examples=250)
def test_most_exits_down_against_all_paths(steps: Steps, ups: int) -> None:
    assert most_exits_down(steps, ups) == by_brute_force(steps, ups)


def test_a_cycle_that_is_open_while_its_exit_is_counted() -> None:
    """0 <-> 1 without an exit; 1 leads down to 2 and 2 down to 3: two exits, whatever comes first.

    Walked depth first from 0, class 2 is met again while it is open.
    """
    share = Share(1, 0)
    steps = [
        [(0, 1, share)],
        [(0, 0, share), (-1, 2, share)],
        [(-1, 3, share), (0, 2, share)],
        [(1, 3, share)],
    ]
    assert most_exits_down(steps, 1) == 2
    backwards = [
        [(0, 2, share)],
        [(0, 2, share), (-1, 3, share)],
        [(0, 1, share), (-1, 0, share)],
        [(1, 3, share)],
    ]
    assert most_exits_down(backwards, 1) is None  # 0 -> 2 -> 0 goes down for ever


# -- walls, and rows that come back -----------------------------------------------------


def lrsao(alpha: str, gamma: str, r: str) -> Algorithm:
    return Algorithm.lrsao(Parameters.of(alpha, gamma, r))


def same(landscape: Landscape, algorithm: Algorithm, **options: object) -> RuntimeResult:
    """Return the answer of all three methods, which must be the same."""
    results = [
        runtime(landscape, algorithm, method=m, outside_h=True, **options)  # type: ignore[arg-type]
        for m in ("joint", "crossing", "auto")
    ]
    for other in results[1:]:
        assert (other.total, other.variance) == (results[0].total, results[0].variance)
        assert (other.phases, other.phase_variances) == (
            results[0].phases,
            results[0].phase_variances,
        )
        if other.method == "segments" and other.trap and results[0].trap:
            # Rows that are never met again are forgotten.
            assert other.trap.probability == results[0].trap.probability
            assert other.trap.state.split()[0] == results[0].trap.state.split()[0]
        else:
            assert other.trap == results[0].trap
    return results[0]


WALLS = [
    [0, 2, 1, *range(2, 15)],
    [0, 1, 3, 2, *range(3, 12)],
    [0, 1, 5, 2, 1, *range(2, 10)],
    [0, 0, 1, 0, 1, 2, 3, 4],
]


@pytest.mark.parametrize("values", WALLS, ids=lambda v: "-".join(map(str, v[:5])))
def test_a_wall_that_nothing_climbs(values: list[int]) -> None:
    """The target alone never gets past its own local optimum: T is infinite, surely."""
    wall = next(p for p in range(1, len(values)) if values[p + 1] < values[p])
    landscape = Landscape.from_arrays({"A": values}, "A", [wall, len(values) - 1])
    algorithm = lrsao("1/4", "1/4", "5/2")
    result = same(landscape, algorithm)
    assert result.kind == "infinite"
    assert result.trap is not None
    assert result.trap.lower == result.trap.upper == 1
    assert result.trap.state.startswith(f"p={wall}")
    n = landscape.n
    if 0 not in np.diff(values[: wall + 1]):  # up to the wall it is the coupon collector
        expected = n * sum(Fraction(1, n - p) for p in range(wall))
        assert Fraction(result.phases[0].rational or "") == expected
    assert result.phases[1].infinite
    with pytest.raises(LrsaoError, match=r"infinite|no sites"):
        profile(landscape, algorithm, outside_h=True)


def test_sites_beyond_a_wall_are_not_explored() -> None:
    law = StepLaw.of(Landscape.from_arrays({"A": WALLS[0]}, "A"), lrsao("1/4", "1/4", "5/2"))
    with pytest.raises(NotAbsorbingError, match="no run ever reaches position 2"):
        decompose(law)


def test_a_wall_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "wall.json"
    path.write_text(json.dumps({"objectives": {"A": WALLS[0]}, "target": "A"}))
    options = [
        "--landscape",
        str(path),
        "--alpha",
        "1/4",
        "--gamma",
        "1/4",
        "--r",
        "5/2",
        "--outside-h",
    ]
    found = CliRunner().invoke(app, ["exact", *options, "--json"])
    assert found.exit_code == 0
    assert json.loads(found.stdout)["trap"]["probability"]["rational"] == "1"
    refused = CliRunner().invoke(app, ["sites", *options])
    assert isinstance(refused.exception, LrsaoError)  # the entry point prints it as one line
    assert "\n" not in str(refused.exception)


def test_a_row_among_the_sites_that_comes_back() -> None:
    """State 4 is a site on the way up and is met again: crossing counts refuse, others do not."""
    values = [0, 1, 2, 3, 4, 5, 6, 4, 7, 8]
    landscape = Landscape.from_arrays({"A": values, "B": list(range(10))}, "A")
    algorithm = lrsao("3/4", "1/20", "6")
    law = StepLaw.of(landscape, algorithm)
    with pytest.raises(CrossingError, match=r"met both among the sites|fall below"):
        decompose(law)
    with pytest.raises(LrsaoError):
        refined_decomposition(law, LEVELS[0])
    with pytest.raises(CrossingError, match='use `method="segments"`'):
        runtime(landscape, algorithm, method="crossing", outside_h=True)
    joint = runtime(landscape, algorithm, method="joint", outside_h=True)
    segments = runtime(landscape, algorithm, method="segments", outside_h=True)
    assert (segments.total, segments.variance) == (joint.total, joint.variance)
    values_too = solve_values(
        everything(law, fmpq(1, 4), exact_bits=24, largest=20_000, all_rows=True), "exact", 2
    )
    assert [joint.total, joint.variance] == values_too.values[0]


FALLS = [
    # (objectives, milestones, EA+RL's alpha and gamma): from the cut down to position 0 again
    ({"A": [0, 1, 0, 0, 0, 0, 3], "B": [0] * 7, "C": [0] * 7}, (1, 6), ("1/20", "1/20")),
    ({"A": [0, 1, 0, 0, 3], "B": [0] * 5, "C": [0] * 5}, (2, 4), ("1/2", "1/5")),
    ({"A": [0, 2, 0, 1, 0, 4], "B": [1] * 6, "C": [0, 0, 0, 1, 1, 1]}, (5,), ("1/3", "1/9")),
]


@pytest.mark.parametrize(("objectives", "milestones", "rates"), FALLS)
def test_falling_below_the_cut_is_followed(
    objectives: dict[str, list[int]], milestones: tuple[int, ...], rates: tuple[str, str]
) -> None:
    landscape = Landscape.from_arrays(objectives, "A", milestones)
    algorithm = Algorithm.earl(*rates)
    law = StepLaw.of(landscape, algorithm)
    with pytest.raises(CrossingError, match=r"fall below position|more than two|single row"):
        joint_with_values(law, LEVELS[0], largest=5_000)
    expected = solve_values(
        everything(law, fmpq(1, 4), exact_bits=24, largest=20_000, all_rows=True), "exact", 2
    )
    for method in ("joint", "auto"):
        found = runtime(landscape, algorithm, method=method)
        assert [[found.total, found.variance]] == expected.values[:1]
        assert (found.trap is None) == (expected.trap is None)
        if found.trap is not None and expected.trap is not None:
            assert found.trap.probability == expected.trap.probability


TWO_ROWS = [
    ([1, 1, 2, 1, 3], [5, 1, 3, 5, 4], "9/10", "2/5", "10"),
    ([0, 0, 4, 0, 5], [3, 1, 2, 4, 3], "4/5", "1/2", "12"),
    ([1, 2, 1, 3], [4, 2, 5, 4], "9/10", "2/5", "10"),
]


def place_and_rows(state: str) -> tuple[str, ...]:
    """Return the position of a described state and the agent states whose rows it shows."""
    return tuple(re.findall(r"p=\d+|\[-?\d+:", state))


@pytest.mark.parametrize(("target", "other", "alpha", "gamma", "r"), TWO_ROWS)
def test_a_trap_is_described_from_its_own_rows(
    target: list[int], other: list[int], alpha: str, gamma: str, r: str
) -> None:
    """With two rows before the cut, states before and after it have equally many entries."""
    landscape = Landscape.from_arrays({"A": target, "B": other}, "A")
    algorithm = lrsao(alpha, gamma, r)
    law = StepLaw.of(landscape, algorithm)
    found = runtime(landscape, algorithm, outside_h=True)
    block = everything(law, fmpq(1, 4), exact_bits=24, largest=20_000, all_rows=True)
    expected = solve_values(block, "exact", 2)
    assert (found.trap is None) == (expected.trap is None)
    if found.trap is None or expected.trap is None:
        assert found.total == expected.values[0][0]
        return
    assert found.trap.probability == expected.trap.probability
    # Values forget an entry that is never chosen again, patterns know its sign still.
    ends = {place_and_rows(describe_state(block, i)) for i in fate(block).ends}
    assert place_and_rows(found.trap.state) in ends


# -- milestones -------------------------------------------------------------------------


@pytest.mark.slow
def test_milestones_anywhere() -> None:
    """Phases may end at any position: at sites, in the plateaus, at the cut, next to each other."""
    jump = Landscape.jump(9, 2)
    algorithm = lrsao("4/5", "1/10", "4")
    arrays = {k: v.tolist() for k, v in jump.objectives.items()}
    whole = runtime(jump, algorithm, method="joint").total
    for inner in (1, 2, 5, 6, 8):
        result = same(Landscape.from_arrays(arrays, "J", [inner, 9]), algorithm)
        assert result.total == whole
    result = same(Landscape.from_arrays(arrays, "J", [3, 4, 6, 7, 9]), algorithm)
    assert result.total == whole
    assert sum(Fraction(str(p.value)) for p in result.phases) == Fraction(str(whole.value))


def test_a_milestone_among_the_sites_is_noticed() -> None:
    assert phase_of_sites([3, 7, 20], cut=15, bottom_last=7) == 2
    assert phase_of_sites([20], cut=20, bottom_last=0) == 0
    with pytest.raises(VerificationError, match="milestone 8"):
        phase_of_sites([3, 8, 20], cut=15, bottom_last=7)


def test_probability_that_is_lost_is_noticed() -> None:
    assert _whole((fmpq(1), fmpq(7))) == (1, 7)
    assert _whole((Positive(1.0 - 1e-15, roundings=20), 7.0))[1] == 7.0
    for wrong in (
        fmpq(10**12 - 1, 10**12),
        Positive(1.0 - 1e-15, roundings=2),
        Positive(1.0 + 1e-14, roundings=20),
        Positive(float("nan"), roundings=20),
    ):
        with pytest.raises(VerificationError, match="add up"):
            _whole((wrong, fmpq(7)))


# -- stretches, and what is recommended -------------------------------------------------


@pytest.mark.parametrize("stretch", [1, 3, 7, 1000])
def test_stretches_of_any_length(stretch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sites are multiplied a stretch at a time: its length must not matter."""
    import markov_lrsao.crossing.generating

    jump = Landscape.jump(13, 2)
    arrays = {k: v.tolist() for k, v in jump.objectives.items()}
    landscape = Landscape.from_arrays(arrays, "J", [3, 5, 11, 13])
    algorithm = lrsao("4/5", "1/14", "5")
    expected = runtime(landscape, algorithm, method="joint")
    monkeypatch.setattr(markov_lrsao.crossing.generating, "_STRETCH", stretch)
    found = runtime(landscape, algorithm, method="crossing")
    assert sum(s.high - s.low + 1 for s in decompose(StepLaw.of(jump, algorithm)).sites) >= 5
    assert found.method == "crossing"
    assert (found.total, found.variance) == (expected.total, expected.variance)
    assert (found.phases, found.phase_variances) == (expected.phases, expected.phase_variances)
    floats = runtime(landscape, algorithm, method="crossing", field="float", moments=4)
    for a, b in zip(
        (*floats.phases, floats.variance), (*expected.phases, expected.variance), strict=True
    ):
        assert float(a) == pytest.approx(float(b), rel=1e-12)


@pytest.mark.slow
def test_only_methods_that_work_are_recommended(monkeypatch: pytest.MonkeyPatch) -> None:
    landscape, algorithm = Landscape.jump(13, 2), Algorithm.lrsao(Parameters.paper(13))
    with pytest.raises(StateSpaceTooLargeError, match='or use `method="crossing"`'):
        runtime(landscape, algorithm, method="joint", max_states=10)
    # By itself the method is changed.
    found = runtime(landscape, algorithm, max_states=10)
    assert found.method == "crossing"
    assert found.total == runtime(landscape, algorithm, method="joint").total
    # Here crossing counts refuse as well.
    rng = np.random.default_rng(5)
    objectives = {"A": [0, 1, 2, 3, 4, 5, 6, 4, 7, 9], "B": rng.integers(0, 2, 10).tolist()}
    other = Landscape.from_arrays(objectives, "A")
    slow = lrsao("3/4", "1/20", "6")
    with pytest.raises(LrsaoError) as refused:
        runtime(other, slow, method="joint", outside_h=True, max_states=5)
    assert 'method="crossing"' not in str(refused.value)
    assert 'or use `method="segments"`' in str(refused.value)
    joint = runtime(other, slow, method="joint", outside_h=True)
    segments = runtime(other, slow, outside_h=True, max_states=5)
    assert (segments.method, segments.total) == ("segments", joint.total)
    # And here segments do, too; by itself a few tables are followed, which get stuck as well.
    monkeypatch.setattr(shared, "_MOST_STATES", 5)
    with pytest.raises(LrsaoError, match="simulate"):
        runtime(other, slow, method="joint", outside_h=True, max_states=5)
    followed = runtime(other, slow, outside_h=True, max_states=5)
    assert (followed.method, followed.total) == ("forward", joint.total)


def test_advice_is_given_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal that says what to do is left as it is, whichever words it uses."""
    landscape, algorithm = Landscape.jump(9, 2), Algorithm.lrsao(Parameters.paper(9))

    def refuse(advised: bool) -> str:
        def joint(*_: object, **__: object) -> None:
            raise StateSpaceTooLargeError("too many; simulate less", advised=advised)

        monkeypatch.setattr(sys.modules["markov_lrsao.answers.plan"], "enumerate_joint", joint)
        with pytest.raises(StateSpaceTooLargeError) as refused:
            runtime(landscape, algorithm, method="joint")
        return str(refused.value)

    assert refuse(True) == "too many; simulate less"
    assert refuse(False) == 'too many; simulate less; or use `method="crossing"`'


def test_alike_sites_have_alike_automata() -> None:
    """Sites are taken together only if their rows are of one class, not just of one kind."""
    for n, ell in ((13, 2), (15, 3)):
        d = decompose(StepLaw.of(Landscape.jump(n, ell), Algorithm.lrsao(Parameters.paper(n))))
        for site in d.sites:
            rows = d.law.row[site.low : site.high + 1]
            assert len(set(d.automata.regions.row_class[rows].tolist())) == 1
            assert len(set(d.law.kind[site.low : site.high + 1].tolist())) == 1
        classes = [
            len(site.steps) for site in d.sites for p in range(n + 1) if site.low <= p <= site.high
        ]
        blocks = [b for b in (d.bottom, d.top_region, d.tail) if b is not None]
        assert d.states == sum(classes) + sum(len(b.states) for b in blocks)
