"""What was found so far."""

from __future__ import annotations

import sys
from collections import Counter

__all__ = ["Report"]


class Report:
    """What was found."""

    def __init__(self, solvers: list[str], timeout: float) -> None:
        self.solvers, self.timeout = solvers, timeout
        self.queries: Counter[str] = Counter()
        self.state: dict[str, str] = {}
        self.failures: list[str] = []

    def say(self, text: str) -> None:
        """Print a line at once."""
        print(text, file=sys.stderr)

    def fail(self, where: str, why: object) -> None:
        """Note a failure."""
        self.failures.append(f"{where}: {why}")
