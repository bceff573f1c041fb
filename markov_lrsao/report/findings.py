"""The numbers behind the findings: each is computed here, none is typed.

Formulas come from `markov_lrsao.forms.asymptotics` and are held against exact values; the law of T
against its mean; float64 arithmetic against the exact expectation, by simulation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from markov_lrsao.answers.expected import runtime
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.law import StepLaw
from markov_lrsao.model.parameters import Parameters
from markov_lrsao.progress import Progress, no_progress

__all__ = ["concentration", "constants", "float64_effect", "rejections_to_zero"]

SEED = 1
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)


def constants(values: Mapping[str, Any], progress: Progress = no_progress) -> dict[str, Any]:
    """Return formulas of E[T2] and E[T3] as MathML, each with a table that shows its error.

    `values` is what `markov_lrsao.report.values.exact_values` returned: the rows of E[T2] are
    those of the schedule l = sqrt(n), on which l -> infinity and l = o(n); those of E[T3] need
    l >= 4 and are taken from l = cbrt(n).
    """
    import sympy

    from markov_lrsao.forms.asymptotics import phase2_asymptotics, phase3_expansion

    n, ell = sympy.symbols("n l", positive=True)
    with progress("closed forms", total=2) as bar:
        second = phase2_asymptotics()
        bar.advance()
        third = phase3_expansion()
        bar.advance()
    rows = {s["name"]: s["instances"] for s in values["schedules"]}
    c = float(second.constant.evalf(30))
    phase2, phase3 = [], []
    for row in rows["sqrt"]:
        exact = float(row["phases"][1][1])
        lead = float(second.leading) * row["n"] * math.log(row["n"] / row["l"])
        phase2.append(
            {
                "n": row["n"],
                "l": row["l"],
                "exact": exact,
                "formula": lead + c * row["n"],
                "constant": (exact - lead) / row["n"],
            }
        )
    for row in (r for r in rows["cbrt"] if r["l"] >= 4):
        exact = float(row["phases"][2][1])
        value = float(third.subs({n: row["n"], ell: row["l"]}).evalf())
        phase3.append(
            {
                "n": row["n"],
                "l": row["l"],
                "exact": exact,
                "formula": value,
                "error": value / exact - 1,
            }
        )
    symbol = sympy.Symbol("C")
    return {
        "phase2": {
            "leading": str(second.leading),
            "constant": _digits(second.constant),
            "formula": _mathml(
                _mean(2),
                second.leading * n * sympy.log(n / ell) + symbol * n,
                "<mi>o</mi><mo>(</mo><mi>n</mi><mo>)</mo>",
            ),
            "constant_formula": _mathml("<mi>C</mi>", second.constant),
            "rows": phase2,
        },
        "phase3": {
            "formula": _mathml(
                _mean(3),
                third,
                "<mi>O</mi><mo>(</mo><mfrac><mn>1</mn><msup>"
                "<mi>n</mi><mn>2</mn></msup></mfrac><mo>)</mo>",
            ),
            "rows": phase3,
        },
    }


def _digits(value: Any) -> str:
    return str(value.evalf(13))


def _mean(phase: int) -> str:
    return (
        f"<mi mathvariant='normal'>E</mi><mo>[</mo><msub><mi>T</mi><mn>{phase}</mn></msub>"
        "<mo>]</mo>"
    )


def _mathml(left: str, expression: Any, rest: str = "") -> str:
    """Return left = expression + rest in presentation MathML, which browsers draw themselves.

    The terms of a sum are put in the order of their size at n = 10^6, l = 10.
    """
    import sympy
    from sympy.printing.mathml import mathml

    n, ell = sympy.symbols("n l", positive=True)
    named = sympy.Symbol("H_l")
    euler = sympy.Symbol("C_E")  # which would be printed like the discount

    def size(term: Any) -> float:
        sizes = {n: 10**6, ell: 10, named: 3, sympy.Symbol("C"): 1, euler: sympy.EulerGamma}
        return -abs(float(term.subs(sizes).evalf()))

    replaced = expression.subs({sympy.harmonic(ell): named, sympy.EulerGamma: euler})
    terms = sympy.Add.make_args(replaced)
    text = f"{left}<mo>=</mo>"
    for k, term in enumerate(sorted(terms, key=size)):
        negative = term.could_extract_minus_sign()
        if k or negative:
            text += "<mo>−</mo>" if negative else "<mo>+</mo>"
        text += str(mathml(-term if negative else term, printer="presentation"))
    if rest:
        text += f"<mo>+</mo>{rest}"
    for old, new in (("&InvisibleTimes;", "&#8290;"), ("<mi>log</mi>", "<mi>ln</mi>")):
        text = text.replace(old, new)
    return f'<math display="block"><mrow>{text}</mrow></math>'


def concentration(n: int, ell: int, progress: Progress = no_progress) -> dict[str, Any]:
    """Return quantiles of T beside its mean and deviation: how far T is from concentrated."""
    from markov_lrsao.answers.distribution import distribution

    law = distribution(
        Landscape.jump(n, ell), Algorithm.lrsao(Parameters.paper(n)), progress=progress
    )
    return {
        "n": n,
        "l": ell,
        "mean": law.mean,
        "deviation": law.deviation,
        "quantiles": [[level, law.quantile(level)] for level in LEVELS],
        "beyond_twice": 1 - float(law.cdf(int(2 * law.mean))),
    }


def rejections_to_zero(n: int) -> int:
    """Return after how many rejections a float64 entry is 0.

    A rejected move multiplies the entry by 1 - alpha(1 - gamma); the exact entry stays positive
    for ever. Counted from Q = alpha, what the first reward of 1 leaves behind.

    >>> rejections_to_zero(10_000)
    463
    """
    parameters = Parameters.paper(n)
    entry = to_float(parameters.alpha)
    factor = to_float(1 - parameters.alpha * (1 - parameters.gamma))
    count = 0
    while entry > 0:
        entry *= factor
        count += 1
    return count


def float64_effect(
    sizes: tuple[int, ...], runs: int, progress: Progress = no_progress
) -> dict[str, Any]:
    """Return mean runtimes for l = 2 in true and in float64 arithmetic beside the exact E[T]."""
    from simulate.runs.runner import simulate

    rows = []
    with progress("float64 against true semantics", total=2 * len(sizes)) as bar:
        for n in sizes:
            landscape, algorithm = Landscape.jump(n, 2), Algorithm.lrsao(Parameters.paper(n))
            exact = float(runtime(landscape, algorithm, field="float").total)
            law = StepLaw.of(landscape, algorithm)
            row: dict[str, Any] = {"n": n, "exact": exact}
            for kind in ("exact", "float64"):
                times = simulate(law, runs=runs, seed=SEED, arithmetic=kind).times
                error = float(times.std(ddof=1)) / math.sqrt(runs)
                row[kind if kind == "float64" else "true"] = {
                    "mean": float(times.mean()),
                    "error": error,
                    "factor": float(times.mean()) / exact,
                    "factor_error": error / exact,
                }
                bar.advance()
            rows.append(row)
    largest = max(sizes)
    return {
        "runs": runs,
        "seed": SEED,
        "rows": rows,
        "largest": largest,
        "rejections": rejections_to_zero(largest),
    }
