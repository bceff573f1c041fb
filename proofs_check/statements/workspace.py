"""What the checks of one verification share: graphs, automata, the induction, random runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flint import fmpq

from markov_lrsao.errors import ParameterError
from markov_lrsao.model.law import StepLaw
from markov_lrsao.model.parameters import Parameters
from markov_lrsao.rows.automata import RowAutomata, derive_automata
from proofs_check.claims.expressions import brief, evaluate
from proofs_check.claims.setting import Setting
from proofs_check.claims.verdict import Evidence, Kind, Verdict
from proofs_check.logic.facts import facts
from proofs_check.logic.induction import Induction
from proofs_check.runs.graph import Edge, Graph, explore
from proofs_check.runs.landscapes import random_laws
from proofs_check.runs.monitors import Counter, Monitor
from proofs_check.runs.search import Battery, instances, judge, search
from proofs_check.runs.steps import run_of
from proofs_check.statements.registry import Statement, find

if TYPE_CHECKING:
    from proofs_check.automata.abstraction import SlopeAutomata
    from proofs_check.automata.plateau import PlateauGraph

__all__ = ["Workspace"]

_EXHAUSTIVE_QUICK = ((9, 2), (11, 3), (13, 4))
_EXHAUSTIVE_FULL = (*_EXHAUSTIVE_QUICK, (10, 2), (12, 3), (15, 5), (17, 6), (21, 8))


_INDUCTIONS: dict[Any, Induction] = {}
_GRAPHS: dict[Any, Graph] = {}


class Workspace:
    """A setting, the statements to be checked, and what their checks have in common."""

    def __init__(self, setting: Setting, statements: Sequence[Statement] = ()) -> None:
        self.setting = setting
        self.statements = tuple(statements)
        self._graphs: dict[tuple[int, int], Graph] = {}
        self._automata: dict[tuple[int, int], RowAutomata] = {}

    def term(self, statement: str, key: str) -> str:
        """Return a term of a statement, or what the setting puts in its place."""
        own = find(statement).terms[key]
        return self.setting.terms.get((statement, key), own)

    def value(self, statement: str, key: str, **names: Any) -> Any:
        """Evaluate a term over exact rationals."""
        exact = {k: fmpq(v) if isinstance(v, int) else v for k, v in names.items()}
        result = evaluate(self.term(statement, key), exact, {"number": fmpq})
        return result

    def number(self, statement: str, key: str) -> int:
        """Return a term that is an integer.

        Raises
        ------
        ParameterError
            It is none.
        """
        text = self.term(statement, key)
        if not re.fullmatch(r"\s*-?[0-9]{1,18}\s*", text):
            raise ParameterError(f"{key!r} of {statement} is {brief(text)}: an integer is needed")
        return int(text)

    def actions(self, statement: str, key: str) -> list[str]:
        """Return a term that lists actions, separated by commas.

        Raises
        ------
        ParameterError
            It lists none, or something else.
        """
        text = self.term(statement, key)
        known = [name for name, _ in self.setting.family.objectives]
        found = [part.strip() for part in text.split(",")]
        if not set(found) <= set(known):
            raise ParameterError(
                f"{key!r} of {statement} is {brief(text)}: choose from {', '.join(known)}"
            )
        return found

    # -- instances -------------------------------------------------------------------

    @property
    def exhaustive_pairs(self) -> list[tuple[int, int]]:
        """The (n, l) whose joint chain is enumerated with labelled steps."""
        wanted = _EXHAUSTIVE_FULL if self.setting.full else _EXHAUSTIVE_QUICK
        valid = set(self.setting.pairs(max(n for n, _ in wanted)))
        kept = [pair for pair in wanted if pair in valid]
        # A mutated range may admit smaller instances; the smallest belongs in.
        smallest = min(valid) if valid else None
        return [smallest, *kept] if smallest is not None and smallest not in kept else kept

    def law(self, n: int, ell: int, parameters: Parameters | None = None) -> StepLaw:
        """Return the step law of an instance, with the paper's hyper-parameters by default."""
        chosen = parameters if parameters is not None else Parameters.paper(n)
        return StepLaw.of(self.setting.family.at(n, ell), self.setting.algorithm(chosen))

    def graph(self, n: int, ell: int) -> Graph:
        """Return the labelled joint chain of an instance."""
        if (n, ell) in self._graphs:
            return self._graphs[n, ell]
        key = (self.setting.family, self.setting.algorithm, n, ell)
        graph = _GRAPHS[key] if key in _GRAPHS else explore(self.law(n, ell))
        self._graphs[n, ell] = graph
        if not self.setting.full:  # the small ones are kept for later verifications
            _GRAPHS[key] = graph
        return graph

    def graphs(self) -> Iterator[Graph]:
        """Yield the labelled joint chains of all exhaustively checked instances."""
        for n, ell in self.exhaustive_pairs:
            yield self.graph(n, ell)

    def automata(self, n: int, ell: int) -> RowAutomata:
        """Return the row automata of an instance."""
        if (n, ell) not in self._automata:
            self._automata[n, ell] = derive_automata(self.law(n, ell))
        return self._automata[n, ell]

    @property
    def exhaustive_range(self) -> str:
        """The instances of `graphs`, in words."""
        return (
            "joint chain of (n, l) = "
            + ", ".join(f"({n}, {ell})" for n, ell in self.exhaustive_pairs)
            + ", paper's hyper-parameters"
        )

    # -- shared proofs ----------------------------------------------------------------

    @cached_property
    def induction(self) -> Induction:
        """The joint induction, with the setting's facts; shared between like settings."""
        setting, found = self.setting, tuple(facts(self))
        key = (
            setting.family,
            setting.algorithm,
            setting.hypothesis,
            found,
            setting.level,
            setting.second_solver,
            setting.solver_seconds,
        )
        if key not in _INDUCTIONS:
            _INDUCTIONS[key] = Induction(setting, found)
        return _INDUCTIONS[key]

    @cached_property
    def slope(self) -> SlopeAutomata:
        """The sign automata of the slope's rows, for all parameters at once."""
        from proofs_check.automata.abstraction import slope_automata

        return slope_automata(self)

    @cached_property
    def plateau(self) -> PlateauGraph:
        """Phase 3 in cells, for all parameters at once."""
        from proofs_check.automata.plateau import plateau_graph

        return plateau_graph(self)

    # -- random runs --------------------------------------------------------------------

    def _monitors(self, statement: Statement) -> list[Monitor]:
        if statement.monitors is None:
            return []
        return [m.monitor() if isinstance(m, Counter) else m for m in statement.monitors(self)]

    @cached_property
    def battery(self) -> Battery:
        """Random runs that all monitors of the chosen statements watch."""
        watched = [m for s in self.statements for m in self._monitors(s)]
        runs = self.setting.pick(8, 60)
        return search(instances(self.setting), watched, runs=runs, seed=self.setting.seed)

    def monitored(self, statement: Statement) -> list[Evidence]:
        """Return the statistical evidence on a statement."""
        return [judge(self.battery, m) for m in self._monitors(statement)]

    def on_random_landscapes(self, monitor: Monitor, quick: int, full: int) -> Evidence:
        """Watch a monitor on short runs of the setting's algorithm on landscapes of any shape."""
        setting = self.setting
        laws = (
            StepLaw.of(law.landscape, setting.algorithm(law.algorithm.parameters))
            for law in random_laws(setting.pick(quick, full), setting.seed)
        )
        battery = search(laws, [monitor], runs=4, seed=setting.seed, longest=40)
        return judge(battery, monitor, "with random landscapes")

    # -- exhaustive ----------------------------------------------------------------------

    def never(
        self, statement: str, part: str, expected: str, bad: Any, *, observed: str = ""
    ) -> Evidence:
        """Check on all joint chains that no step satisfies ``bad(graph, edge)``."""
        steps = 0
        for graph in self.graphs():
            flagged = next((e for e in graph.edges if bad(graph, e)), None)
            steps += len(graph.edges)
            if flagged is not None:
                path = graph.shortest(lambda memory, e, g=graph: (None, bool(bad(g, e))))  # type: ignore[misc]
                assert path is not None
                seen = (
                    observed
                    or f"step {len(path) - 1} is {path[-1].action} at position {path[-1].position}"
                )
                return Evidence(
                    kind=Kind.EXHAUSTIVE,
                    verdict=Verdict.REFUTED,
                    part=part,
                    summary=f"violated after {len(path)} steps: {seen}",
                    range=self.exhaustive_range,
                    counterexample=run_of(
                        graph.law,
                        graph.choices(path),
                        statement=statement,
                        expected=expected,
                        observed=seen,
                    ),
                )
        return Evidence(
            kind=Kind.EXHAUSTIVE,
            verdict=Verdict.VERIFIED,
            part=part,
            summary=f"{expected}: holds on all {steps:,} reachable steps",
            range=self.exhaustive_range,
        )

    def at_most(self, counter: Counter) -> Evidence:
        """Check a counter on all joint chains; report the sharp value."""
        return self.at_most_each(lambda graph: [counter])

    def at_most_each(self, counters: Callable[[Graph], Sequence[Counter]]) -> Evidence:
        """Check counters that depend on the instance (one per state, say) on all joint chains."""
        sharp: list[str] = []
        largest, part, expected = 0, "", ""
        for graph in self.graphs():
            n, ell = graph.law.n, graph.law.landscape.ell
            for counter in counters(graph):
                part, expected = counter.part, counter.expected
                found = _largest(graph, counter)
                sharp.append(f"n = {n}, l = {ell}, {counter.key}: largest {found}")
                if found is None or found > counter.bound:
                    path = graph.shortest(_counting(counter), 0)
                    assert path is not None
                    seen = f"{counter.key}: {counter.bound + 1}"
                    return Evidence(
                        kind=Kind.EXHAUSTIVE,
                        verdict=Verdict.REFUTED,
                        part=part,
                        summary=f"{seen} after {len(path)} steps at n = {n}, l = {ell}",
                        range=self.exhaustive_range,
                        counterexample=run_of(
                            graph.law,
                            graph.choices(path),
                            statement=counter.statement,
                            expected=counter.expected,
                            observed=seen,
                        ),
                    )
                largest = max(largest, found)
        return Evidence(
            kind=Kind.EXHAUSTIVE,
            verdict=Verdict.VERIFIED,
            part=part,
            summary=f"{expected}; sharp value {largest}",
            range=self.exhaustive_range,
            details=tuple(sharp),
        )


def _largest(graph: Graph, counter: Counter) -> int | None:
    """Return the largest count in a run, also for counters that start afresh."""
    if not any(counter.resets(e) for e in graph.edges):  # type: ignore[arg-type]
        return graph.largest_count(counter.counts)
    # With resets the count lives in a product that is finite as long as the bound holds.
    best = 0
    while graph.shortest(_counting(counter, best), 0) is not None:
        best += 1
        if best > counter.bound:
            return best
    return best


def _counting(counter: Counter, bound: int | None = None) -> Any:
    limit = counter.bound if bound is None else bound

    def look(count: int, edge: Edge) -> tuple[int, bool]:
        if counter.resets(edge):  # type: ignore[arg-type]
            count = 0
        if counter.counts(edge):  # type: ignore[arg-type]
            count += 1
        return count, count > limit

    return look
