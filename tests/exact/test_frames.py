"""Every result as a DataFrame: exact text, floats beside it, and one line where pandas is not."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq

from markov_lrsao import (
    Landscape,
    LrsaoError,
    Parameters,
    chain_from_rows,
    curve,
    distribution,
    profile,
    reach,
    regime_map,
    runtime,
    simulate,
    summary,
    verify,
)
from markov_lrsao.exact.frames import columns
from markov_lrsao.exact.quantity import Quantity
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.regimes.grid import MapPlan

NINE = Landscape.jump(9, 2)


def test_runtime() -> None:
    frame = runtime(NINE, moments=3).to_frame()
    assert list(frame.columns[:5]) == ["quantity", "phase", "exact", "decimal", "float"]
    assert len(frame) == 3 * 4
    means = frame[frame.quantity == "mean"].set_index("phase")
    assert means.exact["total"] == "51740216905/1185192162"
    assert means.exact["left"] == "9853/2856"
    assert sum(map(Fraction, means.exact[1:])) == Fraction(means.exact["total"])
    assert all(float(Fraction(row.exact)) == row.float for row in frame.itertuples())
    assert frame.lower.isna().all()


def test_an_enclosure_has_ends_and_no_fraction() -> None:
    algorithm = Algorithm.lrsao(Parameters("4/5", "1/10", "2"))
    frame = runtime(NINE, algorithm, tolerance="1/10", outside_h=True).to_frame()
    mean = frame.iloc[0]
    assert frame.exact.isna().iloc[0]
    assert Fraction(mean.lower) < Fraction(mean.float) < Fraction(mean.upper)


def test_distribution() -> None:
    law = distribution(NINE)
    frame = law.to_frame(range(1, 200))
    assert list(frame.columns) == ["t", "cdf", "pmf", "error"]
    assert frame.cdf[29] == law.cdf(30)
    assert frame.pmf.sum() == pytest.approx(frame.cdf.iloc[-1])
    default = law.to_frame()
    assert default.cdf.is_monotonic_increasing
    assert default.cdf.iloc[0] < 1e-3 < 1 - 1e-3 < default.cdf.iloc[-1]
    assert default.t.tolist() == law.times().tolist()


def test_profile() -> None:
    found, total = profile(NINE), runtime(NINE).total
    frame = found.to_frame()
    assert frame.position.tolist() == list(range(10))
    assert sum(map(Fraction, frame.steps_exact)) == Fraction(total.rational or "")
    assert frame.steps.sum() == pytest.approx(float(total))
    floats = profile(NINE, exact=False).to_frame()
    assert floats.steps_exact.isna().all()
    assert np.allclose(floats.visits, frame.visits)


def test_curve() -> None:
    frame = curve([9, 13], 2, field="exact").to_frame()
    assert frame.n.tolist() == [9, 13]
    assert frame.total_exact[0] == "51740216905/1185192162"
    assert frame.total[0] == pytest.approx(43.6555510)
    assert (frame.phase1 + frame.phase2 + frame.phase3).tolist() == pytest.approx(
        frame.total.tolist()
    )
    assert frame.coupon_collector[0] == pytest.approx(9 * sum(1 / k for k in range(1, 10)))


def test_simulation() -> None:
    samples = simulate(NINE, runs=200, seed=1, limit=45)
    frame = samples.to_frame()
    assert frame.run.tolist() == list(range(200))
    ended = frame[~frame.censored]
    assert 0 < len(ended) < 200
    assert (ended.phase1 + ended.phase2 + ended.phase3 == ended.steps).all()
    assert frame[frame.censored].phase3.isna().all()
    numbers = summary(samples).to_frame().set_index("quantity")
    assert numbers.value["success"] == len(ended) / 200
    assert numbers.value["ert"] == frame.steps.sum() / len(ended)
    assert numbers.low["mean"] < numbers.value["mean"] == ended.steps.mean()


def test_map() -> None:
    found = regime_map(MapPlan.of(9, 2, "0.7:0.8@2", r_relative="1/2"), workers=1)
    frame = found.to_frame("phase1")
    assert frame.alpha.tolist() == ["7/10", "4/5"]
    assert frame.alpha_float.tolist() == [0.7, 0.8]
    assert set(frame.value) == {"9853/2856"}
    assert frame.float[0] == pytest.approx(9853 / 2856)


def test_verdicts() -> None:
    frame = verify(["Range of l", "Smallest n"]).to_frame()
    assert frame.id.tolist() == ["Range of l", "Smallest n"]
    assert frame.verdict.tolist() == ["PROVED", "REFUTED"]
    assert frame.counterexamples.tolist()[0] == 0


def test_reaching() -> None:
    """From 0 the target is 1 step away, or never reached."""
    chain = chain_from_rows([{1: "1/4", 2: "3/4"}, {1: 1}, {2: 1}])
    frame = reach(chain, chain.at_positions([1]), start=[0, 2]).to_frame()
    assert frame.probability_exact.tolist() == ["1/4", "0"]
    assert frame["mean"].tolist() == [float("inf")] * 2
    assert frame.conditional_mean_exact[0] == "1"
    assert frame.variance.isna().tolist() == [False, True]


def test_without_pandas_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(LrsaoError, match=r"^tables need pandas: .*markov-lrsao\[tables\]'$"):
        runtime(NINE).to_frame()


def test_numbers_that_are_not_exact_have_no_fraction() -> None:
    assert columns({"a": Quantity.of(0.5), "b": Quantity.of(fmpq(1, 2))}) == {
        "a": 0.5,
        "a_exact": None,
        "b": 0.5,
        "b_exact": "1/2",
    }
