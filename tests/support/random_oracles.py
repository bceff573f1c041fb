"""Random landscapes with random hyper-parameters, as oracles on full Q-tables."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from oracles import Oracle

__all__ = ["oracles", "penalties", "rates"]

rates = st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50)
penalties = st.fractions(0, 12, max_denominator=4)


@st.composite
def oracles(draw: st.DrawFn, sizes: tuple[int, int] = (2, 6)) -> Oracle:
    n = draw(st.integers(*sizes))
    names = "ABC"[: draw(st.integers(1, 3))]
    values = st.integers(draw(st.sampled_from([0, 0, -1])), draw(st.integers(1, 5)))
    objectives = {a: draw(st.lists(values, min_size=n + 1, max_size=n + 1)) for a in names}
    target = draw(st.sampled_from(names))
    optimum = draw(st.integers(1, n))
    objectives[target][optimum] = max(objectives[target]) + draw(st.integers(1, 2))
    return Oracle(objectives, target, draw(rates), draw(rates), draw(penalties))
