"""PyDTMC and QuantEcon, run by an interpreter of their own: ``python foreign.py TOOL FILE R``.

Reads a Matrix Market file whose last state is absorbing and is the target; the start is the
first. QuantEcon has no hitting times: the target is sent back to the start, and the stationary
probability of the target is 1 / (E[T] + 1) (Kac).
"""

from __future__ import annotations

import json
import os
import sys
import time

import numpy as np
import numpy.typing as npt

NOW = time.perf_counter if os.environ.get("BENCHMARK_CLOCK") == "wall" else time.process_time


def read(path: str) -> npt.NDArray[np.float64]:
    from scipy.io import mmread

    return np.asarray(mmread(path).todense(), dtype=float)


def main(tool: str, path: str, repeat: int) -> dict[str, object]:
    matrix = read(path)
    stages: dict[str, list[float]] = {"load": [], "solve": []}
    for _ in range(repeat):
        begun = NOW()
        if tool == "PyDTMC":
            from pydtmc import MarkovChain

            chain = MarkovChain(matrix)
            stages["load"].append(NOW() - begun)
            begun = NOW()
            value = float(chain.mean_absorption_times()[0])
        else:
            import quantecon

            turned = matrix.copy()
            turned[-1] = 0
            turned[-1, 0] = 1
            chain = quantecon.MarkovChain(turned)
            stages["load"].append(NOW() - begun)
            begun = NOW()
            value = 1 / float(chain.stationary_distributions[0][-1]) - 1
        stages["solve"].append(NOW() - begun)
    return {"stages": stages, "value": repr(value), "states": len(matrix)}


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[3], 1)  # warm-up on the tiny chain
    print(json.dumps(main(sys.argv[1], sys.argv[2], int(sys.argv[4]))))
