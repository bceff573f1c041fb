"""`sites` where comparisons stay open: both ends are printed."""

from __future__ import annotations

import json

import pytest
from commands import Command
from open_instances import left_open

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from markov_lrsao.answers import profile as profiles
from markov_lrsao.answers.plan import Followed, Options, quotient
from markov_lrsao.answers.profile_bounds import whole_runs
from markov_lrsao.exact.rationals import rational


@pytest.mark.slow
def test_sites_print_both_ends(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profiles, "is_small", lambda law: False)
    left_open(monkeypatch)
    law = StepLaw.of(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.of("4/5", "1/10", "2")))
    decided = quotient(law, Options())
    assert isinstance(decided, Followed)
    truth, _ = whole_runs(decided.levels)
    asked = ("sites", "--n", "9", "--ell", "2", "--r", "2", "--outside-h")
    code, out, err = command(*asked)
    assert (code, err) == (0, "")
    assert "[17." in next(line for line in out.splitlines() if line.split()[0] == "6")
    code, out, _ = command(*asked, "--json")
    data = json.loads(out)
    assert (code, data["exact"], data["decided"]) == (0, False, False)
    for row, steps in zip(data["positions"], truth, strict=True):
        if "rational" in row["steps"]:
            assert rational(row["steps"]["rational"]) == steps.value
        else:
            ends = row["steps"]
            assert rational(ends["lower"]) <= steps.value <= rational(ends["upper"])
    code, out, _ = command(*asked, "--digits", "12")
    assert code == 3
    assert "[17." in out
