"""The shape of the project: who imports whom, and what is public."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import markov_lrsao

ROOT = Path(markov_lrsao.__file__).resolve().parent.parent
PACKAGES = ["markov_lrsao", "simulate", "proofs_check"]
SOURCES = {p: sorted((ROOT / p).rglob("*.py")) for p in PACKAGES}
ALL = [path for paths in SOURCES.values() for path in paths]
TESTS = sorted((ROOT / "tests").rglob("*.py"))


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.fixture(scope="module")
def trees() -> Iterator[dict[Path, ast.Module]]:
    """What stands in each file, parsed once for all questions, and forgotten after the last."""
    parsed = {path: ast.parse(path.read_text(encoding="utf-8")) for path in (*ALL, *TESTS)}
    yield parsed
    parsed.clear()


def imported(tree: ast.AST, *, lazy: bool = True) -> set[str]:
    """Top-level packages that a file imports; without `lazy` only those at import time."""
    found: set[str] = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module.split(".")[0])
        for child in ast.iter_child_nodes(node):
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            typing_only = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)
            if lazy or not (inside or typing_only):
                visit(child)

    visit(tree)
    return found


# One test per question, not one per question and file: two thousand more tests would take longer
# to hand out than to run. A failure names all files that it is about.


def test_the_engine_imports_nothing_above_it(trees: dict[Path, ast.Module]) -> None:
    found = {}
    for path in SOURCES["markov_lrsao"]:
        # These reach everything, lazily; so do the names at the top of the package.
        top = path == ROOT / "markov_lrsao" / "__init__.py"
        on_top = bool(top or {"cli", "figures", "report"} & set(path.parts))
        above = {"simulate", "proofs_check", "tests"}
        found[name(path)] = imported(trees[path], lazy=not on_top) & above
    assert len(found) > 300
    assert not {path: above for path, above in found.items() if above}


def test_simulate_imports_no_proofs(trees: dict[Path, ast.Module]) -> None:
    paths = SOURCES["simulate"]
    assert len(paths) > 30
    assert not [name(path) for path in paths if "proofs_check" in imported(trees[path])]


def test_heavy_imports_are_lazy(trees: dict[Path, ast.Module]) -> None:
    found = {}
    for path in ALL:
        heavy = {"sympy", "matplotlib", "z3", "cvc5", "stormpy", "polars", "pandas", "dask"}
        if path.parent.name != "kernels":  # these are imported lazily themselves
            heavy |= {"numba"}
        found[name(path)] = imported(trees[path], lazy=False) & heavy
    assert not {path: heavy for path, heavy in found.items() if heavy}


def test_importing_the_engine_is_light() -> None:
    code = (
        "import sys, markov_lrsao; print(*sorted(set(sys.modules) & {'numba', 'sympy', "
        "'matplotlib', 'z3', 'simulate', 'proofs_check'}))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert result.stdout.strip() == ""


def undocumented(path: Path, tree: ast.Module) -> str:
    """Return what is missing in a module, or nothing."""
    if not ast.get_docstring(tree):
        return "no docstring"
    if path.stem in ("utils", "helpers", "common"):
        return "a name that says nothing"
    if path.name in ("__main__.py", "__init__.py"):
        return ""
    public = next(
        (
            ast.literal_eval(node.value)
            for node in tree.body
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
        ),
        None,
    )
    if public is None:
        return "no __all__"
    defined = {getattr(n, "name", "") for n in tree.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            defined.add(node.id)
        if isinstance(node, ast.ImportFrom | ast.Import):
            defined.update(a.asname or a.name for a in node.names)
    return ", ".join(sorted(set(public) - defined))


def test_modules_are_documented(trees: dict[Path, ast.Module]) -> None:
    found = {name(path): undocumented(path, trees[path]) for path in ALL}
    assert not {path: missing for path, missing in found.items() if missing}


@pytest.mark.parametrize(
    ("code", "missing"),
    [
        ("__all__ = []", "no docstring"),
        ('"""Doc."""\nx = 1', "no __all__"),
        ('"""Doc."""\n__all__ = ["x", "y"]\nx = 1', "y"),
        ('"""Doc."""\n__all__ = ["x"]\nx = 1', ""),
    ],
)
def test_what_is_undocumented_is_found(code: str, missing: str) -> None:
    assert undocumented(Path("some.py"), ast.parse(code)) == missing


def dead_assertions(tree: ast.AST) -> list[int]:
    """A bare `all(..)`, a bare comparison or a `raises(..)` without `with` checks nothing."""
    dead = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            value = node.value
            called = value.func if isinstance(value, ast.Call) else None
            word = getattr(called, "id", getattr(called, "attr", ""))
            if isinstance(value, ast.Compare | ast.BoolOp) or word in (
                "all",
                "any",
                "raises",
                "isinstance",
                "approx",
                "allclose",
                "array_equal",
            ):
                dead.append(node.lineno)
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.Tuple):
            dead.append(node.lineno)  # assert (x, "message") is always true
    return dead


def test_no_dead_assertions(trees: dict[Path, ast.Module]) -> None:
    found = {name(path): dead_assertions(trees[path]) for path in TESTS}
    assert len(found) > 200
    assert not {path: lines for path, lines in found.items() if lines}


def test_the_dead_assertion_check_finds_one() -> None:
    assert dead_assertions(ast.parse("all(x for x in [0])\n")) == [1]


def silent(tree: ast.AST) -> list[int]:
    """Return the lines of handlers that hide what happened, and of star imports."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and (
            node.type is None or all(isinstance(s, ast.Pass) for s in node.body)
        ):
            found.append(node.lineno)
        if isinstance(node, ast.ImportFrom) and any(a.name == "*" for a in node.names):
            found.append(node.lineno)
    return found


def test_no_silent_handlers_and_no_star_imports(trees: dict[Path, ast.Module]) -> None:
    found = {name(path): silent(trees[path]) for path in ALL}
    assert not {path: lines for path, lines in found.items() if lines}


def test_silent_handlers_and_star_imports_are_found() -> None:
    code = "try:\n    x\nexcept:\n    y\ntry:\n    x\nexcept E:\n    pass\nfrom a import *\n"
    assert sorted(silent(ast.parse(code))) == [3, 7, 9]


def test_only_rationals_converts_exact_numbers(trees: dict[Path, ast.Module]) -> None:
    """`fractions.Fraction` is imported by rationals.py alone inside the engine."""
    users = {name(p) for p in SOURCES["markov_lrsao"] if "fractions" in imported(trees[p])}
    assert users <= {"markov_lrsao/exact/rationals.py"}


def test_statements_of_the_paper_have_code() -> None:
    """In a fresh process: what is covered must not depend on what was imported before."""
    code = "from markov_lrsao.model.statements import statements; print(*statements(), sep='\\n')"
    covered = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    ).stdout.splitlines()
    assert {
        "(H)",
        "Lemma 2",
        "Lemma 3",
        "Lemma 4",
        "Lemma 5",
        "Lemma 6",
        "Lemma 8",
        "Lemma 12",
    } <= set(covered)


def test_no_module_with_statements_is_forgotten() -> None:
    from markov_lrsao.model.statements import _MODULES

    users = {
        ".".join(p.relative_to(ROOT / "markov_lrsao").with_suffix("").parts)
        for p in SOURCES["markov_lrsao"]
        if "\n@implements(" in p.read_text("utf-8")
    }
    assert users == set(_MODULES)
