"""Runs as tables for other tools: CSV, Parquet, and Arrow files (which Feather reads).

A table has a line per run:

    run         its number; with the seed and the settings it replays the run
    steps       steps made, which is T unless the run is censored
    censored    whether it reached the step limit
    stuck       position at which it surely stays for ever; missing for other runs
    restarts    how often it began anew
    decisions   choices that were left to exact arithmetic
    phase1, ..  steps in each phase; missing for censored runs

What was simulated goes with it as one JSON object, hyper-parameters as exact fractions: in the
schema's metadata under `KEY` (Parquet, Arrow), or beside a CSV file FILE in FILE-metadata.json,
where the W3C's "CSV on the Web" looks for it. Arrow and Parquet need pyarrow, which is optional.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from markov_lrsao.errors import ParameterError
from markov_lrsao.release import SCHEMA, release
from markov_lrsao.storage import check_writable, write_all

if TYPE_CHECKING:
    from pyarrow import Table

    from simulate.runs.samples import Samples

__all__ = ["ENDINGS", "KEY", "about_runs", "arrow_table", "check_tables", "write_runs"]

ENDINGS = (".csv", ".parquet", ".arrow", ".feather")
KEY = "markov_lrsao"
_CHUNK = 1 << 16  # lines of CSV that are made at once

Column = tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]
"""Values, and where they are missing."""


def check_tables(paths: list[Path]) -> None:
    """Refuse files that could not be written, before anything is simulated.

    Raises
    ------
    ParameterError
        The ending is not known, the place cannot be written, or pyarrow is not installed.
    """
    for path in paths:
        if path.suffix.lower() not in ENDINGS:
            raise ParameterError(
                f"`out` {path}: the ending says the format; it must be {', '.join(ENDINGS)}"
            )
        check_writable(path)
        if path.suffix.lower() != ".csv":
            _pyarrow()


def about_runs(samples: Samples) -> dict[str, Any]:
    """Return what was simulated: everything that is needed to play the same runs again."""
    landscape = samples.law.landscape
    phases = getattr(landscape, "phases", ())
    return {
        "schema": SCHEMA,
        "version": release(),
        **samples.describe(),
        "first_run": samples.first_run,
        "path": list(samples.path),
        "phases": list(phases) if len(phases) == samples.hits.shape[1] else None,
    }


def write_runs(samples: Samples, path: str | Path) -> None:
    """Write runs as a table; the ending says the format, see `ENDINGS`. Whole, or not at all.

    Raises
    ------
    ParameterError
        The ending is not known, pyarrow is not installed, or the file cannot be written.
    """
    place = Path(path)
    check_tables([place])
    match place.suffix.lower():
        case ".csv":
            beside = place.with_name(f"{place.name}-metadata.json")
            write_all({place: _csv(samples), beside: _beside(samples, place.name)})
        case ".parquet":
            write_all({place: _parquet(samples)})
        case _:
            write_all({place: _arrow(samples)})


def _columns(samples: Samples) -> dict[str, Column]:
    censored = samples.censored
    stuck = samples.stuck if samples.stuck is not None else np.full(samples.runs, -1)
    phases = np.zeros(samples.hits.shape, dtype=np.int64)
    phases[~censored] = samples.phase_times
    return {
        "run": (samples.first_run + np.arange(samples.runs, dtype=np.int64), None),
        "steps": (samples.steps, None),
        "censored": (censored, None),
        "stuck": (stuck, stuck < 0),
        "restarts": (samples.restarts, None),
        "decisions": (samples.decisions, None),
        **{f"phase{k}": (times, censored) for k, times in enumerate(phases.T, start=1)},
    }


def _csv(samples: Samples) -> bytes:
    columns = _columns(samples)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for begin in range(0, samples.runs, _CHUNK):
        part = slice(begin, begin + _CHUNK)
        cells = [_cells(values[part], missing, part) for values, missing in columns.values()]
        writer.writerows(zip(*cells, strict=True))
    return out.getvalue().encode()


def _cells(
    values: npt.NDArray[Any], missing: npt.NDArray[np.bool_] | None, part: slice
) -> list[object]:
    if values.dtype == np.bool_:
        return ["true" if value else "false" for value in values.tolist()]
    if missing is None:
        found: list[object] = values.tolist()
        return found
    return ["" if no else value for value, no in zip(values.tolist(), missing[part], strict=True)]


def _beside(samples: Samples, name: str) -> str:
    kinds = {
        column: "boolean" if values.dtype == np.bool_ else "integer"
        for column, (values, _) in _columns(samples).items()
    }
    content = {
        "@context": "http://www.w3.org/ns/csvw",
        "url": name,
        "tableSchema": {
            "columns": [{"name": column, "datatype": kind} for column, kind in kinds.items()],
            "primaryKey": "run",
        },
        "notes": [{KEY: about_runs(samples)}],
    }
    return json.dumps(content, indent=1) + "\n"


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise ParameterError(
            "tables in Parquet and Arrow need pyarrow: install it with pip install "
            "'markov-lrsao[arrow]', or write .csv"
        ) from None
    return pyarrow


def arrow_table(samples: Samples) -> Table:
    """Return the runs as a pyarrow Table, with what was simulated in the schema's metadata.

    Raises
    ------
    ParameterError
        pyarrow is not installed.
    """
    arrow = _pyarrow()
    table = arrow.table(
        {
            name: arrow.array(values, mask=missing)
            for name, (values, missing) in _columns(samples).items()
        }
    )
    return table.replace_schema_metadata({KEY: json.dumps(about_runs(samples))})


def _parquet(samples: Samples) -> bytes:
    from pyarrow import BufferOutputStream, parquet

    sink = BufferOutputStream()
    parquet.write_table(arrow_table(samples), sink, compression="zstd")
    return bytes(sink.getvalue())


def _arrow(samples: Samples) -> bytes:
    from pyarrow import BufferOutputStream, ipc

    table, sink = arrow_table(samples), BufferOutputStream()
    with ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())
