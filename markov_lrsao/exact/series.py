"""Truncated power series and small linear systems over them.

Generating functions of runtimes are evaluated in one of two ways. For moments at
z = 1 + e, where the coefficient of e^k is E[T(T-1)..(T-k+1)]/k!; for distributions at many
complex z at once. Both are *elements*: tuples (c_0, .., c_K) of coefficients, each an
exact rational, a float, or an array (one value per site, or per z). Where floats must not
lose the central moments, elements are measures instead (see `markov_lrsao.exact.measures`).

The systems are v_i = sum_j w_ij v_j + outputs, with w_ij = z P_ij. The factor 1 - w_ii that
elimination divides by has the constant term 1 - P_ii, which is computed as the sum of the
other transitions out of i (GTH): all operations then add, multiply or divide non-negative
numbers, and floats keep their relative accuracy.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from markov_lrsao.errors import NotAbsorbingError
from markov_lrsao.exact.balls import Positive
from markov_lrsao.exact.disks import Disk
from markov_lrsao.exact.measures import Measure

__all__ = [
    "Element",
    "Label",
    "add",
    "divide_by_one_minus",
    "inverse",
    "multiply",
    "pick",
    "scale",
    "solve",
]

Element = tuple[Any, ...]
"""Coefficients of a truncated power series."""
Label = TypeVar("Label", bound=Hashable)


def add(a: Element, b: Element) -> Element:
    """Return a + b."""
    if isinstance(a, Measure):
        return a.mixed(Measure(b))
    return tuple(x + y for x, y in zip(a, b, strict=True))


def scale(a: Element, factor: Any) -> Element:
    """Return a number times a."""
    if isinstance(a, Measure):
        return a.scaled(factor)
    return tuple(x * factor for x in a)


def multiply(a: Element, b: Element) -> Element:
    """Return a * b, truncated."""
    if isinstance(a, Measure):
        return a.followed_by(Measure(b))
    if len(a) == 1:
        return (a[0] * b[0],)
    if len(a) == 2:
        return (a[0] * b[0], a[0] * b[1] + a[1] * b[0])
    return tuple(
        sum((a[i] * b[k - i] for i in range(1, k + 1)), a[0] * b[k]) for k in range(len(a))
    )


def pick(a: Element, index: Any) -> Element:
    """Return part of an element of arrays."""
    return a.picked(index) if isinstance(a, Measure) else tuple(c[index] for c in a)


def inverse(a: Element) -> Element:
    """Return 1 / a, truncated; with a_0 > 0 >= a_k it needs no subtraction."""
    head = 1 / a[0]
    result = [head]
    for k in range(1, len(a)):
        result.append(
            head * sum(((-a[i]) * result[k - i] for i in range(2, k + 1)), (-a[1]) * result[k - 1])
        )
    return tuple(result)


def divide_by_one_minus(stay: Element | None, leaving: Any, length: int, at_one: bool) -> Element:
    """Return 1 / (1 - stay) as a series of the given length.

    Parameters
    ----------
    leaving : the sum of the constant terms of all other transitions of the row, and of what it
        lacks to 1: it equals 1 - stay_0 and is used instead of that difference
    at_one : whether that is so: about z = 1 rows lack nothing, elsewhere it must be known
    """
    if isinstance(stay, Measure):
        return stay.repeated(leaving)
    if isinstance(leaving, Positive):
        return Measure.certain(0, length - 1).scaled(1 / leaving)
    if at_one and not (stay is None and isinstance(leaving, Disk)):
        rest = [-c for c in stay[1:]] if stay is not None else [0 * leaving] * (length - 1)
        return inverse((leaving, *rest))
    return (1 / (1 - stay[0]),) if stay is not None else (1 + 0 * leaving,)


def _vanishes(number: Any) -> bool:
    """Whether a number, or one of an array, is 0."""
    if isinstance(number, Positive | Disk):
        return number.zero
    return bool((number == 0).any() if hasattr(number, "any") else number == 0)


def _leading_out(
    rows: Mapping[int, Mapping[int, Element]], outputs: Mapping[int, Mapping[Label, Element]]
) -> set[int]:
    """Return the rows from which an output can be reached."""
    before: dict[int, list[int]] = {}
    for i, row in rows.items():
        for j, w in row.items():
            if not _vanishes(w[0]):
                before.setdefault(j, []).append(i)
    stack = [i for i, out in outputs.items() if not all(_vanishes(w[0]) for w in out.values())]
    found = set(stack)
    while stack:
        for i in before.get(stack.pop(), ()):
            if i not in found:
                found.add(i)
                stack.append(i)
    return found


def _add_multiple(
    total: dict[Label, Element], factor: Element, values: Mapping[Label, Element]
) -> None:
    """Add `factor` times `values` to `total`."""
    for label, value in values.items():
        term = multiply(factor, value)
        total[label] = add(total[label], term) if label in total else term


def solve(
    rows: Mapping[int, Mapping[int, Element]],
    outputs: Mapping[int, Mapping[Label, Element]],
    components: Iterable[Sequence[int]],
    *,
    length: int,
    at_one: bool,
    lossy: bool = False,
    missing: Mapping[int, Any] | None = None,
) -> dict[int, dict[Label, Element]]:
    """Solve v_i = sum_j rows[i][j] v_j + outputs[i], each v_i a mapping label -> element.

    Parameters
    ----------
    rows, outputs : all weights of a row (at z = 1) are the probabilities of one state
    components : strongly connected components of `rows`, successors first
    length : number of coefficients of the elements
    lossy : allow rows from which no output can be reached; what enters them is lost
    missing : 1 less the sum of all weights of a row, where it is not 0; needed for disks

    Raises
    ------
    NotAbsorbingError
        Some rows lead to no output, and `lossy` does not allow that.
    """
    values: dict[int, dict[Label, Element]] = {}
    leading = _leading_out(rows, outputs) if lossy else None
    for members in components:
        local = list(members)
        if leading is not None and local[0] not in leading:
            values.update((i, {}) for i in local)
            continue
        inside = set(local)
        weights: dict[int, dict[int, Element]] = {
            i: {j: w for j, w in rows[i].items() if j in inside} for i in local
        }
        right: dict[int, dict[Label, Element]] = {}
        leak: dict[int, Any] = {}  # constant term of what leaves the component
        for i in local:
            total = dict(outputs[i])
            leak[i] = sum((w[0] for w in outputs[i].values()), missing[i] if missing else 0)
            for j, w in rows[i].items():
                if j not in inside:
                    leak[i] = leak[i] + w[0]
                    _add_multiple(total, w, values[j])
            right[i] = total
        factor: dict[int, Element] = {}
        for position, i in enumerate(local):
            row = weights[i]
            stay = row.pop(i) if i in row else None
            later = local[position + 1 :]
            leaving = sum((w[0] for w in row.values()), leak[i])
            if at_one and _vanishes(leaving):
                raise NotAbsorbingError(
                    "the walk can enter a set of states that it never leaves: E[T] is infinite"
                )
            factor[i] = divide_by_one_minus(stay, leaving, length, at_one or missing is not None)
            for k in later:
                if i not in weights[k]:
                    continue
                w = weights[k].pop(i)
                share = multiply(w, factor[i])
                _add_multiple(weights[k], share, row)
                _add_multiple(right[k], share, right[i])
                leak[k] = leak[k] + share[0] * leak[i]
        for i in reversed(local):
            total = right[i]
            for j, w in weights[i].items():
                _add_multiple(total, w, values[j])
            values[i] = {label: multiply(factor[i], v) for label, v in total.items()}
    return values
