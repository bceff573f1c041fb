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
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.naming import Expression, Key, Value, expression, read
from markov_lrsao.model.parameters import Parameters
from markov_lrsao.model.search import Acceptance, Action, Mutation, Search

if TYPE_CHECKING:
    from markov_lrsao.model.landscape import Landscape
    from markov_lrsao.model.levels import LeadingOnes

__all__ = ["ALGORITHMS", "REFERENCES", "NamedAlgorithm"]

Values: TypeAlias = Mapping[str, Value | fmpq]
_RATE = Key("rational", default="1/n")
_MAYBE = Key("rational", optional=True)
ALGORITHMS: dict[str, dict[str, Key]] = {
    "rls": {},
    "rls-k": {
        "k": Key("word"),
        "ties": Key("word", words=("larger", "smaller"), default="larger"),
    },
    "ea": {"rate": _RATE},
    "ea-positive": {"rate": _RATE},
    "metropolis": {"base": Key("rational"), "rate": _MAYBE},
    "mahh": {"p": Key("rational")},
    "mmahh": {
        "p": Key("rational"),
        "q": Key("rational"),
        "accept": Key("word", words=("all", "worsening"), default="all"),
        "order": Key("word", words=("move-first", "switch-first"), default="move-first"),
    },
    "random": {"weights": Key("list", optional=True)},
    "gradient": {
        "portfolio": Key("list"),
        "tau": Key("integer", default="1"),
        "accept": Key("word", words=("better", "not-worse"), default="better"),
    },
    "portfolio": {"k": Key("list")},
    "earl": {
        "variant": Key("word", words=("appendix", "greedy"), default="appendix"),
        "alpha": _MAYBE,
        "gamma": _MAYBE,
    },
    "lrsao": {"alpha": _MAYBE, "gamma": _MAYBE, "r": _MAYBE, "epsilon": _MAYBE},
}
"""Name -> its keys."""

REFERENCES = {
    "rls": "random local search; Droste, Jansen, Wegener 2002",
    "rls-k": "RLS with k flipped bits; Doerr, Doerr, Yang 2020; Buskulic, Doerr 2021",
    "ea": "(1+1) EA, standard bit mutation; Droste, Jansen, Wegener 2002",
    "ea-positive": "(1+1) EA > 0; Carvalho Pinto, Doerr 2018",
    "metropolis": "Metropolis et al. 1953; Doerr, El Ghazi El Houssaini, Rajabi, Witt 2023",
    "mahh": "move acceptance hyper-heuristic; Lissovoi, Oliveto, Warwicker 2019",
    "mmahh": "Markov move acceptance; Bendahi, Doerr, Fradin, Lutzeyer 2025",
    "random": "a random objective in every step; Buzdalova, Buzdalov 2012",
    "gradient": "(generalised) random gradient; Lissovoi, Oliveto, Warwicker 2020",
    "portfolio": "the best k of a list at every level; Doerr, Wagner 2018",
    "earl": "EA+RL; Buzdalova, Buzdalov 2012",
    "lrsao": "LRSAO; Doerr et al., GECCO 2025",
}
"""Name -> what it is and where it comes from."""


@dataclass(frozen=True)
class NamedAlgorithm:
    """An algorithm as it was named; `on` a landscape it is an `Algorithm` or a `Search`."""

    text: str
    name: str
    values: tuple[tuple[str, Value | fmpq], ...]

    @classmethod
    def of(cls, text: str) -> NamedAlgorithm:
        """Read a name with its keys.

        Raises
        ------
        ParameterError
        """
        name, values = read(text, ALGORITHMS, "algorithm")
        return cls(text.strip(), name, tuple(values.items()))

    def given(self, key: str, value: fmpq) -> NamedAlgorithm:
        """Return the same with one more key, a number."""
        return replace(self, values=(*self.values, (key, value)))

    def on(self, landscape: Landscape | LeadingOnes) -> Algorithm | Search:
        """Return what it is on a landscape.

        Raises
        ------
        ParameterError
            A value is out of its range at the landscape's n.
        """
        values = dict(self.values)
        if self.name in _LEARNING:
            return _LEARNING[self.name](values, landscape.n)
        if self.name == "random":
            return _random(self.text, values, landscape)
        return _BUILDERS[self.name](self.text, values, landscape.n).at(landscape.n)


def _number(values: Values, key: str, n: int) -> fmpq:
    found = values[key]
    return found(n=n) if isinstance(found, Expression) else rational(found, key)


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
    k = str(values["k"])
    if k in ("optimal", "drift"):
        every = [_flips(size) for size in range(1, n + 1)]
        if values["ties"] == "smaller":
            every.reverse()  # ties go to the later action
        return Search.best_of(text, every, "time" if k == "optimal" else "drift")
    if not (k.isascii() and k.isdigit() and int(k[:18]) >= 1):
        raise ParameterError(f"k = {k!r} is not a number of bits: write e.g. 2, optimal or drift")
    return Search.single(text, _flips(int(k)))


def _ea(text: str, values: Values, n: int) -> Search:
    return Search.single(text, Action(Mutation.standard(_number(values, "rate", n))))


def _ea_positive(text: str, values: Values, n: int) -> Search:
    mutation = Mutation.standard(_number(values, "rate", n), positive=True)
    return Search.single(text, Action(mutation))


def _metropolis(text: str, values: Values, n: int) -> Search:
    acceptance = Acceptance("metropolis", _number(values, "base", n))
    if "rate" in values:
        mutation = Mutation.standard(_number(values, "rate", n))
        return Search.single(text, Action(mutation, acceptance))
    return Search.single(text, _flips(1, acceptance))


def _mahh(text: str, values: Values, n: int) -> Search:
    p = _number(values, "p", n)
    if not 0 <= p <= 1:
        raise ParameterError(f"p = {p} is out of range: 0 <= p <= 1 is needed")
    actions = [_flips(1, Acceptance("all")), _flips(1, Acceptance("better"))]
    return Search.mixed(text, actions, [p, 1 - p])


def _mmahh(text: str, values: Values, n: int) -> Search:
    other = Acceptance("all" if values["accept"] == "all" else "worse")
    return Search.two_modes(
        text,
        _flips(1, Acceptance("better")),
        _flips(1, other),
        _number(values, "p", n),
        _number(values, "q", n),
        switch_first=values["order"] == "switch-first",
    )


def _gradient(text: str, values: Values, n: int) -> Search:
    acceptance = Acceptance("better" if values["accept"] == "better" else "not-worse")
    actions = [_flips(k, acceptance) for k in _sizes(values, "portfolio")]
    tau = values["tau"]
    assert isinstance(tau, int)
    return Search.gradient(text, actions, tau)


def _portfolio(text: str, values: Values, n: int) -> Search:
    return Search.best_of(text, [_flips(k) for k in sorted(_sizes(values, "k"))], "time")


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
    greedy = values["variant"] == "greedy"
    alpha, gamma = (fmpq(1, 2), fmpq(1, n)) if greedy else (fmpq(4, 5), fmpq(99, 100))
    given = {key: _number(values, key, n) for key in ("alpha", "gamma") if key in values}
    return Algorithm.earl(given.get("alpha", alpha), given.get("gamma", gamma))


def _lrsao(values: Values, n: int) -> Algorithm:
    given = {key: _number(values, key, n) for key in ("alpha", "gamma", "r") if key in values}
    found = Algorithm.lrsao(Parameters.paper(n, **given))
    if "epsilon" in values:
        return found.exploring(_number(values, "epsilon", n))
    return found


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
