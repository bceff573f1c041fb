"""Damaged files of every format: one line and exit code 2, or an answer that others confirm."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import damaged_files
import pytest

SCRIPT = Path(damaged_files.__file__)


def run(first: int, count: int, record: Callable[[str, object], None]) -> None:
    """Run cases in a child, whose memory is its own."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(first), str(count)],
        capture_output=True,
        text=True,
        check=False,
        cwd=SCRIPT.parents[2],
    )
    assert done.stderr == ""
    result = json.loads(done.stdout)
    for name, value in result["table"].items():
        record(name, value)
    record("MiB", result["peak"] >> 20)
    assert result["failures"] == []
    assert result["peak"] < damaged_files.MEMORY
    assert sum(result["table"].values()) == count
    assert done.returncode == 0


def test_damaged_files(record_property: Callable[[str, object], None]) -> None:
    run(0, 40, record_property)


@pytest.mark.slow
def test_a_tenth_of_the_damaged_files(record_property: Callable[[str, object], None]) -> None:
    run(0, 200, record_property)


@pytest.mark.exhaustive
def test_all_damaged_files(record_property: Callable[[str, object], None]) -> None:
    run(0, 2000, record_property)


@pytest.mark.parametrize("format", sorted(damaged_files.VIEWS))
def test_the_readers_of_the_campaign_see_what_is_wrong(format: str, tmp_path: Path) -> None:
    """Undamaged files are confirmed; an answer to another question is not."""
    from markov_lrsao.chains.reaching import reach
    from markov_lrsao.exchange import read_chain

    texts = damaged_files.FILES[format]
    for name, text in texts.items():
        data = text.encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    read = read_chain(tmp_path / sorted(texts, key=lambda n: "tra" not in n[:5])[0])
    view = damaged_files.VIEWS[format](dict(texts))
    goal = read.chain.labelled("goal")
    result = reach(read.chain, goal)
    answer = {"reward": None, "starts": [start.to_dict() for start in result.starts]}
    damaged_files.agree(view, answer)
    view.rows[2] = {4: 1.0} if format not in ("prism", "storm") else {0: 1.0}
    with pytest.raises(AssertionError):
        damaged_files.agree(view, answer)
    view.rows[2] = {3: 0.5}
    with pytest.raises(AssertionError, match="not stochastic"):
        damaged_files.agree(view, answer)
