"""Directed search for counterexamples: random exact runs across (H), then shrinking.

Instances are tried from the smallest n and the simplest hyper-parameters on, the corners of (H)
included (alpha near 0 and 1, r near both ends, gamma at its largest), so the first violation
found is at a small instance. Its run is then shortened: the shortest violating prefix, then every
step that can be left out without losing the violation.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from markov_lrsao.errors import ParameterError
from markov_lrsao.model.law import StepLaw
from markov_lrsao.model.parameters import Parameters, hypothesis_h
from proofs_check.claims.counterexample import Counterexample
from proofs_check.claims.scope import Scope
from proofs_check.claims.setting import HYPOTHESIS, Setting
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.smt import Prover
from proofs_check.runs.monitors import Monitor
from proofs_check.runs.run import Choice, Run, random_choice, run_of

__all__ = ["Battery", "hyper_parameters", "instances", "judge", "search", "shrink", "watch"]

_LONGEST_RUN = 600


def largest_gamma(setting: Setting, n: int, ell: int, alpha: fmpq) -> fmpq:
    """Return a gamma just below the largest for which (H) admits an r, by bisection."""
    landscape = setting.family.at(n, ell)
    low, high = fmpq(1, n + 1), fmpq(1)
    for _ in range(12):
        middle = (low + high) / 2
        fits = hypothesis_h(landscape, Parameters(alpha, middle, fmpq(1))).satisfiable
        low, high = (middle, high) if fits else (low, middle)
    return low


def hyper_parameters(setting: Setting, n: int, ell: int) -> list[Parameters]:
    """Return hyper-parameters that the setting's hypothesis admits, the paper's first.

    The corners of the paper's (H) follow, then points on its ends and beyond them: a changed
    hypothesis may admit these.
    """
    landscape = setting.family.at(n, ell)
    found, beyond = [Parameters.paper(n)], list[Parameters]()
    alphas = [fmpq(4, 5), fmpq(1, 2), fmpq(9, 10), fmpq(1, 10), fmpq(99, 100), fmpq(1, 100)]
    gammas: list[Callable[[fmpq], fmpq]] = [
        lambda _: fmpq(1, n + 1),
        lambda _: fmpq(1, 1000 * n),
        lambda alpha: largest_gamma(setting, n, ell, alpha),
        lambda _: fmpq(1, 2),
        lambda _: fmpq(9, 10),
    ]
    for gamma_of in gammas:  # the simple ones first
        for alpha in alphas:
            gamma = gamma_of(alpha)
            h = hypothesis_h(landscape, Parameters(alpha, gamma, fmpq(1)))
            width = h.upper - h.lower
            if h.satisfiable:
                found.extend(
                    Parameters(alpha, gamma, h.lower + width * share)
                    for share in (fmpq(1, 1000), fmpq(1, 2), fmpq(999, 1000))
                )
            below = [h.lower, h.lower * fmpq(9, 10), h.lower / 10, fmpq(0)]
            above = [h.upper, h.upper * fmpq(11, 10), h.upper * 10]
            beyond.extend(Parameters(alpha, gamma, r) for r in below + above)
    if setting.hypothesis != HYPOTHESIS:
        found += beyond
    admitted = [p for p in dict.fromkeys(found) if setting.admits(n, ell, p)]
    return admitted or _from_solver(setting, n, ell)


def _from_solver(setting: Setting, n: int, ell: int) -> list[Parameters]:
    """Return hyper-parameters that a solver finds, where no simple ones are admitted."""
    size = (f"n = {n}", f"l = {ell}")
    model = (
        Prover(seconds=setting.solver_seconds).prove([*setting.hypothesis, *size], "0 = 1").model
    )
    values = [model.get(name, "1/2") for name in ("alpha", "gamma", "r")]
    if not model or any(value.startswith("~") for value in values):
        return []
    return [Parameters(*values)]


def watch(law: StepLaw, choices: Sequence[Choice], monitor: Monitor) -> tuple[int, str] | None:
    """Return (number of steps, what was seen) at the first violation of a run, or None."""
    run, memory = Run(law), monitor.start
    for index, (action, direction) in enumerate(choices):
        if run.finished or action not in run.greedy():
            return None
        if not 0 <= run.position + 2 * direction - 1 <= law.n:
            return None
        record = run.step(action, direction)
        memory, seen = monitor.look(run, record, memory)
        if seen is not None:
            return index + 1, seen
    return None


def shrink(law: StepLaw, choices: Sequence[Choice], monitor: Monitor) -> tuple[list[Choice], str]:
    """Return a shorter run that still violates the monitor, and what is seen at its end."""
    found = watch(law, choices, monitor)
    if found is None:
        raise ParameterError("the run to be shrunk does not violate the statement")
    kept, seen = list(choices[: found[0]]), found[1]
    size = max(1, len(kept) // 2)
    while size >= 1:
        index = 0
        while index < len(kept):
            candidate = kept[:index] + kept[index + size :]
            again = watch(law, candidate, monitor)
            if again is not None:
                kept, seen = candidate[: again[0]], again[1]
            else:
                index += 1
        size //= 2
    return kept, seen


@dataclass(frozen=True)
class Battery:
    """What a battery of random runs found."""

    instances: int
    runs: int
    steps: int
    largest_n: int
    violations: dict[tuple[str, str], Counterexample]


def instances(setting: Setting) -> Iterator[StepLaw]:
    """Yield instances across (H), smallest n first, then a few larger ones."""
    for n, ell in setting.pairs(setting.pick(10, 13)):
        landscape = setting.family.at(n, ell)
        for parameters in hyper_parameters(setting, n, ell):
            yield StepLaw.of(landscape, setting.algorithm(parameters))
    for n, ell in ((40, 2), (40, 6), (40, 17)):
        paper = Parameters.paper(n)
        if (n, ell) in set(setting.pairs(n, n)) and setting.admits(n, ell, paper):
            yield StepLaw.of(setting.family.at(n, ell), setting.algorithm(paper))


def search(
    laws: Iterable[StepLaw],
    monitors: Sequence[Monitor],
    *,
    runs: int,
    seed: int,
    longest: int = _LONGEST_RUN,
) -> Battery:
    """Watch all monitors on random runs; a monitor that was violated is not watched further."""
    generator = random.Random(seed)
    violations: dict[tuple[str, str], Counterexample] = {}
    count = total = steps = largest = 0
    for law in laws:
        count, largest = count + 1, max(largest, law.n)
        for _ in range(runs):
            waiting = [m for m in monitors if (m.statement, m.part) not in violations]
            if not waiting:
                return Battery(count, total, steps, largest, violations)
            total += 1
            memory: dict[int, Any] = {i: m.start for i, m in enumerate(waiting)}
            run, choices = Run(law), []
            while not run.finished and run.time < longest:
                choice = random_choice(run, generator)
                choices.append(choice)
                record = run.step(*choice)
                for i in list(memory):
                    memory[i], seen = waiting[i].look(run, record, memory[i])
                    if seen is not None:
                        monitor = waiting[i]
                        del memory[i]
                        short, seen = shrink(law, choices, monitor)
                        violations[monitor.statement, monitor.part] = run_of(
                            law,
                            short,
                            statement=monitor.statement,
                            expected=monitor.expected,
                            observed=seen,
                        )
            steps += run.time
    return Battery(count, total, steps, largest, violations)


def judge(battery: Battery, monitor: Monitor, across: str = "across (H)") -> Evidence:
    """Return the statistical evidence of a battery on one monitor.

    Without a violation in N independent runs, an event of probability above 3/N per run would
    have shown up with probability 95 % (rule of three).
    """
    bad = battery.violations.get((monitor.statement, monitor.part))
    where = (
        f"{battery.runs} runs, {battery.steps} steps, {battery.instances} instances "
        f"{across}, n up to {battery.largest_n}"
    )
    if bad is not None:
        return Evidence(
            kind=EvidenceKind.STATISTICAL,
            verdict=Verdict.REFUTED,
            part=monitor.part,
            scope=Scope(where, across),
            summary=f"violated: {bad.observed} ({monitor.expected} was promised)",
            counterexample=bad,
        )
    return Evidence(
        kind=EvidenceKind.STATISTICAL,
        verdict=Verdict.SUPPORTED,
        part=monitor.part,
        scope=Scope(where, across),
        summary=f"no violation in {battery.runs} exact runs "
        f"(95 %: fewer than {3 / battery.runs:.1e} of such runs violate it)",
    )
