"""Profiles, visit laws, closed forms, asymptotics, curves and the reference table."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from flint import fmpq

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw, runtime
from markov_lrsao.answers.curves import curve, ell_of, reference_csv, reference_instances
from markov_lrsao.answers.profile import profile
from markov_lrsao.chains.visits import expected_visits, largest_number_of_visits, visit_law
from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.rationals import harmonic_difference
from markov_lrsao.forms.asymptotics import phase2_asymptotics, phase3_expansion
from markov_lrsao.forms.closed import phase1_formula, phase3_formula
from markov_lrsao.joint.enumeration import enumerate_joint
from markov_lrsao.joint.parts import part_chain


def paper(n: int) -> Algorithm:
    return Algorithm.lrsao(Parameters.paper(n))


@pytest.mark.parametrize(
    ("n", "ell"), [(9, 2), pytest.param(12, 2, marks=pytest.mark.slow), (13, 4)]
)
def test_profile_equals_the_joint_chain(n: int, ell: int) -> None:
    landscape = Landscape.jump(n, ell)
    found = profile(landscape, paper(n))
    assert found.exact
    chain = enumerate_joint(StepLaw.of(landscape, paper(n))).chain
    target = chain.positions == n
    assert sum(found.steps, fmpq(0)) == runtime(landscape, paper(n)).total.value
    assert list(found.visits) == list(expected_visits(chain, target))
    for s in range(ell + 3, n - ell - 1):
        assert list(found.visit_laws[s]) == visit_law(chain, target, s)
        assert sum(found.visit_laws[s], fmpq(0)) == 1
    floats = profile(landscape, paper(n), exact=False)
    assert np.allclose(floats.steps, [float(int(x.p) / int(x.q)) for x in found.steps], rtol=1e-12)


@pytest.mark.slow
def test_five_visits_are_attained_but_not_everywhere() -> None:
    """Lemma 10: at most five; the site next to the right end attains only four."""
    n, ell = 12, 2
    chain = enumerate_joint(StepLaw.of(Landscape.jump(n, ell), paper(n))).chain
    target = chain.positions == n
    most = {s: largest_number_of_visits(chain, target, s) for s in range(ell + 1, n - ell)}
    assert most[n - ell - 2] == 4
    assert {most[s] for s in range(ell + 3, n - ell - 2)} == {5}
    assert most[ell + 1] is most[ell + 2] is most[n - ell - 1] is None
    law = visit_law(chain, target, ell + 1, 6)
    assert 0 < sum(law, fmpq(0)) < 1
    with pytest.raises(ParameterError, match="unbounded"):
        visit_law(chain, target, ell + 1)


def test_walds_identity_on_the_slope() -> None:
    """Every objective accepts upward moves: E[steps at s] (n-s)/n = E[upward exits of s]."""
    n, ell = 25, 4
    found = profile(Landscape.jump(n, ell), paper(n))
    for s in range(ell + 3, n - ell - 1):
        up = found.steps[s] * fmpq(n - s, n)
        visits = sum((k * w for k, w in enumerate(found.visit_laws[s])), fmpq(0))
        assert found.visits[s] == visits
        down = visits - up  # visits = upward exits + downward exits
        assert 0 < down < 2


@pytest.mark.parametrize(
    ("n", "ell"), [(9, 2), (11, 3), (13, 4), (20, 2), (37, 16), (60, 3), (101, 40), (150, 7)]
)
def test_closed_forms_equal_the_solver(n: int, ell: int) -> None:
    result = runtime(Landscape.jump(n, ell), paper(n), method="crossing")
    assert phase1_formula().at(n, ell) == result.phases[0].value
    form = phase3_formula(ell if ell < 4 else None)
    assert form.at(n, ell) == result.phases[2].value


@pytest.mark.exhaustive
def test_closed_forms_equal_the_solver_for_all_small_instances() -> None:
    for n in range(9, 60):
        for ell in range(2, (n - 5) // 2 + 1):
            result = runtime(Landscape.jump(n, ell), paper(n), method="crossing")
            assert phase1_formula().at(n, ell) == result.phases[0].value, (n, ell)
            form = phase3_formula(ell if ell < 4 else None)
            assert form.at(n, ell) == result.phases[2].value, (n, ell)


def test_formula_a_is_the_papers() -> None:
    for n, ell in [(9, 2), (40, 11), (77, 30)]:
        paper_a = fmpq(2, 3 * (2 * n - 1)) + n * harmonic_difference(n - ell - 1, n)
        assert phase1_formula().at(n, ell) == paper_a


@pytest.mark.slow
def test_special_cases_of_phase3_are_needed() -> None:
    """The general form is not valid below l = 4, and says so."""
    with pytest.raises(ParameterError, match="l >= 4"):
        phase3_formula().at(9, 2)
    import sympy

    ell = sympy.Symbol("l", positive=True)
    general = phase3_formula().expression
    for special in (2, 3):
        wrong = sympy.simplify(general.subs(ell, special) - phase3_formula(special).expression)
        assert wrong != 0


@pytest.mark.slow
def test_leading_constants() -> None:
    import sympy

    n, ell = sympy.symbols("n l", positive=True)
    lead = sympy.limit(phase3_formula().expression / n**2, n, sympy.oo)
    assert sympy.simplify(lead - sympy.Rational(2, 3) / (ell * (ell + 1))) == 0
    for special in (2, 3):
        lead = sympy.limit(phase3_formula(special).expression / n**2, n, sympy.oo)
        assert lead == sympy.Rational(2, 3 * special * (special + 1))
    found = phase2_asymptotics()
    assert found.leading == 3
    # C against the recursion itself, at sizes where o(n) is known to be small
    for size, gap in [(100_000, 2), (100_000, 7)]:
        result = runtime(Landscape.jump(size, gap), paper(size), method="crossing", field="float")
        predicted = float(found.fixed_ell().subs({n: size, ell: gap}).evalf())
        assert float(result.phases[1]) / size == pytest.approx(predicted / size, abs=1e-3)


@pytest.mark.slow
def test_phase3_expansion_error_shrinks_like_n_to_minus_two() -> None:
    import sympy

    n, ell = sympy.symbols("n l", positive=True)
    difference = phase3_formula().expression - phase3_expansion(4)
    errors = [abs(float(difference.subs({n: size, ell: 6}).evalf(40))) for size in (1000, 10_000)]
    assert errors[0] / errors[1] == pytest.approx(100, rel=0.05)


def test_schedules() -> None:
    assert [ell_of(s, 10_000) for s in ("2", "cbrt", "sqrt", "half")] == [2, 21, 100, 4997]
    assert ell_of("cbrt", 999) == 9
    assert ell_of("cbrt", 1000) == 10
    with pytest.raises(ParameterError, match="unknown"):
        ell_of("log", 100)
    points = curve([50, 100], "sqrt")
    assert [p.ell for p in points] == [7, 10]
    for p in points:
        exact = runtime(Landscape.jump(p.n, p.ell), paper(p.n))
        assert float(p.result.total) == pytest.approx(float(exact.total), rel=1e-13)
        assert p.coupon_collector < float(p.result.total)


def test_reference_values_are_what_the_engine_computes() -> None:
    path = Path(__file__).parents[2] / "docs" / "reference_values.csv"
    text = path.read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(int(r["n"]), int(r["ell"])) for r in rows] == reference_instances()
    some = [(9, 2), (14, 4), (20, 7), (50, 10), (100, 47)]
    header, *fresh = reference_csv(some).splitlines()
    assert header == text.splitlines()[0]
    assert set(fresh) <= set(text.splitlines())
    assert len(fresh) == len(some)


def test_parts_are_stochastic_and_give_the_phases() -> None:
    from markov_lrsao.chains.hitting import hitting_times

    n, ell = 10, 2
    law = StepLaw.of(Landscape.jump(n, ell), paper(n))
    left = part_chain(law, "left")
    times = hitting_times(left, left.positions >= ell + 1)
    assert times[int(left.start[0])] == phase1_formula().at(n, ell)
    right = part_chain(law, "right")
    after = hitting_times(right, right.positions == n)
    joint = enumerate_joint(law)
    whole = hitting_times(joint.chain, joint.chain.positions == n)
    # every entry of the part is a state of the joint chain with the same expected rest
    labels = {joint.chain.label(i): whole[i] for i in range(joint.chain.size)}
    values = set(labels.values())
    assert all(after[i] in values for i in right.start.tolist())
    with pytest.raises(ParameterError, match="left, slope, right"):
        part_chain(law, "middle")
    unmerged = part_chain(law, "right", merge=False)
    assert unmerged.size >= right.size
    assert right.to_networkx().number_of_edges() == right.transitions
    rows = right.to_scipy().sum(axis=1)
    assert np.allclose(rows, 1, rtol=1e-15)
