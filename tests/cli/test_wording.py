"""Python's errors name arguments, the command line's name options."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import markov_lrsao
from markov_lrsao import Landscape, chain_from_rows, reach, runtime, verify
from markov_lrsao.cli import main
from markov_lrsao.cli.wording import in_options
from markov_lrsao.errors import LrsaoError, StateSpaceTooLargeError
from markov_lrsao.regimes.grid import MapPlan

ROOT = Path(markov_lrsao.__file__).resolve().parent.parent
BELOW = [
    path
    for package in ("markov_lrsao", "simulate", "proofs_check")
    for path in sorted((ROOT / package).rglob("*.py"))
    if "cli" not in path.parts
]


def raised(path: Path) -> Iterator[str]:
    """Yield the texts of `raise` and of what makes errors, parts of f-strings joined by X."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        call = node.exc if isinstance(node, ast.Raise) else node
        if isinstance(call, ast.Call) and (
            isinstance(node, ast.Raise) or getattr(call.func, "id", "").endswith("Error")
        ):
            for argument in call.args:
                parts = [
                    part.value if isinstance(part, ast.Constant) else "X"
                    for part in (
                        argument.values if isinstance(argument, ast.JoinedStr) else [argument]
                    )
                ]
                yield "".join(str(part) for part in parts)


@pytest.mark.parametrize("path", BELOW, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_error_below_the_command_line_names_an_option(path: Path) -> None:
    for text in raised(path):
        assert not re.search(r"(^|\s)--[a-z]", re.sub(r"`markov-lrsao [^`]*`", "", text)), text


def test_the_guard_sees_an_option(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text('def f(x):\n    raise ParameterError(f"{x} is too small; raise --max-states")\n')
    with pytest.raises(AssertionError):
        test_no_error_below_the_command_line_names_an_option(bad)


def test_every_argument_that_an_error_names_has_its_option() -> None:
    named = {
        found[0]
        for path in BELOW
        for text in raised(path)
        for found in re.finditer(r"`[a-z_]+(\(\)|=[^`]*)?`", text)
    }
    assert len(named) >= 10
    assert not {n for n in named if in_options(n, "exact") == in_options(n, "sweep") == n}


@pytest.mark.parametrize(
    ("python", "command", "terminal"),
    [
        ("raise `max_states`", "exact", "raise --max-states"),
        ("raise `max_states`", "budget", "take a smaller n"),
        ("use `merge=True`", "exact", "use merged patterns (leave out --unmerged)"),
        ('use `method="joint"`', "exact", "use --method joint"),
        ("`outside_h=True` computes anyway", "map", "--outside-h computes anyway"),
        ('use `field="exact"`', "solve", "use --exact"),
        ('use `field="exact"`', "exact", "use exact arithmetic (leave out --float)"),
        ("estimate with `simulate()`", "exact", "estimate with `markov-lrsao simulate`"),
        ("name one with `start`", "solve", "name one with --from STATE"),
        ("another file with `path`", "sweep", "another file with --out"),
        ("`nonsense`, `nonsense=1`, `dask scheduler`", "exact", None),
    ],
)
def test_translations(python: str, command: str, terminal: str | None) -> None:
    assert in_options(python, command) == (python if terminal is None else terminal)


def test_python_names_arguments() -> None:
    nine = Landscape.jump(9, 2)
    with pytest.raises(StateSpaceTooLargeError) as error:
        runtime(nine, method="joint", max_states=10)
    assert "raise `max_states`" in str(error.value)
    assert 'use `method="crossing"`' in str(error.value)
    with pytest.raises(StateSpaceTooLargeError, match="use `merge=True`, or raise `max_states`"):
        runtime(Landscape.jump(60, 2), method="joint", merge=False)
    with pytest.raises(LrsaoError, match="`r_relative` or `r`"):
        MapPlan.of(9, 2, "0.8")
    with pytest.raises(LrsaoError, match="keep `r_relative` within 0 and 1"):
        MapPlan.of(9, 2, "0.8", r_relative="2")
    with pytest.raises(LrsaoError, match=r"`all_statements\(\)` lists all"):
        verify("Lemma 99")
    chain = chain_from_rows([{1: 1}, {1: 1}], start=[])
    with pytest.raises(LrsaoError, match="name one with `start`"):
        reach(chain, chain.at_positions([1]))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("exact --n 9 --ell 2 --method joint --max-states 10", "raise --max-states"),
        ("exact --n 9 --ell 2 --method joint --max-states 10", "or use --method crossing"),
        ("exact --n 60 --ell 2 --method joint --unmerged", "(leave out --unmerged), or raise"),
        ("exact --n 9 --ell 2 --r 2", "--outside-h computes anyway"),
        ("map --n 9 --ell 2 --alpha 0.8 --r-relative 2", "--r-relative within 0 and 1"),
        ("verify Lemma-99", "`markov-lrsao verify --list` lists all"),
        ("verify --markdown no/such/folder.md", "--markdown no/such/folder.md: the folder"),
    ],
)
def test_the_command_line_names_options(
    line: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line.split()) == 2
    error = capsys.readouterr().err
    assert said in error
    assert not re.search(r"`[a-z_]+(=[^`]*|\(\))?`", error)
