"""Sweep plans: a grid of (n, l, hyper-parameters), read from a file or the command line.

A plan is a table of lists; the cells are their product, in the order of the fields below:

    n          integers, or "50:10000:50" (first:last:step)
    ell        integers, or schedules: "sqrt", "cbrt" (rounded down), "half" = floor((n-5)/2)
    alpha, gamma, r   exact numbers as text; absent: the algorithm's defaults
    runs, seed, algorithm, landscape, kernel, arithmetic, limit, restart, block

`limit` and `restart` may be integers or multiples of n^2 such as "10n2". A cell is played in
blocks of `block` runs, the unit of work and of storage. A cell's random streams are keyed by the
seed and by what is simulated, not by its place in the plan, so plans may be reordered, split or
extended without changing a single run.

>>> plan = Plan.of({"n": "9:11:1", "ell": [2, "half"], "runs": 100, "seed": 1})
>>> [(cell.n, cell.ell) for cell in plan.cells]
[(9, 2), (10, 2), (11, 2), (11, 3)]
"""

from __future__ import annotations

import hashlib
import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

from markov_lrsao.algorithm import Algorithm
from markov_lrsao.errors import FileFormatError, ParameterError
from markov_lrsao.inputs import load_json, read_text
from markov_lrsao.landscape import FAMILIES, Landscape
from markov_lrsao.law import StepLaw
from markov_lrsao.parameters import Parameters
from markov_lrsao.rationals import rational, rational_text

__all__ = ["ALGORITHMS", "CellPlan", "Plan", "build_algorithm", "build_landscape", "parse_count",
           "parse_range"]

ALGORITHMS = ("lrsao", "earl", "rls")
_CHOICES = {"algorithm": ALGORITHMS, "kernel": ("event", "step"),
            "arithmetic": ("exact", "float64")}
_LISTS = ("n", "ell", "alpha", "gamma", "r")
_SCALARS = ("runs", "seed", "algorithm", "landscape", "kernel", "arithmetic", "limit", "restart",
            "block")
_DEFAULTS: dict[str, Any] = {
    "ell": [0], "alpha": [None], "gamma": [None], "r": [None], "runs": 1000, "seed": 1,
    "algorithm": "lrsao", "landscape": "jump", "kernel": "event", "arithmetic": "exact",
    "limit": None, "restart": None, "block": 500,
}


def build_algorithm(
    name: str, n: int, alpha: str | None, gamma: str | None, r: str | None
) -> Algorithm:
    """Return lrsao, earl or rls with the given or default hyper-parameters."""
    if name == "lrsao":
        return Algorithm.lrsao(Parameters.paper(n, alpha, gamma, r))
    if r is not None:
        raise ParameterError(f"r = {r} has no meaning for algorithm = {name}: only lrsao has a "
                             f"penalty")
    if name == "earl":
        return Algorithm.earl(alpha or "4/5", gamma or "99/100")
    if name != "rls":
        raise ParameterError(
            f"algorithm = {name!r} is unknown: choose from {', '.join(ALGORITHMS)}")
    if alpha is not None or gamma is not None:
        raise ParameterError("alpha and gamma have no meaning for algorithm = rls")
    return Algorithm.rls()


def build_landscape(name: str, n: int, ell: int) -> Landscape:
    """Return a landscape of a family, or the one of a JSON file."""
    if name in FAMILIES:
        return FAMILIES[name].at(n, ell)
    landscape = Landscape.load(name)
    if n != landscape.n:
        raise ParameterError(f"n = {n} differs from the n = {landscape.n} of {name}")
    return landscape


def parse_range(value: Any, name: str = "n") -> list[int]:
    """Read integers: a list, one integer, "9", "9,12" or "50:1000:50"."""
    if isinstance(value, list):
        return [number for item in value for number in parse_range(item, name)]
    if isinstance(value, int) and not isinstance(value, bool):
        return [value]
    if isinstance(value, str):
        try:
            parts = [[int(x) for x in part.split(":")] for part in value.split(",")]
        except ValueError:
            parts = [[]]
        if all(1 <= len(part) <= 3 for part in parts) and all(
                len(part) < 3 or part[2] > 0 for part in parts):
            return [k for part in parts
                    for k in range(part[0], part[min(1, len(part) - 1)] + 1,
                                   part[2] if len(part) == 3 else 1)]
    raise ParameterError(f"{name} = {value!r} is not a list of integers: write e.g. 9, \"9,12\" or "
                         f"\"50:1000:50\"")


def parse_count(value: Any, n: int, name: str) -> int | None:
    """Read a number of steps: an integer, or a multiple of n^2 such as "10n2"."""
    if value is None:
        return None
    text = str(value)
    factor = text.removesuffix("n2")
    if isinstance(value, bool) or not factor.isdigit():
        raise ParameterError(f"{name} = {value!r} is not a number of steps: write e.g. 100000 or "
                             f"10n2")
    return int(factor) * (n * n if text.endswith("n2") else 1)


def _ells(value: Any, n: int) -> list[int]:
    ells = []
    for item in value if isinstance(value, list) else str(value).split(","):
        if item == "sqrt":
            ells.append(math.isqrt(n))
        elif item == "cbrt":
            root = round(n ** (1 / 3))
            ells.append(root - (root**3 > n))
        elif item == "half":
            ells.append((n - 5) // 2)
        else:
            ells += parse_range(item, "ell")
    return ells


@dataclass(frozen=True, kw_only=True)
class CellPlan:
    """One cell: everything that determines its runs."""

    n: int
    ell: int
    alpha: str | None
    gamma: str | None
    r: str | None
    algorithm: str
    landscape: str
    kernel: str
    arithmetic: str
    limit: int | None
    restart: int | None
    seed: int
    runs: int
    block: int

    @property
    def key(self) -> str:
        """The cell as canonical text; equal cells have equal text."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_key(cls, key: str) -> CellPlan:
        """Return the cell of a canonical text."""
        return cls(**json.loads(key))

    @property
    def path(self) -> tuple[int, ...]:
        """What keys the streams besides the seed: a digest of what is simulated.

        Neither the number of runs nor the size of blocks enters: more runs continue a cell.
        """
        identity = {name: value for name, value in asdict(self).items()
                    if name not in ("runs", "block", "seed")}
        digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).digest()
        return tuple(int.from_bytes(digest[i : i + 4], "big") for i in (0, 4, 8, 12))

    def law(self) -> StepLaw:
        """Build the law."""
        return StepLaw.of(
            build_landscape(self.landscape, self.n, self.ell),
            build_algorithm(self.algorithm, self.n, self.alpha, self.gamma, self.r))

    def blocks(self) -> list[tuple[int, int]]:
        """Return (first run, number of runs) of every block."""
        return [(first, min(self.block, self.runs - first))
                for first in range(0, self.runs, self.block)]


@dataclass(frozen=True)
class Plan:
    """The cells of a sweep, without repetitions."""

    cells: tuple[CellPlan, ...]

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Plan:
        """Build a plan from its fields; see the module's docstring.

        Raises
        ------
        ParameterError
            A field is unknown, missing or malformed, or a cell is not admissible.
        """
        unknown = sorted(set(fields) - {*_LISTS, *_SCALARS})
        if unknown:
            raise ParameterError(f"unknown field {unknown[0]!r} in the plan: known are "
                                 f"{', '.join((*_LISTS, *_SCALARS))}")
        if "n" not in fields:
            raise ParameterError('the plan has no field n: write e.g. "n": [9, 10] or "9:100:1"')
        values = {**_DEFAULTS, **fields}
        for name, allowed in _CHOICES.items():
            if values[name] not in allowed:
                raise ParameterError(
                    f"{name} = {values[name]!r} is unknown: choose from {', '.join(allowed)}")
        for name, least in (("runs", 1), ("block", 1), ("seed", 0)):
            number = values[name]
            if not isinstance(number, int) or isinstance(number, bool) or number < least:
                raise ParameterError(f"{name} = {number!r} is out of range: an integer >= {least} "
                                     f"is needed")
        cells: dict[CellPlan, None] = {}
        alphas, gammas, rs = (_texts(values[name], name) for name in ("alpha", "gamma", "r"))
        for n in parse_range(values["n"]):
            for ell, alpha, gamma, r in product(_ells(values["ell"], n), alphas, gammas, rs):
                cell = CellPlan(
                    n=n, ell=ell, alpha=alpha, gamma=gamma, r=r,
                    limit=parse_count(values["limit"], n, "limit"),
                    restart=parse_count(values["restart"], n, "restart"),
                    **{name: values[name] for name in (
                        "algorithm", "landscape", "kernel", "arithmetic", "seed", "runs", "block")},
                )
                build_landscape(cell.landscape, n, ell)
                build_algorithm(cell.algorithm, n, alpha, gamma, r)
                cells[cell] = None
        return cls(tuple(cells))

    @classmethod
    def load(cls, path: str | Path) -> Plan:
        """Read a plan from a .toml or .json file."""
        try:
            text = read_text(path)
            toml = Path(path).suffix == ".toml"
            fields = tomllib.loads(text) if toml else load_json(text, str(path))
        except (FileFormatError, tomllib.TOMLDecodeError, RecursionError) as error:
            raise ParameterError(f"plan {path}: {error}") from None
        if not isinstance(fields, dict):
            raise ParameterError(f"plan {path}: expected a table of fields such as n, ell, runs")
        return cls.of(fields)

    @property
    def runs(self) -> int:
        """Number of runs in all cells."""
        return sum(cell.runs for cell in self.cells)


def _texts(value: Any, name: str) -> list[str | None]:
    """Read exact numbers as canonical text; None is the algorithm's default."""
    items = value if isinstance(value, list) else [value]
    return [None if item is None else rational_text(rational(item, name)) for item in items]
