"""A small plan, and what a results file of a sweep holds."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

__all__ = ["FIELDS", "table"]

FIELDS: dict[str, Any] = {"n": "9:12:1", "ell": [2], "runs": 120, "seed": 3, "batch": 50}


def table(path: Path) -> list[tuple[Any, ...]]:
    with sqlite3.connect(path) as db:
        experiments = db.execute("SELECT * FROM cells ORDER BY cell").fetchall()
        rows = db.execute("SELECT * FROM results ORDER BY cell, first_run").fetchall()
    db.close()
    return [*experiments, *rows]
