"""Solvers of h = b + P h on the states of a search, one for every class of chains.

    birth-death         one mode, steps of one: from 0 upwards h(x) = c(x) + a(x) h(x+1)
    block-tridiagonal   several modes, steps of one: states eliminated position by position
    back-substitution   the target never decreases: level by level, from the best downwards
    dense               anything else: one system of all states

Rows are read from the law; what stays in place never enters where there is one mode, since
leaving is added up from what is accepted. A law that is cut off (see `SearchLaw`) bounds
what is left out; only back-substitution takes such rows, and widens its balls accordingly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from typing import Any, Literal, TypeAlias

from flint import fmpq, fmpz

from markov_lrsao.errors import SolverError
from markov_lrsao.exact.fields import ends
from markov_lrsao.memoryless.reaching import State, Task

__all__ = ["METHODS", "Name", "class_of", "solve"]

Name = Literal["birth-death", "block-tridiagonal", "back-substitution", "dense"]
Number: TypeAlias = Any
Vector: TypeAlias = dict[State, Number]
_ZERO = fmpq(0)


def class_of(task: Task) -> Name:
    """Return the method for the class to which a chain belongs."""
    steps_of_one = task.law.steps_of_one
    if steps_of_one and task.law.modes == 1:
        return "birth-death"
    if task.law.search.elitist:
        return "back-substitution"
    return "block-tridiagonal" if steps_of_one else "dense"


def solve(task: Task, method: Name, right: Mapping[State, Number]) -> Vector:
    """Return h with h = right + P h inside the task's states, 0 elsewhere.

    Raises
    ------
    SolverError
        The precision of balls does not suffice.
    """
    try:
        return METHODS[method](task, right)
    except ZeroDivisionError:
        raise SolverError(
            f"{method}: {task.field.bits} bits do not tell a pivot from 0; more are needed"
        ) from None


def _birth_death(task: Task, right: Mapping[State, Number]) -> Vector:
    """With h(x-1) = c + a h(x) below: (up + down e) h(x) = b + down c + up h(x+1), e = 1 - a."""
    field, law = task.field, task.law
    zero, one = field.number(_ZERO), field.number(fmpq(1))
    ratio, constant, escape = zero, zero, one  # of the position below: none, or outside
    forms: dict[int, tuple[Number, Number]] = {}
    for x in range(law.n + 1):
        if (x, 0) not in task.inside:
            ratio, constant, escape = zero, zero, one
            continue
        moves = dict(law.row(0, x, field).moves)
        down, up = moves.get(x - 1, zero), moves.get(x + 1, zero)
        leave = up + down * escape
        constant = (right[x, 0] + down * constant) / leave
        escape = down * escape / leave
        ratio = up / leave
        forms[x] = constant, ratio
    found: Vector = {}
    above = zero
    for x in range(law.n, -1, -1):
        form = forms.get(x)
        above = zero if form is None else form[0] + form[1] * above
        if form is not None:
            found[x, 0] = above
    return found


def _block_tridiagonal(task: Task, right: Mapping[State, Number]) -> Vector:
    """Eliminate states from the lowest position upwards; those of one position are a block.

    Eliminating a state hands its steps on to those before it, as if they went where it goes. Only
    sums, products and quotients of non-negative numbers occur (Grassmann, Taksar and Heyman).
    """
    field, law = task.field, task.law
    rows: dict[State, dict[State | None, Number]] = {}
    into: dict[State, set[State]] = {state: set() for state in task.inside}
    order = sorted(task.inside)
    for state in order:
        row: dict[State | None, Number] = {}
        x, g = state
        for to, y, w in law.transitions(g, x, field):
            after = (y, to) if (y, to) in task.inside else None
            if after != state:
                row[after] = row[after] + w if after in row else w
                if after is not None:
                    into[after].add(state)
        rows[state] = row
    value = dict(right)
    leave: Vector = {}
    for state in order:
        row = rows[state]
        leave[state] = total = sum(row.values(), field.number(_ZERO))
        for other in into[state]:
            factor = rows[other].pop(state) / total
            value[other] = value[other] + factor * value[state]
            line = rows[other]
            for after, w in row.items():
                if after != other:
                    part = factor * w
                    line[after] = line[after] + part if after in line else part
                    if after is not None:
                        into[after].add(other)
        for after in row:
            if after is not None:
                into[after].discard(state)
    found: Vector = {}
    for state in reversed(order):
        total = value[state]
        for after, w in rows[state].items():
            if after is not None:
                total = total + w * found[after]
        found[state] = total / leave[state]
    return found


def _back_substitution(task: Task, right: Mapping[State, Number]) -> Vector:
    law, field = task.law, task.field
    single = law.modes == 1 and len({law.values[x] for x, _ in task.inside}) == len(task.inside)
    if field.exact and single:
        return _in_integers(task, right)
    found: Vector = {}
    most = _ZERO  # an upper bound of everything found so far
    by_value = sorted(task.inside, key=lambda state: law.values[state[0]], reverse=True)
    for _, level in groupby(by_value, key=lambda state: law.values[state[0]]):
        states = sorted(level)
        if len(states) == 1 and law.modes == 1:
            solved = [_single(task, states[0], right, found, most)]
        else:
            solved = _level(task, states, right, found, most)
        found.update(zip(states, solved, strict=True))
        if not field.exact:
            most = max(most, *(ends(h)[1] for h in solved))
    return found


def _in_integers(task: Task, right: Mapping[State, Number]) -> Vector:
    """Levels of one state in rationals, with one denominator for all that has been found.

    With integers c and w over the row's common denominator, h(x) = (c + sum of w h(y)) / leave;
    what is known stands over D, and with h(x) over D * leave. Fractions are reduced at the end.
    """
    law = task.law
    common = _common(value.q for value in right.values())
    known: dict[int, fmpz] = {}
    scale = fmpz(1)
    for x in sorted((x for x, _ in task.inside), key=lambda x: law.values[x], reverse=True):
        moves = law.row(0, x, task.field).moves
        below = _common(w.q for _, w in moves)
        weights = [(y, w.p * (below // w.q)) for y, w in moves]
        leave = sum((w for _, w in weights), fmpz(0))
        value = right[x, 0]
        total = value.p * (common // value.q) * below * scale
        for y, w in weights:
            if y in known:
                total += w * known[y]
        for y in known:
            known[y] *= leave
        known[x], scale = total, scale * leave
    return {(x, 0): fmpq(number, scale * common) for x, number in known.items()}


def _common(denominators: Iterable[fmpz]) -> fmpz:
    """Return the least common multiple."""
    found = fmpz(1)
    for q in denominators:
        if found % q != 0:
            found = found.lcm(q)
    return found


def _single(
    task: Task, state: State, right: Mapping[State, Number], found: Vector, most: fmpq
) -> Number:
    """A level of one state: leave h = b + sum of what follows."""
    field = task.field
    row = task.law.row(0, state[0], field)
    leave, total = field.number(_ZERO), right[state]
    for y, w in row.moves:
        leave += w
        after = found.get((y, 0))
        if after is not None:
            total = total + w * after
    if row.missing:
        leave += field.up_to(row.missing)
        total = total + field.up_to(row.missing * most)
    return total / leave


def _level(
    task: Task, states: list[State], right: Mapping[State, Number], found: Vector, most: fmpq
) -> list[Number]:
    """States of equal target: leaving them is on the diagonal, moves among them beside it."""
    law, field = task.law, task.field
    index = {state: i for i, state in enumerate(states)}
    zero = field.number(_ZERO)
    matrix = [[zero] * len(states) for _ in states]
    side = [[right[state]] for state in states]
    for i, (x, g) in enumerate(states):
        for to, y, w in law.transitions(g, x, field):
            j = index.get((y, to))
            if j == i:
                continue
            matrix[i][i] += w
            if j is not None:
                matrix[i][j] -= w
            elif (y, to) in found:
                side[i][0] += w * found[y, to]
        missing = law.row(g, x, field).missing
        if missing:
            # Moves that are not listed: here, elsewhere, or counted as staying in another mode.
            wide = field.up_to(2 * missing) - field.number(missing)
            matrix[i] = [entry + wide for entry in matrix[i]]
            side[i][0] += field.up_to(missing * most)
    return [line[0] for line in field.solve(matrix, side)]


def _dense(task: Task, right: Mapping[State, Number]) -> Vector:
    states = sorted(task.inside)
    solved = _level(task, states, right, {}, _ZERO)
    return dict(zip(states, solved, strict=True))


METHODS: dict[Name, Callable[[Task, Mapping[State, Number]], Vector]] = {
    "birth-death": _birth_death,
    "block-tridiagonal": _block_tridiagonal,
    "back-substitution": _back_substitution,
    "dense": _dense,
}
