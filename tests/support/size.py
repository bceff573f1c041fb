"""The size of the packages: statements, and lines of modules and functions without their words.

Statements are nodes of kind `ast.stmt`, docstrings excluded. Lines of a module or function are
those with code on them: no docstrings, comments or blank lines.

    python tests/support/size.py [ROOT]
"""

from __future__ import annotations

import ast
import sys
import tokenize
from collections.abc import Iterator
from functools import lru_cache
from io import StringIO
from pathlib import Path

__all__ = [
    "FUNCTION_LINES",
    "MODULE_LINES",
    "PACKAGES",
    "code_lines",
    "functions",
    "statements",
]

PACKAGES = ("markov_lrsao", "simulate", "proofs_check")
AT_0_1 = {"markov_lrsao": 12_231, "simulate": 2_443, "proofs_check": 4_281}
"""Statements before the rooms were built."""
EVERYTHING = ("*",)
NEW_METHODS = {"to_frame", "_repr_html_"}
NEW_API = {
    "markov_lrsao/answers/curves.py": ("Curve", "CurvePoint.__str__", "_phases"),
    "markov_lrsao/answers/laws.py": (
        "Distribution.__str__",
        "Distribution.times",
        "Distribution._quantile_rows",
    ),
    "markov_lrsao/answers/profile.py": (
        "Profile.__str__",
        "Profile._head",
        "Profile._rows",
        "Profile.floats",
    ),
    "markov_lrsao/answers/results.py": (
        "Phase",
        "RuntimeResult.__str__",
        "RuntimeResult._named",
        "RuntimeResult.phase",
        "RuntimeResult.phase_stds",
        "RuntimeResult.std",
    ),
    "markov_lrsao/cli/app.py": ("_versions",),
    "markov_lrsao/cli/wording.py": EVERYTHING,
    "markov_lrsao/exact/frames.py": EVERYTHING,
    "markov_lrsao/exact/quantity.py": (
        *(
            f"Quantity.__{name}__"
            for name in (
                *("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "neg"),
                *("lt", "le", "gt", "ge", "eq", "hash"),
            )
        ),
        *("Quantity.as_integer_ratio", "Exact.numerator", "Exact.denominator", "Simulated"),
        *("_quantity", "_operand", "_range", "_below", "_at_most", "_open", "_compared"),
        *("_arithmetic", "_with_infinity", "_interval", "_dyadic", "_fields"),
    ),
    "markov_lrsao/figures/plots.py": (
        *("curve", "phases", "ecdf", "histogram", "regime_map"),
        *("_axes", "_finished", "_law_axes", "_check_ended"),
    ),
    "markov_lrsao/model/algorithm.py": ("AlgorithmFamily", "algorithm_at"),
    "markov_lrsao/exact/rationals.py": ("integer",),
    "markov_lrsao/model/landscape.py": (
        *("Landscape._identity", "Landscape.__eq__", "Landscape.__hash__"),
    ),
    "markov_lrsao/model/parameters.py": ("Parameters.__init__",),
    "markov_lrsao/release.py": EVERYTHING,
    "markov_lrsao/tables.py": ("html_table",),
    "proofs_check/claims/verdict.py": ("Verdicts",),
}
"""Public names that 0.1 did not have, with what only they need; counted apart."""
MODULE_LINES, FUNCTION_LINES = 400, 60
"""The limits; tests/meta/test_size.py holds the packages to them."""
_QUIET = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def _docstrings(tree: ast.AST) -> Iterator[ast.stmt]:
    """Yield statements that are only a string: docstrings, and those below attributes."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield node


def statements(source: str) -> int:
    """Return the number of statements.

    >>> statements('"Doc."\\nx = 1\\nif x:\\n    x = 2  # why\\n')
    3
    """
    tree = ast.parse(source)
    every = sum(isinstance(node, ast.stmt) for node in ast.walk(tree))
    return every - sum(1 for _ in _docstrings(tree))


@lru_cache(maxsize=8)
def code_lines(source: str) -> frozenset[int]:
    """Return the numbers of the lines that have code on them.

    >>> sorted(code_lines('"Doc."\\n\\nx = (1,\\n     2)  # why\\n'))
    [3, 4]
    """
    words = {
        line
        for node in _docstrings(ast.parse(source))
        for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }
    found: set[int] = set()
    for token in tokenize.generate_tokens(StringIO(source).readline):
        if token.type not in _QUIET:
            found.update(range(token.start[0], token.end[0] + 1))
    return frozenset(found - words)


def functions(source: str) -> Iterator[tuple[str, int]]:
    """Yield the name and the number of code lines of every function, inner ones included."""
    lines = code_lines(source)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, sum(node.lineno <= k <= (node.end_lineno or 0) for k in lines)


def new_api(where: str, source: str) -> int:
    """Return the statements of a module that are public API which 0.1 did not have.

    >>> new_api("markov_lrsao/release.py", "x = 1\\ny = 2\\n")
    2
    >>> new_api("elsewhere.py", "class C:\\n    def to_frame(self):\\n        return 1\\n")
    2
    """
    names = NEW_API.get(where, ())
    if names == EVERYTHING:
        return statements(source)

    def visit(node: ast.AST, prefix: str) -> int:
        total = 0
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                qualified = prefix + child.name
                if qualified in names or child.name in NEW_METHODS:
                    total += statements(ast.unparse(child))
                else:
                    total += visit(child, f"{qualified}.")
        return total

    return visit(ast.parse(source), "")


def main(root: Path) -> None:
    """Print a table, and what is longer than it may be; the longest where nothing is."""
    modules, lengths = list[tuple[int, str]](), list[tuple[int, str]]()
    for package in PACKAGES:
        total = count = new = 0
        for path in sorted((root / package).rglob("*.py")):
            source = path.read_text(encoding="utf-8")
            where = str(path.relative_to(root))
            total += statements(source)
            new += new_api(where, source)
            count += 1
            modules.append((len(code_lines(source)), where))
            lengths += [(n, f"{where}:{name}") for name, n in functions(source)]
        print(
            f"{package}: {total:,} statements in {count} modules, of which {new} are new public "
            f"API; at 0.1 {AT_0_1[package]:,}"
        )
    for title, rows, most in (
        ("modules", modules, MODULE_LINES),
        ("functions", lengths, FUNCTION_LINES),
    ):
        rows.sort(reverse=True)
        long = [row for row in rows if row[0] > most]
        print(f"{title} with more than {most} lines: {len(long)}; the longest:")
        print(*(f"  {n} {where}" for n, where in long or rows[:5]), sep="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2])
