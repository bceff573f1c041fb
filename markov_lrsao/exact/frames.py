"""Tables as pandas DataFrames: exact numbers as text, with a float beside each.

pandas is optional: `pip install 'markov-lrsao[tables]'`. A fraction "p/q" is text because a
DataFrame's own numbers are rounded; `fractions.Fraction` reads it back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from markov_lrsao.errors import LrsaoError
from markov_lrsao.exact.quantity import Quantity

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["columns", "data_frame"]


def data_frame(columns: Mapping[str, object] | Iterable[Mapping[str, object]]) -> DataFrame:
    """Return a DataFrame, from whole columns or from lines that map columns to cells.

    Raises
    ------
    LrsaoError
        pandas is not installed.
    """
    try:
        from pandas import DataFrame
    except ImportError:
        raise LrsaoError(
            "tables need pandas: install it with pip install 'markov-lrsao[tables]'"
        ) from None
    return DataFrame(columns if isinstance(columns, Mapping) else list(columns))


def columns(quantities: Mapping[str, Quantity]) -> dict[str, object]:
    """Return two cells per number: its float, and its fraction as text (None if not exact).

    >>> from flint import fmpq
    >>> columns({"total": Quantity.of(fmpq(1, 4))})
    {'total': 0.25, 'total_exact': '1/4'}
    """
    cells: dict[str, object] = {}
    for name, quantity in quantities.items():
        cells |= {name: float(quantity), f"{name}_exact": quantity.rational}
    return cells
