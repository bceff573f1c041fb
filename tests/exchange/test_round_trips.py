"""Files round-trip: what is written is read back, in every format."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.io
from flint import fmpq
from hypothesis import given, settings
from peer_chains import chains, jump, reflected_walk, same

from markov_lrsao import MarkovChain
from markov_lrsao.chains.sources import chain_from_rows
from markov_lrsao.errors import ParameterError
from markov_lrsao.exchange import FORMATS, read_chain, write_chain
from markov_lrsao.exchange.models import step_rewards

EXACT = {"drn": "chain.drn", "json": "chain.json", "graphml": "chain.graphml"}
FLOATS = {"matrix-market": "chain.mtx", "storm-explicit": "chain.tra", "prism": "chain.tra"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


def test_every_format_is_tested() -> None:
    assert {*EXACT, *FLOATS} == set(FORMATS)


@pytest.mark.parametrize("format", EXACT)
@settings(max_examples=25)
@given(chain=chains())
def test_exact_formats_keep_everything(format: str, chain: MarkovChain, folder: Path) -> None:
    (path,) = write_chain(chain, folder / EXACT[format], format=format)
    read = read_chain(path)
    assert read.exact
    assert not read.notes
    same(chain, read.chain)


@settings(max_examples=25)
@given(chain=chains())
def test_prism_files_can_hold_fractions(chain: MarkovChain, folder: Path) -> None:
    write_chain(chain, folder / "fractions.tra", format="prism", values="rational")
    same(chain, read_chain(folder / "fractions.tra").chain)


@pytest.mark.parametrize("format", [*FLOATS, "drn"])
@settings(max_examples=25)
@given(chain=chains())
def test_doubles_survive_bit_for_bit(format: str, chain: MarkovChain, folder: Path) -> None:
    path = folder / {**FLOATS, **EXACT}[format]
    write_chain(chain, path, format=format, values="double")
    read = read_chain(path)
    assert read.chain.start.tolist() == chain.start.tolist()
    assert read.chain.labelled("goal").tolist() == chain.labelled("goal").tolist()
    assert np.array_equal(read.chain.indices, chain.indices)
    # Rows that do not sum to 1 are divided by their sum, and that is said.
    assert read.exact == (not read.notes)
    np.testing.assert_allclose(read.chain.probabilities, chain.probabilities, rtol=5e-16)
    if read.exact:
        assert np.array_equal(read.chain.probabilities, chain.probabilities)


@pytest.mark.parametrize("format", EXACT)
@pytest.mark.parametrize(("part", "merge"), [(None, True), ("left", False), ("right", True)])
def test_the_projects_own_chains(
    format: str, part: str | None, merge: bool, tmp_path: Path
) -> None:
    chain = jump(9, 2, part=part, merge=merge)
    write_chain(chain, tmp_path / EXACT[format], format=format)
    same(chain, read_chain(tmp_path / EXACT[format]).chain)


@pytest.mark.parametrize("format", ["json", "graphml"])
def test_names_and_positions_are_kept(format: str, tmp_path: Path) -> None:
    chain = jump(9, 2, part="left")
    write_chain(chain, tmp_path / EXACT[format], format=format)
    read = read_chain(tmp_path / EXACT[format]).chain
    assert [read.label(i) for i in range(read.size)] == [chain.label(i) for i in range(chain.size)]
    assert read.positions.tolist() == chain.positions.tolist()


@pytest.mark.parametrize("format", ["drn", "json", "prism", "storm-explicit"])
def test_rewards(format: str, tmp_path: Path) -> None:
    chain = jump(9, 2, part="right")
    rewards = step_rewards(chain)
    files = write_chain(
        chain,
        tmp_path / f"r.{format if format in EXACT else 'tra'}",
        format=format,
        rewards=rewards,
    )
    read = read_chain(files[0])
    assert list(read.rewards.values()) == list(rewards.values())


def test_long_numbers_round_trip(tmp_path: Path) -> None:
    tiny = Fraction(1, 7**60)
    chain = chain_from_rows([{0: 1 - tiny, 1: tiny}, {1: 1}])
    for format, name in EXACT.items():
        write_chain(chain, tmp_path / name, format=format)
        assert read_chain(tmp_path / name).chain.row(0)[1] == (1, fmpq(1, 7**60))


def test_labels_with_spaces_and_other_alphabets(tmp_path: Path) -> None:
    chain = reflected_walk(3).with_labels({"all done": np.array([3]), "größer": np.array([2])})
    for format in ("drn", "json", "graphml", "prism", "matrix-market"):
        path = tmp_path / {**FLOATS, **EXACT}[format]
        files = write_chain(chain, path, format=format)
        assert read_chain(files[0]).chain.labels["all done"].tolist() == [3]
        assert read_chain(files[0]).chain.labels["größer"].tolist() == [2]


@pytest.mark.parametrize("name", ["", 'a"b', "a\nb", "init"])
def test_labels_that_no_file_can_hold(name: str, tmp_path: Path) -> None:
    chain = reflected_walk(3).with_labels({name: np.array([1])})
    with pytest.raises(ParameterError, match="label"):
        write_chain(chain, tmp_path / "x.drn", format="drn")
    assert not list(tmp_path.iterdir())


def test_other_tools_read_them(tmp_path: Path) -> None:
    chain = jump(9, 2, part="left")
    write_chain(chain, tmp_path / "c.mtx", format="matrix-market")
    matrix = scipy.io.mmread(tmp_path / "c.mtx", spmatrix=False)
    assert abs(matrix - chain.to_scipy()).max() == 0
    write_chain(chain, tmp_path / "c.graphml", format="graphml")
    graph = nx.read_graphml(tmp_path / "c.graphml")
    assert graph.number_of_edges() == chain.transitions
    assert graph.nodes["0"]["label"] == chain.label(0)


@pytest.mark.parametrize(
    ("format", "values"),
    [
        ("json", "double"),
        ("matrix-market", "rational"),
        ("storm-explicit", "rational"),
        ("drn", "float"),
        ("xml", None),
    ],
)
def test_what_a_format_cannot_hold(format: str, values: str | None, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"cannot be written|is not one of"):
        write_chain(reflected_walk(2), tmp_path / "x", format=format, values=values)


def test_writing_is_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.drn"
    write_chain(reflected_walk(2), path, format="drn")
    before = path.read_bytes()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_chain(reflected_walk(5), path, format="drn")
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["x.drn"]
