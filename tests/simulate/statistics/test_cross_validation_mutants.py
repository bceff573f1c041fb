"""Cross-validation must find what is wrong, on either side and in what both sides share.

Each mutant changes one thing in the engine, in what the kernels read, or in the law and the
algorithm that both read. All must be found, by a test that names the quantity.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw, runtime
from markov_lrsao.exact.quantity import Infinite
from markov_lrsao.model.algorithm import Reward
from markov_lrsao.model.landscape import JUMP, JUMP_OPEN
from simulate.runs import runner
from simulate.runs.encoding import EncodedLaw
from simulate.statistics import crossval, literal
from simulate.statistics.crossval import cross_validate

Patch = pytest.MonkeyPatch
LEVEL = 0.001


def other_landscape(patch: Patch) -> None:
    """Shared: the bridges end one position too early."""
    patch.setattr(Landscape, "jump", classmethod(lambda cls, n, ell: JUMP_OPEN.at(n, ell)))


def one_value(patch: Patch) -> None:
    """Shared: a single value of Jump is off by one."""

    def jump(cls: type[Landscape], n: int, ell: int) -> Landscape:
        right = JUMP.at(n, ell)
        values = {name: array.copy() for name, array in right.objectives.items()}
        values["J"][n - ell - 1] -= 1
        return Landscape(right.name, n, ell, values, "J", right.milestones)

    patch.setattr(Landscape, "jump", classmethod(jump))


def changed_algorithm(change: Callable[[Algorithm], dict[str, Any]]) -> Callable[[Patch], None]:
    def mutant(patch: Patch) -> None:
        right = Algorithm.lrsao

        def wrong(parameters: Any) -> Algorithm:
            algorithm: Algorithm = right(parameters)
            return replace(algorithm, **change(algorithm))

        patch.setattr(Algorithm, "lrsao", wrong)

    return mutant


def wrong_variance(patch: Patch) -> None:
    """Engine: E[T(T-1)] is taken for E[T^2]."""

    def made_wrong(right: Callable[..., Any]) -> Callable[..., Any]:
        def wrong(*arguments: Any, **options: Any) -> Any:
            found = list(right(*arguments, **options))
            found[1] -= found[0]
            return found

        return wrong

    def each_made_wrong(right: Callable[..., Any]) -> Callable[..., Any]:
        wrong = made_wrong(lambda found: found)
        return lambda *arguments, **options: [wrong(x) for x in right(*arguments, **options)]

    counting = import_module("markov_lrsao.answers.counting")
    patch.setattr(counting, "central_from_factorial", made_wrong(counting.central_from_factorial))
    engine = import_module("markov_lrsao.answers.expected")
    patch.setattr(engine, "moments_of_phases", each_made_wrong(engine.moments_of_phases))


def engine_reads_another_law(patch: Patch) -> None:
    """Engine: its encoded are those of the open bridges."""
    engine = import_module("markov_lrsao.answers.expected")

    class Wrong:
        @staticmethod
        def of(landscape: Landscape, algorithm: Algorithm) -> StepLaw:
            return StepLaw.of(JUMP_OPEN.at(landscape.n, landscape.ell), algorithm)

    patch.setattr(engine, "StepLaw", Wrong)


def engine_says_infinite(patch: Patch) -> None:
    """Engine: it finds a trap where there is none."""
    right = runtime
    patch.setattr(crossval, "runtime", lambda *a, **k: replace(right(*a, **k), total=Infinite()))


def law_of_t_is_late(patch: Patch) -> None:
    """Engine: P(T <= t) is P(T <= t - 1); the moments are right."""
    module = import_module("markov_lrsao.answers.distribution")
    right = module.distribution

    class Late:
        def __init__(self, law: Any) -> None:
            self.quantile, self._cdf = law.quantile, law.cdf

        def cdf(self, times: Any) -> Any:
            return self._cdf(np.asarray(times) - 1)

    patch.setattr(module, "distribution", lambda *a, **k: Late(right(*a, **k)))


def changed_tables(change: Callable[[EncodedLaw], dict[str, Any]]) -> Callable[[Patch], None]:
    def mutant(patch: Patch) -> None:
        def wrong(law: StepLaw) -> EncodedLaw:
            encoded = EncodedLaw.of(law)
            return replace(encoded, law=encoded.law._replace(**change(encoded)))

        patch.setattr(runner, "_encoded", lru_cache(wrong))

    return mutant


def each_its_own_kind(encoded: EncodedLaw) -> dict[str, Any]:
    """Return the kernels' tables position by position, so that single ones can be changed."""
    kind = encoded.law.kind
    return {
        "kind": np.arange(len(kind), dtype=np.int32),
        "accepted": encoded.law.accepted[kind],
        "gain": encoded.law.gain[kind],
    }


def accepted(p: int, action: int, direction: int) -> Callable[[EncodedLaw], dict[str, Any]]:
    """Turn one entry of the kernels' table of accepted moves."""

    def change(encoded: EncodedLaw) -> dict[str, Any]:
        tables = each_its_own_kind(encoded)
        tables["accepted"][p, action, direction] ^= 1
        return tables

    return change


def nothing_accepted(encoded: EncodedLaw) -> dict[str, Any]:
    """Nothing is accepted on the right plateau: no run ends."""
    tables = each_its_own_kind(encoded)
    tables["accepted"][7] = 0
    return tables


MUTANTS: dict[str, tuple[Callable[[Patch], None], set[str]]] = {
    "shared: bridges end early": (other_landscape, {"bit strings"}),
    "shared: one value of Jump": (one_value, {"bit strings"}),
    "shared: bootstrap of 0": (
        changed_algorithm(lambda a: {"bootstrap": fmpq(0)}),
        {"bit strings"},
    ),
    "shared: equal offspring rejected": (
        changed_algorithm(lambda a: {"accept_equal": False, "rejected": Reward()}),
        {"bit strings", "E[T] is a number"},
    ),
    "shared: the penalty is a reward": (
        changed_algorithm(lambda a: {"equal": Reward(constant=-a.equal.constant)}),
        {"bit strings"},
    ),
    "engine: wrong variance": (wrong_variance, {"Var T", "Var T1", "Var T2", "Var T3"}),
    "engine: another law": (engine_reads_another_law, {"T", "T1", "T2", "T3", "E[T] is a number"}),
    "engine: infinite": (engine_says_infinite, {"E[T] is a number"}),
    "engine: law of T late": (law_of_t_is_late, {"law of T"}),
    "kernel: geometric draws 5% short": (
        changed_tables(lambda t: {"inverse_log": 0.95 * t.law.inverse_log}),
        {"T", "T3"},
    ),
    "kernel: milestone one early": (
        changed_tables(lambda t: {"milestones": t.law.milestones - [1, 0, 0]}),
        {"T1", "T2"},
    ),
    "kernel: L goes on from l + 1": (
        changed_tables(accepted(3, 0, 1)),
        {"bit strings", "T1", "T2", "Var T2"},
    ),
    "kernel: no run ends": (
        changed_tables(nothing_accepted),
        {"bit strings", "runs that do not end"},
    ),
}


QUICK = {"shared: bridges end early", "engine: infinite", "kernel: L goes on from l + 1"}


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in MUTANTS],
)
def test_mutants_are_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutate, quantities = MUTANTS[name]
    mutate(monkeypatch)
    found = cross_validate([(9, 2)], runs=30_000, seed=3, level=LEVEL, points=("eager",))
    assert not found.agrees
    assert {test.quantity for _, test in found.failures} & quantities
    assert found.to_dict()["failures"][0]["n"] == 9


@pytest.mark.slow
def test_without_mutants_all_agree() -> None:
    """The same experiments, runs and seed."""
    found = cross_validate([(9, 2)], runs=30_000, seed=3, level=LEVEL, points=("eager",))
    assert found.agrees, found.failures
    assert found.tests == 1 + 1 + 8 + 1


SOURCES = {
    # in the compiled kernels, which have to be compiled again
    "a rejection counts twice": (
        "simulate/kernels/play.py",
        "            t += rejections\n",
        "            t += 2 * rejections\n",
    ),
    "ties go to the first": ("simulate/kernels/moves.py", "x = below(stream, total)\n", "x = 0\n"),
    "the old row's maximum": (
        "simulate/kernels/play.py",
        "learn(numbers, q, tops, names, actions, row, law.row[to], mask, action, g)\n",
        "learn(numbers, q, tops, names, actions, row, row, mask, action, g)\n",
    ),
    "down and up exchanged": (
        "simulate/kernels/play.py",
        "            direction = 0 if below(stream, law.n) < p else 1\n",
        "            direction = 1 if below(stream, law.n) < p else 0\n",
    ),
    # in the engine and in what both read. A wrong reward of Jump's first slope changes no choice
    # inside (H), and so no law of T: only the table tells.
    "equal offspring rejected": (
        "markov_lrsao/model/law.py",
        "(0 if algorithm.accept_equal else 1)",
        "(1 if algorithm.accept_equal else 0)",
    ),
    "a wrong piece of Jump": (
        "markov_lrsao/model/landscape.py",
        "Piece.of(ELL + 1, N - ELL - 1, P)",
        "Piece.of(ELL + 1, N - ELL - 1, P - ELL)",
    ),
    "plateaus are free": (
        "markov_lrsao/model/algorithm.py",
        "equal=Reward(constant=-parameters.r)",
        "equal=Reward()",
    ),
    "third moment without its sign": (
        "markov_lrsao/exact/moments.py",
        "raw[1] - square",
        "raw[1] + mean - square",
    ),
}


def test_what_lrsao_does_not_read_cannot_be_found() -> None:
    """A change of the target's gains (`target_gain` of the law) is no mutant of LRSAO.

    Its three rewards have the coefficient 0 there, so no entry of its table changes, whatever
    the gains are. EA+RL reads them: its rewards are compared with the target's values here.
    """
    algorithm = Algorithm.lrsao(Parameters.paper(12))
    assert [form.target for form in (algorithm.rejected, algorithm.equal, algorithm.better)] == [
        0,
        0,
        0,
    ]
    landscape = Landscape.jump(12, 3)
    law, target = StepLaw.of(landscape, Algorithm.earl()), landscape.objectives["J"].tolist()
    for p in range(1, 12):
        for a, name in enumerate(law.actions):
            value = landscape.objectives[name].tolist()
            for d, to in enumerate((p - 1, p + 1)):
                gain = target[to] - target[p] if value[to] >= value[p] else 0
                assert law.reward(p, a, d) == gain


@pytest.mark.parametrize(("n", "ell"), [(9, 2), (25, 7), (5000, 40)])
def test_every_line_of_the_table_is_compared(n: int, ell: int) -> None:
    """Turn a move, a reward, or a row, near a border of Jump's pieces."""
    parameters = Parameters.paper(n)
    law = StepLaw.of(Landscape.jump(n, ell), Algorithm.lrsao(parameters))
    assert literal._same_table(law, parameters)
    for p in (1, ell, ell + 1, n - ell - 1, n - ell):
        accepted, index, row = law.accepted.copy(), law.reward_index.copy(), law.row.copy()
        accepted[p, 1, 0] ^= True
        index[p, 2, 1] = (index[p, 2, 1] + 1) % len(law.rewards)
        row[p] = row.max() if row[p] != row.max() else 0
        for wrong in (
            replace(law, accepted=accepted),
            replace(law, reward_index=index),
            replace(law, row=row),
        ):
            assert not literal._same_table(wrong, parameters)


FEW = ("ties go to the first", "down and up exchanged")
"""In the second tier one mutant per kernel: each is compiled anew, for half a minute."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in FEW else pytest.mark.exhaustive)
        for name in SOURCES
    ],
)
def test_mutants_of_the_source_are_found(name: str, tmp_path: Path) -> None:
    file, old, new = SOURCES[name]
    root = Path(__file__).resolve().parents[3]
    for package in ("markov_lrsao", "simulate"):
        shutil.copytree(root / package, tmp_path / package)
    text = (tmp_path / file).read_text()
    assert old in text
    (tmp_path / file).write_text(text.replace(old, new, 1))
    kernel = "step" if name == "down and up exchanged" else "event"
    result = subprocess.run(
        [
            sys.executable,
            "-m",
            "markov_lrsao",
            "cross-validate",
            "--n-max",
            "9",
            "--runs",
            "20000",
            "--kernel",
            kernel,
        ],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert result.returncode == 1, result.stderr
    assert "DISAGREE: n = 9, l = 2" in result.stdout
