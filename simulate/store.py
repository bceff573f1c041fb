"""The results of sweeps: one SQLite file, one row per block of runs.

SQLite, because a sweep appends small results for hours and may be killed at any moment: every
commit is atomic and durable, a half-written one is rolled back by whoever opens the file next, and
Python brings it along. (A Parquet file can only be rewritten whole.) The table `results` has the
primary key (cell, first_run) and holds nothing that depends on when or where a block was played, so
two files with the same cells are equal row by row.

    cells    cell, key                canonical text of the cell, see `plan.CellPlan`
    results  cell, first_run, runs, successes, steps, restarts, decisions, hits, spent

`hits` (runs x phases) and `spent` (runs) are 64-bit little-endian integers, compressed with zlib;
-1 in `hits` is a milestone that was not reached, so a run is censored iff its last one is -1.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from markov_lrsao.errors import LrsaoError
from simulate.plan import CellPlan
from simulate.samples import Samples

__all__ = ["Block", "ResultsFile", "ResultsFileError", "pack"]

_APPLICATION = 0x4C52534F  # "LRSO"
_VERSION = 1
_SCHEMA = """
CREATE TABLE cells (cell INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE);
CREATE TABLE results (
    cell INTEGER NOT NULL REFERENCES cells, first_run INTEGER NOT NULL, runs INTEGER NOT NULL,
    successes INTEGER NOT NULL, steps INTEGER NOT NULL, restarts INTEGER NOT NULL,
    decisions INTEGER NOT NULL, hits BLOB NOT NULL, spent BLOB NOT NULL,
    PRIMARY KEY (cell, first_run));
"""

IntArray = npt.NDArray[np.int64]


class ResultsFileError(LrsaoError):
    """A results file cannot be read or written."""


@dataclass(frozen=True)
class Block:
    """The runs of one block, as they are stored."""

    first_run: int
    runs: int
    successes: int
    steps: int
    restarts: int
    decisions: int
    hits: bytes
    spent: bytes


def pack(samples: Samples) -> Block:
    """Return the stored form of runs."""
    return Block(
        first_run=samples.first_run, runs=samples.runs,
        successes=samples.runs - int(samples.censored.sum()), steps=int(samples.steps.sum()),
        restarts=int(samples.restarts.sum()), decisions=int(samples.decisions.sum()),
        hits=zlib.compress(samples.hits.astype("<i8").tobytes(), 1),
        spent=zlib.compress(samples.steps.astype("<i8").tobytes(), 1),
    )


class ResultsFile:
    """An open results file; use it as a context manager."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        new = not self._path.exists() or self._path.stat().st_size == 0
        if new and not self._path.parent.is_dir():
            raise ResultsFileError(f"results file {path}: the folder does not exist")
        with self._errors():
            self._db = sqlite3.connect(self._path, timeout=30)
            try:
                self._open(new)
            except BaseException:
                self._db.close()
                raise

    def _open(self, new: bool) -> None:
        if new:
            self._db.executescript(
                f"BEGIN IMMEDIATE; PRAGMA application_id = {_APPLICATION}; "
                f"PRAGMA user_version = {_VERSION}; {_SCHEMA} COMMIT;")
            return
        identity = self._db.execute("PRAGMA application_id").fetchone()[0]
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if identity != _APPLICATION:
            raise ResultsFileError(
                f"results file {self._path} is an SQLite file of another program; choose another "
                f"name")
        if version != _VERSION:
            raise ResultsFileError(
                f"results file {self._path} has format {version}, this program writes {_VERSION}; "
                f"choose another name")
        broken = self._db.execute("PRAGMA quick_check(1)").fetchone()[0]
        if broken != "ok":
            raise ResultsFileError(f"results file {self._path} is damaged: {broken}")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn SQLite's errors into one line that names the file."""
        try:
            yield
        except sqlite3.Error as error:
            hint = ("free some space and start again, committed results are kept"
                    if "full" in str(error) else "move it away or choose another name")
            raise ResultsFileError(f"results file {self._path}: {error}; {hint}") from None

    def __enter__(self) -> ResultsFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def register(self, cells: tuple[CellPlan, ...]) -> dict[CellPlan, int]:
        """Enter the cells that are new, in order; return the numbers of all."""
        with self._errors(), self._db:
            self._db.executemany("INSERT OR IGNORE INTO cells (key) VALUES (?)",
                                 [(cell.key,) for cell in cells])
            numbers = dict(self._db.execute("SELECT key, cell FROM cells"))
        return {cell: int(numbers[cell.key]) for cell in cells}

    def add(self, blocks: list[tuple[int, Block]]) -> None:
        """Store blocks in one transaction; what is there already stays."""
        rows = [(cell, b.first_run, b.runs, b.successes, b.steps, b.restarts, b.decisions, b.hits,
                 b.spent) for cell, b in blocks]
        with self._errors(), self._db:
            self._db.executemany(
                "INSERT OR IGNORE INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)

    def done(self) -> set[tuple[int, int]]:
        """Return (cell, first run) of every stored block."""
        with self._errors():
            return {(int(c), int(f)) for c, f in
                    self._db.execute("SELECT cell, first_run FROM results")}

    def cells(self) -> dict[int, CellPlan]:
        """Return number -> cell."""
        with self._errors():
            rows = self._db.execute("SELECT cell, key FROM cells ORDER BY cell").fetchall()
        return {int(cell): CellPlan.from_key(key) for cell, key in rows}

    def runs(self, cell: int) -> tuple[IntArray, IntArray, int, int]:
        """Return (hits, steps, restarts, exact decisions) of all stored runs of a cell."""
        with self._errors():
            rows = self._db.execute(
                "SELECT runs, restarts, decisions, hits, spent FROM results WHERE cell = ? "
                "ORDER BY first_run", (cell,)).fetchall()
        try:
            spent = [np.frombuffer(zlib.decompress(s), dtype="<i8") for *_, s in rows]
            hits = [np.frombuffer(zlib.decompress(h), dtype="<i8").reshape(count, -1)
                    for count, _, _, h, _ in rows]
        except (zlib.error, ValueError) as error:
            raise ResultsFileError(
                f"results file {self._path} is damaged in cell {cell}: {error}") from None
        if not rows:
            return np.empty((0, 1), dtype=np.int64), np.empty(0, dtype=np.int64), 0, 0
        return (np.concatenate(hits).astype(np.int64), np.concatenate(spent).astype(np.int64),
                sum(int(row[1]) for row in rows), sum(int(row[2]) for row in rows))
