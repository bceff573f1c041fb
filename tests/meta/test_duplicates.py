"""The search for lines that stand twice, as pyproject.toml configures it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINES = [
    "total = 0",
    "for k in range(10):",
    "    total += k * k",
    "    print(total, k)",
    "total = total % 97",
    "print(total)",
]
IMPORTS = [f"import {name}" for name in ("ast", "csv", "json", "math", "os", "re", "sys")]


@pytest.mark.parametrize(
    ("shared", "found"),
    [(LINES, True), (LINES[:5], False), (IMPORTS, False)],
    ids=["six", "five", "imports"],
)
def test_six_lines_that_stand_twice_are_found(
    shared: list[str], found: bool, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        text = "\n".join([f'"""Module {name}."""', f"{name} = 1", *shared, f"print({name})", ""])
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pylint",
            "--rcfile",
            str(ROOT / "pyproject.toml"),
            *tmp_path.iterdir(),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert ("duplicate-code" in done.stdout) == found, done.stdout + done.stderr
    assert (done.returncode != 0) == found
