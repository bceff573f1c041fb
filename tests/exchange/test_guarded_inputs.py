"""What a user may name as a file: FIFOs, devices, giants; and what reaches the terminal."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from flint import fmpq
from peer_chains import reflected_walk

from markov_lrsao import Landscape
from markov_lrsao.cli import main
from markov_lrsao.errors import FileFormatError, LrsaoError, ParameterError
from markov_lrsao.exchange import read_chain, write_chain
from markov_lrsao.inputs import load_json, parse_size, read_input, read_text
from markov_lrsao.texts import listing, printable
from proofs_check.claims.counterexample import Counterexample
from simulate.sweeps.plan import Plan

READERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "drn": (read_chain, "x.drn"),
    "tra": (read_chain, "x.tra"),
    "json": (read_chain, "x.json"),
    "graphml": (read_chain, "x.graphml"),
    "mtx": (read_chain, "x.mtx"),
    "gz": (read_chain, "x.drn.gz"),
    "landscape": (Landscape.load, "x.json"),
    "plan": (Plan.load, "x.toml"),
    "json plan": (Plan.load, "x.json"),
    "counterexample": (Counterexample.load, "x.json"),
}


@pytest.mark.parametrize("reader", READERS)
def test_only_regular_files_are_read(reader: str, tmp_path: Path) -> None:
    """None of these may wait for a writer or read an endless device."""
    load, name = READERS[reader]
    os.mkfifo(tmp_path / name)
    with pytest.raises(LrsaoError, match="a FIFO; only regular files are read"):
        load(tmp_path / name)
    (tmp_path / name).unlink()
    (tmp_path / name).symlink_to("/dev/zero")
    with pytest.raises(LrsaoError, match="a device; only regular files are read"):
        load(tmp_path / name)
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    with pytest.raises(LrsaoError, match="a directory; only regular files are read"):
        load(tmp_path / name)
    (tmp_path / name).rmdir()
    (tmp_path / name).symlink_to(tmp_path / name)
    with pytest.raises(LrsaoError, match=r"symbolic links|Too many levels"):
        load(tmp_path / name)


@pytest.mark.parametrize("beside", ["x.lab", "x.srew", "x.trew", "x1.srew"])
def test_files_beside_are_guarded_too(beside: str, tmp_path: Path) -> None:
    (tmp_path / "x.tra").write_text("1 1\n0 0 1\n")
    os.mkfifo(tmp_path / beside)
    with pytest.raises(FileFormatError, match="a FIFO"):
        read_chain(tmp_path / "x.tra")
    (tmp_path / beside).unlink()
    (tmp_path / beside).symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileFormatError, match="No such file"):
        read_chain(tmp_path / "x.tra")


def test_links_to_regular_files_are_followed(tmp_path: Path) -> None:
    write_chain(reflected_walk(3), tmp_path / "w.drn", format="drn")
    (tmp_path / "link.drn").symlink_to(tmp_path / "w.drn")
    assert read_chain(tmp_path / "link.drn").chain.size == 4


@pytest.mark.parametrize("reader", READERS)
def test_the_size_limit(reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load, name = READERS[reader]
    data = b"x" * 1001
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    monkeypatch.setenv("MARKOV_LRSAO_MAX_SIZE", "1000")
    with pytest.raises(LrsaoError, match="larger than the limit of 1,000 bytes; raise it with"):
        load(tmp_path / name)
    monkeypatch.setenv("MARKOV_LRSAO_MAX_SIZE", "1001")
    with pytest.raises(LrsaoError) as caught:
        load(tmp_path / name)
    assert "larger than" not in str(caught.value)


def test_limits_are_exact_and_hold_after_decompression(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"a" * 500)
    assert read_input(tmp_path / "x", 500) == b"a" * 500
    with pytest.raises(FileFormatError, match="499 bytes"):
        read_input(tmp_path / "x", 499)
    (tmp_path / "x.gz").write_bytes(gzip.compress(b"a" * 500) + gzip.compress(b"b" * 500))
    assert read_input(tmp_path / "x.gz", 1000) == b"a" * 500 + b"b" * 500
    with pytest.raises(FileFormatError, match="999 bytes"):
        read_input(tmp_path / "x.gz", 999)


def test_a_bomb_takes_no_memory(tmp_path: Path) -> None:
    """Four gigabytes of nothing, in four megabytes: refused within 600 MiB of address space."""
    block = gzip.compress(bytes(2**26))
    (tmp_path / "x.drn.gz").write_bytes(block * 64)
    code = (
        "import resource, sys\n"
        "from markov_lrsao.inputs import read_input\n"
        "size = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (size + 600 * 2**20,) * 2)\n"
        "read_input(sys.argv[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "x.drn.gz")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "larger than the limit of 268,435,456 bytes" in done.stderr
    assert "MemoryError" not in done.stderr


@pytest.mark.parametrize(
    ("text", "size"), [("1", 1), ("10k", 10240), ("3M", 3 * 2**20), (" 2G ", 2**31), ("1t", 2**40)]
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text, "x") == size


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5G", "1P", "G", "1GB", "9" * 19, "0M"])
def test_bad_sizes(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParameterError, match="is not a size"):
        parse_size(text, "--max-size")
    if text:
        monkeypatch.setenv("MARKOV_LRSAO_MAX_SIZE", text)
        with pytest.raises(ParameterError, match="MARKOV_LRSAO_MAX_SIZE"):
            read_text(tmp_path / "x")


def lines_of(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """Run a command that must fail with one line, and return it."""
    assert main([str(a) for a in arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.endswith("\n")
    assert err[:-1].isprintable()
    return err


def test_the_option_for_the_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_chain(reflected_walk(3), tmp_path / "w.drn", format="drn")
    size = (tmp_path / "w.drn").stat().st_size
    commands: tuple[list[str | Path], ...] = (
        ["solve", tmp_path / "w.drn", "--target", "top"],
        ["export", "--chain", tmp_path / "w.drn", tmp_path / "v.drn"],
    )
    for command in commands:
        assert main([*map(str, command), "--max-size", str(size)]) == 0
        capsys.readouterr()
        assert "limit" in lines_of(capsys, *command, "--max-size", str(size - 1))
        assert "is not a size" in lines_of(capsys, *command, "--max-size", "many")


HEAD = '{"format": "markov chain", "version": 1, "states": 2, '
NAMED = (
    HEAD + '"start": [0], "labels": {"go\\u001b[31mal": [1]}, "names": [%s, "b"], '
    '"rows": [[[1, "1"]], [[1, "1"]]]}'
)


@pytest.mark.parametrize(
    "name",
    [
        '"\\ud800"',
        '"a\\u001b[2J\\u0007"',
        '"a\\nb"',
        '"\\u202eabc"',
        '"\\u009b31m"',
        '"\\u0000"',
        '"tab\\there"',
    ],
)
def test_names_and_labels_reach_the_terminal_escaped(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.json").write_text(NAMED % name)
    target = ["--target", "go\x1b[31mal"]
    assert main(["solve", str(tmp_path / "x.json"), *target]) == 0
    out = capsys.readouterr().out
    assert all(line.isprintable() for line in out.split("\n"))
    assert repr(json.loads(name))[1:-1] in out
    assert main(["solve", str(tmp_path / "x.json"), *target, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["starts"][0]["name"] == json.loads(name)
    err = lines_of(capsys, "solve", tmp_path / "x.json", "--target", "\x1b[0mno")
    assert "go\\x1b[31mal" in err
    for format in ("graphml", "drn", "prism"):
        lines_of(
            capsys, "export", "--chain", tmp_path / "x.json", "--format", format, tmp_path / "out"
        )
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.json"]


def test_names_of_landscapes_and_counterexamples_are_escaped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.json"
    path.write_text(
        json.dumps(
            {
                "objectives": {"A\x1b[31m": [0, 1, 2, 3], "B\ud800": [3, 1, 1, 0]},
                "target": "A\x1b[31m",
                "name": "n\x1b[2J",
            }
        )
    )
    for command in (
        ["states"],
        ["exact"],
        ["export", str(tmp_path / "out.json"), "--format", "json"],
    ):
        code = main([*command, "--landscape", str(path), "--outside-h"])
        out, err = capsys.readouterr()
        assert code in (0, 2)
        assert all(line.isprintable() for line in (out + err).split("\n"))
    point = {
        "statement": "Lemma\x1b[31m 5",
        "expected": "a\x07",
        "observed": "b\ud800",
        "values": {"n": "3\x1b"},
        "objectives": {},
        "target": "",
        "milestones": [],
        "steps": [],
    }
    path.write_text(json.dumps(point))
    assert main(["replay", str(path)]) in (0, 2)
    out, err = capsys.readouterr()
    assert all(line.isprintable() for line in (out + err).split("\n"))


def test_a_name_of_a_file_is_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a\x1b[31m\nb.drn"
    assert "\\x1b[31m" in lines_of(capsys, "solve", path, "--target", "x")
    write_chain(reflected_walk(2), path, format="drn")
    assert main(["solve", str(path), "--target", "top"]) == 0
    assert "\x1b" not in capsys.readouterr().out
    path.write_text("@type: \x1b[31m\n")
    assert "\\x1b" in lines_of(capsys, "solve", path, "--target", "x")
    strange = Path(os.fsdecode(bytes(tmp_path) + b"/\xff.drn"))
    assert "\\udcff" in lines_of(capsys, "solve", strange, "--target", "x")


@pytest.mark.parametrize(
    "rows",
    [
        '[[[1, "1/2"]], [[1, "1"]]]',
        '[[[1, "1"]], [[9, "1"]]]',
        '[[[1, "1"]],\n 5]',
        '[[[1, "1"]],\n [[1, "x"]]]',
    ],
)
@pytest.mark.parametrize("key", ['"r\\u006fws"', '"rows"'])
def test_bad_rows_under_a_key_written_with_escapes(rows: str, key: str, tmp_path: Path) -> None:
    """The line of the row is found although the key, or another text, looks different."""
    path = tmp_path / "a: b, line 0: c.json"
    path.write_text(
        '{"names": ["\\"rows\\"", "[{,"],\n"labels": {"\\"rows\\": [": []},\n'
        f'"version": 1, "states": 2,\n{key}: {rows}, "format": "markov chain"}}'
    )
    with pytest.raises(FileFormatError, match=r"c\.json, line [45]: ") as caught:
        read_chain(path)
    line = 5 if "\n" in rows else 4
    assert str(caught.value).startswith(f"{path}, line {line}: ")


def test_at_most_twenty_labels_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chain = reflected_walk(2).with_labels({f"label{k:03}": np.array([1]) for k in range(500)})
    write_chain(chain, tmp_path / "x.drn", format="drn")
    for arguments in (["--target", "nowhere"], []):
        err = lines_of(capsys, "solve", tmp_path / "x.drn", *arguments)
        assert "label019 and 481 more" in err
        assert "label020" not in err
    write_chain(
        reflected_walk(2),
        tmp_path / "x.json",
        format="json",
        rewards={f"r{k:03}": [fmpq(0), fmpq(1), fmpq(2)] for k in range(30)},
    )
    err = lines_of(capsys, "solve", tmp_path / "x.json", "--target", "top", "--reward", "no")
    assert "'r019' and 10 more" in err


def test_listing() -> None:
    assert listing([]) == "none"
    assert listing(["a"] * 20) == ", ".join(["a"] * 20)
    assert listing(["a"] * 21).endswith("a and 1 more")
    assert listing(["\x07"]) == "\\x07"
    assert listing(["a" * 60, "b" * 61]) == "a" * 60 + ", " + "b" * 57 + "..."
    assert printable("größe 数 a\tb\n", keep="\n") == "größe 数 a\\tb\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--from", "99999999999999999999"],
        ["--from", "-1"],
        ["--from", "4"],
        ["--from", "-99999999999999999999999"],
        ["--from", "9" * 5000],
        ["--target-state", "99999999999999999999"],
        ["--from", "1", "--from", "9" * 30],
    ],
)
def test_states_that_do_not_exist(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_chain(reflected_walk(3), tmp_path / "w.drn", format="drn")
    target = [] if arguments[0] == "--target-state" else ["--target", "top"]
    lines_of(capsys, "solve", tmp_path / "w.drn", *target, *arguments)


@pytest.mark.parametrize(
    "reward", ["1e350", "1e-350", "9" * 400, f"1/{'9' * 400}", "1e308", "9" * 5000]
)
def test_rewards_outside_the_floats(
    reward: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.tra").write_text("2 3\n0 0 0.9\n0 1 0.1\n1 1 1\n")
    (tmp_path / "x.lab").write_text('0="init" 1="goal"\n0: 0\n1: 1\n')
    (tmp_path / "x.srew").write_text(f"2 1\n0 {reward}\n")
    command = ["solve", str(tmp_path / "x.tra"), "--target", "goal", "--reward", "reward"]
    assert "range of floats; use --exact" in lines_of(capsys, *command)
    for extra in ([], ["--json"]):
        assert main([*map(str, command), "--exact", *extra]) == 0
        out = capsys.readouterr().out
        assert "inf" not in out.lower()
    if not reward.startswith("1e308"):
        lines_of(
            capsys,
            "export",
            "--chain",
            tmp_path / "x.tra",
            "--format",
            "storm-explicit",
            tmp_path / "out",
        )
    assert not list(tmp_path.glob("out*"))


def test_json_that_is_no_json() -> None:
    for text in ("NaN", "[Infinity]", "[" * 10**5, "1" * 5000, "{", '{"a": {"b": 1, "b": 2}}'):
        with pytest.raises(FileFormatError) as caught:
            load_json(text, "x\x1b.json")
        assert str(caught.value).isprintable()
    assert load_json('{"a": [1, {"a": 2}]}', "x") == {"a": [1, {"a": 2}]}
