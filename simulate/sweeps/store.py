"""The results of sweeps: one SQLite file, one row per batch of runs.

SQLite, because a sweep appends small results for hours and may be killed at any moment: every
commit is atomic and durable, a half-written one is rolled back by whoever opens the file next, and
Python brings it along. (A Parquet file can only be rewritten whole.) The table `results` has the
primary key (cell, first_run) and holds nothing that depends on when or where a batch was played,
so two files with the same experiments are equal row by row. In the file an experiment is called
cell, and the size of its batches block: names of a format do not change.

    cells    cell, key, block, plan, digest
    results  cell, first_run, runs, successes, steps, hits, spent, restarts, decisions, digest
    seal     id, cells, results, total, digest

`key` says what is simulated, `plan` is the experiment as canonical JSON; see `plan.Experiment`.
`hits` (runs x phases), `spent` (steps), `restarts` and `decisions` (one per run) are 64-bit
little-endian integers, compressed with zlib; -1 in `hits` is a milestone that was not reached, so
a run is censored iff its last one is -1. Batches begin at multiples of `block`; more runs of an
experiment fill its last batch up.

Every row carries a digest of all its values (and of its experiment's key), and the seal one of all
rows, so that a changed, lost or added row is seen whatever SQLite itself makes of the damage. All
of it is checked whenever a file is opened. `salvage` keeps the rows that are whole.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import astuple
from pathlib import Path
from typing import Any

from markov_lrsao.errors import LrsaoError
from simulate.runs.batches import Batch, Runs, digest, joined, xor
from simulate.sweeps.plan import Experiment

__all__ = ["DamagedError", "ResultsFile", "ResultsFileError", "salvage"]

_APPLICATION = 0x4C52534F  # "LRSO"
_VERSION = 2
_TABLES = {
    "cells": "CREATE TABLE cells (cell INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, "
    "block INTEGER NOT NULL, plan TEXT NOT NULL, digest BLOB NOT NULL)",
    "results": "CREATE TABLE results (cell INTEGER NOT NULL REFERENCES cells, "
    "first_run INTEGER NOT NULL, runs INTEGER NOT NULL, successes INTEGER NOT NULL, "
    "steps INTEGER NOT NULL, hits BLOB NOT NULL, spent BLOB NOT NULL, "
    "restarts BLOB NOT NULL, decisions BLOB NOT NULL, digest BLOB NOT NULL, "
    "PRIMARY KEY (cell, first_run))",
    "seal": "CREATE TABLE seal (id INTEGER PRIMARY KEY, cells INTEGER NOT NULL, "
    "results INTEGER NOT NULL, total BLOB NOT NULL, digest BLOB NOT NULL)",
}
_HINTS = {
    "full": "free some space and start again, committed results are kept",
    "readonly": "the file or its folder cannot be written: make them writable, or name another "
    "file with `path`",
    "unable to open": "it cannot be opened: look at its permissions and those of its folder",
    "locked": "another sweep is writing it: wait until that has ended",
    "disk I/O error": "look after the disk, then start again; committed results are kept",
    "not a database": "move it away or choose another name",
}
_MOST_NAMED = 5


class ResultsFileError(LrsaoError):
    """A results file cannot be read or written."""


class DamagedError(ResultsFileError):
    """A results file of ours is damaged; what is whole can be kept (`salvage`)."""


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into one line that names the file and says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        text = str(error)
        for part, hint in _HINTS.items():
            if part in text:
                raise ResultsFileError(f"results file {path}: {text}; {hint}") from None
        raise _damaged(path, text) from None


def _damaged(path: Path, what: str) -> DamagedError:
    return DamagedError(
        f"results file {path} is damaged: {what}; sweep it again with `repair=True`, "
        f"which keeps the batches that are whole and replays the others"
    )


class ResultsFile:
    """An open results file; use it in a `with` statement.

    Raises
    ------
    ResultsFileError
        The file is of another program or an older format, or cannot be read or written.
    DamagedError
        A row of it has changed, is missing or was added.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        new = not self._path.exists() or self._path.stat().st_size == 0
        if new and not self._path.parent.is_dir():
            raise ResultsFileError(f"results file {path}: the folder does not exist")
        with _errors(self._path):
            self._db = sqlite3.connect(self._path, timeout=30, isolation_level=None)
            try:
                if new:
                    self._create()
                else:
                    identity, version = (
                        self._db.execute(f"PRAGMA {name}").fetchone()[0]
                        for name in ("application_id", "user_version")
                    )
                    _check_identity(identity, version, self._path)
                    self._check()
            except BaseException:
                self._db.close()
                raise

    def _create(self) -> None:
        with self._transaction():
            self._db.execute(f"PRAGMA application_id = {_APPLICATION}")
            self._db.execute(f"PRAGMA user_version = {_VERSION}")
            for statement in _TABLES.values():
                self._db.execute(statement)
            self._db.execute("INSERT INTO seal VALUES (1, 0, 0, ?, ?)", _sealed(0, 0, xor([])))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Begin at once, so that two sweeps that share a file take turns."""
        with _errors(self._path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                if self._db.in_transaction:  # a full disk has rolled back already
                    self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def _check(self) -> None:
        """Look at every page, every row and the seal."""
        wrong = [str(row[0]) for row in self._db.execute("PRAGMA integrity_check(1)")]
        texts = dict(self._db.execute("SELECT name, sql FROM sqlite_schema WHERE sql NOT NULL"))
        if wrong != ["ok"] or texts != _TABLES:
            reason = " ".join(wrong[0].split()) if wrong != ["ok"] else "its tables have changed"
            raise _damaged(self._path, reason)
        experiments, bad = _split(
            self._db.execute("SELECT * FROM cells").fetchall(), _experiment_is_whole
        )
        keys = {row[0]: row[1] for row in experiments}
        rows, lost = _split(
            self._db.execute("SELECT * FROM results").fetchall(),
            lambda row: _row_is_whole(row, keys),
        )
        if bad or lost:
            raise _damaged(self._path, _names(experiments, bad, lost))
        seal = self._db.execute("SELECT * FROM seal").fetchall()
        total = xor(row[-1] for row in (*experiments, *rows))
        if seal != [(1, len(experiments), len(rows), *_sealed(len(experiments), len(rows), total))]:
            raise _damaged(self._path, "a row was lost or added")

    def __enter__(self) -> ResultsFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def _reseal(self, experiments: int, rows: int, changes: list[bytes]) -> None:
        """Renew the seal for so many more rows; `changes` are digests of old and new rows."""
        _, old_cells, old_rows, total, _ = self._db.execute("SELECT * FROM seal").fetchone()
        experiments, rows, total = old_cells + experiments, old_rows + rows, xor([total, *changes])
        self._db.execute(
            "UPDATE seal SET cells = ?, results = ?, total = ?, digest = ?",
            (experiments, rows, *_sealed(experiments, rows, total)),
        )

    def register(self, experiments: tuple[Experiment, ...]) -> dict[Experiment, tuple[int, int]]:
        """Enter the experiments that are new, in order; return number and size of batches of all.

        New experiments get the smallest free numbers.
        """
        with _errors(self._path):
            known = self._numbers()
            if any(experiment.key not in known for experiment in experiments):
                with self._transaction():
                    self._enter(experiments)
                known = self._numbers()
        return {experiment: known[experiment.key] for experiment in experiments}

    def _numbers(self) -> dict[str, tuple[int, int]]:
        return {
            key: (number, batch)
            for number, key, batch in self._db.execute("SELECT cell, key, block FROM cells")
        }

    def _enter(self, experiments: tuple[Experiment, ...]) -> None:
        known = self._numbers()
        used = {number for number, _ in known.values()}
        free = (k for k in range(1, len(used) + len(experiments) + 1) if k not in used)
        digests = []
        for experiment in experiments:
            if experiment.key not in known:
                row = (next(free), experiment.key, experiment.batch, experiment.text)
                known[experiment.key] = row[0], experiment.batch
                digests.append(digest(*row))
                self._db.execute("INSERT INTO cells VALUES (?, ?, ?, ?, ?)", (*row, digests[-1]))
        self._reseal(len(digests), 0, digests)

    def add(self, batches: list[tuple[int, Batch]]) -> None:
        """Store batches in one transaction; what is there already stays.

        A batch that begins inside a stored one, where that ends, is joined to it.
        """
        with self._transaction():
            known = {number: (key, size) for key, (number, size) in self._numbers().items()}
            added, changes = 0, list[bytes]()
            for experiment, batch in batches:
                key, size = known[experiment]
                begin = batch.first_run - batch.first_run % size
                old = self._db.execute(
                    "SELECT * FROM results WHERE cell = ? AND first_run = ?", (experiment, begin)
                ).fetchone()
                have = 0 if old is None else old[2]
                if begin + have != batch.first_run:
                    continue  # somebody else has played it
                if old is not None:
                    batch, _ = joined([_stored(old), batch])
                    changes.append(old[-1])
                row = (experiment, *astuple(batch))
                changes.append(digest(key, *row))
                self._db.execute(
                    "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (*row, changes[-1]),
                )
                added += old is None
            self._reseal(0, added, changes)

    def done(self) -> dict[tuple[int, int], int]:
        """Return (experiment, first run) -> number of runs, of every stored batch."""
        with _errors(self._path):
            return {
                (int(c), int(f)): int(runs)
                for c, f, runs in self._db.execute("SELECT cell, first_run, runs FROM results")
            }

    def experiments(self) -> dict[int, Experiment]:
        """Return number -> experiment."""
        with _errors(self._path):
            rows = self._db.execute("SELECT cell, plan FROM cells ORDER BY cell").fetchall()
        return {int(experiment): Experiment.from_text(text) for experiment, text in rows}

    def runs(self, experiment: int) -> Runs | None:
        """Return all stored runs of an experiment, in order; None if there are none."""
        with _errors(self._path):
            rows = self._db.execute(
                "SELECT * FROM results WHERE cell = ? ORDER BY first_run", (experiment,)
            ).fetchall()
        return joined(_stored(row) for row in rows)[1] if rows else None

    def _fill(self, experiments: list[tuple[Any, ...]], rows: list[tuple[Any, ...]]) -> None:
        """Enter rows that are known to be whole into an empty file."""
        with self._transaction():
            self._db.executemany("INSERT INTO cells VALUES (?, ?, ?, ?, ?)", experiments)
            self._db.executemany("INSERT INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
            self._reseal(len(experiments), len(rows), [row[-1] for row in (*experiments, *rows)])


def salvage(path: str | Path) -> int:
    """Replace a damaged file by one with the rows that are whole; return how many batches it has.

    The new file is written beside the old one and renamed, so that a kill leaves one of the two.
    """
    where = Path(path)
    with where.open("rb") as stream:
        header = stream.read(72)
    # Read here, not by SQLite, which may refuse to read anything of a damaged file.
    _check_identity(
        int.from_bytes(header[68:72], "big"), int.from_bytes(header[60:64], "big"), where
    )
    with _errors(where), closing(sqlite3.connect(where, timeout=30, isolation_level=None)) as db:
        experiments, _ = _split(_readable(db, "cells"), _experiment_is_whole)
        keys = {row[0]: row[1] for row in experiments}
        rows, _ = _split(_readable(db, "results"), lambda row: _row_is_whole(row, keys))
    partial = where.with_name(where.name + ".partial")
    partial.unlink(missing_ok=True)
    try:
        with ResultsFile(partial) as file:
            file._fill(sorted(experiments), sorted(rows))
        os.replace(partial, where)
    finally:
        partial.unlink(missing_ok=True)
    return len(rows)


def _check_identity(identity: int, version: int, path: Path) -> None:
    """Refuse files of other programs and formats."""
    if identity != _APPLICATION:
        raise ResultsFileError(
            f"results file {path} is an SQLite file of another program; choose another name"
        )
    if version != _VERSION:
        raise ResultsFileError(
            f"results file {path} has format {version}, this program reads and writes {_VERSION}; "
            f"choose another name and play the sweep again"
        )


def _readable(db: sqlite3.Connection, table: str) -> list[tuple[Any, ...]]:
    """Return the rows of a table that SQLite can reach from either end."""
    found: dict[tuple[Any, ...], None] = {}
    for order in ("ASC", "DESC"):
        try:
            for row in db.execute(f"SELECT * FROM {table} NOT INDEXED ORDER BY rowid {order}"):
                found[row] = None
        except sqlite3.Error:
            continue
    return list(found)


def _split(
    rows: list[tuple[Any, ...]], whole: Any
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return the rows that are whole, each number or place once, and the others."""
    good = [row for row in rows if whole(row)]
    return good, [row for row in rows if not whole(row)]


def _experiment_is_whole(row: tuple[Any, ...]) -> bool:
    return len(row) == 5 and digest(*row[:-1]) == row[-1]


def _row_is_whole(row: tuple[Any, ...], keys: dict[Any, str]) -> bool:
    return len(row) == 10 and row[0] in keys and digest(keys[row[0]], *row[:-1]) == row[-1]


def _sealed(experiments: int, rows: int, total: bytes) -> tuple[bytes, bytes]:
    return total, digest(experiments, rows, total)


def _stored(row: tuple[Any, ...]) -> Batch:
    return Batch(*row[1:-1])


def _names(
    experiments: list[tuple[Any, ...]], bad: list[tuple[Any, ...]], lost: list[tuple[Any, ...]]
) -> str:
    """Say which experiments and batches are damaged, a few of them by name."""
    plans = {row[0]: Experiment.from_text(row[3]) for row in experiments}
    named = [f"the entry of experiment {row[0]!r}" for row in bad]
    for row in lost:
        plan = plans.get(row[0])
        where = f"experiment {row[0]!r}" if plan is None else f"n = {plan.n}, ell = {plan.ell}"
        named.append(f"{where}, the batch of run {row[1]!r}")
    more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    return "; ".join(name[:80] for name in named[:_MOST_NAMED]) + more
