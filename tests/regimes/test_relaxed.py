"""Penalties outside (H): how many unlearn, blind walks, growth, and the command."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from flint import fmpq

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw, hypothesis_h, runtime
from markov_lrsao.chains.hitting import hitting_times
from markov_lrsao.chains.sources import birth_death_chain
from markov_lrsao.cli import main
from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.regimes.penalties import (
    blind_time,
    growth_rate,
    penalties,
    plateau_degree,
    relative_penalty,
)
from markov_lrsao.regimes.vanishing import expected_time, vanishing_law
from markov_lrsao.values.enclosure import trap_after_cut


@pytest.mark.parametrize(("n", "ell"), [(9, 2), (30, 5), (100, 10)])
@pytest.mark.parametrize("alpha", ["1/10", "4/5", "99/100"])
def test_one_penalty_is_the_lower_bound(n: int, ell: int, alpha: str) -> None:
    shape, base = Landscape.jump(n, ell), Parameters.paper(n, alpha)
    at = {f: relative_penalty(shape, base, f, "lower") for f in (fmpq(999, 1000), fmpq(1))}
    assert [penalties(shape, p) for p in at.values()] == [2, 1]
    assert at[fmpq(1)].r == hypothesis_h(shape, base).lower


def test_penalties_are_enough_and_necessary() -> None:
    """Iterate Q -> lambda Q - alpha r from the supremum of all entries."""
    shape = Landscape.jump(20, 3)
    for text in ("0.001", "0.05", "0.3", "0.8"):
        p = relative_penalty(shape, Parameters.paper(20), fmpq(*map(int, _ratio(text))), "lower")
        q, count = fmpq(shape.largest_gain) / (1 - p.gamma), 0
        while q > 0:
            q, count = p.decay * q - p.alpha * p.r, count + 1
        assert penalties(shape, p) == count


def _ratio(text: str) -> tuple[int, int]:
    digits = text.partition(".")[2]
    return int(digits), 10 ** len(digits)


def test_r_zero_never_unlearns() -> None:
    assert penalties(Landscape.jump(9, 2), Parameters.paper(9, r=0)) is None
    assert plateau_degree(2, None) == 3


@pytest.mark.parametrize("barrier", [0, 3, 6])
def test_blind_time_is_the_walk_s(barrier: int) -> None:
    ups = [fmpq(9 - p, 9) for p in range(barrier, 9)]
    chain = birth_death_chain(ups)
    assert blind_time(9, barrier) == hitting_times(chain, chain.positions == 9 - barrier)[0]


def test_blind_time_refuses() -> None:
    with pytest.raises(ParameterError, match="barrier = 9"):
        blind_time(9, 9)


def test_growth_rates() -> None:
    proved, limit, zero = (growth_rate(kind) for kind in ("proved", "limit", "zero"))
    assert 1.73 < proved < limit < zero < 2
    with pytest.raises(ParameterError, match="unknown"):
        growth_rate("guess")  # type: ignore[arg-type]


@pytest.mark.parametrize("limit", [False, True])
def test_growth_approaches_the_rate(limit: bool) -> None:
    """The quotients of E[T] increase with n and stay below the rate."""
    times = [
        float(
            expected_time(
                vanishing_law(Landscape.jump(n, 2), Parameters.paper(n)), limit=limit, field="float"
            )
        )
        for n in range(10, 15)
    ]
    quotients = [b / a for a, b in pairwise(times)]
    assert quotients == sorted(quotients)
    assert quotients[-1] < growth_rate("limit" if limit else "zero")
    assert quotients[-1] > 1.65


def relaxed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert main(["relax", *arguments, "--json"]) == 0
    lines: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["lines"]
    return lines


@pytest.mark.slow
def test_the_command_s_json(capsys: pytest.CaptureFixture[str]) -> None:
    zero, limit, above = relaxed(capsys, "--n", "9", "--factors", "0,0+", "--upper-factors", "1.2")
    assert (zero["kind"], limit["kind"]) == ("exact", "exact")
    assert zero["value"] > limit["value"] > 337
    assert (above["kind"], above["value"]) == ("infinite", None)
    law = StepLaw.of(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.paper(9, r="15")))
    found = trap_after_cut(law)
    assert found is not None
    assert to_float(found[0].lower) <= above["stuck"][1]
    assert above["stuck"][0] <= to_float(found[0].upper)


@pytest.mark.parametrize("n", [9, 40, 130])
def test_inside_the_hypothesis_nothing_is_simulated(
    n: int, capsys: pytest.CaptureFixture[str]
) -> None:
    (line,) = relaxed(capsys, "--n", str(n), "--ell", "2", "--factors", "1.05")
    shape = Landscape.jump(n, 2)
    inside = relative_penalty(shape, Parameters.paper(n), fmpq(21, 20), "lower")
    truth = runtime(shape, Algorithm.lrsao(inside))
    assert (line["kind"], line["exact"]) == ("exact", True)
    assert line["low"] == line["value"] == line["high"] == float(truth.total)


@pytest.mark.slow
def test_just_outside_it_an_exact_answer_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = relaxed(capsys, "--n", "9", "--factors", "0.9")
    exact = runtime(
        Landscape.jump(9, 2),
        Algorithm.lrsao(Parameters.paper(9, r="21/10")),
        outside_h=True,
        method="crossing",
    ).total
    assert line["kind"] == "exact"
    assert line["value"] == float(exact)
    assert line["penalties"] == 2


@pytest.mark.slow
def test_simulated_cells_have_streams_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    """Two penalties so close that with the same streams all runs would be the same."""
    close = "0.5,0.50000001"
    first, second = relaxed(capsys, "--n", "20", "--factors", close, "--runs", "60")
    assert first["kind"] == second["kind"] == "simulated"
    assert first["value"] != second["value"]
    (again,) = relaxed(capsys, "--n", "20", "--factors", "0.50000001", "--runs", "60")
    assert again == second  # wherever the cell stands
    (other,) = relaxed(capsys, "--n", "20", "--factors", "0.5", "--runs", "60", "--seed", "2")
    assert other["value"] != first["value"]


def test_the_command_s_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["relax", "--n", "9:11", "--factors", "0"]) == 0
    out = capsys.readouterr().out
    assert "1.7041" in out
    assert "simulated" not in out


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--factors", "x"], "factor"),
        (["--factors", "0.5+"], "limit"),
        (["--n", "8"], "n = 8"),
        (["--factors", "-1"], "factor"),
    ],
)
def test_the_command_refuses(
    arguments: list[str], word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["relax", "--n", "9", *arguments]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert word in err
