"""Changed statements, models and hypotheses, told by whether they are true.

A *false* one makes the statement false by the smallest change that was found: it must never be
PROVED or VERIFIED, and nearly all must be REFUTED with an exact witness. A *true* one is weaker
than the statement: it must never be REFUTED, and most must be PROVED. What is false was worked out
by hand, or is known from the sharp values that the engine computes.

`python tests/support/mutations.py --write` checks all of them, which takes some minutes, and
writes the table that tests compare with; `--write WORD` only those whose name contains it.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from markov_lrsao.model.algorithm import Algorithm, Reward
from markov_lrsao.model.landscape import ELL, JUMP, JUMP_OPEN, LandscapeFamily, N, P, Piece
from proofs_check import Setting, StatementResult, verify
from proofs_check.claims.setting import HYPOTHESIS

__all__ = ["FALSE", "TABLE", "TRUE", "Mutation", "recorded"]

TABLE = Path(__file__).parents[1] / "proofs_check" / "mutations.csv"

_SETTING = Setting(second_solver=False)


@dataclass(frozen=True)
class Mutation:
    """One change, and the statement that it is made to."""

    statement: str
    what: str
    terms: Mapping[str, str] = field(default_factory=dict)
    model: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """A name for reports."""
        return f"{self.statement}: {self.what}"

    def result(self) -> StatementResult:
        """Check the changed statement."""
        terms = {(self.statement, key): text for key, text in self.terms.items()}
        [found] = verify([self.statement], _SETTING.mutate(terms=terms, **self.model))
        return found


def _term(statement: str, key: str, *texts: str, **others: str) -> list[Mutation]:
    return [Mutation(statement, f"{key} = {x}", {key: x, **others}) for x in texts]


# -- terms ---------------------------------------------------------------------------------

_FALSE_TERMS = [
    *_term("Range of l", "remark", "l < n/2 - 5/2"),
    *_term("Smallest n", "n", "7"),
    *_term("End points", "L", "l + 2", R="n - l - 1"),
    *_term(
        "(H) not empty",
        "condition",
        "(1 - gamma)/(gamma*(1 - alpha*(1 - gamma))) >= n - l - 1",
        "gamma < 1/2",
    ),
    *_term("(H) sufficient", "gamma", "1/(n - 3)"),
    *_term("Optimality", "exponent", "49/100"),
    *_term("Optimal order", "factor", "1001/1000"),
    *_term("Lemma 2", "bound", "(n - l - 1)/2", "-1"),
    *_term("Lemma 4", "most", "0"),
    *_term("Lemma 4", "chosen", "c <= o"),
    *_term("Lemma 5", "factor", "(1 - alpha*(1 - gamma)/2)", also="fb1 >= fb"),
    *_term("Lemma 5", "time", "n*(Hk - Hb) - 1/1000", also="fb1 >= fb"),
    *_term("Lemma 6", "uses", "0"),
    *_term("Lemma 6", "value", "-r", "-99/100*alpha*r"),
    *_term("Lemma 6", "last", "J"),
    *_term(
        "(A)",
        "formula",
        "n*(H(n) - H(n - l - 1))",
        "1/(2*n - 1) + n*(H(n) - H(n - l - 1))",
        "2/(3*(2*n - 1)) + n*(H(n) - H(n - l))",
    ),
    *_term("Theorem 7", "bound", "2*l*ln(2)", "2*(l + 1)*ln(2) - 1"),
    *_term("Theorem 7", "expansion", "n*ln(1/(1 - (l + 1)/n))"),
    *_term("Lemma 8", "J", "J > 0", "J <= 0"),
    *_term("Lemma 8", "uses", "0"),
    *_term("Lemma 9", "order", "1/n"),
    *_term("(E), k*", "mean", "n/(n - l - 2)", "n/(n - l - 3) - 1"),
    *_term("Lemma 10", "visits", "4"),
    *_term("Lemma 10", "from s+1", "1"),
    *_term("Lemma 10", "from s-1", "2"),
    *_term("Theorem 11", "bound", "29/10*n*ln((n - l - 3)/(l + 1)) + 2*n/l"),
    *_term("Lemma 12", "row 0", "-99/100*alpha*r"),
    *_term("Lemma 12", "row n-l-1", "1/1000"),
    *_term("Leaving n-l-1", "bound", "(l + 2)/(2*n)", "l/n"),
    *_term("Remark 13", "moving", "L,J,R"),
    *_term("Lemma 14", "J moves", "1"),
    *_term("After Lemma 14, moves", "times", "1"),
    *_term("Failing excursions", "bound", "1", "0"),
    *_term("Failing excursions, two moves", "bound", "3"),
    *_term("Moves in a walk", "bound", "3"),
    *_term("Theorem 1", "order", "n*ln(n)", "n**2/l**2", "n**2/l + n*ln(n)", "n**2/l**3 + n*ln(n)"),
    *_term("Lemma 15", "order", "n**2/l", "n**2/l**3", "n**2/l**2 + n"),
    *_term("P(E)", "bound", "1/11"),
    *_term("tau recurrences", "bound", "n**2/l**2"),
    *_term("(B)", "bound", "n*H(l - 2)"),
    *_term("Theorem 16", "order", "n*ln(l)", "n**2/l**2", "n**2/l**3 + n*ln(l)"),
    *_term("Lemma 17", "lower", "1/(2*n + 9/25)"),
    *_term("Lemma 17", "upper", "1/(2*n + 37/100)"),
    *_term("Lemma 17", "expansion", "ln(n) + EulerGamma", "ln(n) + EulerGamma + 1/(3*n)"),
    *_term("Lemma 17, improved", "lower", "1/(2*n + 1/3)"),
    *_term("Uniform over (H)", "E[T3] <=", "1/2"),
    *_term("Uniform over (H)", "E[T3] >=", "2"),
    *_term("Uniform over (H)", "E[T_3^1] <=", "3/5"),
    *_term("Uniform over (H)", "E[T] <=", "1"),
    *_term("Regimes of k exits", "C", "n/(6*l)"),
    *_term("Theorem 1, explicit", "upper", "n*H(n) + n**2/l**2"),
    *_term(
        "Theorem 11, explicit",
        "upper",
        "3*n*(H(n - l - 3) - H(l + 1)) + 2*n/(l + 1) + 2",
    ),
    *_term("Lemma 15, explicit", "upper", "7/5*n**2/l**2"),
    *_term("Theorem 16, explicit", "lower", "9/20*n**2/l**2 + n*H(l)"),
]

_TRUE_TERMS = [
    *_term("Range of l", "remark", "l < n/2"),
    *_term("(H) sufficient", "gamma", "1/(n + 2)"),
    *_term("Optimality", "exponent", "3/5"),
    *_term("Optimal order", "factor", "99/100"),
    *_term("Lemma 2", "bound", "2*(n - l - 1)/(1 - gamma)"),
    *_term("Lemma 4", "most", "2"),
    *_term("Lemma 6", "uses", "2"),
    *_term("Theorem 7", "bound", "3*(l + 1)*ln(2)"),
    *_term("Lemma 8", "uses", "2"),
    *_term("Lemma 10", "visits", "6"),
    *_term("Lemma 10", "from s+1", "3"),
    *_term("Theorem 11", "bound", "6*n*ln((n - l - 3)/(l + 1)) + 2*n/l"),
    *_term("Theorem 11", "bound", "3*n*ln((n - l - 3)/(l + 1)) + 2*n/l"),
    *_term("Lemma 12", "row 0", "-2*alpha*r"),
    *_term("Lemma 12", "row n-l-1", "-1"),
    *_term("Leaving n-l-1", "bound", "l/(3*n)", "(l + 1)/(2*n)"),
    *_term("Lemma 14", "J moves", "3"),
    *_term("After Lemma 14, moves", "times", "3"),
    *_term("Failing excursions", "bound", "3"),
    *_term("Failing excursions, two moves", "bound", "1"),
    *_term("Moves in a walk", "bound", "5"),
    *_term("Theorem 1", "order", "2*n**2/l**2 + 5*n*ln(n)", "n**2/l**2 + n*ln(l)"),
    *_term("Lemma 15", "order", "7*n**2/l**2"),
    *_term("P(E)", "bound", "1/12", "1/30"),
    *_term("tau recurrences", "bound", "n**2/(5*l**2)"),
    *_term("(B)", "bound", "n*H(l) + 1", "n*H(l - 1)"),
    *_term(
        "Theorem 16",
        "order",
        "n**2/l**2 + 10**9*n*ln(l)",
        "n**2/l**2 + n*ln(n)",
        "n**2",
    ),
    *_term("Lemma 17", "lower", "1/(2*n + 2)"),
    *_term("Lemma 17", "upper", "1/n"),
    *_term("Lemma 17, improved", "lower", "1/(2*n + 2/5)"),
    *_term("Uniform over (H)", "E[T3] <=", "3"),
    *_term("Uniform over (H)", "E[T] >=", "1/10"),
]


# -- the model -----------------------------------------------------------------------------


def _with(action: str, *pieces: Piece) -> LandscapeFamily:
    objectives = tuple((a, pieces if a == action else old) for a, old in JUMP.objectives)
    return replace(JUMP, name="mutated Jump", objectives=objectives)


def _without(word: str) -> tuple[str, ...]:
    """Return (H) without the comparison that contains a word."""
    kept = tuple(text for text in HYPOTHESIS if word not in text)
    assert len(kept) == len(HYPOTHESIS) - 1
    return kept


def rewarded(parameters: Any) -> Algorithm:
    """LRSAO that rewards moves on a plateau."""
    algorithm: Algorithm = Algorithm.lrsao(parameters)
    return replace(algorithm, equal=Reward(constant=parameters.r))


def punished(parameters: Any) -> Algorithm:
    """LRSAO that punishes rejected proposals."""
    algorithm: Algorithm = Algorithm.lrsao(parameters)
    return replace(algorithm, rejected=Reward(constant=-parameters.r))


def indifferent(parameters: Any) -> Algorithm:
    """LRSAO without a penalty on plateaus."""
    algorithm: Algorithm = Algorithm.lrsao(parameters)
    return replace(algorithm, equal=Reward())


def strict(parameters: Any) -> Algorithm:
    """LRSAO that accepts improvements only."""
    algorithm: Algorithm = Algorithm.lrsao(parameters)
    return replace(algorithm, accept_equal=False)


LOWER, UPPER = _without("< r"), _without("r < 1/")
SHORT = replace(JUMP, name="plateau of one position", constraints=(ELL - 1, N - 2 * ELL - 5))
TIGHT = replace(JUMP, name="slope shorter by one", constraints=(ELL - 2, N - 2 * ELL - 4))
GROWING = _with(
    "L", Piece.of(0, ELL + 1, P), Piece.of(ELL + 2, N - ELL - 1, 0), Piece.of(N - ELL, N, P)
)
LONG_LEFT = _with("L", Piece.of(0, ELL + 2, P), Piece.of(ELL + 3, N, 0))
LONG_RIGHT = _with("R", Piece.of(0, N - ELL - 3, 0), Piece.of(N - ELL - 2, N, P))

_FALSE_MODELS = [
    Mutation("Lemma 8", "plateau moves are rewarded", model={"algorithm": rewarded}),
    Mutation("Lemma 6", "plateau moves are rewarded", model={"algorithm": rewarded}),
    Mutation("Lemma 3", "rejections are punished", model={"algorithm": punished}),
    Mutation("Lemma 5", "rejections are punished", {"also": "fb1 >= fb"}, {"algorithm": punished}),
    Mutation("Lemma 6", "no penalty on plateaus", model={"algorithm": indifferent}),
    Mutation("Lemma 14", "no penalty on plateaus", model={"algorithm": indifferent}),
    Mutation("Remark 13", "improvements only", model={"algorithm": strict}),
    Mutation("(A)", "improvements only", model={"algorithm": strict}),
    Mutation("(A)", "bridges without end points", model={"family": JUMP_OPEN}),
    Mutation("Lemma 3", "L reaches l + 2", model={"family": LONG_LEFT}),
    Mutation("Lemma 8", "R begins at n - l - 2", model={"family": LONG_RIGHT}),
    Mutation("Remark 13", "L grows on the right plateau", model={"family": GROWING}),
    Mutation("Lemma 6", "a plateau of one position", model={"family": SHORT}),
    Mutation("Lemma 12", "(H) without its upper end", model={"hypothesis": UPPER}),
    Mutation("Lemma 12", "(H) without its lower end", model={"hypothesis": LOWER}),
    Mutation("Lemma 14", "(H) without its lower end", model={"hypothesis": LOWER}),
    Mutation("Failing excursions", "(H) without its lower end", model={"hypothesis": LOWER}),
    Mutation("Moves in a walk", "(H) without its lower end", model={"hypothesis": LOWER}),
    Mutation("After Lemma 14, moves", "(H) without its lower end", model={"hypothesis": LOWER}),
]

_TRUE_MODELS = [
    Mutation("Lemma 12", "R begins at n - l - 2", model={"family": LONG_RIGHT}),
    Mutation("Lemma 10", "alpha < 1/2", model={"hypothesis": (*HYPOTHESIS, "alpha < 1/2")}),
    Mutation("Lemma 14", "r > 1", model={"hypothesis": (*HYPOTHESIS, "r > 1")}),
    Mutation("Lemma 4", "(H) without its lower end", model={"hypothesis": LOWER}),
    Mutation("Lemma 4", "(H) without its upper end", model={"hypothesis": UPPER}),
    Mutation("Lemma 2", "(H) without its upper end", model={"hypothesis": UPPER}),
]

FALSE = (*_FALSE_TERMS, *_FALSE_MODELS)
TRUE = (*_TRUE_TERMS, *_TRUE_MODELS)


def recorded() -> dict[str, dict[str, str]]:
    """Return the table: name -> truth, verdict, seconds of processor time."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {line["mutation"]: line for line in csv.DictReader(file)}


def write(word: str = "") -> None:
    """Check the mutations whose name contains a word, keep the others' lines, write the table."""
    known = recorded() if word else {}
    lines = []
    for truth, mutations in (("false", FALSE), ("true", TRUE)):
        for mutation in mutations:
            old = known.get(mutation.name)
            if old is not None and word not in mutation.name:
                lines.append([old[key] for key in ("mutation", "truth", "verdict", "seconds")])
                continue
            begun = time.process_time()
            verdict = mutation.result().verdict.value
            lines.append([mutation.name, truth, verdict, f"{time.process_time() - begun:.0f}"])
            print(*lines[-1], sep="  ", flush=True)
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([["mutation", "truth", "verdict", "seconds"], *lines])


if __name__ == "__main__" and sys.argv[1:2] == ["--write"]:
    write(*sys.argv[2:3])
