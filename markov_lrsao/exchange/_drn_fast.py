"""The compiled reader for large DRN files of the plainest form.

It either understands the whole file or declines (returns None), and then the line-by-line
reader of `drn` decides what is right and which line is wrong.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.errors import FileFormatError
from markov_lrsao.exchange._reading import (
    ROW_SUM_TOLERANCE,
    ChainFile,
    Source,
    reading_notes,
)

__all__ = ["read_fast"]

_LONGEST_HEADER = 100_000  # bytes
_LARGEST_DENOMINATOR = 2**57  # a row sum of a few entries stays below 2^62


def read_fast(source: Source) -> ChainFile | None:
    """Return what the file says, or None to leave it to the line-by-line reader."""
    from markov_lrsao.exchange.drn import read_header
    from markov_lrsao.exchange.kernels import drn as kernels

    data = source.data
    mark = data.find(b"\n@model\n", 0, _LONGEST_HEADER)
    if mark < 0 or not data.endswith(b"\n"):
        return None
    try:
        header_source = Source(source.name, data[: mark + 8])
        header = read_header(header_source, header_source.lines())
    except FileFormatError:
        return None
    if len(header.rewards) > 1 or header.placeholders:
        return None
    states, edges = data.count(b"\nstate "), data.count(b" : ")
    if states != header.states or edges < states:
        return None
    count, pointer, target, above, below, marked, begin, end, rewards = kernels.scan(
        np.frombuffer(data, dtype=np.uint8), mark + 8, states, edges
    )
    if count != states:
        return None
    ok, denominators, totals = kernels.rows(
        pointer, target, above, below, states, _LARGEST_DENOMINATOR
    )
    if not ok:
        return None
    off = np.flatnonzero(totals != denominators)
    worst, first = 0.0, 0
    if off.size:
        worst = float(np.max(np.abs(totals[off] - denominators[off]) / denominators[off]))
        if header.values == "rational" or worst > ROW_SUM_TOLERANCE:
            return None
        denominators = totals
        state = int(off[0])
        first = header.lines + 1 + 2 * state + int(pointer[state])
    labels = _labels(source, marked, begin, end)
    if labels is None:
        return None
    start = np.array(sorted(set(labels.pop("init", []))), np.int64)
    chain = MarkovChain(
        indptr=pointer,
        indices=target,
        numerators=above,
        denominators=denominators,
        start=start,
        positions=np.arange(states, dtype=np.int64),
        labels={name: np.array(sorted(set(where)), np.int64) for name, where in labels.items()},
    )
    return ChainFile(
        chain,
        _rewards(header.rewards, rewards),
        exact=not off.size,
        notes=reading_notes(0, len(off), first, worst),
    )


def _rewards(names: list[str], found: npt.NDArray[np.int64]) -> dict[str, tuple[fmpq, ...]]:
    """Return the one reward of the file, on its states and actions together."""
    if not names and not found[:, 4].any():
        return {}
    earned = [fmpq(0)] * len(found)
    for i in np.flatnonzero(found[:, 0] | found[:, 2]).tolist():
        a, b, c, d, _ = found[i].tolist()
        earned[i] = fmpq(a, b) + fmpq(c, d)
    return {names[0] if names else "": tuple(earned)}


def _labels(
    source: Source,
    marked: npt.NDArray[np.int64],
    begin: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
) -> dict[str, list[int]] | None:
    """Return label -> states, from the places of their texts; None if one needs a closer look."""
    from markov_lrsao.exchange.drn import split_labels

    labels: dict[str, list[int]] = {}
    known: dict[bytes, list[str]] = {}
    for state, a, b in zip(marked.tolist(), begin.tolist(), end.tolist(), strict=True):
        raw = source.data[a:b]
        names = known.get(raw)
        if names is None:
            try:
                text = raw.decode("utf-8")
                if text.startswith("[") or not text.isprintable():
                    return None
                names = known[raw] = split_labels(source, 1, text)
            except (UnicodeDecodeError, FileFormatError):
                return None
        for name in names:
            labels.setdefault(name, []).append(state)
    return labels
