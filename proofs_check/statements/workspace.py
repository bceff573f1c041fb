"""What the checks of one verification share, computed when first asked for.

Joint chains with labelled steps, row automata, the induction, the automata for all parameters at
once; and the ways of looking at them that many checks have in common (`never`, `at_most`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

from markov_lrsao.errors import Refused, VerificationError, attempt
from markov_lrsao.model.law import StepLaw
from markov_lrsao.model.parameters import Parameters, hypothesis_h
from markov_lrsao.rows.automata import RowAutomata, derive_automata
from proofs_check.automata.abstraction import SlopeAutomata, slope_automata
from proofs_check.automata.plateau import PlateauGraph, plateau_graph
from proofs_check.claims.scope import PAPER_HYPER, Scope
from proofs_check.claims.setting import HYPOTHESIS
from proofs_check.claims.terms import Terms
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.facts import facts
from proofs_check.logic.induction import Induction
from proofs_check.runs.graph import Edge, Graph, explore
from proofs_check.runs.landscapes import random_laws
from proofs_check.runs.monitors import Counter, Monitor
from proofs_check.runs.run import run_of
from proofs_check.runs.search import hyper_parameters, judge, search

__all__ = ["Workspace"]

_EXHAUSTIVE_QUICK = ((9, 2), (11, 3), (12, 2), (14, 3))
"""From n = 2l + 8 on the slope has a site that is next to none of its ends."""
_EXHAUSTIVE_FULL = (*_EXHAUSTIVE_QUICK, (13, 4), (14, 2), (15, 2), (17, 6), (20, 6), (21, 8))
_FURTHER = 3
"""So many further choices of hyper-parameters at the smallest instance, if (H) is changed."""
_FURTHER_STATES = 50_000


_INDUCTIONS: dict[Any, Induction] = {}
_GRAPHS: dict[Any, Graph] = {}


class Workspace:
    """A setting, the terms of the statements, and what the checks have in common."""

    def __init__(self, terms: Terms) -> None:
        self.terms, self.setting = terms, terms.setting
        self.term, self.value = terms.term, terms.value
        self.number, self.actions = terms.number, terms.actions
        self._graphs: dict[tuple[int, int], Graph] = {}
        self._automata: dict[tuple[int, int], RowAutomata] = {}

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

    def parameters(self, n: int, ell: int) -> Parameters:
        """Return the paper's hyper-parameters, or others if the hypothesis excludes them.

        Raises
        ------
        VerificationError
            The hypothesis admits none that could be found.
        """
        paper = Parameters.paper(n)
        if self.setting.admits(n, ell, paper):
            return paper
        found = hyper_parameters(self.setting, n, ell)
        if not found:
            raise VerificationError(f"no hyper-parameters for n = {n}, l = {ell} were found")
        return found[0]

    def law(self, n: int, ell: int, parameters: Parameters | None = None) -> StepLaw:
        """Return the step law of an instance, with the paper's hyper-parameters by default."""
        chosen = parameters if parameters is not None else self.parameters(n, ell)
        return StepLaw.of(self.setting.family.at(n, ell), self.setting.algorithm(chosen))

    def graph(self, n: int, ell: int) -> Graph:
        """Return the labelled joint chain of an instance."""
        if (n, ell) in self._graphs:
            return self._graphs[n, ell]
        parameters = self.parameters(n, ell)
        key = (self.setting.family, self.setting.algorithm, n, ell, parameters)
        graph = _GRAPHS[key] if key in _GRAPHS else explore(self.law(n, ell, parameters))
        self._graphs[n, ell] = graph
        if not self.setting.full:  # the small ones are kept for later verifications
            _GRAPHS[key] = graph
        return graph

    def graphs(self) -> Iterator[Graph]:
        """Yield the labelled joint chains of all exhaustively checked instances."""
        for n, ell in self.exhaustive_pairs:
            yield self.graph(n, ell)
        yield from self._further

    @cached_property
    def _further(self) -> tuple[Graph, ...]:
        """Chains of hyper-parameters that only a changed hypothesis admits, where enumerable."""
        if self.setting.hypothesis == HYPOTHESIS or not self.exhaustive_pairs:
            return ()
        n, ell = self.exhaustive_pairs[0]
        landscape = self.setting.family.at(n, ell)
        found: list[Graph] = []
        for parameters in hyper_parameters(self.setting, n, ell):
            if len(found) < _FURTHER and not hypothesis_h(landscape, parameters).holds:
                law = self.law(n, ell, parameters)
                tried = attempt(partial(explore, law, limit=_FURTHER_STATES))
                if not isinstance(tried, Refused):
                    found.append(tried)
        return tuple(found)

    def automata(self, n: int, ell: int) -> RowAutomata:
        """Return the row automata of an instance."""
        if (n, ell) not in self._automata:
            self._automata[n, ell] = derive_automata(self.law(n, ell))
        return self._automata[n, ell]

    @property
    def exhaustive_scope(self) -> Scope:
        """The instances of `graphs`, in words."""
        pairs = ", ".join(f"({n}, {ell})" for n, ell in self.exhaustive_pairs)
        papers = all(
            self.setting.admits(n, ell, Parameters.paper(n)) for n, ell in self.exhaustive_pairs
        )
        hyper = PAPER_HYPER if papers else "one choice each"
        also = f" and {len(self._further)} beyond (H)" if self._further else ""
        return Scope(f"joint chains of (n, l) = {pairs}", hyper + also)

    # -- shared proofs ----------------------------------------------------------------

    @cached_property
    def induction(self) -> Induction:
        """The joint induction, with the setting's facts; shared between like settings."""
        setting, found = self.setting, tuple(facts(self.terms))
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

    @property
    def slope(self) -> SlopeAutomata:
        """The sign automata of the slope's rows, for all parameters at once."""
        return slope_automata(self.induction)

    @property
    def plateau(self) -> PlateauGraph:
        """Phase 3 in cells, for all parameters at once."""
        return plateau_graph(self.induction)

    # -- random runs --------------------------------------------------------------------

    def on_random_landscapes(self, monitor: Monitor, quick: int, full: int) -> Evidence:
        """Watch one monitor on short runs on so many small random landscapes."""
        setting = self.setting
        laws = random_laws(setting.pick(quick, full), setting.seed, setting.algorithm)
        battery = search(laws, [monitor], runs=4, seed=setting.seed, longest=40)
        return judge(battery, monitor, "with random landscapes")

    # -- exhaustive ----------------------------------------------------------------------

    def never(
        self,
        statement: str,
        part: str,
        expected: str,
        bad: Callable[[Graph, Edge], bool],
        *,
        observed: str = "",
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
                    kind=EvidenceKind.EXHAUSTIVE,
                    verdict=Verdict.REFUTED,
                    part=part,
                    summary=f"violated after {len(path)} steps: {seen}",
                    scope=self.exhaustive_scope,
                    counterexample=run_of(
                        graph.law,
                        graph.choices(path),
                        statement=statement,
                        expected=expected,
                        observed=seen,
                    ),
                )
        return Evidence(
            kind=EvidenceKind.EXHAUSTIVE,
            verdict=Verdict.VERIFIED,
            part=part,
            summary=f"{expected}: holds on all {steps:,} reachable steps",
            scope=self.exhaustive_scope,
        )

    def at_most(self, counter: Counter) -> Evidence:
        """Check a counter on all joint chains; report the sharp value."""
        return self.at_most_each(lambda law: [counter])

    def at_most_each(self, counters: Callable[[StepLaw], Sequence[Counter]]) -> Evidence:
        """Check counters that depend on the instance (one per state, say) on all joint chains."""
        sharp: list[str] = []
        largest, part, expected = 0, "", ""
        for graph in self.graphs():
            n, ell = graph.law.n, graph.law.landscape.ell
            for counter in counters(graph.law):
                part, expected = counter.part, counter.expected
                found = _largest(graph, counter)
                sharp.append(f"n = {n}, l = {ell}, {counter.key}: largest {found}")
                if found is None or found > counter.bound:
                    path = _exceeding(graph, counter, counter.bound)
                    assert path is not None
                    seen = f"{counter.key}: {counter.bound + 1}"
                    return Evidence(
                        kind=EvidenceKind.EXHAUSTIVE,
                        verdict=Verdict.REFUTED,
                        part=part,
                        summary=f"{seen} after {len(path)} steps at n = {n}, l = {ell}",
                        scope=self.exhaustive_scope,
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
            kind=EvidenceKind.EXHAUSTIVE,
            verdict=Verdict.VERIFIED,
            part=part,
            summary=f"{expected}; sharp value {largest}",
            scope=self.exhaustive_scope,
            details=tuple(sharp),
        )


def _largest(graph: Graph, counter: Counter) -> int | None:
    """Return the largest count in a run, also for counters that start afresh."""
    if not any(counter.resets(graph.law, e) for e in graph.edges):
        return graph.largest_count(lambda e: counter.counts(graph.law, e))
    # With resets the count lives in a product that is finite as long as the bound holds.
    best = 0
    while _exceeding(graph, counter, best) is not None:
        best += 1
        if best > counter.bound:
            return best
    return best


def _exceeding(graph: Graph, counter: Counter, bound: int) -> list[Edge] | None:
    """Return a shortest run in which the count exceeds a bound, or None."""

    def look(count: int, edge: Edge) -> tuple[int, bool]:
        count = counter.after(graph.law, edge, count)
        return count, count > bound

    return graph.shortest(look, 0)
