"""Values that are kept between runs.

A value is kept with a key (its settings and a fingerprint of the sources): a changed program
or changed settings compute it again, an interrupted run continues where it stopped.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from markov_lrsao.errors import FileFormatError, ParameterError
from markov_lrsao.inputs import load_json, read_text
from markov_lrsao.storage import write_whole

__all__ = ["fingerprint", "kept"]

_COMPUTING = {Path(__file__).resolve().with_name(name) for name in ("findings.py", "values.py")}


@cache
def fingerprint() -> str:
    """Return a digest of the sources that numbers and verdicts come from."""
    packages = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256()
    for package in ("markov_lrsao", "simulate", "proofs_check"):
        for path in sorted((packages / package).rglob("*.py")):
            # What only presents numbers does not change them.
            presents = {"report", "cli", "figures"} & set(path.relative_to(packages).parts)
            if not presents or path in _COMPUTING:
                digest.update(path.read_bytes())
    return digest.hexdigest()[:24]


def kept(path: Path, settings: Mapping[str, Any], compute: Callable[[], Any]) -> Any:
    """Return the value kept in `path` if its key agrees; else compute and keep it.

    A file that is damaged (of another program, cut off by a crash of the file system, or with a
    value that does not fit its digest) counts as absent.
    """
    # Through JSON once, so that the comparison sees lists where settings have tuples.
    key = json.loads(json.dumps({"sources": fingerprint(), **settings}))
    if path.is_file():
        try:
            found = load_json(read_text(path), str(path))
        except FileFormatError:
            found = None
        if (
            isinstance(found, dict)
            and found.get("key") == key
            and "value" in found
            and found.get("digest") == _digest(found["value"])
        ):
            return found["value"]
    value = json.loads(json.dumps(compute()))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(
            f"cannot create {path.parent}: {error.strerror or error}; choose another `figures`"
        ) from None
    write_whole(path, json.dumps({"key": key, "digest": _digest(value), "value": value}) + "\n")
    return value


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:24]
