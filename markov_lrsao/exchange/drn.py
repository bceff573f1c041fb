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
import sys
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
_COMPILED = 4_096  # bytes of a file that is worth compiled code, the compiler being there
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
    if len(source.data) >= (_COMPILED if "numba" in sys.modules else _LARGE):
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
    reader = _HeaderReader(source, lines)
    while (key := reader.key()) != "@model":
        take = _KEYS.get(key)
        if take is None:
            source.fail(reader.at, f"unknown key or text before @model: {show(key)}")
        take(reader)
    return reader.finish()


class _HeaderReader:
    """The part up to @model; every key is given at most once."""

    def __init__(self, source: Source, lines: Sequence[str]) -> None:
        self._source, self._lines = source, lines
        self._header, self._seen, self._line = Header(), set[str](), ""
        self.at = 0

    def key(self) -> str:
        """Return the next key, or a line that has none."""
        self._line = ""
        while not self._line or self._line.startswith("//"):
            if self.at == len(self._lines):
                self._source.fail(max(self.at, 1), "the file ends before the line @model")
            self._line = self._following().rstrip()
        key = self._line.split(":", 1)[0].strip() if self._line.startswith("@") else self._line
        if key in self._seen:
            self._source.fail(self.at, f"{key} is given twice")
        self._seen.add(key)
        return key

    def _following(self) -> str:
        self.at += 1
        if self.at > len(self._lines):
            self._source.fail(len(self._lines), "the file ends inside the header")
        return self._lines[self.at - 1]

    def _value(self) -> str:
        """Return what stands behind the colon."""
        return self._line.partition(":")[2].strip()

    def type(self) -> None:
        kind = self._value()
        if kind.upper() != "DTMC":
            known = f"a model of type {kind}" if kind in _NOT_A_CHAIN else show(kind)
            self._source.fail(self.at, f"@type is {known}; only DTMC (a Markov chain) is read")

    def value_type(self) -> None:
        self._header.values = value = self._value()
        if value not in ("double", "rational"):
            self._source.fail(self.at, f"@value_type must be double or rational, not {show(value)}")

    def parameters(self) -> None:
        names = self._following().split()
        if names:
            self._source.fail(
                self.at,
                f"the model has parameters ({show(' '.join(names))}); instantiate them first",
            )

    def reward_models(self) -> None:
        self._header.rewards = self._following().split()
        refuse_twice(self._source, self.at, self._header.rewards, "the reward name")

    def placeholders(self) -> None:
        known = self._header.placeholders
        while self.at < len(self._lines) and not self._lines[self.at].startswith("@"):
            name, colon, value = self._following().partition(" : ")
            if not name.startswith("$") or not colon:
                self._source.fail(self.at, f"a placeholder reads '$name : value', not {show(name)}")
            if name in known:
                self._source.fail(self.at, f"the placeholder {show(name)} is given twice")
            known[name] = value.strip()

    def _count(self, name: str) -> int:
        text = self._following().strip()
        return parse_integer(self._source, self.at, text, name)

    def states(self) -> None:
        self._header.states = self._count("@nr_states")

    def choices(self) -> None:
        self._header.choices = self._count("@nr_choices")

    def finish(self) -> Header:
        """Return the header, if it says what is needed."""
        header = self._header
        for needed in ("@type", "@nr_states"):
            if needed not in self._seen:
                self._source.fail(self.at, f"{needed} is missing before @model")
        if header.states == 0:
            self._source.fail(self.at, "@nr_states is 0: a chain needs a state")
        if header.choices not in (-1, header.states):
            self._source.fail(
                self.at,
                f"@nr_choices is {header.choices}, but a chain has one choice per state "
                f"(@nr_states is {header.states})",
            )
        header.lines = self.at
        return header


_KEYS = {
    "@type": _HeaderReader.type,
    "@value_type": _HeaderReader.value_type,
    "@parameters": _HeaderReader.parameters,
    "@reward_models": _HeaderReader.reward_models,
    "@placeholders": _HeaderReader.placeholders,
    "@nr_states": _HeaderReader.states,
    "@nr_choices": _HeaderReader.choices,
}


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
