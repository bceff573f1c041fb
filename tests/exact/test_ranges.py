"""Lists of numbers: one grammar, and the same refusals wherever they are written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from markov_lrsao.errors import ExactnessError, ParameterError
from markov_lrsao.exact.ranges import LONGEST, integers, rationals


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("9", [9]),
        (9, [9]),
        (np.int64(9), [9]),
        ("9,12", [9, 12]),
        ("9:12", [9, 10, 11, 12]),
        ("9:9", [9]),
        ("9:9:5", [9]),
        ("50:200:50", [50, 100, 150, 200]),
        ("50:199:50", [50, 100, 150]),
        ("9:13@3", [9, 11, 13]),
        ("-3:3:3", [-3, 0, 3]),
        (["9:10", 12, ["20"]], [9, 10, 12, 20]),
        (" 9 , 12 ", [9, 12]),
    ],
)
def test_integers(value: Any, expected: list[int]) -> None:
    assert integers(value) == expected


def test_rationals_are_exact_and_include_both_ends() -> None:
    found = rationals("0.01:0.99@99", "alpha")
    assert found == [fmpq(k, 100) for k in range(1, 100)]
    assert found == rationals("0.01:0.99:0.01", "alpha")
    assert rationals("1/3:2/3@2", "alpha") == [fmpq(1, 3), fmpq(2, 3)]
    assert rationals("4/5,0.9", "alpha") == [fmpq(4, 5), fmpq(9, 10)]
    assert rationals("0:1:2/5", "alpha") == [0, fmpq(2, 5), fmpq(4, 5)]


BAD: list[object] = [
    "",
    ",",
    "9,",
    "a",
    "a:b:3",
    "1:2:0",
    "1:2:-1",
    "1:2:3",
    "2:1",
    "2:1:1",
    "1:2:1:1",
    "1:2:1@2",
    "1@2",
    "@2",
    "1:2@",
    "1:2@1",
    "1:2@x",
    "1:2@1.5",
    "2:1@3",
    "1:1@2",
    "0:1@99999999",
    "0:99999999",
    "1/0",
    [],
    [[]],
    None,
    True,
    {"n": 9},
]


@pytest.mark.parametrize("value", BAD, ids=repr)
@pytest.mark.parametrize("read", [integers, rationals])
def test_both_refuse_the_same(read: Any, value: Any) -> None:
    with pytest.raises(ParameterError, match=r"^alpha = ") as error:
        read(value, "alpha")
    assert len(str(error.value)) < 200


@pytest.mark.parametrize(
    "value", ["9.0", "1e3", "1/2", "1:2@3", "9" * 40, str(2**62 + 1), 9.0, "nine", ["9", 1.5]]
)
def test_what_is_no_integer(value: Any) -> None:
    with pytest.raises(ParameterError, match="integers"):
        integers(value)


def test_floats_are_not_exact() -> None:
    with pytest.raises(ExactnessError, match=r"alpha = 0\.8"):
        rationals([0.8], "alpha")


def test_a_count_in_the_place_of_the_step_is_told() -> None:
    """In 0.1 the third number was a count in maps, and a step elsewhere."""
    with pytest.raises(ParameterError, match="first:last@count"):
        rationals("0.01:0.99:99", "alpha")


def test_the_longest_list() -> None:
    assert len(integers(f"1:{LONGEST}")) == LONGEST
    for text in (f"0:{LONGEST}", f"0:1,1:{LONGEST}"):
        with pytest.raises(ParameterError, match="larger step"):
            integers(text)


@given(st.integers(-99, 99), st.integers(0, 99), st.integers(1, 99))
def test_steps_are_those_of_range(first: int, width: int, step: int) -> None:
    text = f"{first}:{first + width}:{step}"
    if step > width > 0:
        with pytest.raises(ParameterError):
            integers(text)
    else:
        assert integers(text) == list(range(first, first + width + 1, step))
