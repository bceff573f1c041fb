"""Chains that the exchange and solver tests share, and Storm as a peer."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from hypothesis import strategies as st

from markov_lrsao import Algorithm, Landscape, MarkovChain, Parameters, StepLaw
from markov_lrsao.chains.sources import chain_from_rows
from markov_lrsao.exchange.models import model_chain


@cache
def jump(n: int, ell: int, *, merge: bool = True, part: str | None = None) -> MarkovChain:
    return model_chain(jump_law(n, ell), part, merge=merge)


def jump_law(n: int, ell: int) -> StepLaw:
    return StepLaw.of(Landscape.jump(n, ell), Algorithm.lrsao(Parameters.paper(n)))


def reflected_walk(top: int) -> MarkovChain:
    """The walk on 0..top, up 1/3, down 2/3, at 0 always up: E = 4 * 2^top - 3 top - 4."""
    rows: list[dict[int, object]] = [{1: 1}]
    rows += [{k - 1: "2/3", k + 1: "1/3"} for k in range(1, top)]
    chain = chain_from_rows([*rows, {top: 1}])
    return chain.with_labels({"top": np.array([top])})


@st.composite
def chains(draw: st.DrawFn, largest: int = 12) -> MarkovChain:
    """Random chains with a label "goal", several start states now and then."""
    size = draw(st.integers(1, largest))
    weights = st.dictionaries(st.integers(0, size - 1), st.integers(1, 7), min_size=1, max_size=4)
    rows = []
    for _ in range(size):
        row = draw(weights)
        rows.append({j: Fraction(w, sum(row.values())) for j, w in row.items()})
    start = draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=2))
    goal = draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=3, unique=True))
    return chain_from_rows(rows, start=start).with_labels({"goal": np.array(goal)})


def same(a: MarkovChain, b: MarkovChain) -> None:
    """Assert that two chains are equal in everything a file must keep."""
    assert a.size == b.size
    assert a.exact_rows() == b.exact_rows()
    assert a.start.tolist() == b.start.tolist()
    for name in {*a.labels, *b.labels} - {"deadlock"}:
        assert a.labelled(name).tolist() == b.labelled(name).tolist()


def storm() -> Any:
    """Return the model checker, or skip with its name where it is not installed."""
    return pytest.importorskip("stormpy", reason="stormpy is not installed")


def storm_values(
    path: Path, formula: str, states: Sequence[int], *, exact: bool
) -> list[fmpq | float]:
    """Return Storm's answers; infinity is the float inf."""
    stormpy = storm()
    load = stormpy.build_model_from_drn[stormpy.Rational] if exact else stormpy.build_model_from_drn
    model = load(str(path))
    result = stormpy.model_checking(model, stormpy.parse_properties(formula)[0])
    return [storm_number(result.get_value(i), exact=exact) for i in states]


def storm_number(value: object, *, exact: bool) -> fmpq | float:
    text = str(value)
    if not exact or text in ("inf", "-1/0", "1/0"):
        return float("inf") if "/" in text else float(text)
    above, _, below = text.partition("/")
    return fmpq(int(above), int(below or 1))
