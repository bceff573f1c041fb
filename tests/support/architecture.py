"""The index of the tree in docs/architecture.md: rooms from the contract, lines from docstrings.

The order of the rooms is that of import-linter's contracts in pyproject.toml; what a module is
for is the first sentence of its docstring.

    python tests/support/architecture.py             # say whether the page is up to date
    python tests/support/architecture.py --write     # bring it up to date
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from functools import lru_cache
from pathlib import Path

__all__ = ["PAGE", "contracts", "index", "modules", "rooms", "sentence", "with_index"]

PAGE = Path("docs") / "architecture.md"
BEGIN = "<!-- index of the tree: python tests/support/architecture.py --write -->"
END = "<!-- end of the index -->"


def contracts(root: Path) -> dict[str, list[list[str]]]:
    """Return package -> layers from top to bottom, each a list of rooms side by side.

    `simulate` and `proofs_check` have contracts of their own, with names inside the package.
    """
    data = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    found: dict[str, list[list[str]]] = {}
    for contract in data["tool"]["importlinter"]["contracts"]:
        if contract["type"] != "layers":
            continue
        inside = contract.get("containers", [""])[0]
        found[inside or "markov_lrsao"] = [
            [f"{inside}.{name}" if inside else name for name in layer.replace(" ", "").split("|")]
            for layer in contract["layers"]
        ]
    return found


def rooms(root: Path) -> list[str]:
    """Return all rooms and modules of the contracts, from top to bottom."""
    found = contracts(root)
    main = found.pop("markov_lrsao")
    inner = {package: [r for layer in layers for r in layer] for package, layers in found.items()}
    return [name for layer in main for room in layer for name in inner.get(room, [room])]


def modules(root: Path, package: str) -> list[Path]:
    """Return the modules of a package and of the folders in it, but for its own `__init__.py`."""
    own = root / package / "__init__.py"
    paths = (root / package).rglob("*.py")
    return sorted(p.relative_to(root) for p in paths if p != own)


def sentence(path: Path) -> str:
    """Return the first sentence of a module's docstring, on one line."""
    return _first_sentence(path.read_text(encoding="utf-8"))


@lru_cache(None)  # tests ask for the index of the same tree again and again
def _first_sentence(source: str) -> str:
    text = ast.get_docstring(ast.parse(source)) or ""
    first = " ".join(text.split("\n\n")[0].split())
    return re.split(r"(?<=[.?]) (?=[A-Z])", first)[0].rstrip(".").replace("|", "\\|")


def _folder(root: Path, name: str) -> Path:
    return root / name.replace(".", "/")


def _table(root: Path, paths: list[Path], above: Path) -> list[str]:
    lines = ["| module | what it is about |", "|---|---|"]
    for path in paths:
        where = path.relative_to(above).with_suffix("").as_posix().removesuffix("__init__")
        lines.append(f"| `{where}` | {sentence(root / path)} |")
    return lines


def index(root: Path) -> str:
    """Return the rooms from top to bottom, each with a line per module."""
    lines: list[str] = []
    ground: list[Path] = []
    for name in rooms(root):
        folder = _folder(root, name)
        if not folder.is_dir():
            ground.append(folder.with_suffix(".py").relative_to(root))
            continue
        where = folder.relative_to(root)
        lines += ["", f"### `{where.as_posix()}`", "", f"{sentence(folder / '__init__.py')}.", ""]
        lines += _table(root, modules(root, str(where)), where)
    lines += ["", "### Beside the rooms", "", "What every room may use, and the front doors.", ""]
    listed = {p for name in rooms(root) for p in modules(root, str(_folder(root, name)))}
    front = [
        path
        for package in contracts(root)
        for path in modules(root, package)
        if len(path.parts) == 2 and path not in listed and path not in ground
    ]
    lines += _table(root, [*ground, *front], Path())
    return "\n".join(lines).strip()


def with_index(page: str, text: str) -> str:
    """Return the page with its index replaced."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{after}"


def main() -> None:
    """Compare, or write."""
    root = Path(__file__).resolve().parents[2]
    page = (root / PAGE).read_text(encoding="utf-8")
    fresh = with_index(page, index(root))
    if "--write" in sys.argv:
        (root / PAGE).write_text(fresh, encoding="utf-8")
    elif fresh != page:
        sys.exit(f"{PAGE} is out of date: python tests/support/architecture.py --write")


if __name__ == "__main__":
    main()
