"""What `from markov_lrsao import ..` gives, and that defaults are the paper's."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from flint import fmpq

import markov_lrsao
from markov_lrsao import (
    Algorithm,
    AlgorithmFamily,
    Landscape,
    Parameters,
    StepLaw,
    chain_from_rows,
    curve,
    distribution,
    profile,
    reach,
    runtime,
    simulate,
    verify,
    write_chain,
)
from markov_lrsao.errors import ParameterError
from markov_lrsao.model.landscape import ONEMAX

ROOT = Path(markov_lrsao.__file__).resolve().parent.parent
NINE = Landscape.jump(9, 2)
PAPER = Algorithm.lrsao(Parameters("4/5", "1/10", "7/2"))
E9 = "51740216905/1185192162"


def test_the_names_are_the_same_for_people_programs_and_type_checkers() -> None:
    tree = ast.parse((ROOT / "markov_lrsao" / "__init__.py").read_text(encoding="utf-8"))
    checked = {
        alias.name: node.module
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert markov_lrsao.__all__ == sorted(markov_lrsao.__all__)
    assert checked == markov_lrsao._HOMES
    assert set(checked) == set(markov_lrsao.__all__) <= set(dir(markov_lrsao))
    assert all(getattr(markov_lrsao, public).__doc__ for public in markov_lrsao.__all__)
    assert {(ROOT / p / "py.typed").is_file() for p in ("markov_lrsao", "simulate")} == {True}


def test_a_star_gives_all_of_them_in_a_fresh_process() -> None:
    """Also `runtime` and `simulate`, though modules and a package have such names."""
    code = (
        "import simulate as package, markov_lrsao.answers.profile, markov_lrsao.answers.curves\n"
        "from markov_lrsao import *\n"
        "import markov_lrsao\n"
        "assert all(name in globals() for name in markov_lrsao.__all__)\n"
        "assert simulate is package.simulate and callable(simulate) and callable(profile)\n"
        "assert plots.__name__ == 'markov_lrsao.figures.plots'\n"
        "assert not hasattr(markov_lrsao, 'nonsense')\n"
    )
    subprocess.run([sys.executable, "-c", code], timeout=300, check=True)


def test_the_version_is_said_once() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    assert cited is not None
    assert cited[1] == project["version"]
    assert markov_lrsao.__version__ == importlib.metadata.version("markov-lrsao")


@pytest.mark.parametrize("algorithm", [None, Algorithm.lrsao(), AlgorithmFamily("0.8"), PAPER])
def test_the_papers_parameters_are_the_default(
    algorithm: Algorithm | AlgorithmFamily | None,
) -> None:
    result = runtime(NINE, algorithm)
    assert result.total.rational == E9
    assert result.parameters == PAPER.parameters
    assert StepLaw.of(NINE, algorithm).algorithm == PAPER
    assert distribution(NINE, algorithm).cdf(40) == distribution(NINE, PAPER).cdf(40)
    assert list(profile(NINE, algorithm).steps) == list(profile(NINE, PAPER).steps)
    (point,) = curve([9], 2, algorithm, field="exact")
    assert point.result.total.rational == E9
    played = simulate(NINE, algorithm, runs=5, seed=1)
    assert played.steps.tolist() == simulate(StepLaw.of(NINE, PAPER), runs=5, seed=1).steps.tolist()


def test_given_hyper_parameters_are_kept_and_the_others_follow_n() -> None:
    family = AlgorithmFamily(r="35/4")
    assert family.at(30).parameters == Parameters.paper(30, r=fmpq(35, 4))
    assert family.at(30) != family.at(31)
    outside = AlgorithmFamily(r=2)  # by hand: (H) at n = 9, l = 2 is 7/3 < r < 25/2
    for refused in (runtime, distribution, profile):
        with pytest.raises(ParameterError, match=r"r = 2 is outside .*`outside_h=True`"):
            refused(NINE, outside)
    with pytest.raises(ParameterError, match="`outside_h=True`"):
        curve([9], 2, outside)
    (point,) = curve([9], 2, outside, outside_h=True)
    assert point.result.hypothesis_h is False


def test_schedules_of_l() -> None:
    texts = curve(np.array([20, 50]), "sqrt")
    assert [(p.n, p.ell) for p in texts] == [(20, 4), (50, 7)]
    assert [type(p.n) for p in texts] == [int, int]
    functions = curve([20, 50], lambda n: np.int64(4 if n == 20 else 7))
    assert [float(p.result.total) for p in functions] == [float(p.result.total) for p in texts]
    assert [p.ell for p in curve([20, 50], 3)] == [3, 3]
    assert texts[1:].points == texts.points[1:]
    assert texts[-1].n == 50
    (onemax,) = curve([4], 0, Algorithm.rls(), family=ONEMAX, field="exact")
    assert Fraction(onemax.result.total.rational or "") == 4 * sum(
        Fraction(1, k) for k in range(1, 5)
    )
    for bad, reason in (("root", "ell = 'root' is unknown"), (2.0, "not an integer"), (40, "2..7")):
        with pytest.raises(ParameterError, match=reason):
            curve([20], bad)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"n = 20\.0 is not an integer"):
        curve([20.0], 2)  # type: ignore[list-item]


def test_a_curve_on_several_processes_is_the_same_curve() -> None:
    ns = range(13, 19)
    one, two = curve(ns, 3, Algorithm.lrsao()), curve(ns, 3, workers=2)
    assert [float(p.result.total) for p in one] == [float(p.result.total) for p in two]


def test_a_law_has_its_algorithm() -> None:
    with pytest.raises(ParameterError, match="algorithm is given twice"):
        simulate(StepLaw.of(NINE), PAPER, runs=1, seed=1)


def test_one_statement_may_be_named_without_a_list() -> None:
    (result,) = verify("Range of l")
    assert (result.id, result.verdict.value) == ("Range of l", "PROVED")


def test_any_chain() -> None:
    """By hand: a coin is thrown twice on average until it shows heads, with variance 2."""
    chain = chain_from_rows([{0: "1/2", 1: Fraction(1, 2)}, {1: 1}])
    (start,) = reach(chain, chain.at_positions([1])).starts
    assert start.mean.rational == "2"
    assert start.variance is not None
    assert start.variance.rational == "2"


def test_docs_have_every_name_with_an_example_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines of docs/api.md: | `name` | what it is | `example` |, after a block that they use."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    lines = dict(re.findall(r"^\| `(\w+)` \| [^|]+ \| `([^`|]+)` \|$", text, re.MULTILINE))
    assert sorted(lines) == sorted([*markov_lrsao.__all__, "__version__"])
    names: dict[str, object] = {}
    exec(text.split("```python\n")[1].split("```")[0], names)
    write_chain(chain_from_rows([{0: "1/2", 1: "1/2"}, {1: 1}]), "coin.drn", format="drn")
    for example in lines.values():
        exec(example, names)


def test_docs_say_which_results_have_tables() -> None:
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    said = text.split("`to_frame()` of ")[1].split("is a pandas")[0]
    public = [getattr(markov_lrsao, name) for name in markov_lrsao.__all__]
    have = {found.__name__ for found in public if hasattr(found, "to_frame")}
    assert set(re.findall(r"`(\w+)`", said)) == have
