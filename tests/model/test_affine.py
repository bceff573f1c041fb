"""Affine forms: their arithmetic is that of their values, and their text can be read again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markov_lrsao.errors import ParameterError
from markov_lrsao.model.affine import ELL, Affine, N, P, Piece

numbers = st.integers(-9, 9)
forms = st.builds(Affine, numbers, numbers, numbers, numbers)


@given(forms, forms, numbers, numbers, numbers, numbers)
def test_forms_compute_like_their_values(
    a: Affine, b: Affine, k: int, p: int, n: int, ell: int
) -> None:
    def at(form: Affine) -> int:
        return form(p=p, n=n, ell=ell)

    assert at(a + b) == at(a) + at(b)
    assert at(a - b) == at(a) - at(b)
    assert at(k + a) == at(a + k) == at(a) + k
    assert at(k - a) == k - at(a) == -at(a - k)
    assert at(k * a) == at(a * k) == k * at(a)
    assert at(-a) == -at(a)


@given(forms, numbers, numbers, numbers)
def test_the_text_of_a_form_means_the_form(form: Affine, p: int, n: int, ell: int) -> None:
    assert eval(str(form), {"p": p, "n": n, "l": ell}) == form(p=p, n=n, ell=ell)


def test_texts() -> None:
    assert str(Affine()) == "0"
    assert str(-P) == "-p"
    assert str(3 * P - N + ELL - 1) == "3*p - n + l - 1"


@pytest.mark.parametrize("value", [0.5, "n", None])
def test_other_values_are_refused(value: object) -> None:
    with pytest.raises(ParameterError, match="not an integer or an affine form"):
        Piece.of(0, N, value)  # type: ignore[arg-type]
