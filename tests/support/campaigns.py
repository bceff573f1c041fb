"""The committed table of whole campaigns: what ran, at which commit, with which outcome.

`make test-exhaustive` runs the third tier and writes a row per test into tests/campaigns.csv;
rows of tests that did not run stay. What a test counted (instances, seeds, refusals) comes from
pytest's `record_property`.
"""

from __future__ import annotations

import csv
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

__all__ = ["COLUMNS", "Row", "read", "rows_of", "write"]

COLUMNS = ("test", "outcome", "minutes", "commit", "counted")
Row = dict[str, str]


def _commit(root: Path) -> str:
    """Return the commit; "+" where tracked files differ from it."""

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=root, capture_output=True, text=True, check=True
        ).stdout.strip()

    changed = git(
        "status", "--porcelain", "--untracked-files=no", "--", ".", ":!tests/campaigns.csv"
    )
    return git("rev-parse", "--short=10", "HEAD") + ("+" if changed else "")


def rows_of(reports: Iterable[pytest.TestReport], root: Path) -> dict[str, Row]:
    """Return a row for each test that was called."""
    commit = _commit(root)
    return {
        report.nodeid: {
            "test": report.nodeid,
            "outcome": report.outcome,
            "minutes": f"{report.duration / 60:.1f}",
            "commit": commit,
            "counted": ", ".join(f"{key} = {value}" for key, value in report.user_properties),
        }
        for report in reports
        if report.when == "call"
    }


def read(path: Path) -> dict[str, Row]:
    """Return the table's rows by test."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as stream:
        return {row["test"]: row for row in csv.DictReader(stream)}


def write(path: Path, rows: dict[str, Row]) -> None:
    """Write the table, sorted by test."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[test] for test in sorted(rows))
