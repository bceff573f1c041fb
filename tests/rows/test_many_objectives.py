"""Automata of rows with many objectives: what is given up there is never claimed wrongly."""

from __future__ import annotations

import time

import numpy as np
import pytest
from coupling import law_of, random_run
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import jump_law
from oracles import Oracle, paper_objectives, paper_parameters
from plateaus import regions
from random_oracles import oracles

from markov_lrsao.exact.intervals import UNKNOWN
from markov_lrsao.rows import automata as module
from markov_lrsao.rows.automata import RowAutomata, _Derivation, derive_automata
from markov_lrsao.rows.patterns import Pattern


def plateaus_oracle(n: int, widths: tuple[int, ...], bridges: int) -> Oracle:
    """Return LRSAO with the paper's hyper-parameters, the bridges taking turns."""
    owners = [range(k, len(widths), bridges) for k in range(bridges)]
    return Oracle(regions(n, widths, owners), "T", *paper_parameters(n))


def claims(automata: RowAutomata) -> list[object]:
    return [automata.patterns, automata.boxes, automata.following]


def test_two_plateaus_are_jump() -> None:
    found, jump = regions(9, (3, 2), [[0], [1]]), paper_objectives(9, 2)
    assert [found[a] for a in ("B0", "T", "B1")] == [jump[a] for a in "LJR"]


@given(st.lists(st.integers(-2, 2), min_size=2, max_size=5))
@settings(max_examples=60)
def test_what_is_visible_of_a_pattern(values: list[int]) -> None:
    """The greedy choice stays decided; nothing is claimed that the pattern does not claim."""
    k = len(values)

    def sign(x: int) -> int:
        return (x > 0) - (x < 0)

    order = [sign(values[i] - values[j]) for i in range(k) for j in range(i + 1, k)]
    pattern = Pattern(tuple(map(sign, values)), tuple(order))
    seen = pattern.visible
    assert seen.signs == pattern.signs
    assert seen.maximal == pattern.maximal
    assert seen.undecided is None
    assert all(a in (b, UNKNOWN) for a, b in zip(seen.order, pattern.order, strict=True))
    assert seen.visible == seen


def test_what_is_visible_of_an_open_pattern() -> None:
    # A or B is the largest; C is below both, D below A, and C against D is known.
    pattern = Pattern((-1, -1, -1, -1), (UNKNOWN, 1, 1, 1, UNKNOWN, 1))
    assert pattern.undecided == (0, 1)
    seen = pattern.visible
    assert set(seen.order) == {UNKNOWN}
    assert seen.maximal == (0, 1, 2, 3)


@given(oracles((2, 6)), st.integers(0, 10**6))
@settings(max_examples=40)
def test_coarse_rows_claim_nothing_false(oracle: Oracle, seed: int) -> None:
    """Runs of Algorithm 1 in Fractions obey automata that keep only what is visible."""
    rng = np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LARGEST_ROW", 3)
        automata = derive_automata(law_of(oracle))
    for _ in range(6):
        random_run(oracle, automata, rng, 40)


@given(oracles((2, 6)))
@settings(max_examples=40)
def test_updates_that_are_remembered(oracle: Oracle) -> None:
    """An update whose bounds are as they were is not followed again, rounds in which all lead
    where they led before are not walked again, and nothing changes.
    """
    remembered = claims(derive_automata(law_of(oracle)))

    class Forgetful(dict):  # type: ignore[type-arg]
        def get(self, key: object, default: object = None) -> object:
            return default

    with pytest.MonkeyPatch.context() as patch:
        explore = _Derivation.explore

        def explore_afresh(self: _Derivation) -> None:
            self.known, self.following = Forgetful(), {}
            explore(self)

        patch.setattr(_Derivation, "explore", explore_afresh)
        assert claims(derive_automata(law_of(oracle))) == remembered


def test_jump_has_no_coarse_rows() -> None:
    """Every row of Jump keeps the order of all its entries."""
    found = claims(derive_automata(jump_law(12, 3)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LARGEST_ROW", 10**9)
        assert claims(derive_automata(jump_law(12, 3))) == found


@pytest.mark.parametrize("bridges", [2, 3])
def test_claims_with_three_plateaus(bridges: int) -> None:
    oracle = plateaus_oracle(13, (3, 3, 3), bridges)
    automata = derive_automata(law_of(oracle))
    rng = np.random.default_rng(bridges)
    for _ in range(8):
        random_run(oracle, automata, rng, 120)
    shared = automata.class_of(0)
    for c, patterns in enumerate(automata.patterns):  # signs decide the slopes
        assert c == shared or all(p.undecided is None for p in patterns)


@pytest.mark.parametrize(
    "bridges",
    [pytest.param(4, marks=pytest.mark.slow), pytest.param(5, marks=pytest.mark.exhaustive)],
)
def test_five_plateaus_take_seconds(bridges: int) -> None:
    """Five and six objectives, whatever n is; no slope's row is open."""
    oracle = plateaus_oracle(40, (3, 4, 3, 4, 3), bridges)
    begun = time.process_time()
    automata = derive_automata(law_of(oracle))
    assert time.process_time() - begun < 60  # five and ten seconds are usual
    rng = np.random.default_rng(bridges)
    for _ in range(8):
        random_run(oracle, automata, rng, 200)
    shared = automata.class_of(0)
    for c, patterns in enumerate(automata.patterns):
        assert c == shared or all(p.undecided is None for p in patterns)
