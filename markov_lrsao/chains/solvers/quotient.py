"""The quotient of a chain by states with equal futures, built and checked exactly.

Write the states' partition into classes. It is *lumpable* if any two states of a class go to
every class with the same probability; then v = c + P v has one value per class whenever c
and the given values outside do, and it is enough to solve on the classes. Chains of learning
agents are full of such states (a pattern that will never be looked at again), so that the
quotient is often a hundredth of the chain.

Classes are found in one pass over the components, successors first, in compiled code
(`markov_lrsao.chains.kernels.lumps`), or with dictionaries where numbers are too long for it. Then
lumpability itself is checked in integers on every row. An equation that holds exactly on the
quotient therefore holds exactly in every state of the chain.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np
import numpy.typing as npt

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.errors import VerificationError

__all__ = ["Quotient", "quotient", "worth_merging"]

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
_LARGEST_MERGED_COMPONENT = 64
_LARGEST_DENOMINATOR = 2**31  # products of two stay below 2^62
_PAYS_FOR_MERGING = 2_000  # states; below, an exact solve is quick, and the compiler's import slow


@dataclass(frozen=True, eq=False)
class Quotient:
    """A chain on the classes of another one.

    Attributes
    ----------
    chain : one state per class; classes of outside states are absorbing
    class_of : state -> class
    representative : class -> one of its states
    inside : which classes hold unknowns
    """

    chain: MarkovChain
    class_of: IntArray
    representative: IntArray
    inside: BoolArray


def worth_merging(chain: MarkovChain) -> bool:
    """Return whether looking for equal futures is likely to save time on an exact solve.

    This depends on the chain only, so that the same question always gets the same solution.
    """
    return chain.size >= _PAYS_FOR_MERGING


def quotient(chain: MarkovChain, inside: BoolArray, colours: IntArray) -> Quotient:
    """Merge states with equal futures.

    Parameters
    ----------
    inside : the unknowns; every other state must be absorbing
    colours : states of different colours are never merged (0, 1, ...); states outside are
        merged exactly by colour

    Raises
    ------
    VerificationError
        The result is not lumpable; this would be a mistake in this module.
    """
    small_numbers = (
        chain.denominators.dtype != object and chain.denominators.max() < _LARGEST_DENOMINATOR
    )
    if not small_numbers:
        class_of, rows, representative = _merge(chain, inside, colours)
        result = _assemble_rows(chain, inside, class_of, rows, representative)
        bad = _check(chain, inside, result)
    else:
        from markov_lrsao.chains.kernels import lumps

        order = chain.components
        class_of, _, pointer, target, numerator, denominator, first, representative = lumps.merge(
            chain.indptr,
            chain.indices,
            chain.numerators,
            chain.denominators,
            inside,
            order.label,
            order.members.copy(),
            order.start,
            colours,
            int(colours.max()) + 1,
            _LARGEST_MERGED_COMPONENT,
        )
        own = np.repeat(np.arange(len(denominator)), np.diff(pointer))
        target = np.where(target < 0, first[own] - 1 - target, target)
        arrange = np.lexsort((target, own))
        result = _assemble(
            chain,
            inside,
            class_of,
            pointer,
            target[arrange],
            numerator[arrange],
            denominator,
            representative,
        )
        q = result.chain
        bad = lumps.check(
            chain.indptr,
            chain.indices,
            chain.numerators,
            chain.denominators,
            inside,
            class_of,
            q.indptr,
            q.indices,
            q.numerators,
            q.denominators,
        )
    if bad >= 0:
        raise VerificationError(f"state {chain.label(int(bad))} was merged wrongly; please report")
    return result


def _merge(
    chain: MarkovChain, inside: BoolArray, colours: IntArray
) -> tuple[IntArray, list[list[tuple[int, int]]], IntArray]:
    """Find classes with dictionaries; numbers of any size. See `lumps.merge`."""
    pointers, columns = chain.indptr.tolist(), chain.indices.tolist()
    nums, dens = chain.numerators.tolist(), chain.denominators.tolist()
    within, colour = inside.tolist(), colours.tolist()
    starts, members = chain.components.start.tolist(), chain.components.members.tolist()
    class_of = [-1] * chain.size
    known: dict[object, int] = {}
    rows: list[list[tuple[int, int]]] = []
    representative: list[int] = []

    def text(i: int, place: dict[int, int]) -> tuple[int, tuple[tuple[int, int], ...]]:
        entries: dict[int, int] = {}
        g = dens[i]
        for k in range(pointers[i], pointers[i + 1]):
            j = columns[k]
            at = place.get(j)
            to = class_of[j] if at is None else -1 - at
            entries[to] = entries.get(to, 0) + nums[k]
        for weight in entries.values():
            g = gcd(g, weight)
        return colour[i], tuple(sorted((to, weight // g) for to, weight in entries.items()))

    for c in range(len(starts) - 1):
        states = members[starts[c] : starts[c + 1]]
        if not within[states[0]]:
            key: object = ("outside", colour[states[0]])
            found = known.setdefault(key, len(rows))
            if found == len(rows):
                rows.append([(found, 1)])
                representative.append(states[0])
            class_of[states[0]] = found
            continue
        if 1 < len(states) <= _LARGEST_MERGED_COMPONENT:
            anonymous = dict.fromkeys(states, 0)
            states = sorted(states, key=lambda i: str(text(i, anonymous)))
        place = {i: k for k, i in enumerate(states)}
        texts = tuple(text(i, place) for i in states)
        new = len(rows)
        found = known.setdefault(texts, new) if len(states) <= _LARGEST_MERGED_COMPONENT else new
        for k, i in enumerate(states):
            class_of[i] = found + k
        if found == new:
            for i, (_, entries) in zip(states, texts, strict=True):
                rows.append(
                    sorted((new - 1 - to if to < 0 else to, weight) for to, weight in entries)
                )
                representative.append(i)
    return np.array(class_of, np.int64), rows, np.array(representative, np.int64)


def _assemble_rows(
    chain: MarkovChain,
    inside: BoolArray,
    class_of: IntArray,
    rows: list[list[tuple[int, int]]],
    representative: IntArray,
) -> Quotient:
    denominators = [sum(weight for _, weight in row) for row in rows]
    dtype = np.int64 if max(denominators, default=1) < 2**62 else object
    return _assemble(
        chain,
        inside,
        class_of,
        np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64),
        np.array([to for row in rows for to, _ in row], np.int64),
        np.array([weight for row in rows for _, weight in row], dtype),
        np.array(denominators, dtype),
        representative,
    )


def _assemble(
    chain: MarkovChain,
    inside: BoolArray,
    class_of: IntArray,
    indptr: IntArray,
    indices: IntArray,
    numerators: npt.NDArray[np.int64],
    denominators: npt.NDArray[np.int64],
    representative: IntArray,
) -> Quotient:
    merged = MarkovChain(
        indptr=indptr,
        indices=indices,
        numerators=numerators,
        denominators=denominators,
        start=np.unique(class_of[chain.start]),
        positions=chain.positions[representative],
        labeller=lambda b: chain.label(int(representative[b])),
    )
    return Quotient(merged, class_of, representative, inside[representative])


def _check(chain: MarkovChain, inside: BoolArray, result: Quotient) -> int:
    """Return a state whose row, summed by class, is not its class's row, or -1."""
    class_of, merged = result.class_of, result.chain
    pointers, to = chain.indptr.tolist(), class_of[chain.indices].tolist()
    nums, dens, own = chain.numerators.tolist(), chain.denominators.tolist(), class_of.tolist()
    rows = [
        dict(zip(merged.indices[a:b].tolist(), merged.numerators[a:b].tolist(), strict=True))
        for a, b in zip(merged.indptr[:-1].tolist(), merged.indptr[1:].tolist(), strict=True)
    ]
    below = merged.denominators.tolist()
    for i in np.flatnonzero(inside).tolist():
        total: dict[int, int] = {}
        for k in range(pointers[i], pointers[i + 1]):
            total[to[k]] = total.get(to[k], 0) + nums[k]
        row, scale = rows[own[i]], below[own[i]]
        if len(row) != len(total) or any(
            total.get(b, 0) * scale != weight * dens[i] for b, weight in row.items()
        ):
            return i
    return -1
