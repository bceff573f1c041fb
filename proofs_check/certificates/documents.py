"""JSON forms of what verdicts rest on; `proofs_check.checker` recomputes every number in them.

Numbers that the checker derives anew (the largest number of visits, of failing excursions) stand
in the documents as this package found them. Cells of a row are written as one word, "+0-".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from markov_lrsao.exact.rationals import rational_text
from proofs_check.algebra.points import values_at
from proofs_check.automata.abstraction import Automaton, SlopeAutomata
from proofs_check.automata.plateau import PlateauGraph
from proofs_check.automata.uniform import UniformBounds
from proofs_check.claims.counterexample import Counterexample
from proofs_check.claims.expressions import to_sympy
from proofs_check.claims.verdict import Erratum
from proofs_check.logic.journal import Journal
from proofs_check.runs.run import replay

__all__ = [
    "automata_document",
    "document_of",
    "graph_document",
    "point_document",
    "potential_documents",
    "run_document",
]

_RATIONAL = re.compile(r"-?[0-9]+(/[0-9]+)?")
_EXCLUDED = re.compile(r"(?P<row>.+): (?P<cells>[-0+]+), step (?P<step>[0-9]+) -> (?P<cell>[-0+])")


def document_of(journal: Journal, actions: Sequence[str]) -> dict[str, Any] | None:
    """Return the document of what a journal derived; None if there is nothing to show."""
    if isinstance(journal.subject, SlopeAutomata):
        return automata_document(journal.subject, journal, actions)
    if isinstance(journal.subject, PlateauGraph):
        return graph_document(journal.subject, actions)
    return None


def automata_document(
    slope: SlopeAutomata, journal: Journal, actions: Sequence[str]
) -> dict[str, Any]:
    """Return the automata of the slope, with the queries that exclude what is not in them."""
    excluded: dict[str, list[list[Any]]] = {name: [] for name in slope.automata}
    for number, query in enumerate(journal.queries):
        found = _EXCLUDED.fullmatch(query.purpose)
        if found is not None and query.status == "unsat":
            excluded[found["row"]].append(
                [found["cells"], int(found["step"]), found["cell"], number]
            )
    down = {name: a.most(lambda m: m.moved == -1) for name, a in slope.automata.items()}
    visits = []
    for name, upper in slope.above:
        a, b = down[name], down[upper]
        most = None if a is None or b is None else 1 + a + b
        visits.append({"row": name, "above": upper, "most": most})
    return {
        "kind": "automata",
        "name": journal.name,
        "actions": list(actions),
        "rows": [
            {
                **_automaton(automaton),
                "excluded": excluded[name],
                "moves_down": down[name],
            }
            for name, automaton in slope.automata.items()
        ],
        "above": [list(pair) for pair in slope.above],
        "visits": visits,
    }


def _automaton(automaton: Automaton) -> dict[str, Any]:
    return {
        "name": automaton.name,
        "states": ["".join(cells) for cells in automaton.states],
        "steps": [
            {"action": action, "direction": direction, "moved": moved, "case": words}
            for action, direction, moved, words in automaton.steps
        ],
        "moves": [
            ["".join(m.source), m.action, m.direction, m.moved, "".join(m.target)]
            for m in automaton.moves
        ],
        "decided": automaton.decided,
    }


def graph_document(graph: PlateauGraph, actions: Sequence[str]) -> dict[str, Any]:
    """Return the graph of phase 3 in cells, and what was counted on it."""

    def place(of: tuple[str, tuple[str, ...]]) -> list[str]:
        return [of[0], "".join(of[1])]

    return {
        "kind": "graph",
        "name": "graph of phase 3 in cells",
        "actions": list(actions),
        "starts": [place(start) for start in graph.starts],
        "legs": [
            [*place(leg.source), *place(leg.target), leg.action, leg.direction, leg.accepted]
            for leg in graph.legs
        ],
        "counts": {
            "choices of L": graph.most(lambda leg: leg.action == "L"),
            "moves of L inside the plateau": graph.most(
                lambda leg: leg.action == "L" and leg.inside
            ),
            "failing excursions": graph.failing_excursions(),
        },
    }


def potential_documents(bounds: UniformBounds) -> list[dict[str, Any]]:
    """Return the four potentials of phase 3: A and B of every place, and the waits at n-l-1."""
    return [
        {
            "kind": "potential",
            "time": bound.time.name,
            "sense": bound.sense,
            "until_right": bound.time.until_right,
            "potential": [
                [p, "".join(cells), rational_text(a), rational_text(b)]
                for (p, cells), (a, b) in bound.potential.items()
            ],
            "waits": {"".join(cells): rational_text(w) for cells, w in bound.waits.items()},
        }
        for bound in bounds.all
    ]


def point_document(erratum: Erratum) -> dict[str, Any] | None:
    """Return a point at which a displayed line fails; None if it takes more than fractions.

    Orders (O, o), logarithms and sums, and points that are not rational, are left out.
    """
    left, relation, right = erratum.step
    texts = " ".join((left, right, *erratum.assume))
    called = set(re.findall(r"([A-Za-z]+)\(", texts))
    if relation.endswith(("O", "o")) or not called <= {"H", "update"} or "->" in texts:
        return None
    if not erratum.point or not all(_RATIONAL.fullmatch(v) for v in erratum.point.values()):
        return None
    values = [values_at(to_sympy(side), erratum.point) for side in (left, right)]
    if not all(_RATIONAL.fullmatch(value) for value in values):
        return None
    return {
        "kind": "point",
        "line": erratum.line,
        "assume": list(erratum.assume),
        "left": left,
        "relation": relation,
        "right": right,
        "point": dict(erratum.point),
        "values": values,
    }


def run_document(found: Counterexample) -> dict[str, Any]:
    """Return a counterexample's run with what each step does: accepted, position, new entry."""
    _, records = replay(found)
    return {
        "kind": "run",
        **found.to_dict(),
        "trace": [
            {
                "accepted": record.accepted,
                "position": record.next_position,
                "entry": rational_text(record.new),
            }
            for record in records
        ],
    }
