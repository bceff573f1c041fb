"""A readable PRISM-language model of an algorithm on a landscape.

One module with one variable for the position and one per Q-row for its pattern. The model is
generated from the step law and the derived row automata, like the joint chain: every command
says what the agent does at some positions when the row shown there has some pattern.
Probabilities are written in terms of p and n, so the text can be compared with the
algorithm's by eye; PRISM and Storm explore the same states as `enumerate_joint`.

A pattern that the walk can never show at a position has no command. If a bound left a greedy
choice undecided, neither has that pattern, and a model checker that reaches it reports a
deadlock instead of a guess.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from markov_lrsao.exact.rationals import rational_text
from markov_lrsao.model.law import Share, StepLaw
from markov_lrsao.rows.automata import RowAutomata, derive_automata
from markov_lrsao.rows.lumping import merge_patterns
from markov_lrsao.storage import write_whole

__all__ = ["format_prism_language", "write_prism_language"]

_UNDECIDED = ": the greedy choice is undecided, no command"


def format_prism_language(
    law: StepLaw, *, merge: bool = True, automata: RowAutomata | None = None
) -> str:
    """Return the model's text; `merge` merges equivalent patterns, as `enumerate_joint` does."""
    automata = automata if automata is not None else derive_automata(law)
    if merge:
        automata, _ = merge_patterns(automata)
    rows = law.rows_met()
    lines = [
        *_head(law, merge),
        "dtmc",
        "",
        f"const int n = {law.n};",
        "",
        "module search",
        f"  p : [0..{law.optimum}] init 0; // position: the number of ones",
    ]
    for r in rows:
        count = len(automata.patterns[automata.class_of(r)])
        lines.append(
            f"  {_name(law, r)} : [0..{max(count - 1, 1)}] init 0; "
            f"// pattern of the Q-row of agent state {law.state(r)}"
        )
    for (r, kind), group in groupby(
        range(law.optimum), key=lambda p: (int(law.row[p]), int(law.kind[p]))
    ):
        positions = list(group)
        lines += ["", f"  // {_where(positions)}: the agent sees state {law.state(r)}"]
        lines += _commands(automata, r, kind, positions)
    lines += [
        "",
        "  // the optimum has been found",
        f"  [] p={law.optimum} -> true;",
        "endmodule",
        "",
        f'label "target" = p={law.optimum};',
    ]
    lines += [
        f'label "milestone{k}" = p>={position};'
        for k, position in enumerate(law.landscape.milestones[:-1], start=1)
    ]
    lines += ["", 'rewards "steps"', f"  p<{law.optimum} : 1;", "endrewards", ""]
    return "\n".join(lines)


def write_prism_language(law: StepLaw, path: str | Path, *, merge: bool = True) -> int:
    """Write the model to a file; return how many patterns have no command, being undecided."""
    text = format_prism_language(law, merge=merge)
    write_whole(path, text)
    return text.count(_UNDECIDED)


def _head(law: StepLaw, merge: bool) -> list[str]:
    shape = law.landscape
    size = f"n = {law.n}" + (f", l = {shape.ell}" if shape.ell else "")
    lines = [f"// {law.algorithm.name} on {shape.name}, {size}"]
    chosen = law.algorithm.parameters
    if chosen is not None:
        lines.append(
            f"// alpha = {rational_text(chosen.alpha)}, gamma = "
            f"{rational_text(chosen.gamma)}, r = {rational_text(chosen.r)}"
        )
    if merge:
        lines.append("// Patterns with equal futures are merged; a class is named by one of them.")
    return [*lines, '// Expected number of steps: R{"steps"}=? [ F "target" ]', ""]


def _name(law: StepLaw, row: int) -> str:
    value = law.state(row)
    name = f"q{value}" if value >= 0 else f"q_minus{-value}"
    return name.replace("/", "_over_")


def _where(positions: list[int]) -> str:
    first, last = positions[0], positions[-1]
    return f"position {first}" if first == last else f"positions {first}..{last}"


def _commands(automata: RowAutomata, row: int, kind: int, positions: list[int]) -> list[str]:
    law = automata.law
    c = automata.class_of(row)
    variable = _name(law, row)
    first, last = positions[0], positions[-1]
    here = f"p={first}" if first == last else f"p>={first} & p<={last}"
    lines = []
    for k, shown in enumerate(automata.patterns[c]):
        text = f"{variable}={k}: {automata.label(c, k)}"
        if shown.undecided is not None:
            lines.append(f"  // {text}{_UNDECIDED}")
            continue
        outcomes = automata.outcomes(kind, c, k)
        if not outcomes:
            continue
        greedy = ", ".join(law.actions[a] for a in shown.maximal)
        lines.append(f"  // {text}; greedy: {greedy}")
        updates = " + ".join(
            f"{_weight(share, law.unit, len(shown.maximal))} : {_update(variable, moved, k, to)}"
            for (moved, to), share in sorted(outcomes.items())
        )
        lines.append(f"  [] {here} & {variable}={k} -> {updates};")
    return lines


def _weight(share: Share, unit: int, ties: int) -> str:
    """Return (a p + b (n-p)) / (ties n), a and b being how many greedy actions lead here."""
    a, b = (part * ties // unit for part in share)
    if a == b:
        return "1" if b == ties else f"{b}/{ties}"
    terms = [
        (f"{count}*" if count > 1 else "") + text
        for count, text in ((a, "p"), (b, "(n-p)"))
        if count
    ]
    above = terms[0] if len(terms) == 1 else f"({'+'.join(terms)})"
    return f"{above}/n" if ties == 1 else f"{above}/({ties}*n)"


def _update(variable: str, step: int, pattern: int, following: int) -> str:
    parts = []
    if step:
        parts.append(f"(p'=p{step:+d})")
    if following != pattern:
        parts.append(f"({variable}'={following})")
    return "&".join(parts) or "true"
