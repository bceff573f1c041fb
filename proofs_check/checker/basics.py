"""What all checks use: failures, files, walks on graphs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = ["Failure", "Unreadable", "load", "longest", "need", "reachable"]


class Unreadable(Exception):
    """A file is not what it should be."""


class Failure(Exception):
    """Something claimed is not so."""


def need(condition: Any, message: str) -> None:
    """Raise Failure unless the condition holds."""
    if not condition:
        raise Failure(message)


def load(path: Path) -> Any:
    """Read a JSON file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Unreadable(f"{path}: {error}") from None


def longest(edges: list[Any], starts: Iterable[Any]) -> int | None:
    """Return the largest sum of counts along a walk from the starts; None if there is no bound.

    Bellman and Ford: with V nodes a walk without a counting cycle needs at most V - 1 improvements.
    """
    best = dict.fromkeys(starts, 0)
    for _ in range(len({x for u, v, _ in edges for x in (u, v)} | set(best))):
        changed = False
        for u, v, count in edges:
            if u in best and best[u] + count > best.get(v, -1):
                best[v], changed = best[u] + count, True
        if not changed:
            return max(best.values())
    return None


def reachable(successors: dict[Any, Any], starts: Iterable[Any]) -> set[Any]:
    """Return everything that can be reached."""
    queue = list(starts)
    seen = set(queue)
    for node in queue:
        for other in successors.get(node, ()):
            if other not in seen:
                seen.add(other)
                queue.append(other)
    return seen
