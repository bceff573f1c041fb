"""Sweep plans: a grid of (n, l, hyper-parameters), read from a file or the command line.

A plan is a table of lists; the experiments are their product, in the order of the fields below:

    n          integers, or "50:10000:50" (first:last:step); see `markov_lrsao.exact.ranges`
    ell        integers, or schedules: "sqrt", "cbrt" (rounded down), "half" = floor((n-5)/2)
    alpha, gamma, r   exact numbers and ranges as text; absent: the algorithm's defaults
    runs, seed, algorithm, landscape, helpers, kernel, arithmetic, limit, restart, batch, outside_h

`landscape` is a text such as "jump" or "regions:widths=3+4+3" (`markov_lrsao.model.catalogue`), or
the name of a file; `helpers` are objectives to add, a list or text with commas.

`limit` and `restart` may be integers or multiples of n^2 such as "10n2"; the default limit is
10^4 n^2. An experiment is played in batches of `batch` runs, the unit of work and of storage. Its
random streams are keyed by the seed and by what is simulated (the values of the landscape and of
the algorithm, not the name of a file), not by its place in the plan. So plans may be reordered,
split or extended without changing a single run. `outside_h = true` allows hyper-parameters outside
(H).

>>> plan = Plan.of({"n": "9:11:1", "ell": [2, "half"], "runs": 100, "seed": 1})
>>> [(experiment.n, experiment.ell) for experiment in plan.experiments]
[(9, 2), (10, 2), (11, 2), (11, 3)]
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from markov_lrsao.answers.curves import SCHEDULES, ell_of
from markov_lrsao.answers.expected import check_hypothesis
from markov_lrsao.errors import FileFormatError, ParameterError
from markov_lrsao.exact.ranges import integers, rationals
from markov_lrsao.exact.rationals import rational_text
from markov_lrsao.inputs import load_json, read_text
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.catalogue import Entry, entry
from markov_lrsao.model.landscape import Landscape, check_n
from markov_lrsao.model.law import StepLaw
from markov_lrsao.model.named import NamedAlgorithm
from markov_lrsao.model.parameters import Parameters
from markov_lrsao.model.search import Search
from markov_lrsao.texts import printable
from simulate.runs.runner import LARGEST_LIMIT, check_runs, default_limit
from simulate.runs.searching import SearchTable

__all__ = [
    "ALGORITHMS",
    "Experiment",
    "Plan",
    "build_algorithm",
    "build_landscape",
    "content_digest",
    "ells_at",
    "parse_count",
]

ALGORITHMS = ("lrsao", "earl", "rls")
"""Algorithms that learn, or could; the names of all others are `markov_lrsao.model.named`'s."""
_CHOICES: dict[str, tuple[Any, ...]] = {
    "kernel": ("event", "step"),
    "arithmetic": ("exact", "float64"),
    "outside_h": (False, True),
}
_LISTS = ("n", "ell", "alpha", "gamma", "r")
_SCALARS = (
    "runs",
    "seed",
    "algorithm",
    "landscape",
    "helpers",
    "kernel",
    "arithmetic",
    "limit",
    "restart",
    "batch",
    "outside_h",
)
_DEFAULTS: dict[str, Any] = {
    "ell": [0],
    "alpha": [None],
    "gamma": [None],
    "r": [None],
    "runs": 1000,
    "seed": 1,
    "algorithm": "lrsao",
    "landscape": "jump",
    "helpers": [],
    "kernel": "event",
    "arithmetic": "exact",
    "limit": None,
    "restart": None,
    "batch": 500,
    "outside_h": False,
}
_MOST_EXPERIMENTS, _MOST_POSITIONS = 100_000, 300_000_000
"""Experiments of a plan, and the sum of their n: half a minute for reading it."""


def build_algorithm(
    name: str, n: int, alpha: str | None, gamma: str | None, r: str | None
) -> Algorithm:
    """Return lrsao, earl or rls with the given or default hyper-parameters."""
    if name == "lrsao":
        return Algorithm.lrsao(Parameters.paper(n, alpha, gamma, r))
    if r is not None:
        raise ParameterError(
            f"r = {r} has no meaning for algorithm = {name}: only lrsao has a penalty"
        )
    if name == "earl":
        return Algorithm.earl(alpha or "4/5", gamma or "99/100")
    if name != "rls":
        raise ParameterError(
            f"algorithm = {name!r} is unknown: choose from {', '.join(ALGORITHMS)}"
        )
    if alpha is not None or gamma is not None:
        raise ParameterError("alpha and gamma have no meaning for algorithm = rls")
    return Algorithm.rls()


def build_any(
    name: str, landscape: Landscape, alpha: str | None, gamma: str | None, r: str | None
) -> Algorithm | Search:
    """Return lrsao, earl or rls with hyper-parameters, or an algorithm by its name and keys."""
    if name in ALGORITHMS:
        return build_algorithm(name, landscape.n, alpha, gamma, r)
    if not isinstance(name, str):
        raise ParameterError(f"algorithm = {name!r} is not text: write e.g. lrsao or ea:rate=1/n")
    found = NamedAlgorithm.of(name).on(landscape)
    for key, value in (("alpha", alpha), ("gamma", gamma), ("r", r)):
        if value is not None:
            raise ParameterError(
                f"{key} = {value} has no meaning for algorithm = {name}: write it behind the name"
            )
    return found


def build_landscape(name: str, n: int, ell: int) -> Landscape:
    """Return a landscape by its text, or the one of a file; l = 0 stands for none."""
    return entry(name).at(n, ell or None)


def _named(values: Mapping[str, Any]) -> Entry:
    """Return the landscape of a plan with its helpers."""
    helpers = values["helpers"]
    names = helpers.split(",") if isinstance(helpers, str) else helpers
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ParameterError(f"helpers = {helpers!r} must be a list of names, or text with commas")
    return entry(values["landscape"], [name.strip() for name in names])


def parse_count(value: Any, n: int, name: str) -> int | None:
    """Read a number of steps: an integer, or a multiple of n^2 such as "10n2"."""
    if value is None:
        return None
    text = str(value)
    factor = text.removesuffix("n2")
    if isinstance(value, bool) or not (factor.isascii() and factor.isdigit()) or len(factor) > 30:
        raise ParameterError(
            f"{name} = {text[:40]!r} is not a number of steps: write e.g. 100000 or 10n2"
        )
    count = int(factor) * (n * n if text.endswith("n2") else 1)
    if not 1 <= count <= LARGEST_LIMIT:
        raise ParameterError(
            f"{name} = {text} is out of range: {count:,} steps, but 1 .. 2^49 are allowed"
        )
    return count


def ells_at(value: object, n: int) -> list[int]:
    """Read values of l at n: integers and ranges of them, or the schedules sqrt, cbrt, half."""
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, list):
        return integers(value, "ell")
    found = [
        ell
        for item in items
        for ell in ([ell_of(item, n)] if item in SCHEDULES else integers(item, "ell"))
    ]
    return found or integers([], "ell")


def _search_digest(landscape: Landscape, search: Search) -> str:
    """Return the digest of a search: the actions, modes and switches, but not its name."""
    content = replace(search, name=""), landscape.actions, landscape.target
    digest = hashlib.sha256(repr(content).encode())
    for values in landscape.objectives.values():
        digest.update(values.astype("<i8").tobytes())
    return digest.hexdigest()


def content_digest(landscape: Landscape, algorithm: Algorithm | Search) -> str:
    """Return a digest of what a landscape and an algorithm *are*; names do not enter.

    Two files with the same objectives, target and milestones have the same digest, and so has
    a family's landscape with these values.
    """
    if isinstance(algorithm, Search):
        return _search_digest(landscape, algorithm)
    actions = landscape.actions
    forms = [
        [rational_text(value) for value in (form.constant, form.chosen, form.target)]
        for form in (algorithm.rejected, algorithm.equal, algorithm.better)
    ]
    head = [
        landscape.n,
        len(actions),
        actions.index(landscape.target),
        [int(m) for m in landscape.milestones],
        forms,
        [rational_text(v) for v in (algorithm.keep, algorithm.learn, algorithm.bootstrap)],
        algorithm.accept_equal,
        algorithm.state,
        algorithm.actions,
    ]
    if algorithm.epsilon != 0:  # digests of greedy agents stay as they were
        head.append(rational_text(algorithm.epsilon))
    digest = hashlib.sha256(json.dumps(head).encode())
    for values in landscape.objectives.values():
        digest.update(values.astype("<i8").tobytes())
    if landscape.scale != 1:
        digest.update(f"over {landscape.scale}".encode())
    return digest.hexdigest()


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One experiment: everything that determines its runs.

    Attributes
    ----------
    landscape : for people, a family's name or a file's
    definition : the landscape of a file as canonical JSON, so that the file is needed only once;
        None for families
    content : `content_digest` of what is simulated
    """

    n: int
    ell: int
    alpha: str | None
    gamma: str | None
    r: str | None
    algorithm: str
    landscape: str
    definition: str | None
    content: str
    kernel: str
    arithmetic: str
    limit: int
    restart: int | None
    seed: int
    runs: int
    batch: int

    @property
    def text(self) -> str:
        """The experiment as canonical text, but for the number of runs, which may grow."""
        fields = asdict(self) | {"runs": 0}
        fields["block"] = fields.pop("batch")  # its name in results files
        return json.dumps(fields, sort_keys=True)

    @classmethod
    def from_text(cls, text: str) -> Experiment:
        """Return the experiment of a canonical text; its number of runs is 0."""
        fields = json.loads(text)
        return cls(batch=fields.pop("block"), **fields)

    def _identity(self) -> bytes:
        """What is simulated, by content; neither names nor numbers of runs or batches enter."""
        identity = [self.content, self.kernel, self.arithmetic, self.limit, self.restart]
        return json.dumps(identity).encode()

    @property
    def key(self) -> str:
        """What tells experiments apart; equal keys have equal runs."""
        return hashlib.sha256(self._identity() + str(self.seed).encode()).hexdigest()

    @property
    def path(self) -> tuple[int, ...]:
        """What keys the streams besides the seed: a digest of what is simulated.

        Neither the number of runs nor the size of batches enters: more runs continue an experiment.
        """
        digest = hashlib.sha256(self._identity()).digest()
        return tuple(int.from_bytes(digest[i : i + 4], "big") for i in (0, 4, 8, 12))

    def law(self) -> StepLaw | SearchTable:
        """Build the law."""
        if self.definition is None:
            landscape = build_landscape(self.landscape, self.n, self.ell)
        else:
            data = json.loads(self.definition)
            landscape = Landscape.from_arrays(
                data["objectives"], data["target"], data["milestones"], name=data["name"]
            )
        algorithm = build_any(self.algorithm, landscape, self.alpha, self.gamma, self.r)
        if isinstance(algorithm, Search):
            return SearchTable(landscape, algorithm, None, None)
        return StepLaw.of(landscape, algorithm)


def _define(named: Entry, landscape: Landscape) -> str | None:
    """Return a file's landscape as canonical JSON."""
    if named.named is not None:
        return None
    return json.dumps(
        {
            "objectives": landscape.listed(),
            "target": landscape.target,
            "milestones": list(landscape.milestones),
            "name": landscape.name,
        }
    )


@dataclass(frozen=True)
class Plan:
    """The experiments of a sweep, without repetitions."""

    experiments: tuple[Experiment, ...]

    @classmethod
    def of(cls, fields: Mapping[str, Any], *, outside_h: bool = False) -> Plan:
        """Build a plan from its fields; see the module's docstring.

        `outside_h` allows hyper-parameters outside (H), as the plan's field of that name does.

        Raises
        ------
        ParameterError
            A field is unknown, missing or malformed, or an experiment is not admissible.
        """
        unknown = sorted(set(fields) - {*_LISTS, *_SCALARS})
        if unknown:
            raise ParameterError(
                f"unknown field {unknown[0]!r} in the plan: known are "
                f"{', '.join((*_LISTS, *_SCALARS))}"
            )
        if "n" not in fields:
            raise ParameterError('the plan has no field n: write e.g. "n": [9, 10] or "9:100:1"')
        values = {**_DEFAULTS, **fields}
        for name, allowed in _CHOICES.items():
            if values[name] not in allowed:
                raise ParameterError(
                    f"{name} = {values[name]!r} is unknown: choose from "
                    f"{', '.join(map(str, allowed))}"
                )
        for name, least in (("runs", 1), ("batch", 1), ("seed", 0)):
            number = values[name]
            if not isinstance(number, int) or isinstance(number, bool) or number < least:
                raise ParameterError(
                    f"{name} = {number!r} is out of range: an integer >= {least} is needed"
                )
            if name != "seed":
                check_runs(number, name)
        experiments: dict[str, Experiment] = {}
        alphas, gammas, rs = (_texts(values[name], name) for name in ("alpha", "gamma", "r"))
        sizes, named = integers(values["n"]), _named(values)
        _check_size(sizes, values["ell"], len(alphas) * len(gammas) * len(rs))
        for n in sizes:
            for ell, alpha, gamma, r in product(ells_at(values["ell"], n), alphas, gammas, rs):
                experiment = _experiment(named, n, ell, alpha, gamma, r, values, outside_h)
                experiments.setdefault(experiment.key, experiment)
        return cls(tuple(experiments.values()))

    @classmethod
    def load(cls, path: str | Path, *, outside_h: bool = False) -> Plan:
        """Read a plan from a .toml or .json file."""
        try:
            text = read_text(path)
            toml = Path(path).suffix == ".toml"
            fields = tomllib.loads(text) if toml else load_json(text, str(path))
        except FileFormatError as error:  # names the file already
            raise ParameterError(f"plan {error}") from None
        except (ValueError, RecursionError) as error:
            raise ParameterError(
                f"plan {printable(str(path))}: not TOML that can be read: {printable(str(error))}"
            ) from None
        if not isinstance(fields, dict):
            raise ParameterError(
                f"plan {printable(str(path))}: expected a table of fields such as n, ell, runs"
            )
        return cls.of(fields, outside_h=outside_h)

    @property
    def runs(self) -> int:
        """Number of runs in all experiments."""
        return sum(experiment.runs for experiment in self.experiments)


def _check_size(sizes: list[int], ells: Any, points: int) -> None:
    """Refuse a plan with more experiments than anybody waits for."""
    experiments = positions = 0
    for n in sizes:
        check_n(n)
        here = len(ells_at(ells, n)) * points
        experiments, positions = experiments + here, positions + here * n
        if experiments > _MOST_EXPERIMENTS or positions > _MOST_POSITIONS:
            raise ParameterError(
                f"the plan is too large: up to n = {n:,} it has {experiments:,} experiments with "
                f"{positions:,} positions, but {_MOST_EXPERIMENTS:,} experiments and "
                f"{_MOST_POSITIONS:,} positions are allowed; take larger steps, or several plans"
            )


def _experiment(
    named: Entry,
    n: int,
    ell: int,
    alpha: str | None,
    gamma: str | None,
    r: str | None,
    values: Mapping[str, Any],
    outside_h: bool,
) -> Experiment:
    """Build one experiment, or refuse it."""
    landscape = named.at(n, ell or None)
    algorithm = build_any(values["algorithm"], landscape, alpha, gamma, r)
    if isinstance(algorithm, Algorithm):
        check_hypothesis(landscape, algorithm, outside_h=outside_h or values["outside_h"])
    limit = parse_count(values["limit"], n, "limit")
    return Experiment(
        n=n,
        ell=landscape.ell,
        alpha=alpha,
        gamma=gamma,
        r=r,
        landscape=named.canonical,
        definition=_define(named, landscape),
        content=content_digest(landscape, algorithm),
        limit=default_limit(n) if limit is None else limit,
        restart=parse_count(values["restart"], n, "restart"),
        **{
            name: values[name]
            for name in ("algorithm", "kernel", "arithmetic", "seed", "runs", "batch")
        },
    )


def _texts(value: object, name: str) -> list[str | None]:
    """Read exact numbers as canonical text; None is the algorithm's default."""
    if isinstance(value, list) and None in value:
        return [text for item in value for text in ([None] if item is None else _texts(item, name))]
    return [None] if value is None else [rational_text(x) for x in rationals(value, name)]
