"""docs/coverage.md names every statement, and only statements that exist, at their own lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

import proofs_check
from proofs_check import all_statements

PAGE = Path(proofs_check.__file__).resolve().parent.parent / "docs" / "coverage.md"


@dataclass(frozen=True)
class Row:
    """One line of the page: a sentence, its source lines, the statements or why there are none."""

    sentence: str
    lines: frozenset[int]
    statements: tuple[str, ...]
    remark: str


def _lines(text: str) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        assert int(first) <= int(last or first)
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)


def _rows(text: str) -> list[Row]:
    rows = []
    for line in text.splitlines():
        if not line.startswith("|") or line.startswith(("|---", "| sentence")):
            continue
        sentence, lines, last = (cell.strip() for cell in line.strip("|").split("|"))
        names = tuple(x for x in re.findall(r"`([^`]+)`", last) if not x.startswith("markov-"))
        rows.append(Row(sentence, _lines(lines), names, re.sub(r"`[^`]+`", "", last).strip(" ,;")))
    return rows


ROWS = _rows(PAGE.read_text(encoding="utf-8"))


def test_every_statement_is_named_and_every_name_is_a_statement() -> None:
    named = {name for row in ROWS for name in row.statements}
    assert named == set(all_statements())


def test_what_is_not_checked_says_why() -> None:
    assert len(ROWS) > 80
    for row in ROWS:
        assert row.sentence
        assert row.statements or re.match(r"not checked( here)?: .{5,}", row.remark), row.sentence


@pytest.mark.parametrize("name", [s for s, x in all_statements().items() if x.where[0] != "("])
def test_a_statement_stands_at_its_own_lines(name: str) -> None:
    here = frozenset[int]().union(*(row.lines for row in ROWS if name in row.statements))
    where = re.sub(r"\([^)]*\)", "", all_statements()[name].where).replace(";", ",")
    begins = {int(part.strip().partition("-")[0]) for part in where.split(",")}
    assert begins <= here


def test_a_row_that_is_wrong_is_seen() -> None:
    [row] = _rows("| a claim | 5-7, 9 | `Lemma 2`, `No such`; `markov-lrsao figures` |")
    assert row.lines == {5, 6, 7, 9}
    assert row.statements == ("Lemma 2", "No such")
    with pytest.raises(AssertionError):
        _rows("| a claim | 7-5 | `Lemma 2` |")
