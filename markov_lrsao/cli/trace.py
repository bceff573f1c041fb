"""`markov-lrsao trace`: one run step by step in exact rationals, drawn from a seed or chosen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from markov_lrsao.cli.options import (
    ALGORITHM,
    LANDSCAPE,
    SEED,
    AlgorithmName,
    AlphaOption,
    EllOption,
    GammaOption,
    JsonOption,
    NOption,
    ROption,
    instance,
)
from markov_lrsao.cli.output import emit
from markov_lrsao.errors import ParameterError
from markov_lrsao.tables import table

if TYPE_CHECKING:
    from flint import fmpq

    from markov_lrsao.model.law import StepLaw
    from proofs_check.runs.run import Choice, Record, Run

__all__ = ["trace"]

_LONGEST = 10_000
_HEADER = ["t", "p", "row", "greedy", "choice", "accepted", "reward", "new entry", "p'"]


def trace(
    n: NOption = None,
    ell: EllOption = None,
    alpha: AlphaOption = None,
    gamma: GammaOption = None,
    r: ROption = None,
    algorithm: Annotated[AlgorithmName, ALGORITHM] = AlgorithmName.lrsao,
    seed: Annotated[int, SEED] = 1,
    run: Annotated[int, typer.Option("--run", help="Which run of the seed: 0, 1, ..")] = 0,
    steps: Annotated[int, typer.Option("--steps", help="Most steps to make.")] = 200,
    choices: Annotated[
        str | None,
        typer.Option(
            "--choices",
            help="Steps to make instead of random ones, e.g. L+,L-,J+: an objective with the "
            "largest entry and the bit's direction. Empty: none.",
        ),
    ] = None,
    landscape: Annotated[str, LANDSCAPE] = "jump",
    as_json: JsonOption = False,
) -> None:
    """Print one run step by step: the row of Q, the choice, the reward, the update.

    Run k of a seed is the run that `simulate --kernel step` plays as its k-th. Where the run
    stands in the end, all that can happen next is listed with its probability.
    """
    from markov_lrsao.model.law import StepLaw
    from proofs_check.runs.run import Run
    from simulate.sweeps.plan import build_algorithm

    if not 0 <= steps <= _LONGEST:
        raise ParameterError(f"--steps {steps} is out of range: choose 0..{_LONGEST:,}")
    if run < 0:
        raise ParameterError(f"--run {run} is negative: the runs of a seed are 0, 1, ..")
    shape = instance(n, ell, None, None, None, landscape).landscape
    law = StepLaw.of(shape, build_algorithm(algorithm.value, shape.n, alpha, gamma, r))
    walk = Run(law)
    drawn = _drawn(walk, seed, run) if choices is None else iter(_choices(choices, steps))
    made: list[dict[str, Any]] = []
    while not walk.finished and len(made) < steps and (choice := next(drawn, None)) is not None:
        row = walk.row(walk.position).copy()
        made.append(_step(law, row, walk.step(*choice)))
    about = _about(law) | ({"seed": seed, "run": run} if choices is None else {})
    found = about | {"finished": walk.finished, "steps": made, "now": _now(walk)}
    emit(as_json, lambda: found | {"graph": _graph(found["now"])}, lambda: _text(found))


def _choices(text: str, most: int) -> list[Choice]:
    """Read steps such as "L+,J-"."""
    from markov_lrsao.model.law import DOWN, UP

    words = [word.strip() for word in text.split(",") if word.strip()]
    if len(words) > most:
        raise ParameterError(f"--choices has {len(words)} steps, more than --steps {most}")
    for word in words:
        if not re.fullmatch(r".+[+-]", word):
            raise ParameterError(f"--choices: {word!r} is no step; write e.g. L+ or J-")
    return [(word[:-1], UP if word.endswith("+") else DOWN) for word in words]


def _drawn(walk: Run, seed: int, run: int) -> Iterator[Choice]:
    """Draw steps from the stream of a run, as the step kernel does: first the bit, then a tie."""
    from simulate.runs.reference import StreamChooser
    from simulate.runs.streams import Stream, stream_key

    chooser = StreamChooser(Stream(stream_key(seed), run))
    while True:
        direction, _ = chooser.flip(walk.position, walk.law.n)
        tied = walk.greedy()
        yield (tied[0] if len(tied) == 1 else chooser.break_tie(tied)), direction


def _about(law: StepLaw) -> dict[str, Any]:
    """Return which instance it is, and what (H) says about it."""
    from markov_lrsao.exact.rationals import rational_text
    from markov_lrsao.model.parameters import hypothesis_h

    shape, parameters = law.landscape, law.algorithm.parameters
    about: dict[str, Any] = {
        "landscape": shape.name,
        "algorithm": law.algorithm.name,
        "n": shape.n,
        "ell": shape.ell,
        "milestones": list(shape.milestones),
        "phases": list(shape.phases),
        "objectives": {name: values.tolist() for name, values in shape.objectives.items()},
        "target": shape.target,
        "hypothesis_h": None,
    }
    if parameters is not None:
        for name in ("alpha", "gamma", "r"):
            about[name] = rational_text(getattr(parameters, name))
        allowed = hypothesis_h(shape, parameters)
        about["hypothesis_h"] = {
            "lower": rational_text(allowed.lower),
            "upper": rational_text(allowed.upper),
            "holds": allowed.holds,
        }
    return about


def _row(law: StepLaw, values: Sequence[fmpq]) -> dict[str, Any]:
    """Return a row: its entries, as fractions and floats, and its pattern."""
    from markov_lrsao.exact.rationals import rational_text, to_float
    from markov_lrsao.rows.patterns import Pattern

    def sign(x: fmpq) -> int:
        return (x > 0) - (x < 0)

    signs = tuple(map(sign, values))
    order = tuple(sign(x - y) for x, y in combinations(values, 2))
    return {
        "row": {a: rational_text(x) for a, x in zip(law.actions, values, strict=True)},
        "floats": {a: to_float(x) for a, x in zip(law.actions, values, strict=True)},
        "pattern": Pattern(signs, order).label(law.actions),
        "signs": list(signs),
        "order": list(order),
    }


def _step(law: StepLaw, row: Sequence[fmpq], record: Record) -> dict[str, Any]:
    from markov_lrsao.exact.rationals import rational_text, to_float
    from proofs_check.runs.run import direction_text

    return {
        "time": record.time,
        "position": record.position,
        "phase": record.phase,
        **_row(law, row),
        "greedy": list(record.tied),
        "action": record.action,
        "direction": direction_text(record.direction),
        "accepted": record.accepted,
        "reward": rational_text(record.reward),
        "old": rational_text(record.old),
        "new": rational_text(record.new),
        "new_float": to_float(record.new),
        "next_position": record.next_position,
    }


def _shown_next(walk: Run, action: int, moved: int, new: fmpq) -> str:
    """Return the pattern of the row that is shown after a step, its own entry updated."""
    law, p = walk.law, walk.position
    values = list(walk.row(p + moved))
    if law.row[p + moved] == law.row[p]:
        values[action] = new
    found: str = _row(law, values)["pattern"]
    return found


def _now(walk: Run) -> dict[str, Any]:
    """Return where the run stands, and every step that can follow."""
    from markov_lrsao.exact.rationals import rational_text, to_float
    from proofs_check.runs.run import direction_text

    law, p = walk.law, walk.position
    values, greedy = walk.row(p), walk.greedy()
    now = {"time": walk.time, "position": p, "phase": walk.phase, **_row(law, values)}
    numbers = tuple(law.actions.index(a) for a in greedy)
    algorithm = law.algorithm
    proposals = []
    for e in () if walk.finished else law.proposals(int(law.kind[p]), numbers):
        probability = law.probability(e.share, p)
        if probability == 0:
            continue
        reward = law.reward(p, e.action, e.direction)
        after = max(walk.row(p + e.moved))
        new = (
            algorithm.keep * values[e.action]
            + algorithm.learn * reward
            + algorithm.bootstrap * after
        )
        proposals.append(
            {
                "action": law.actions[e.action],
                "direction": direction_text(e.direction),
                "probability": rational_text(probability),
                "accepted": bool(law.accepted[p, e.action, e.direction]),
                "reward": rational_text(reward),
                "new": rational_text(new),
                "new_float": to_float(new),
                "next_position": p + e.moved,
                "next_pattern": _shown_next(walk, e.action, e.moved, new),
            }
        )
    return now | {"greedy": list(greedy), "proposals": proposals}


def _graph(now: dict[str, Any]) -> dict[str, Any]:
    """Return the present state and all that can follow as a graph with places."""
    from markov_lrsao.exact.rationals import rational
    from markov_lrsao.figures.walks import Way, next_steps

    here = now["position"]
    ways = [
        Way(
            p["action"] + ("+" if p["direction"] == "up" else "-"),
            rational(p["probability"]),
            p["next_position"] - here,
            p["next_position"],
            p["next_pattern"],
        )
        for p in now["proposals"]
    ]
    return next_steps(here, now["pattern"], ways)


def _text(found: dict[str, Any]) -> str:
    from markov_lrsao.exact.rationals import shorten

    size = f"n = {found['n']}" + (f", l = {found['ell']}" if found["ell"] else "")
    head = f"{found['algorithm']} on {found['landscape']}, {size}"
    rows = [
        [
            str(s["time"]),
            str(s["position"]),
            s["pattern"],
            " ".join(s["greedy"]),
            s["action"] + ("+" if s["direction"] == "up" else "-"),
            "yes" if s["accepted"] else "no",
            s["reward"],
            shorten(s["new"], 30),
            str(s["next_position"]),
        ]
        for s in found["steps"]
    ]
    now = found["now"]
    where = f"after {now['time']} steps: position {now['position']}, row {now['pattern']}"
    if found["finished"]:
        return f"{head}\n\n{table(_HEADER, rows)}\n\n{where}, the optimum"
    following = [
        [
            p["probability"],
            p["action"] + ("+" if p["direction"] == "up" else "-"),
            "yes" if p["accepted"] else "no",
            p["reward"],
            shorten(p["new"], 30),
            str(p["next_position"]),
        ]
        for p in now["proposals"]
    ]
    listed = table(["probability", "choice", "accepted", "reward", "new entry", "p'"], following)
    return "\n\n".join([head, *([table(_HEADER, rows)] if rows else []), where, listed])
