"""Algorithms by name: ``rls``, ``ea:rate=1/n``, ``mmahh:p=1/100,q=1/2,accept=worsening``, ..

The grammar is `markov_lrsao.model.naming`'s. A named algorithm keeps its text and becomes an
`Algorithm` (it learns) or a `Search` (it does not) on a landscape, whose n rational expressions
see. `REFERENCES` says where each of them was published.

>>> from markov_lrsao.model.landscape import Landscape
>>> NamedAlgorithm.of("ea:rate=2/n").on(Landscape.onemax(10)).actions[0].mutation.rate
1/5
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from flint import fmpq

from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.rationals import rational
from markov_lrsao.model.algorithm import Algorithm, State
from markov_lrsao.model.naming import Expression, Key, Value, expression, is_file, read
from markov_lrsao.model.parameters import Parameters
from markov_lrsao.model.search import Acceptance, Action, Mutation, Search
from markov_lrsao.model.search_files import SearchFile

if TYPE_CHECKING:
    from markov_lrsao.model.landscape import Landscape
    from markov_lrsao.model.levels import LeadingOnes

__all__ = ["ALGORITHMS", "REFERENCES", "NamedAlgorithm"]

Values: TypeAlias = Mapping[str, Value | fmpq]
_RATE = Key("local", words=("optimal", "drift", "baeck"), default="1/n")
_MAYBE = Key("rational", optional=True)
_HEAVY = {"beta": _MAYBE, "widest": Key("rational", default="n/2")}
_IMPROVING = {
    "rate": _MAYBE,
    "improve": Key("word", words=("better", "not-worse"), default="better"),
}
_SEES = Key("word", words=("target", "nothing", "position"), default="target")
_AGENT = {"epsilon": _MAYBE, "sees": _SEES, "rate": _MAYBE}
ALGORITHMS: dict[str, dict[str, Key]] = {
    "rls": {},
    "rls-k": {
        "k": Key("rational", words=("optimal", "drift")),
        "ties": Key("word", words=("larger", "smaller"), default="larger"),
    },
    "ea": {"rate": _RATE, **_HEAVY},
    "ea-positive": {"rate": _RATE, "least": Key("rational", default="1/n**2")},
    "metropolis": {"base": Key("rational"), "rate": _MAYBE, **_HEAVY},
    "mahh": {"p": Key("rational"), **_IMPROVING},
    "mmahh": {
        "p": Key("rational"),
        "q": Key("rational"),
        "accept": Key("word", words=("all", "worsening"), default="all"),
        "order": Key("word", words=("move-first", "switch-first"), default="move-first"),
        **_IMPROVING,
    },
    "random": {"weights": Key("list", optional=True)},
    "gradient": {
        "portfolio": Key("list"),
        "tau": Key("rational", default="1"),
        "accept": Key("word", words=("better", "not-worse"), default="better"),
    },
    "portfolio": {
        "k": Key("list"),
        "choice": Key("word", words=("optimal", "random"), default="optimal"),
    },
    "earl": {
        "variant": Key(
            "word", words=("appendix", "greedy", "preserving", "mistakes"), default="appendix"
        ),
        "alpha": _MAYBE,
        "gamma": _MAYBE,
        **_AGENT,
    },
    "lrsao": {"alpha": _MAYBE, "gamma": _MAYBE, "r": _MAYBE, **_AGENT},
}
"""Name -> its keys."""

REFERENCES = {
    "rls": "random local search; Droste, Jansen, Wegener 2002",
    "rls-k": "RLS with k flipped bits; Doerr, Doerr, Yang 2020; Buskulic, Doerr 2021",
    "ea": "(1+1) EA, standard bit mutation; Droste, Jansen, Wegener 2002; with beta the fast (1+1) "
    "EA; Doerr, Le, Makhmara, Nguyen 2017",
    "ea-positive": "(1+1) EA > 0; Carvalho Pinto, Doerr 2018",
    "metropolis": "Metropolis et al. 1953; Doerr, El Ghazi El Houssaini, Rajabi, Witt 2023",
    "mahh": "move acceptance hyper-heuristic; Lissovoi, Oliveto, Warwicker 2019; with a rate: "
    "Doerr, Dremaux, Lutzeyer, Stumpf 2023",
    "mmahh": "Markov move acceptance; Bendahi, Doerr, Fradin, Lutzeyer 2025",
    "random": "a random objective in every step; Buzdalova, Buzdalov 2012",
    "gradient": "(generalised) random gradient; Lissovoi, Oliveto, Warwicker 2020",
    "portfolio": "the best k of a list at every level, or any: simple random; Doerr, Wagner 2018; "
    "Lissovoi, Oliveto, Warwicker 2020",
    "earl": "EA+RL; Buzdalova, Buzdalov 2012; preserving the best found solution: Petrova, "
    "Buzdalova 2017",
    "lrsao": "LRSAO; Doerr et al., GECCO 2025",
}
"""Name -> what it is and where it comes from."""


@dataclass(frozen=True)
class NamedAlgorithm:
    """An algorithm as it was named; `on` a landscape it is an `Algorithm` or a `Search`."""

    text: str
    name: str
    values: tuple[tuple[str, Value | fmpq], ...]
    file: SearchFile | None = None

    @classmethod
    def of(cls, text: str, *, open_keys: bool = False) -> NamedAlgorithm:
        """Read a name with its keys, or the file of a search; see `model.search_files`.

        Parameters
        ----------
        open_keys : keys that must be given may be missing; they come later, see `given`

        Raises
        ------
        ParameterError
        """
        if is_file(text):
            return cls(text.strip(), text.strip(), (), SearchFile.read(text.strip()))
        known: Mapping[str, Mapping[str, Key]] = ALGORITHMS
        if open_keys:
            known = {
                name: {key: replace(meaning, optional=True) for key, meaning in keys.items()}
                for name, keys in ALGORITHMS.items()
            }
        name, values = read(text, known, "algorithm")
        return cls(text.strip(), name, tuple(values.items()))

    @property
    def written(self) -> list[str]:
        """The keys that stand in the text, not those with their defaults."""
        items = self.text.partition(":")[2].split(",")
        return [item.partition("=")[0].strip() for item in items if "=" in item]

    def given(self, key: str, value: fmpq | tuple[str, ...]) -> NamedAlgorithm:
        """Return the same with a value of a key, a number or numbers with + between them."""
        return replace(self, values=tuple((dict(self.values) | {key: value}).items()))

    def on(self, landscape: Landscape | LeadingOnes) -> Algorithm | Search:
        """Return what it is on a landscape.

        Raises
        ------
        ParameterError
            A value is out of its range at the landscape's n.
        """
        if self.file is not None:
            return self.file.at(landscape.n)
        values = dict(self.values)
        if self.name in _LEARNING:
            return _LEARNING[self.name](values, landscape.n)
        if self.name == "random":
            return _random(self.text, values, landscape)
        return _BUILDERS[self.name](self.text, values, landscape.n).at(landscape.n)


def _number(values: Values, key: str, n: int) -> fmpq:
    found = values[key]
    return found(n=n) if isinstance(found, Expression) else rational(found, key)


def _count(values: Values, key: str, n: int) -> int:
    """Return a number that must be an integer at n."""
    found = _number(values, key, n)
    if found.q != 1:
        raise ParameterError(f"{key} = {found} at n = {n} is not an integer")
    return int(found.p)


def _sizes(values: Values, key: str) -> list[int]:
    items = values[key]
    assert isinstance(items, tuple)
    for item in items:
        if not (item.isascii() and item.isdigit() and 0 < int(item[:18]) == int(item)):
            raise ParameterError(
                f"{key} = {'+'.join(items)} is not a list of numbers of bits; write e.g. 1+2+3"
            )
    return [int(item) for item in items]


def _flips(k: int, acceptance: Acceptance = Acceptance()) -> Action:  # noqa: B008 # frozen
    return Action(Mutation.flips(k), acceptance)


def _rls(text: str, values: Values, n: int) -> Search:
    return Search.single(text, _flips(1))


def _rls_k(text: str, values: Values, n: int) -> Search:
    k = values["k"]
    if isinstance(k, str):
        every = [_flips(size) for size in range(1, n + 1)]
        if values["ties"] == "smaller":
            every.reverse()  # ties go to the later action
        return Search.best_of(text, every, "time" if k == "optimal" else "drift")
    size = _count(values, "k", n)
    if size < 1:
        raise ParameterError(f"k = {size} is too small: at least one bit is flipped")
    return Search.single(text, _flips(size))


def _ea(text: str, values: Values, n: int) -> Search:
    mutation = _heavy(values, n)
    if mutation is not None:
        if values["rate"] != expression("1/n", "rate of algorithm ea"):
            raise ParameterError("rate and beta are both given: heavy-tailed mutation has no rate")
        return Search.single(text, Action(mutation))
    return _rates(text, values, n, positive=False)


def _ea_positive(text: str, values: Values, n: int) -> Search:
    return _rates(text, values, n, positive=True)


def _rates(text: str, values: Values, n: int, *, positive: bool) -> Search:
    """Standard bit mutation with one rate, with one for every position, or with the best ones."""
    rate = values["rate"]
    if rate in ("optimal", "drift"):
        least = _number(values, "least", n) if positive else fmpq(0)
        return Search.best_rate(
            text, positive=positive, least=least, criterion="time" if rate == "optimal" else "drift"
        )
    if rate == "baeck":  # above n/2 the rate of Baeck's formula, below all bits are flipped
        rates = [fmpq(1, 2 * x + 2 - n) if x >= n // 2 else fmpq(1) for x in range(n + 1)]
    elif isinstance(rate, Expression) and rate.local:
        rates = [rate(n=n, x=x) for x in range(n)]
        rates.append(rates[-1])  # nothing is mutated at the end
    else:
        mutation = Mutation.standard(_number(values, "rate", n), positive=positive)
        return Search.single(text, Action(mutation))
    return Search.by_position(
        text, [Action(Mutation.at_rate(p, n, positive=positive)) for p in rates]
    )


def _heavy(values: Values, n: int) -> Mutation | None:
    if "beta" not in values:
        return None
    widest = _number(values, "widest", n)
    return Mutation.heavy(_number(values, "beta", n), max(1, int(widest.p) // int(widest.q)))


def _metropolis(text: str, values: Values, n: int) -> Search:
    acceptance = Acceptance("metropolis", _number(values, "base", n))
    heavy = _heavy(values, n)
    if heavy is not None and "rate" in values:
        raise ParameterError("rate and beta are both given: heavy-tailed mutation has no rate")
    if heavy is not None:
        return Search.single(text, Action(heavy, acceptance))
    if "rate" in values:
        mutation = Mutation.standard(_number(values, "rate", n))
        return Search.single(text, Action(mutation, acceptance))
    return Search.single(text, _flips(1, acceptance))


def _mahh(text: str, values: Values, n: int) -> Search:
    p = _number(values, "p", n)
    if not 0 <= p <= 1:
        raise ParameterError(f"p = {p} is out of range: 0 <= p <= 1 is needed")
    return Search.mixed(
        text, [_moving("all", values, n), _moving(values["improve"], values, n)], [p, 1 - p]
    )


def _moving(rule: Value | fmpq, values: Values, n: int) -> Action:
    """One bit, or standard bit mutation where a rate is given, with a rule of acceptance."""
    mutation = Mutation.flips(1)
    if "rate" in values:
        mutation = Mutation.standard(_number(values, "rate", n))
    return Action(mutation, Acceptance(rule))  # type: ignore[arg-type]


def _mmahh(text: str, values: Values, n: int) -> Search:
    return Search.two_modes(
        text,
        _moving(values["improve"], values, n),
        _moving("all" if values["accept"] == "all" else "worse", values, n),
        _number(values, "p", n),
        _number(values, "q", n),
        switch_first=values["order"] == "switch-first",
    )


def _gradient(text: str, values: Values, n: int) -> Search:
    acceptance = Acceptance("better" if values["accept"] == "better" else "not-worse")
    actions = [_flips(k, acceptance) for k in _sizes(values, "portfolio")]
    return Search.gradient(text, actions, _count(values, "tau", n))


def _portfolio(text: str, values: Values, n: int) -> Search:
    actions = [_flips(k) for k in sorted(_sizes(values, "k"))]
    if values["choice"] == "random":
        return Search.mixed(text, actions)
    return Search.best_of(text, actions, "time")


def _random(text: str, values: Values, landscape: Landscape | LeadingOnes) -> Search:
    names = tuple(getattr(landscape, "objectives", {"L": None}))
    alone = len(names) == 1
    actions = [_flips(1, Acceptance(of=None if alone else name)) for name in names]
    weights = values.get("weights")
    if weights is not None:
        assert isinstance(weights, tuple)
        parts = [expression(w, "weights")(n=landscape.n) for w in weights]
        return Search.mixed(text, actions, parts)
    return Search.mixed(text, actions)


def _earl(values: Values, n: int) -> Algorithm:
    variant = values["variant"]
    alpha, gamma = (
        (fmpq(4, 5), fmpq(99, 100)) if variant == "appendix" else (fmpq(1, 2), fmpq(1, n))
    )
    given = {key: _number(values, key, n) for key in ("alpha", "gamma") if key in values}
    found = Algorithm.earl(given.get("alpha", alpha), given.get("gamma", gamma))
    if variant in ("preserving", "mistakes"):
        found = found.preserving(mistakes=variant == "mistakes")
    return _agent(found, values, n)


def _lrsao(values: Values, n: int) -> Algorithm:
    given = {key: _number(values, key, n) for key in ("alpha", "gamma", "r") if key in values}
    return _agent(Algorithm.lrsao(Parameters.paper(n, **given)), values, n)


_STATES: dict[object, State] = {"target": "target", "nothing": "blind", "position": "position"}


def _agent(algorithm: Algorithm, values: Values, n: int) -> Algorithm:
    """Return an algorithm whose agent explores, sees and mutates as its keys say."""
    if "epsilon" in values:
        algorithm = algorithm.exploring(_number(values, "epsilon", n))
    if "rate" in values:
        algorithm = algorithm.mutating(_number(values, "rate", n))
    return replace(algorithm, state=_STATES[values["sees"]])


_LEARNING: dict[str, Callable[[Values, int], Algorithm]] = {
    "earl": _earl,
    "lrsao": _lrsao,
}
_BUILDERS: dict[str, Callable[[str, Values, int], Search]] = {
    "rls": _rls,
    "rls-k": _rls_k,
    "ea": _ea,
    "ea-positive": _ea_positive,
    "metropolis": _metropolis,
    "mahh": _mahh,
    "mmahh": _mmahh,
    "gradient": _gradient,
    "portfolio": _portfolio,
}
