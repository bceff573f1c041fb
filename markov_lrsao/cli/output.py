"""What commands print: a text for people, or JSON for machines, which carries its version.

Every command's JSON is one object, and `schema` is its first field. The number is raised when a
field changes its meaning or goes; new fields do not raise it. 0.1 printed no such field.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from markov_lrsao.errors import VerificationError
from markov_lrsao.progress import answered
from markov_lrsao.release import SCHEMA
from markov_lrsao.tables import show

__all__ = ["emit", "json_text"]


def emit(
    as_json: bool,
    data: Callable[[], Mapping[str, Any]],
    text: Callable[[], str],
    colours: Mapping[str, str] | None = None,
) -> None:
    """Print an answer, as JSON or for people; `colours` are of words on terminals."""
    if as_json:
        written = json_text({"schema": SCHEMA, **data()})
        answered()
        print(written)
        return
    written = text()
    answered()
    show(written, colours)


def json_text(data: Any, indent: int | None = None) -> str:
    """Return JSON text; numpy's numbers and arrays are written as Python's.

    What JSON cannot hold is refused, rather than written so that no reader takes it: other
    types, infinities and NaN. Callers write those as null, or as text.

    Raises
    ------
    VerificationError
        The data has such a value.

    >>> import numpy as np
    >>> json_text({"certain": np.bool_(True), "t": np.int64(7), "p": [np.float32(0.5)]})
    '{"certain": true, "t": 7, "p": [0.5]}'
    >>> json_text({"p": float("nan")})
    Traceback (most recent call last):
        ...
    markov_lrsao.errors.VerificationError: ...
    """
    try:
        return json.dumps(data, indent=indent, allow_nan=False, default=_plain)
    except (TypeError, ValueError) as error:
        raise VerificationError(
            f"a result cannot be written as JSON: {error}; please report this command"
        ) from None


def _plain(value: Any) -> Any:
    if type(value).__module__ == "numpy":
        return value.tolist()
    raise TypeError(f"{value!r} is a {type(value).__name__}")
