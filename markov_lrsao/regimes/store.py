"""The points of a map that are solved already: one SQLite file that survives interruptions.

SQLite, because a map collects small results for minutes to hours and may be killed at any moment:
every commit is atomic, and a half-written one is rolled back by whoever opens the file next. A
point is found by all that determines its answer, so that one file serves any number of grids:
a finer map starts from the points it shares with a coarser one.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from markov_lrsao.errors import ParameterError
from markov_lrsao.regimes.points import Values

__all__ = ["PointStore"]

_APPLICATION = 0x4C52534D  # "LRSM"
_FORMAT = 1


class PointStore:
    """An open file of solved points; use it as a context manager. None: in memory only.

    Raises
    ------
    ParameterError
        The file cannot be written, or is something else.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        if path is not None and not path.parent.is_dir():
            raise ParameterError(f"state file {path}: the folder does not exist; make it first")
        with self._errors():
            self._db = sqlite3.connect(":memory:" if path is None else path, timeout=30)
            try:
                self._open()
            except BaseException:
                self._db.close()
                raise

    def _open(self) -> None:
        tables = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if not tables:
            self._db.executescript(
                f"BEGIN IMMEDIATE; PRAGMA application_id = {_APPLICATION}; "
                f"PRAGMA user_version = {_FORMAT}; CREATE TABLE IF NOT EXISTS points "
                f"(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID; COMMIT;"
            )
        identity = self._db.execute("PRAGMA application_id").fetchone()[0]
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if (identity, version) != (_APPLICATION, _FORMAT):
            raise ParameterError(
                f"state file {self._path} is not one of this version's maps; choose another "
                f"name for `state`"
            )

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise ParameterError(
                f"state file {self._path}: {error}; move it away or choose another name for `state`"
            ) from None

    def __enter__(self) -> PointStore:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def add(self, points: Iterable[tuple[str, Values]]) -> None:
        """Commit solved points, all or none."""
        with self._errors(), self._db:
            self._db.executemany(
                "INSERT OR REPLACE INTO points VALUES (?, ?)",
                [(key, json.dumps(values.to_dict())) for key, values in points],
            )

    def get(self, keys: Iterable[str]) -> dict[str, Values]:
        """Return those of the points that are there."""
        found: dict[str, Values] = {}
        with self._errors():
            for key in keys:
                row = self._db.execute("SELECT value FROM points WHERE key = ?", (key,)).fetchone()
                if row is not None:
                    found[key] = Values.from_dict(json.loads(row[0]))
        return found
