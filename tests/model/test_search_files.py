"""Searches from files: the same as their names say, as bit strings say, or refused in one line."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from bit_strings import ONE, Strings, flips, metropolis, moments

from markov_lrsao import Algorithm, Landscape, runtime
from markov_lrsao.cli import main
from markov_lrsao.errors import ParameterError
from markov_lrsao.model.levels import LeadingOnes
from markov_lrsao.model.search_files import SearchFile

MARKOV = """
[[actions]]
flips = 1
accept = "better"
[[actions]]
flips = 1
accept = "all"
[[modes]]
draws = [1, 0]
next = ["1 - 1/n", "1/n"]
[[modes]]
draws = [0, 1]
next = ["1/3", "2/3"]
"""
GRADIENT = """
[[actions]]
flips = 1
accept = "better"
[[actions]]
flips = 2
accept = "better"
[[modes]]
draws = [1, 0]
next = ["1/2", "1/2"]
after_success = [1, 0]
[[modes]]
draws = [0, 1]
next = ["1/2", "1/2"]
after_success = [0, 1]
"""


def written(folder: Path, text: str, name: str = "mine.toml") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


@pytest.mark.parametrize("order", ["move-first", "switch-first"])
def test_two_modes_are_those_of_the_name(tmp_path: Path, order: str) -> None:
    head = "switch_first = true\n" if order == "switch-first" else ""
    path = written(tmp_path, head + MARKOV)
    shape = Landscape.named("jump-m:m=2", n=7)
    known = runtime(shape, Algorithm.named(f"mmahh:p=1/n,q=1/3,order={order}"), start="random")
    found = runtime(shape, Algorithm.named(path), start="random")
    assert (found.total, found.variance) == (known.total, known.variance)
    assert found.algorithm == "mine"
    assert found.method == "block-tridiagonal"


def test_success_keeps_the_mode(tmp_path: Path) -> None:
    """Random gradient with tau = 1 begins with a random size, the file with the first one."""
    search = SearchFile.read(written(tmp_path, GRADIENT)).at(5)
    strings = Strings.of_ones([p + 2 if p <= 3 or p == 5 else 5 - p for p in range(6)])
    gradient = strings.gradient([1, 2], 1, lambda gain: Fraction(int(gain > 0)))
    expected = moments(gradient, strings.start("zero", {0: ONE}), strings.best)
    found = runtime(Landscape.named("jump-m:m=2", n=5), search)
    assert (Fraction(str(found.total)), Fraction(str(found.variance))) == expected


def test_a_law_of_the_number_of_bits(tmp_path: Path) -> None:
    """With Metropolis, against bit strings; JSON says the same as TOML."""
    action = {"sizes": {"1": "2/3", "n - 3": "1/3"}, "accept": "metropolis", "base": 4}
    path = written(tmp_path, json.dumps({"name": "two sizes", "actions": [action]}), "mine.json")
    strings = Strings.of_ones([0, 1, 2, 1, 3, 4])
    keeps = metropolis(Fraction(4))
    parts = [(Fraction(2, 3), strings.f, flips(5, 1), keeps)]
    parts.append((Fraction(1, 3), strings.f, flips(5, 2), keeps))
    expected = moments(strings.mixed(parts), strings.start("random"), strings.best)
    shape = Landscape.from_arrays({"F": [0, 1, 2, 1, 3, 4]}, target="F")
    found = runtime(shape, Algorithm.named(path), start="random")
    assert (Fraction(str(found.total)), Fraction(str(found.variance))) == expected
    assert found.algorithm == "two sizes"


def test_levels_and_helpers(tmp_path: Path) -> None:
    positive = written(tmp_path, '[[actions]]\nrate = "1/n"\npositive = true')
    known = runtime(LeadingOnes(9), Algorithm.named("ea-positive:rate=1/n"))
    assert runtime(LeadingOnes(9), Algorithm.named(positive)).total == known.total
    shape = Landscape.named("xdivk:k=2,helpers=onemax", n=6)
    names = list(shape.objectives)
    drawn = "".join(f'[[actions]]\nflips = 1\nof = "{name}"\n' for name in names)
    known = runtime(shape, Algorithm.named("random"))
    assert runtime(shape, Algorithm.named(written(tmp_path, drawn))).total == known.total


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("flips = 1", "its keys are actions, modes, name, switch_first"),
        ('name = "x"', "actions are missing"),
        ("actions = 3", "must be a list of tables"),
        ("[[actions]]\nflip = 1", "actions 1 must be a table; its keys are"),
        ("[[actions]]\nflips = 1\nrate = 0.5", "flips, sizes, or a rate"),
        ("[[actions]]\nflips = 1\npositive = true", "flips, sizes, or a rate"),
        ("[[actions]]\nrate = 0.5", "is not exact"),
        ('[[actions]]\nrate = "1/n"\npositive = 1', "positive must be true or false"),
        ("[[actions]]\nflips = 99", "only n = 9 bits can be flipped"),
        ('[[actions]]\nflips = "n/2"', "is not a number of bits at n = 9"),
        ("[[actions]]\nsizes = [1]", "sizes must be a table"),
        ('[[actions]]\nflips = 1\naccept = "metropolis"', "give a base to metropolis"),
        ('[[actions]]\nflips = 1\naccept = "any"', "is not one of not-worse"),
        ("[[actions]]\nflips = 1\n[[modes]]\ndraws = [2]", "is no distribution over 1"),
        ("[[actions]]\nflips = 1\n[[modes]]\ndraws = 1", "must be a list of 1"),
        ("[[actions]]\nflips = 1\n[[modes]]\nnext = [1]", "draws is missing"),
        ("switch_first = true\n" + GRADIENT, "after_success needs switch_first = false"),
        ("[[actions", "not TOML that can be read"),
    ],
)
def test_wrong_files(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ParameterError, match="algorithm file") as caught:
        runtime(Landscape.onemax(9), Algorithm.named(path))
    assert message in str(caught.value)
    assert str(caught.value).count("algorithm file") == 1


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exact", "--n", "5", "--landscape", "onemax", "--algorithm", "./no.toml"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    path = written(tmp_path, "[[actions]]\nflips = 1")
    line = ["exact", "--n", "5", "--landscape", "onemax", "--algorithm", path, "--json"]
    assert main(line) == 0
    assert json.loads(capsys.readouterr().out)["total"]["rational"] == "137/12"
    assert main([*line, "--r", "2"]) == 2
    assert main(["tune", "--n", "5", "--algorithm", path]) == 2
    assert "leaves nothing to tune" in capsys.readouterr().err
