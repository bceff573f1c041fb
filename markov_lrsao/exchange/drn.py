r"""Storm's DRN format, rational or double.

A file is a header of ``@`` keys, then for every state in order its line ``state 3 [rewards]
labels``, one line ``action name [rewards]`` and one line ``target : probability`` per
transition. Only discrete-time Markov chains are read. A state's and an action's rewards are
both earned by one step, so they are added.

>>> from markov_lrsao.chains.sources import birth_death_chain
>>> print(format_drn(birth_death_chain(["1/2"]).with_labels({"top": [1]})).expandtabs(2), end="")
@type: DTMC
@value_type: rational
@parameters
<BLANKLINE>
@reward_models
<BLANKLINE>
@nr_states
2
@nr_choices
2
@model
state 0 init
  action 0
    0 : 1/2
    1 : 1/2
state 1 top
  action 0
    1 : 1
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import gcd
from pathlib import Path

from flint import fmpq

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.exact.rationals import rational_text
from markov_lrsao.exchange._reading import (
    ChainFile,
    RowReader,
    Source,
    assemble,
    parse_integer,
    parse_number,
    refuse_twice,
    show,
)
from markov_lrsao.exchange._writing import check_reward_names, double_texts, label_texts
from markov_lrsao.storage import write_whole

__all__ = ["format_drn", "fraction_texts", "read_drn", "write_drn"]

_LARGE = 1_000_000  # bytes; from here on the compiled reader pays for importing the compiler
_LABEL = re.compile(r'\s*(?:"([^"]+)"|([^\s"]+))(?=\s|$|")')
_STATE = re.compile(r"state ([0-9]+)(?: \[([^\]]*)\])?(?: (.*))?")
_ACTION = re.compile(r"action (\S+)(?: \[([^\]]*)\])?")
_TRANSITION = re.compile(r"[ \t]*([0-9]{1,18}) : (\S+)[ \t]*")
_NOT_A_CHAIN = {"MDP", "CTMC", "MA", "Markov Automaton", "POMDP", "SMG", "S2PG"}


@dataclass
class Header:
    """The header of a DRN file; `lines` is the number of lines it takes."""

    values: str = "default"
    states: int = -1
    choices: int = -1
    rewards: list[str] = field(default_factory=list)
    placeholders: dict[str, str] = field(default_factory=dict)
    lines: int = 0


def read_drn(path: str | Path, limit: int | None = None) -> ChainFile:
    """Read a DRN file.

    Decimals are read literally ("0.1" is 1/10). A file of `@value_type: rational` must have
    rows that sum to exactly 1; in a file of doubles they may be off by rounding, see
    `ChainFile.exact`.

    Raises
    ------
    FileFormatError
        The file is malformed, truncated, or no discrete-time Markov chain.
    """
    source = Source.open(path, limit)
    if len(source.data) >= _LARGE:
        from markov_lrsao.exchange._drn_fast import read_fast

        quick = read_fast(source)
        if quick is not None:
            return quick
    return read_slow(source)


def read_slow(source: Source) -> ChainFile:
    """Read line by line; the reference for the compiled reader, and the source of errors."""
    lines = source.lines()
    header = read_header(source, lines)
    reader = RowReader(source, decimals_are_rounded=header.values != "rational")
    body = _Body(source, header, reader)
    for number, line in enumerate(islice(lines, header.lines, None), start=header.lines + 1):
        match = _TRANSITION.fullmatch(line)
        if match:
            body.transition(number, match[1], match[2])
        elif line and not line.startswith("//"):
            body.take(number, line.strip())
    body.finish(len(lines))
    start = body.labels.pop("init", [])
    return assemble(reader, start, body.labels, body.rewards())


def read_header(source: Source, lines: Sequence[str]) -> Header:
    """Read up to and including the line @model."""
    header, seen, at = Header(), set[str](), 0

    def following() -> str:
        nonlocal at
        at += 1
        if at > len(lines):
            source.fail(len(lines), "the file ends inside the header")
        return lines[at - 1]

    while True:
        if at == len(lines):
            source.fail(max(at, 1), "the file ends before the line @model")
        line = following().rstrip()
        if not line or line.startswith("//"):
            continue
        key = line.split(":", 1)[0].strip() if line.startswith("@") else line
        if key in seen:
            source.fail(at, f"{key} is given twice")
        seen.add(key)
        if key == "@type":
            kind = line.split(":", 1)[1].strip() if ":" in line else ""
            if kind.upper() != "DTMC":
                known = f"a model of type {kind}" if kind in _NOT_A_CHAIN else show(kind)
                source.fail(at, f"@type is {known}; only DTMC (a Markov chain) is read")
        elif key == "@value_type":
            header.values = line.split(":", 1)[1].strip() if ":" in line else ""
            if header.values not in ("double", "rational"):
                source.fail(
                    at, f"@value_type must be double or rational, not {show(header.values)}"
                )
        elif key == "@parameters":
            names = following().split()
            if names:
                source.fail(
                    at,
                    f"the model has parameters ({show(' '.join(names))}); instantiate them first",
                )
        elif key == "@reward_models":
            header.rewards = following().split()
            refuse_twice(source, at, header.rewards, "the reward name")
        elif key == "@placeholders":
            while at < len(lines) and not lines[at].startswith("@"):
                name, colon, value = following().partition(" : ")
                if not name.startswith("$") or not colon:
                    source.fail(at, f"a placeholder reads '$name : value', not {show(name)}")
                if name in header.placeholders:
                    source.fail(at, f"the placeholder {show(name)} is given twice")
                header.placeholders[name] = value.strip()
        elif key == "@nr_states":
            text = following().strip()
            header.states = parse_integer(source, at, text, "@nr_states")
        elif key == "@nr_choices":
            text = following().strip()
            header.choices = parse_integer(source, at, text, "@nr_choices")
        elif key == "@model":
            break
        else:
            source.fail(at, f"unknown key or text before @model: {show(line)}")
    for needed in ("@type", "@nr_states"):
        if needed not in seen:
            source.fail(at, f"{needed} is missing before @model")
    if header.states == 0:
        source.fail(at, "@nr_states is 0: a chain needs a state")
    if header.choices not in (-1, header.states):
        source.fail(
            at,
            f"@nr_choices is {header.choices}, but a chain has one choice per state "
            f"(@nr_states is {header.states})",
        )
    header.lines = at
    return header


class _Body:
    """The part after @model."""

    def __init__(self, source: Source, header: Header, reader: RowReader) -> None:
        self._source, self._header, self._reader = source, header, reader
        self.labels: dict[str, list[int]] = {}
        self._rewards: list[dict[int, fmpq]] = []
        self._state, self._line, self._acts = -1, 0, False
        self._entries: dict[int, tuple[int, int]] = {}

    def take(self, number: int, line: str) -> None:
        if line.startswith("state"):
            self._new_state(number, line)
        elif line.startswith("action"):
            match = _ACTION.fullmatch(line)
            if not match or self._state < 0:
                self._source.fail(
                    number, f"expected 'action NAME [REWARDS]' below a state, not {show(line)}"
                )
            if self._acts:
                self._source.fail(
                    number, f"state {self._state} has a second action; a Markov chain has one"
                )
            self._acts = True
            self._earn(number, match[2])
        else:
            self._source.fail(
                number, f"expected a state, an action or 'target : probability', not {show(line)}"
            )

    def _new_state(self, number: int, line: str) -> None:
        match = _STATE.fullmatch(line)
        if not match:
            self._source.fail(number, f"expected 'state NUMBER [REWARDS] LABELS', not {show(line)}")
        if (match[3] or "").startswith("["):
            self._source.fail(number, "the rewards have no closing ']'")
        self._close()
        identity = parse_integer(self._source, number, match[1], "the state")
        self._state += 1
        if identity != self._state:
            self._source.fail(number, f"state {identity} comes where state {self._state} is due")
        if self._state >= self._header.states:
            self._source.fail(number, f"more states than @nr_states {self._header.states}")
        self._line, self._acts = number, False
        self._earn(number, match[2])
        for label in split_labels(self._source, number, match[3] or ""):
            self.labels.setdefault(label, []).append(self._state)

    def transition(self, number: int, target_text: str, text: str) -> None:
        if not self._acts:
            self._source.fail(number, "a transition comes before its 'action' line")
        target, entries = int(target_text), self._entries
        if target >= self._header.states:
            self._source.fail(
                number, f"target {target} does not exist: @nr_states is {self._header.states}"
            )
        if target in entries:
            self._source.fail(number, f"state {self._state} has two transitions to {target}")
        if text.startswith("$"):
            text = self._value(number, text)
        entries[target] = self._reader.probability(number, text)

    def _value(self, number: int, text: str) -> str:
        if not text.startswith("$"):
            return text
        if text not in self._header.placeholders:
            self._source.fail(number, f"placeholder {show(text)} is not defined")
        return self._header.placeholders[text]

    def _earn(self, number: int, texts: str | None) -> None:
        if texts is None:
            return
        parts = texts.split(",")
        if self._header.rewards and len(parts) < len(self._header.rewards):
            self._source.fail(
                number,
                f"{len(parts)} rewards for {len(self._header.rewards)} names after @reward_models",
            )
        for k, text in enumerate(parts):
            above, below = parse_number(
                self._source, number, self._value(number, text.strip()), "reward"
            )
            if k >= max(len(self._header.rewards), 1):
                self._source.fail(number, "more rewards than names after @reward_models")
            while len(self._rewards) <= k:
                self._rewards.append({})
            if above:
                earned = self._rewards[k].get(self._state, fmpq(0)) + fmpq(above, below)
                self._rewards[k][self._state] = earned

    def _close(self) -> None:
        if self._state >= 0:
            self._reader.add(self._line, self._entries)
            self._entries = {}

    def finish(self, lines: int) -> None:
        self._close()
        if self._state + 1 != self._header.states:
            self._source.fail(
                lines,
                f"the file ends after {self._state + 1} states, but "
                f"@nr_states is {self._header.states} (truncated?)",
            )

    def rewards(self) -> dict[str, tuple[fmpq, ...]]:
        names = self._header.rewards or [""] * len(self._rewards)
        zero = fmpq(0)
        earned = [*self._rewards, *({} for _ in names[len(self._rewards) :])]
        return {
            name: tuple(values.get(i, zero) for i in range(self._reader.rows))
            for name, values in zip(names, earned, strict=True)
        }


def split_labels(source: Source, line: int, text: str) -> list[str]:
    """Return the labels of a state line; a label with spaces stands in quotes."""
    labels, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = _LABEL.match(text, at)
        if not match:
            source.fail(line, f"the labels {show(text)} cannot be read")
        labels.append(match[1] or match[2])
        at = match.end()
    refuse_twice(source, line, labels, "the label")
    return labels


def format_drn(
    chain: MarkovChain,
    *,
    values: str = "rational",
    rewards: Mapping[str, Sequence[fmpq]] | None = None,
) -> str:
    """Return a chain as DRN text; `values` is "rational" or "double" (17 digits)."""
    rewards = rewards or {}
    check_reward_names(chain, rewards, bare=True)
    labels = label_texts(chain, start="init")
    out = [
        "@type: DTMC",
        f"@value_type: {values}",
        "@parameters",
        "",
        "@reward_models",
        " ".join(rewards),
        "@nr_states",
        str(chain.size),
        "@nr_choices",
        str(chain.size),
        "@model",
    ]
    pointers, columns = chain.indptr.tolist(), chain.indices.tolist()
    if values == "rational":
        texts = fraction_texts(chain)
    else:
        texts = double_texts(chain)
    moves = [f"\t\t{j} : {text}" for j, text in zip(columns, texts, strict=True)]
    for i in range(chain.size):
        earned = ""
        if rewards:
            earned = f" [{', '.join(rational_text(earns[i]) for earns in rewards.values())}]"
        out.append(f"state {i}{earned}{labels.get(i, '')}")
        out.append("\taction 0")
        out.extend(moves[pointers[i] : pointers[i + 1]])
    out.append("")
    return "\n".join(out)


def fraction_texts(chain: MarkovChain) -> list[str]:
    """Return the texts p/q of all transitions; equal fractions are written once."""
    known: dict[tuple[int, int], str] = {}
    result = []
    below = chain.denominators[chain.sources].tolist()
    for pair in zip(chain.numerators.tolist(), below, strict=True):
        text = known.get(pair)
        if text is None:
            common = gcd(*pair)
            a, b = pair[0] // common, pair[1] // common
            text = known[pair] = rational_text(fmpq(a, b))
        result.append(text)
    return result


def write_drn(
    chain: MarkovChain,
    path: str | Path,
    *,
    values: str = "rational",
    rewards: Mapping[str, Sequence[fmpq]] | None = None,
) -> None:
    """Write a chain as a DRN file."""
    write_whole(path, format_drn(chain, values=values, rewards=rewards))
