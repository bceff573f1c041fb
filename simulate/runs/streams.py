"""Seeds to random streams: one Philox stream per run, whatever the number of workers.

A seed and the numbers that identify an experiment give a 128-bit Philox key through NumPy's
`SeedSequence`; the run's index is a word of Philox's counter. So run i of a seed is the same
run on one thread, on ten, or on another machine, and needs no stream but its own.

`Stream` is the same generator in plain Python, on top of NumPy's own Philox: the reference
implementation draws from it, and the compiled one is tested against it.

>>> key = stream_key(1)
>>> stream = Stream(key, run=0)
>>> [stream.below(10) for _ in range(5)]
[0, 0, 0, 8, 2]
>>> stream_key(-1)
Traceback (most recent call last):
    ...
markov_lrsao.errors.ParameterError: seed = -1 is negative: a seed is an integer >= 0
"""

from __future__ import annotations

import numpy as np

from markov_lrsao.errors import ParameterError

__all__ = ["MAIN", "MONITOR", "Stream", "StreamKey", "stream_key"]

StreamKey = tuple[int, int]
"""Two 64-bit words that key a Philox generator."""

MAIN, MONITOR = 0, 1
"""Purposes of a stream: what decides the run, and what only its monitors need."""


def stream_key(seed: int, *path: int) -> StreamKey:
    """Return the Philox key of a seed; `path` tells apart experiments that share the seed."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise ParameterError(f"seed = {seed!r} is not an integer: a seed is an integer >= 0")
    if seed < 0:
        raise ParameterError(f"seed = {seed} is negative: a seed is an integer >= 0")
    words = np.random.SeedSequence(int(seed), spawn_key=path).generate_state(2, np.uint64)
    return int(words[0]), int(words[1])


class Stream:
    """The stream of one run, drawn from NumPy's Philox."""

    def __init__(self, key: StreamKey, run: int, purpose: int = MAIN) -> None:
        self._philox = np.random.Philox(
            key=np.array(key, dtype=np.uint64),
            counter=np.array([0, 0, run, purpose], dtype=np.uint64),
        )

    def raw(self) -> int:
        """Return 64 random bits."""
        return int(self._philox.random_raw())

    def unit(self) -> float:
        """Return a multiple of 2^-53 in (0, 1], uniformly."""
        return ((self.raw() >> 11) + 1) * 2.0**-53

    def below(self, bound: int) -> int:
        """Return an integer in 0 .. bound - 1, exactly uniformly."""
        product = self.raw() * bound
        while product % 2**64 < 2**64 % bound:
            product = self.raw() * bound
        return product >> 64
