"""JSON: one object, exact probabilities as text, one row per line.

    {"format": "markov chain", "version": 1, "states": 2, "start": [0],
     "labels": {"top": [1]}, "positions": [0, 1], "names": ["0", "1"],
     "rewards": {"steps": ["1", "0"]},
     "rows": [
      [[0, "1/2"], [1, "1/2"]],
      [[1, "1"]]
     ]}

`labels`, `positions`, `names` and `rewards` may be missing; no key may come twice. Everything a
chain has is kept, so JSON is the form that round-trips completely.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from flint import fmpq

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.errors import FileFormatError
from markov_lrsao.exact.rationals import rational_text
from markov_lrsao.exchange._reading import (
    ChainFile,
    RowReader,
    Source,
    assemble,
    parse_number,
    refuse_twice,
    show,
)
from markov_lrsao.exchange._writing import check_reward_names
from markov_lrsao.exchange.drn import fraction_texts
from markov_lrsao.inputs import load_json
from markov_lrsao.storage import write_whole
from markov_lrsao.texts import listing

__all__ = ["format_json", "read_json", "write_json"]

_KEYS = {"format", "version", "states", "start", "labels", "positions", "names", "rewards", "rows"}


def format_json(chain: MarkovChain, *, rewards: Mapping[str, Sequence[fmpq]] | None = None) -> str:
    """Return a chain as JSON text."""
    check_reward_names(chain, rewards or {}, bare=False)
    head = {
        "format": "markov chain",
        "version": 1,
        "states": chain.size,
        "start": chain.start.tolist(),
        "labels": {name: states.tolist() for name, states in chain.labels.items()},
        "positions": chain.positions.tolist(),
        "names": [chain.label(i) for i in range(chain.size)],
        "rewards": {
            name: [rational_text(value) for value in earned]
            for name, earned in (rewards or {}).items()
        },
    }
    moves = [
        f'[{j}, "{text}"]'
        for j, text in zip(chain.indices.tolist(), fraction_texts(chain), strict=True)
    ]
    pointers = chain.indptr.tolist()
    rows = ",\n  ".join(f"[{', '.join(moves[a:b])}]" for a, b in pairwise(pointers))
    fields = ",\n ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items())
    return f'{{{fields},\n "rows": [\n  {rows}\n ]}}\n'


def write_json(
    chain: MarkovChain, path: str | Path, *, rewards: Mapping[str, Sequence[fmpq]] | None = None
) -> None:
    """Write a chain as JSON."""
    write_whole(path, format_json(chain, rewards=rewards))


def read_json(path: str | Path, limit: int | None = None) -> ChainFile:
    """Read a chain from JSON; see the module's documentation for the form."""
    source = Source.open(path, limit)
    text = source.text()
    data: Any = load_json(text, source.name)
    if not isinstance(data, dict) or data.get("format") != "markov chain":
        source.fail(1, 'expected an object with "format": "markov chain"')
    if set(data) - _KEYS or data.get("version") != 1:
        unknown = listing(repr(key) for key in sorted(set(data) - _KEYS))
        source.fail(
            1,
            f"unknown keys ({unknown}) or version "
            f"{show(repr(data.get('version')))}; version 1 is read",
        )
    rows, states = data.get("rows"), data.get("states")
    if not isinstance(rows, list) or not rows or type(states) is not int or states != len(rows):
        source.fail(1, '"states" must be the number of "rows", at least 1')
    reader = RowReader(source, decimals_are_rounded=False)
    for i, row in enumerate(rows):
        line = _Line(text, i)
        entries: dict[int, tuple[int, int]] = {}
        if not isinstance(row, list):
            source.fail(line.number, f"row {i} must be a list of [target, probability]")
        for pair in row:
            if (
                not isinstance(pair, list)
                or len(pair) != 2
                or type(pair[0]) is not int
                or not isinstance(pair[1], str)
            ):
                source.fail(line.number, f'row {i} must be a list of [target, "p/q"]')
            if not 0 <= pair[0] < states or pair[0] in entries:
                source.fail(line.number, f"row {i}: target {pair[0]} does not exist or comes twice")
            try:
                entries[pair[0]] = reader.probability(0, pair[1])
            except FileFormatError as error:
                source.fail(line.number, str(error).rpartition(", line 0: ")[2])
        try:
            reader.add(0, entries)
        except FileFormatError as error:
            source.fail(line.number, str(error).rpartition(", line 0: ")[2])
    labels = data.get("labels", {})
    if not isinstance(labels, dict):
        source.fail(1, '"labels" must map names to lists of states')
    result = assemble(
        reader,
        _states(source, "start", data.get("start", []), states),
        {name: _states(source, name, where, states) for name, where in labels.items()},
        _rewards(source, data.get("rewards", {}), states),
    )
    return replace(result, chain=_annotated(source, result.chain, data))


class _Line:
    """The line on which row i begins, found only when it is needed."""

    def __init__(self, text: str, row: int) -> None:
        self._text, self._row = text, row

    @property
    def number(self) -> int:
        decode = json.JSONDecoder().raw_decode
        # Keys may be written with escapes, so the object is walked through, not searched.
        key, at = None, self._next(1 + self._text.index("{"))
        while key != "rows":
            key, at = decode(self._text, at)
            at = self._next(at)
            if key != "rows":
                at = self._next(decode(self._text, at)[1])
        at += 1  # the bracket
        for _ in range(self._row + 1):
            begin = at = self._next(at)
            at = decode(self._text, at)[1]
        return self._text.count("\n", 0, begin) + 1

    def _next(self, at: int) -> int:
        """Return where the next key or value begins."""
        while self._text[at] in " \t\r\n,:":
            at += 1
        return at


def _states(source: Source, name: str, where: object, size: int) -> list[int]:
    if not isinstance(where, list) or not all(type(i) is int and 0 <= i < size for i in where):
        source.fail(1, f"{show(name)} must be a list of states below {size}")
    refuse_twice(source, 1, where, f"in {show(name)} the state")
    return where


def _rewards(source: Source, rewards: object, size: int) -> dict[str, tuple[fmpq, ...]]:
    if not isinstance(rewards, dict):
        source.fail(1, '"rewards" must map names to lists of numbers')
    result = {}
    for name, earned in rewards.items():
        if (
            not isinstance(earned, list)
            or len(earned) != size
            or not all(isinstance(value, str) for value in earned)
        ):
            source.fail(1, f"reward {show(name)} must be {size} texts")
        result[name] = tuple(fmpq(*parse_number(source, 1, value, "reward")) for value in earned)
    return result


def _annotated(source: Source, chain: MarkovChain, data: Mapping[str, Any]) -> MarkovChain:
    names, positions = data.get("names"), data.get("positions")
    if names is not None:
        if (
            not isinstance(names, list)
            or len(names) != chain.size
            or not all(isinstance(name, str) for name in names)
        ):
            source.fail(1, f'"names" must be {chain.size} texts')
        chain = replace(chain, labeller=names.__getitem__)
    if positions is not None:
        if (
            not isinstance(positions, list)
            or len(positions) != chain.size
            or not all(type(p) is int and abs(p) < 2**62 for p in positions)
        ):
            source.fail(1, f'"positions" must be {chain.size} integers')
        chain = replace(chain, positions=np.array(positions, np.int64))
    return chain
