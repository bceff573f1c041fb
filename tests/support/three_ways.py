"""Random instances, and the three ways to their runtimes: crossing counts, joint chain, values."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Protocol

import numpy as np
from flint import fmpq
from hypothesis import strategies as st
from oracles import Form, Rule, RuleOracle, h_interval, position_law

from markov_lrsao import Algorithm, Landscape, Parameters, RuntimeResult, StepLaw, runtime
from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.errors import LrsaoError
from markov_lrsao.exact.quantity import Enclosed, Exact, Quantity, Trap
from markov_lrsao.exact.rationals import rational
from markov_lrsao.model.algorithm import Reward
from markov_lrsao.values.solving import Answer, solve_values
from markov_lrsao.values.whole_run import chain_with_values, everything

LIMIT = {1: 1500, 2: 1500, 3: 1200, 4: 500}
"""By number of objectives, the states of a chain that are tried; beyond, a refusal is expected."""

ADVICE = ("`max_states`", "`method=", "`simulate()`")
"""What a refusal may tell the user to do."""


@dataclass(frozen=True)
class Instance:
    objectives: dict[str, list[int]]
    target: str
    milestones: tuple[int, ...]
    rule: Rule
    parameters: tuple[Fraction, Fraction, Fraction] | None = None

    @property
    def landscape(self) -> Landscape:
        return Landscape.from_arrays(self.objectives, self.target, self.milestones)

    @property
    def algorithm(self) -> Algorithm:
        """The engine's form of the rule; the paper's constructor where it is the paper's rule."""
        if self.parameters is not None:
            return Algorithm.lrsao(Parameters.of(*self.parameters))
        rule = self.rule
        improving, accepted, rejected = (Reward(*map(rational, form)) for form in rule.forms)
        return Algorithm(
            "rule",
            improving,
            accepted,
            rejected,
            rational(rule.keep),
            rational(rule.learn),
            rational(rule.bootstrap),
            accept_equal=rule.accept_equal,
            state="blind" if rule.blind else "target",
            actions="target" if rule.only_target else "all",
        )


def slopes(draw: st.DrawFn, n: int) -> list[int]:
    """Return n + 1 values made of short pieces that climb, fall or stay."""
    values: list[int] = []
    while len(values) <= n:
        slope, length = draw(st.sampled_from([0, 1, 1, -1, 2])), draw(st.integers(1, 6))
        goes_on = bool(values) and draw(st.booleans())
        first = values[-1] + slope if goes_on else draw(st.integers(0, 3))
        values += [first + slope * i for i in range(length)]
    return values[: n + 1]


@st.composite
def landscapes(draw: st.DrawFn) -> tuple[dict[str, list[int]], str, tuple[int, ...]]:
    """One to four objectives with plateaus, walls and slopes; the optimum anywhere above 0."""
    shape = draw(st.sampled_from(["any", "any", "pieces", "pieces", "slope", "long"]))
    names = "ABCD"[: draw(st.sampled_from([1, 2, 2, 3] if shape == "long" else [1, 2, 2, 3, 3, 4]))]
    n = draw(st.integers(8, 16) if shape == "long" else st.integers(1, 7 - len(names) // 3))
    highest = draw(st.integers(1, 4))
    objectives: dict[str, list[int]] = {}
    for a in names:
        if shape == "any":
            objectives[a] = draw(st.lists(st.integers(0, highest), min_size=n + 1, max_size=n + 1))
        elif shape == "pieces":
            objectives[a] = slopes(draw, n)
        else:
            values = list(range(n + 1))
            for p in draw(st.lists(st.integers(0, n), max_size=3)):
                values[p] = draw(st.integers(0, n))
            objectives[a] = values
    target = draw(st.sampled_from(names))
    optimum = draw(st.sampled_from([n, n, max(1, n - 1), max(1, n // 2)]))
    objectives[target][optimum] = max(objectives[target]) + draw(st.integers(1, 2))
    inner = draw(st.lists(st.integers(1, optimum), max_size=3))
    return objectives, target, tuple(sorted({*inner, optimum}))


rates = st.sampled_from([Fraction(k, 20) for k in range(1, 20)])
forms = st.tuples(*[st.sampled_from([Fraction(x) for x in (0, 0, 0, 1, -1, 2, "1/2", "-3/2")])] * 3)


@st.composite
def instances(draw: st.DrawFn) -> Instance:
    """A landscape with LRSAO inside or outside (H), EA+RL, or any other rule."""
    objectives, target, milestones = draw(landscapes())
    alpha, gamma = draw(rates), draw(rates)
    kind = draw(st.sampled_from(["inside", "outside", "outside", "earl", "rule", "rule"]))
    if kind == "inside":
        gain = int(Landscape.from_arrays(objectives, target, milestones).largest_gain)
        gamma = Fraction(1, draw(st.integers(2, 40)))
        low, high = h_interval(gain + 1, 0, alpha, gamma)
        r = low + (high - low) * draw(rates) if low < high else Fraction(3, 2)
    else:
        r = draw(st.fractions(0, 12, max_denominator=4))
    if kind in ("inside", "outside"):
        return Instance(
            objectives, target, milestones, Rule.lrsao(alpha, gamma, r), (alpha, gamma, r)
        )
    zero: Form = (Fraction(0),) * 3
    if kind == "earl":
        change: Form = (Fraction(0), Fraction(0), Fraction(1))
        rewards = (zero, change, change)
    else:
        rewards = (draw(forms) if draw(st.booleans()) else zero, draw(forms), draw(forms))
    rule = Rule(1 - alpha, alpha, alpha * gamma, rewards)
    if kind == "rule":
        rule = rule._replace(
            accept_equal=draw(st.booleans()),
            blind=draw(st.sampled_from([False, False, True])),
            only_target=draw(st.sampled_from([False, False, False, True])),
            learn=draw(st.sampled_from([alpha, alpha, -alpha, Fraction(0)])),
        )
    return Instance(objectives, target, milestones, rule)


def quantities(values: list[list[Quantity]]) -> list[Quantity]:
    """Return means and variances of T and of the phases."""
    return [q for row in values for q in row[:2]]


def quantities_of(result: RuntimeResult) -> list[Quantity]:
    pairs = zip(
        (result.total, *result.phases), (result.variance, *result.phase_variances), strict=True
    )
    return [q for pair in pairs for q in pair]


def ends(q: Quantity) -> tuple[fmpq, fmpq | None] | None:
    """Return bounds of a number (an upper one None is infinity); None where it is infinite."""
    if q.infinite:
        return None
    assert isinstance(q, Exact | Enclosed)  # no floats here
    return q.lower, q.upper


def agree(a: Quantity, b: Quantity) -> bool:
    """Whether two answers about one number can both be true; exact ones must be equal."""
    one, two = ends(a), ends(b)
    if one is None or two is None:
        return all(e is None or e[1] is None for e in (one, two))
    upper = [e[1] for e in (one, two) if e[1] is not None]
    return not upper or max(one[0], two[0]) <= min(upper)


def check_refusal(error: LrsaoError, advised: bool = True) -> None:
    """A refusal is one line: what is wrong and what to do; it is not a fault of the engine."""
    text = str(error)
    assert not advised or any(way in text for way in ADVICE), error
    assert "\n" not in text and "please report" not in text and len(text) > 20, error  # noqa: PT018


def by_values(law: StepLaw) -> tuple[Answer, MarkovChain | None]:
    """Follow the values of all rows; return also the chain, where all is decided."""
    block = everything(
        law,
        fmpq(1, 4) * max(abs(law.algorithm.learn), fmpq(1, 100)),
        exact_bits=24,
        largest=LIMIT[len(law.landscape.actions)],
        all_rows=True,
    )
    chain = None if block.undecided else chain_with_values(block)[0]
    return solve_values(block, "exact", 2), chain


class Played(Protocol):
    """What the oracle plays."""

    @property
    def objectives(self) -> dict[str, list[int]]: ...
    @property
    def target(self) -> str: ...
    @property
    def rule(self) -> Rule: ...


def compare_with_oracle(
    instance: Played, chain: MarkovChain, steps: int, largest: int = 150
) -> int:
    """Compare the laws of the position after 0, 1, .. steps; return how many were compared."""
    oracle = RuleOracle(instance.objectives, instance.target, instance.rule)
    matrix = [
        [
            (int(chain.indices[e]), fmpq(int(chain.numerators[e]), int(chain.denominators[i])))
            for e in range(int(chain.indptr[i]), int(chain.indptr[i + 1]))
        ]
        for i in range(chain.size)
    ]
    now = {int(chain.start[0]): fmpq(1)}
    compared = 0
    for t, weights in enumerate(
        oracle.propagate({(0, oracle.zero_table()): 1}, steps, largest=largest)
    ):
        expected = {p: fmpq(w, oracle.denominator**t) for p, w in position_law(weights).items()}
        found: dict[int, fmpq] = {}
        following: dict[int, fmpq] = {}
        for i, w in now.items():
            p = int(chain.positions[i])
            found[p] = found.get(p, fmpq(0)) + w
            for j, share in matrix[i]:
                following[j] = following.get(j, fmpq(0)) + w * share
        assert found == expected, f"the laws of the position differ after {t} steps"
        now, compared = following, t
    return compared


def compare(instance: Instance, health: Counter[str]) -> None:
    """Compare the three ways and the oracle on one instance; count what was compared.

    Everything is counted once per instance, so that counts are shares of the instances.
    """
    landscape, algorithm = instance.landscape, instance.algorithm
    found: dict[str, tuple[list[Quantity], object]] = {}
    seen = {"instances"}
    for method in ("crossing", "joint"):
        try:
            result = runtime(
                landscape,
                algorithm,
                method=method,
                outside_h=True,
                max_states=LIMIT[len(instance.objectives)],
            )
        except LrsaoError as error:
            check_refusal(error)
            seen.add("refused")
        else:
            found[method] = quantities_of(result), result.trap
            seen |= {result.kind, f"by {result.method}"}
            if result.kind == "exact":
                total, *phases = (Fraction(str(q.value)) for q in (result.total, *result.phases))
                assert total == sum(phases)
    try:
        answer, chain = by_values(StepLaw.of(landscape, algorithm))
    except LrsaoError as error:
        check_refusal(error, advised=False)
    else:
        found["values"] = quantities(answer.values), answer.trap
        seen.add("values")
        if chain is not None and compare_with_oracle(instance, chain, 9) >= 4:
            seen.add("oracle")
    seen |= compare_pairs(found, 1 + len(landscape.milestones))
    if len(found) > 1 and np.size(landscape.milestones) > 1:
        seen.add("sites")
    health.update(seen)


def compare_pairs(found: dict[str, tuple[list[Quantity], object]], count: int) -> set[str]:
    """Compare every two ways; return "compared" and "exact pair" if there are such."""
    seen = set()
    for (one, (a, trap)), (two, (b, other)) in combinations(found.items(), 2):
        assert len(a) == len(b) == 2 * count
        for k, (x, y) in enumerate(zip(a, b, strict=True)):
            assert agree(x, y), (one, two, k, x, y)
        if isinstance(trap, Trap) and isinstance(other, Trap):
            assert max(trap.lower, other.lower) <= min(trap.upper, other.upper), (one, two)
        seen.add("compared")
        if all(q.exact for q in (*a, *b)):
            seen.add("exact pair")
    return seen
