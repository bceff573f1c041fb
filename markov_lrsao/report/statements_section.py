"""The section on statements: one fold per statement, with evidence, errata, counterexamples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from markov_lrsao.report.markup import anchor, badge, command, escape, table, typeset
from markov_lrsao.report.verdicts import counterexample_file, run_rows

__all__ = ["counterexample_html", "statements_html", "verdict_counts"]

_ORDER = ("PROVED", "VERIFIED", "SUPPORTED", "UNKNOWN", "REFUTED")
_MEANING = {
    "PROVED": "for all parameters of the stated range: by an SMT solver, by computer algebra, or "
    "by counting on automata that a solver derived for all parameters at once",
    "VERIFIED": "exhaustively or exactly on the finite range that the evidence names",
    "SUPPORTED": "no violation in random exact runs, at the error level that the evidence names",
    "UNKNOWN": "undecided, with the reason",
    "REFUTED": "with a counterexample that can be replayed",
}


def verdict_counts(report: Mapping[str, Any]) -> dict[str, int]:
    """Return how many statements have each verdict, best first, without the absent ones."""
    counts = Counter(s["verdict"] for s in report["statements"])
    return {v: counts[v] for v in _ORDER if counts[v]}


def statements_html(report: Mapping[str, Any]) -> str:
    """Return legend, filter and one fold per statement, in the paper's order."""
    counts = verdict_counts(report)
    errata = sum(bool(s["errata"]) for s in report["statements"])
    legend = "".join(f"<dt>{badge(v)}</dt><dd>{_MEANING[v]}</dd>" for v in counts)
    choices = [
        ("", f"all {sum(counts.values())}"),
        *((v, f"{v.lower()} {k}") for v, k in counts.items()),
    ]
    if errata:
        choices.append(("ERRATA", f"with errata {errata}"))
    buttons = "".join(
        f'<button type="button" data-filter="{value}" aria-pressed="{str(not value).lower()}">'
        f"{escape(text)}</button>"
        for value, text in choices
    )
    known = {s["id"] for s in report["statements"]}
    folds = "\n".join(_statement(s, known) for s in report["statements"])
    return f"""<dl class="legend">{legend}</dl>
<div class="toolbar">
<div class="choices" role="group" aria-label="Show statements by verdict">{buttons}</div>
<label class="search">Search <input type="search" id="statement-search"
 placeholder="Lemma 10, excursion, …" autocomplete="off"></label>
<button type="button" id="unfold-all" aria-expanded="false">Unfold all</button>
<p id="statement-count" role="status" class="quiet"></p>
</div>
<div id="statements">
{folds}
</div>"""


def _statement(s: Mapping[str, Any], known: set[str]) -> str:
    kinds = list(dict.fromkeys(e["kind"] for e in s["evidence"] if e["kind"] != "lines"))
    marks = "".join(f'<span class="kind">{escape(kind)}</span>' for kind in kinds)
    if s["errata"]:
        count = len(s["errata"])
        marks += f'<span class="kind erratum">{count} errat{"um" if count == 1 else "a"}</span>'
    parts = [
        f'<p class="claim">{typeset(s["claim"])}</p>',
        f'<p class="quiet">Paper: {escape(s["location"])}.{_leans_on(s, known)}</p>',
    ]
    bad = [e["counterexample"] for e in s["evidence"] if e["counterexample"]]
    for k, example in enumerate(bad):
        parts.append(counterexample_html(s["id"], example, k, len(bad)))
    evidence = [e for e in s["evidence"] if e["kind"] != "lines"]
    lines = [e for e in s["evidence"] if e["kind"] == "lines"]
    if evidence:
        parts.append(
            f'<h3>Evidence</h3><ul class="evidence">{"".join(map(_evidence, evidence))}</ul>'
        )
    if s["errata"]:
        parts.append(f"<h3>Errata in displayed lines</h3>{''.join(map(_erratum, s['errata']))}")
    if lines:
        parts.append(
            f"<details><summary>Displayed lines of the proof ({len(lines)})</summary>"
            f'<ul class="evidence">{"".join(map(_evidence, lines))}</ul></details>'
        )
    parts.append("<h3>Reproduce</h3>" + command(f'markov-lrsao verify "{s["id"]}"'))
    checks = ", ".join(f"<code>{escape(name)}</code>" for name in s["code"])
    parts.append(f'<p class="quiet code-names">Checks: {checks}</p>')
    return f"""<details class="statement" id="{anchor(s["id"])}" data-verdict="{s["verdict"]}"
 data-errata="{len(s["errata"])}" data-id="{escape(s["id"])}">
<summary>{badge(s["verdict"])}<span class="name">{escape(s["id"])}</span>
<span class="title">{typeset(s["title"])}</span><span class="kinds">{marks}</span></summary>
<div class="body">{"".join(parts)}</div></details>"""


def _leans_on(s: Mapping[str, Any], known: set[str]) -> str:
    if not s["depends"]:
        return ""
    links = ", ".join(
        f'<a href="#{anchor(d)}">{escape(d)}</a>' if d in known else escape(d) for d in s["depends"]
    )
    refuted = (
        f" Of these refuted as stated: {escape(', '.join(s['refuted_support']))}."
        if s["refuted_support"]
        else ""
    )
    return f" Leans on {links}.{refuted}"


def _evidence(e: Mapping[str, Any]) -> str:
    part = f'<span class="part">{typeset(e["part"])}</span> ' if e["part"] else ""
    extra = [f'<span class="quiet">For: {typeset(e["range"])}.</span>'] if e["range"] else []
    if e["second_solver"]:
        extra.append(f'<span class="quiet">Second solver: {typeset(e["second_solver"])}.</span>')
    details = "".join(f"<li>{typeset(line)}</li>" for line in e["details"])
    fold = (
        f"<details><summary>{len(e['details'])} more line"
        f"{'' if len(e['details']) == 1 else 's'}</summary><ul>{details}</ul></details>"
        if details
        else ""
    )
    return (
        f'<li>{badge(e["verdict"])} <span class="kind">{escape(e["kind"])}</span> {part}'
        f"{typeset(e['summary'])}. {' '.join(extra)}{fold}</li>"
    )


def _erratum(x: Mapping[str, Any]) -> str:
    inherited = "".join(f"<li>{typeset(text)}</li>" for text in x["inherited"])
    more = f"<p>Lines that inherit it:</p><ul>{inherited}</ul>" if inherited else ""
    return (
        f'<div class="errata"><p>{escape(x["location"]).capitalize()}: '
        f"{typeset(x['reason'])}.</p><dl><dt>printed</dt><dd><code>{escape(x['printed'])}"
        f"</code></dd><dt>corrected</dt><dd><code>{escape(x['corrected'])}</code></dd></dl>"
        f"{more}</div>"
    )


def counterexample_html(statement: str, example: Mapping[str, Any], number: int, count: int) -> str:
    """Return a fold with what was expected, what happens, and the run step by step."""
    at = ", ".join(f"{name} = {value}" for name, value in example["values"].items())
    rows = run_rows(example)
    steps = len(rows)
    kind = f"a run of {steps} steps" if rows else "a point"
    which = f" {number + 1} of {count}" if count > 1 else ""
    body = [
        f"<dl><dt>at</dt><dd>{typeset(at)}</dd>"
        f"<dt>expected</dt><dd>{typeset(example['expected'])}</dd>"
        f"<dt>observed</dt><dd>{typeset(example['observed'])}</dd></dl>"
    ]
    commands = [f'markov-lrsao verify "{statement}" --save counterexamples']
    if rows:
        shown = "; ".join(
            f"{name} = {list(values)}" for name, values in example["objectives"].items()
        )
        body.append(
            f'<p class="quiet">Objectives at the positions 0, 1, …: {escape(shown)}. The '
            f"target is {escape(example['target'])}.</p>"
        )
        header = list(rows[0])
        body.append(
            table(
                f"The run, from position 0 with all Q-entries 0; a step is an objective and a "
                f"direction ({steps} steps)",
                header,
                [[escape(row[name]) for name in header] for row in rows],
                right=(0, 1, 2, 6, 7, 8, 9),
            )
        )
        file = counterexample_file(statement, number, count)
        commands.append(f"markov-lrsao replay counterexamples/{file}")
    body.append("".join(map(command, commands)))
    return (
        f'<details class="counterexample"><summary>Counterexample{which}: {kind}'
        f" at {typeset(_short(at))}</summary>{''.join(body)}</details>"
    )


def _short(text: str, width: int = 60) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
