"""The failing excursions of Lemma 15's proof: their number, and each step of the argument."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from flint import fmpq

from markov_lrsao.errors import VerificationError
from markov_lrsao.model.law import UP, StepLaw
from proofs_check.automata.excursions import Progress3, advance
from proofs_check.automata.plateau import SECOND, TOP, Leg
from proofs_check.claims.scope import EVERYWHERE, Scope
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.runs.graph import Edge, Graph
from proofs_check.runs.monitors import Monitor
from proofs_check.runs.run import Choice, Record, Run, run_of
from proofs_check.runs.ties import continue_run, tie_with_penalty
from proofs_check.statements.statement import Check, CheckFunction, Group, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]

Violation = Callable[[Progress3, int], str | None]
"""(memory after a step, bound) -> what was seen, or None."""


def _too_many(memory: Progress3, bound: int) -> str | None:
    return f"{memory.failed} failing excursions" if memory.failed > bound else None


def _few_moves(memory: Progress3, bound: int) -> str | None:
    if memory.fell and sum(memory.moves) < bound:
        return f"a failing excursion with {sum(memory.moves)} moves by L or J in its walk"
    return None


def _fell_after_jumps(memory: Progress3, bound: int) -> str | None:
    if memory.fell and memory.moves[1] >= bound:
        return f"n-l-1 is reached after {memory.moves[1]} moves with J in this walk"
    return None


def _walk_moves(memory: Progress3, bound: int) -> str | None:
    count = memory.left + memory.jump
    return f"{count} moves with L and J in one walk" if count > bound else None


def _monitor(name: str, expected: str, bound: int, violation: Violation) -> Monitor:
    def look(run: Run, record: Record, memory: Progress3) -> tuple[Progress3, str | None]:
        after = advance(memory, record, run.law.landscape.milestones[1], run.law.optimum)
        return after, violation(after, bound)

    return Monitor(name, "", expected, look, Progress3())


def _exhaustive(name: str, expected: str, violation: Violation) -> CheckFunction:
    def joint_chains(workspace: Workspace) -> Iterable[Evidence]:
        """Look for a shortest run of the joint chain that violates the claim."""
        bound = workspace.number(name, "bound")
        largest = 0
        for graph in workspace.graphs():
            cut, optimum = graph.law.landscape.milestones[1], graph.law.optimum
            seen: list[str] = []

            def look(
                memory: Progress3,
                edge: Edge,
                cut: int = cut,
                optimum: int = optimum,
                seen: list[str] = seen,
            ) -> tuple[Progress3, bool]:
                nonlocal largest
                after = advance(memory, edge, cut, optimum)
                largest = max(largest, after.failed)
                found = violation(after, bound)
                if found is not None:
                    seen.append(found)
                return after, found is not None

            path = graph.shortest(look, Progress3())
            if path is not None:
                yield Evidence(
                    kind=EvidenceKind.EXHAUSTIVE,
                    verdict=Verdict.REFUTED,
                    summary=f"{seen[-1]}: a run of {len(path)} steps at n = {graph.law.n}, "
                    f"l = {graph.law.landscape.ell} with the paper's hyper-parameters",
                    scope=workspace.exhaustive_scope,
                    counterexample=run_of(
                        graph.law,
                        graph.choices(path),
                        statement=name,
                        expected=expected.format(bound),
                        observed=seen[-1],
                    ),
                )
                return
        yield Evidence(
            kind=EvidenceKind.EXHAUSTIVE,
            verdict=Verdict.VERIFIED,
            summary=f"{expected.format(bound)}; largest number of failing excursions: {largest}",
            scope=workspace.exhaustive_scope,
        )

    joint_chains.__qualname__ = f"joint_chains of {name}"
    return joint_chains


def _failing_in_cells(workspace: Workspace) -> Iterable[Evidence]:
    """Count failing excursions on the cells of row 0, for all of (H) at once."""
    graph = workspace.plateau
    bound = workspace.number("Failing excursions", "bound")
    most = graph.failing_excursions()
    proved = most is not None and most <= bound
    yield Evidence(
        kind=EvidenceKind.AUTOMATA,
        verdict=Verdict.PROVED if proved else Verdict.UNKNOWN,
        summary=f"at most {'unboundedly many' if most is None else most} failing excursions, on "
        f"{len(graph.places)} abstract states derived in {graph.queries} solver queries",
        scope=EVERYWHERE,
    )


def _walk_moves_in_cells(workspace: Workspace) -> Iterable[Evidence]:
    """Count the moves of L and J per walk on the cells of row 0, for all of (H) at once."""
    graph = workspace.plateau
    bound = workspace.number("Moves in a walk", "bound")
    most = max(
        graph.memories(
            0,
            lambda count, leg: (
                0
                if leg.target[0] == TOP or leg.source[0] == TOP
                else min(bound + 1, count + (leg.inside and leg.action in ("L", "J")))
            ),
        )
    )
    yield Evidence(
        kind=EvidenceKind.AUTOMATA,
        verdict=Verdict.PROVED if most <= bound else Verdict.UNKNOWN,
        summary=f"at most {most} moves with L and J in a walk"
        + (" or more" if most > bound else ""),
        scope=EVERYWHERE,
    )


def _few_moves_in_cells(workspace: Workspace) -> Iterable[Evidence]:
    """Count the moves of L and J before each fall that ends an excursion, for all of (H)."""
    graph = workspace.plateau
    bound = workspace.number("Failing excursions, two moves", "bound")
    falls: set[int] = set()

    def remember(memory: tuple[bool, int] | None, leg: Leg) -> tuple[bool, int] | None:
        if memory is None or (leg.action == "R" and leg.direction == UP and leg.source[0] != TOP):
            return None  # R+ has occurred: nothing fails any more
        out, count = memory
        if leg.target[0] == TOP or leg.source[0] == TOP:
            if leg.falls and out:
                falls.add(count)
            return False, 0
        moved = leg.inside and leg.action in ("L", "J")
        return out or (leg.accepted and leg.target[0] == SECOND), min(bound, count + moved)

    graph.memories((False, 0), remember)
    fewest = min(falls, default=bound)
    yield Evidence(
        kind=EvidenceKind.AUTOMATA,
        verdict=Verdict.PROVED if fewest >= bound else Verdict.UNKNOWN,
        summary=f"a failing excursion has at least {fewest} moves by L or J in its walk",
        scope=EVERYWHERE,
    )


def _ties_of(name: str) -> CheckFunction:
    def at_ties(workspace: Workspace) -> Iterable[Evidence]:
        return _at_ties(name, workspace)

    at_ties.__qualname__ = f"at_ties of {name}"
    return at_ties


def _admitted(workspace: Workspace, law: StepLaw) -> bool:
    parameters = law.algorithm.parameters
    assert parameters is not None
    return workspace.setting.admits(law.n, law.landscape.ell, parameters)


def _failed_once(graph: Graph) -> Iterator[list[Choice]]:
    """Yield shortest runs in which one excursion failed, by its moves with L and J."""
    law = graph.law
    cut, optimum = law.landscape.milestones[1], law.optimum
    for moves in ((1, 1), (0, 2), (2, 0)):
        path = graph.shortest(
            lambda memory, e, m=moves: (  # type: ignore[misc]
                (after := advance(memory, e, cut, optimum)),
                after.fell and after.moves == m and e.action == "L",
            ),
            Progress3(),
        )
        if path is not None:
            # entering the plateau with R leaves a positive entry there, which L is later fed from
            entry = next(i for i, e in enumerate(path) if e.next_position == cut > e.position)
            choices = graph.choices(path)
            choices[entry] = ("R", UP)
            yield choices


def _at_ties(name: str, workspace: Workspace) -> Iterable[Evidence]:
    """Continue runs with one failing excursion from an exact tie of L with -alpha r."""
    if not workspace.exhaustive_pairs:
        raise VerificationError("no instance is small enough")
    bound = workspace.number(name, "bound")
    graph = workspace.graph(*workspace.exhaustive_pairs[0])
    law, left = graph.law, graph.law.actions.index("L")
    cut, optimum = law.landscape.milestones[1], law.optimum
    tried = 0
    for choices in _failed_once(graph):
        for alpha in (fmpq(4, 5), fmpq(9, 10), fmpq(19, 20), fmpq(99, 100)):
            tried += 1
            tied = tie_with_penalty(
                lambda p: StepLaw.of(law.landscape, workspace.setting.algorithm(p)),
                law.landscape,
                alpha,
                fmpq(1, law.n + 1),
                choices,
                left,
            )
            if tied is None or not _admitted(workspace, tied):
                continue
            run, memory = Run(tied), Progress3()
            for record in run.play(choices):
                memory = advance(memory, record, cut, optimum)
            more = continue_run(
                run, memory, lambda m, r: advance(m, r, cut, optimum), lambda m: m.failed > bound, 7
            )
            if more is not None:
                yield Evidence(
                    kind=EvidenceKind.EXHAUSTIVE,
                    verdict=Verdict.REFUTED,
                    summary=f"{bound + 1} failing excursions where Q[0, L] ties with -alpha r: "
                    f"the proved bound of two is sharp in (H)",
                    scope=Scope(f"{tried} runs continued from exact ties", "corners of (H)"),
                    counterexample=run_of(
                        tied,
                        [*choices, *more],
                        statement=name,
                        expected=f"at most {bound} failing excursion",
                        observed=f"{bound + 1} failing excursions",
                    ),
                )
                return
    yield Evidence(
        kind=EvidenceKind.STATISTICAL,
        verdict=Verdict.SUPPORTED,
        summary=f"no violation among {tried} runs continued from exact ties",
        scope=Scope(f"{tried} runs continued from exact ties", "corners of (H)"),
    )


def _claim(
    name: str,
    title: str,
    where: str,
    claim: str,
    expected: str,
    bound: str,
    violation: Violation,
    *extra: Check,
    depends: tuple[str, ...] = (),
    group: Group = "claim",
) -> Statement:
    return Statement(
        id=name,
        group=group,
        title=title,
        where=where,
        claim=claim,
        terms={"bound": bound},
        depends=depends,
        checks=(*extra, Check(EvidenceKind.EXHAUSTIVE, _exhaustive(name, expected, violation))),
        monitors=lambda w: [
            _monitor(
                name, expected.format(w.number(name, "bound")), w.number(name, "bound"), violation
            )
        ],
    )


STATEMENTS = (
    _claim(
        "Failing excursions",
        "number of failing excursions",
        "1096",
        "At most two excursions from n-l+1 fall back to n-l-1 before R+ occurs.",
        "at most {} failing excursions",
        "2",
        _too_many,
        Check(EvidenceKind.AUTOMATA, _failing_in_cells),
        Check(EvidenceKind.EXHAUSTIVE, _ties_of("Failing excursions")),
        depends=("After Lemma 14, moves", "Lemma 14", "Failing excursions, no way out"),
    ),
    _claim(
        "Failing excursions, one",
        "whether one is the sharp value",
        "1096",
        "At most one excursion from n-l+1 fails (what the paper's hyper-parameters show; tried on "
        "all of (H)).",
        "at most {} failing excursion",
        "1",
        _too_many,
        Check(EvidenceKind.EXHAUSTIVE, _ties_of("Failing excursions, one")),
        group="sharper",
    ),
    _claim(
        "Failing excursions, two moves",
        "each has two moves by L or J",
        "1096",
        "The walk of a failing excursion has at least two moves by L or J between plateau "
        "positions.",
        "at least {} moves by L or J per failing excursion",
        "2",
        _few_moves,
        Check(EvidenceKind.AUTOMATA, _few_moves_in_cells),
    ),
    _claim(
        "Failing excursions, no way out",
        "after J twice there is no way to n-l-1",
        "1096",
        "If J was used twice in a walk on the right plateau, n-l-1 cannot be reached in this "
        "excursion (a step of the proof, which overlooks that L may leave through n-l).",
        "no fall to n-l-1 after {} moves with J in the walk",
        "2",
        _fell_after_jumps,
    ),
    _claim(
        "Moves in a walk",
        "L and J move at most four times in a walk",
        "1098",
        "L and J together make at most four moves between plateau positions in one walk.",
        "at most {} moves with L and J in one walk",
        "4",
        _walk_moves,
        Check(EvidenceKind.AUTOMATA, _walk_moves_in_cells),
        depends=("Lemma 14", "After Lemma 14, moves"),
    ),
)
