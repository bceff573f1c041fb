"""Landscapes by name in every command that takes one, their errors, and the list of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Command

from markov_lrsao import Landscape
from markov_lrsao.cli.completion import landscapes
from markov_lrsao.errors import ParameterError
from markov_lrsao.model.catalogue import LANDSCAPES
from simulate.sweeps.plan import Plan

TWO = ("--landscape", "regions:widths=3+2", "--n", "9")
NINE = "51740216905/1185192162"
CLIFF = ("--landscape", "cliff:d=2", "--helpers", "onemax", "--n", "5")


def test_two_regions_give_jumps_fraction(command: Command) -> None:
    for given in (TWO, ("--landscape", "jump:l=2", "--n", "9"), ("--n", "9", "--ell", "2")):
        done = command("exact", *given, "--json")
        assert done.code == 0
        assert json.loads(done.out)["total"]["rational"] == NINE


@pytest.mark.parametrize(
    "line",
    [
        ("distribution", *TWO),
        ("sites", *TWO),
        ("states", *CLIFF),
        ("simulate", *TWO, "--runs", "50", "--monitors"),
        ("verify", *CLIFF, "--claim", "positive entries per row <= 2"),
        ("curve", "--landscape", "xdivk:k=5", "--helpers", "onemax", "--n", "10:20:5"),
    ],
    ids=lambda line: line[0],
)
def test_commands_take_them(line: tuple[str, ...], command: Command) -> None:
    done = command(*line, "--json")
    assert done.code == 0, done.err
    json.loads(done.out)
    assert command(*line).code == 0


def test_export_and_solve(command: Command, tmp_path: Path) -> None:
    found = {}
    for ending in ("drn", "graphml", "json"):
        path = tmp_path / f"cliff.{ending}"
        assert command("export", *CLIFF, "--format", ending, str(path)).code == 0
        done = command("solve", str(path), "--target", "target", "--exact", "--json")
        assert done.code == 0, done.err
        found[ending] = json.loads(done.out)
    exact = json.loads(command("exact", *CLIFF, "--json").out)["total"]["rational"]
    assert all(exact in json.dumps(each) for each in found.values())


@pytest.mark.slow
def test_cross_validation(command: Command) -> None:
    line = ("cross-validate", "--landscape", "regions:widths=3+2", "--moments-only")
    done = command(*line, "--n-min", "9", "--n-max", "9", "--runs", "3000", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["agrees"]
    assert {(e["n"], e["ell"]) for e in found["experiments"]} == {(9, 0)}


def test_sweeps(command: Command, tmp_path: Path) -> None:
    """Runs are those of equal arrays, whatever the landscape is called."""
    means = {}
    plans: dict[str, tuple[str, ...]] = {
        "two": ("--landscape", "regions:widths=3+2"),
        "jump": ("--ell", "2"),
        "gap": ("--landscape", "jump:l=2"),
    }
    for name, given in plans.items():
        out = ("--out", str(tmp_path / f"{name}.sqlite"), "--runs", "40", "--json")
        done = command("sweep", "--n", "9", *given, *out)
        assert done.code == 0, done.err
        [means[name]] = json.loads(done.out)["results"]
        again = json.loads(command("sweep", "--n", "9", *given, *out).out)
        assert again["played_now"] == 0
    shared = [key for key, value in means["jump"].items() if isinstance(value, dict)]
    assert shared
    for key in shared:
        assert means["two"][key] == means["jump"][key] == means["gap"][key]


def test_plans_have_one_text_for_landscape_and_helpers(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text('n = [6, 9]\nlandscape = "cliff:d=n/3"\nhelpers = ["onemax"]\n')
    for experiment in Plan.load(path).experiments:
        assert experiment.landscape == "cliff:d=n/3,helpers=onemax"
        expected = Landscape.named(f"cliff:d={experiment.n // 3}", experiment.n, None, ["onemax"])
        again = type(experiment).from_text(experiment.text)
        assert again.law().landscape == experiment.law().landscape == expected
    fields = {"n": [6], "runs": 5}
    [half] = Plan.of({**fields, "landscape": "cliff:d=2", "helpers": "onemax"}).experiments
    doubled = tmp_path / "doubled.json"
    shape = half.law().landscape
    assert isinstance(shape, Landscape)
    arrays = {k: v.tolist() for k, v in shape.objectives.items()}
    doubled.write_text(json.dumps({"objectives": arrays, "target": "C", "milestones": [4, 6]}))
    [twice] = Plan.of({**fields, "landscape": str(doubled), "outside_h": True}).experiments
    assert twice.content != half.content  # equal arrays, but not over the same scale
    for wrong in (3, [3]):
        with pytest.raises(ParameterError, match="helpers = "):
            Plan.of({**fields, "landscape": "needle", "helpers": wrong})


def test_files_of_families(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    pieces = [
        {"first": "0", "last": "n - w - 1", "value": "p"},
        {"first": "n - w", "last": "n - 1", "value": "0"},
        {"first": "n", "last": "n", "value": "p"},
    ]
    path.write_text(
        json.dumps({"objectives": {"A": pieces}, "target": "A", "parameters": {"w": 2}})
    )
    text = f"{path}:w=1,helpers=onemax"
    assert command("exact", "--landscape", text, "--n", "6").code == 0
    plan = Plan.of({"n": [6, 7], "landscape": text})
    path.unlink()  # an experiment has its landscape, and needs the file no more
    for experiment in plan.experiments:
        n = experiment.n
        shape = experiment.law().landscape
        assert isinstance(shape, Landscape)
        assert shape.listed() == {"A": [*range(n - 1), 0, n], "O": list(range(n + 1))}


@pytest.mark.parametrize(
    ("landscape", "words"),
    [
        ("nope", ("'nope' is neither known nor a file", "regions", "TOML")),
        ("jump-m", ("'m' is missing", "the keys of jump-m are m, helpers")),
        ("jump-m:x=3", ("'x' is not one of its keys", "the keys of jump-m are m, helpers")),
        ("jump:l=9", ("ell = 9", "2..2")),
        ("regions:widths=5+5", ("n = 9 is not possible",)),
        ("xdivk:k=2", ("n a multiple of k",)),
        ("zeromax", ("as a helper", "--helpers zeromax")),
    ],
)
@pytest.mark.parametrize("name", ["exact", "simulate", "export", "sweep", "curve", "verify"])
def test_errors_are_one_line(
    name: str, landscape: str, words: tuple[str, ...], command: Command, tmp_path: Path
) -> None:
    more = {
        "export": (str(tmp_path / "x.drn"),),
        "sweep": ("--out", str(tmp_path / "x.sqlite")),
        "verify": ("--claim", "visits <= 5"),
    }.get(name, ())
    done = command(name, *more, "--n", "9", "--landscape", landscape)
    assert done.code == 2
    assert done.out == ""
    assert done.err.count("\n") == 1
    for word in words:
        assert word in done.err


@pytest.mark.parametrize("landscape", ["jump", "regions:widths=3+2"])
def test_helpers_are_refused_where_there_are_some(landscape: str, command: Command) -> None:
    ell = ("--ell", "2") if landscape == "jump" else ()
    done = command("exact", "--n", "9", *ell, "--landscape", landscape, "--helpers", "onemax")
    assert done.code == 2
    assert "cannot be added" in done.err


def test_the_list(command: Command) -> None:
    done = command("landscapes")
    assert done.code == 0
    for name in LANDSCAPES:
        assert f"\n{name}" in f"\n{done.out}"
    found = json.loads(command("landscapes", "--json").out)["landscapes"]
    assert [one["name"] for one in found] == list(LANDSCAPES)
    assert all(one["definition"] and one["reference"] for one in found)


def test_completion_of_names_and_keys() -> None:
    assert landscapes("jump") == ["jump", "jump-open", "jump-m"]
    assert landscapes("cliff:") == ["cliff:d=", "cliff:m=", "cliff:helpers="]
    assert landscapes("cliff:d=3,") == ["cliff:d=3,m=", "cliff:d=3,helpers="]
    assert landscapes("cliff:d=3,m=5,h") == ["cliff:d=3,m=5,helpers="]
    assert landscapes("nope:") == []
