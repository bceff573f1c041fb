"""The glossary of docs/conventions.md: sorted, each word once, and used where it says."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINE = re.compile(r"\| ([a-z ]+) \| (.+) \| `([a-z0-9_.]+)` \|")


def glossary() -> list[tuple[str, str, str]]:
    text = (ROOT / "docs" / "conventions.md").read_text(encoding="utf-8")
    section = text.partition("## Words")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    found = [LINE.fullmatch(line) for line in rows[1:]]
    assert all(found), [r for r, f in zip(rows[1:], found, strict=True) if f is None]
    return [(m[1], m[2], m[3]) for m in found if m is not None]


WORDS = glossary()


def uses(word: str, text: str) -> bool:
    """Whether a text has the word, alone or as a part of a name, in the singular or plural.

    >>> uses("class", "class_of"), uses("batch", "Batches"), uses("cut", "execute")
    (True, True, False)
    """
    plural = rf"{word[:-1]}(?:y|ies)" if word.endswith("y") else rf"{word}(?:e?s)?"
    pattern = plural.replace("automaton(?:e?s)?", "automat(?:on|a)").replace(" ", r"[ _]")
    pattern = pattern.replace("erratum(?:e?s)?", "errat(?:um|a)")
    return re.search(rf"(?<![a-z]){pattern}(?![a-z])", text, re.IGNORECASE) is not None


def test_words_are_sorted_and_there_once() -> None:
    words = [word for word, _, _ in WORDS]
    assert len(words) > 50
    assert words == sorted(set(words))


@pytest.mark.parametrize(("word", "meaning", "module"), WORDS, ids=[w for w, _, _ in WORDS])
def test_a_word_lives_where_the_glossary_says(word: str, meaning: str, module: str) -> None:
    path = ROOT / Path(*module.split("."))
    file = path.with_suffix(".py") if path.with_suffix(".py").is_file() else path / "__init__.py"
    text = file.read_text(encoding="utf-8")
    code = "\n".join(line for line in text.splitlines() if not line.startswith(("import", "from")))
    assert uses(word, code), f"{module} does not use the word {word!r}"


def test_the_search_for_words_refuses_others() -> None:
    assert not uses("cell", "cancelled")
    assert not uses("row", "throw")
    assert uses("agent state", "the agent states")
    assert uses("erratum", "ERRATA")


def names_in(code: str) -> set[str]:
    """Return the names of variables, attributes, arguments, functions and classes."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        for field in ("id", "attr", "arg", "name"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                found |= {value.lower().strip("_"), value.lower().strip("_").removesuffix("s")}
    return found


def test_names_are_found_wherever_they_stand() -> None:
    code = "class Cell:\n    def f(self, block=1):\n        self._tables = [x for x in blocks]"
    assert {"cell", "f", "block", "tables", "x"} <= names_in(code)


def test_words_with_another_meaning_have_left() -> None:
    """Words that once had several meanings, and the rooms where they may not come back."""
    gone = {
        "block": ["simulate/sweeps", "simulate/statistics", "markov_lrsao/chains/solvers"],
        "cell": ["simulate/statistics", "markov_lrsao/regimes", "markov_lrsao/figures"],
        "tables": ["simulate/runs"],
    }
    for word, rooms in gone.items():
        for room in rooms:
            for path in sorted((ROOT / room).rglob("*.py")):
                assert word not in names_in(path.read_text(encoding="utf-8")), path


ROOMS = sorted(
    path.parent
    for package in ("markov_lrsao", "simulate", "proofs_check")
    for path in (ROOT / package).glob("*/__init__.py")
)


@pytest.mark.parametrize("room", ROOMS, ids=[str(room.relative_to(ROOT)) for room in ROOMS])
def test_a_room_tells_what_is_in_it(room: Path) -> None:
    """The docstring of a room is more than a title, and names nothing that is not there."""
    code = (room / "__init__.py").read_text(encoding="utf-8")
    text = ast.get_docstring(ast.parse(code))
    assert text is not None
    assert len(text.splitlines()) > 2
    known = {path.stem for path in (*room.iterdir(), *ROOT.iterdir())}
    named = set(re.findall(r"(?<!`)`([a-z_0-9]+)`(?!`)", text))
    assert not named - known - names_in(code)
