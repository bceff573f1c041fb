"""The shape of the project: who imports whom, and what is public."""

from __future__ import annotations

import ast
import subprocess
import sys
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


def imported(path: Path, *, lazy: bool = True) -> set[str]:
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

    visit(ast.parse(path.read_text(encoding="utf-8")))
    return found


@pytest.mark.parametrize("path", SOURCES["markov_lrsao"], ids=name)
def test_the_engine_imports_nothing_above_it(path: Path) -> None:
    # These reach everything, lazily; so do the names at the top of the package.
    top = path == ROOT / "markov_lrsao" / "__init__.py"
    on_top = top or {"cli", "figures", "report"} & set(path.parts)
    assert not imported(path, lazy=not on_top) & {"simulate", "proofs_check", "tests"}


@pytest.mark.parametrize("path", SOURCES["simulate"], ids=name)
def test_simulate_imports_no_proofs(path: Path) -> None:
    assert "proofs_check" not in imported(path)


@pytest.mark.parametrize("path", ALL, ids=name)
def test_heavy_imports_are_lazy(path: Path) -> None:
    heavy = {"sympy", "matplotlib", "z3", "cvc5", "stormpy", "polars", "pandas", "dask"}
    if path.parent.name != "kernels":  # these are imported lazily themselves
        heavy |= {"numba"}
    assert not imported(path, lazy=False) & heavy


def test_importing_the_engine_is_light() -> None:
    code = (
        "import sys, markov_lrsao; print(*sorted(set(sys.modules) & {'numba', 'sympy', "
        "'matplotlib', 'z3', 'simulate', 'proofs_check'}))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert result.stdout.strip() == ""


@pytest.mark.parametrize("path", ALL, ids=name)
def test_modules_are_documented(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert ast.get_docstring(tree)
    assert path.stem not in ("utils", "helpers", "common")
    if path.name not in ("__main__.py", "__init__.py"):
        public = next(
            (
                ast.literal_eval(node.value)
                for node in tree.body
                if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
            ),
            None,
        )
        assert public is not None, "no __all__"
        defined = {getattr(n, "name", "") for n in tree.body}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                defined.add(node.id)
            if isinstance(node, ast.ImportFrom | ast.Import):
                defined.update(a.asname or a.name for a in node.names)
        assert set(public) <= defined


@pytest.mark.parametrize("path", TESTS, ids=name)
def test_no_dead_assertions(path: Path) -> None:
    """A bare `all(..)`, a bare comparison or a `raises(..)` without `with` checks nothing."""
    dead = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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
    assert not dead


def test_the_dead_assertion_check_finds_one(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("all(x for x in [0])\n")
    with pytest.raises(AssertionError):
        test_no_dead_assertions(bad)


@pytest.mark.parametrize("path", ALL, ids=name)
def test_no_silent_handlers_and_no_star_imports(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ExceptHandler):
            assert node.type is not None, f"bare except in line {node.lineno}"
            assert not all(isinstance(s, ast.Pass) for s in node.body), node.lineno
        if isinstance(node, ast.ImportFrom):
            assert all(a.name != "*" for a in node.names)


def test_only_rationals_converts_exact_numbers() -> None:
    """`fractions.Fraction` is imported by rationals.py alone inside the engine."""
    users = {name(p) for p in SOURCES["markov_lrsao"] if "fractions" in imported(p)}
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
