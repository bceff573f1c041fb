"""What all readers share: strict text, strict numbers, strict rows.

A file is untrusted. It is opened by `markov_lrsao.inputs` only, which refuses what is not a
regular file or too large. Nothing is allocated from a number that the file merely claims; every
defect raises `FileFormatError`, one line that names the file and the line number. Nothing is
mended in silence: what may be accepted although it is not literally right (see `RowReader`)
is counted and reported as a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd, lcm
from pathlib import Path
from typing import NoReturn

import numpy as np
from flint import fmpq, fmpz

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.errors import FileFormatError
from markov_lrsao.inputs import read_input
from markov_lrsao.texts import printable

__all__ = ["ChainFile", "RowReader", "Source", "assemble", "parse_integer", "parse_number"]

ROW_SUM_TOLERANCE = 1e-6
"""How far a row of rounded decimals may sum from 1 before it is refused in floats as well."""
_LONGEST_NUMBER = 10_000  # characters
_LARGEST_EXPONENT = 400  # a double never needs more
_INTEGER = re.compile(r"[0-9]+")
_FRACTION = re.compile(r"([+-]?[0-9]+)/([+-]?[0-9]+)")
_DECIMAL = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,9}))?")


@dataclass(frozen=True, eq=False)
class ChainFile:
    """What a file says.

    Attributes
    ----------
    chain : the chain, with labels; its start states are those the file calls initial
    rewards : reward name -> what one step from each state earns
    transition_rewards : reward name -> (i, j) -> what a step from i to j earns besides; its
        names are among those of `rewards`
    exact : whether every row sums to exactly 1 as it is written; False if rounded decimals
        had to be divided by their sum
    notes : what a reader should know, one sentence each
    """

    chain: MarkovChain
    rewards: Mapping[str, tuple[fmpq, ...]] = field(default_factory=dict)
    transition_rewards: Mapping[str, Mapping[tuple[int, int], fmpq]] = field(default_factory=dict)
    exact: bool = True
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Source:
    """A file's text and name, for error messages."""

    name: str
    data: bytes

    @classmethod
    def open(cls, path: str | Path, limit: int | None = None) -> Source:
        """Read a regular file of at most `limit` bytes (see `read_input`)."""
        return cls(printable(str(path)), read_input(path, limit))

    def fail(self, line: int, message: str) -> NoReturn:
        """Raise FileFormatError for a line (counted from 1)."""
        raise FileFormatError(f"{self.name}, line {line}: {message}")

    def text(self) -> str:
        """Decode, refusing anything that is not UTF-8."""
        try:
            return self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, error.start) + 1
            self.fail(line, f"byte 0x{self.data[error.start]:02x} is not valid UTF-8")

    def lines(self) -> list[str]:
        """Return the lines without their ends; a final line end is not a line of its own."""
        lines = self.text().replace("\r\n", "\n").split("\n")
        return lines[:-1] if lines[-1] == "" else lines


def show(text: str) -> str:
    """Quote a piece of a file for a message, in one short printable line."""
    return repr(text if len(text) <= 40 else text[:37] + "...")


def parse_integer(source: Source, line: int, text: str, what: str) -> int:
    """Return a natural number, or fail."""
    if not _INTEGER.fullmatch(text) or len(text) > 18:
        source.fail(line, f"{what} must be a natural number below 10^18, not {show(text)}")
    return int(text)


def parse_number(source: Source, line: int, text: str, what: str) -> tuple[int, int]:
    """Return numerator and positive denominator of "3", "1/3", "0.25" or "1e-3", or fail."""
    if len(text) > _LONGEST_NUMBER:
        source.fail(line, f"{what} has {len(text):,} characters; at most {_LONGEST_NUMBER:,}")
    match = _FRACTION.fullmatch(text)
    if match:
        above, below = int(fmpz(match[1].lstrip("+"))), int(fmpz(match[2].lstrip("+")))
        if below == 0:
            source.fail(line, f"{what} {show(text)} has a zero denominator")
        if below < 0:
            source.fail(line, f"{what} {show(text)} has a negative denominator")
        return above, below
    match = _DECIMAL.fullmatch(text)
    if not match or not (match[2] or match[3]):
        source.fail(line, f"{what} must be a number such as 1/3 or 0.25, not {show(text)}")
    digits, exponent = match[3] or "", int(match[4] or 0)
    if abs(exponent) > _LARGEST_EXPONENT:
        source.fail(line, f"{what} {show(text)} has an exponent beyond {_LARGEST_EXPONENT}")
    above, shift = int(fmpz(match[2] + digits)), exponent - len(digits)
    below = 10**-shift if shift < 0 else 1
    above *= (10**shift if shift > 0 else 1) * (-1 if match[1] == "-" else 1)
    common = gcd(above, below)
    return above // common, below // common


class RowReader:
    """Collects the rows of a chain and checks them.

    A row must have positive probabilities, no successor twice, and sum to 1. Where all of a
    file's numbers are decimals, a sum within `ROW_SUM_TOLERANCE` of 1 is taken for rounding:
    the row is divided by its sum, counted, and the chain is not exact any more.
    """

    def __init__(self, source: Source, *, decimals_are_rounded: bool) -> None:
        self._source, self._rounded = source, decimals_are_rounded
        self.pointers, self.columns = [0], list[int]()
        self.numerators, self.denominators = list[int](), list[int]()
        self._known: dict[str, tuple[int, int]] = {}
        self._shapes: dict[tuple[tuple[int, int], ...], tuple[tuple[int, ...], int]] = {}
        self.normalised = self.zeros = 0
        self.first_normalised = 0
        self.worst = 0.0

    @property
    def rows(self) -> int:
        """The number of rows read."""
        return len(self.denominators)

    def probability(self, line: int, text: str) -> tuple[int, int]:
        """Return a probability as (numerator, denominator), or fail."""
        found = self._known.get(text)
        if found is None:
            above, below = parse_number(self._source, line, text, "probability")
            if not 0 <= above <= below:
                self._source.fail(line, f"probability {show(text)} is not between 0 and 1")
            found = self._known[text] = above, below
        return found

    def add(self, line: int, entries: Mapping[int, tuple[int, int]]) -> None:
        """Add the row of the next state; `line` is where it begins."""
        targets = sorted(entries)
        values = tuple([entries[j] for j in targets])
        shape = self._shapes.get(values)
        if shape is None:
            shape = self._shape(line, values)
        numerators, denominator = shape
        if len(numerators) < len(values):
            self.zeros += len(values) - len(numerators)
            targets = [j for j in targets if entries[j][0]]
        self.columns.extend(targets)
        self.numerators.extend(numerators)
        self.denominators.append(denominator)
        self.pointers.append(len(self.columns))

    def _shape(self, line: int, values: tuple[tuple[int, int], ...]) -> tuple[tuple[int, ...], int]:
        """Return positive numerators over one denominator; rows that are exact are kept."""
        state = self.rows
        if not values:
            self._source.fail(
                line,
                f"state {state} has no transitions (a deadlock); give it a loop of probability 1",
            )
        below = lcm(*(b for _, b in values))
        weights = [a * (below // b) for a, b in values]
        total = sum(weights)
        exact = total == below
        if not exact:
            gap = abs(total - below) / below
            if not self._rounded or gap > ROW_SUM_TOLERANCE:
                text = str(fmpq(total, below))
                short = text if len(text) <= 40 else f"about {total / below:.17g}"
                kind = "is sub-stochastic: it sums" if total < below else "sums"
                self._source.fail(line, f"the row of state {state} {kind} to {short}, not to 1")
            self.normalised += 1
            self.first_normalised = self.first_normalised or line
            self.worst = max(self.worst, gap)
            below = total
        common = gcd(below, *weights)
        shape = tuple(w // common for w in weights if w), below // common
        if exact:
            self._shapes[values] = shape
        return shape

    def notes(self) -> tuple[str, ...]:
        """Return what was accepted although it is not literally right."""
        return reading_notes(self.zeros, self.normalised, self.first_normalised, self.worst)


def reading_notes(zeros: int, normalised: int, first: int, worst: float) -> tuple[str, ...]:
    """Return the notes on left-out zeros and on rows divided by their sums."""
    notes = []
    if zeros:
        notes.append(f"{zeros:,} transitions of probability 0 were left out")
    if normalised:
        notes.append(
            f"{normalised:,} rows of rounded decimals sum to 1 only within {worst:.2g} "
            f"(first: line {first}); each was divided by its sum"
        )
    return tuple(notes)


def assemble(
    reader: RowReader,
    start: Iterable[int],
    labels: Mapping[str, Iterable[int]],
    rewards: Mapping[str, tuple[fmpq, ...]] | None = None,
) -> ChainFile:
    """Return what a reader has collected."""
    dtype = np.int64 if max(reader.denominators, default=1) < 2**62 else object
    chain = MarkovChain(
        indptr=np.array(reader.pointers, np.int64),
        indices=np.array(reader.columns, np.int64),
        numerators=np.array(reader.numerators, dtype),
        denominators=np.array(reader.denominators, dtype),
        start=np.array(sorted(set(start)), np.int64),
        positions=np.arange(reader.rows, dtype=np.int64),
        labels={name: np.array(sorted(set(states)), np.int64) for name, states in labels.items()},
    )
    return ChainFile(chain, rewards or {}, exact=reader.normalised == 0, notes=reader.notes())


def refuse_twice(source: Source, line: int, names: Sequence[object], what: str) -> None:
    """Fail if something that may be given once is given twice."""
    if len(set(names)) < len(names):
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        source.fail(line, f"{what} {show(str(twice))} is given twice")
