"""Files of families: what the catalogue has can be written, and what is wrong is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from markov_lrsao import Landscape
from markov_lrsao.errors import LrsaoError, ParameterError
from markov_lrsao.model.affine import ELL, N, P, Piece, parameter
from markov_lrsao.model.catalogue import LANDSCAPES, entry
from markov_lrsao.model.family_files import affine, read_file
from markov_lrsao.model.landscape import JUMP, LandscapeFamily

CLIFF = """
name = "mine"
target = "C"
milestones = ["n - d", "n"]
phases = ["up", "over"]
constraints = ["d - 1", "n - d - 1"]
[parameters]
d = 3
[[objectives.C]]
first = 0
last = "n - d"
value = "p"
[[objectives.C]]
first = "n - d + 1"
last = "n"
value = "2*p - 2*d + 1"
over = 2
"""


def as_file(family: LandscapeFamily) -> dict[str, object]:
    """Write a family, by the texts of its forms."""

    def piece(given: Piece) -> dict[str, str]:
        found = {"first": given.first, "last": given.last, "value": given.value, "over": given.over}
        if given.every is not None:
            found["every"] = given.every
        return {key: str(form) for key, form in found.items()}

    return {
        "name": family.name,
        "objectives": {name: [piece(p) for p in pieces] for name, pieces in family.objectives},
        "target": family.target,
        "milestones": [str(m) for m in family.milestones],
        "constraints": [str(c) for c in family.constraints if c not in (ELL, -ELL)],
        "defined": [str(c) for c in family.defined],
        "titles": dict(family.titles),
        "phases": list(family.phases),
        "parameters": dict(family.parameters),
        "derived": {d.name: str(d) for d in family.derived},
        "divisible": [[str(a), str(b)] for a, b in family.divisible],
    }


@pytest.mark.parametrize(
    "text",
    [
        *("jump", "jump-open", "onemax", "jump-m:m=3", "cliff:d=3", "cliff:m=5,d=2", "xdivk:k=4"),
        *("hurdle:w=3", "plateau:k=2", "needle", "seqopt:gaps=3+2", "regions:widths=2+3+2"),
        *("regions:widths=2+1+2,bridges=shared", "regions:widths=2+1+2,bridges=all-but-last"),
    ],
)
def test_every_family_can_be_written_and_read(text: str, tmp_path: Path) -> None:
    family = entry(text).family(12)
    path = tmp_path / "family.json"
    path.write_text(json.dumps(as_file(family)))
    for n in (12, 16, 20):
        ell = 3 if family.has_ell else None
        assert Landscape.named(str(path), n=n, ell=ell) == Landscape.named(text, n=n, ell=ell)
    assert set(LANDSCAPES) >= {text.partition(":")[0]}


def test_parameters_of_a_file_are_keys(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(CLIFF)
    for text, d in ((str(path), 3), (f"{path}:d=4", 4), (f"{path}:d=n/2", 5)):
        assert (
            Landscape.named(text, n=10).listed() == Landscape.named(f"cliff:d={d}", n=10).listed()
        )
    assert Landscape.named(str(path), n=10).phases == ("up", "over")
    more = Landscape.named(f"{path}:d=4,helpers=onemax+constant", n=10)
    assert more.actions == ("C", "O", "K")
    assert more == Landscape.named(f"{path}:d=4", n=10, helpers=["onemax", "constant"])
    path.write_text(CLIFF.replace("d = 3\n", 'd = ""\n'))
    with pytest.raises(ParameterError, match="'d' is missing"):
        Landscape.named(str(path), n=10)
    with pytest.raises(
        ParameterError, match=f"'e' is not one of its keys; the keys of {path.name}"
    ):
        Landscape.named(f"{path}:e=4", n=10)
    with pytest.raises(ParameterError, match="not possible for mine: needed is n - d - 1 >= 0"):
        Landscape.named(f"{path}:d=11", n=10)
    path.write_text(CLIFF)
    with pytest.raises(ParameterError, match="leaves n open"):
        Landscape.load(path)


def test_arrays_in_toml_and_with_fractions(tmp_path: Path) -> None:
    path = tmp_path / "arrays.toml"
    path.write_text('target = "A"\n[objectives]\nA = [0, "1/2", "-4/3", 2]\nB = [1, 0, 0, 7]\n')
    shape = Landscape.load(path)
    assert shape.scale == 6
    assert shape.listed() == {"A": [0, "1/2", "-4/3", 2], "B": [1, 0, 0, 7]}
    assert Landscape.named(str(path)) == shape == Landscape.named(str(path), n=3)
    with pytest.raises(ParameterError, match="`n` = 4 differs from the n = 3"):
        Landscape.named(str(path), n=4)
    with pytest.raises(ParameterError, match="has no keys"):
        Landscape.named(f"{path}:d=4")
    with pytest.raises(ParameterError, match="objectives A, B already"):
        Landscape.named(str(path), helpers=["onemax"])
    path.write_text('target = "A"\n[objectives]\nA = [0, "1/2", 2]\n')
    more = Landscape.named(str(path), helpers=["zeromax"])
    assert more.listed() == {"A": [0, "1/2", 2], "Z": [2, 1, 0]}


@pytest.mark.parametrize("bad", ["1/0", "x/2", "0.5", 0.5, True, None])
def test_values_that_are_no_numbers(bad: object) -> None:
    with pytest.raises(LrsaoError):
        Landscape.from_arrays({"A": [0, "1/2", bad]}, "A")  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('value = "p"', 'value = "p*p"', "not an affine form"),
        ('value = "p"', 'value = "q"', "not an affine form"),
        ('value = "p"', 'value = "j"', "not an affine form"),
        ('value = "p"', "value = 1.5", "not an affine form"),
        ('value = "p"', 'value = "9999999999"', "beyond 1,000,000,000"),
        ('value = "p"', 'value = "__import__(1)"', "not an affine form"),
        ('last = "n - d"', 'last = "p"', "p has a meaning in values only"),
        ('last = "n - d"', 'last = "n - d - 1"', "not defined exactly once"),
        ('last = "n - d"', 'lost = "n - d"', "must have first, last and value"),
        ("over = 2", "over = 0", "denominators"),
        ('"up", ', "", "1 names for 2 milestones"),
        ("d = 3", "n = 3", "must be a word"),
        ("d = 3", "d = 1.5", "must be an integer"),
        ('target = "C"', 'target = "D"', "target = 'D'"),
        ('target = "C"', "target = {", "not TOML"),
        ('name = "mine"', 'nom = "mine"', "expected an object with the keys"),
        ('["d - 1", "n - d - 1"]', "3", "constraints must be a list"),
        ("over = 2", 'every = "0"', "repetitions must be apart"),
    ],
)
def test_files_that_are_wrong(old: str, new: str, message: str, tmp_path: Path) -> None:
    assert CLIFF.count(old) >= 1
    path = tmp_path / "wrong.toml"
    path.write_text(CLIFF.replace(old, new, 1))
    with pytest.raises(ParameterError, match=message):
        Landscape.named(str(path), n=10)


def test_forms_are_read_as_they_are_written() -> None:
    for form in (N - 2 * ELL - 5, 3 * P - parameter("d") + 1, -P, parameter("a") * 2 - N):
        assert affine(str(form), {"d", "a"}) == form
    assert affine("2*(n - 3*(l + 1))", ()) == 2 * N - 6 * ELL - 6


def test_jump_in_a_file_is_jump(tmp_path: Path) -> None:
    path = tmp_path / "jump.json"
    path.write_text(json.dumps(as_file(JUMP)))
    found = read_file(path)
    assert not isinstance(found, Landscape)
    assert found.family({}) == JUMP
