"""The verdict on every statement: from a file of `markov-lrsao verify --json`, or made here.

Counterexamples that are runs are played again while the page is made, so the Q-values that it
shows come from the algorithm and not from the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markov_lrsao.errors import FileFormatError
from markov_lrsao.inputs import load_json, read_text
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.release import SCHEMA
from markov_lrsao.report.files import kept
from markov_lrsao.texts import printable

__all__ = ["check_report", "counterexample_file", "load_verification", "run_rows", "verification"]

_MAKE = "make it with `markov-lrsao verify --json > FILE`"
_STATEMENT_KEYS = {
    "id",
    "title",
    "location",
    "claim",
    "group",
    "scope",
    "covered",
    "verdict",
    "evidence",
    "errata",
    "depends",
    "refuted_support",
    "code",
}
_KINDS = (("id", str), ("verdict", str), ("evidence", list), ("errata", list))
_EVIDENCE_KEYS = {
    "kind",
    "verdict",
    "part",
    "summary",
    "scope",
    "details",
    "second_solver",
    "counterexample",
}
_ERRATUM_KEYS = {"line", "location", "printed", "corrected", "reason", "inherited"}


def verification(
    folder: Path, file: Path | None, progress: Progress = no_progress
) -> dict[str, Any]:
    """Return the report on all statements: read from `file`, kept in `folder`, or made now."""
    if file is not None:
        return load_verification(file)

    def run() -> dict[str, Any]:
        from proofs_check import Setting, verify
        from proofs_check.verification.report import json_report

        return json_report(verify(None, Setting(level="quick"), progress=progress), "quick")

    report: dict[str, Any] = kept(folder / "verify.json", {"level": "quick"}, run)
    return report


def load_verification(path: Path) -> dict[str, Any]:
    """Read what `markov-lrsao verify --json` printed.

    Raises
    ------
    FileFormatError
        The file is not such a report, or not one on all statements of this version.
    """
    try:
        data = load_json(read_text(path), str(path))
    except FileFormatError as error:
        raise FileFormatError(f"`verify` {error}; {_MAKE}") from None
    return check_report(data, str(path))


def check_report(data: Any, source: str) -> dict[str, Any]:
    """Return `data` if it is a report on exactly the registered statements."""
    from proofs_check.claims.verdict import EvidenceKind, Verdict
    from proofs_check.verification.registry import all_statements
    from proofs_check.verification.report import GROUPS

    def refuse(what: str) -> FileFormatError:
        return FileFormatError(f"`verify` {printable(source)}: {what}; {_MAKE}")

    if not isinstance(data, dict) or not isinstance(data.get("statements"), list):
        raise refuse("no list of statements")
    if data.get("schema") != SCHEMA:  # 0.1 wrote none
        raise refuse(f"its schema is {data.get('schema')!r}, but {SCHEMA} is read")
    verdicts, kinds = {v.value for v in Verdict}, {k.value for k in EvidenceKind}
    for s in data["statements"]:
        if not isinstance(s, dict) or not set(s) >= _STATEMENT_KEYS:
            raise refuse("a statement lacks some of its fields")
        if not all(isinstance(s[key], kind) for key, kind in _KINDS):
            raise refuse("a field of a statement has the wrong type")
        for record, keys in ((e, _EVIDENCE_KEYS) for e in s["evidence"]):
            if not isinstance(record, dict) or not set(record) >= keys:
                raise refuse(f"evidence on {s['id']!r} lacks some of its fields")
            if str(record["verdict"]) not in verdicts or str(record["kind"]) not in kinds:
                raise refuse(f"evidence on {s['id']!r} has an unknown verdict or kind")
        if any(not isinstance(x, dict) or not set(x) >= _ERRATUM_KEYS for x in s["errata"]):
            raise refuse(f"an erratum of {s['id']!r} lacks some of its fields")
        if s["verdict"] not in verdicts:
            raise refuse(f"{s['id']!r} has the unknown verdict {s['verdict']!r}")
        if s["group"] not in GROUPS:
            raise refuse(f"{s['id']!r} is of the unknown group {s['group']!r}")
    known, found = list(all_statements()), [s["id"] for s in data["statements"]]
    if sorted(known) != sorted(found):
        same = len(set(known) & set(found))
        raise refuse(f"verdicts on {same} of the {len(known)} statements of this version")
    return data


def counterexample_file(statement: str, number: int, count: int) -> str:
    """Return the name under which `verify --save` writes a statement's counterexample.

    >>> counterexample_file("Lemma 5", 0, 1), counterexample_file("Failing excursions", 1, 2)
    ('lemma-5.json', 'failing-excursions-2.json')
    """
    name = "".join(c if c.isalnum() else "-" for c in statement).strip("-").lower()
    return f"{name}{f'-{number + 1}' if count > 1 else ''}.json"


def run_rows(data: Mapping[str, Any]) -> list[dict[str, str]]:
    """Play a counterexample's run and return its steps as texts; empty for a mere point."""
    from markov_lrsao.exact.rationals import rational_text, shorten
    from proofs_check.claims.counterexample import Counterexample
    from proofs_check.runs.run import replay

    bad = Counterexample.from_dict(dict(data), str(data.get("statement", "counterexample")))
    if not bad.replayable:
        return []
    _, records = replay(bad)
    return [
        {
            "t": str(r.time),
            "phase": str(r.phase),
            "position": str(r.position),
            "largest": ", ".join(r.tied),
            "step": r.sign,
            "result": "accepted" if r.accepted else "rejected",
            "reward": rational_text(r.reward),
            "Q before": shorten(rational_text(r.old), 34),
            "Q after": shorten(rational_text(r.new), 34),
            "next": str(r.next_position),
        }
        for r in records
    ]
