"""Chains that do not come from a landscape: from rows, matrices, graphs, and closed forms.

A chain is exact. Binary floats (from a scipy matrix, a networkx graph) are dyadic rationals
and taken literally, except that a row of floats hardly ever sums to exactly 1: a row that
does so within `tolerance` is divided by its sum, any other row is refused.

The closed forms are shipped as oracles: a chain whose answer is known on paper tests any
solver.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from math import gcd, isfinite, lcm
from typing import Any

import numpy as np
from flint import fmpq

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.rationals import harmonic_difference, rational
from markov_lrsao.model.statements import implements

__all__ = [
    "birth_death_chain",
    "chain_from_matrix",
    "chain_from_networkx",
    "chain_from_rows",
    "plateau_time",
    "plateau_walk",
]

FLOAT_ROW_TOLERANCE = 1e-9
"""How far a row of binary floats may sum from 1; rounding leaves some 1e-16 per entry."""


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
    exact = [
        {j: rational(w, f"probability of {i} -> {j}") for j, w in row.items()}
        for i, row in enumerate(rows)
    ]
    pairs = [{j: (int(w.p), int(w.q)) for j, w in row.items()} for row in exact]
    return _chain(pairs, 0.0, start=start, positions=positions, labels=labels)


def _chain(
    rows: Sequence[Mapping[int, tuple[int, int]]],
    tolerance: float,
    *,
    start: Iterable[int] = (0,),
    positions: Sequence[int] | None = None,
    labels: Sequence[str] | None = None,
    rounded: Collection[int] | None = None,
) -> MarkovChain:
    """Build a chain from rows of (numerator, denominator).

    `tolerance` holds for the rows in `rounded` (default: all); the others must be exact.
    """
    indptr, indices = [0], list[int]()
    numerators: list[int] = []
    denominators: list[int] = []
    for i, row in enumerate(rows):
        kept = sorted((j, a, b) for j, (a, b) in row.items() if a)
        if any(not 0 <= j < len(rows) or a < 0 for j, a, _ in kept):
            raise ParameterError(f"row {i} has a negative entry or a successor that does not exist")
        common = lcm(*(b for *_, b in kept))
        weights = [a * (common // b) for _, a, b in kept]
        total = sum(weights)
        allowed = 0.0 if rounded is not None and i not in rounded else tolerance
        if not kept or abs(total - common) / common > allowed:
            value = fmpq(total, common)
            shown = value if allowed == 0 else f"{total / common:.17g}"
            raise ParameterError(f"row {i} sums to {shown}, not to 1")
        shared = gcd(total, *weights)
        denominators.append(total // shared)
        indices.extend(j for j, *_ in kept)
        numerators.extend(weight // shared for weight in weights)
        indptr.append(len(indices))
    dtype = np.int64 if max(denominators, default=1) < 2**62 else object
    names = list(labels) if labels is not None else [str(i) for i in range(len(rows))]
    begin = sorted(set(start))
    if begin and not 0 <= begin[0] <= begin[-1] < len(rows):
        raise ParameterError(f"start = {begin} must lie in 0..{len(rows) - 1}")
    return MarkovChain(
        indptr=np.array(indptr, np.int64),
        indices=np.array(indices, np.int64),
        numerators=np.array(numerators, dtype),
        denominators=np.array(denominators, dtype),
        start=np.array(begin, np.int64),
        positions=np.array(positions if positions is not None else range(len(rows)), np.int64),
        labeller=names.__getitem__,
    )


def _pair(value: object, name: str) -> tuple[int, int]:
    """Return numerator and denominator of anything exact, or of a binary float, literally."""
    if isinstance(value, float | np.floating):
        if not isfinite(value):
            raise ParameterError(f"{name} = {value} is not a probability")
        return float(value).as_integer_ratio()
    exact = rational(value, name)
    return int(exact.p), int(exact.q)


def chain_from_matrix(
    matrix: Any,
    *,
    start: Iterable[int] = (0,),
    labels: Mapping[str, Iterable[int]] | None = None,
    tolerance: float = FLOAT_ROW_TOLERANCE,
) -> MarkovChain:
    """Build a chain from a square matrix: scipy sparse of any layout, or a numpy array.

    Parameters
    ----------
    labels : label -> states
    tolerance : how far a row may sum from 1; it is then divided by its sum

    Examples
    --------
    >>> import scipy.sparse
    >>> chain = chain_from_matrix(scipy.sparse.csr_array([[0.5, 0.5], [0.0, 1.0]]))
    >>> chain.row(0)
    [(0, 1/2), (1, 1/2)]
    """
    from scipy.sparse import coo_array

    entries = coo_array(matrix)
    entries.sum_duplicates()
    if entries.ndim != 2 or entries.shape[0] != entries.shape[1]:
        raise ParameterError(f"matrix has shape {entries.shape}: a chain's matrix is square")
    named = {name: np.array(list(states), np.int64) for name, states in (labels or {}).items()}
    quick = _dyadic_chain(entries, tolerance, sorted(set(start)))
    if quick is not None:
        return quick.with_labels(named)
    rows: list[dict[int, tuple[int, int]]] = [{} for _ in range(entries.shape[0])]
    for i, j, value in zip(
        entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True
    ):
        rows[i][j] = _pair(value, f"entry ({i}, {j})")
    return _chain(rows, tolerance, start=start).with_labels(named)


def _dyadic_chain(entries: Any, tolerance: float, start: list[int]) -> MarkovChain | None:
    """Build a large chain from floats with array operations, or return None to be careful.

    A float is an odd integer times a power of two. Where the integers of a row, brought to
    the row's smallest power, stay below 2^58, they are the numerators.
    """
    size, data = entries.shape[0], entries.data
    if data.dtype != np.float64 or not np.all((data > 0) & (data <= 1)) or not size:
        return None
    order = np.lexsort((entries.col, entries.row))
    rows, columns, data = entries.row[order], entries.col[order], data[order]
    counts = np.bincount(rows, minlength=size)
    if counts.min() == 0 or not all(0 <= i < size for i in start):
        return None
    mantissa, exponent = np.frexp(data)
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    zeros = np.round(np.log2((whole & -whole).astype(np.float64))).astype(np.int64)
    whole, exponent = whole >> zeros, exponent + zeros
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    lowest = np.minimum.reduceat(exponent, indptr[:-1])
    shift = exponent - lowest[rows]
    if np.any(np.log2(whole) + shift + np.log2(counts[rows]) > 58):
        return None
    numerators = whole << shift
    sums = np.add.reduceat(numerators, indptr[:-1])
    if np.any(np.abs(np.ldexp(sums.astype(np.float64), lowest - 53) - 1) > tolerance):
        return None
    common = np.gcd(np.gcd.reduceat(numerators, indptr[:-1]), sums)
    return MarkovChain(
        indptr=indptr,
        indices=columns.astype(np.int64),
        numerators=numerators // common[rows],
        denominators=sums // common,
        start=np.array(start, np.int64),
        positions=np.arange(size, dtype=np.int64),
    )


def chain_from_networkx(
    graph: Any,
    *,
    start: Hashable | Sequence[Hashable],
    labels: Mapping[str, Iterable[Hashable]] | None = None,
    probability: str = "probability",
    tolerance: float = FLOAT_ROW_TOLERANCE,
) -> MarkovChain:
    """Build a chain from a directed graph whose edges carry probabilities.

    Parameters
    ----------
    start : a node, or a list of nodes (a tuple is a node if the graph has it)
    labels : label -> nodes
    probability : name of the edge attribute; anything exact, or floats

    Examples
    --------
    >>> import networkx as nx
    >>> graph = nx.DiGraph()
    >>> graph.add_edge("a", "b", probability="1/3")
    >>> graph.add_edge("a", "a", probability="2/3")
    >>> graph.add_edge("b", "b", probability=1)
    >>> chain = chain_from_networkx(graph, start="a", labels={"done": ["b"]})
    >>> chain.label(1), chain.labels["done"].tolist()
    ('b', [1])
    """
    if not graph.is_directed() or graph.is_multigraph():
        raise ParameterError("the graph must be a DiGraph: directed, one edge per pair")
    place = {node: i for i, node in enumerate(graph.nodes)}
    rows: list[dict[int, tuple[int, int]]] = [{} for _ in place]
    rounded: set[int] = set()
    for source, target, data in graph.edges(data=True):
        if probability not in data:
            raise ParameterError(f"edge {source!r} -> {target!r} has no attribute {probability!r}")
        rows[place[source]][place[target]] = _pair(
            data[probability], f"probability of {source!r} -> {target!r}"
        )
        if isinstance(data[probability], float | np.floating):
            rounded.add(place[source])

    def places(nodes: Iterable[Hashable], what: str) -> list[int]:
        found = list(nodes)
        for node in found:
            if node not in place:
                raise ParameterError(f"{what} names {node!r}, which is not a node")
        return [place[node] for node in found]

    several = isinstance(start, list) or (isinstance(start, tuple) and start not in place)
    begin: Iterable[Hashable] = start if several else [start]  # type: ignore[assignment]
    return _chain(
        rows,
        tolerance,
        start=places(begin, "start"),
        labels=[str(node) for node in place],
        rounded=rounded,
    ).with_labels(
        {
            name: np.array(places(nodes, f"label {name!r}"), np.int64)
            for name, nodes in (labels or {}).items()
        }
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
