"""Finite Markov chains with exact rational rows.

A chain is stored as a sparse matrix of integer numerators with one denominator per row, so
every probability is an exact rational and the float matrix is derived from it. Rows sum to
exactly 1; this is checked when a chain is built.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.errors import ParameterError, VerificationError
from markov_lrsao.exact.graphs import Components, components
from markov_lrsao.texts import listing

if TYPE_CHECKING:
    import networkx
    import scipy.sparse

__all__ = ["MarkovChain", "absorbing_outside", "strong_components"]

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
_EXACT_IN_FLOATS = 2**53


@dataclass(frozen=True, eq=False)
class MarkovChain:
    """A chain on the states 0..size-1.

    Attributes
    ----------
    indptr, indices : sparse structure (CSR, columns sorted within a row, no duplicates)
    numerators : the entry of row i at k is numerators[k] / denominators[i]
    denominators : one positive integer per row
    start : initial states
    positions : the walk's position in each state, or all zeros for a chain of another kind
    labeller : state -> text for people
    labels : name -> the states that carry it, e.g. "target" (as model checkers have them)
    """

    indptr: IntArray
    indices: IntArray
    numerators: npt.NDArray[Any]
    denominators: npt.NDArray[Any]
    start: IntArray
    positions: IntArray
    labeller: Callable[[int], str] = field(default=str, repr=False)
    labels: Mapping[str, IntArray] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.size == 0 or np.any(np.diff(self.indptr) == 0):
            raise VerificationError("a chain needs a state, and every state a transition")
        sums = np.add.reduceat(self.numerators, self.indptr[:-1])
        if not np.all(sums == self.denominators):
            raise VerificationError("a row of the chain does not sum to exactly 1")
        if np.any(self.numerators <= 0):
            raise VerificationError("a transition of the chain has probability <= 0")

    @property
    def size(self) -> int:
        """Number of states."""
        return len(self.indptr) - 1

    @property
    def transitions(self) -> int:
        """Number of transitions with positive probability, self-loops included."""
        return len(self.indices)

    def label(self, state: int) -> str:
        """Return a text by which a person recognises a state."""
        return self.labeller(state)

    def row(self, state: int) -> list[tuple[int, fmpq]]:
        """Return the successors of a state with their exact probabilities."""
        span = slice(int(self.indptr[state]), int(self.indptr[state + 1]))
        denominator = int(self.denominators[state])
        return [
            (int(j), fmpq(int(numerator), denominator))
            for j, numerator in zip(self.indices[span], self.numerators[span], strict=True)
        ]

    def exact_rows(self) -> list[list[tuple[int, fmpq]]]:
        """Return all rows with exact probabilities (for small chains)."""
        return [self.row(i) for i in range(self.size)]

    @cached_property
    def components(self) -> Components:
        """Strongly connected components, successors first."""
        return strong_components(self.indptr, self.indices)

    @cached_property
    def sources(self) -> IntArray:
        """The row of each stored transition."""
        return np.repeat(np.arange(self.size, dtype=np.int64), np.diff(self.indptr))

    @cached_property
    def probabilities(self) -> FloatArray:
        """The probability of each stored transition, correctly rounded to a float."""
        below = self.denominators[self.sources]
        if self.denominators.dtype != object and self.denominators.max() < _EXACT_IN_FLOATS:
            return self.numerators.astype(np.float64) / below.astype(np.float64)
        # Python divides integers of any size with one rounding.
        return np.array(
            [a / b for a, b in zip(self.numerators.tolist(), below.tolist(), strict=True)]
        )

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the transition matrix in floats, each entry correctly rounded."""
        from scipy.sparse import csr_array

        return csr_array(
            (self.probabilities, self.indices, self.indptr), shape=(self.size, self.size)
        )

    def to_networkx(self) -> networkx.DiGraph[int]:
        """Return the chain as a graph: nodes have `label`, edges an exact `probability`."""
        import networkx as nx

        graph: networkx.DiGraph[int] = nx.DiGraph()
        for i in range(self.size):
            graph.add_node(i, label=self.label(i), position=int(self.positions[i]))
        for i in range(self.size):
            for j, probability in self.row(i):
                graph.add_edge(i, j, probability=probability)
        return graph

    def labelled(self, name: str) -> BoolArray:
        """Return which states carry the label `name`.

        Raises
        ------
        ParameterError
            There is no such label.
        """
        if name not in self.labels:
            known = listing(sorted(self.labels), "it has none")
            raise ParameterError(f"the chain has no label {name!r}; its labels are: {known}")
        mask = np.zeros(self.size, dtype=np.bool_)
        mask[self.labels[name]] = True
        return mask

    def with_labels(self, labels: Mapping[str, BoolArray | IntArray]) -> MarkovChain:
        """Return the same chain with these labels added, given as masks or as state numbers."""
        states = {
            name: np.flatnonzero(where)
            if np.asarray(where).dtype == np.bool_
            else np.unique(np.asarray(where, dtype=np.int64))
            for name, where in labels.items()
        }
        for name, where in states.items():
            if where.size and not 0 <= where[0] <= where[-1] < self.size:
                raise ParameterError(f"label {name!r} names a state outside 0..{self.size - 1}")
        return replace(self, labels={**self.labels, **states})

    def at_positions(self, positions: Sequence[int]) -> BoolArray:
        """Return which states lie at one of the positions."""
        return np.isin(self.positions, list(positions))


def strong_components(indptr: IntArray, indices: IntArray) -> Components:
    """Return the strongly connected components of a graph, successors first.

    Compiled where the compiler is loaded already; importing it takes longer than a small graph.
    """
    if "numba" not in sys.modules:
        return components(indptr, indices)
    from markov_lrsao.chains.kernels import graphs

    return Components(*graphs.components(indptr, indices))


def absorbing_outside(chain: MarkovChain, inside: BoolArray) -> MarkovChain:
    """Make every outside state absorbing, so that components do not run through it."""
    outside = ~inside
    loops = np.zeros(chain.size, dtype=np.bool_)
    diagonal = chain.indices == chain.sources
    loops[chain.sources[diagonal & (chain.numerators == chain.denominators[chain.sources])]] = True
    if np.all(loops[outside]):
        return chain
    keep = inside[chain.sources]
    counts = np.where(inside, np.diff(chain.indptr), 1)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    indices = np.empty(indptr[-1], dtype=np.int64)
    numerators = np.empty(indptr[-1], dtype=chain.numerators.dtype)
    within = np.repeat(inside, counts)
    indices[within], numerators[within] = chain.indices[keep], chain.numerators[keep]
    indices[~within] = np.flatnonzero(outside)
    numerators[~within] = chain.denominators[outside]
    return replace(chain, indptr=indptr, indices=indices, numerators=numerators)
