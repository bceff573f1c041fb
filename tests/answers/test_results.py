from __future__ import annotations

import json
from fractions import Fraction

import pytest
from flint import fmpq
from instances import paper_runtime
from typer.testing import CliRunner

from markov_lrsao import Algorithm, Landscape, LrsaoError, Parameters, Quantity, runtime
from markov_lrsao.answers.curves import curve
from markov_lrsao.answers.distribution import distribution
from markov_lrsao.answers.profile import profile
from markov_lrsao.cli.app import app
from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.quantity import Enclosed

REQUIRED = {
    "n",
    "ell",
    "alpha",
    "gamma",
    "r",
    "method",
    "exact",
    "states",
    "seconds",
    "total",
    "phase1",
    "phase2",
    "phase3",
    "variance",
}


def test_quantities() -> None:
    exact, approximate = Quantity.of(fmpq(1, 3)), Quantity.of(1 / 3)
    assert (exact.exact, approximate.exact) == (True, False)
    assert exact.to_dict() == {"rational": "1/3", "decimal": "0.33333333333333333333"}
    assert approximate.to_dict() == {
        "rational": None,
        "decimal": "0.33333333333333331",
        "exact": False,
        "certified": False,
    }
    assert float(exact) == float(approximate) == 1 / 3


@pytest.mark.parametrize("field", ["exact", "float"])
def test_json_shape(field: str) -> None:
    data = json.loads(json.dumps(paper_runtime(9, 2, field).to_dict()))
    assert set(data) >= REQUIRED
    assert (data["n"], data["ell"], data["method"]) == (9, 2, "joint")
    assert (data["alpha"], data["gamma"], data["r"]) == ("4/5", "1/10", "7/2")
    assert data["exact"] is (field == "exact")
    assert isinstance(data["states"], int)
    assert data["states"] > 0
    assert data["seconds"] >= 0
    for key in ("total", "phase1", "phase2", "phase3", "variance"):
        assert {"rational", "decimal"} <= set(data[key])
        digits = data[key]["decimal"].replace(".", "").lstrip("0")
        if field == "exact":
            value = Fraction(data[key]["rational"])
            assert len(digits) >= 17
            assert float(data[key]["decimal"]) == float(value)
        else:
            assert data[key]["rational"] is None


def test_one_phase_has_one_phase() -> None:
    result = runtime(Landscape.onemax(4), Algorithm.rls())
    assert result.phases == (result.total,)
    data = result.to_dict()
    assert data["phase1"]["rational"] == data["total"]["rational"] == "25/3"
    assert "phase2" not in data
    assert data["alpha"] is None


@pytest.mark.parametrize("method", ["joint", "crossing"])
def test_the_method_asked_for_is_the_method_used(method: str) -> None:
    landscape = Landscape.jump(9, 2)
    result = runtime(landscape, Algorithm.lrsao(Parameters.paper(9)), method=method)
    assert result.method == method
    assert result.total.rational == "51740216905/1185192162"


@pytest.mark.parametrize("argument", ["method", "field"])
def test_unknown_methods_and_fields_are_refused(argument: str) -> None:
    with pytest.raises(LrsaoError):
        runtime(Landscape.onemax(3), Algorithm.rls(), **{argument: "bogus"})  # type: ignore[arg-type]


# -- for people ---------------------------------------------------------------------------


def test_phases_have_names_and_deviations() -> None:
    result = runtime(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.paper(9)))
    second = result.phase("T_2")
    assert second == result.phase(2) == result.phase("T2") == result.phase("slope")
    assert (second.symbol, second.name) == ("T2", "slope")
    assert (second.mean, second.variance) == (result.phases[1], result.phase_variances[1])
    for std, variance in (
        (result.std, result.variance),
        (second.std, second.variance),
        (result.phase_stds[2], result.phase_variances[2]),
    ):
        assert isinstance(std, Enclosed)
        assert std.upper is not None
        assert std.lower**2 < variance.value < std.upper**2
    for wrong in (0, 4, "T", "T4", "bridge"):
        with pytest.raises(ParameterError, match=r"choose one of T1 \(left\), T2 \(slope\), T3"):
            result.phase(wrong)


def test_a_result_prints_as_the_command_line_does() -> None:
    landscape, algorithm = Landscape.jump(9, 2), Algorithm.lrsao(Parameters.paper(9))
    result = runtime(landscape, algorithm, moments=3)
    text = str(result)
    assert text.startswith("LRSAO on Jump, n = 9, l = 2\nalpha = 4/5, gamma = 1/10, r = 7/2; (H)")
    assert "E[T]      43.655551027007213704" in text
    assert "mu3[T3]" in text
    printed = CliRunner().invoke(app, ["exact", "--n", "9", "--ell", "2", "--moments", "3"]).stdout
    assert printed.splitlines()[:-1] == text.splitlines()[:-1]  # the last line has the seconds
    page = result._repr_html_()
    assert "<td>43.655551027007213704</td><td>51740216905/1185192162</td>" in page
    assert page.count("<tr>") == 1 + 3 * 4


def test_notebooks_get_escaped_html() -> None:
    named = Landscape.from_arrays({"<b>": [0, 1, 2]}, "<b>", name="<script>&")
    page = runtime(named, Algorithm.rls())._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;&amp;" in page


def test_a_distribution_prints_mean_error_and_quantiles() -> None:
    law = distribution(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.paper(9)))
    text, page = str(law), law._repr_html_()
    assert text.startswith("distribution of T: mean 43.6556, standard deviation 19.3663\n")
    assert f"0.5{law.quantile(0.5):>12}" in text
    assert f"<td>0.5</td><td>{law.quantile(0.5)}</td>" in page
    stuck = distribution(Landscape.from_arrays({"J": [0, 1, 0, 2]}, "J"), Algorithm.rls())
    assert "mean infinite" in str(stuck)
    assert "P(T = inf) is 1" in str(stuck)


def test_profiles_and_curves_print_what_they_are() -> None:
    landscape, algorithm = Landscape.jump(9, 2), Algorithm.lrsao(Parameters.paper(9))
    found = profile(landscape, algorithm)
    lines = str(found).splitlines()
    assert lines[0] == "where a run spends its time on Jump, n = 9, l = 2"
    rows = [line.split() for line in lines[4:]]
    assert [row[0] for row in rows] == [str(p) for p in range(10)]
    assert sum(float(row[1]) for row in rows) == pytest.approx(43.65555, abs=1e-3)
    assert found._repr_html_().count("<tr>") == 11
    large = str(
        profile(Landscape.jump(100, 5), Algorithm.lrsao(Parameters.paper(100)), exact=False)
    )
    assert len(large.splitlines()) == 4 + 20
    (point,) = curve([9], 2)
    assert str(point) == "n = 9, l = 2: E[T] = 43.6556, 1.715 times n H_n"
