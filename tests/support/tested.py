"""Which modules of the packages no test imports directly.

python tests/support/tested.py
"""

from __future__ import annotations

import ast
from pathlib import Path

__all__ = ["imported_by", "untested"]


def imported_by(path: Path) -> set[str]:
    """Return the modules (and names that may be modules) that a file imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def untested(root: Path) -> tuple[list[str], int]:
    """Return the modules that no test imports, and how many modules there are."""
    modules = [
        ".".join(path.relative_to(root).with_suffix("").parts)
        for package in ("markov_lrsao", "simulate", "proofs_check")
        for path in sorted((root / package).rglob("*.py"))
        if not path.stem.startswith("__")
    ]
    seen = set().union(*map(imported_by, (root / "tests").rglob("*.py")))
    return [module for module in modules if module not in seen], len(modules)


if __name__ == "__main__":
    missing, number = untested(Path(__file__).resolve().parents[2])
    print(*missing, sep="\n")
    print(f"{len(missing)} of {number} modules are imported by no test directly")
