"""What all writers share: which labels, rewards and numbers a format can hold."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from flint import fmpq

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.rationals import to_float

__all__ = [
    "check_label",
    "check_reward_names",
    "double_text",
    "double_texts",
    "label_texts",
]

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def label_texts(chain: MarkovChain, *, start: str) -> dict[int, str]:
    """Return for each labelled state its labels, each preceded by a space, quoted if needed."""
    result = {int(i): f" {start}" for i in chain.start}
    for name, states in chain.labels.items():
        check_label(name, start)
        shown = name if _BARE.fullmatch(name) else f'"{name}"'
        for i in states.tolist():
            result[i] = f"{result.get(i, '')} {shown}"
    return result


def check_label(name: str, start: str) -> None:
    """Refuse a label that no file could carry."""
    if name == start:
        raise ParameterError(f"the label {name!r} is kept for the start states; rename it")
    if not name or '"' in name or not name.isprintable():
        raise ParameterError(
            f"the label {name!r} cannot be written: it must be printable text "
            f"without quotation marks"
        )


def check_reward_names(
    chain: MarkovChain, rewards: Mapping[str, Sequence[fmpq]], *, bare: bool
) -> None:
    """Refuse rewards of another length, and names that the format would tear apart."""
    for name, earned in rewards.items():
        if len(earned) != chain.size:
            raise ParameterError(
                f"the reward {name!r} has {len(earned)} values for {chain.size} states"
            )
        if bare and (not name.isprintable() or " " in name or (not name and len(rewards) > 1)):
            raise ParameterError(
                f"the reward name {name!r} cannot be written in this format: it "
                f"must be one printable word"
            )


def double_text(value: fmpq, what: str) -> str:
    """Return a number as a double of 17 digits, or refuse one outside their range."""
    try:
        result = to_float(value)
    except OverflowError:
        result = 0.0
    if result == 0.0 and value != 0:
        raise ParameterError(
            f"{what} is outside the range of doubles; write fractions "
            '(`values="rational"`, or another format)'
        )
    return repr(result)


def double_texts(chain: MarkovChain) -> list[str]:
    """Return the probabilities as doubles of 17 digits, or refuse one that would become 0."""
    values = chain.probabilities
    if values.size and values.min() == 0.0:
        raise ParameterError(
            "a probability is below the range of doubles; write fractions "
            '(`values="rational"`, or another format)'
        )
    return list(map(repr, values.tolist()))
