"""The joint chain: every reachable (position, pattern of all rows).

A state is one integer: the position plus, in mixed radix, the pattern number of every row
that a run can meet. A step changes the position by at most one and one digit, so a
successor is the state's number plus a difference that depends on (position, pattern of the
row shown there) only. Enumeration is then array arithmetic over whole frontiers.

Transition probabilities are integers over a common denominator: the greedy actions tie
k at a time, so a move has probability p/(nk) or (n-p)/(nk).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.chains.solvers import Field
from markov_lrsao.errors import StateSpaceTooLargeError, UndecidedComparisonError, VerificationError
from markov_lrsao.exact.arrays import distinct
from markov_lrsao.model.law import StepLaw
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.rows.automata import RowAutomata
from markov_lrsao.rows.derived import automata_of
from markov_lrsao.rows.lumping import merge_patterns

__all__ = [
    "MAX_STATES",
    "Coding",
    "JointChain",
    "chain_of",
    "enumerate_codes",
    "enumerate_joint",
    "expected_states",
]

IntArray = npt.NDArray[np.int64]
_LARGEST_CODE = 2**62
MAX_STATES: dict[Field, int] = {"exact": 3_000_000, "float": 20_000_000}
"""Default limits: some 3 GB of rationals, some 4 GB of floats and indices."""


@dataclass(frozen=True, eq=False)
class Coding:
    """The numbering of joint states: code = position + sum of pattern * stride.

    Attributes
    ----------
    rows : the rows whose patterns are part of the state
    stride, radix : per row of the law; stride 0 for rows that are not part of it
    """

    automata: RowAutomata
    rows: tuple[int, ...]
    stride: IntArray
    radix: IntArray

    @classmethod
    def of(cls, automata: RowAutomata, rows: tuple[int, ...]) -> Coding:
        """Number the states over the given rows.

        Raises
        ------
        StateSpaceTooLargeError
            The codes would not fit into 62 bits.
        """
        law = automata.law
        count = int(law.row.max()) + 1
        stride, radix = np.zeros(count, np.int64), np.ones(count, np.int64)
        width = law.n + 1
        for r in rows:
            size = len(automata.patterns[automata.class_of(r)])
            stride[r], radix[r] = width, size
            width *= size
            if width > _LARGEST_CODE:
                raise StateSpaceTooLargeError(
                    f"the joint chain has too many slope sites (n = {law.n}): more than 2^62 "
                    f"combinations of patterns"
                )
        return cls(automata, rows, stride, radix)

    def positions(self, codes: IntArray) -> IntArray:
        """Return the positions of coded states."""
        return codes % (self.automata.law.n + 1)

    def pattern(self, codes: IntArray, row: IntArray | int) -> IntArray:
        """Return the pattern numbers that coded states have in a row."""
        return np.asarray((codes // self.stride[row]) % self.radix[row], dtype=np.int64)

    def label(self, code: int) -> str:
        """Return e.g. "p=4 [0: L>0=J=R] [3: 0=L=J>R]"; fresh rows are left out."""
        automata = self.automata
        codes = np.array([code])
        text = [f"p={self.positions(codes)[0]}"]
        for r in self.rows:
            k = int(self.pattern(codes, r)[0])
            if k:
                c = automata.class_of(r)
                text.append(f"[{automata.law.state(r)}: {automata.label(c, k)}]")
        return " ".join(text)


@dataclass(frozen=True, eq=False)
class _Table:
    """Successor differences: entries begin[base[p] + pattern] .. of `delta`, `numerator`."""

    base: IntArray
    begin: IntArray
    delta: IntArray
    numerator: IntArray
    undecided: npt.NDArray[np.bool_]
    unexplored: npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class JointChain:
    """The joint chain of a step law, with the coding of its states.

    Attributes
    ----------
    chain : the Markov chain; states are sorted by code
    codes : state -> code
    merged : whether equivalent patterns were merged first
    """

    law: StepLaw
    automata: RowAutomata
    coding: Coding
    chain: MarkovChain
    codes: IntArray
    merged: bool


def _table(coding: Coding) -> _Table:
    automata, law = coding.automata, coding.automata.law
    base, begin = np.zeros(law.n + 1, np.int64), [0]
    delta: list[int] = []
    numerator: list[int] = []
    undecided: list[bool] = []
    unexplored: list[bool] = []
    for p in range(law.optimum + 1):
        base[p] = len(begin) - 1
        kind, c = automata.place(p)
        stride = int(coding.stride[law.row[p]])
        for k, shown in enumerate(automata.patterns[c]):
            entries: Counter[int] = Counter()
            decided = p == law.optimum or shown.undecided is None
            if p == law.optimum:
                entries[0] = law.denominator
            elif decided:
                for (moved, to), share in automata.outcomes(kind, c, k).items():
                    entries[(to - k) * stride + moved] += share.numerator(p, law.n)
            undecided.append(not decided)
            unexplored.append(decided and not entries)
            for difference, weight in sorted(entries.items()):
                delta.append(difference)
                numerator.append(weight)
            begin.append(len(delta))
    return _Table(
        base,
        np.array(begin),
        np.array(delta, np.int64),
        np.array(numerator, np.int64),
        np.array(undecided),
        np.array(unexplored),
    )


def _expand(coding: Coding, table: _Table, codes: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return (number of successors per state, their codes, their numerators)."""
    p = coding.positions(codes)
    row = coding.automata.law.row[p]
    shown = table.base[p] + np.where(
        coding.stride[row] > 0, (codes // np.maximum(coding.stride[row], 1)) % coding.radix[row], 0
    )
    if table.undecided[shown].any() or table.unexplored[shown].any():
        _refuse(coding, table, codes, shown)
    counts = table.begin[shown + 1] - table.begin[shown]
    ends = np.cumsum(counts)
    at = np.repeat(table.begin[shown] - ends + counts, counts) + np.arange(ends[-1])
    return counts, np.repeat(codes, counts) + table.delta[at], table.numerator[at]


def _refuse(coding: Coding, table: _Table, codes: IntArray, shown: IntArray) -> None:
    automata = coding.automata
    first = int(np.flatnonzero(table.undecided[shown] | table.unexplored[shown])[0])
    code = int(codes[first])
    if table.unexplored[shown[first]]:
        raise VerificationError(
            f"state {coding.label(code)} was not foreseen by the row automata; please report this"
        )
    r = int(automata.law.row[int(coding.positions(codes)[first])])
    try:
        automata.choose(automata.class_of(r), int(coding.pattern(codes[first : first + 1], r)[0]))
    except UndecidedComparisonError as error:
        raise UndecidedComparisonError(f"in state {coding.label(code)}: {error}") from None


def enumerate_codes(
    coding: Coding,
    start: IntArray,
    stop: Callable[[IntArray], npt.NDArray[np.bool_]],
    *,
    largest: int,
    progress: Progress = no_progress,
) -> tuple[IntArray, _Table]:
    """Return all codes reachable from `start`, sorted; states where `stop` holds end there."""
    table = _table(coding)
    seen = distinct(start)
    frontier = seen[~stop(coding.positions(seen))]
    with progress("enumerating states") as bar:
        while frontier.size:
            _, successors, _ = _expand(coding, table, frontier)
            successors = distinct(successors)
            at = np.minimum(np.searchsorted(seen, successors), len(seen) - 1)
            fresh = successors[seen[at] != successors]
            if len(seen) + len(fresh) > largest:
                raise StateSpaceTooLargeError(
                    f"the joint chain has more than {largest:,} states; raise `max_states`"
                )
            seen = np.sort(np.concatenate([seen, fresh]), kind="stable")
            frontier = fresh[~stop(coding.positions(fresh))]
            bar.advance(len(fresh))
    return seen, table


def chain_of(
    coding: Coding,
    table: _Table,
    codes: IntArray,
    start: IntArray,
    stop: Callable[[IntArray], npt.NDArray[np.bool_]],
) -> MarkovChain:
    """Return the chain on sorted codes; states where `stop` holds become absorbing."""
    law = coding.automata.law
    ends = stop(coding.positions(codes))
    counts, successors, numerators = _expand(coding, table, codes)
    if ends.any():
        keep = ~np.repeat(ends, counts)
        first = np.cumsum(counts)[ends] - counts[ends]
        keep[first] = True
        successors[first], numerators[first] = codes[ends], law.denominator
        successors, numerators = successors[keep], numerators[keep]
        counts = np.where(ends, 1, counts)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    indices = np.searchsorted(codes, successors)
    return MarkovChain(
        indptr=indptr.astype(np.int64),
        indices=indices.astype(np.int64),
        numerators=numerators,
        denominators=np.full(len(codes), law.denominator),
        positions=coding.positions(codes),
        start=np.searchsorted(codes, distinct(start)).astype(np.int64),
        labeller=lambda state: coding.label(int(codes[state])),
    )


_FEW_ROWS = {True: 10, False: 7}  # merged or not: with no more Q-rows than this, just try


def expected_states(law: StepLaw, *, merge: bool) -> float | None:
    """Estimate the number of joint states from smaller members of the landscape's family.

    With l fixed the count grows by a constant factor per unit of n; the factor is measured between
    the second and the third smallest n that the family has: XdivK has multiples of k only. None
    when it is quicker to try: few rows, or a landscape without a family.
    """
    family, ell = law.landscape.family, law.landscape.ell
    if family is None or int(law.row[: law.optimum].max()) + 1 <= _FEW_ROWS[merge]:
        return None
    covered = list(islice((m for m in range(1, law.n) if family.covers(m, ell)), 3))
    if len(covered) < 3:
        return None
    sizes = []
    for n in covered[1:]:
        small = StepLaw.of(family.at(n, ell), law.algorithm)
        try:
            sizes.append(enumerate_joint(small, merge=merge).chain.size)
        except UndecidedComparisonError:
            return None  # these parameters decide at n, but not at smaller sizes: just try
    steps = (law.n - covered[2]) / (covered[2] - covered[1])
    growth = sizes[1] / sizes[0]
    return float(sizes[1] * growth ** min(steps, 1000))


def enumerate_joint(
    law: StepLaw,
    *,
    merge: bool = True,
    field: Field = "exact",
    max_states: int | None = None,
    progress: Progress = no_progress,
    automata: RowAutomata | None = None,
    begin: Sequence[int] = (0,),
    ends: frozenset[int] | None = None,
) -> JointChain:
    """Enumerate the joint chain from the all-zeros bit string with a fresh Q-table.

    Parameters
    ----------
    merge : merge equivalent patterns of each row first (an exact lumping)
    field : what will be solved on the chain; it decides the default of `max_states`
    max_states : refuse chains with more states; default `MAX_STATES[field]`
    begin : positions at which runs begin instead, none beyond the optimum
    ends : positions at which runs end; default: the optimum
    """
    if automata is None:
        automata = automata_of(law, anywhere=tuple(begin) != (0,))
    if merge:
        automata, _ = merge_patterns(automata)
    last = law.optimum
    rows = law.rows_met()
    largest = max_states if max_states is not None else MAX_STATES[field]
    expected = expected_states(law, merge=merge)
    if expected is not None and expected > largest:
        raise StateSpaceTooLargeError(
            f"the joint chain at n = {law.n}, ell = {law.landscape.ell} would have about "
            f"{expected:.1e} states, more than the limit of {largest:,}; "
            + ("" if merge else "use `merge=True`, or ")
            + "raise `max_states`"
        )
    coding = Coding.of(automata, rows)
    start = np.array(begin, np.int64)
    final = np.array(sorted({last} if ends is None else ends | {last}))

    def stop(positions: IntArray) -> npt.NDArray[np.bool_]:
        return np.isin(positions, final)

    codes, table = enumerate_codes(coding, start, stop, largest=largest, progress=progress)
    chain = chain_of(coding, table, codes, start, stop)
    return JointChain(law, automata, coding, chain, codes, merge)
