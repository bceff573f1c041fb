"""`verify --claim` and `replay` on the command line: exit codes, files, one-line errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Command

VISITS = ["verify", "--no-proof", "--n", "9:10", "--ell", "2", "--claim"]


def test_a_claim_that_holds(command: Command) -> None:
    code, out, err = command(*VISITS, "visits at l+3 <= 5", "--json")
    assert (code, err) == (0, "")
    [claim] = json.loads(out)["claims"]
    assert (claim["outcome"], claim["verdict"]) == ("holds", "VERIFIED")
    assert [x["n"] for x in claim["instances"]] == [9, 10]
    assert claim["counterexample"] is None


@pytest.mark.slow
def test_a_claim_that_fails_is_saved_and_replayed(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "bad"
    code, out, _ = command(*VISITS, "visits at 5 <= 4", "--save", str(folder))
    assert code == 1
    assert "a shortest run, 13 steps: L+ L+ L+ J+" in out
    file = folder / "claim.json"
    code, out, err = command("replay", str(file))
    assert (code, err) == (0, "")
    assert "visits at 5: 5\nconfirmed: the run violates the claim after 13 steps" in out
    assert "LRSAO on jump" in out
    assert "hypothesis (H): satisfied" in out
    data = json.loads(file.read_text(encoding="utf-8"))
    _write(file, {**data, "steps": data["steps"][:-1], "observed": "42 failing excursions"})
    code, out, _ = command("replay", str(file))
    assert code == 1
    assert "not confirmed" in out
    assert "42" not in out
    code, out, _ = command("replay", str(file), "--json")
    assert (code, json.loads(out)["judgement"]["status"]) == (1, "not confirmed")
    _write(file, {**data, "statement": "Theorem 1", "part": ""})
    code, out, _ = command("replay", str(file))
    assert code == 3
    assert "cannot be judged" in out
    for wrong in ({"format": "markov-lrsao counterexample 9"}, {"values": {"n": "10", "l": "2"}}):
        _write(file, {**data, **wrong})
        code, out, err = command("replay", str(file))
        assert (code, out, err.count("\n")) == (2, "", 1)


def _write(file: Path, data: dict[str, Any]) -> None:
    file.write_text(json.dumps(data), encoding="utf-8")


def test_several_claims_are_worth_their_worst(command: Command, tmp_path: Path) -> None:
    words = [*VISITS, "visits at 5 <= 5", "--claim", "visits at 5 <= 3", "--claim", "visits < 2"]
    code, out, _ = command(*words, "--save", str(tmp_path))
    assert code == 1
    assert out.count("fails (REFUTED)") == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["claim-1.json", "claim-2.json"]


def test_a_claim_that_is_undecided(command: Command) -> None:
    words = ["verify", "--claim", "positive entries per row <= 2", "--algorithm", "earl"]
    code, out, _ = command(*words, "--n", "9", "--max-states", "100")
    assert code == 3
    assert "undecided (UNKNOWN)" in out
    assert "raise --max-states" in out


def test_a_landscape_of_ones_own(command: Command, tmp_path: Path) -> None:
    mine = tmp_path / "mine.json"
    _write(mine, {"objectives": {"F": [0, 0, 1], "f": [0, 1, 0]}, "target": "F"})
    words = ["verify", "--landscape", str(mine), "--outside-h", "--claim"]
    assert command(*words, "positive entries per row <= 1").code == 0
    code, out, _ = command(*words, "uses(f) at 1 <= 3", "--save", str(tmp_path))
    assert code == 1
    code, out, _ = command("replay", str(tmp_path / "claim.json"))
    assert code == 0
    assert "  F: 0 0 1 (target)\n  f: 0 1 0\n" in out
    code, _, err = command(*words, "visits <= 5", "--n", "9:14")
    assert code == 2
    assert "without the n = 2" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--claim", "visit <= 5", "--n", "9"], "did you mean 'visits'?"),
        (["--claim", "visits <= 5"], "--n is missing"),
        (["--n", "9"], "--n belongs to a claim"),
        (["--r", "9"], "--r belongs to a claim"),
        (["Lemma 10", "--claim", "visits <= 5", "--n", "9"], "exclude each other"),
        (["--list", "--claim", "visits <= 5", "--n", "9"], "exclude each other"),
        (["--claim", "visits <= 5", "--n", "9", "--ell", "3"], "choose ell in 2..2"),
        (["--claim", "visits <= 5", "--n", "8"], "admits no ell"),
        (["--claim", "visits <= 5", "--n", "9:10", "--ell", "7,8"], "is admissible"),
        (["--claim", "visits <= 5", "--n", "9", "--r", "1"], "--outside-h computes anyway"),
        (["--claim", "visits at 10 <= 5", "--n", "9"], "choose one of 0..9"),
        (["--claim", "uses(j) <= 5", "--n", "9"], "did you mean 'J'?"),
        (["--claim", "visits <= 5", "--n", "9", "--algorithm", "rls", "--r", "1"], "no meaning"),
        (["--claim", "visits <= 5", "--landscape", "no.json"], "neither known nor a file"),
        (["--claim", "visits <= 5", "--n", "14:9"], "smaller number first"),
    ],
)
def test_what_is_not_understood_is_one_line(
    command: Command, words: list[str], message: str
) -> None:
    code, out, err = command("verify", *words)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
