"""Philox streams: bit-identical to NumPy's, and one stream per run."""

from __future__ import annotations

import numpy as np
import pytest

from markov_lrsao.errors import ParameterError
from simulate.kernels import play
from simulate.runs.streams import MAIN, MONITOR, Stream, stream_key


@pytest.mark.parametrize("seed", [0, 1, 2**40, 2**70])
@pytest.mark.parametrize("run", [0, 1, 2**33])
@pytest.mark.parametrize("purpose", [MAIN, MONITOR])
def test_kernel_words_are_numpys(seed: int, run: int, purpose: int) -> None:
    key = stream_key(seed)
    ours = play.stream_words(np.uint64(key[0]), np.uint64(key[1]), run, purpose, 1001)
    numpys = np.random.Philox(
        key=np.array(key, dtype=np.uint64),
        counter=np.array([0, 0, run, purpose], dtype=np.uint64),
    ).random_raw(1001)
    assert ours.tolist() == numpys.tolist()


def test_streams_of_different_runs_and_seeds_differ() -> None:
    firsts = {
        Stream(stream_key(seed), run, purpose).raw()
        for seed in range(20)
        for run in range(20)
        for purpose in (MAIN, MONITOR)
    }
    assert len(firsts) == 800


def test_bounded_draws_are_uniform() -> None:
    stream = Stream(stream_key(3), 0)
    counts = np.bincount([stream.below(7) for _ in range(14_000)], minlength=7)
    # chi-square with 6 degrees of freedom exceeds 27.9 with probability 1e-4
    assert ((counts - 2000.0) ** 2 / 2000.0).sum() < 27.9


@pytest.mark.parametrize("seed", [-1, 0.5, True, "1"])
def test_bad_seeds(seed: object) -> None:
    with pytest.raises(ParameterError, match="seed"):
        stream_key(seed)  # type: ignore[arg-type]


def test_path_separates_experiments() -> None:
    assert len({stream_key(1), stream_key(1, 0), stream_key(1, 1), stream_key(2)}) == 4
