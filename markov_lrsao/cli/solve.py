"""`markov-lrsao solve`: reach a label in any discrete-time Markov chain."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from markov_lrsao.cli.options import JsonOption, MaxMemoryOption, MaxSizeOption
from markov_lrsao.cli.output import emit
from markov_lrsao.errors import ExactnessError, ParameterError
from markov_lrsao.progress import elapsed, terminal_progress
from markov_lrsao.tables import table
from markov_lrsao.texts import listing, printable

if TYPE_CHECKING:
    from markov_lrsao.chains.reaching import Reaching, ReachingResult
    from markov_lrsao.exact.quantity import Quantity
    from markov_lrsao.exchange import ChainFile

__all__ = ["solve"]

_BEYOND = "(outside the range of floats)"
_IN_FLOATS = "in floats, with certain bounds for the probabilities read, as exact rationals"
_DEVIATION_DIGITS = 20
_MOST_SHOWN = 20  # start states in a table for people; --json has all


def solve(
    file: Annotated[Path, typer.Argument(help="A .drn, .tra, .json, .graphml or .mtx file.")],
    target: Annotated[
        str | None, typer.Option("--target", help="Label of the states to reach.")
    ] = None,
    target_state: Annotated[
        list[int] | None,
        typer.Option("--target-state", help="A state to reach, by number (may be repeated)."),
    ] = None,
    start: Annotated[
        list[int] | None,
        typer.Option(
            "--from",
            help="A state to start from (may be repeated).",
            show_default="the file's initial states",
        ),
    ] = None,
    reward: Annotated[
        str | None,
        typer.Option("--reward", help="Sum up this reward of the file instead of steps."),
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Exact rationals instead of floats.")
    ] = False,
    max_size: MaxSizeOption = None,
    max_memory: MaxMemoryOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print probability, expected time and variance of reaching a label."""
    from markov_lrsao.memory import at_most

    with at_most(max_memory):
        read, result = _solved(
            file, target, target_state, start, reward, exact=exact, max_size=max_size
        )
    name = target if target is not None else ", ".join(map(str, target_state or ()))
    emit(
        as_json,
        lambda: _object(file, name, reward, read, result),
        lambda: _text(file, name, reward, read, result),
    )


def _solved(
    file: Path,
    target: str | None,
    target_state: list[int] | None,
    start: list[int] | None,
    reward: str | None,
    *,
    exact: bool,
    max_size: int | None,
) -> tuple[ChainFile, ReachingResult]:
    from markov_lrsao.chains.reaching import reach
    from markov_lrsao.exchange import read_chain

    read = read_chain(file, max_size=max_size)
    if exact and not read.exact:
        raise ExactnessError(
            f"{printable(str(file))}: {read.notes[-1]}; an exact answer needs exact probabilities "
            f"(fractions), or leave out --exact"
        )
    where = _target(read, target, target_state)
    rewards = None if reward is None else _reward(read, reward)
    moving = None if reward is None else read.transition_rewards.get(reward)
    result = reach(
        read.chain,
        where,
        start=start,
        rewards=rewards,
        transition_rewards=moving,
        field="exact" if exact else "float",
        progress=terminal_progress,
    )
    return read, result


def _target(read: ChainFile, target: str | None, states: list[int] | None) -> Any:
    import numpy as np

    if (target is None) == (not states):
        known = listing(sorted(read.chain.labels))
        raise ParameterError(
            f"give either --target LABEL or --target-state NUMBER; the file's labels: {known}"
        )
    if target is not None:
        return read.chain.labelled(target)
    mask = np.zeros(read.chain.size, dtype=np.bool_)
    for state in states or ():
        if not 0 <= state < read.chain.size:
            raise ParameterError(
                f"--target-state {state} does not exist: states are 0..{read.chain.size - 1}"
            )
        mask[state] = True
    return mask


def _reward(read: ChainFile, reward: str) -> Any:

    if reward not in read.rewards:
        known = listing(repr(name) for name in read.rewards)
        raise ParameterError(f"--reward {reward!r} is not in the file; its rewards: {known}")
    return read.rewards[reward]


def _object(
    file: Path, name: str, reward: str | None, read: ChainFile, result: ReachingResult
) -> dict[str, Any]:
    return {
        "file": str(file),
        "target": name,
        "reward": reward,
        "exact": result.field == "exact",
        "states": result.states,
        "transitions": read.chain.transitions,
        "solved_states": result.solved,
        "seconds": round(elapsed(), 6),
        "solving_seconds": round(result.seconds, 6),
        "notes": list(read.notes),
        "starts": [start.to_dict() for start in result.starts],
    }


def _text(
    file: Path, name: str, reward: str | None, read: ChainFile, result: ReachingResult
) -> str:

    what = "steps" if reward is None else f"reward {reward!r}"
    lines = [
        f"{printable(str(file))}: {result.states:,} states, "
        f"{read.chain.transitions:,} transitions; "
        f"{what} until {name!r}"
    ]
    lines += [f"note: {note}" for note in read.notes]
    for start in result.starts[:_MOST_SHOWN]:
        lines += ["", f"from state {_named(start)}", *_rows(start)]
    if len(result.starts) > _MOST_SHOWN:
        lines += ["", f"... and {len(result.starts) - _MOST_SHOWN:,} more start states (--json)"]
    merged = (
        f", {result.solved:,} after merging equal futures" if result.solved < result.states else ""
    )
    lines += [
        "",
        f"solved {'exactly' if result.field == 'exact' else _IN_FLOATS}{merged}; "
        f"{elapsed():.3f} s, {result.seconds:.3f} s of them for solving",
    ]
    return "\n".join(lines)


def _named(start: Reaching) -> str:

    name = str(start.state)
    return name if start.name == name else f"{name} ({printable(start.name)})"


def _within(value: Quantity) -> str:
    """Return a bound of the distance between a float's decimal and the truth."""
    from markov_lrsao.exact.quantity import Approximate

    if not isinstance(value, Approximate) or value.error is None:
        return "(float)"
    if value.error == 0:
        return "exact, by the graph"
    return f"within {value.to_dict()['error']}"


def _deviation(start: Reaching) -> list[str]:
    """Return the digits of the deviation that are certain, and how certain they are."""
    from markov_lrsao.exact.digits import with_digits

    found = start.standard_deviation
    if found is None:
        finite = start.deviation is not None and math.isfinite(start.deviation)
        return [f"{start.deviation:.3g}", "(float)"] if finite else ["-", _BEYOND]
    if found.exact or not start.variance or not start.variance.exact:
        return [found.decimal, found.rational or _within(found)]
    return list(with_digits(found, _DEVIATION_DIGITS).cells)


def _rows(start: Reaching) -> list[str]:
    from markov_lrsao.exact.rationals import shorten

    if start.conditional_mean is None:
        return ["the target cannot be reached: probability 0, expected time infinite"]

    def row(name: str, value: Quantity | None) -> list[str]:
        if value is None:
            return [name, "-", _BEYOND]
        return [name, value.decimal, shorten(value.rational or _within(value))]

    given = "" if start.certain else " if reached"
    rows = [row("probability", start.probability)]
    if not start.certain:
        rows.append(row("1 - probability", start.miss))
        rows.append(["mean", start.mean.decimal, "infinite: the target may be missed"])
    rows += [row(f"mean{given}", start.conditional_mean), row(f"variance{given}", start.variance)]
    rows.append([f"deviation{given}", *_deviation(start)])
    return table(["quantity", "decimal", "fraction"], rows).split("\n")
