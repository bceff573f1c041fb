"""`markov-lrsao trace`: the run of a seed, chosen steps, and what can follow."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from markov_lrsao.cli import main
from simulate.runs.reference import StreamChooser, run_on_positions
from simulate.runs.streams import Stream, stream_key


def traced(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["trace", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize(
    ("algorithm", "seed", "run"), [("lrsao", 1, 0), ("lrsao", 5, 3), ("earl", 2, 0)]
)
def test_a_run_is_the_one_that_simulations_play(
    algorithm: str, seed: int, run: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Step by step the reference implementation, which the kernels are tested against."""
    options = ("--algorithm", algorithm, "--seed", str(seed), "--run", str(run), "--steps", "60")
    found = traced(capsys, "--n", "9", "--ell", "2", *options)
    played = Algorithm.lrsao(Parameters.paper(9)) if algorithm == "lrsao" else Algorithm.earl()
    law = StepLaw.of(Landscape.jump(9, 2), played)
    moments = list(run_on_positions(law, StreamChooser(Stream(stream_key(seed), run)), 60))
    assert len(found["steps"]) == len(moments)
    for step, moment in zip(found["steps"], moments, strict=True):
        assert (step["time"], step["position"]) == (moment.time, moment.position)
        assert (tuple(step["greedy"]), step["action"]) == (moment.tied, moment.action)
        assert (step["direction"] == "up", step["accepted"]) == (
            bool(moment.direction),
            moment.accepted,
        )


def test_what_can_follow_happens(capsys: pytest.CaptureFixture[str]) -> None:
    """Every proposal, taken, leads where it said; together they have probability one."""
    size = ("--n", "9", "--ell", "2")
    taken = ["L+", "L+", "L+", "R-"]
    for k in range(len(taken) + 1):
        before = traced(capsys, *size, "--choices", ",".join(taken[:k]))
        proposals = before["now"]["proposals"]
        assert sum(Fraction(p["probability"]) for p in proposals) == 1
        for p in proposals:
            word = p["action"] + ("+" if p["direction"] == "up" else "-")
            after = traced(capsys, *size, "--choices", ",".join([*taken[:k], word]))
            last = after["steps"][-1]
            assert after["now"]["position"] == p["next_position"] == last["next_position"]
            for field in ("new", "reward", "accepted"):
                assert last[field] == p[field]


def test_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    """Q[L] = 4/5, then (1/5)(4/5) + (4/5)(1 + (1/10)(4/5)) = 128/125."""
    found = traced(capsys, "--n", "9", "--ell", "2", "--choices", "L+,L+")
    assert [s["new"] for s in found["steps"]] == ["4/5", "128/125"]
    assert found["now"]["pattern"] == "L>0=J=R"
    assert found["hypothesis_h"] == {"lower": "7/3", "upper": "25/2", "holds": True}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--choices J+,J+", "step 1: J up is impossible at position 1"),
        ("--choices up", "'up' is no step"),
        ("--choices L+,L+ --steps 1", "more than --steps 1"),
        ("--steps -1", "--steps -1 is out of range"),
        ("--run -1", "--run -1 is negative"),
    ],
)
def test_mistakes_are_one_line(options: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "--n", "9", "--ell", "2", *options.split()]) == 2
    errors = capsys.readouterr().err
    assert said in errors
    assert errors.count("\n") == 1


def test_the_table_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "--n", "9", "--ell", "2", "--seed", "1"]) == 0
    assert "the optimum" in capsys.readouterr().out
    assert main(["states", "--n", "9", "--ell", "2", "--row", "3"]) == 0
    assert "2/9 -> J>0=L=R, position 4   J+" in capsys.readouterr().out
    assert main(["states", "--n", "9", "--ell", "2", "--row", "9"]) == 2
