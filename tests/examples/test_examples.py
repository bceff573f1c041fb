"""Every example runs from anywhere, prints what is promised and asserts its claims."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(p for p in EXAMPLES.glob("*.py") if p.name != "make_notebook.py")
LISTED = dict(
    re.findall(
        r"^\| \[\S+\]\((\S+\.py)\) \| [^|]+ \| `([^`]+)` \|$",
        (EXAMPLES / "README.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
)


def stored_output(script: Path) -> str:
    """Return what the notebook has stored for the cells of a script."""
    cells = json.loads((EXAMPLES / "tour.ipynb").read_text(encoding="utf-8"))["cells"]
    name = re.compile(re.escape(script.stem.replace("_", "-")) + "-[0-9]+")
    return "".join(
        line
        for cell in cells
        if name.fullmatch(cell["id"])
        for output in cell.get("outputs", ())
        for line in output.get("text", ())
    )


def test_numbers_have_no_gaps() -> None:
    assert len(SCRIPTS) >= 10
    assert [p.name[:3] for p in SCRIPTS] == [f"{k:02}_" for k in range(1, len(SCRIPTS) + 1)]


def test_the_readme_lists_exactly_the_scripts() -> None:
    assert list(LISTED) == [p.name for p in SCRIPTS]
    links = re.findall(r"\]\(([^)]+)\)", (EXAMPLES / "README.md").read_text(encoding="utf-8"))
    assert all((EXAMPLES / link).is_file() for link in links)


LONG = {"02", "03", "05", "06", "07", "08", "10", "11"}
"""These take seconds each."""


@pytest.mark.parametrize(
    "script",
    [pytest.param(p, marks=pytest.mark.slow) if p.stem[:2] in LONG else p for p in SCRIPTS],
    ids=lambda p: p.stem,
)
def test_runs_from_anywhere(script: Path, tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    result = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=300,
        check=False,
        env=environment,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert LISTED[script.name] in result.stdout.splitlines()
    assert result.stdout == stored_output(script), "run examples/make_notebook.py"
    assert result.stdout.isascii()
    assert all(line == line.rstrip() for line in result.stdout.splitlines())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.stem)
def test_is_short_and_asserts_its_claims(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert len(text.splitlines()) <= 100
    assert ast.get_docstring(tree)
    assert sum(isinstance(node, ast.Assert) for node in ast.walk(tree)) >= 3
    assert text.count("\n# %% ") >= 3


def test_a_wrong_claim_fails(tmp_path: Path) -> None:
    """The check above sees a script whose claim is wrong."""
    text = SCRIPTS[0].read_text(encoding="utf-8")
    assert "51740216905/1185192162" in text
    bad = tmp_path / "bad.py"
    bad.write_text(text.replace("51740216905/1185192162", "51740216906/1185192162"))
    result = subprocess.run(
        [sys.executable, str(bad)], capture_output=True, text=True, timeout=120, check=False
    )
    assert result.returncode == 1
    assert "AssertionError" in result.stderr


def test_examples_are_in_the_source_distribution() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "examples" in settings["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
