"""`--digits`: what is printed, and how it ends."""

from __future__ import annotations

import json

import numpy as np
import pytest
from commands import Command

from markov_lrsao import Landscape, distribution, profile, runtime
from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.rationals import decimal_text, rational


def test_the_command_line(command: Command) -> None:
    instance = ("exact", "--n", "30", "--ell", "2")
    code, out, err = command(*instance, "--digits", "25", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    exact = runtime(Landscape.jump(30, 2))
    assert found["certified"] is True
    assert found["digits"] == 25
    assert found["total"]["decimal"] == decimal_text(exact.total.value, 25)
    assert set(found["total"]) >= {"decimal", "error", "lower", "upper", "certified"}
    code, out, err = command(*instance, "--digits", "25")
    assert "25 digits, each certain" in out
    code, out, err = command(*instance, "--digits", "25", "--float")
    assert (code, out) == (2, "")
    assert "--digits 25 excludes --float" in err
    code, out, err = command(*instance, "--digits", "0")
    assert (code, out) == (2, "")
    assert "digits = 0 is out of range: choose 1 to 10,000" in err


def test_the_exit_code_of_what_is_not_certified(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("markov_lrsao.exact.digits.bits_of", lambda digits: digits // 100)
    code, out, _ = command("exact", "--n", "30", "--ell", "2", "--digits", "300")
    assert code == 3
    assert "not all of 300 digits are certain" in out
    code, out, _ = command("exact", "--n", "30", "--ell", "2", "--digits", "300", "--json")
    assert code == 3
    found = json.loads(out)
    assert found["certified"] is False
    assert found["kind"] == "enclosure"
    total = found["total"]
    value = runtime(Landscape.jump(30, 2)).total.value
    assert rational(total["lower"]) <= value <= rational(total["upper"])
    assert 2 < len(total["decimal"]) < 300


def test_sites_to_so_many_digits(command: Command) -> None:
    code, out, err = command("sites", "--n", "30", "--ell", "5", "--digits", "18", "--json")
    assert (code, err) == (0, "")
    data = json.loads(out)
    exact = profile(Landscape.jump(30, 5), exact=True)
    assert (data["exact"], data["digits"], data["certified"]) == (False, 18, True)
    for row, steps, visits in zip(data["positions"], exact.steps, exact.visits, strict=True):
        assert row["steps"]["decimal"] == decimal_text(steps, 18)
        assert row["visits"]["decimal"] == decimal_text(visits, 18)
        for shown, weight in zip(
            row.get("visit_law", []), exact.visit_laws.get(row["position"], []), strict=True
        ):
            assert shown["decimal"] == decimal_text(weight, 18)
            assert shown["certified"] is True
    code, out, _ = command("sites", "--n", "301", "--ell", "5")
    assert code == 0
    second = profile(Landscape.jump(301, 5), exact=True).steps[1]
    assert f" {decimal_text(second, 12)} " in out


def test_profiles_have_digits_or_fractions() -> None:
    with pytest.raises(ParameterError, match="digits = 5 excludes exact rationals"):
        profile(Landscape.jump(9, 2), exact=True, digits=5)
    found, exact = profile(Landscape.jump(9, 2), digits=5), profile(Landscape.jump(9, 2))
    assert found.certified
    assert not exact.certified
    assert np.allclose(found.floats(found.steps), exact.floats(exact.steps))


def test_laws_to_so_many_digits(command: Command) -> None:
    asked = ("distribution", "--n", "9", "--ell", "2", "--at", "30,60", "--method", "inversion")
    code, out, err = command(*asked, "--digits", "9", "--json")
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert data["certified"] is True
    exact = runtime(Landscape.jump(9, 2))
    assert data["expectation"]["decimal"] == decimal_text(exact.total.value, 9)
    assert data["variance"]["decimal"] == decimal_text(exact.variance.value, 9)
    other = distribution(Landscape.jump(9, 2), method="powers")
    for line in data["cdf"]:
        assert line["certified"] is True
        assert abs(float(line["decimal"]) - other.cdf(line["t"])) <= float(line["error"])
    code, out, err = command(*asked, "--digits", "0")
    assert (code, out) == (2, "")
    assert "digits = 0 is out of range" in err


@pytest.mark.slow
def test_curves_to_so_many_digits(command: Command) -> None:
    asked = ("curve", "--n", "20,30", "--workers", "1", "--digits", "22")
    code, out, err = command(*asked, "--json")
    assert (code, err) == (0, "")
    points = json.loads(out)["points"]
    for n, point in zip((20, 30), points, strict=True):
        value = runtime(Landscape.jump(n, 2)).total.value
        assert point["total"]["decimal"] == decimal_text(value, 22)
        assert point["certified"] is True
    _, out, _ = command(*asked)
    assert points[0]["total"]["decimal"] in out
    code, out, err = command(*asked, "--exact")
    assert (code, out) == (2, "")
    assert "--digits 22 excludes --exact" in err
