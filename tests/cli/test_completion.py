"""Shell completion: what bash, zsh and fish are told when the user presses Tab."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer.main

from markov_lrsao.cli import main
from markov_lrsao.cli.app import app

COMMANDS = set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
SHELLS = ["bash", "zsh", "fish"]
Run = Callable[[dict[str, str]], str]


def variables(shell: str, line: str) -> dict[str, str]:
    """Return what a shell's script puts into the environment for a command line."""
    if shell == "bash":
        words = [word.replace("\\_", "\\ ") for word in line.split(" ")]
        return {
            "_MARKOV_LRSAO_COMPLETE": "complete_bash",
            "COMP_WORDS": "\n".join(words),
            "COMP_CWORD": str(len(words) - 1),
        }
    return {
        "_MARKOV_LRSAO_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Answer the shell in this process; it asks through the environment."""

    def answer(extra: dict[str, str]) -> str:
        monkeypatch.delenv("COMP_WORDS", raising=False)  # of an earlier question
        for name, value in {"COLUMNS": "80", **extra}.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit) as end:
            main([])
        out, err = capsys.readouterr()
        assert (end.value.code, err) == (0, "")
        return out

    return answer


def offered(run: Run, shell: str, line: str) -> list[str]:
    """Return the words that a shell offers after `line`."""
    out = run(variables(shell, line))
    if shell == "zsh":
        if out.strip() == "_files":
            return []
        inside = re.fullmatch(r"_arguments '\*: :\(\((.*)\)\)'\n", out, re.DOTALL)
        assert inside
        return re.findall(r'^"([^"]*)"', inside[1], re.MULTILINE)
    return [row.split("\t")[0] for row in out.splitlines() if row]  # fish: word, tab, description


METHODS = {"auto", "joint", "crossing", "segments", "dense"} | {
    *("birth-death", "block-tridiagonal", "back-substitution"),
}
CASES = [
    ("markov-lrsao ex", {"exact", "explore", "export"}),
    ("markov-lrsao exact --method ", METHODS),
    ("markov-lrsao exact --algorithm e", {"ea", "ea-positive", "earl"}),
    ("markov-lrsao exact --method c", {"crossing"}),
    ("markov-lrsao distribution --method ", {"auto", "powers", "inversion", "forward"}),
    ("markov-lrsao export --format p", {"prism", "prism-language"}),
    ("markov-lrsao states --part ", {"left", "slope", "right", "all"}),
    ("markov-lrsao sites --landscape j", {"jump", "jump-open", "jump-m"}),
    ("markov-lrsao curve --ell ", {"2", "cbrt", "sqrt", "half"}),
    ("markov-lrsao sweep --kernel ", {"event", "step"}),
    ("markov-lrsao simulate --ar", {"--arithmetic"}),
    ("markov-lrsao simulate --arithmetic ", {"exact", "float64"}),
    ("markov-lrsao formula phase", {"phase1", "phase2", "phase3"}),
    ("markov-lrsao verify --level ", {"quick", "full"}),
    ("markov-lrsao figures --only earl-2", {"earl-2", "earl-2-log"}),
    ("markov-lrsao exact --landscape some/file", set()),
]


@pytest.mark.parametrize(("line", "expected"), CASES, ids=[line[13:] for line, _ in CASES])
def test_values_are_completed(line: str, expected: set[str], run: Run) -> None:
    assert set(offered(run, "bash", line)) == expected


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_completes(shell: str, run: Run) -> None:
    assert set(offered(run, shell, "markov-lrsao ")) == COMMANDS
    assert set(offered(run, shell, "markov-lrsao exact --method ")) == METHODS
    assert {"--n", "--ell", "--json"} <= set(offered(run, shell, "markov-lrsao exact --"))
    assert offered(run, shell, "markov-lrsao solve ") == []  # names of files


def test_statements_have_spaces(run: Run) -> None:
    """Zsh and fish quote by themselves; for bash they are escaped, but inside quotes."""
    lemmas = {"Lemma 10", "Lemma 12", "Lemma 14", "Lemma 15", "Lemma 17"}
    for shell in ("zsh", "fish"):
        assert lemmas <= set(offered(run, shell, 'markov-lrsao verify "Lemma 1'))
    quoted = variables("bash", "markov-lrsao verify x")
    quoted["COMP_WORDS"] = 'markov-lrsao\nverify\n"Lemma 1'
    assert lemmas <= set(run(quoted).splitlines())
    for start in ("L", "Le", "Lemma\\ 1"):
        words = offered(run, "bash", f"markov-lrsao verify {start}".replace("\\ ", "\\_"))
        assert lemmas <= {shlex.split(word)[0] for word in words}


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts(shell: str, tmp_path: Path, run: Run) -> None:
    script = run({"_MARKOV_LRSAO_COMPLETE": f"source_{shell}"})
    assert f"_MARKOV_LRSAO_COMPLETE=complete_{shell}" in script
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed: its script is not parsed")
    path = tmp_path / "script"
    path.write_text(script)
    parsed = subprocess.run(
        [shell, "-n", str(path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (parsed.returncode, parsed.stderr) == (0, "")


def in_shell(shell: str, commands: str, home: Path) -> str:
    """Run commands in a real shell that has an empty home and finds `markov-lrsao`."""
    scripts = Path(sys.executable).parent
    if shutil.which(shell) is None or not (scripts / "markov-lrsao").is_file():
        pytest.skip(f"{shell} or the console script markov-lrsao is not installed")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "ZDOTDIR"))}
    result = subprocess.run(
        [shell, "-c", commands],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment | {"HOME": str(home), "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"},
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


INSTALLED = {
    "bash": ".bash_completions/markov-lrsao.sh",
    "zsh": ".zfunc/_markov-lrsao",
    "fish": ".config/fish/completions/markov-lrsao.fish",
}


@pytest.mark.parametrize("shell", SHELLS)
def test_install_and_show(shell: str, tmp_path: Path) -> None:
    """The options find out which shell they are in: its process is their parent."""
    out = in_shell(shell, "markov-lrsao --install-completion; true", tmp_path)
    assert f"{shell} completion installed" in out
    assert "\x1b" not in out
    written = (tmp_path / INSTALLED[shell]).read_text()
    shown = in_shell(shell, "markov-lrsao --show-completion; true", tmp_path)
    assert shown.strip() == written.strip()


def test_tab_in_bash(tmp_path: Path) -> None:
    out = in_shell(
        "bash",
        """
        eval "$(markov-lrsao --show-completion; true)"
        COMP_WORDS=(markov-lrsao exact --method c) COMP_CWORD=3
        _markov_lrsao_completion markov-lrsao
        echo "${COMPREPLY[@]}"
        complete -p markov-lrsao
        true""",
        tmp_path,
    )
    assert out.splitlines()[0] == "crossing"
    assert "-F _markov_lrsao_completion" in out


def test_tab_in_fish(tmp_path: Path) -> None:
    in_shell("fish", "markov-lrsao --install-completion; true", tmp_path)
    out = in_shell("fish", 'complete -C "markov-lrsao exact --method "; true', tmp_path)
    assert out.split() == ["auto", "crossing", "joint"]
    words = in_shell("fish", 'complete -C "markov-lrsao e"; true', tmp_path).splitlines()
    assert [line.split("\t")[0] for line in words] == ["exact", "export"]
