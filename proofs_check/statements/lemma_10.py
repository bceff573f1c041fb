"""Lemma 10, few visits: the automata of the slope, all n at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from markov_lrsao.answers.profile import profile
from markov_lrsao.model.law import StepLaw
from proofs_check.algebra.lines import Derivation, Line
from proofs_check.claims.counterexample import Counterexample
from proofs_check.claims.scope import EVERYWHERE, PAPER_HYPER, Scope
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.runs.monitors import Counter, Monitor
from proofs_check.runs.run import Record, Run, SeenStep
from proofs_check.statements.building import BOUND, UNDER_H, size_at, slope_states, state_counters
from proofs_check.statements.statement import Check, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]


def _sites(law: StepLaw) -> range:
    """Return l+3 .. n-l-2."""
    return slope_states(law)[2:-1]


def _automata(workspace: Workspace) -> Iterable[Evidence]:
    """Bound 1 + D_s + D_{s+1} for every pair of neighbouring classes of sites."""
    slope = workspace.slope
    down = {name: a.most(lambda m: m.moved == -1) for name, a in slope.automata.items()}
    bound = workspace.number("Lemma 10", "visits")
    details, worst = [], 0
    open_ = [text for a in slope.automata.values() for text in a.undecided]
    for name, upper in slope.above:
        if name in ("l+1", "l+2"):
            continue
        a, b = down[name], down[upper]
        if a is None or b is None:
            open_.append(f"{name}, {upper}: no bound")
            continue
        details.append(f"s in class {name}, s+1 in class {upper}: at most 1 + {a} + {b} visits")
        worst = max(worst, 1 + a + b)
    proved = not open_ and details and worst <= bound
    yield Evidence(
        kind=EvidenceKind.AUTOMATA,
        verdict=Verdict.PROVED if proved else Verdict.UNKNOWN,
        summary=(
            f"at most {worst} visits: sign automata of the slope's rows, derived for all of "
            f"(H) in {slope.queries} solver queries"
        )
        if not open_
        else f"automata leave open: {open_[0]}",
        scope=EVERYWHERE,
        details=tuple(details),
    )
    sites = [down[x] for x in ("interior", "n-l-2", "n-l-1") if x in down]
    if open_ or any(d is None for d in sites):
        return
    for part, most in (
        ("from s+1", max(d for d in sites if d is not None)),
        ("from s-1", 1 + max(d for d in sites[:2] if d is not None)),
    ):
        limit = workspace.number("Lemma 10", part)
        yield Evidence(
            kind=EvidenceKind.AUTOMATA,
            part=part,
            verdict=Verdict.PROVED if most <= limit else Verdict.UNKNOWN,
            summary=f"at most {most} arrivals {part}",
            scope=EVERYWHERE,
        )


def _attained(workspace: Workspace) -> Iterable[Evidence]:
    """Read the largest number of visits with positive probability from the exact laws."""
    bound = workspace.number("Lemma 10", "visits")
    n, ell = 14, 2
    law = workspace.law(n, ell)
    laws = profile(law.landscape, law.algorithm, outside_h=True).visit_laws
    largest = {s: max(k for k, chance in enumerate(laws[s]) if chance > 0) for s in _sites(law)}
    worst = max(largest, key=lambda s: largest[s])
    chance = laws[worst][largest[worst]]
    bad = largest[worst] > bound
    yield Evidence(
        kind=EvidenceKind.QUANTITATIVE,
        verdict=Verdict.REFUTED if bad else Verdict.VERIFIED,
        summary=f"largest numbers of visits by state: {largest}; P({largest[worst]} visits to "
        f"{worst}) = {chance}",
        scope=Scope(f"n = {n}, l = {ell}", PAPER_HYPER),
        counterexample=Counterexample(
            statement="Lemma 10",
            expected=f"at most {bound} visits",
            observed=f"{largest[worst]} visits to {worst} with probability {chance}",
            values={"n": str(n), "l": str(ell)},
        )
        if bad
        else None,
    )


def _visits_at(workspace: Workspace, values: Mapping[str, str]) -> str | None:
    """Judge an instance by its exact laws of visits."""
    n, ell = size_at(values, "n", "l")
    law = workspace.law(n, ell)
    laws = profile(law.landscape, law.algorithm, outside_h=True).visit_laws
    most, state = max(
        (k, -s) for s in _sites(law) for k, chance in enumerate(laws[s]) if chance > 0
    )
    if most <= workspace.number("Lemma 10", "visits"):
        return None
    return f"{most} visits to {-state} with probability {laws[-state][most]}"


def _exhaustive(workspace: Workspace) -> Iterable[Evidence]:
    yield workspace.at_most_each(
        state_counters(
            ("Lemma 10", "", "visits to state {}"),
            workspace.number("Lemma 10", "visits"),
            _sites,
            lambda s, step: step.next_position == s != step.position,
        )
    )


def _arrivals(workspace: Workspace) -> list[Callable[[StepLaw], list[Counter]]]:
    """Return the counters of the proof's split: arrivals from above, and from below."""

    def arrives(shift: int) -> Callable[[int, SeenStep], bool]:
        return lambda s, step: step.next_position == s and step.position == s + shift

    return [
        state_counters(
            ("Lemma 10", part, f"arrivals at {{}} {part}"),
            workspace.number("Lemma 10", part),
            _sites,
            arrives(shift),
        )
        for part, shift in (("from s+1", 1), ("from s-1", -1))
    ]


def _directions(workspace: Workspace) -> Iterable[Evidence]:
    """Check the proof's split: at most two arrivals from above, three from below."""
    for counters in _arrivals(workspace):
        yield workspace.at_most_each(counters)


def _monitors(workspace: Workspace) -> list[Monitor]:
    bound = workspace.number("Lemma 10", "visits")

    def look(
        run: Run, record: Record, counts: tuple[tuple[int, int], ...]
    ) -> tuple[tuple[tuple[int, int], ...], str | None]:
        s = record.next_position
        if s == record.position or s not in _sites(run.law):
            return counts, None
        table = dict(counts)
        table[s] = table.get(s, 0) + 1
        seen = f"visit number {table[s]} to state {s}" if table[s] > bound else None
        return tuple(table.items()), seen

    return [Monitor("Lemma 10", "", f"at most {bound} visits to each of l+3..n-l-2", look, ())]


STATEMENTS = (
    Statement(
        id="Lemma 10",
        title="Few visits",
        where="533-547",
        claim="Every state s in l+3..n-l-2 is visited (arrived at) at most five times in a run.",
        terms={"visits": "5", "from s+1": "2", "from s-1": "3"},
        depends=("Lemma 2", "Lemma 8"),
        checks=(
            Check(EvidenceKind.AUTOMATA, _automata, parts=("", "from s+1", "from s-1")),
            Check(EvidenceKind.QUANTITATIVE, _attained),
            Check(EvidenceKind.EXHAUSTIVE, _exhaustive),
            Check(EvidenceKind.EXHAUSTIVE, _directions, parts=("from s+1", "from s-1")),
        ),
        monitors=_monitors,
        points={"": _visits_at},
        watched=lambda w, law: [c for counters in _arrivals(w) for c in counters(law)],
        derivations=(
            Derivation(
                "Lemma 10",
                "540-543",
                (*UNDER_H, f"q < {BOUND}", f"M < {BOUND}"),
                (
                    Line("", "update(q, -r, M)"),
                    Line("=", "(1 - alpha)*q - alpha*r + alpha*gamma*M"),
                    Line(
                        "<",
                        f"(1 - alpha*(1 - gamma) - alpha*(1 - alpha + alpha*gamma)/alpha)*{BOUND}",
                    ),
                    Line("=", "0"),
                ),
            ),
            Derivation(
                "Lemma 10 (H)",
                "544",
                UNDER_H,
                (
                    Line("", "r"),
                    Line(">", "(1 - alpha*(1 - gamma))*(n - l - 1)/(alpha*(1 - gamma))"),
                ),
            ),
        ),
    ),
)
