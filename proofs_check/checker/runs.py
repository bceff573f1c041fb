"""Runs of the algorithm, played with the whole Q-table in fractions."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from .basics import need

__all__ = ["check_run"]


def check_run(folder: Path, document: Any, files: Any) -> None:
    """Play a run with the whole Q-table in fractions."""
    values = document["values"]
    need(document["algorithm"] == "lrsao", "another algorithm")
    alpha, gamma, r = (Fraction(values[name]) for name in ("alpha", "gamma", "r"))
    objectives, target = document["objectives"], document["objectives"][document["target"]]
    need(len({len(v) for v in objectives.values()}) == 1, "objectives of several lengths")
    need(len(document["steps"]) == len(document["trace"]), "not one record per step")
    entries: dict[Any, Fraction] = {}
    p, n = 0, len(target) - 1
    for t, ((action, towards), told) in enumerate(
        zip(document["steps"], document["trace"], strict=True)
    ):
        row = {a: entries.get((target[p], a), Fraction(0)) for a in objectives}
        q = p + {"up": 1, "down": -1}[towards]
        need(p != document["milestones"][-1], f"step {t} is made after the end")
        need(0 <= q <= n and row[action] == max(row.values()), f"step {t}: {action} is not greedy")
        gain = objectives[action][q] - objectives[action][p]
        accepted = gain >= 0
        after = q if accepted else p
        reward = gain if gain > 0 else -r if gain == 0 else 0
        best = max(entries.get((target[after], a), Fraction(0)) for a in objectives)
        new = (1 - alpha) * row[action] + alpha * (reward + gamma * best)
        entries[target[p], action], p = new, after
        seen = {"accepted": accepted, "position": after, "entry": str(new)}
        need(seen == told, f"step {t}: {seen}")
