"""Positions that are played by signs: the same runs as with all values, wherever signs decide."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from flint import fmpq

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from markov_lrsao.model.parameters import hypothesis_h
from markov_lrsao.progress import no_progress
from simulate.kernels import sites as kernel
from simulate.runs import runner
from simulate.runs.encoding import EncodedLaw
from simulate.runs.game import Game
from simulate.runs.runner import simulate
from simulate.runs.signs import decided_kinds, no_sites
from simulate.runs.streams import stream_key

LIMIT = 10**6


def at(place: str, n: int, ell: int, alpha: str, gamma: str | None = None) -> StepLaw:
    """Return LRSAO on Jump with r at a place of (H)."""
    landscape = Landscape.jump(n, ell)
    g = fmpq(1, n + 1) if gamma is None else fmpq(*map(int, gamma.split("/")))
    h = hypothesis_h(landscape, Parameters.of(alpha, g, 1))
    r = h.lower + fmpq(*map(int, place.split("/"))) * (h.upper - h.lower)
    return StepLaw.of(landscape, Algorithm.lrsao(Parameters.of(alpha, g, r)))


LAWS = {
    "jump, narrow": lambda: at("1/2", 300, 2, "4/5"),
    "jump, wide": lambda: at("1/2", 300, 90, "4/5"),
    "jump, r small": lambda: at("1/1000", 300, 3, "9/10"),
    "jump, alpha small": lambda: at("1/10", 200, 3, "1/20"),
    "jump, gamma large": lambda: at("9/10", 400, 2, "19/20", "1/450"),
    "three plateaus": lambda: StepLaw.of(
        Landscape.regions(400, (5, 5, 5), "own"), Algorithm.lrsao(Parameters.paper(400))
    ),
    "shared bridges": lambda: StepLaw.of(
        Landscape.regions(300, (4, 4, 4), "shared"), Algorithm.lrsao(Parameters.paper(300))
    ),
    "onemax": lambda: StepLaw.of(
        Landscape.named("onemax:helpers=zeromax+constant", n=150),
        Algorithm.lrsao(Parameters.paper(150)),
    ),
}


@pytest.mark.parametrize("name", LAWS)
def test_runs_are_those_with_all_values(name: str) -> None:
    """Bit by bit: signs and values make the same choices, and draw the same numbers."""
    law = LAWS[name]()
    encoded = EncodedLaw.of(law)
    samples = simulate(law, runs=12, seed=3, limit=LIMIT, threads=1)
    game = Game(replace(encoded, sites=no_sites()), stream_key(3), True, True, LIMIT, None)
    hits, facts = game.arrays(12)
    game.play_all(0, hits, facts, {}, 1, no_progress, None)
    assert (samples.hits == hits).all()
    assert (samples.steps == facts[:, 1]).all()
    if name != "jump, gamma large":
        assert (encoded.sites.zone > 0).sum() >= 64


@pytest.mark.parametrize("restart", [None, 700])
def test_limits_and_restarts_cut_alike(restart: int | None) -> None:
    """A walk over the sites is cut at the same step as a walk with values."""
    law = LAWS["jump, narrow"]()
    encoded = EncodedLaw.of(law)
    for limit in (250, 1500, 4001):
        samples = simulate(law, runs=20, seed=8, limit=limit, restart=restart, threads=1)
        game = Game(replace(encoded, sites=no_sites()), stream_key(8), True, True, limit, restart)
        hits, facts = game.arrays(20)
        game.play_all(0, hits, facts, {}, 1, no_progress, None)
        assert (samples.hits == hits).all()
        assert (samples.steps == facts[:, 1]).all()
        assert (samples.restarts == facts[:, 3]).all()


def test_a_wrong_table_of_signs_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison above can fail: a penalty that leaves an entry at 0 gives other runs."""
    law = LAWS["jump, narrow"]()
    right = simulate(law, runs=12, seed=3, threads=1)

    def wrong(law: StepLaw) -> EncodedLaw:
        encoded = EncodedLaw.of(law)
        after = np.maximum(encoded.sites.after, 0)
        return replace(encoded, sites=encoded.sites._replace(after=after))

    monkeypatch.setattr(runner, "_encoded", wrong)
    assert (simulate(law, runs=12, seed=3, threads=1).steps != right.steps).any()


def reached(encoded: EncodedLaw) -> Iterator[int]:
    """Yield the kinds of positions that are played by signs."""
    yield from set(encoded.law.kind[encoded.sites.zone > 0].tolist())


def test_signs_decide_slopes_inside_h_only() -> None:
    """Below (H) a penalty need not outweigh what lies ahead: signs do not decide there."""
    inside = EncodedLaw.of(at("1/2", 300, 2, "4/5"))
    assert len(list(reached(inside))) == 1
    landscape = Landscape.jump(300, 2)
    weak = Algorithm.lrsao(Parameters.of("4/5", "1/10", "1/2"))
    assert len(EncodedLaw.of(StepLaw.of(landscape, weak)).sites.zone) == 0
    plain = Algorithm.earl()
    assert len(EncodedLaw.of(StepLaw.of(landscape, plain)).sites.zone) == 0


def test_the_sign_of_every_update_is_certain() -> None:
    """For values at the ends of what entries can be, in rationals."""
    encoded = EncodedLaw.of(at("1/1000", 300, 3, "9/10"))
    algorithm, gains = encoded.step_law.algorithm, encoded.gains
    keep, boot = algorithm.keep, algorithm.bootstrap
    bound = max(gains) / (1 - keep - boot)
    after, decided = decided_kinds(encoded.law, keep, boot, gains, bound)
    checked = 0
    for kind in reached(encoded):
        assert decided[kind]
        for a, d in np.ndindex(after.shape[1:3]):
            if not encoded.law.accepted[kind, a, d]:
                continue
            gain = gains[int(encoded.law.gain[kind, a, d])]
            own = [gains[int(g)] for g in encoded.law.gain[kind, a]]
            most = max(max(own) + boot * bound, fmpq(0)) / (1 - keep)
            for held, x in ((0, fmpq(0)), (1, fmpq(1, 10**9)), (1, most)):
                for ahead, m in ((0, fmpq(0)), (1, fmpq(1, 10**9)), (1, bound)):
                    value = keep * x + gain + boot * m
                    if gain > 0 or held == 0:  # positive entries are never penalised here
                        sign = int(after[kind, a, d, held, ahead])
                        assert sign == (value > 0) - (value < 0)
                        checked += 1
    assert checked > 20


def test_two_positive_entries_are_not_decided() -> None:
    """Of two objectives that are both rewarded upwards and downwards signs cannot choose."""
    n = 200
    both = {"F": list(range(n + 1)), "G": [5 if p % 2 else 0 for p in range(n + 1)]}
    law = StepLaw.of(Landscape.from_arrays(both, "F"), Algorithm.lrsao(Parameters.paper(n)))
    samples = simulate(law, runs=5, seed=1, limit=10**6)
    game = Game(
        replace(EncodedLaw.of(law), sites=no_sites()), stream_key(1), True, True, 10**6, None
    )
    hits, facts = game.arrays(5)
    game.play_all(0, hits, facts, {}, 1, no_progress, None)
    assert (samples.steps == facts[:, 1]).all()


def test_a_negative_row_ahead_is_not_taken_for_zero() -> None:
    """Where a walk leaves its sites the sign of the next row is looked at."""
    q, tops = np.zeros(12), np.zeros(1, dtype=np.int64)
    assert kernel._largest_sign(q, tops, 0, 3) == 0
    tops[0] = 1 | 1 << 48
    for value, error, tag, sign in (
        (2.0, 0.1, -(2.0**40), 1),
        (-2.0, 0.1, -(2.0**40), -1),
        (0.1, 0.2, -(2.0**40), -1),
        (0.0, 0.0, 0.0, 0),
    ):
        q[:4] = value, error, 0.0, tag
        assert kernel._largest_sign(q, tops, 0, 3) == sign
    tops[0] = 3  # not certain
    assert kernel._largest_sign(q, tops, 0, 3) == -1
