"""Landscapes as data: named objectives over the positions 0..n, one of them the target.

A bit string enters only through its position p = |x|_1. An objective is a list of
pieces; on the positions first..last (ends included) of a piece its value is an affine
form in p, n, l and parameters of the family. Kept symbolic (`LandscapeFamily`), the pieces are
what proofs with unknown n and l read; at a given (n, l) they yield integer arrays (`Landscape`).
Values may be rational: the arrays have them times a common denominator, the `scale`.

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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import lcm
from pathlib import Path
from typing import SupportsIndex

import numpy as np
from flint import fmpq

from markov_lrsao.errors import ParameterError, StateSpaceTooLargeError
from markov_lrsao.exact.rationals import RationalLike, integer
from markov_lrsao.model.affine import ELL, Affine, Derived, N, P, Piece
from markov_lrsao.model.arrays import LARGEST_VALUE, IntArray, scaled, too_large, whole_numbers

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

LARGEST_N = 20_000_000
"""Positions beyond this would need more than 8 GB of tables."""


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
    parameters : (name, value) of the parameters besides n and l
    derived : parameters that follow from n and those before them; l must not enter
    divisible : (form, form): the first must be a multiple of the second
    """

    name: str
    objectives: tuple[tuple[str, tuple[Piece, ...]], ...]
    target: str
    milestones: tuple[Affine, ...]
    constraints: tuple[Affine, ...] = ()
    defined: tuple[Affine, ...] = ()
    titles: tuple[tuple[str, str], ...] = ()
    phases: tuple[str, ...] = ()
    parameters: tuple[tuple[str, int], ...] = ()
    derived: tuple[Derived, ...] = ()
    divisible: tuple[tuple[Affine, Affine], ...] = ()

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
        named = self.named(n)
        scale = self._scale(n, ell, named)
        arrays = {
            name: self._array(name, pieces, n, ell, named, scale)
            for name, pieces in self.objectives
        }
        return Landscape(
            name=self.name,
            n=n,
            ell=ell,
            objectives=arrays,
            target=self.target,
            milestones=tuple(m(n=n, ell=ell, **named) for m in self.milestones),
            family=self,
            scale=scale,
        )

    def named(self, n: int) -> dict[str, int]:
        """Return the values of all parameters besides n and l."""
        values = dict(self.parameters)
        for one in self.derived:
            values[one.name] = one.at(n, values)
        return values

    def lacking(self, forms: Sequence[Affine], n: int, ell: int) -> list[str]:
        """Return in words what does not hold at (n, l): forms >= 0, and divisibility."""
        named = self.named(n)
        wrong = [f"{form} >= 0" for form in forms if form(n=n, ell=ell, **named) < 0]
        for form, divisor in self.divisible:
            by = divisor(n=n, ell=ell, **named)
            if by < 1 or form(n=n, ell=ell, **named) % by:
                wrong.append(f"{form} a multiple of {divisor}")
        return wrong

    @cached_property
    def has_ell(self) -> bool:
        """Whether the gap parameter l is one of the family's."""
        free = [form for form in (*self.constraints, *self.defined) if form not in (ELL, -ELL)]
        pieces = [piece for _, some in self.objectives for piece in some]
        free += [form for x in pieces for form in (x.first, x.last, x.value, x.over)]
        return any(form.ell for form in (*free, *self.milestones))

    def covers(self, n: int, ell: int) -> bool:
        """Whether the landscape is defined at (n, l): on the range of its theory, or beyond.

        >>> JUMP.ell_range(9), JUMP.covers(9, 1), JUMP.covers(9, 0)
        ((2, 2), True, False)
        """
        ranges = (self.constraints, *((self.defined,) if self.defined else ()))
        return 1 <= n <= LARGEST_N and any(not self.lacking(forms, n, ell) for forms in ranges)

    def check(self, n: SupportsIndex, ell: SupportsIndex) -> tuple[int, int]:
        """Return (n, l), or raise ParameterError, naming the range of the family's theory."""
        n, ell = integer(n, "n"), integer(ell, "ell")
        check_n(n)
        wrong = self.lacking(self.constraints, n, ell)
        if not wrong:
            return n, ell
        if not self.has_ell and ell == 0:
            values = ", ".join(f"{name} = {value}" for name, value in self.named(n).items())
            raise ParameterError(
                f"n = {n} is not possible for {self.name}: needed is {' and '.join(wrong)}"
                + (f" ({values})" if values else "")
            )
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
        low, high, named = 0, n, self.named(n)
        for form in self.constraints:
            rest = form(n=n, ell=0, **named)
            if form.ell > 0:
                low = max(low, -(rest // form.ell))
            elif form.ell < 0:
                high = min(high, rest // -form.ell)
            elif rest < 0:
                return None
        return (low, high) if low <= high else None

    def _scale(self, n: int, ell: int, named: Mapping[str, int]) -> int:
        """Return a common denominator of all values."""
        overs = {piece.over(n=n, ell=ell, **named) for _, some in self.objectives for piece in some}
        if min(overs) < 1 or lcm(*overs) > LARGEST_VALUE:
            raise ParameterError(
                f"{self.name} has the denominators {sorted(overs)} at n = {n}: they must be "
                f"positive, with a common one up to {LARGEST_VALUE:,}"
            )
        return lcm(*overs)

    def _array(
        self,
        name: str,
        pieces: Sequence[Piece],
        n: int,
        ell: int,
        named: Mapping[str, int],
        scale: int,
    ) -> IntArray:
        values = np.zeros(n + 1, dtype=np.int64)
        defined = np.zeros(n + 1, dtype=np.int64)
        for piece in pieces:
            positions, repetition = self._where(name, piece, n, ell, named)
            factor = scale // piece.over(n=n, ell=ell, **named)
            slope = factor * piece.value.p
            step = factor * dict(piece.value.named).get("j", 0)
            rest = factor * piece.value(n=n, ell=ell, **{**named, "j": 0})
            if (abs(slope) + abs(step)) * n + abs(rest) > 2**62:
                raise too_large(name)
            values[positions] = slope * positions + step * repetition + rest
            np.add.at(defined, positions, 1)
        wrong = np.flatnonzero(defined != 1)
        if wrong.size:
            raise ParameterError(
                f"objective {name} of {self.name} is not defined exactly once at position "
                f"{wrong[0]} for n = {n}, ell = {ell}: mend its pieces"
            )
        return values

    def _where(
        self, name: str, piece: Piece, n: int, ell: int, named: Mapping[str, int]
    ) -> tuple[IntArray, IntArray]:
        """Return the positions of a piece, and the number of the repetition of each."""
        first, last = (form(n=n, ell=ell, **named) for form in (piece.first, piece.last))
        outside = first <= last and (first < 0 or last > n)
        if piece.every is None or first > last:
            if outside:
                raise ParameterError(
                    f"objective {name} of {self.name} has a piece on {first}..{last}, outside "
                    f"0..{n}, for n = {n}, ell = {ell}: mend its pieces"
                )
            positions = np.arange(first, last + 1)
            return positions, np.zeros_like(positions)
        every = piece.every(n=n, ell=ell, **named)
        if every == 0 or last - first >= abs(every) or first > n or last < 0:
            raise ParameterError(
                f"objective {name} of {self.name} has a piece on {first}..{last} that is repeated "
                f"every {every} positions, at n = {n}: its repetitions must be apart, and the "
                f"first within 0..{n}"
            )
        count = (n - first) // every + 1 if every > 0 else last // -every + 1
        number = np.repeat(np.arange(count), last - first + 1)
        positions = np.tile(np.arange(first, last + 1), count) + every * number
        inside = (positions >= 0) & (positions <= n)
        return positions[inside], number[inside]


@dataclass(frozen=True, eq=False)
class Landscape:
    """Objectives as integer arrays over the positions 0..n.

    Build one with `named`, `jump`, `regions`, `onemax`, `from_arrays`, `load` or
    `LandscapeFamily.at`. Landscapes are equal if all of this is: names, arrays by content and in
    their order, milestones, family, scale. Where values are rational, `scale` is a common
    denominator and the arrays are the values times it; `value` divides.

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
    scale: int = 1

    @property
    def _identity(self) -> tuple[object, ...]:
        content = tuple((name, a.tobytes()) for name, a in self.objectives.items())
        shape = self.name, self.n, self.ell, self.target, self.milestones, content, self.scale
        return *shape, self.family

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
            if values.size and max(abs(int(values.min())), abs(int(values.max()))) > LARGEST_VALUE:
                raise too_large(name)
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
    def size(self) -> str:
        """The words "n = 9, l = 2", for people; l only where there is one."""
        return f"n = {self.n}" + (f", l = {self.ell}" if self.ell else "")

    @property
    def optimum(self) -> int:
        """The position at which a run ends."""
        return self.milestones[-1]

    @property
    def beyond_theory(self) -> bool:
        """Whether its family's theory does not speak about this (n, l), as Jump's about l = 1."""
        family = self.family
        return family is not None and bool(family.lacking(family.constraints, self.n, self.ell))

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

    def value(self, name: str, p: int) -> fmpq:
        """Return an objective's value at a position.

        >>> str(Landscape.named("cliff:d=3", n=9).value("C", 7))
        '9/2'
        """
        return fmpq(int(self.objectives[name][p]), self.scale)

    def listed(self) -> dict[str, list[int | str]]:
        """Return all values as a file has them: integers, and fractions as text.

        >>> Landscape.from_arrays({"A": ["1/2", 1]}, target="A").listed()
        {'A': ['1/2', 1]}
        """
        if self.scale == 1:
            return {name: values.tolist() for name, values in self.objectives.items()}
        return {
            name: [
                value // self.scale if value % self.scale == 0 else str(fmpq(value, self.scale))
                for value in values.tolist()
            ]
            for name, values in self.objectives.items()
        }

    @property
    def largest_gain(self) -> int | fmpq:
        """Largest increase of an objective over one step that does not reach the optimum.

        This is the quantity written n - l - 1 in hypothesis (H) and Lemma 2. It is an `fmpq`
        where values are rational.
        """
        steps = np.array([np.abs(np.diff(values)) for values in self.objectives.values()])
        at_optimum = [p for p in (self.optimum - 1, self.optimum) if 0 <= p < self.n]
        steps[:, at_optimum] = 0
        largest = int(steps.max())
        return largest if self.scale == 1 else fmpq(largest, self.scale)

    @classmethod
    def jump(cls, n: SupportsIndex, ell: SupportsIndex) -> Landscape:
        """LeftBridge, Jump (target) and RightBridge as the paper defines them."""
        return JUMP.at(n, ell)

    @classmethod
    def onemax(cls, n: SupportsIndex) -> Landscape:
        """OneMax alone: random local search on it is the coupon collector."""
        return ONEMAX.at(n)

    @classmethod
    def regions(
        cls, n: SupportsIndex, widths: Sequence[SupportsIndex], bridges: str = "own"
    ) -> Landscape:
        """Return plateaus of these widths, slopes between them, and a helper for each plateau.

        >>> shape = Landscape.regions(9, (3, 2))
        >>> shape.objectives["B1"].tolist()
        [0, 1, 2, 3, 0, 0, 0, 0, 0, 0]

        Parameters
        ----------
        widths : number of positions of each plateau, at least two plateaus
        bridges : "own" (a bridge for each plateau), "shared" (two bridges in turn) or
            "all-but-last" (one for all plateaus but the last, one for that)
        """
        from markov_lrsao.model.families import regions

        return regions([integer(w, "widths") for w in widths], bridges).at(n)

    @classmethod
    def named(
        cls,
        text: str,
        n: SupportsIndex | None = None,
        ell: SupportsIndex | None = None,
        helpers: Sequence[str] = (),
    ) -> Landscape:
        """Return a landscape by name, see `markov_lrsao.model.catalogue`.

        >>> Landscape.named("xdivk:k=3", n=6, helpers=["onemax"]).objectives["X"].tolist()
        [0, 0, 0, 1, 1, 1, 2]

        Parameters
        ----------
        text : ``NAME[:key=value,...]``, or the name of a file
        n, ell : length of the bit strings and gap parameter, unless the text fixes them
        helpers : objectives to add to a landscape that has one
        """
        from markov_lrsao.model.catalogue import entry

        return entry(text, helpers).at(
            None if n is None else integer(n, "n"), None if ell is None else integer(ell, "ell")
        )

    @classmethod
    def from_arrays(
        cls,
        objectives: Mapping[str, Sequence[RationalLike] | IntArray],
        target: str,
        milestones: Sequence[int] | None = None,
        *,
        name: str = "custom",
        ell: SupportsIndex = 0,
    ) -> Landscape:
        """Build a landscape from plain arrays over 0..n.

        Parameters
        ----------
        objectives : short name -> n + 1 values, in the order of the actions: integers, or
            fractions (fmpq, Fraction or text such as "1/2")
        target : short name of the target objective
        milestones : ends of the phases; default: the optimum only, that is one phase

        Examples
        --------
        >>> Landscape.from_arrays({"A": [0, 1, 2], "B": [2, 1, 0]}, target="A").milestones
        (2,)
        >>> half = Landscape.from_arrays({"A": [0, "1/2", 2]}, target="A")
        >>> half.objectives["A"].tolist(), half.scale
        ([0, 1, 4], 2)
        """
        arrays, scale = scaled(objectives)
        lengths = {key: len(array) for key, array in arrays.items()}
        if not lengths or len(set(lengths.values())) != 1 or min(lengths.values()) < 2:
            raise ParameterError(f"objectives must have the same n + 1 >= 2 values, got {lengths}")
        if not isinstance(target, str) or target not in arrays:
            raise ParameterError(f"target = {target!r} is not one of {list(arrays)}")
        ends = (
            [int(arrays[target].argmax())]
            if milestones is None
            else whole_numbers(milestones, "milestones").tolist()
        )
        n = next(iter(lengths.values())) - 1
        return cls(name, n, integer(ell, "ell"), arrays, target, tuple(ends), scale=scale)

    @classmethod
    def load(cls, path: str | Path) -> Landscape:
        """Read a landscape from a JSON or TOML file.

        The file is ``{"objectives": {"A": [..], ..}, "target": "A", "milestones": [..],
        "name": ".."}``; the last two are optional. Files of families, which leave n open, are
        read by `named`, see `markov_lrsao.model.family_files`.
        """
        from markov_lrsao.model.family_files import read_landscape

        found = read_landscape(path)
        if isinstance(found, LandscapeFamily):
            raise ParameterError(
                f"landscape file {path} is of a family, which leaves n open: "
                f"use Landscape.named({str(path)!r}, n=..)"
            )
        return found


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
