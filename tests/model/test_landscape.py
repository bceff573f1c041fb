from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import valid_pairs
from oracles import paper_objectives

from markov_lrsao import Landscape, LandscapeFamily, LrsaoError
from markov_lrsao.errors import ParameterError
from markov_lrsao.model.landscape import ELL, JUMP, ONEMAX, Affine, N, P, Piece

small = st.integers(-5, 5)
forms = st.builds(Affine, small, small, small, small)


@given(forms, forms, small, small, small, small)
def test_affine_forms_are_a_module(a: Affine, b: Affine, k: int, p: int, n: int, ell: int) -> None:
    at = {"p": p, "n": n, "ell": ell}
    assert (a + b)(**at) == a(**at) + b(**at)
    assert (a - b)(**at) == a(**at) - b(**at)
    assert (k * a)(**at) == (a * k)(**at) == k * a(**at)
    assert (k - a)(**at) == k - a(**at)
    assert (-a)(**at) == -a(**at)


@given(forms, small, small, small)
def test_affine_text_can_be_evaluated(a: Affine, p: int, n: int, ell: int) -> None:
    assert eval(str(a), {"p": p, "n": n, "l": ell}) == a(p=p, n=n, ell=ell)


@pytest.mark.parametrize(("n", "ell"), valid_pairs(20))
def test_jump_is_the_papers(n: int, ell: int) -> None:
    landscape = Landscape.jump(n, ell)
    expected = paper_objectives(n, ell)
    assert list(landscape.objectives) == ["L", "J", "R"]
    for name, values in expected.items():
        assert landscape.objectives[name].tolist() == values
    assert landscape.target == "J"
    assert landscape.milestones == (ell + 1, n - ell, n)
    assert landscape.optimum == n
    assert landscape.largest_gain == n - ell - 1


@pytest.mark.parametrize("n", range(1, 41))
def test_the_range_of_ell_is_the_papers(n: int) -> None:
    allowed = list(range(2, (n - 1) // 2 - 2 + 1))
    found = JUMP.ell_range(n)
    assert found == ((allowed[0], allowed[-1]) if allowed else None)
    for ell in range(-2, n + 2):
        if ell in allowed:
            JUMP.check(n, ell)
        else:
            with pytest.raises(ParameterError, match=r"choose ell in|admits no ell"):
                JUMP.check(n, ell)


def test_a_right_plateau_of_one_position_is_defined_but_beyond_the_theory() -> None:
    narrow = Landscape.jump(7, 1)
    assert narrow.objectives["L"].tolist() == [0, 1, 2, 0, 0, 0, 0, 0]
    assert narrow.objectives["J"].tolist() == [0, 0, 2, 3, 4, 5, 0, 7]
    assert narrow.objectives["R"].tolist() == [0, 0, 0, 0, 0, 5, 6, 7]
    assert narrow.milestones == (2, 6, 7)
    assert narrow.beyond_theory
    assert not Landscape.jump(9, 2).beyond_theory
    assert JUMP.ell_range(7) is None
    assert JUMP.ell_range(9) == (2, 2)
    for n, ell in ((6, 1), (9, 0), (0, 1)):
        assert not JUMP.covers(n, ell)
        with pytest.raises(ParameterError):
            Landscape.jump(n, ell)


def test_messages_name_the_allowed_range() -> None:
    with pytest.raises(ParameterError, match=r"n = 8 admits no ell .* n = 9, ell = 2"):
        Landscape.jump(8, 2)
    with pytest.raises(ParameterError, match=r"ell = 5 .* choose ell in 2\.\.4"):
        Landscape.jump(13, 5)
    with pytest.raises(ParameterError, match="n = 0 is too small"):
        Landscape.jump(0, 2)


def test_onemax() -> None:
    landscape = Landscape.onemax(6)
    assert landscape.objectives["O"].tolist() == list(range(7))
    assert landscape.milestones == (6,)
    with pytest.raises(ParameterError, match="ell = 1 is out of range"):
        ONEMAX.at(6, 1)


def family(*pieces: Piece) -> LandscapeFamily:
    return LandscapeFamily("F", (("A", pieces),), "A", (N,))


def test_pieces_must_cover_each_position_once() -> None:
    good = family(Piece.of(0, ELL, P), Piece.of(ELL + 1, N, 2 * P + N)).at(5, 2)
    assert good.objectives["A"].tolist() == [0, 1, 2, 11, 13, 15]
    with pytest.raises(ParameterError, match="not defined exactly once at position 3"):
        family(Piece.of(0, ELL, P), Piece.of(ELL + 2, N, P)).at(5, 2)
    with pytest.raises(ParameterError, match="not defined exactly once at position 2"):
        family(Piece.of(0, ELL, P), Piece.of(ELL, N, P)).at(5, 2)
    with pytest.raises(ParameterError, match=r"piece on 0\.\.6, outside 0\.\.5"):
        family(Piece.of(0, N + 1, P)).at(5, 2)
    empty = family(Piece.of(0, N, P), Piece.of(3, 2, 7)).at(5)
    assert empty.objectives["A"].tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("objectives", "target", "milestones", "message"),
    [
        ({"A": [0, 1]}, "B", None, "target = 'B'"),
        ({"A": [0, 1], "B": [0, 1, 2]}, "A", None, "the same"),
        ({"A": [5]}, "A", None, "the same"),
        ({}, "A", None, "the same"),
        ({"A": [0.0, 1.0]}, "A", None, "integers"),
        ({"A": [[0, 1]]}, "A", None, "integers"),
        ({"A": ["0", "1"]}, "A", None, "integers"),
        ({"A": [0, True, 2]}, "A", None, "integers"),
        ({"A": [0, 2, 2]}, "A", None, "one largest value"),
        ({"A": [0, 1, 2]}, "A", [1], "last milestone"),
        ({"A": [0, 1, 2]}, "A", [2, 2], "must increase"),
        ({"A": [0, 1, 2]}, "A", [0, 2], "must increase"),
        ({"A": [2, 1, 0]}, "A", None, "must increase from above 0"),
    ],
)
def test_bad_arrays(objectives: object, target: str, milestones: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Landscape.from_arrays(objectives, target, milestones)  # type: ignore[arg-type]


def test_arrays_are_copied_and_read() -> None:
    values = np.array([0, 3, 1], dtype=np.int32)
    landscape = Landscape.from_arrays({"A": values}, "A")  # type: ignore[dict-item]
    assert landscape.milestones == (1,)
    assert landscape.optimum == 1
    assert landscape.objectives["A"].dtype == np.int64


def test_load(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(
        json.dumps(
            {"objectives": {"A": [0, 1, 4], "B": [1, 0, 0]}, "target": "A", "milestones": [1, 2]}
        )
    )
    landscape = Landscape.load(path)
    assert (landscape.name, landscape.n, landscape.milestones) == ("mine", 2, (1, 2))
    assert landscape.actions == ("A", "B")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "3",
        '{"objectives": {"A": [0, 1]}}',
        '{"target": "A"}',
        '{"objectives": [0, 1], "target": "A"}',
        '{"objectives": {"A": [0, 1]}, "target": "A", "mileston": [1]}',
        '{"objectives": {"A": [0, 1.5]}, "target": "A"}',
        '{"objectives": {"A": null}, "target": "A"}',
    ],
)
def test_bad_files(text: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(ParameterError):
        Landscape.load(path)
    with pytest.raises(ParameterError, match="neither known nor a file"):
        Landscape.load(tmp_path / "missing.json")


@pytest.mark.parametrize(
    "text",
    [
        '{"objectives": {"A": [0, 1]}, "target": ["A"]}',
        '{"objectives": {"A": [0, 1]}, "target": "A", "milestones": 1}',
        '{"objectives": {"A": [0, 1]}, "target": "A", "milestones": []}',
        '{"objectives": {"A": [0, 1]}, "target": "A", "milestones": ["x"]}',
        '{"objectives": {"A": [0, 1]}, "target": "A", "milestones": [null]}',
        '{"objectives": {"A": [0, [1]]}, "target": "A"}',
    ],
)
def test_worse_files(text: str, tmp_path: Path) -> None:
    path = tmp_path / "worse.json"
    path.write_text(text)
    with pytest.raises(LrsaoError):
        Landscape.load(path)


def test_equal_landscapes_compare_equal() -> None:
    jump = Landscape.jump(9, 2)
    assert jump == Landscape.jump(np.int64(9), np.int8(2))
    assert hash(jump) == hash(Landscape.jump(9, 2))
    arrays = {"A": [0, 1, 2], "B": [2, 1, 0]}
    plain = Landscape.from_arrays(arrays, target="A")
    assert plain == Landscape.from_arrays({k: np.array(v) for k, v in arrays.items()}, target="A")
    assert len({plain, Landscape.from_arrays(arrays, target="A"), jump, JUMP.at(9, 2)}) == 2
    assert plain != "A"


@pytest.mark.parametrize(
    "other",
    [
        Landscape.from_arrays({"A": [0, 1, 2], "B": [2, 2, 0]}, target="A"),
        Landscape.from_arrays({"B": [2, 1, 0], "A": [0, 1, 2]}, target="A"),
        Landscape.from_arrays({"A": [0, 1, 2], "C": [2, 1, 0]}, target="A"),
        Landscape.from_arrays({"A": [0, 1, 2], "B": [2, 1, 0]}, "A", [1, 2]),
        Landscape.from_arrays({"A": [0, 1, 2], "B": [2, 1, 0]}, "A", name="other"),
        Landscape.from_arrays({"A": [0, 1, 2], "B": [2, 1, 0]}, "A", ell=1),
    ],
    ids=["value", "order of actions", "name of an action", "milestones", "name", "ell"],
)
def test_different_landscapes_do_not(other: Landscape) -> None:
    assert Landscape.from_arrays({"A": [0, 1, 2], "B": [2, 1, 0]}, target="A") != other


def test_a_family_is_part_of_a_landscape() -> None:
    """It names the phases, and proofs read it."""
    jump = Landscape.jump(9, 2)
    bare = Landscape.from_arrays(jump.objectives, "J", jump.milestones, name="Jump", ell=2)
    assert bare.objectives["J"].tolist() == jump.objectives["J"].tolist()
    assert bare != jump


def test_numpys_integers_become_pythons() -> None:
    landscape = Landscape.jump(np.int64(9), np.uint8(2))
    assert (type(landscape.n), type(landscape.ell)) == (int, int)
    assert {type(m) for m in landscape.milestones} == {int}
    with pytest.raises(ParameterError, match=r"n = 9\.5 is not an integer"):
        Landscape.jump(9.5, 2)  # type: ignore[arg-type]


def test_the_arrays_of_a_landscape_cannot_be_changed() -> None:
    given = np.array([0, 1, 2])
    landscape = Landscape.from_arrays({"A": given}, target="A")
    with pytest.raises(ValueError, match="read-only"):
        landscape.objectives["A"][0] = 5
    given[0] = 1  # the caller's own array is left as it was
    assert landscape.objectives["A"].tolist() == [0, 1, 2]
