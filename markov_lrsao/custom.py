"""Chains that do not come from a landscape: from rows, and closed-form families.

The closed forms are shipped as oracles: a chain whose answer is known on paper tests any
solver.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import lcm

import numpy as np
from flint import fmpq

from markov_lrsao.chain import MarkovChain
from markov_lrsao.errors import ParameterError
from markov_lrsao.rationals import harmonic_difference, rational
from markov_lrsao.traceability import implements

__all__ = ["birth_death_chain", "chain_from_rows", "plateau_time", "plateau_walk"]


def chain_from_rows(
    rows: Sequence[Mapping[int, object]],
    *,
    start: Sequence[int] = (0,),
    positions: Sequence[int] | None = None,
    labels: Sequence[str] | None = None,
) -> MarkovChain:
    """Build a chain from one mapping successor -> probability per state.

    Probabilities are anything exact (int, Fraction, "1/3"); zeros are dropped.

    >>> chain_from_rows([{0: "1/2", 1: "1/2"}, {1: 1}]).size
    2
    """
    indptr, indices = [0], []
    numerators: list[int] = []
    denominators: list[int] = []
    for i, row in enumerate(rows):
        exact = {j: rational(w, f"probability of {i} -> {j}") for j, w in row.items()}
        exact = {j: w for j, w in sorted(exact.items()) if w != 0}
        if any(not 0 <= j < len(rows) for j in exact) or any(w < 0 for w in exact.values()):
            raise ParameterError(f"row {i} has a negative entry or a successor that does not exist")
        if sum(exact.values(), fmpq(0)) != 1:
            raise ParameterError(f"row {i} sums to {sum(exact.values(), fmpq(0))}, not to 1")
        common = lcm(*(int(w.q) for w in exact.values()))
        denominators.append(common)
        indices.extend(exact)
        numerators.extend(int((w * common).p) for w in exact.values())
        indptr.append(len(indices))
    largest = max(denominators, default=1)
    dtype = np.int64 if largest < 2**62 else object
    names = list(labels) if labels is not None else [str(i) for i in range(len(rows))]
    return MarkovChain(
        indptr=np.array(indptr, np.int64), indices=np.array(indices, np.int64),
        numerators=np.array(numerators, dtype), denominators=np.array(denominators, dtype),
        start=np.array(sorted(set(start)), np.int64),
        positions=np.array(positions if positions is not None else range(len(rows)), np.int64),
        labeller=names.__getitem__,
    )


def birth_death_chain(up: Sequence[object]) -> MarkovChain:
    """Return the walk on 0..N that goes up from k with probability up[k], else down.

    At 0 it stays instead of going down; N = len(up) is absorbing.
    """
    rows: list[dict[int, object]] = []
    for k, probability in enumerate(up):
        q = rational(probability, f"up[{k}]")
        rows.append({k + 1: q, max(k - 1, 0): 1 - q})
    rows.append({len(up): 1})
    return chain_from_rows(rows)


def plateau_walk(n: int, first: int, last: int) -> MarkovChain:
    """Return the walk of Lemma 5 (2): from m in first..last up with probability (n-m)/n."""
    if not 0 <= first <= last < n:
        raise ParameterError(f"plateau {first}..{last} must lie in 0..{n - 1}")
    rows: list[dict[int, object]] = [
        {m - first: fmpq(m, n), m - first + 1: fmpq(n - m, n)} for m in range(first, last + 1)
    ]
    return chain_from_rows([*rows, {len(rows): 1}], positions=range(first, last + 2))


@implements("Lemma 5")
def plateau_time(n: int, k: int, b: int) -> fmpq:
    """Return n (H_{n-k} - H_{n-b-1}), the mean time to leave the plateau upwards from k.

    >>> plateau_time(9, 1, 2)
    135/56
    """
    return n * harmonic_difference(n - b - 1, n - k)
