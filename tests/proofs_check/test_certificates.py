"""Certificates: what is written, and that the checker sees every number that was changed."""

from __future__ import annotations

import ast
import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from flint import fmpq
from sympy import QQ
from sympy.polys.fields import field

from markov_lrsao.cli import main as command_line
from markov_lrsao.errors import ParameterError
from markov_lrsao.model.landscape import JUMP
from proofs_check import Counterexample, Evidence, EvidenceKind, Setting, Verdict, checker, verify
from proofs_check.automata.abstraction import Automaton, SlopeAutomata, Transition
from proofs_check.automata.elimination import solved_system
from proofs_check.automata.plateau import Leg, PlateauGraph
from proofs_check.automata.slope import BottomForm
from proofs_check.certificates.folder import Noted, check_place, query_text, write_certificates
from proofs_check.checker.automata import check_automata
from proofs_check.checker.basics import Failure, longest, reachable
from proofs_check.checker.chains import check_closed
from proofs_check.checker.folder import CHECKS
from proofs_check.checker.potentials import REGIONS, check_potential, formula
from proofs_check.checker.queries import holds_at, read_terms, value_of
from proofs_check.claims.scope import EVERYWHERE
from proofs_check.claims.verdict import Erratum, Solvers, StatementResult
from proofs_check.logic.journal import (
    Journal,
    Query,
    Shelf,
    closure,
    lean_on,
    note_value,
    smt_text,
    writing,
)
from proofs_check.logic.smt import Prover, second_opinions

_EMPTY = "(declare-const x Real)\n(assert (< (* x x) 0.0))\n"
Change = Callable[[Any], None]


def _automata() -> Journal:
    """A slope whose only row learns L at once, with the queries that exclude all else."""
    zero, learnt = ("0", "0", "0"), ("+", "0", "0")
    moves = (
        Transition(zero, "L", 1, 1, learnt),
        Transition(learnt, "L", 1, 1, learnt),
        Transition(zero, "L", 0, -1, learnt),
        Transition(learnt, "L", 0, 0, learnt),
    )
    steps = (("L", 1, 1, "up"), ("L", 0, -1, "down at first"), ("L", 0, 0, "down later"))
    row = Automaton("row", (zero, learnt), moves, True, (), steps)
    journal = Journal("automata of the slope", texts=True)
    for cells in ("000", "+00"):
        for number, step in enumerate(steps):
            for cell in "-0+":
                target = (cell, *zero[1:])
                if Transition(tuple(cells), *step[:3], target) not in moves:
                    purpose = f"row: {cells}, step {number} -> {cell}"
                    journal.queries.append(Query(status="unsat", text=_EMPTY, purpose=purpose))
    journal.subject = SlopeAutomata({"row": row}, (("row", "row"),), len(journal.queries), "")
    return journal


def _graph() -> Journal:
    """A phase 3 with one failing excursion: up with L, down twice, then straight to the end."""
    a, b, c = ("+", "0", "0"), ("=", "0", "0"), ("=", "+", "0")
    legs = (
        Leg(("n-l", a), ("n-l+1", a), "L", 1, True),
        Leg(("n-l+1", a), ("n-l", b), "L", 0, True),
        Leg(("n-l", b), ("n-l-1", c), "J", 0, True),
        Leg(("n-l-1", c), ("n-l", c), "-", 1, True),
        Leg(("n-l", c), ("n", c), "J", 1, True),
    )
    journal = Journal("graph of phase 3 in cells", texts=True)
    journal.subject = PlateauGraph((("n-l", a),), legs, 0)
    return journal


def _form() -> Journal:
    """E = 1 + (1 - l/n) E + ..: two states, solved over Q(n, l)."""
    fractions, n, ell, _ = field("n,l,H", QQ)
    one = fractions.one
    rows: Any = {0: {0: 1 - ell / n, 1: ell / (2 * n)}, 1: {1: (n - 1) / n}}
    outputs: Any = {0: {"time": one}, 1: {"time": one}}
    system = solved_system("two states", rows, outputs, 0 * one)
    value = system.values[0]["time"]
    journal = Journal("closed form of a time", texts=True)
    journal.subject = BottomForm("time", value.as_expr(), value, system, _automata().subject)
    return journal


def _run() -> Counterexample:
    landscape = JUMP.at(9, 2)
    return Counterexample(
        statement="A claim",
        expected="nothing",
        observed="something",
        values={"n": "9", "l": "2", "alpha": "4/5", "gamma": "1/10", "r": "7/2"},
        objectives={k: tuple(int(x) for x in v) for k, v in landscape.objectives.items()},
        target=landscape.target,
        milestones=landscape.milestones,
        steps=(("J", "up"), ("L", "up"), ("L", "down"), ("L", "up")),
    )


def _errata() -> tuple[Erratum, ...]:
    """A line that fails at a rational point, and two that take more than fractions."""
    step = ("n*H(l) - update(q, -r, M)", ">=", "n**2/l")
    point = {"n": "9", "l": "2", "q": "1/2", "r": "7/2", "M": "1", "alpha": "4/5", "gamma": "1/10"}
    assume = ("l >= 2", "0 < alpha < 1", "n = 9 or n > 20")
    lines = [
        ("x:1", step, assume, point),
        ("x:2", ("ln(n)", "<", "1"), (), {"n": "9"}),
        ("x:3", ("n", "<", "1"), (), {"n": "~1.41"}),
    ]
    return tuple(
        Erratum(
            line=line,
            location="",
            printed="",
            corrected="",
            reason="",
            step=sides,
            assume=assumed,
            point=at,
        )
        for line, sides, assumed, at in lines
    )


def _write(place: Path) -> Path:
    """Write a folder with a file of every kind."""
    first, second = Journal("first check", texts=True), Journal("second check")
    with writing(first):
        prover = Prover()
        assert prover.prove(["0 < x", "x < y"], "x*x < x*y", "a square").status == "proved"
        assert prover.satisfiable(["0 < x", "x*x < 1/4"], "a point") is True
        assert prover.satisfiable(["x*x = 2"], "an irrational point") is True
        note_value("E[T1]", 9, 2, fmpq(9853, 2856))
        note_value("E[T1]", 60, 2, fmpq(1))
        for journal in (_automata(), _graph(), _form()):
            lean_on(journal)
    proved = Evidence(
        kind=EvidenceKind.SMT, verdict=Verdict.PROVED, summary="yes", scope=EVERYWHERE
    )
    refuted = Evidence(
        kind=EvidenceKind.EXHAUSTIVE,
        verdict=Verdict.REFUTED,
        summary="no",
        scope=EVERYWHERE,
        counterexample=_run(),
    )
    display = Evidence(
        kind=EvidenceKind.LINES, verdict=Verdict.REFUTED, summary="no", part="display x"
    )
    noted = {
        "A claim": [
            Noted(EvidenceKind.SMT, (proved,), first),
            Noted(EvidenceKind.LINES, (display,), Journal("display x")),
        ],
        "Another": [Noted(EvidenceKind.EXHAUSTIVE, (refuted,), second)],
    }
    results = [
        StatementResult(
            id=name,
            title=name,
            location="",
            claim=name,
            evidence=tuple(e for noted in found for e in noted.evidence),
            errata=_errata() if name == "A claim" else (),
            depends=depends,
            solvers=Solvers(1, 0),
        )
        for (name, found), depends in zip(noted.items(), ((), ("A claim",)), strict=True)
    ]
    write_certificates(place, Setting(), results, noted)
    return place


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _write(tmp_path_factory.mktemp("certificates") / "folder")


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "folder"))


def _seal(folder: Path, path: str) -> None:
    """Put a changed file's digest into the index, as a forger would."""
    index = json.loads((folder / "index.json").read_text())
    index["files"][path]["sha256"] = hashlib.sha256((folder / path).read_bytes()).hexdigest()
    (folder / "index.json").write_text(json.dumps(index))


def _edit(folder: Path, path: str, change: Change) -> None:
    document = json.loads((folder / path).read_text())
    change(document)
    (folder / path).write_text(json.dumps(document))
    if path != "index.json":
        _seal(folder, path)


def _only(folder: Path, kind: str) -> str:
    files: dict[str, Any] = json.loads((folder / "index.json").read_text())["files"]
    return next(path for path, about in files.items() if about["kind"] == kind)


def _solver(tmp_path: Path) -> str:
    """z3 through its library, as a command; a status would be an error where it is wrong."""
    script = tmp_path / "solver.py"
    script.write_text(
        "import re, sys, z3\n"
        "text = re.sub(r'[(]set-info.*', '', open(sys.argv[1]).read())\n"
        "print(z3.Z3_eval_smtlib2_string(z3.main_ctx().ref(), text))\n"
    )
    return f"{sys.executable} {script}"


# -- the checker stands alone -------------------------------------------------------------


SOURCES = sorted(Path(checker.__file__).parent.glob("*.py"))


def _imports(tree: ast.AST) -> set[str]:
    """Return what is imported from elsewhere, by the first part of its name."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level <= 1, "from above its folder"
            found |= {(node.module or "").partition(".")[0]} if node.level == 0 else set()
    return found


def test_the_checker_imports_the_standard_library_only() -> None:
    found = set().union(*(_imports(ast.parse(path.read_text())) for path in SOURCES))
    assert found <= set(sys.stdlib_module_names)
    assert {"fractions", "subprocess"} <= found


def test_the_checker_runs_anywhere(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(SOURCES[0].parent, tmp_path / "elsewhere" / "checker")
    done = subprocess.run(
        [sys.executable, "-S", "-m", "checker", str(folder)],
        cwd=tmp_path / "elsewhere",
        env={},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "queries: 1 confirmed" in done.stdout


def test_a_whole_folder_is_confirmed_but_for_its_queries(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert checker.main([str(folder)]) == 0
    said = capsys.readouterr().out
    # One model is rational and was put in; what is unsatisfiable needs a solver.
    assert "queries: 1 confirmed, 16 not re-checked, 0 of no evidence" in said
    assert "FAILS" not in said
    assert checker.main([str(folder), "--all"]) == 1


def test_a_solver_confirms_the_queries(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert checker.main([str(folder), "--all", "--solver", _solver(tmp_path)]) == 0
    assert "queries: 17 confirmed, 0 not re-checked" in capsys.readouterr().out


def test_cvc5_as_a_command_answers_like_z3(folder: Path) -> None:
    pytest.importorskip("cvc5")
    command = f"{sys.executable} -m proofs_check.certificates.cvc5"
    assert checker.main([str(folder), "--all", "--solver", command]) == 0


def test_the_index_names_scope_files_and_dependencies(folder: Path) -> None:
    index = json.loads((folder / "index.json").read_text())
    assert index["schema"] == "markov-lrsao certificates 1"
    claim, other = index["statements"]
    assert claim["scope"] == EVERYWHERE.to_dict()
    assert other["dependencies"] == ["A claim"]
    artefacts = {a["name"]: a for a in index["artefacts"]}
    assert artefacts["A claim, first check"]["leans_on"] == [
        "automata of the slope",
        "graph of phase 3 in cells",
        "closed form of a time",
    ]
    for path, about in index["files"].items():
        assert hashlib.sha256((folder / path).read_bytes()).hexdigest() == about["sha256"]
    values = json.loads((folder / _only(folder, "values")).read_text())
    assert values["left_out"] == {"E[T1]: n > 16": 1}


# -- changed numbers ------------------------------------------------------------------------


def _nudged(text: str) -> str:
    return str(Fraction(text) + Fraction(1, 7))


def _set(*keys: Any, value: Any) -> Change:
    def change(document: Any) -> None:
        for key in keys[:-1]:
            document = document[key]
        old = document[keys[-1]]
        document[keys[-1]] = value(old) if callable(value) else value
        assert document[keys[-1]] != old

    return change


CHANGES: dict[str, list[Change]] = {
    "automata": [
        _set("rows", 0, "moves_down", value=2),
        _set("visits", 0, "most", value=4),
        _set("rows", 0, "moves", 0, 3, value=0),
        _set("rows", 0, "moves", 0, 4, value="0+0"),
        _set("rows", 0, "states", 1, value="++0"),
        _set("rows", 0, "excluded", 0, 3, value=1),
        _set("rows", 0, "excluded", value=lambda old: old[1:]),
    ],
    "graph": [
        _set("counts", "failing excursions", value=2),
        _set("counts", "choices of L", value=3),
        _set("legs", 4, 5, value=0),
        _set("legs", 2, 3, value="=0+"),
        _set("legs", value=lambda old: old[:-1]),
    ],
    "chain": [
        _set("columns", 0, "values", 3, value=_nudged),
        _set("columns", 0, "result", value=_nudged),
        _set("columns", 0, "counts", value="phase 2"),
        _set("rows", 0, 0, 1, value=_nudged),
        _set("rows", 0, 0, 0, value=-1),
        _set("start", 0, 0, value=1),
        _set("phases", 0, value=3),
    ],
    "values": [_set("values", 0, "value", value=_nudged), _set("values", 0, "n", value=10)],
    "symbolic chain": [
        _set("columns", 0, "values", 0, 0, 3, value=_nudged),
        _set("columns", 0, "right", 0, 0, 3, value="2"),
        _set("rows", 0, 1, 1, 0, 3, value="2"),
        _set("unit", 0, 3, value="3"),
        _set("unit", 0, 3, value="-2"),
    ],
    "closed form": [
        _set("top", 0, 3, value=_nudged),
        _set("bottom", 0, 3, value=_nudged),
        _set("weights", 0, 0, value=1),
        _set("weights", 0, 1, 0, 3, value="2"),
        _set("l", "at_least", value=3),
    ],
    "point": [
        _set("point", "q", value="1/3"),
        _set("point", "alpha", value="6/5"),
        _set("values", 0, value=_nudged),
        _set("relation", value="<"),
        _set("right", value="n**2/(10*l)"),
    ],
    "run": [
        _set("trace", 2, "entry", value=_nudged),
        _set("trace", 1, "position", value=3),
        _set("values", "alpha", value="3/5"),
        _set("objectives", "L", 1, value=7),
        _set("steps", 0, 1, value="down"),
        _set("algorithm", value="earl"),
        _set("steps", value=lambda old: old[:-1]),
    ],
}


@pytest.mark.parametrize(
    ("kind", "number"), [(kind, i) for kind, found in CHANGES.items() for i in range(len(found))]
)
def test_a_changed_number_fails_even_if_the_digest_is_forged(
    kind: str, number: int, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _only(folder, kind)
    _edit(folder, path, CHANGES[kind][number])
    assert checker.main([str(folder)]) == 1
    assert f"FAILS {path}: " in capsys.readouterr().out


def test_every_kind_of_file_has_a_change(folder: Path) -> None:
    files = json.loads((folder / "index.json").read_text())["files"]
    kinds = {about["kind"] for about in files.values()}
    assert kinds == {*CHANGES, "queries"} == {*CHECKS, "queries"} - {"potential"}  # see below


def test_points_of_closed_forms_are_evaluated_and_compared_with_chains(folder: Path) -> None:
    chain = next(p for p in json.loads((folder / "index.json").read_text())["files"] if "9-2" in p)
    document: dict[str, Any] = {
        "kind": "closed form",
        "quantity": "E[T1]",
        "l": {"at_least": 2},
        "harmonic_from": [1, -1, -1],
        "harmonic_to": [1, 0, 0],
        # 2/(3(2n - 1)) + n (H_n - H_(n-l-1))
        "top": [[2, 0, 1, "6"], [1, 0, 1, "-3"], [0, 0, 0, "2"]],
        "bottom": [[1, 0, 0, "6"], [0, 0, 0, "-3"]],
        "symbolic": "solved",
        "weights": [[0, [[0, 0, 0, "1"]]]],
        "below": [[0, 0, 0, "1"]],
        "points": [{"n": 9, "l": 2, "value": "9853/2856", "chain": chain}],
    }
    column = {
        "name": "E[T1]",
        "denominator": document["bottom"],
        "values": [document["top"]],
    }
    (folder / "solved").write_text(json.dumps({"l": {"at_least": 2}, "columns": [column]}))
    files: dict[str, Any] = {chain: {}, "solved": {}}
    check_closed(folder, document, files)
    document["points"][0]["value"] = "9854/2856"
    with pytest.raises(Failure, match=r"at \(9, 2\) is 9853/2856"):
        check_closed(folder, document, files)


def test_a_changed_file_fails_by_its_digest(folder: Path) -> None:
    for kind in (*CHANGES, "queries"):
        path = folder / _only(folder, kind)
        old = path.read_bytes()
        path.write_bytes(old + b" \n")
        assert checker.main([str(folder)]) == 1, kind
        path.write_bytes(old)
    assert checker.main([str(folder)]) == 0


# -- queries ----------------------------------------------------------------------------------


def _rewrite(folder: Path, old: str, new: str, counts: dict[str, int]) -> str:
    """Change a text in the file with the most kinds of queries; return its path."""
    files: dict[str, Any] = json.loads((folder / "index.json").read_text())["files"]
    path = next(p for p, a in files.items() if a["kind"] == "queries" and a["expected"]["sat"])
    text = (folder / path).read_text()
    assert text.count(old) >= 1
    (folder / path).write_text(text.replace(old, new, 1))
    _seal(folder, path)
    index = json.loads((folder / "index.json").read_text())
    index["files"][path]["expected"] |= counts
    (folder / "index.json").write_text(json.dumps(index))
    return path


def test_a_flipped_answer_fails_with_a_solver_and_is_not_confirmed_without(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _rewrite(folder, ":status unsat", ":status sat", {"unsat": 0, "sat": 3})
    assert checker.main([str(folder)]) == 0
    assert "queries: 1 confirmed, 16 not re-checked" in capsys.readouterr().out
    assert checker.main([str(folder), "--solver", _solver(tmp_path)]) == 1
    assert "unsat by" in capsys.readouterr().out


def test_an_expected_answer_must_be_what_the_index_counts(folder: Path) -> None:
    _rewrite(folder, ":status unsat", ":status sat", {})
    assert checker.main([str(folder)]) == 1


def test_a_wrong_model_fails_without_a_solver(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _rewrite(folder, "; witness: x = ", "; witness: x = 7", {})
    assert checker.main([str(folder)]) == 1
    assert f"FAILS {path}: query 1: the model is none" in capsys.readouterr().out


def test_a_query_without_answer_is_evidence_of_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _rewrite(folder, ":status unsat", ":status unknown", {"unsat": 0, "unknown": 1})
    assert checker.main([str(folder)]) == 0
    assert "15 not re-checked, 1 of no evidence" in capsys.readouterr().out


def test_a_solver_that_stops_or_does_not_know_confirms_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for answer in ("", "unknown"):
        command = f"{sys.executable} -c \"print('{answer}')\""
        assert checker.main([str(folder), "--solver", command]) == 0
        captured = capsys.readouterr()
        assert "queries: 1 confirmed, 16 not re-checked" in captured.out
        assert "answers of" in captured.err
    assert checker.main([str(folder), "--solver", "no-such-solver-here"]) == 2


def test_terms_are_evaluated_exactly() -> None:
    [term] = read_terms(
        "(and (=> (< x 0) false) (or (= (/ x 3) (- (/ 1 3) 0)) (distinct x x))"
        " (let ((y (* x 2))) (not (>= (+ y 1) (- 4) 9))) (<= 0 x 1 (to_real 2)))"
    )
    assert value_of(term, {"x": Fraction(1)}) is True
    assert value_of(term, {"x": Fraction(1, 2)}) is False
    query = "(declare-const x Real)(assert (= (/ 1 x) 1))"
    assert holds_at(query, "x = 1") is True
    assert holds_at(query, "x = 2") is False
    assert holds_at(query, "x = 0") is None
    with pytest.raises(Failure, match="sort"):
        holds_at("(declare-const k Int)(assert (> k 0))", "k = 1/2")


# -- the index ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_set("statements", 1, "verdict", value="PROVED"), "PROVED, but some part"),
        (_set("statements", 0, "evidence", 0, "verdict", value="UNKNOWN"), "PROVED, but some"),
        (
            _set("statements", 0, "evidence", 0, "scope", "hyper_parameters", value="the paper's"),
            "PROVED, but some part",
        ),
        (_set("statements", 0, "evidence", 0, "artefacts", 0, value="x"), "leans on x"),
        (_set("statements", 0, "evidence", 0, "artefacts", value=[]), "without a query"),
        (_set("artefacts", 0, "leans_on", 0, value="y"), "leans on y"),
        (_set("artefacts", 0, "name", value="automata of the slope"), "two artefacts"),
        (_set("artefacts", 0, "files", value=lambda old: old[1:]), "listed and not named"),
    ],
)
def test_a_changed_index_fails(
    change: Change, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _edit(folder, "index.json", change)
    assert checker.main([str(folder)]) == 1
    assert said in capsys.readouterr().out


def test_files_that_are_missing_or_not_listed_fail(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "extra.json").write_text("{}")
    assert checker.main([str(folder)]) == 1
    assert "FAILS extra.json: is not in the index" in capsys.readouterr().out
    (folder / "extra.json").unlink()
    path = _only(folder, "run")
    (folder / path).unlink()
    assert checker.main([str(folder)]) == 1
    assert f"FAILS {path}: missing" in capsys.readouterr().out


def test_what_cannot_be_read_is_told_apart(folder: Path) -> None:
    path = folder / _only(folder, "graph")
    old = path.read_text()
    path.write_text(old[:-40])
    assert checker.main([str(folder)]) == 2
    path.write_text(json.dumps({"kind": "graph"}))
    _seal(folder, path.relative_to(folder).as_posix())
    assert checker.main([str(folder)]) == 2
    path.write_text(old)
    _seal(folder, path.relative_to(folder).as_posix())
    assert checker.main([str(folder)]) == 0
    _edit(folder, "index.json", _set("schema", value="another"))
    assert checker.main([str(folder)]) == 2
    (folder / "index.json").write_text("[")
    assert checker.main([str(folder)]) == 2
    assert checker.main([str(folder / "nowhere")]) == 2


# -- walks --------------------------------------------------------------------------------------


def test_longest_walks() -> None:
    edges = [("a", "b", 1), ("b", "a", 0), ("b", "c", 1), ("c", "c", 0), ("a", "c", 5)]
    assert longest(edges, ["a"]) is None
    assert longest([e for e in edges if e[:2] != ("b", "a")], ["a"]) == 5
    assert longest([("c", "c", 0)], ["c"]) == 0
    assert longest([("x", "x", 1)], ["c"]) == 0
    assert reachable({"a": "bc", "c": "d"}, ["a"]) == set("abcd")


# -- writing --------------------------------------------------------------------------------------


def test_a_folder_is_replaced_as_a_whole_or_not_at_all(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("proofs_check.certificates.folder.write_values", interrupt)
    with pytest.raises(KeyboardInterrupt):
        _write(folder)
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before
    assert [p.name for p in folder.parent.iterdir()] == ["folder"]
    monkeypatch.undo()
    (folder / _only(folder, "run")).unlink()
    _write(folder)
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before
    assert [p.name for p in folder.parent.iterdir()] == ["folder"]


def test_a_folder_with_anything_else_is_refused(folder: Path, tmp_path: Path) -> None:
    check_place(folder)
    check_place(tmp_path / "new")
    (tmp_path / "empty").mkdir()
    check_place(tmp_path / "empty")
    (folder / "mine.txt").write_text("mine")
    with pytest.raises(ParameterError, match=r"more than certificates \(mine.txt\)"):
        _write(folder)
    assert (folder / "mine.txt").read_text() == "mine"
    for place, said in (
        (tmp_path, "holds no certificates"),
        (folder / "mine.txt", "is a file"),
        (tmp_path / "no" / "where", "does not exist"),
    ):
        with pytest.raises(ParameterError, match=said):
            verify("Range of l", certificates=place)


def test_the_command_line_writes_and_the_checker_confirms(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "certificates"
    assert command_line(["verify", "Range of l", "--certificates", str(place)]) == 0
    capsys.readouterr()
    assert checker.main([str(place), "--all", "--solver", _solver(tmp_path)]) == 0
    assert "Range of l: PROVED" in capsys.readouterr().out
    assert command_line(["verify", "Range of l", "--certificates", str(tmp_path)]) != 0
    assert "holds no certificates" in capsys.readouterr().err


# -- journals -------------------------------------------------------------------------------------


def test_what_is_shared_is_leant_on_by_all_and_derived_again_for_texts() -> None:
    shelf: Shelf[str] = Shelf("shared")
    derived = []

    def derive() -> str:
        derived.append(1)
        Prover().prove(["x > 1"], "x > 0")
        return "it"

    plain, other, texts = Journal("plain"), Journal("other"), Journal("texts", texts=True)
    for journal in (plain, other, texts, texts):
        with writing(journal):
            assert shelf.get("key", derive) == "it"
    assert len(derived) == 2
    assert plain.leans_on == other.leans_on
    assert plain.leans_on[0].queries[0].text == ""
    assert "(assert" in texts.leans_on[0].queries[0].text
    assert len(texts.leans_on) == 1
    assert [j.name for j in closure([plain, texts])] == ["plain", "texts", "shared", "shared"]


def test_texts_do_not_depend_on_places_in_memory() -> None:
    def text() -> str:
        with writing(Journal("one", texts=True)) as journal:
            Prover().prove(["x*(y + z) > 1", "(y + z)*(y + z) < x"], "x*(y + z) + (y + z) > 0")
        return journal.queries[0].text

    first = text()
    keep = [Prover().formula(f"a{i}*a{i} > {i}") for i in range(50)]
    assert text() == first
    assert len(keep) == 50
    assert smt_text("(set-info :status unknown)\n(assert\n false)\n(check-sat)\n") == (
        "(assert\n false)\n"
    )


def test_second_opinions_are_asked_once_per_query(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def ask(query: Query, seconds: float) -> str:
        asked.append(query.text)
        return "agrees"

    monkeypatch.setattr("proofs_check.logic.smt._ask_cvc5", ask)
    monkeypatch.setattr("proofs_check.logic.smt.second_opinion_available", lambda: True)
    queries = [
        Query(status="unsat", text="a"),
        Query(status="unsat", text="a"),
        Query(status="sat", text="b"),
        Query(status="unsat", text=""),
        Query(status="unknown", text="c"),
        Query(status="unsat", text="d", second="unknown"),
    ]
    lower = Journal("lower", queries=queries)
    second_opinions([Journal("upper", leans_on=[lower])], 1)
    assert asked == ["a", "b"]
    assert [q.second for q in queries] == ["agrees"] * 3 + ["not asked"] * 2 + ["unknown"]


def test_a_part_of_a_script_ends_with_a_reset() -> None:
    text = query_text(Query(status="sat", text=_EMPTY, witness={"x": "~1.41"}, purpose="a\nb"))
    assert text.startswith("; purpose: a b\n(set-logic QF_NRA)\n(set-info :status sat)\n")
    assert text.endswith("(check-sat)\n(reset)\n")


def test_solvers_are_told() -> None:
    assert Solvers(3, 3).two
    assert not Solvers(3, 2).two
    assert not Solvers(0, 0).two


# -- the real ones ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("real") / "folder"
    chosen = ["Lemma 10", "Failing excursions", "Theorem 16", "Lemma 9", "Uniform over (H)", "(A)"]
    verify(chosen, certificates=place)
    return place


@pytest.mark.exhaustive
def test_real_certificates_are_confirmed_by_two_solvers(
    real: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kinds = {a["kind"] for a in json.loads((real / "index.json").read_text())["files"].values()}
    assert kinds == {*CHECKS, "queries"} - {"run", "point"}
    assert checker.main([str(real), "--all", "--solver", _solver(tmp_path)]) == 0
    assert " 0 not re-checked" in capsys.readouterr().out


@pytest.mark.slow
def test_real_automata_that_lack_a_move_or_an_exclusion_fail(real: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(real, tmp_path / "folder"))
    path = _only(folder, "automata")
    document = json.loads((folder / path).read_text())
    files = json.loads((folder / "index.json").read_text())["files"]
    check_automata(folder, document, files)
    for number, row in enumerate(document["rows"]):
        moves = {tuple(move) for move in row["moves"]}
        for what in ("moves", "excluded"):
            for i, item in enumerate(row[what]):
                if what == "excluded":
                    source, k, cell, _ = item
                    step = row["steps"][k]
                    at = document["actions"].index(step["action"])
                    target = source[:at] + cell + source[at + 1 :]
                    head = (source, step["action"], step["direction"], step["moved"])
                    if (*head, target) in moves:
                        continue  # another case makes this move
                if i % 10 == 0:
                    changed = json.loads(json.dumps(document))
                    changed["rows"][number][what].remove(item)
                    with pytest.raises(Failure):
                        check_automata(folder, changed, files)


@pytest.mark.slow
@pytest.mark.parametrize("path", ["t-3-above", "t-3-below", "t-3-1-above", "t-3-1-below"])
def test_potentials_that_are_a_little_less_are_not_settled(
    path: str, real: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(shutil.copytree(real, tmp_path / "folder"))
    path = f"potentials/{path}.json"
    document = json.loads((folder / path).read_text())
    files = json.loads((folder / "index.json").read_text())["files"]
    check_potential(folder, document, files)
    worse = Fraction(-1 if document["sense"] == "above" else 1, 100)
    refused = 0
    for number in range(len(document["potential"])):
        changed = json.loads(json.dumps(document))
        entry = changed["potential"][number]
        for k in (2, 3):
            entry[k] = str(Fraction(entry[k]) + worse)
        try:
            check_potential(folder, changed, files)
        except Failure:
            refused += 1
    assert refused > len(document["potential"]) / 2  # others have something to spare
    for cells in document["waits"]:
        changed = json.loads(json.dumps(document))
        changed["waits"][cells] = str(Fraction(changed["waits"][cells]) + 100 * worse)
        with pytest.raises(Failure):
            check_potential(folder, changed, files)
    _edit(folder, path, _set("potential", 0, 2, value=str(100 * worse)))
    assert checker.main([str(folder)]) == 1
    assert f"FAILS {path}: " in capsys.readouterr().out


def test_regions_cover_every_position_once() -> None:
    found: dict[tuple[int, int, int], tuple[str, ...]] = {}
    for place, down, up, ell_text, p_text in REGIONS:
        names = [name for name in ("u", "k") if name in ell_text + p_text]
        for u in range(8 if "u" in names else 1):
            for k in range(8 if "k" in names else 1):
                for v in range(3):
                    ell = eval(ell_text, {"u": u, "k": k})
                    n = 2 * ell + 5 + v
                    p = eval(p_text, {"n": n, "l": ell, "u": u})
                    assert (n, ell, p) not in found
                    found[n, ell, p] = (place, down, up)

    def name(n: int, ell: int, p: int) -> str:
        return {n - ell - 1: "n-l-1", n - ell: "n-l", n - ell + 1: "n-l+1", n: "n"}.get(p, "beyond")

    for ell in range(2, 8):
        for n in range(2 * ell + 5, 2 * ell + 8):
            for p in range(n - ell, n):
                expected = tuple(name(n, ell, q) for q in (p, p - 1, p + 1))
                assert found[n, ell, p] == expected


def test_formulas_are_read_as_quotients() -> None:
    one: Any = {(0, 0, 0): Fraction(1)}
    names: Any = {"a": ({(1, 0, 0): Fraction(1)}, one), "b": ({(0, 1, 0): Fraction(1)}, one)}
    top, bottom = formula("a/b - 2*(b + 1)/a", names)
    assert top == {(2, 0, 0): 1, (0, 2, 0): -2, (0, 1, 0): -2}
    assert bottom == {(1, 1, 0): 1}
    with pytest.raises(Failure, match="cannot be read"):
        formula("a**2", names)


@pytest.mark.exhaustive
def test_at_level_full_every_query_has_two_solvers() -> None:
    pytest.importorskip("cvc5")
    [result] = verify("Lemma 10", Setting(level="full"))
    assert result.solvers.two
    assert result.solvers.queries > 1000
    assert str(result.solvers) == "z3, cvc5"
