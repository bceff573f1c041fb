"""Published numbers: the page is what the command makes, and a wrong number is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import markov_lrsao
from markov_lrsao.answers.published import CLAIMS, page, reproduce

PAGE = Path(markov_lrsao.__file__).resolve().parent.parent / "docs" / "reproduces.md"


@pytest.mark.slow
def test_the_page_is_what_the_command_makes() -> None:
    found = reproduce()
    assert all(one.agrees for one in found), [one for one in found if not one.agrees]
    assert page(found) == PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("fraction", "414623/1155"),
        ("float", "449.42303371"),
        ("runs", "10000.00"),
        ("order", "4"),
        ("constant", "0.85913"),
    ],
)
def test_a_wrong_number_does_not_agree(kind: str, wrong: str) -> None:
    of_kind = [c for c in CLAIMS if c.kind == kind]
    named = {
        "fraction": "rls",
        "float": "rls",
        "runs": "ea:rate=1/n",
        "order": "mahh:p=1/n",
        "constant": "ea:rate=1/n",
    }[kind]
    claim = [c for c in of_kind if c.algorithm == named][-1 if kind == "runs" else 0]
    assert reproduce([claim])[0].agrees
    assert not reproduce([replace(claim, theirs=wrong)])[0].agrees
