"""Linear systems of chains whose probabilities are rational functions, solved by elimination.

The field may be any: exact rationals, or Q(n, l, H). Every solution is put back into its
equations before it is returned.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from markov_lrsao.errors import VerificationError
from markov_lrsao.model.law import DOWN
from proofs_check.automata.abstraction import Automaton, Cells

__all__ = ["System", "eliminate", "first_exits", "solved_system"]

Row = dict[Hashable, Any]


@dataclass(frozen=True, eq=False)
class System:
    """A linear system over a field, with its solution; see `eliminate`.

    Attributes
    ----------
    ell : the l for which it holds, if it is one only
    smallest : it holds for all l from here on, otherwise
    """

    name: str
    rows: Mapping[Hashable, Mapping[Hashable, Any]]
    outputs: Mapping[Hashable, Mapping[Hashable, Any]]
    values: Mapping[Hashable, Mapping[Hashable, Any]]
    ell: int | None = None
    smallest: int = 2


def solved_system(
    name: str,
    rows: Mapping[Hashable, Mapping[Hashable, Any]],
    outputs: Mapping[Hashable, Mapping[Hashable, Any]],
    zero: Any,
    *,
    ell: int | None = None,
    smallest: int = 2,
) -> System:
    """Solve a system and keep it with its solution."""
    values = eliminate(rows, outputs, zero)
    return System(name, rows, outputs, values, ell, smallest if ell is None else ell)


def eliminate(
    rows: Mapping[Hashable, Mapping[Hashable, Any]],
    outputs: Mapping[Hashable, Mapping[Hashable, Any]],
    zero: Any,
) -> dict[Hashable, Row]:
    """Solve x_i = outputs_i + sum_j rows_ij x_j, one strongly connected component at a time.

    Every x_i and every output is a vector, given by its entries that are not 0.

    Raises
    ------
    VerificationError
        The solution does not satisfy the equations, or a component is never left.
    """
    import networkx as nx

    graph = nx.DiGraph()
    graph.add_nodes_from(rows)
    graph.add_edges_from((i, j) for i, row in rows.items() for j in row)
    parts = list(nx.strongly_connected_components(graph))
    values: dict[Hashable, Row] = {}
    for number in reversed(list(nx.topological_sort(nx.condensation(graph, parts)))):
        inner: dict[Hashable, Row] = {}
        right: dict[Hashable, Row] = {}
        for i in parts[number]:
            inner[i], right[i] = {}, dict(outputs[i])
            for j, weight in rows[i].items():
                if j in values:
                    _add(right[i], values[j], weight, zero)
                else:
                    inner[i][j] = weight
        _solve_component(inner, right, zero)
        values.update(right)
    for i, row in rows.items():
        again = dict(outputs[i])
        for j, weight in row.items():
            _add(again, values[j], weight, zero)
        if any(again.get(k, zero) != values[i].get(k, zero) for k in {*again, *values[i]}):
            raise VerificationError("a symbolic solution does not satisfy its equations")
    return values


def _solve_component(inner: dict[Hashable, Row], right: dict[Hashable, Row], zero: Any) -> None:
    """Eliminate all unknowns of a component; `right` becomes the solution."""
    for i in inner:
        loop = inner[i].pop(i, zero)
        if loop != zero:
            if loop == 1:
                raise VerificationError("a part of the chain is never left")
            factor = 1 / (1 - loop)
            inner[i] = {j: factor * w for j, w in inner[i].items()}
            right[i] = {key: factor * w for key, w in right[i].items()}
        for j in inner:
            if j != i and i in inner[j]:
                weight = inner[j].pop(i)
                _add(inner[j], inner[i], weight, zero)
                _add(right[j], right[i], weight, zero)


def _add(into: Row, what: Mapping[Hashable, Any], weight: Any, zero: Any) -> None:
    for key, value in what.items():
        into[key] = into.get(key, zero) + weight * value


def first_exits(automaton: Automaton, position: Any, n: Any, zero: Any) -> dict[Cells, Any]:
    """Return the law of a row's signs when its position is first left upwards.

    The row begins fresh. A fall below comes back with the same signs.

    Raises
    ------
    VerificationError
        The automaton leaves something open.
    """
    if not automaton.decided:
        raise VerificationError(f"the automaton of {automaton.name} is not decided")
    rows: dict[Hashable, Row] = {}
    outputs: dict[Hashable, Row] = {}
    for cells in automaton.states:
        here = [m for m in automaton.moves if m.source == cells]
        ties = len({m.action for m in here})
        rows[cells], outputs[cells] = {}, {}
        for move in here:
            chance = (position if move.direction == DOWN else n - position) / (n * ties)
            into = outputs[cells] if move.moved == 1 else rows[cells]
            into[move.target] = into.get(move.target, zero) + chance
    return eliminate(rows, outputs, zero)[automaton.states[0]]  # type: ignore[return-value]
