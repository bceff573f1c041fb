from __future__ import annotations

import json
from fractions import Fraction

import pytest
from flint import fmpq
from instances import paper_runtime

from markov_lrsao import Algorithm, Landscape, LrsaoError, Parameters, Quantity, runtime

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
    result = runtime(landscape, Algorithm.lrsao(Parameters.paper(9)), method=method)  # type: ignore[arg-type]
    assert result.method == method
    assert result.total.rational == "51740216905/1185192162"


@pytest.mark.parametrize("argument", ["method", "field"])
def test_unknown_methods_and_fields_are_refused(argument: str) -> None:
    with pytest.raises(LrsaoError):
        runtime(Landscape.onemax(3), Algorithm.rls(), **{argument: "bogus"})  # type: ignore[arg-type]
