"""The quotient of the two rows around the cut: the same fractions as clusters, and traps."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from flint import fmpq
from oracles import h_interval
from refined import exact_moments, law_at
from ties import known_ties

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw, runtime
from markov_lrsao.crossing.decomposition import Decomposition, decompose
from markov_lrsao.errors import CrossingError, StateSpaceTooLargeError, attempt
from markov_lrsao.values.enclosure import _trap_at, resolve, trap_after_cut
from markov_lrsao.values.quotient.across import LOST, AcrossCut
from markov_lrsao.values.stable_cut import stable_decomposition
from markov_lrsao.values.tails import LEVELS, Level, refined_decomposition

FINE = Level(fmpq(1, 16), 8, 0)
POINTS = [
    (9, 2, "7/8", "1/4", "4"),
    (13, 2, "7/10", "1/7", "29/4"),
    (16, 4, "4/5", "1/17", "79/4"),
    (10, 2, "1/2", "1/17", "53/4"),
    (60, 9, "27/40", "1/61", "40"),
]


def by_values(law: StepLaw) -> Decomposition:
    """Return what the first level of clusters that decides everything gives."""
    for level in (*LEVELS[:2], FINE):
        found = refined_decomposition(law, level)
        if found.choices is None:
            return found
    raise AssertionError("clusters do not decide this instance")


@pytest.mark.parametrize(
    "point",
    [p if k != 3 else pytest.param(p, marks=pytest.mark.slow) for k, p in enumerate(POINTS)],
    ids=str,
)
def test_fractions_are_those_of_clusters(point: tuple[Any, ...]) -> None:
    found = stable_decomposition(law_at(*point))
    assert found.choices is None
    assert exact_moments(found, 3) == exact_moments(by_values(law_at(*point)), 3)


def test_fractions_are_those_of_patterns_where_they_decide() -> None:
    law = law_at(11, 3, "4/5", "1/12", "4")
    assert exact_moments(stable_decomposition(law), 3) == exact_moments(decompose(law), 3)


TIES = [t for t in known_ties() if t.equal == (0, 1, 2) and "three exits" not in t.name]
"""Three exits have no quotient within the limits; clusters decide there."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "tie", [pytest.param(t, marks=[pytest.mark.slow] if t.n < 12 else [], id=str(t)) for t in TIES]
)
def test_three_entries_that_tie_are_told_exactly(tie: Any) -> None:
    """Beside the tie, by one part in 10^9, the expectation jumps."""

    def mean(factor: Fraction) -> fmpq:
        law = law_at(tie.n, tie.ell, str(tie.alpha), str(tie.gamma), str(tie.r * factor))
        return exact_moments(stable_decomposition(law), 1)[0][1]

    law = law_at(tie.n, tie.ell, str(tie.alpha), str(tie.gamma), str(tie.r))
    at = mean(Fraction(1))
    other = resolve(law)
    assert isinstance(other, Decomposition)
    assert other.choices is None
    assert exact_moments(other, 1)[0][1] == at
    near = Fraction(1, 10**9)
    assert at not in (mean(1 - near), mean(1 + near))


WRONG: dict[str, tuple[str, Any]] = {
    "what is brought along": (
        "brought",
        lambda self: {m: (None, (fmpq(0),) * self.actions) for m in self.hit_with},
    ),
    "who is forgotten": (
        "_gone",
        lambda self, row, table: (
            tuple(
                (i, ((), self.dead))
                for i in self.of_row(row)
                if table[i] < 0 and table[i] != self.dead
            ),
            [],
        ),
    ),
    "what is kept": ("keep", fmpq(1, 100)),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_system_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each makes another number of a point at which the comparison with clusters is exact."""
    point = POINTS[0]
    right = exact_moments(by_values(law_at(*point)), 1)
    attribute, wrong = WRONG[name]
    if attribute == "keep":
        monkeypatch.setattr(AcrossCut, "_learnt", _forgetful(AcrossCut._learnt))
    elif attribute == "brought":
        monkeypatch.setattr(AcrossCut, attribute, property(wrong))
    else:
        monkeypatch.setattr(AcrossCut, attribute, wrong)
    found = attempt(lambda: exact_moments(stable_decomposition(law_at(*point)), 1))
    assert found != right  # another number, or a run that leaves the rows after the cut


def _forgetful(right: Any) -> Any:
    def learnt(self: Any, table: Any, entry: int, e: Any, row: int) -> Any:
        (terms, gain), asked = right(self, table, entry, e, row)
        return (tuple((i, w / 2 if i == entry else w) for i, w in terms), gain), asked

    return learnt


def test_limits_and_refusals() -> None:
    with pytest.raises(StateSpaceTooLargeError, match="more than 20 lumps"):
        stable_decomposition(law_at(*POINTS[0]), largest=20)
    shape = Landscape.from_arrays({"T": [0, 1, 2, 3], "A": [0, 1, 2, 3]}, "T")
    slope = StepLaw.of(shape, Algorithm.lrsao(Parameters("1/2", "1/5", 1)))
    with pytest.raises(CrossingError, match="no row comes back"):
        stable_decomposition(slope)
    # Above the upper bound runs leave the rows after the cut.
    with pytest.raises(CrossingError, match="can fall below position"):
        stable_decomposition(outside(13, 18))


def outside(n: int, r: int) -> StepLaw:
    algorithm = Algorithm.lrsao(Parameters("4/5", f"1/{n + 1}", r))
    return StepLaw.of(Landscape.jump(n, 2), algorithm)


@pytest.mark.slow
def test_a_narrow_enclosure_is_not_the_end() -> None:
    """Level 1 encloses this point to 4e-4, less than the default tolerance."""
    point = POINTS[0]
    found = runtime(Landscape.jump(9, 2), Algorithm.lrsao(Parameters(*point[2:])))
    assert found.kind == "exact"
    assert found.total.rational == str(exact_moments(by_values(law_at(*point)), 1)[0][1])
    low, high = h_interval(9, 2, Fraction(7, 8), Fraction(1, 4))
    assert low < 4 < high


@pytest.mark.slow
def test_the_probability_of_a_trap_is_that_of_all_tables() -> None:
    """At n = 9, l = 2, r = 13, just above 25/2, the quotient of all tables has a fraction."""
    found = trap_after_cut(outside(9, 13))
    assert found is not None
    trap = found[0]
    assert trap.upper - trap.lower < fmpq(1, 10**11)
    whole = runtime(
        Landscape.jump(9, 2), Algorithm.lrsao(Parameters("4/5", "1/10", 13)), outside_h=True
    )
    assert whole.method == "quotient"
    assert whole.trap is not None
    assert trap.lower <= whole.trap.lower == whole.trap.upper <= trap.upper


@pytest.mark.slow
def test_just_above_the_upper_bound_where_intervals_leave_a_percent_open() -> None:
    law = outside(13, 18)
    found = trap_after_cut(law)
    assert found is not None
    trap = found[0]
    assert trap.upper - trap.lower < fmpq(1, 10**11)
    assert "[10: " in trap.state
    other = _trap_at(law, Level(fmpq(1, 64), 32, 1))  # by intervals
    assert other is not None
    assert other[0].lower < trap.lower < trap.upper < other[0].upper
    assert other[0].upper - other[0].lower > fmpq(1, 100)


def test_fallen_runs_are_lost_unless_they_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    law = outside(13, 18)
    found = trap_after_cut(law)
    assert found is not None
    monkeypatch.setattr(AcrossCut, "_fallen", lambda self, table, e: (LOST, []))
    law = outside(13, 18)
    less = trap_after_cut(law)
    assert less is not None
    assert less[0].lower <= found[0].lower
    assert less[0].upper - less[0].lower > fmpq(1, 100)
