"""`--digits`: what is printed, and how it ends."""

from __future__ import annotations

import json

import pytest
from commands import Command

from markov_lrsao import Landscape, runtime
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
