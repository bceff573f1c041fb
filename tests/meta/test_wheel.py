"""The wheel works where the checkout is not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel as pip does, in isolation unless the build backend is installed."""
    to = tmp_path_factory.mktemp("wheel")
    isolation = ["--no-build-isolation"] if find_spec("hatchling") else []
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        *isolation,
        "-w",
        str(to),
        str(ROOT),
    ]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == 0, result.stderr
    (path,) = to.glob("*.whl")
    return path


def without_python_settings() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}


def test_contents(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info" not in name}
    assert tops == {"markov_lrsao", "simulate", "proofs_check"}
    assert "markov_lrsao/py.typed" in names
    for template in ("page", "macros", "findings", "statements"):
        assert f"markov_lrsao/report/templates/{template}.html" in names
    assert any(name.endswith("entry_points.txt") for name in names)


@pytest.mark.slow
def test_outside_the_checkout(wheel: Path, tmp_path: Path) -> None:
    with ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    code = (
        "import markov_lrsao; from markov_lrsao.cli import main; "
        "from markov_lrsao.report.page import templates; print(markov_lrsao.__file__); "
        "assert templates().list_templates(); main(['--version']); "
        "main(['exact', '--n', '9', '--ell', '2', '--json'])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
        env=without_python_settings() | {"PYTHONPATH": str(tmp_path / "site")},
    )
    where, version, answer = result.stdout.splitlines()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert Path(where).is_relative_to(tmp_path)
    assert version == f"markov-lrsao {project['version']}"
    assert json.loads(answer)["total"]["rational"] == "51740216905/1185192162"


@pytest.mark.slow
def test_console_script_in_a_fresh_environment(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True, timeout=120)
    bin_ = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    subprocess.run(
        [str(bin_ / "python"), "-m", "pip", "install", "--no-deps", "--quiet", str(wheel)],
        check=True,
        timeout=120,
        env=without_python_settings(),
    )
    # The dependencies come from the environment that runs the tests.
    site = next(p for p in sys.path if p.endswith("site-packages"))
    target = next((tmp_path / "venv").rglob("site-packages"))
    (target / "dependencies.pth").write_text(site + "\n")
    result = subprocess.run(
        [str(bin_ / "markov-lrsao"), "exact", "--n", "9", "--ell", "2", "--json"],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
        env=without_python_settings(),
    )
    assert json.loads(result.stdout)["total"]["rational"] == "51740216905/1185192162"
