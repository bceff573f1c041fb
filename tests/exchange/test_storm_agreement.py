"""Storm as a peer: the same files give the same rational numbers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from flint import fmpq
from hypothesis import given, settings
from peer_chains import chains, jump, jump_law, reflected_walk, storm, storm_number, storm_values

from markov_lrsao import Algorithm, Landscape, MarkovChain, Parameters, StepLaw
from markov_lrsao.chains.reaching import reach
from markov_lrsao.exact.quantity import Quantity
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.exchange import read_chain, write_chain
from markov_lrsao.exchange.drn import write_drn
from markov_lrsao.exchange.models import model_chain, step_rewards
from markov_lrsao.exchange.prism_language import format_prism_language, write_prism_language

TIME, CHANCE = 'T=? [F "{}"]', 'P=? [F "{}"]'


def number(q: Quantity) -> fmpq | float:
    """Return an exact number, or infinity."""
    return math.inf if q.infinite else q.value


def examples(*names: str) -> Path:
    """Return a file inside the stormpy wheel."""
    return Path(storm().__file__).parent.joinpath("examples", "files", *names)


@pytest.mark.parametrize(
    ("n", "ell", "part", "merge"),
    [
        (9, 2, None, True),
        (9, 2, None, False),
        (10, 2, None, True),
        (11, 3, None, True),
        (9, 2, "left", True),
        (9, 2, "slope", True),
        (9, 2, "right", False),
    ],
)
def test_exported_chains(n: int, ell: int, part: str | None, merge: bool, tmp_path: Path) -> None:
    chain = jump(n, ell, part=part, merge=merge)
    write_drn(chain, tmp_path / "c.drn")
    starts = chain.start.tolist()
    ours = [number(r.mean) for r in reach(chain, chain.labelled("target")).starts]
    assert ours == storm_values(tmp_path / "c.drn", TIME.format("target"), starts, exact=True)


def test_rewards_in_storm(tmp_path: Path) -> None:
    chain = jump(9, 2)
    write_drn(chain, tmp_path / "c.drn", rewards=step_rewards(chain))
    (value,) = storm_values(tmp_path / "c.drn", 'R{"steps"}=? [F "target"]', [0], exact=True)
    assert value == fmpq(51740216905, 1185192162)


def test_double_drn_and_storms_own_explicit_files(tmp_path: Path) -> None:
    stormpy = storm()
    chain = jump(9, 2)
    write_drn(chain, tmp_path / "d.drn", values="double")
    (value,) = storm_values(tmp_path / "d.drn", TIME.format("target"), [0], exact=False)
    assert value == pytest.approx(51740216905 / 1185192162, rel=1e-6)
    files = write_chain(
        chain, tmp_path / "e.tra", format="storm-explicit", rewards=step_rewards(chain)
    )
    model = stormpy.build_model_from_explicit(*map(str, files[:2]), state_rewards=str(files[2]))
    result = stormpy.model_checking(model, stormpy.parse_properties('R=? [F "target"]')[0])
    assert result.get_value(0) == pytest.approx(51740216905 / 1185192162, rel=1e-6)


@pytest.mark.parametrize(("n", "ell", "merge"), [(9, 2, True), (9, 2, False), (12, 3, True)])
def test_the_prism_language_model(n: int, ell: int, merge: bool, tmp_path: Path) -> None:
    stormpy = storm()
    (tmp_path / "m.prism").write_text(
        format_prism_language(jump_law(n, ell), merge=merge), encoding="utf-8"
    )
    program = stormpy.parse_prism_program(str(tmp_path / "m.prism"))
    model = stormpy.build_model[stormpy.Rational](program)
    chain = jump(n, ell, merge=merge)
    assert (model.nr_states, model.nr_transitions) == (chain.size, chain.transitions)
    formula = stormpy.parse_properties('R{"steps"}=? [F "target"]', program)[0]
    result = stormpy.model_checking(model, formula)
    (ours,) = reach(chain, chain.labelled("target")).starts
    assert storm_number(result.get_value(model.initial_states[0]), exact=True) == number(ours.mean)
    for label in ("milestone1", "milestone2", "target"):
        count = model.labeling.get_states(label).get_number_of_set_bits()
        assert count == len(chain.labels[label])


@pytest.mark.parametrize(
    "law",
    [
        StepLaw.of(Landscape.onemax(6), Algorithm.rls()),
        StepLaw.of(
            Landscape.from_arrays(
                {"A": [-3, -2, -2, 5, 0, 7], "B": [0, 1, 2, 3, 4, 5]}, target="A"
            ),
            Algorithm.lrsao(Parameters.of("1/2", "1/100", 1)),
        ),
    ],
    ids=["RLS on OneMax", "LRSAO on a landscape with negative values"],
)
def test_readable_models_of_other_landscapes(law: StepLaw, tmp_path: Path) -> None:
    stormpy = storm()
    assert write_prism_language(law, tmp_path / "m.prism") == 0
    program = stormpy.parse_prism_program(str(tmp_path / "m.prism"))
    model = stormpy.build_model[stormpy.Rational](program)
    formula = stormpy.parse_properties('R{"steps"}=? [F "target"]', program)[0]
    value = stormpy.model_checking(model, formula).get_value(model.initial_states[0])
    chain = model_chain(law)
    (ours,) = reach(chain, chain.labelled("target")).starts
    assert model.nr_states == chain.size
    assert storm_number(value, exact=True) == number(ours.mean)


@settings(max_examples=60)
@given(chain=chains())
def test_random_chains(chain: MarkovChain, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "random.drn"
    write_drn(chain, path)
    starts = chain.start.tolist()
    exact = reach(chain, chain.labelled("goal")).starts
    floats = reach(chain, chain.labelled("goal"), field="float").starts
    chance = storm_values(path, CHANCE.format("goal"), starts, exact=True)
    assert [r.probability.value for r in exact] == chance
    for r, time in zip(
        exact, storm_values(path, TIME.format("goal"), starts, exact=True), strict=True
    ):
        assert number(r.mean) == time
    for r, f in zip(exact, floats, strict=True):
        assert float(f.probability) == pytest.approx(float(r.probability), rel=1e-13)
        assert (f.conditional_mean is None) == (r.conditional_mean is None)
        if r.conditional_mean is not None and f.conditional_mean is not None:
            assert float(f.conditional_mean) == pytest.approx(float(r.conditional_mean), rel=1e-12)
            assert f.deviation == pytest.approx(r.deviation, rel=1e-9, abs=1e-9)


PEERS = [
    ("brp-16-2.pm", "target"),
    ("leader-3-5.pm", "elected"),
    ("nand-5-2.pm", "target"),
    ("crowds-5-5.pm", "observe0Greater1"),
    ("crowds-5-5.pm", "observeOnlyTrueSender"),
    ("die.pm", "done"),
    ("die.pm", "six"),
]


@pytest.mark.parametrize(("name", "label"), PEERS)
def test_the_examples_in_storms_wheel(name: str, label: str, tmp_path: Path) -> None:
    stormpy = storm()
    program = stormpy.parse_prism_program(str(examples("dtmc", name)))
    model = stormpy.build_model[stormpy.Rational](program)
    path = tmp_path / "peer.drn"
    stormpy.io.export_to_drn(model, str(path))
    read = read_chain(path)
    assert read.exact
    start = read.chain.start.tolist()
    (ours,) = reach(read.chain, read.chain.labelled(label)).starts
    assert [ours.probability.value] == storm_values(path, CHANCE.format(label), start, exact=True)
    assert [number(ours.mean)] == storm_values(path, TIME.format(label), start, exact=True)
    (floats,) = reach(read.chain, read.chain.labelled(label), field="float").starts
    assert float(floats.probability) == pytest.approx(float(ours.probability), rel=1e-13)
    assert ours.conditional_mean is not None
    assert floats.conditional_mean is not None
    assert float(floats.conditional_mean) == pytest.approx(float(ours.conditional_mean), rel=1e-12)
    for reward, earned in read.rewards.items():
        if ours.probability.value == 1:
            (sums,) = reach(read.chain, read.chain.labelled(label), rewards=earned).starts
            formula = f'R{{"{reward}"}}=? [F "{label}"]' if reward else f'R=? [F "{label}"]'
            assert [number(sums.mean)] == storm_values(path, formula, start, exact=True)


@pytest.mark.parametrize(("stem", "label"), [("die", "six"), ("crowds5_5", "observe0Greater1")])
def test_explicit_files_in_storms_wheel(stem: str, label: str, tmp_path: Path) -> None:
    stormpy = storm()
    files = {".tra": examples("tra", f"{stem}.tra"), ".lab": examples("lab", f"{stem}.lab")}
    for suffix, path in files.items():
        (tmp_path / "x").with_suffix(suffix).symlink_to(path)
    read = read_chain(tmp_path / "x.tra")
    model: Any = stormpy.build_model_from_explicit(str(files[".tra"]), str(files[".lab"]))
    result = stormpy.model_checking(model, stormpy.parse_properties(f'P=? [F "{label}"]')[0])
    (ours,) = reach(read.chain, read.chain.labelled(label), field="float").starts
    assert float(ours.probability) == pytest.approx(result.get_value(0), rel=1e-6)


def test_a_row_that_storm_takes_as_it_is_is_refused(tmp_path: Path) -> None:
    """Storm 2.0 loads a rational DRN file whose row sums to 2/3 without a word."""
    stormpy = storm()
    write_drn(reflected_walk(3), tmp_path / "x.drn")
    text = (tmp_path / "x.drn").read_text().replace("2/3", "1/3")
    (tmp_path / "x.drn").write_text(text)
    with pytest.raises(ValueError, match="line 15"):
        read_chain(tmp_path / "x.drn")
    assert stormpy.build_model_from_drn[stormpy.Rational](str(tmp_path / "x.drn")).nr_states == 4


@pytest.mark.parametrize("top", [60, 1000])
def test_the_stiff_walk(top: int, tmp_path: Path) -> None:
    chain = reflected_walk(top)
    truth = 4 * fmpq(2) ** top - 3 * top - 4
    (exact,) = reach(chain, chain.labelled("top")).starts
    assert number(exact.mean) == truth
    (floats,) = reach(chain, chain.labelled("top"), field="float").starts
    assert float(floats.mean) == pytest.approx(to_float(truth), rel=1e-12)
    assert floats.deviation == pytest.approx(exact.deviation, rel=1e-11)
    write_drn(chain, tmp_path / "w.drn")
    assert storm_values(tmp_path / "w.drn", TIME.format("top"), [0], exact=True) == [truth]
    assert math.isfinite(float(floats.mean))
