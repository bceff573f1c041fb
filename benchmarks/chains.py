"""The chains that are measured, written as DRN files into a folder."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from flint import fmpq

from markov_lrsao import Algorithm, Landscape, MarkovChain, Parameters, StepLaw
from markov_lrsao.chains.sources import chain_from_rows
from markov_lrsao.exchange.drn import write_drn
from markov_lrsao.exchange.models import model_chain

__all__ = ["OWN", "jump_law", "peer_examples", "write"]

OWN = {
    "n = 9, merged": (9, True),
    "n = 9, unmerged": (9, False),
    "n = 10, unmerged": (10, False),
    "n = 11, unmerged": (11, False),
}
"""The project's own chains (l = 2): name -> (n, merged)."""

_EXAMPLES = {
    "brp 16,2": ("brp-16-2.pm", "target"),
    "leader 3,5": ("leader-3-5.pm", "elected"),
    "nand 5,2": ("nand-5-2.pm", "target"),
    "crowds 5,5": ("crowds-5-5.pm", "observe0Greater1"),
}


def jump_law(n: int, ell: int = 2) -> StepLaw:
    """Return the paper's algorithm on Jump."""
    return StepLaw.of(Landscape.jump(n, ell), Algorithm.lrsao(Parameters.paper(n)))


def random_sparse(size: int, degree: int = 3, seed: int = 1) -> MarkovChain:
    """Return a ring with random chords, one component, that is left from every tenth state."""
    rng = random.Random(seed)
    rows: list[dict[int, object]] = []
    for i in range(size):
        row: dict[int, int] = {}
        for j in [(i + 1) % size, *(rng.randrange(size) for _ in range(degree - 1))]:
            row[j] = row.get(j, 0) + 1
        if i % 10 == 0:
            row[size] = 1
        rows.append({j: fmpq(w, sum(row.values())) for j, w in row.items()})
    return _labelled(rows, size)


def plane_walk(side: int) -> MarkovChain:
    """Return the walk on side x side squares that stays where it would leave, to a corner."""
    import numpy as np

    size = side * side
    here = np.arange(size - 1)
    x, y = here % side, here // side
    moves = [
        np.clip(x + dx, 0, side - 1) + side * np.clip(y + dy, 0, side - 1)
        for dx, dy in ((0, -1), (-1, 0), (1, 0), (0, 1))
    ]
    to = np.sort(np.stack(moves, axis=1), axis=1)
    first = np.ones(to.shape, bool)
    first[:, 1:] = to[:, 1:] != to[:, :-1]
    weight = np.add.reduceat(np.ones(to.size, np.int64), np.flatnonzero(first.ravel()))
    counts = np.append(first.sum(axis=1), 1)
    chain = MarkovChain(
        indptr=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        indices=np.append(to[first], size - 1).astype(np.int64),
        numerators=np.append(weight, 1).astype(np.int64),
        denominators=np.append(np.full(size - 1, 4), 1).astype(np.int64),
        start=np.array([0]),
        positions=np.arange(size),
    )
    return chain.with_labels({"target": np.array([size - 1])})


def symmetric_walk(top: int) -> MarkovChain:
    """Return the walk on 0..top, up and down with 1/2, staying at 0: E = top (top + 1)."""
    half = fmpq(1, 2)
    rows: list[dict[int, object]] = [{0: half, 1: half}]
    rows += [{k - 1: half, k + 1: half} for k in range(1, top)]
    return _labelled(rows, top)


def stiff_walk(top: int) -> MarkovChain:
    """Return the walk up 1/3, down 2/3, reflected at 0: E = 4 * 2^top - 3 top - 4."""
    down, up = fmpq(2, 3), fmpq(1, 3)
    rows: list[dict[int, object]] = [{1: 1}]
    rows += [{k - 1: down, k + 1: up} for k in range(1, top)]
    return _labelled(rows, top)


def _only_target(chain: MarkovChain) -> MarkovChain:
    """Drop the milestones' labels: Storm takes five times as long to read a label per state."""
    return replace(chain, labels={"target": chain.labels["target"]})


def _labelled(rows: list[dict[int, object]], target: int) -> MarkovChain:
    import numpy as np

    chain = chain_from_rows([*rows, {target: 1}])
    return chain.with_labels({"target": np.array([target])})


_FAMILIES: dict[str, Callable[[int], MarkovChain]] = {
    "random": random_sparse,
    "symmetric": symmetric_walk,
    "stiff": stiff_walk,
    "plane": plane_walk,
}


def write(name: str, folder: Path) -> Path:
    """Write a chain by name: one of `OWN`, "right part", or e.g. "random 300"."""
    path = folder / f"{name.replace(' ', '').replace(',', '_').replace('=', '')}.drn"
    if path.exists():
        return path
    if name in OWN:
        n, merge = OWN[name]
        chain = _only_target(model_chain(jump_law(n), merge=merge))
    elif name == "right part":
        chain = _only_target(model_chain(jump_law(9), "right"))
    else:
        family, size = name.split()
        chain = _FAMILIES[family](int(size))
    write_drn(chain, path)
    return path


def peer_examples(folder: Path) -> dict[str, tuple[Path, str]]:
    """Export the chains inside the stormpy wheel; return name -> (file, target label)."""
    import stormpy

    base = Path(stormpy.__file__).parent / "examples" / "files" / "dtmc"
    result = {}
    for name, (file, label) in _EXAMPLES.items():
        program = stormpy.parse_prism_program(str(base / file))
        path = folder / f"{file}.drn"
        stormpy.io.export_to_drn(stormpy.build_model[stormpy.Rational](program), str(path))
        result[name] = (path, label)
    return result
