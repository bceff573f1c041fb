"""From settings to command lines: what a view asks, and what is refused before the engine."""

from __future__ import annotations

import shlex

import pytest
import typer.main

from markov_lrsao.cli.app import app
from markov_lrsao.cli.explore import _options, model
from markov_lrsao.errors import ParameterError
from markov_lrsao.explore.questions import VIEWS, question
from markov_lrsao.explore.server import command_text
from markov_lrsao.model.landscape import FAMILIES, Landscape
from markov_lrsao.model.named import NamedAlgorithm

FULL = {
    "landscape": "jump-open",
    "n": "9",
    "ell": "2",
    "alpha": "0.8",
    "gamma": "1/10",
    "r": "7/2",
    "at": "0:100:5",
    "alphas": "0.1:0.9@5",
    "places": "0.1:0.9@3",
    "row": "3",
    "seed": "1",
    "steps": "10",
    "choices": "L+,L-",
}


@pytest.mark.parametrize("view", VIEWS)
def test_the_command_to_copy_is_the_one_that_runs(view: str) -> None:
    """Both are parsed by the command line itself, to the same values."""
    group = typer.main.get_command(app)
    commands = getattr(group, "commands", {})
    arguments = question(view, FULL, _options)
    copied = shlex.split(command_text(arguments))
    assert copied[0] == "markov-lrsao"
    parsed = [
        commands[line[0]].make_context(line[0], [w for w in line[1:] if w != "--json"]).params
        for line in (arguments, copied[1:])
    ]
    assert parsed[0] == parsed[1]


def test_what_is_empty_or_default_is_left_out() -> None:
    given = {"landscape": "jump", "algorithm": "lrsao", "n": "9", "ell": "2", "r": " "}
    assert question("exact", given, _options) == [
        "exact",
        "--n=9",
        "--ell=2",
        "--outside-h",
        "--json",
    ]


@pytest.mark.parametrize(
    ("view", "name", "text"),
    [
        ("exact", "n", "9 --float"),
        ("exact", "n", "-9"),
        ("exact", "r", "--json"),
        ("exact", "alpha", "4/5; rm"),
        ("exact", "landscape", "/etc/passwd"),
        ("exact", "landscape", "../x.json"),
        ("exact", "landscape", "secret.json"),
        ("exact", "out", "x"),
        ("law", "at", "1 2"),
        ("walk", "choices", "L"),
        ("run", "seed", "1e3"),
        ("shell", "n", "9"),
    ],
)
def test_other_forms_are_refused(view: str, name: str, text: str) -> None:
    with pytest.raises(ParameterError):
        question(view, {name: text}, _options)


def test_an_algorithm_goes_to_commands_that_know_it() -> None:
    line = question("run", {"algorithm": "earl", "n": "9", "ell": "2"}, _options)
    assert "--algorithm=earl" in line
    with pytest.raises(ParameterError, match="LRSAO only"):
        question("exact", {"algorithm": "earl"}, lambda _: frozenset())
    taken = question("exact", {"algorithm": "earl"}, lambda _: frozenset({"--algorithm"}))
    assert "--algorithm=earl" in taken


def test_names_come_from_the_model() -> None:
    offered = model()
    assert set(FAMILIES) <= set(offered["landscapes"])
    for text, one in offered["landscapes"].items():
        shape = Landscape.named(text, n=12, ell=2 if one["ell"]["12"][1] else None)
        for name in offered["algorithms"]:
            NamedAlgorithm.of(name).on(shape)
    assert offered["landscapes"]["jump"]["ell"]["9"] == [2, 2]
    assert {"lrsao", "earl", "rls"} <= set(offered["algorithms"])
