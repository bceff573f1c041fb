"""Batches of runs as rows of a results file, each with a digest that a changed bit breaks."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simulate.runs.samples import Samples

__all__ = ["Batch", "Runs", "digest", "joined", "pack", "unpack", "xor"]

IntArray = npt.NDArray[np.int64]
DIGEST_BYTES = 16


def digest(*values: Any) -> bytes:
    """Return 128 bits over values as SQLite returns them; types and lengths enter."""
    state = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for value in values:
        data = value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
        state.update(f"{type(value).__name__} {len(data)} ".encode() + data)
    return state.digest()


def xor(digests: Iterable[bytes]) -> bytes:
    """Return the bitwise sum: whatever the order, a row more or less shows."""
    total = 0
    for each in digests:
        total ^= int.from_bytes(each, "big")
    return total.to_bytes(DIGEST_BYTES, "big")


@dataclass(frozen=True)
class Batch:
    """Consecutive runs as they are stored; the four arrays are packed."""

    first_run: int
    runs: int
    successes: int
    steps: int
    hits: bytes
    spent: bytes
    restarts: bytes
    decisions: bytes


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs out of a results file; the arrays are those of `Samples`."""

    hits: IntArray
    steps: IntArray
    restarts: IntArray
    decisions: IntArray


def _packed(array: IntArray) -> bytes:
    return zlib.compress(array.astype("<i8").tobytes(), 1)


def _batch(first_run: int, runs: Runs) -> Batch:
    return Batch(
        first_run=first_run,
        runs=len(runs.steps),
        successes=int((runs.hits[:, -1] >= 0).sum()),
        steps=int(runs.steps.sum()),
        hits=_packed(runs.hits),
        spent=_packed(runs.steps),
        restarts=_packed(runs.restarts),
        decisions=_packed(runs.decisions),
    )


def pack(samples: Samples) -> Batch:
    """Return the stored form of runs."""
    return _batch(
        samples.first_run, Runs(samples.hits, samples.steps, samples.restarts, samples.decisions)
    )


def unpack(batch: Batch) -> Runs:
    """Return the arrays of a batch."""
    spent, restarts, decisions, hits = (
        np.frombuffer(zlib.decompress(data), dtype="<i8").astype(np.int64)
        for data in (batch.spent, batch.restarts, batch.decisions, batch.hits)
    )
    return Runs(hits.reshape(batch.runs, -1), spent, restarts, decisions)


def joined(batches: Iterable[Batch]) -> tuple[Batch, Runs]:
    """Return several batches as one, whose first run is that of the first."""
    parts = list(batches)
    opened = [unpack(batch) for batch in parts]
    runs = Runs(
        *(
            np.concatenate([getattr(part, name) for part in opened])
            for name in ("hits", "steps", "restarts", "decisions")
        )
    )
    return _batch(parts[0].first_run, runs), runs
