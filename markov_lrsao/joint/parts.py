"""The parts of a run on their own: one labelled transition matrix per phase.

A part is the chain of (position, patterns of the rows that the phase can meet), from all
states in which the phase can begin until its milestone is hit; states at the milestone are
absorbing. On Jump the parts are the left plateau, the slope and the right plateau. The
slope's matrix grows exponentially with its sites, like the joint chain itself; the other
two do not.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.crossing.decomposition import decompose
from markov_lrsao.errors import (
    CrossingError,
    NotAbsorbingError,
    ParameterError,
    Refused,
    attempt,
)
from markov_lrsao.joint.enumeration import (
    MAX_STATES,
    Coding,
    chain_of,
    enumerate_codes,
    enumerate_joint,
)
from markov_lrsao.model.law import StepLaw
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.rows.automata import RowAutomata
from markov_lrsao.rows.derived import automata_of
from markov_lrsao.rows.lumping import merge_patterns

__all__ = ["part_chain"]

IntArray = npt.NDArray[np.int64]


def part_chain(
    law: StepLaw, part: str, *, merge: bool = True, progress: Progress = no_progress
) -> MarkovChain:
    """Return the chain of one phase, named as in `law.landscape.phases`.

    >>> from markov_lrsao import Algorithm, Landscape, Parameters
    >>> law = StepLaw.of(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.paper(9)))
    >>> left = part_chain(law, "left")
    >>> left.label(int(left.start[0])), left.size
    ('p=0', 15)

    Raises
    ------
    ParameterError
        There is no such part.
    StateSpaceTooLargeError
        The part has too many states.
    """
    names = law.landscape.phases
    if part not in names:
        raise ParameterError(f"part = {part!r} is unknown: choose one of {', '.join(names)}")
    number = names.index(part)
    automata = automata_of(law)
    if merge:
        automata, _ = merge_patterns(automata)
    if number == 0:
        return _explore(
            automata,
            law.rows_met(end=law.landscape.milestones[0]),
            np.zeros(1, np.int64),
            law.landscape.milestones[0],
            progress,
        )
    begin = law.landscape.milestones[number - 1]
    rows, start = _entries(law, automata, number, begin, progress, merge=merge)
    return _explore(automata, rows, start, law.landscape.milestones[number], progress)


def _explore(
    automata: RowAutomata, rows: tuple[int, ...], start: IntArray, end: int, progress: Progress
) -> MarkovChain:
    coding = Coding.of(automata, rows)

    def stop(positions: IntArray) -> npt.NDArray[np.bool_]:
        return np.asarray(positions >= end, dtype=np.bool_)

    codes, table = enumerate_codes(
        coding, start, stop, largest=MAX_STATES["exact"], progress=progress
    )
    return chain_of(coding, table, codes, start, stop)


def _entries(
    law: StepLaw,
    automata: RowAutomata,
    number: int,
    begin: int,
    progress: Progress,
    *,
    merge: bool,
) -> tuple[tuple[int, ...], IntArray]:
    """Return the rows of a later phase and the coded states in which it can begin.

    When the phase begins at the cut of the decomposition, the entries are known from the
    blocks at any n; otherwise the earlier phases are enumerated.
    """
    if merge:
        d = attempt(lambda: decompose(law), (CrossingError, NotAbsorbingError))
        if not isinstance(d, Refused) and d.tail is not None and d.cut == begin:
            rows = d.tail.stretch.rows
            coding = Coding.of(automata, rows)
            starts = [d.tail.states[i].patterns for i in set(d.tail_start.values())]
            return rows, np.unique(
                [
                    begin + sum(int(coding.stride[r]) * k for r, k in zip(rows, s, strict=True))
                    for s in starts
                ]
            ).astype(np.int64)
    if number == 1:
        rows = law.rows_met(end=law.landscape.milestones[1])
        coding = Coding.of(automata, rows)

        def stop(positions: IntArray) -> npt.NDArray[np.bool_]:
            return np.asarray(positions >= begin, dtype=np.bool_)

        codes, _ = enumerate_codes(
            coding, np.zeros(1, np.int64), stop, largest=MAX_STATES["exact"], progress=progress
        )
        return rows, codes[coding.positions(codes) == begin]
    joint = enumerate_joint(law, merge=merge, progress=progress, automata=None)
    return joint.coding.rows, _first_hits(joint.chain, joint.codes, begin)


def _first_hits(chain: MarkovChain, codes: IntArray, begin: int) -> IntArray:
    """Return the codes of the states in which position `begin` can be hit for the first time."""
    from markov_lrsao.exact.graphs import reachable_from

    below = chain.positions < begin
    keep = below[chain.sources]
    indptr = np.concatenate([[0], np.cumsum(np.where(below, np.diff(chain.indptr), 0))])
    seen = reachable_from(indptr.astype(np.int64), chain.indices[keep], chain.start)
    return np.asarray(codes[seen & (chain.positions == begin)], dtype=np.int64)
