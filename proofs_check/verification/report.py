"""Reports: the table for people, one statement in detail, JSON and Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from markov_lrsao.model.statements import statements as code_of_statements
from markov_lrsao.tables import table
from proofs_check.claims.verdict import Evidence, StatementResult, Verdict
from proofs_check.verification.registry import all_statements

__all__ = ["GROUPS", "detail_text", "json_report", "markdown_report", "summary_text", "table_text"]


def _evidence_text(result: StatementResult) -> str:
    """Return e.g. "smt PROVED, exhaustive VERIFIED": the best of each kind."""
    best: dict[str, Verdict] = {}
    for e in result.evidence:
        known = best.get(e.kind.value)
        refuted = Verdict.REFUTED in (known, e.verdict)
        if known is None or refuted or e.verdict.rank < known.rank:
            best[e.kind.value] = Verdict.REFUTED if refuted else e.verdict
    shown = [f"{kind} {verdict.value.lower()}" for kind, verdict in best.items() if kind != "lines"]
    if result.errata:
        shown.append(
            f"{len(result.errata)} erratum"
            if len(result.errata) == 1
            else f"{len(result.errata)} errata"
        )
    return ", ".join(shown)


GROUPS = {
    "claim": "What the paper claims",
    "reading": "Other readings of its sentences",
    "sharper": "Sharper forms, and what the paper does not claim",
}
_HEADER = (
    "statement",
    "name",
    "verdict",
    "n, l",
    "hyper-parameters",
    "evidence",
    "solvers",
    "seconds",
)


def _row(r: StatementResult) -> list[str]:
    """Return the cells of a statement's line; the scope is what the verdict covers."""
    return [
        r.id,
        r.title,
        r.verdict.value + ("*" if r.errata else ""),
        r.covered.sizes,
        r.covered.hyper,
        _evidence_text(r),
        str(r.solvers),
        f"{r.seconds:.1f}",
    ]


def _groups(results: Sequence[StatementResult]) -> list[tuple[str, list[StatementResult]]]:
    found = [(title, [r for r in results if r.group == g]) for g, title in GROUPS.items()]
    return [(title, members) for title, members in found if members]


def table_text(results: Sequence[StatementResult]) -> str:
    """Return one line per statement: the paper's claims, other readings, sharper forms."""
    groups = _groups(results)
    # One table, so that the columns are the same; the groups' titles go between its lines.
    lines = table(_HEADER, [_row(r) for _, members in groups for r in members], right=[7])
    header, rule, *rows = lines.splitlines()
    parts = []
    for title, members in groups:
        parts.append("\n".join([title, "", header, rule, *rows[: len(members)]]))
        rows = rows[len(members) :]
    return "\n\n".join(parts)


def summary_text(results: Sequence[StatementResult], seconds: float | None = None) -> str:
    """Return the last lines of a report: how many of each verdict, and what is wrong.

    `seconds` is the time of everything; default the sum of the statements' times.
    """
    spent = sum(r.seconds for r in results) if seconds is None else seconds
    lines = []
    for title, members in _groups(results):
        counts = Counter(r.verdict for r in members)
        lines.append(
            f"{title}: " + ", ".join(f"{counts[v]} {v.value}" for v in Verdict if counts[v])
        )
    theorems = [r for r in results if r.id.startswith("Theorem ") and " " not in r.id[8:]]
    if theorems:
        lines.append(", ".join(f"{r.id} {r.verdict.value}" for r in theorems))
    lines.append(
        f"{sum(len(r.errata) for r in results)} errata in displayed lines (*); {spent:.0f} s"
    )
    for r in results:
        if r.verdict is Verdict.REFUTED:
            reason = next(e for e in r.evidence if e.verdict is Verdict.REFUTED)
            lines.append(f"REFUTED  {r.id}: {reason.summary}")
        if r.verdict is Verdict.UNKNOWN:
            reason = next(e for e in r.evidence if e.verdict is Verdict.UNKNOWN)
            lines.append(f"UNKNOWN  {r.id}: {reason.summary}")
        lines.extend(f"ERRATUM  {r.id}, {x.line} ({x.location}): {x.reason}" for x in r.errata)
    return "\n".join(lines)


def _evidence_lines(e: Evidence) -> list[str]:
    part = f" [{e.part}]" if e.part else ""
    lines = [f"- {e.kind.value}{part}: {e.verdict.value}, {e.summary} ({e.seconds:.2f} s)"]
    if str(e.scope):
        lines.append(f"    for: {e.scope}")
    if e.second:
        lines.append(f"    {e.second}" if " " in e.second else f"    second solver: {e.second}")
    lines.extend(f"    {line}" for line in e.details)
    if e.counterexample is not None:
        lines.append(f"    counterexample: {e.counterexample.describe()}")
        if e.counterexample.steps:
            run = " ".join(a + ("+" if d == "up" else "-") for a, d in e.counterexample.steps)
            lines.append(f"    run: {run}")
    return lines


def detail_text(result: StatementResult) -> str:
    """Return everything known about one statement."""
    lines = [
        f"{result.id}: {result.title} ({result.location})",
        "",
        result.claim,
        "",
        f"claimed for: {result.scope}",
        f"verdict: {result.verdict.value}"
        + (f", for {result.covered}" if str(result.covered) else ""),
    ]
    if result.solvers.queries:
        lines.append(
            f"solvers: {result.solvers} ({result.solvers.queries} queries behind what is proved)"
        )
    if result.depends:
        lines.append(f"leans on: {', '.join(result.depends)}")
    if result.refuted_support:
        lines.append(f"of these REFUTED as stated: {', '.join(result.refuted_support)}")
    lines += ["", "evidence"]
    for e in result.evidence:
        lines.extend(_evidence_lines(e))
    if result.errata:
        lines += ["", "errata"]
    for x in result.errata:
        lines += [
            f"- {x.line} ({x.location})",
            f"    printed:   {x.printed}",
            f"    corrected: {x.corrected}",
            f"    because:   {x.reason}",
        ]
        lines.extend(f"    inherited: {text}" for text in x.inherited)
    lines += ["", "checks", *(f"- {name}" for name in result.code)]
    return "\n".join(lines)


def json_report(results: Sequence[StatementResult], level: str) -> dict[str, Any]:
    """Return the report for machines."""
    counts = Counter(r.verdict.value for r in results)
    return {"level": level, "counts": dict(counts), "statements": [r.to_dict() for r in results]}


def _anchor(name: str) -> str:
    kept = "".join(c if c.isalnum() else "-" for c in name.lower())
    return "s-" + "-".join(part for part in kept.split("-") if part)


def markdown_report(results: Sequence[StatementResult], level: str) -> str:
    """Return a report with links between statements, evidence and code."""
    code = _code()
    known = {r.id for r in results}
    lines = [f"# Statements of the paper, checked (level {level})"]
    for title, members in _groups(results):
        lines += ["", f"## {title}", "", f"| {' | '.join(_HEADER)} |", "|---" * 7 + "|---:|"]
        for r in members:
            cells = [cell.replace("|", "\\|") or "-" for cell in _row(r)]
            cells[0] = f"[{r.id}](#{_anchor(r.id)})"
            lines.append(f"| {' | '.join(cells)} |")
    lines += ["", *(f"- {line}" for line in summary_text(results).splitlines()), ""]
    for r in results:
        lines += [
            f'<a id="{_anchor(r.id)}"></a>',
            f"## {r.id}: {r.title}",
            "",
            f"{r.claim} ({r.location})",
            "",
            f"**{r.verdict.value}**",
            "",
        ]
        if r.depends:
            links = ", ".join(f"[{d}](#{_anchor(d)})" if d in known else d for d in r.depends)
            lines += [f"Leans on: {links}.", ""]
        for e in r.evidence:
            lines += [line.replace("|", "\\|") for line in _evidence_lines(e)]
        for x in r.errata:
            lines += [
                f"- ERRATUM {x.line} ({x.location}): printed `{x.printed}`, corrected "
                f"`{x.corrected}`; {x.reason}"
            ]
        engine = ", ".join(f"`{name}`" for name in code.get(r.id, ()))
        lines += [
            "",
            "Checks: "
            + ", ".join(f"`{name}`" for name in r.code)
            + (f"; engine: {engine}" if engine else ""),
            "",
        ]
    return "\n".join(lines) + "\n"


def _code() -> dict[str, tuple[str, ...]]:
    """Return statement -> functions of the engine and the simulations that realise it."""
    import_module("simulate.runs.rules")
    return code_of_statements()


def traceability() -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Return (statement, engine code, checks) for every statement."""
    code = _code()
    return [(s.id, code.get(s.id, ()), s.code) for s in all_statements().values()]
