r"""Closed forms with the linear systems over Q(n, l) that they solve.

A symbolic chain is written like a chain with numbers, but over one denominator each for the
weights (U), the right sides (V) and the solution (D): x_i = N_i/D solves
x_i = R_i/V + sum_j (W_ij/U) x_j, an identity of polynomials in n, l and one harmonic number H. A
closed form is an average of x over the law of the start; the two ends of its harmonic number,
and the l for which it holds, stand with it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from markov_lrsao.exact.rationals import rational_text
from proofs_check.automata.closed import Form, LeftForms, RightForms
from proofs_check.automata.elimination import System
from proofs_check.automata.slope import BottomForm
from proofs_check.certificates.values import ChainFiles

__all__ = ["write_forms"]

Add = Callable[[str, Mapping[str, Any]], str]

_POINTS = ((9, 2), (12, 2), (11, 3), (13, 4), (15, 5), (16, 5))
_H_L = ([0, 0, 0], [0, 1, 0])
_H_LEFT = ([1, -1, -1], [1, 0, 0])


def _terms(polynomial: Any) -> list[list[Any]]:
    """Return c n^i l^j H^k as [i, j, k, "c"], highest powers first."""
    return [[*powers, rational_text(c)] for powers, c in polynomial.terms()]


def _common(elements: Iterable[Any], one: Any, ell: int) -> Any:
    """Return a common denominator that is positive at n = 2l + 6, l = `ell`."""
    found = one.numer
    for element in elements:
        found = found.lcm(element.denom)
    at = sum(c * (2 * ell + 6) ** i * ell**j for (i, j, _), c in found.terms())
    return found if at > 0 else -found


def _over(element: Any, below: Any) -> list[list[Any]]:
    """Return element * below, a polynomial."""
    return _terms(element.numer * below.exquo(element.denom))


def _where(ell: int | None, smallest: int) -> dict[str, int]:
    return {"at_least": smallest} if ell is None else {"equals": ell}


def system_document(system: System, names: Mapping[Hashable, str]) -> dict[str, Any]:
    """Return a solved system; `names` says what its columns are called."""
    index = {node: i for i, node in enumerate(system.rows)}
    weights = [w for row in system.rows.values() for w in row.values()]
    one = weights[0] ** 0
    unit = _common(weights, one, system.smallest)
    columns = []
    for key, name in names.items():
        right = [row.get(key, 0 * one) for row in system.outputs.values()]
        values = [system.values[node].get(key, 0 * one) for node in system.rows]
        below, denominator = (_common(x, one, system.smallest) for x in (right, values))
        columns.append(
            {
                "name": name,
                "below": _terms(below),
                "right": [_over(x, below) for x in right],
                "denominator": _terms(denominator),
                "values": [_over(x, denominator) for x in values],
            }
        )
    return {
        "kind": "symbolic chain",
        "name": system.name,
        "l": _where(system.ell, system.smallest),
        "states": [str(node) for node in index],
        "unit": _terms(unit),
        "rows": [
            [[index[j], _over(w, unit)] for j, w in row.items()] for row in system.rows.values()
        ],
        "columns": columns,
    }


class _Writer:
    """Writes the closed forms of one artefact."""

    def __init__(self, slug: str, add: Add, chains: ChainFiles) -> None:
        self.slug, self.add, self.chains = slug, add, chains
        self.files: dict[str, None] = {}

    def system(self, system: System, names: Mapping[Hashable, str]) -> str:
        """Write a system; return its path."""
        suffix = "" if system.ell is None else f"-l-{system.ell}"
        path = self.add(f"symbolic/{self.slug}{suffix}.json", system_document(system, names))
        self.files[path] = None
        return path

    def form(
        self,
        quantity: str,
        value: Any,
        where: dict[str, int],
        harmonic: tuple[list[int], list[int]],
        solves: tuple[str, Mapping[int, Any]],
    ) -> None:
        """Write a closed form: `solves` is a system's file and the law of the start in it."""
        path, law = solves
        below = _common(law.values(), value**0, where.get("equals", where.get("at_least", 2)))
        points = []
        for n, ell in _POINTS:
            if ell == where.get("equals", ell) and ell >= where.get("at_least", 2):
                chain = self.chains.of(quantity, n, ell)
                if not isinstance(chain, str):
                    points.append(
                        {"n": n, "l": ell, "value": chain[1][quantity], "chain": chain[0]}
                    )
                    self.files[chain[0]] = None
        document = {
            "kind": "closed form",
            "quantity": quantity,
            "l": where,
            "harmonic_from": harmonic[0],
            "harmonic_to": harmonic[1],
            "top": _terms(value.numer),
            "bottom": _terms(value.denom),
            "symbolic": path,
            "weights": [[state, _over(w, below)] for state, w in law.items()],
            "below": _terms(below),
            "points": points,
        }
        suffix = f"-l-{where['equals']}" if "equals" in where else ""
        name = "".join(c if c.isalnum() else "-" for c in quantity.lower()).strip("-")
        self.files[self.add(f"closed/{self.slug}-{name}{suffix}.json", document)] = None


def write_forms(subject: Any, slug: str, add: Add, chains: ChainFiles) -> list[str]:
    """Write the closed forms that an artefact derived; return the files, none if there are none."""
    writer = _Writer(slug, add, chains)
    if isinstance(subject, BottomForm):
        path = writer.system(subject.system, {subject.quantity: subject.quantity})
        solves = (path, {0: subject.value**0})
        writer.form(subject.quantity, subject.value, _where(None, 2), _H_L, solves)
    if isinstance(subject, LeftForms):
        system = subject.system
        start = next(iter(system.rows))
        called: dict[Hashable, str] = {"mean": "E[T1]"}
        called |= {key: f"row 0 in {''.join(key)}" for key in subject.law}
        path = writer.system(system, called)
        value = system.values[start]["mean"]
        writer.form("E[T1]", value, _where(None, 2), _H_LEFT, (path, {0: value**0}))
    if isinstance(subject, RightForms):
        names: dict[Hashable, str] = {0: "E[T3]", 1: "E[T_3^1]"}
        for number, (system, law) in enumerate(zip(subject.systems, subject.starts, strict=True)):
            path = writer.system(system, names)
            index = {node: i for i, node in enumerate(system.rows)}
            for quantity in (subject.whole, subject.first):
                form: Form = quantity.forms[number]
                where = _where(form.ell, form.smallest)
                starts = {index[node]: w for node, w in law.items()}
                writer.form(quantity.name, form.value, where, _H_L, (path, starts))
    return list(writer.files)
