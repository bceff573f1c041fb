"""Every code block and every command of README, docs and examples runs as it is printed.

- Blocks in `sh` are command lines of `markov-lrsao`; blocks in `python` are executed. All blocks
  of a document run in its order, in one folder, since later ones use files and names of
  earlier ones.
- `<!-- slow -->` before a block moves it (and those after it) to the slow tests;
  `<!-- only parsed: REASON -->` has its commands parsed but not run.
- A fraction with at least five digits in a comment must be in what the line prints.
- Commands inside sentences and tables are parsed; those of README's table run, too.
"""

from __future__ import annotations

import re
import shlex
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.exceptions import TyperException

import markov_lrsao
from markov_lrsao.cli import main
from markov_lrsao.cli.app import app

ROOT = Path(markov_lrsao.__file__).resolve().parent.parent
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "examples" / "README.md",
]
LANGUAGES = {"sh", "python", "text", "toml", "json"}
FENCE = re.compile(
    r"^(?:<!-- (?P<mark>slow|only parsed: [^>]+) -->\n)?"
    r"```(?P<language>\S*)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
LONG_FRACTION = re.compile(r"\b\d{5,}/\d{2,}\b")
GROUP: Any = typer.main.get_command(app)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, what it contains, and how it is marked."""

    language: str
    body: str
    mark: str

    @property
    def parsed_only(self) -> bool:
        return self.mark.startswith("only parsed")


def blocks(path: Path) -> list[Block]:
    text = path.read_text(encoding="utf-8")
    return [Block(m["language"], m["body"], m["mark"] or "") for m in FENCE.finditer(text)]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


RUNNABLE = [path for path in DOCUMENTS if any(b.language in ("sh", "python") for b in blocks(path))]


def parse(arguments: list[str]) -> None:
    """Parse a command line without running it; raises what the command line would."""
    context = GROUP.make_context("markov-lrsao", list(arguments))
    command = GROUP.commands[arguments[0]]
    command.make_context(arguments[0], arguments[1:], parent=context)


def check_make(words: list[str]) -> None:
    """`make` installs and runs everything: its targets must exist; CI runs `make test` itself."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in words[1:]:
        assert re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE), target


def run_line(line: str, parsed_only: bool) -> None:
    words = shlex.split(line, comments=True)
    if not words:
        return
    if words[0] == "make":
        check_make(words)
        return
    assert words[0] == "markov-lrsao", f"blocks in sh are commands of this project: {line}"
    if parsed_only:
        parse(words[1:])
        return
    shown = StringIO()
    with redirect_stdout(shown):
        assert main(words[1:]) == 0, line
    for fraction in LONG_FRACTION.findall(line.partition(" #")[2]):
        assert fraction in shown.getvalue(), f"{line}: {fraction} is not printed"


def run_document(path: Path, folder: Path, slow: bool) -> None:
    """Run a document's blocks up to the first slow one, or all of them."""
    names: dict[str, Any] = {"__name__": "block"}
    for block in blocks(path):
        if block.mark == "slow" and not slow:
            return
        if block.language == "sh":
            for line in block.body.replace("\\\n", " ").splitlines():
                run_line(line, block.parsed_only)
        elif block.language == "python":
            exec(compile(block.body, name(path), "exec"), names)


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_every_block_says_what_it_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = blocks(path)
    assert len(re.findall(r"^```", text, re.MULTILINE)) == 2 * len(found)
    assert {b.language for b in found} <= LANGUAGES
    marks = re.findall(r"^<!-- (?:slow|only parsed)", text, re.MULTILINE)
    assert len(marks) == sum(bool(b.mark) for b in found), "a mark that belongs to no block"


@pytest.mark.parametrize("path", RUNNABLE, ids=name)
def test_blocks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_document(path, tmp_path, slow=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", [p for p in RUNNABLE if any(b.mark == "slow" for b in blocks(p))], ids=name
)
def test_slow_blocks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_document(path, tmp_path, slow=True)


def test_the_runner_notices_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_line("markov-lrsao exact --n 9 --ell 2   # E[T] = 51740216905/1185192162", False)
    for wrong in (
        "markov-lrsao exact --n 9 --ell 2   # 51740216905/1185192163",
        "markov-lrsao exact --n 9 --ell 3",
        "rm -rf .",
        "make nonsense",
    ):
        with pytest.raises(AssertionError):
            run_line(wrong, False)
    with pytest.raises(TyperException):
        run_line("markov-lrsao exact --m 9", True)


# -- what the documents say about their blocks ---------------------------------------------


def test_what_readme_says_about_its_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    [block] = [b for b in blocks(ROOT / "README.md") if b.language == "python"]
    names: dict[str, Any] = {}
    exec(block.body, names)
    printed = capsys.readouterr().out.splitlines()
    values = names["result"].parameters
    assert f"alpha = {values.alpha}, gamma = {values.gamma}, r = {values.r}" in block.body
    assert [line.split()[0] for line in printed[1:4]] == ["left", "slope", "right"]
    assert (tmp_path / "law.png").read_bytes().startswith(b"\x89PNG")
    assert "# left, slope, right" in block.body


def test_what_readme_says_about_make_run(capsys: pytest.CaptureFixture[str]) -> None:
    recipe = re.search(
        r"^run:.*\n\t\S*markov-lrsao (.*)$",
        (ROOT / "Makefile").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert recipe is not None
    assert main(shlex.split(recipe[1])) == 0
    [said] = re.findall(
        r"`make run` prints \(shortened\):\n\n```text\n(.*?)\n```",
        (ROOT / "README.md").read_text(encoding="utf-8"),
        re.DOTALL,
    )
    printed = {" ".join(line.split()) for line in capsys.readouterr().out.splitlines()}
    lines = [
        " ".join(re.split(r" {3,}(?=[a-z])", line)[0].split())  # without the remarks
        for line in said.splitlines()
        if line.strip()
    ]
    assert len(lines) >= 6
    assert set(lines) <= printed


def test_a_plan_in_the_documents_can_be_read(tmp_path: Path) -> None:
    """Files of landscapes, of algorithms, and plans of sweeps: each by who reads it."""
    from markov_lrsao import Landscape
    from markov_lrsao.model.search_files import SearchFile
    from simulate.sweeps.plan import Plan

    found = [b for path in DOCUMENTS for b in blocks(path) if b.language == "toml"]
    assert found
    for k, block in enumerate(found):
        path = tmp_path / f"{k}.toml"
        path.write_text(block.body, encoding="utf-8")
        if "[objectives" in block.body:
            assert Landscape.named(str(path), n=12)
        elif "[[actions]]" in block.body:
            assert SearchFile.read(path).at(12).actions
        else:
            assert Plan.load(path)


def test_what_exchange_says_about_its_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By hand: e0 = 1 + e0/2 + e1/2 and e1 = 1 + e0/4, so e0 = 4."""
    monkeypatch.chdir(tmp_path)
    block = next(b for b in blocks(ROOT / "docs" / "exchange.md") if "chain_from_matrix" in b.body)
    names: dict[str, Any] = {}
    exec(block.body, names)
    assert names["result"].starts[0].mean.rational == "4"


# -- commands in tables and sentences --------------------------------------------------------

SLOW = (
    *("distribution", "formula", "reference", "simulate"),
    *("replay", "reproduces"),
)
"""Commands of README's table that take more than seconds; so do those outside (H)."""
LONG = "relax"
"""Takes a minute; its help page's example, in the second tier, is shorter."""
ELSEWHERE = {
    "verify": "every verdict at level quick is a slow test",
    "map": "9,900 points; the example of `map --help` is run instead",
    "curve": "200 sizes; the help page's example, a slow test, is the same",
    "figures": "the slow tests of the figures draw them all",
    "report": "the help page's example, a test of the third tier, is the same",
    "cross-validate": "the help page's example, a slow test, is the same",
    "explore": "serves until it is interrupted; tests/explore starts and asks it",
}
CHAIN = (
    "@type: DTMC\n@nr_states\n2\n@model\nstate 0 init\n\taction 0\n\t\t0 : 2/3\n"
    "\t\t1 : 1/3\nstate 1 LABEL\n\taction 0\n\t\t1 : 1\n"
)


def spoken(path: Path) -> list[str]:
    """Return the commands in backquotes outside of blocks."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    return [c for c in re.findall(r"`markov-lrsao ([^`]+)`", text) if not c.startswith("--")]


def table() -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^\| `markov-lrsao ([^`]+)` \|", text, re.MULTILINE)


@pytest.mark.parametrize("path", [p for p in DOCUMENTS if spoken(p)], ids=name)
def test_commands_in_sentences_can_be_parsed(path: Path) -> None:
    for line in spoken(path):
        words = shlex.split(re.sub(r"[\[\]]", "", line.partition(" > ")[0]))
        if len(words) > 1:
            parse(words)
        else:
            assert words[0] in GROUP.commands


def test_statements_named_in_the_documents_exist() -> None:
    from proofs_check import find

    lines = [
        line
        for path in DOCUMENTS
        for line in spoken(path)
        if line.startswith("verify ") and "--claim" not in line
    ]
    assert len(lines) > 10
    for line in lines:
        for word in shlex.split(line)[1:]:
            if not word.startswith("--"):
                assert find(word).id == word


def test_readme_names_every_command() -> None:
    assert {line.split()[0] for line in table()} == set(GROUP.commands)


def place(line: str, folder: Path) -> list[str]:
    """Put the files of a command of README's table into a folder; return the command."""
    (folder / "PLAN").write_text("n = [9]\nell = [2]\nruns = 20\nseed = 1\n", encoding="utf-8")
    (folder / "PLAN").rename(folder / "PLAN.toml")
    if line.startswith("solve"):
        (folder / "FILE.drn").write_text(CHAIN, encoding="utf-8")
    if line.startswith("replay"):
        assert main(["verify", "Lemma 5", "--save", str(folder)]) == 0
        (folder / "lemma-5.json").rename(folder / "FILE.drn")
    return [{"FILE": "FILE.drn", "PLAN": "PLAN.toml"}.get(w, w) for w in shlex.split(line)]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(line, marks=pytest.mark.exhaustive)
        if line.startswith(LONG)
        else pytest.param(line, marks=pytest.mark.slow)
        if line.startswith(SLOW) or "--outside-h" in line
        else line
        for line in table()
        if line.split()[0] not in ELSEWHERE
    ],
)
def test_commands_of_readme_run(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = place(line, tmp_path)
    assert main(arguments) == 0
    assert capsys.readouterr().out


def test_examples_print_the_lines_their_table_promises() -> None:
    """The scripts themselves run in tests/examples; here only that each has a row."""
    text = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    scripts = sorted(p.name for p in (ROOT / "examples").glob("[0-9]*.py"))
    assert re.findall(r"^\| \[(\S+\.py)\]", text, re.MULTILINE) == scripts
