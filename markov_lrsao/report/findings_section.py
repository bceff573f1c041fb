"""The section on findings: words here, numbers from the engine, from simulations, from verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markov_lrsao.report.markup import anchor, badge, command, escape, number, table, typeset

__all__ = ["findings_html"]

SHARPER = {
    "Theorem 11": (
        "The constant of the slope can be lowered, and the lower one is the limit.",
        ("automata", "symbolic"),
    ),
    "Lemma 10": (
        "Its bound on visits is attained, but not at the last position of the slope.",
        ("automata", "quantitative"),
    ),
    "Lemma 9": ("The O(1) is an explicit rational function of n and l.", ("symbolic",)),
    "P(E)": ("The event that makes phase 3 slow has a closed form.", ("symbolic", "smt")),
    "Leaving n-l-1": (
        "The chance to enter the right plateau is larger, and the new bound is sharp.",
        ("automata",),
    ),
    "Remark 13": ("L and J leave a plateau position at once.", ("smt",)),
    "Theorem 16": ("The O is a Theta.", ("symbolic", "quantitative")),
    "Uniform over (H)": ("The constants do not depend on the hyper-parameters.", ("quantitative",)),
    "Lemma 17, improved": (
        "The bounds on harmonic numbers can be tightened further.",
        ("symbolic",),
    ),
    "Range of l": ("The range ends a little earlier than the text says.", ("smt",)),
    "Signs decide the slope": ("Signs alone decide what the agent does on the slope.", ("smt",)),
}
"""Statement -> in words, and which kinds of evidence say it; these carry the numbers."""
_IN_DETAILS = {"Lemma 17, improved", "Range of l"}

SURVIVES = {
    "Lemma 5": "With the hypothesis f(b+1) >= f(b) it holds, and on Jump the bridges satisfy it, "
    "so nothing else breaks.",
    "After Lemma 14, choices": "The other reading (moves inside the plateau) is proved for all of "
    "(H), and with the paper's hyper-parameters both readings hold.",
    "Failing excursions, no way out": "Only a step of the proof is wrong: the bound on failing "
    "excursions that it serves is proved in another way.",
    "Failing excursions, one": "Not a claim of the paper: it shows that the paper's bound of two "
    "is sharp.",
    "(E), i.i.d. excursions": "Wald's step is not allowed, but Lemma 9 holds with an explicit "
    "function.",
    "Smallest n": "Only the stated range of n is off.",
    "Isolated points": "A side remark about a value of l outside the range.",
    "End points": "A slip of one index in the text; the definitions are right.",
    "Improvement": "With Theta in place of Omega the claim holds.",
    "Lemma 3, one position": "Read with every position of the state, the lemma is proved.",
}
"""What is left of a refuted statement, in words."""


def findings_html(
    values: Mapping[str, Any], numbers: Mapping[str, Any], report: Mapping[str, Any]
) -> str:
    """Return all findings as articles."""
    return "\n".join(
        [
            _lower_bound(values),
            _phase2(numbers["constants"]["phase2"]),
            _phase3(numbers["constants"]["phase3"]),
            _law(numbers["concentration"]),
            _float64(numbers["float64"]),
            _refuted(report),
            _errata(report),
            _sharper(report),
        ]
    )


def _article(name: str, title: str, body: str, commands: Sequence[str]) -> str:
    shown = "".join(map(command, commands))
    return (
        f'<article class="finding" id="finding-{name}"><h3>{title}</h3>{body}'
        f'<div class="reproduce">{shown}</div></article>'
    )


def _lower_bound(values: Mapping[str, Any]) -> str:
    rows = []
    for schedule in values["schedules"]:
        last = schedule["instances"][-1]
        rows.append(
            [
                escape(schedule["text"]),
                f"{last['n']:,}",
                f"{last['l']:,}",
                number(float(last["total"][1]), 8),
                number(float(last["coupon"][1]), 8),
                f"{last['ratio']:.5g}",
            ]
        )
    largest = max(s["instances"][-1]["n"] for s in values["schedules"])
    body = (
        "<p>No search that flips one uniformly chosen bit per step beats the coupon collector's "
        "n·H<sub>n</sub> on average. The wider the gap l, the closer LRSAO comes to it: for the "
        "widest gap it collects the bits almost as if there were no gap at all.</p>"
        + table(
            "Exact E[T] beside the lower bound, paper's hyper-parameters",
            ["schedule", "n", "l", "E[T]", "n·H<sub>n</sub>", "ratio"],
            rows,
            right=(1, 2, 3, 4, 5),
        )
    )
    return _article(
        "lower-bound",
        "A wide gap costs almost nothing",
        body,
        [f"markov-lrsao curve --ell half --n {largest} --exact"],
    )


def _phase2(found: Mapping[str, Any]) -> str:
    rows = [
        [
            f"{r['n']:,}",
            f"{r['l']:,}",
            number(r["exact"], 8),
            number(r["formula"], 8),
            number(r["constant"], 6),
        ]
        for r in found["rows"]
    ]
    body = (
        f"<p>On the slope, for l → ∞ and l = o(n), the expected time is</p>"
        f"{found['formula']}<p>with</p>{found['constant_formula']}"
        f'<p class="big">C = {escape(found["constant"])}…</p>'
        "<p>The factor in front of the logarithm is sharp; the paper's bound has 5 in its place. "
        "The last column shows what the exact values leave for C:</p>"
        + table(
            "E[T<sub>2</sub>] for l = ⌊√n⌋: exact against the formula",
            [
                "n",
                "l",
                "exact E[T<sub>2</sub>]",
                "formula",
                f"(E[T<sub>2</sub>] − {escape(found['leading'])} n ln(n/l)) / n",
            ],
            rows,
            right=(0, 1, 2, 3, 4),
        )
    )
    return _article(
        "phase-2", "The slope has a sharp constant", body, ["markov-lrsao formula phase2"]
    )


def _phase3(found: Mapping[str, Any]) -> str:
    rows = [
        [
            f"{r['n']:,}",
            f"{r['l']:,}",
            number(r["exact"], 10),
            number(r["formula"], 10),
            f"{r['error']:+.2e}".replace("-", "−"),
        ]
        for r in found["rows"]
    ]
    body = (
        "<p>The time on the right plateau is a rational function of n and l plus n·H<sub>l</sub>, "
        "so the paper's Θ has a constant. For l ≥ 4 fixed and n → ∞,</p>"
        f"{found['formula']}<p>Even along l = ⌊∛n⌋, where l is not fixed, it is close:</p>"
        + table(
            "E[T<sub>3</sub>]: exact against the expansion",
            ["n", "l", "exact E[T<sub>3</sub>]", "expansion", "relative error"],
            rows,
            right=(0, 1, 2, 3, 4),
        )
    )
    return _article(
        "phase-3", "The right plateau in closed form", body, ["markov-lrsao formula phase3"]
    )


def _law(found: Mapping[str, Any]) -> str:
    n, ell = found["n"], found["l"]
    median = next(t for level, t in found["quantiles"] if level == 0.5)
    rows = [
        [f"{level:.0%} quantile", f"{t:,}", f"{t / found['mean']:.3f}"]
        for level, t in found["quantiles"]
    ]
    rows.append(["mean E[T]", number(found["mean"], 7), "1"])
    rows.append(
        [
            "standard deviation",
            number(found["deviation"], 7),
            f"{found['deviation'] / found['mean']:.3f}",
        ]
    )
    body = (
        f"<p>At n = {n:,}, l = {ell} half of all runs end within {median:,} steps, "
        f"while the mean is {number(found['mean'], 7)}: a few runs pay for the rest. "
        f"A share of {found['beyond_twice']:.1%} takes more than twice the mean. Averages of few "
        f"runs say little about E[T] here.</p>"
        + table(
            f"The law of T at n = {n:,}, l = {ell}",
            ["", "steps", "relative to E[T]"],
            rows,
            right=(1, 2),
        )
    )
    return _article(
        "law",
        "A small gap: T is far from its mean",
        body,
        [f"markov-lrsao distribution --n {n} --ell {ell}"],
    )


def _float64(found: Mapping[str, Any]) -> str:
    def cell(sample: Mapping[str, float]) -> str:
        return f"{number(sample['mean'])} ± {number(sample['error'], 3)}"

    rows = [
        [
            f"{r['n']:,}",
            number(r["exact"]),
            cell(r["true"]),
            f"{r['true']['factor']:.3f}",
            cell(r["float64"]),
            f"{r['float64']['factor']:.2f} ± {r['float64']['factor_error']:.2f}",
        ]
        for r in found["rows"]
    ]
    largest = found["largest"]
    body = (
        "<p>Every rejected move multiplies a Q-entry by a factor below one. The exact entry stays "
        "positive and its objective stays chosen; a float64 entry is zero after "
        f"{found['rejections']} rejections (n = {largest:,}), the objectives tie, and the agent "
        "forgets what it had learnt. A plain floating-point program simulates another "
        "algorithm.</p>"
        + table(
            f"l = 2, {found['runs']:,} runs each, seed {found['seed']}; ± one standard error",
            ["n", "exact E[T]", "true semantics", "/ E[T]", "float64", "/ E[T]"],
            rows,
            right=range(6),
        )
    )
    return _article(
        "float64",
        "Floating point changes the algorithm",
        body,
        [
            f"markov-lrsao simulate --n {largest} --ell 2 --runs {found['runs']} "
            f"--seed {found['seed']} --arithmetic float64"
        ],
    )


def _link(name: str) -> str:
    return f'<a href="#{anchor(name)}">{escape(name)}</a>'


def _refuted(report: Mapping[str, Any]) -> str:
    items = []
    for s in report["statements"]:
        if s["verdict"] != "REFUTED":
            continue
        reason = next(
            e["summary"]
            for e in s["evidence"]
            if e["verdict"] == "REFUTED" and e["kind"] != "lines"
        )
        rest = SURVIVES.get(s["id"], "")
        items.append(
            f"<li>{badge('REFUTED')} <strong>{_link(s['id'])}</strong>: {typeset(s['claim'])} "
            f'<span class="found">Found: {typeset(reason)}.</span> {typeset(rest)}</li>'
        )
    theorems = [s for s in report["statements"] if s["id"].startswith("Theorem ")]
    stand = [s for s in theorems if s["verdict"] in ("PROVED", "VERIFIED")]
    body = (
        f"<p>{len(stand)} of {len(theorems)} theorems stand. What is false as written is "
        "listed here, with a counterexample behind each link; some are readings that the text "
        "leaves open, or sharper forms that were tried.</p>"
        f'<ul class="refuted">{"".join(items)}</ul>'
    )
    return _article(
        "refuted",
        f"{len(items)} statements are refuted",
        body,
        ["markov-lrsao verify --save counterexamples"],
    )


def _errata(report: Mapping[str, Any]) -> str:
    rows = [
        [
            _link(s["id"]),
            escape(x["location"].replace("source lines ", "")),
            f"<code>{escape(x['printed'])}</code>",
            f"<code>{escape(x['corrected'])}</code>",
            typeset(x["reason"]),
        ]
        for s in report["statements"]
        for x in s["errata"]
    ]
    body = (
        "<p>Displayed lines that do not follow from their neighbour, each with a line that was "
        "checked in the same way. The conclusions survive.</p>"
        + table(
            "Errata, by line of the paper's source",
            ["statement", "line", "printed", "corrected", "where it fails"],
            rows,
        )
    )
    names = dict.fromkeys(s["id"] for s in report["statements"] if s["errata"])
    shown = " ".join(f'"{name}"' for name in names)
    return _article(
        "errata", f"{len(rows)} displayed lines with slips", body, [f"markov-lrsao verify {shown}"]
    )


def _more(e: Mapping[str, Any], name: str) -> str:
    """Return the details of the evidence where the sharper bounds stand in them."""
    if name not in _IN_DETAILS or not e["details"]:
        return ""
    return f' <span class="quiet">{typeset("; ".join(e["details"]))}.</span>'


def _sharper(report: Mapping[str, Any]) -> str:
    found = {s["id"]: s for s in report["statements"]}
    items = []
    for name, (words, kinds) in SHARPER.items():
        # The first of each kind says it; the rest is on the statement itself.
        first = {e["kind"]: e for e in reversed(found[name]["evidence"])}
        best = [first[kind] for kind in kinds if kind in first]
        quoted = "".join(
            f"<li>{badge(e['verdict'])} {typeset(e['summary'])}.{_more(e, name)}</li>" for e in best
        )
        items.append(f"<li><strong>{_link(name)}</strong>: {typeset(words)}<ul>{quoted}</ul></li>")
    body = f'<ul class="sharper">{"".join(items)}</ul>'
    return _article("sharper", "What can be sharpened", body, ['markov-lrsao verify "Lemma 10"'])
