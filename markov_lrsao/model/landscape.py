"""Landscapes as data: named objectives over the positions 0..n, one of them the target.

A bit string enters only through its position p = |x|_1. An objective is a list of
pieces; on the positions first..last (ends included) of a piece its value is an affine
form in p, n and l. Kept symbolic (`LandscapeFamily`), the pieces are what proofs with
unknown n and l read; at a given (n, l) they yield integer arrays (`Landscape`).

The *milestones* are increasing positions that split a run into phases: phase k ends when
milestone k is first hit. The last one is the optimum, the position where the target is
largest.

>>> jump = Landscape.jump(9, 2)
>>> jump.objectives["J"].tolist()
[0, 0, 0, 3, 4, 5, 6, 0, 0, 9]
>>> jump.milestones
(3, 7, 9)
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from markov_lrsao.errors import FileFormatError, ParameterError, StateSpaceTooLargeError
from markov_lrsao.exact.rationals import integer
from markov_lrsao.inputs import load_json, read_text
from markov_lrsao.model.affine import ELL, Affine, N, P, Piece

__all__ = [
    "ELL",
    "FAMILIES",
    "JUMP",
    "JUMP_OPEN",
    "LARGEST_N",
    "ONEMAX",
    "Affine",
    "Landscape",
    "LandscapeFamily",
    "N",
    "P",
    "Piece",
]

IntArray = npt.NDArray[np.int64]
LARGEST_N = 20_000_000
"""Positions beyond this would need more than 8 GB of tables."""
_LARGEST_VALUE = 2**40
"""Differences of values, and their combinations with n, must stay far from 64 bits."""


def check_n(n: int) -> None:
    """Refuse an n that no family has, or whose tables do not fit into memory.

    Raises
    ------
    ParameterError, StateSpaceTooLargeError
    """
    if n < 1:
        raise ParameterError(f"n = {n} is too small: a bit string needs n >= 1")
    if n > LARGEST_N:
        raise StateSpaceTooLargeError(
            f"n = {n:,} is too large: its tables would need some {n * 400 // 10**9:,} GB; "
            f"the limit is n = {LARGEST_N:,}"
        )


@dataclass(frozen=True)
class LandscapeFamily:
    """A landscape with n and l left symbolic.

    Attributes
    ----------
    objectives : (short name, pieces) in the order of the actions
    target : short name of the target objective
    milestones : increasing positions ending the phases, the optimum last
    constraints : forms in n and l that are >= 0 on the range of the family's theory
    defined : forms that are >= 0 on a range beyond, on which the landscape still makes sense
    titles : (short name, full name) for tables and figures
    phases : names of the phases, as many as milestones; default phase1, phase2, ..
    """

    name: str
    objectives: tuple[tuple[str, tuple[Piece, ...]], ...]
    target: str
    milestones: tuple[Affine, ...]
    constraints: tuple[Affine, ...] = ()
    defined: tuple[Affine, ...] = ()
    titles: tuple[tuple[str, str], ...] = ()
    phases: tuple[str, ...] = ()

    def at(self, n: SupportsIndex, ell: SupportsIndex = 0) -> Landscape:
        """Return the landscape at (n, l).

        Raises
        ------
        ParameterError
            The landscape is not defined at (n, l), or its pieces do not cover 0..n exactly once.
        """
        n, ell = integer(n, "n"), integer(ell, "ell")
        if not self.covers(n, ell):
            self.check(n, ell)
        arrays = {name: self._array(name, pieces, n, ell) for name, pieces in self.objectives}
        return Landscape(
            name=self.name,
            n=n,
            ell=ell,
            objectives=arrays,
            target=self.target,
            milestones=tuple(m(n=n, ell=ell) for m in self.milestones),
            family=self,
        )

    def covers(self, n: int, ell: int) -> bool:
        """Whether the landscape is defined at (n, l): on the range of its theory, or beyond.

        >>> JUMP.ell_range(9), JUMP.covers(9, 1), JUMP.covers(9, 0)
        ((2, 2), True, False)
        """
        ranges = (self.constraints, *((self.defined,) if self.defined else ()))
        return 1 <= n <= LARGEST_N and any(
            all(form(n=n, ell=ell) >= 0 for form in forms) for forms in ranges
        )

    def check(self, n: SupportsIndex, ell: SupportsIndex) -> tuple[int, int]:
        """Return (n, l), or raise ParameterError, naming the range of the family's theory."""
        n, ell = integer(n, "n"), integer(ell, "ell")
        check_n(n)
        if all(form(n=n, ell=ell) >= 0 for form in self.constraints):
            return n, ell
        needs = " and ".join(f"{form} >= 0" for form in self.constraints)
        allowed = self.ell_range(n)
        if allowed is not None:
            raise ParameterError(
                f"ell = {ell} is out of range for {self.name} at n = {n}: "
                f"choose ell in {allowed[0]}..{allowed[1]}"
            )
        smallest = next(m for m in range(n + 1, n + 1000) if self.ell_range(m) is not None)
        least = self.ell_range(smallest)
        assert least is not None
        raise ParameterError(
            f"n = {n} admits no ell for {self.name} (needed: {needs}); "
            f"the smallest larger instance is n = {smallest}, ell = {least[0]}"
        )

    def ell_range(self, n: int) -> tuple[int, int] | None:
        """Return the smallest and largest admissible l at n, or None if there is none."""
        low, high = 0, n
        for form in self.constraints:
            rest = form(n=n, ell=0)
            if form.ell > 0:
                low = max(low, -(rest // form.ell))
            elif form.ell < 0:
                high = min(high, rest // -form.ell)
            elif rest < 0:
                return None
        return (low, high) if low <= high else None

    def _array(self, name: str, pieces: Sequence[Piece], n: int, ell: int) -> IntArray:
        values = np.zeros(n + 1, dtype=np.int64)
        defined = np.zeros(n + 1, dtype=np.int64)
        for piece in pieces:
            first, last = piece.first(n=n, ell=ell), piece.last(n=n, ell=ell)
            if first <= last and (first < 0 or last > n):
                raise ParameterError(
                    f"objective {name} of {self.name} has a piece on {first}..{last}, outside "
                    f"0..{n}, for n = {n}, ell = {ell}: mend its pieces"
                )
            positions = np.arange(first, last + 1)
            values[positions] = piece.value.p * positions + piece.value(n=n, ell=ell)
            defined[positions] += 1
        wrong = np.flatnonzero(defined != 1)
        if wrong.size:
            raise ParameterError(
                f"objective {name} of {self.name} is not defined exactly once at position "
                f"{wrong[0]} for n = {n}, ell = {ell}: mend its pieces"
            )
        return values


@dataclass(frozen=True, eq=False)
class Landscape:
    """Objectives as integer arrays over the positions 0..n.

    Build one with `jump`, `onemax`, `from_arrays`, `load` or `LandscapeFamily.at`. Landscapes
    are equal if all of this is: names, arrays by content and in their order, milestones, family.

    >>> Landscape.jump(9, 2) == Landscape.jump(9, 2) != Landscape.jump(10, 2)
    True
    """

    name: str
    n: int
    ell: int
    objectives: Mapping[str, IntArray]
    target: str
    milestones: tuple[int, ...]
    family: LandscapeFamily | None = field(default=None, repr=False)

    @property
    def _identity(self) -> tuple[object, ...]:
        content = tuple((name, a.tobytes()) for name, a in self.objectives.items())
        return self.name, self.n, self.ell, self.target, self.milestones, content, self.family

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Landscape) and self._identity == other._identity)

    def __hash__(self) -> int:
        return hash(self._identity)

    def __post_init__(self) -> None:
        if self.target not in self.objectives:
            raise ParameterError(
                f"target = {self.target!r} is not one of the objectives {list(self.objectives)}"
            )
        for name, values in self.objectives.items():
            values.setflags(write=False)  # equal landscapes stay equal
            if values.size and max(abs(int(values.min())), abs(int(values.max()))) > _LARGEST_VALUE:
                raise ParameterError(
                    f"objective {name} has a value beyond {_LARGEST_VALUE:,}; scale it down"
                )
        if not self.milestones:
            raise ParameterError("milestones = () must name at least the optimum")
        best = self.objectives[self.target]
        optimum = int(best.argmax())
        if int((best == best[optimum]).sum()) != 1 or self.milestones[-1] != optimum:
            raise ParameterError(
                f"the target {self.target} must have one largest value, at the last milestone "
                f"{self.milestones[-1]}; its largest value is at position(s) "
                f"{np.flatnonzero(best == best[optimum]).tolist()}"
            )
        ends = (0, *self.milestones)
        if any(a >= b for a, b in pairwise(ends)):
            raise ParameterError(f"milestones = {self.milestones} must increase from above 0")

    @property
    def optimum(self) -> int:
        """The position at which a run ends."""
        return self.milestones[-1]

    @property
    def beyond_theory(self) -> bool:
        """Whether its family's theory does not speak about this (n, l), as Jump's about l = 1."""
        forms = () if self.family is None else self.family.constraints
        return any(form(n=self.n, ell=self.ell) < 0 for form in forms)

    @property
    def phases(self) -> tuple[str, ...]:
        """Names of the phases, for people."""
        if self.family is not None and self.family.phases:
            return self.family.phases
        return tuple(f"phase{k}" for k in range(1, len(self.milestones) + 1))

    @property
    def actions(self) -> tuple[str, ...]:
        """Short names of the objectives, in the order of the Q-table's columns."""
        return tuple(self.objectives)

    @property
    def largest_gain(self) -> int:
        """Largest increase of an objective over one step that does not reach the optimum.

        This is the quantity written n - l - 1 in hypothesis (H) and Lemma 2.
        """
        steps = np.array([np.abs(np.diff(values)) for values in self.objectives.values()])
        at_optimum = [p for p in (self.optimum - 1, self.optimum) if 0 <= p < self.n]
        steps[:, at_optimum] = 0
        return int(steps.max())

    @classmethod
    def jump(cls, n: SupportsIndex, ell: SupportsIndex) -> Landscape:
        """LeftBridge, Jump (target) and RightBridge as the paper defines them."""
        return JUMP.at(n, ell)

    @classmethod
    def onemax(cls, n: SupportsIndex) -> Landscape:
        """OneMax alone: random local search on it is the coupon collector."""
        return ONEMAX.at(n)

    @classmethod
    def from_arrays(
        cls,
        objectives: Mapping[str, Sequence[int] | IntArray],
        target: str,
        milestones: Sequence[int] | None = None,
        *,
        name: str = "custom",
        ell: SupportsIndex = 0,
    ) -> Landscape:
        """Build a landscape from plain arrays over 0..n.

        Parameters
        ----------
        objectives : short name -> n + 1 integers, in the order of the actions
        target : short name of the target objective
        milestones : ends of the phases; default: the optimum only, that is one phase

        Examples
        --------
        >>> Landscape.from_arrays({"A": [0, 1, 2], "B": [2, 1, 0]}, target="A").milestones
        (2,)
        """
        arrays = {key: _integers(values, f"objective {key}") for key, values in objectives.items()}
        lengths = {key: len(array) for key, array in arrays.items()}
        if not lengths or len(set(lengths.values())) != 1 or min(lengths.values()) < 2:
            raise ParameterError(f"objectives must have the same n + 1 >= 2 values, got {lengths}")
        if not isinstance(target, str) or target not in arrays:
            raise ParameterError(f"target = {target!r} is not one of {list(arrays)}")
        ends = (
            [int(arrays[target].argmax())]
            if milestones is None
            else _integers(milestones, "milestones").tolist()
        )
        n = next(iter(lengths.values())) - 1
        return cls(name, n, integer(ell, "ell"), arrays, target, tuple(ends))

    @classmethod
    def load(cls, path: str | Path) -> Landscape:
        """Read a landscape from a JSON file.

        The file is ``{"objectives": {"A": [..], ..}, "target": "A", "milestones": [..],
        "name": ".."}``; the last two are optional.
        """
        if not os.path.lexists(path):
            raise ParameterError(
                f"landscape {str(path)!r} is neither known nor a file: choose "
                f"{', '.join(FAMILIES)}, or the name of a JSON file"
            )
        try:
            data: Any = load_json(read_text(path), str(path))
        except FileFormatError as error:
            raise ParameterError(f"landscape file {error}") from None
        known = {"objectives", "target", "milestones", "name"}
        if not isinstance(data, dict) or not {"objectives", "target"} <= set(data) <= known:
            raise ParameterError(
                f"landscape file {path}: expected an object with the keys objectives and target "
                f"(optional: milestones, name)"
            )
        if not isinstance(data["objectives"], dict):
            raise ParameterError(f"landscape file {path}: objectives must map names to lists")
        return cls.from_arrays(
            data["objectives"],
            data["target"],
            data.get("milestones"),
            name=str(data.get("name", Path(path).stem)),
        )


def _integers(values: object, name: str) -> IntArray:
    """Return a flat list of integers as an array, or raise ParameterError."""
    try:
        array = np.asarray(values)
    except (ValueError, OverflowError):
        array = np.empty(0)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise ParameterError(f"{name} must be a flat list of integers (of at most 63 bits)")
    return array.astype(np.int64)


JUMP = LandscapeFamily(
    name="Jump",
    objectives=(
        ("L", (Piece.of(0, ELL + 1, P), Piece.of(ELL + 2, N, 0))),
        (
            "J",
            (
                Piece.of(0, ELL, 0),
                Piece.of(ELL + 1, N - ELL - 1, P),
                Piece.of(N - ELL, N - 1, 0),
                Piece.of(N, N, P),
            ),
        ),
        ("R", (Piece.of(0, N - ELL - 2, 0), Piece.of(N - ELL - 1, N, P))),
    ),
    target="J",
    milestones=(ELL + 1, N - ELL, N),
    constraints=(ELL - 2, N - 2 * ELL - 5),
    defined=(ELL - 1, N - 2 * ELL - 5),
    titles=(("L", "LeftBridge"), ("J", "Jump"), ("R", "RightBridge")),
    phases=("left", "slope", "right"),
)
"""The paper's landscape; 2 <= l <= floor((n-1)/2) - 2 is the same as n - 2l - 5 >= 0, l >= 2.

l = 1, which the paper puts aside, is the same landscape with a right plateau of one position: it is
defined, and the engine takes it, but no statement of the paper is about it.
"""

JUMP_OPEN = LandscapeFamily(
    name="Jump, bridges without end points",
    objectives=(
        ("L", (Piece.of(0, ELL, P), Piece.of(ELL + 1, N, 0))),
        JUMP.objectives[1],
        ("R", (Piece.of(0, N - ELL - 1, 0), Piece.of(N - ELL, N, P))),
    ),
    target=JUMP.target,
    milestones=JUMP.milestones,
    constraints=JUMP.constraints,
    defined=JUMP.defined,
    titles=JUMP.titles,
)
"""Jump with the bridges as EA+RL's authors had them: they end with the plateaus."""

ONEMAX = LandscapeFamily(
    name="OneMax",
    objectives=(("O", (Piece.of(0, N, P),)),),
    target="O",
    milestones=(N,),
    constraints=(ELL, -ELL),
    titles=(("O", "OneMax"),),
)

FAMILIES = {"jump": JUMP, "jump-open": JUMP_OPEN, "onemax": ONEMAX}
