"""The door to the SMT solvers: formulas in, proved / refuted / unknown out.

z3 decides; cvc5, where it is installed, is asked the same question through SMT-LIB text and
its answer is reported beside z3's. A disagreement is an error. Every query is noted in the open
journal (`proofs_check.logic.journal`), so that it can be put to other solvers later. All unknowns
are reals (n, l and positions too: what holds for all reals in a range holds for the integers in
it), so queries are in QF_NRA, for which z3 has a decision procedure. Time limits turn into
"unknown", never into a verdict.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from flint import fmpq

from markov_lrsao.errors import ParameterError, SolverError
from markov_lrsao.interrupts import interruptible
from proofs_check.claims.expressions import COMPARISONS, brief, evaluate, names_of
from proofs_check.logic.journal import Journal, Query, closure, note, smt_text, texts_wanted

if TYPE_CHECKING:
    import sympy

__all__ = [
    "Answer",
    "Prover",
    "check",
    "from_sympy",
    "noted_check",
    "second_opinion_available",
    "second_opinions",
    "summary_of",
]


@dataclass(frozen=True)
class Answer:
    """The outcome of one query: does the goal follow from the assumptions?"""

    status: Literal["proved", "refuted", "unknown"]
    model: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    seconds: float = 0.0
    second: Literal["agrees", "unknown", "not asked"] = "not asked"


def second_opinion_available() -> bool:
    """Return whether cvc5 is installed."""
    from importlib.util import find_spec

    return find_spec("cvc5") is not None


def check(solver: Any) -> Any:
    """Return the answer of a z3 solver; Ctrl-C is raised, never taken for "unknown".

    Left to itself z3 catches the signal, answers "unknown" and tells nobody.
    """
    solver.set("ctrl_c", False)
    return interruptible(solver.check, solver.interrupt)


def noted_check(
    solver: Any, *, logic: str = "QF_NRA", purpose: str = "", seconds: float | None = None
) -> tuple[Any, Query]:
    """Return the answer of a z3 solver and the query, which is noted in the open journal.

    With `seconds` cvc5 is asked the same, too, if z3 found no model.
    """
    import z3

    outcome = check(solver)
    query = Query(status=str(outcome), logic=logic, purpose=purpose)  # type: ignore[arg-type]
    asked = seconds is not None and outcome == z3.unsat
    if texts_wanted() or asked:
        query.text = smt_text(solver.to_smt2())
    if outcome == z3.sat and texts_wanted():
        query.witness = _model(solver.model())
    if asked:
        query.second = _ask_cvc5(query, seconds or 0.0)
        query.text = query.text if texts_wanted() else ""
    note(query)
    return outcome, query


def from_sympy(expression: sympy.Expr, names: Mapping[str, Any]) -> Any:
    """Turn a rational function into a z3 term.

    Raises
    ------
    ParameterError
        The expression is not a rational function of the names.
    """
    import sympy
    import z3

    if isinstance(expression, sympy.Symbol):
        return names[expression.name]
    if expression.is_Rational:
        return z3.RealVal(f"{expression.p}/{expression.q}")
    if isinstance(expression, sympy.Add):
        return z3.Sum([from_sympy(a, names) for a in expression.args])
    if isinstance(expression, sympy.Mul):
        return z3.Product([from_sympy(a, names) for a in expression.args])
    if isinstance(expression, sympy.Pow) and expression.args[1].is_Integer:
        base, power = from_sympy(expression.args[0], names), int(expression.args[1])
        product = z3.Product([base] * abs(power))
        return product if power > 0 else 1 / product
    raise ParameterError(f"{brief(str(expression))} is not a rational function")


class Prover:
    """Builds formulas over named reals and asks the solvers.

    >>> prover = Prover()
    >>> prover.prove(["0 < x", "x < y"], "x*x < x*y").status
    'proved'
    >>> prover.prove(["0 < x"], "x*x > x").status
    'refuted'
    """

    def __init__(
        self, *, seconds: float = 10.0, second: bool = False, second_on_search: bool = False
    ) -> None:
        self.seconds = seconds
        self.second_on_search = second_on_search
        self.second = second and second_opinion_available()
        self.names: dict[str, Any] = {}
        self.divisors: dict[int, Any] = {}
        self.queries = 0

    def name(self, name: str) -> Any:
        """Return the z3 constant of a name."""
        import z3

        if name not in self.names:
            self.names[name] = z3.Real(name)
        return self.names[name]

    def term(self, text: str, extra: Mapping[str, Any] | None = None) -> Any:
        """Read an arithmetic formula."""
        import z3

        names = {n: self.name(n) for n in names_of(text) if not (extra and n in extra)}
        return evaluate(
            text, {**names, **(extra or {})}, {"number": z3.RealVal, "divide": self._divide}
        )

    def _divide(self, a: Any, b: Any) -> Any:
        """Return a/b, and remember b: z3 gives a/0 any value it likes."""
        import z3

        value = z3.simplify(b)
        if z3.is_rational_value(value):
            if value.numerator_as_long() == 0:
                raise ZeroDivisionError
        else:
            self.divisors[b.get_id()] = b
        return a / b

    def formula(self, text: str, extra: Mapping[str, Any] | None = None) -> Any:
        """Read a comparison, or an "A -> B" or "A or B" of comparisons.

        z3 treats a/b as the c with c*b = a if b is not 0, and as anything otherwise. A proof
        covers that; a refutation at which some b is 0 is none (see `prove`).
        """
        import z3

        if "->" in text:
            left, right = text.split("->", 1)
            return z3.Implies(self.formula(left, extra), self.formula(right, extra))
        if " or " in text:
            return z3.Or([self.formula(t, extra) for t in text.split(" or ")])
        if " and " in text:
            return z3.And([self.formula(t, extra) for t in text.split(" and ")])
        if "!=" in text:
            left, right = text.split("!=")
            return self.term(left, extra) != self.term(right, extra)
        parts = self.term(text.replace(" = ", " == "), extra)
        if not isinstance(parts, list):
            raise ParameterError(f"{brief(text)} is not a comparison")
        return z3.And([COMPARISONS[relation](a, b) for relation, a, b in parts])

    def _read(self, formula: Any) -> Any:
        return self.formula(formula) if isinstance(formula, str) else formula

    def prove(
        self,
        assumptions: Iterable[Any],
        goal: Any,
        purpose: str = "",
        *,
        integers: Sequence[str] = (),
    ) -> Answer:
        """Return whether the goal follows; a refutation carries a model.

        A model at which a formula divides by zero says nothing, so another one is asked for.
        Names in `integers` stand for integers: there is no decision procedure for that, so z3
        may well give up, and cvc5 is not asked.
        """
        import z3

        begun = time.perf_counter()
        solver = z3.Solver() if integers else z3.SolverFor("QF_NRA")
        solver.add(*[z3.IsInt(self.name(name)) for name in integers])
        solver.set("timeout", int(1000 * self.seconds))
        solver.add(*[self._read(a) for a in assumptions])
        solver.add(z3.Not(self._read(goal)))
        self.queries += 1
        limit = self.seconds if self.second and not integers else None
        logic = "QF_NIRA" if integers else "QF_NRA"
        outcome, query = noted_check(solver, logic=logic, purpose=purpose, seconds=limit)
        seconds = time.perf_counter() - begun
        if outcome == z3.unsat:
            return Answer("proved", seconds=seconds, second=query.second)
        if outcome == z3.sat and any(_is_zero(solver.model(), d) for d in self.divisors.values()):
            solver.add(*[d != 0 for d in self.divisors.values()])
            further = f"{purpose} (nothing divided by zero)"
            outcome, _ = noted_check(solver, logic=logic, purpose=further)
            if outcome == z3.unsat:
                return Answer(
                    "unknown",
                    reason="fails only where something is divided by zero",
                    seconds=time.perf_counter() - begun,
                )
        if outcome == z3.sat:
            return Answer("refuted", _model(solver.model()), seconds=seconds)
        return Answer("unknown", reason=f"z3: {solver.reason_unknown()}", seconds=seconds)

    def core(self, assumptions: Iterable[Any], labelled: Sequence[Any], goal: Any) -> set[int]:
        """Return numbers of labelled formulas that suffice, with the assumptions, for the goal.

        Raises
        ------
        SolverError
            The goal is not derived from all of them.
        """
        import z3

        solver = z3.SolverFor("QF_NRA")
        solver.set("timeout", int(1000 * self.seconds))
        solver.add(*[self._read(a) for a in assumptions], z3.Not(self._read(goal)))
        for number, formula in enumerate(labelled):
            solver.assert_and_track(self._read(formula), f"label{number}")
        self.queries += 1
        if check(solver) != z3.unsat:
            raise SolverError("the goal is not derived: it leans on nothing that is known")
        return {int(str(label).removeprefix("label")) for label in solver.unsat_core()}

    def satisfiable(self, formulas: Iterable[Any], purpose: str = "") -> bool | None:
        """Return whether the formulas can hold together; None if the solver gave up.

        The second solver is asked too only where `second_on_search` says so: explorations put
        a thousand such questions.
        """
        import z3

        asked, self.second = self.second, self.second and self.second_on_search
        try:
            answer = self.prove(formulas, z3.BoolVal(False), purpose)
        finally:
            self.second = asked
        return None if answer.status == "unknown" else answer.status == "refuted"


def _is_zero(model: Any, term: Any) -> bool:
    import z3

    value = model.eval(term, model_completion=True)
    return bool(z3.is_rational_value(value) and value.numerator_as_long() == 0)


def _model(model: Any) -> dict[str, str]:
    """Return the values of a model; algebraic numbers are given to ten digits."""
    import z3

    values = {}
    for declaration in model.decls():
        value = model[declaration]
        if z3.is_rational_value(value):
            values[declaration.name()] = str(
                fmpq(value.numerator_as_long(), value.denominator_as_long())
            )
        elif z3.is_algebraic_value(value):
            values[declaration.name()] = "~" + value.as_decimal(10)
    return dict(sorted(values.items()))


def _ask_cvc5(query: Query, seconds: float) -> Literal["agrees", "unknown"]:
    """Ask cvc5 the same question.

    Raises
    ------
    SolverError
        It contradicts z3.
    """
    import cvc5

    solver = cvc5.Solver()
    solver.setOption("tlimit-per", str(int(1000 * min(seconds, 5.0))))
    solver.setLogic(query.logic)
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, query.text + "(check-sat)", "query")
    symbols = parser.getSymbolManager()
    answer = ""
    while True:
        command = parser.nextCommand()
        if command.isNull():
            break
        answer = str(command.invoke(solver, symbols)).strip() or answer
    if {answer, query.status} == {"sat", "unsat"}:
        raise SolverError("z3 and cvc5 disagree on a query; please report this")
    return "agrees" if answer == query.status else "unknown"


def second_opinions(journals: Iterable[Journal], seconds: float) -> None:
    """Ask cvc5 about every query of the journals, and of those they lean on, not yet put to it.

    Equal queries are put once. Queries whose texts were not kept stay as they are.
    """
    if not second_opinion_available():
        return
    known: dict[str, Query] = {}
    for journal in closure(journals):
        for query in journal.queries:
            if not query.text or query.status == "unknown" or query.second != "not asked":
                continue
            first = known.setdefault(query.key, query)
            if first is query:
                query.second = _ask_cvc5(query, seconds)
            else:
                query.second = first.second


def summary_of(answers: Sequence[Answer]) -> str:
    """Return how many queries the second solver confirmed, as text."""
    asked = [a for a in answers if a.second != "not asked"]
    if not asked:
        return ""
    agreed = sum(a.second == "agrees" for a in asked)
    return f"cvc5 confirms {agreed} of {len(asked)} queries"
