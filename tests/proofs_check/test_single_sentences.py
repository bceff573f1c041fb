"""Statements about single sentences: a false change is refuted, a weaker form is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from _pytest.mark import ParameterSet
from sentences import FALSE, TRUE

from markov_lrsao.model.algorithm import Algorithm, Reward
from markov_lrsao.model.landscape import JUMP_OPEN
from markov_lrsao.model.parameters import Parameters
from proofs_check import Setting, Verdict, verify

QUICK = Setting(second_solver=False)
LIGHT = {
    "Plateau sizes",
    "Plateau sizes, counted",
    "Values",
    "Shapes of the objectives",
    "State space",
    "Largest reward",
    "(R) and Algorithm 1",
    "Hyper-parameters of section 6",
    "Hyper-parameters, any alpha",
    "Sum and maximum",
    "EA+RL at l = sqrt n",
    "Critical exponent",
    "Large plateaus",
}
"""Statements whose checks need no induction; the others are in the second tier."""


def _tiers(changes: list[tuple[str, ...]]) -> list[ParameterSet]:
    return [pytest.param(*c, marks=[] if c[0] in LIGHT else pytest.mark.slow) for c in changes]


@pytest.mark.parametrize(("name", "key", "text"), _tiers(FALSE))
def test_a_false_change_is_refuted_with_a_witness(name: str, key: str, text: str) -> None:
    [result] = verify([name], QUICK.mutate(terms={(name, key): text}))
    assert result.verdict is Verdict.REFUTED
    assert result.counterexamples


@pytest.mark.parametrize(("name", "key", "text", "verdict"), _tiers(TRUE))
def test_a_weaker_form_is_kept(name: str, key: str, text: str, verdict: str) -> None:
    [result] = verify([name], QUICK.mutate(terms={(name, key): text}))
    assert result.verdict.value == verdict


def _without_penalty(parameters: Parameters) -> Algorithm:
    return replace(Algorithm.lrsao(parameters), equal=Reward())


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("Lemma 9, position l", {"family": JUMP_OPEN}),  # L+ is rejected at l
        ("Figure 2", {"family": JUMP_OPEN}),
        ("Reaching n-l+1", {"algorithm": _without_penalty}),  # phase 3 may fall below n-l-1
        ("Time between excursions", {"algorithm": _without_penalty}),
    ],
)
def test_an_argument_in_words_stands_on_what_the_model_does(
    name: str, model: dict[str, Any]
) -> None:
    [result] = verify([name], QUICK.mutate(**model))
    assert result.verdict in (Verdict.UNKNOWN, Verdict.REFUTED)
