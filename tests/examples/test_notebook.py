"""The notebook is what its scripts make it, outputs included."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from base64 import b64decode
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_notebook", EXAMPLES / "make_notebook.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def committed() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((EXAMPLES / "tour.ipynb").read_text(encoding="utf-8"))
    return content


@pytest.mark.slow
def test_the_committed_notebook_is_the_generated_one(maker: ModuleType) -> None:
    """Runs every cell, from top to bottom in one namespace, in a process of its own.

    Figures that other tests have left open would be taken for a cell's.
    """
    command = [sys.executable, str(EXAMPLES / "make_notebook.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "up to date\n"), done.stderr
    text = (EXAMPLES / "tour.ipynb").read_text(encoding="utf-8")
    assert text == maker.as_text(json.loads(text))


def test_the_tour_shows_plots(committed: dict[str, Any]) -> None:
    drawn = [o["data"] for c in committed["cells"] for o in c.get("outputs", ()) if "data" in o]
    assert len(drawn) >= 6
    for data in drawn:
        assert b64decode(data["image/png"]).startswith(b"\x89PNG")


def test_every_line_of_code_is_in_a_cell(maker: ModuleType, committed: dict[str, Any]) -> None:
    cells = ["".join(cell["source"]) for cell in committed["cells"] if cell["cell_type"] == "code"]
    lines = {line for cell in cells for line in cell.splitlines()}
    for script in maker.scripts():
        after = script.read_text(encoding="utf-8").split('"""', 2)[2]
        code = [line for line in after.splitlines() if line and not line.startswith("# ")]
        assert code
        assert set(code) <= lines


def test_the_format_is_valid(committed: dict[str, Any]) -> None:
    """What nbformat 4.5 asks for."""
    assert (committed["nbformat"], committed["nbformat_minor"]) == (4, 5)
    assert committed["metadata"]["kernelspec"]["name"] == "python3"
    ids = [cell["id"] for cell in committed["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in ids)
    counts = []
    for cell in committed["cells"]:
        expected = {"cell_type", "id", "metadata", "source"}
        if cell["cell_type"] == "code":
            expected |= {"execution_count", "outputs"}
            counts.append(cell["execution_count"])
            fields = {
                "stream": {"name", "output_type", "text"},
                "display_data": {"data", "metadata", "output_type"},
            }
            assert all(set(o) == fields[o["output_type"]] for o in cell["outputs"])
        assert set(cell) == expected
        assert cell["source"]
    assert counts == list(range(1, len(counts) + 1))
    titles = [cell["source"][0] for cell in committed["cells"] if cell["source"][0][:2] == "##"]
    assert [title.split(".")[0] for title in titles] == [
        f"## {k}" for k in range(1, len(titles) + 1)
    ]


def test_nothing_about_the_machine_is_stored(committed: dict[str, Any]) -> None:
    printed = "".join(
        line
        for cell in committed["cells"]
        for o in cell.get("outputs", ())
        for line in o.get("text", ())
    )
    assert "51740216905/1185192162" in printed
    assert not re.search(r"/tmp|/home|/root|seconds|Traceback|0x[0-9a-f]{6}", printed)


def test_a_failing_cell_is_an_error(maker: ModuleType) -> None:
    with pytest.raises(AssertionError):
        maker.run("assert 1 + 1 == 3", "cell", {})
    assert maker.run("print(1 + 1)", "cell", {}) == "2\n"


def test_a_script_without_title_is_refused(maker: ModuleType) -> None:
    with pytest.raises(ValueError, match="docstring"):
        maker.split("x = 1\n")
