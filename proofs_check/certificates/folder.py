"""The folder of certificates: index.json, and a file for every artefact behind a verdict.

An *artefact* is a journal with what it derived: its queries in one SMT-LIB file, its automaton,
its exact values, its runs. A statement names the artefacts of its evidence, an artefact those it
leans on. The folder is made beside its place and renamed, so it is there as a whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markov_lrsao.errors import ParameterError
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.release import release
from proofs_check.automata.uniform import UniformBounds
from proofs_check.certificates.documents import (
    document_of,
    point_document,
    potential_documents,
    run_document,
)
from proofs_check.certificates.forms import write_forms
from proofs_check.certificates.values import ChainFiles, write_values
from proofs_check.claims.setting import Setting
from proofs_check.claims.verdict import Evidence, EvidenceKind, StatementResult
from proofs_check.logic.journal import Journal, Query, closure

__all__ = ["SCHEMA", "Noted", "check_place", "query_text", "write_certificates"]

SCHEMA = "markov-lrsao certificates 1"


@dataclass(frozen=True)
class Noted:
    """Evidence of one check with the journal that was open while it was found."""

    kind: EvidenceKind
    evidence: tuple[Evidence, ...]
    journal: Journal


def check_place(folder: Path) -> None:
    """Raise ParameterError unless the folder is new, empty, or an older one of certificates.

    An older one is replaced as a whole, so it must hold nothing but what its index lists.
    """
    if not folder.exists():
        if not folder.absolute().parent.is_dir():
            raise ParameterError(
                f"`certificates` {folder}: the folder {folder.absolute().parent} does not exist; "
                f"create it first"
            )
        return
    if not folder.is_dir():
        raise ParameterError(f"`certificates` {folder} is a file; name a folder")
    inside = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if not p.is_dir()}
    if not inside and not any(folder.iterdir()):
        return
    advice = "name another folder, or empty this one"
    try:
        index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
        listed = set(index["files"]) | {"index.json"}
        known = index["schema"] == SCHEMA
    except (OSError, ValueError, KeyError, TypeError):
        raise ParameterError(
            f"`certificates` {folder} is not empty and holds no certificates; {advice}"
        ) from None
    if not known or inside - listed:
        extra = ", ".join(sorted(inside - listed)[:3]) or "an index of another version"
        raise ParameterError(
            f"`certificates` {folder} holds more than certificates ({extra}); {advice}"
        )


def query_text(query: Query) -> str:
    """Return a query as a part of an SMT-LIB script, with its expected answer."""
    lines = [f"; purpose: {' '.join(query.purpose.split())}"]
    if query.witness and not any(v.startswith("~") for v in query.witness.values()):
        lines.append("; witness: " + ", ".join(f"{k} = {v}" for k, v in query.witness.items()))
    lines += [
        f"(set-logic {query.logic})",
        f"(set-info :status {query.status})",
        query.text.rstrip(),
        "(check-sat)",
        "(reset)",
    ]
    return "\n".join(lines) + "\n"


class _Folder:
    """The files of a folder that is being made."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.files: dict[str, dict[str, Any]] = {}

    def add(self, path: str, content: str, kind: str, **about: Any) -> str:
        """Write a file, once; return its path."""
        if path not in self.files:
            data = content.encode("utf-8")
            target = self.place / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            self.files[path] = {"sha256": hashlib.sha256(data).hexdigest(), "kind": kind, **about}
        return path

    def add_json(self, path: str, document: Mapping[str, Any]) -> str:
        """Write a document."""
        return self.add(path, json.dumps(document, indent=0) + "\n", str(document["kind"]))


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


class _Artefacts:
    """Journals as artefacts with files."""

    def __init__(self, folder: _Folder, setting: Setting) -> None:
        self.folder = folder
        self.actions = [name for name, _ in setting.family.objectives]
        self.chains = ChainFiles(setting, folder.add_json)
        self.names: dict[Journal, str] = {}
        self.entries: list[dict[str, Any]] = []

    def name(self, journal: Journal, prefix: str = "") -> str:
        """Return the unique name of a journal's artefact."""
        if journal not in self.names:
            wanted = f"{prefix}, {journal.name}" if prefix else journal.name
            taken = set(map(_slug, self.names.values()))
            number, name = 1, wanted
            while _slug(name) in taken:
                number += 1
                name = f"{wanted} ({number})"
            self.names[journal] = name
        return self.names[journal]

    def write(self, journal: Journal) -> None:
        """Write the files of a named journal."""
        name = self.names[journal]
        files = []
        if journal.queries:
            files.append(self._queries(name, journal.queries))
        document = document_of(journal, self.actions)
        if document is not None:
            if journal.queries:
                document["queries"] = files[0]
            files.append(self.folder.add_json(f"automata/{_slug(name)}.json", document))
        add = self.folder.add_json
        if isinstance(journal.subject, UniformBounds):
            for one in potential_documents(journal.subject):
                files.append(add(f"potentials/{_slug(one['time'])}-{one['sense']}.json", one))
        files += write_forms(journal.subject, _slug(name), add, self.chains)
        if journal.values:
            files += write_values(_slug(name), journal.values, add, self.chains)
        leans = [self.name(other) for other in journal.leans_on]
        self.entries.append({"name": name, "files": list(dict.fromkeys(files)), "leans_on": leans})

    def _queries(self, name: str, queries: Sequence[Query]) -> str:
        header = (
            f"; {name}: {len(queries)} queries, with a reset after each.\n"
            "; The expected answer of each is its :status.\n"
        )
        counts = Counter(q.status for q in queries)
        return self.folder.add(
            f"queries/{_slug(name)}.smt2",
            header + "\n".join(query_text(q) for q in queries),
            "queries",
            expected={status: counts[status] for status in ("unsat", "sat", "unknown")},
            confirmed_by_cvc5=sum(q.second == "agrees" for q in queries),
        )


def _statement(
    result: StatementResult, noted: Sequence[Noted], artefacts: _Artefacts, folder: _Folder
) -> dict[str, Any]:
    """Return a statement's entry in the index."""
    evidence: list[dict[str, Any]] = []
    for item in noted:
        used = any((item.journal.queries, item.journal.leans_on, item.journal.values))
        for found in item.evidence:
            files = []
            bad = found.counterexample
            if bad is not None and bad.replayable and bad.algorithm == "lrsao":
                path = f"runs/{_slug(result.id)}-{len(evidence)}.json"
                files.append(folder.add_json(path, run_document(bad)))
            if found.kind is EvidenceKind.LINES:
                files += _points(result, found, folder)
            evidence.append(
                {
                    "kind": found.kind.value,
                    "part": found.part,
                    "verdict": found.verdict.value,
                    "scope": found.scope.to_dict(),
                    "summary": found.summary,
                    "facts": list(found.facts),
                    "artefacts": [artefacts.name(item.journal, result.id)] if used else [],
                    "files": files,
                }
            )
    return {
        "statement": result.id,
        "claim": result.claim,
        "scope": result.scope.to_dict(),
        "verdict": result.verdict.value,
        "dependencies": list(result.depends),
        "solvers": {
            "queries": result.solvers.queries,
            "confirmed_by_second": result.solvers.confirmed,
        },
        "evidence": evidence,
    }


def _points(result: StatementResult, found: Evidence, folder: _Folder) -> list[str]:
    """Write the points at which lines of a display fail; return the files."""
    files = []
    for erratum in result.errata:
        document = point_document(erratum)
        if document is not None and found.part == f"display {erratum.line.rpartition(':')[0]}":
            files.append(folder.add_json(f"points/{_slug(erratum.line)}.json", document))
    return files


def write_certificates(
    place: Path,
    setting: Setting,
    results: Iterable[StatementResult],
    noted: Mapping[str, Sequence[Noted]],
    *,
    progress: Progress = no_progress,
) -> None:
    """Write everything behind the verdicts into a folder, as a whole or not at all.

    Raises
    ------
    ParameterError
        The folder cannot be written, or holds something else.
    """
    check_place(place)
    place = place.absolute()
    try:
        parts = Path(tempfile.mkdtemp(dir=place.parent, prefix=f".{place.name}.", suffix=".part"))
        try:
            _fill(parts / "new", setting, list(results), noted, progress)
            if place.exists():
                os.rename(place, parts / "old")
            try:
                os.rename(parts / "new", place)
            except BaseException:
                if (parts / "old").exists():
                    os.rename(parts / "old", place)
                raise
        finally:
            shutil.rmtree(parts)
    except OSError as error:
        raise ParameterError(
            f"cannot write {place}: {error.strerror or error}; make room or choose another place"
        ) from None


def _fill(
    place: Path,
    setting: Setting,
    results: Sequence[StatementResult],
    noted: Mapping[str, Sequence[Noted]],
    progress: Progress,
) -> None:
    """Write all files of a new folder."""
    place.mkdir()
    folder = _Folder(place)
    artefacts = _Artefacts(folder, setting)
    statements = [_statement(r, noted[r.id], artefacts, folder) for r in results]
    journals = closure(list(artefacts.names))
    with progress("writing certificates", total=len(journals)) as bar:
        for journal in journals:
            artefacts.name(journal)
            artefacts.write(journal)
            bar.advance()
    index = {
        "schema": SCHEMA,
        "program": f"markov-lrsao {release()}",
        "level": setting.level,
        "hypothesis": list(setting.hypothesis),
        "statements": statements,
        "artefacts": artefacts.entries,
        "files": folder.files,
    }
    (place / "index.json").write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")
