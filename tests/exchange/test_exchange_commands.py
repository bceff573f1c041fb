"""`markov-lrsao export` and `markov-lrsao solve`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from flint import fmpq
from peer_chains import reflected_walk

from markov_lrsao.chains.sources import chain_from_rows
from markov_lrsao.cli import main
from markov_lrsao.exchange import write_chain

TRUTH = "51740216905/1185192162"


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    assert main([str(a) for a in arguments]) == 0
    return capsys.readouterr().out


def refuse(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    assert main([str(a) for a in arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


@pytest.mark.parametrize(
    ("format", "name"),
    [
        ("drn", "x.drn"),
        ("json", "x.json"),
        ("graphml", "x.graphml"),
        ("prism", "x.tra"),
        ("matrix-market", "x.mtx"),
        ("storm-explicit", "x.tra"),
    ],
)
def test_export_then_solve(
    format: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = run(capsys, "export", "--n", "9", "--ell", "2", "--format", format, tmp_path / name)
    assert "1,879 states" in out
    answer = json.loads(run(capsys, "solve", tmp_path / name, "--target", "target", "--json"))
    (start,) = answer["starts"]
    assert answer["exact"] is False
    assert float(start["mean"]["decimal"]) == pytest.approx(51740216905 / 1185192162, rel=1e-13)
    if format in ("drn", "json", "graphml"):
        exact = json.loads(
            run(capsys, "solve", tmp_path / name, "--target", "target", "--exact", "--json")
        )
        assert exact["starts"][0]["mean"]["rational"] == TRUTH
        assert exact["starts"][0]["probability"]["rational"] == "1"
        text = run(capsys, "solve", tmp_path / name, "--target", "target", "--exact")
        assert TRUTH in text


def test_the_readable_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(
        capsys,
        "export",
        "--n",
        "9",
        "--ell",
        "2",
        "--format",
        "prism-language",
        tmp_path / "m.prism",
    )
    text = (tmp_path / "m.prism").read_text()
    assert "[] p=0 & q0=0 -> (n-p)/(3*n)" in text
    assert 'label "target" = p=9;' in text


def test_parts_and_their_start_states(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "export", "--n", "9", "--ell", "2", "--part", "left", tmp_path / "l.drn")
    answer = json.loads(
        run(capsys, "solve", tmp_path / "l.drn", "--target", "target", "--exact", "--json")
    )
    assert answer["starts"][0]["mean"]["rational"] == "9853/2856"
    run(capsys, "export", "--n", "9", "--ell", "2", "--part", "right", tmp_path / "r.drn")
    answer = json.loads(
        run(capsys, "solve", tmp_path / "r.drn", "--target", "target", "--exact", "--json")
    )
    assert len(answer["starts"]) > 1


def test_a_hyper_parameter_reaches_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [
        "export",
        "--n",
        "9",
        "--ell",
        "2",
        "--alpha",
        "0.9",
        "--format",
        "prism-language",
        str(tmp_path / "m.prism"),
    ]
    assert main(arguments) == 0
    assert "greedy choices are undecided and have no command" in capsys.readouterr().err
    text = (tmp_path / "m.prism").read_text()
    assert "alpha = 9/10" in text
    assert "the greedy choice is undecided, no command" in text


def test_converting_between_formats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_chain(reflected_walk(60), tmp_path / "w.drn", format="drn")
    run(
        capsys,
        "export",
        "--chain",
        tmp_path / "w.drn",
        "--format",
        "prism",
        "--values",
        "rational",
        tmp_path / "w",
    )
    text = run(capsys, "solve", tmp_path / "w.tra", "--target", "top", "--exact")
    assert str(4 * 2**60 - 184) in text


def test_infinite_expectations_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chain = chain_from_rows([{1: "1/3", 2: "2/3"}, {1: 1}, {2: 1}], start=[0, 2])
    write_chain(chain.with_labels({"goal": [1]}), tmp_path / "x.drn", format="drn")  # type: ignore[dict-item]
    text = run(capsys, "solve", tmp_path / "x.drn", "--target", "goal", "--exact")
    assert "infinite: the target may be missed" in text
    assert "the target cannot be reached" in text
    answer = json.loads(
        run(capsys, "solve", tmp_path / "x.drn", "--target", "goal", "--exact", "--json")
    )
    first, second = answer["starts"]
    assert (first["finite"], first["probability"]["rational"]) == (False, "1/3")
    assert first["conditional_mean"]["rational"] == "1"
    assert second["probability"]["rational"] == "0"
    assert second["conditional_mean"] is None


def test_rewards_and_chosen_states(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rewards = {"fuel": [fmpq(k, 2) for k in range(4)]}
    write_chain(reflected_walk(3), tmp_path / "x.drn", format="drn", rewards=rewards)
    answer = json.loads(
        run(
            capsys,
            "solve",
            tmp_path / "x.drn",
            "--target",
            "top",
            "--from",
            "2",
            "--reward",
            "fuel",
            "--exact",
            "--json",
        )
    )
    assert answer["starts"][0]["state"] == 2
    # v1 = 1/2 + 2/3 v0 + 1/3 v2, v0 = v1, v2 = 1 + 2/3 v1  =>  v1 = 5/2 + ... = 15/2 / 1
    assert answer["starts"][0]["mean"]["rational"] == "6"
    by_number = json.loads(
        run(capsys, "solve", tmp_path / "x.drn", "--target-state", "3", "--exact", "--json")
    )
    assert by_number["starts"][0]["mean"]["rational"] == "19"


def test_rounded_decimals_are_reported_and_not_exact(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.tra").write_text("3 5\n0 0 0.333333\n0 1 0.333333\n0 2 0.333333\n1 1 1\n2 2 1\n")
    (tmp_path / "x.lab").write_text('0="init" 1="goal"\n0: 0\n1: 1\n')
    text = run(capsys, "solve", tmp_path / "x.tra", "--target", "goal")
    assert "note: 1 rows of rounded decimals sum to 1 only within 1e-06 (first: line 2)" in text
    err = refuse(capsys, "solve", tmp_path / "x.tra", "--target", "goal", "--exact")
    assert "an exact answer needs exact probabilities" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["solve", "{w}", "--target", "nowhere"], "no label 'nowhere'; its labels are: top"),
        (["solve", "{w}"], "give either --target"),
        (["solve", "{w}", "--target", "top", "--target-state", "1"], "give either --target"),
        (["solve", "{w}", "--target-state", "9"], "does not exist"),
        (["solve", "{w}", "--target", "top", "--from", "9"], "does not exist"),
        (["solve", "{w}", "--target", "top", "--reward", "x"], "its rewards: none"),
        (["solve", "{w}.txt", "--target", "top"], "is not known"),
        (["export", "--n", "9", "--ell", "2", "--part", "middle", "{o}"], "middle"),
        (["export", "--n", "8", "--ell", "2", "{o}"], "n = 8"),
        (
            ["export", "--n", "9", "--ell", "2", "--format", "json", "--values", "double", "{o}"],
            "cannot be written",
        ),
        (["export", "--n", "9", "--ell", "2", "{o}/absent/x.drn"], "does not exist"),
        (["export", "--chain", "{w}", "--n", "9", "{o}"], "goes without --n"),
        (["export", "--n", "9", "--ell", "2", "--format", "xml", "{o}"], "xml"),
        (["export", "--n", "20", "--ell", "2", "--unmerged", "--max-states", "999", "{o}"], "999"),
    ],
)
def test_refusals(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_chain(reflected_walk(3), tmp_path / "w.drn", format="drn")
    paths = {"w": tmp_path / "w.drn", "o": tmp_path / "out"}
    assert message in refuse(capsys, *(a.format(**paths) for a in arguments))
    assert not (tmp_path / "out").exists()
