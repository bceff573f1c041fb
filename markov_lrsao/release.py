"""The version of the toolkit that runs, and that of what it prints for machines."""

from __future__ import annotations

from functools import cache

__all__ = ["SCHEMA", "release"]

SCHEMA = 3
"""The version of the JSON that commands print; see docs/json.md."""


@cache
def release() -> str:
    """Return the version, e.g. "0.2.0"; "unknown" for sources that were never installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("markov-lrsao")
    except PackageNotFoundError:
        return "unknown"
