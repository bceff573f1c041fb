"""JSON for machines: one writer for the command line."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["json_text"]


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
    from markov_lrsao.errors import VerificationError

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
