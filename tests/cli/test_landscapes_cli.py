"""Landscapes by name in every command that takes one, their errors, and the list of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Command

from markov_lrsao.cli.completion import landscapes
from markov_lrsao.model.catalogue import LANDSCAPES

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


def test_cross_validation(command: Command) -> None:
    line = ("cross-validate", "--landscape", "regions:widths=3+2", "--moments-only")
    done = command(*line, "--n-min", "9", "--n-max", "9", "--runs", "3000", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["agrees"]
    assert {(e["n"], e["ell"]) for e in found["experiments"]} == {(9, 0)}


def test_sweeps(command: Command, tmp_path: Path) -> None:
    """A sweep's landscape is one text, helpers included; runs are those of equal arrays."""
    means = {}
    plans: dict[str, tuple[str, ...]] = {
        "two": ("--landscape", "regions:widths=3+2"),
        "jump": ("--ell", "2"),
        "gap": ("--landscape", "jump:l=2"),
        "cliff": ("--landscape", "cliff:d=n/3", "--helpers", "onemax", "--algorithm", "rls"),
    }
    for name, given in plans.items():
        out = ("--out", str(tmp_path / f"{name}.sqlite"), "--runs", "40", "--json")
        out += ("--limit", "1000")
        done = command("sweep", "--n", "9", *given, *out)
        assert done.code == 0, done.err
        [result] = json.loads(done.out)["results"]
        means[name] = result
        again = json.loads(command("sweep", "--n", "9", *given, *out).out)
        assert again["played_now"] == 0
    texts = {name: json.dumps(found) for name, found in means.items()}
    assert "cliff:d=n/3,helpers=onemax" in texts["cliff"]
    shared = [key for key, value in means["jump"].items() if isinstance(value, dict)]
    for key in shared:
        assert means["two"][key] == means["jump"][key] == means["gap"][key]
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'n = [6, 9]\nlandscape = "xdivk:k=3"\nhelpers = ["onemax"]\nruns = 20\nalgorithm = "rls"\n'
    )
    done = command("sweep", str(plan), "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["experiments"] == 2


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
    rls = ("--landscape", f"{path}:w=1,helpers=onemax", "--n", "6")
    assert command("exact", *rls).code == 0
    results = ("--out", str(tmp_path / "mine.sqlite"), "--runs", "20", "--json")
    done = command("sweep", "--n", "6,7", *rls[:2], "--algorithm", "rls", *results)
    assert done.code == 0, done.err
    assert len(json.loads(done.out)["results"]) == 2


@pytest.mark.parametrize(
    ("landscape", "words"),
    [
        ("nope", ("'nope' is not known", "regions", ".toml")),
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
