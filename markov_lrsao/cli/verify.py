"""`markov-lrsao verify`: a verdict on every statement of the paper, or on claims of one's own."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from markov_lrsao.cli.claims import check_own
from markov_lrsao.cli.completion import statements
from markov_lrsao.cli.options import (
    ALGORITHM,
    ELLS,
    HELPERS,
    LANDSCAPE,
    MAX_STATES,
    NS,
    AlgorithmName,
    AlphaOption,
    GammaOption,
    JsonOption,
    NamesOption,
    OutsideHOption,
    ROption,
)
from markov_lrsao.cli.output import emit, json_text
from markov_lrsao.errors import ParameterError
from markov_lrsao.progress import elapsed, terminal_progress
from markov_lrsao.storage import check_writable, write_whole
from markov_lrsao.tables import VERDICT_COLOURS

if TYPE_CHECKING:
    from proofs_check.claims.verdict import StatementResult

__all__ = ["verify"]


class Level(StrEnum):
    """How far ranges go."""

    quick = "quick"
    full = "full"


_STATEMENT = typer.Argument(
    help='Statements such as "Lemma 10"; all if none is given.', autocompletion=statements
)
_LEVEL = typer.Option(help="quick: two minutes; full: some ten minutes.")
_MARKDOWN = typer.Option("--markdown", help="Write a linked report to this file.")
_SAVE = typer.Option("--save", help="Write counterexamples (JSON, for `replay`) into this folder.")
_CERTIFICATES = typer.Option(
    "--certificates",
    metavar="DIR",
    help="Write what the verdicts rest on into this folder; "
    "`python -m proofs_check.checker DIR` checks it.",
)
_STRICT = typer.Option("--strict", help="Exit with 1 if anything is REFUTED or UNKNOWN.")
_CLAIM = typer.Option(
    "--claim",
    help='A claim of your own, e.g. "visits at l+3 <= 5"; may be repeated. The options '
    "below belong to it.",
)
_NO_PROOF = typer.Option("--no-proof", help="Do not try a proof for all n, l and (H).")


def verify(
    statement: Annotated[list[str] | None, _STATEMENT] = None,
    level: Annotated[Level, _LEVEL] = Level.quick,
    markdown: Annotated[Path | None, _MARKDOWN] = None,
    save: Annotated[Path | None, _SAVE] = None,
    certificates: Annotated[Path | None, _CERTIFICATES] = None,
    strict: Annotated[bool, _STRICT] = False,
    names: NamesOption = False,
    claim: Annotated[list[str] | None, _CLAIM] = None,
    landscape: Annotated[str | None, LANDSCAPE] = None,
    helpers: Annotated[str | None, HELPERS] = None,
    algorithm: Annotated[AlgorithmName | None, ALGORITHM] = None,
    n: Annotated[str | None, NS] = None,
    ell: Annotated[str | None, ELLS] = None,
    alpha: AlphaOption = None,
    gamma: GammaOption = None,
    r: ROption = None,
    outside_h: OutsideHOption = False,
    max_states: Annotated[int | None, MAX_STATES] = None,
    no_proof: Annotated[bool, _NO_PROOF] = False,
    as_json: JsonOption = False,
) -> int:
    """Check statements of the paper, or claims of your own, and print a verdict for each.

    A claim is QUANTITY [per row | per position | at P] (<= | < | = | >= | >) NUMBER about all runs;
    quantities are visits, uses(OBJ), positive entries, entry(OBJ) and moves before hit(P), see
    docs/own_lemmas.md. Exit code 0: all hold; 1: one fails, with a shortest run; 2: not understood;
    3: undecided within --max-states.
    """
    given = {
        "--landscape": landscape,
        "--helpers": helpers,
        "--algorithm": algorithm,
        "--n": n,
        "--ell": ell,
        "--alpha": alpha,
        "--gamma": gamma,
        "--r": r,
        "--outside-h": outside_h or None,
        "--max-states": max_states,
        "--no-proof": no_proof or None,
    }
    if claim:
        others = {
            "statements": statement,
            "--list": names or None,
            "--strict": strict or None,
            "--markdown": markdown,
            "--certificates": certificates,
        }
        for name, other in others.items():
            if other:
                raise ParameterError(f"{name} and --claim exclude each other: leave one out")
        return check_own(claim, {k: v for k, v in given.items() if v is not None}, save, as_json)
    for name, value in given.items():
        if value is not None:
            raise ParameterError(f'{name} belongs to a claim: add e.g. --claim "visits <= 5"')
    if names:
        _list(as_json)
        return 0
    return _statements(statement, level, markdown, save, certificates, strict, as_json)


def _statements(
    statement: list[str] | None,
    level: Level,
    markdown: Path | None,
    save: Path | None,
    certificates: Path | None,
    strict: bool,
    as_json: bool,
) -> int:
    """Check statements of the paper."""
    from proofs_check import Setting, Verdict
    from proofs_check import verify as run
    from proofs_check.verification.report import json_report, markdown_report

    if markdown is not None:
        check_writable(markdown, "markdown")
    if save is not None:
        save.mkdir(parents=True, exist_ok=True)
        check_writable(save / "x", "save")
    results = run(
        statement,
        Setting(level=level.value),
        progress=terminal_progress,
        certificates=certificates,
    )
    if markdown is not None:
        write_whole(markdown, markdown_report(results, level.value))
    if save is not None:
        _save(results, save)
    emit(
        as_json,
        lambda: json_report(results, level.value) | {"seconds": round(elapsed(), 3)},
        lambda: _text(results, bool(statement)),
        VERDICT_COLOURS,
    )
    worrying = any(r.verdict in (Verdict.REFUTED, Verdict.UNKNOWN) for r in results)
    return 1 if strict and worrying else 0


def _list(as_json: bool) -> None:
    from proofs_check.verification.registry import all_statements

    known = all_statements().values()
    emit(
        as_json,
        lambda: {"statements": [{"id": s.id, "title": s.title} for s in known]},
        lambda: "\n".join(f"{s.id}: {s.title}" for s in known),
    )


def _save(results: list[StatementResult], folder: Path) -> None:
    """Write every counterexample into a file of its own."""
    from markov_lrsao.report.verdicts import counterexample_file

    for result in results:
        count = len(result.counterexamples)
        for number, bad in enumerate(result.counterexamples):
            text = json_text(bad.to_dict(), indent=1) + "\n"
            write_whole(folder / counterexample_file(result.id, number, count), text)


def _text(results: list[StatementResult], detailed: bool) -> str:
    from proofs_check.verification.report import detail_text, summary_text, table_text

    if detailed:
        return "\n\n".join(detail_text(result) for result in results)
    return f"{table_text(results)}\n\n{summary_text(results, elapsed())}"
