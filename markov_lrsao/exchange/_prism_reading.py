r"""Reading PRISM's explicit files, in PRISM's own form and in Storm's.

Files that share the stem belong together: transitions ``walk.tra``, labels ``walk.lab``, state
rewards ``walk.srew`` (Storm: ``walk.state.rew``), transition rewards ``walk.trew`` (Storm:
``walk.trans.rew``); any of them may be compressed (``walk.tra.gz``). Where a model has several
rewards PRISM numbers the files: ``walk1.srew``, ``walk2.trew``; they are read unless a
``walk1.tra`` claims them. Comments begin with "#"; in one, PRISM names the reward::

    # Reward structure "fuel"
    # State rewards
    3 2

A state reward is earned by each step from its state, a transition reward by each step along its
transition. A reward without a name is called "reward" ("reward2" in walk2.srew).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from flint import fmpq

from markov_lrsao.errors import FileFormatError
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
from markov_lrsao.texts import printable

__all__ = ["ENDINGS", "read_prism"]

ENDINGS = (".state.rew", ".trans.rew", ".tra", ".lab", ".srew", ".trew")
_DECLARED = re.compile(r'([0-9]+)="([^"]+)"')
_SPLIT = re.compile(r"[ \t]+")
_NAMED = re.compile(r'#[ \t]*reward structure:?(?:[ \t]+"?([^"]+?)"?)?[ \t]*', re.IGNORECASE)
_KIND = re.compile(r"#[ \t]*(state|transition) rewards[ \t]*", re.IGNORECASE)
_NUMBERED = re.compile(r"([1-9][0-9]{0,3})\.(srew|trew)(?:\.gz)?")
REWARD = "reward"


def read_prism(path: str | Path, limit: int | None = None) -> ChainFile:
    """Read ``stem.tra`` together with the labels and rewards that lie beside it.

    Raises
    ------
    FileFormatError
        A file is malformed, truncated, or no discrete-time Markov chain.
    """
    given = Path(path)
    plain = given.name[:-3] if given.name.lower().endswith(".gz") else given.name
    ending = next(e for e in ENDINGS if plain.lower().endswith(e))
    stem = str(given.parent / plain[: -len(ending)])
    source = Source.open(
        given if ending == ".tra" else _beside(stem, ".tra") or stem + ".tra", limit
    )
    storm, reader = _transitions(source)
    labels: dict[str, list[int]] = {}
    found = _beside(stem, ".lab")
    if found:
        beside = Source.open(found, limit)
        labels = (_storm_labels if storm else _labels)(beside, reader.rows)
    start = labels.pop("init", [])
    result = assemble(reader, start, labels)
    rewards, moving = _all_rewards(stem, storm, reader, limit)
    return replace(
        result,
        rewards=rewards,
        transition_rewards=moving,
        notes=(*_unread(stem, storm), *result.notes),
    )


def _beside(stem: str, ending: str) -> str | None:
    """Return the file with this ending, compressed or not; None where there is none."""
    there = [name for name in (stem + ending, stem + ending + ".gz") if os.path.lexists(name)]
    if len(there) > 1:
        raise FileFormatError(
            f"{printable(there[0])} and {printable(there[1])} are both there; "
            f"remove the one that is out of date"
        )
    return there[0] if there else None


def _unread(stem: str, storm: bool) -> Iterable[str]:
    """Say which rewards beside the file are of the other tool's form, and not read."""
    for ending in (".srew", ".trew") if storm else (".state.rew", ".trans.rew"):
        name = _beside(stem, ending)
        if name:
            yield (
                f"{printable(os.path.basename(name))} was not read: the transitions are in "
                f"{'Storm' if storm else 'PRISM'}'s form, this reward is not"
            )


def _content(source: Source, *, empty: bool = False) -> list[tuple[int, list[str]]]:
    """Return the numbered lines as words; blank lines and comments are skipped."""
    result = []
    for number, line in enumerate(source.lines(), start=1):
        text = line.strip(" \t")
        if text and not text.startswith("#"):
            result.append((number, _SPLIT.split(text)))
    if not result and not empty:
        source.fail(1, "the file is empty")
    return result


def _transitions(source: Source) -> tuple[bool, RowReader]:
    content = _content(source)
    number, head = content[0]
    storm = len(head) == 1
    if storm and head[0].lower() != "dtmc":
        source.fail(
            number,
            f"expected 'dtmc' or 'STATES TRANSITIONS', not {show(head[0])}; "
            f"only Markov chains are read",
        )
    if not storm and len(head) != 2:
        what = (
            "this looks like an MDP; only Markov chains are read"
            if len(head) == 3
            else f"not {len(head)} words"
        )
        source.fail(number, f"expected 'STATES TRANSITIONS': {what}")
    states = -1 if storm else parse_integer(source, number, head[0], "the number of states")
    moves = -1 if storm else parse_integer(source, number, head[1], "the number of transitions")
    exact = all("/" in words[2] or words[2] == "1" for _, words in content[1:] if len(words) > 2)
    reader = RowReader(source, decimals_are_rounded=not exact)
    rows: dict[int, dict[int, tuple[int, int]]] = {}
    first: dict[int, int] = {}
    largest, last = -1, number
    for last, words in content[1:]:
        if len(words) not in (3, 4) or (len(words) == 4 and _numeric(words[3])):
            source.fail(last, f"expected 'FROM TO PROBABILITY', not {show(' '.join(words))}")
        i = parse_integer(source, last, words[0], "the state")
        j = parse_integer(source, last, words[1], "the target")
        largest = max(largest, i, j)
        if states >= 0 and max(i, j) >= states:
            source.fail(last, f"state {max(i, j)} does not exist: there are {states}")
        row = rows.setdefault(i, {})
        first.setdefault(i, last)
        if j in row:
            source.fail(last, f"state {i} has two transitions to {j}")
        row[j] = reader.probability(last, words[2])
    if moves >= 0 and sum(map(len, rows.values())) != moves:
        source.fail(
            last,
            f"the file ends after {sum(map(len, rows.values()))} transitions, but "
            f"its first line says {moves} (truncated?)",
        )
    size = largest + 1 if storm else states
    for i in range(min(size, len(rows) + 1)):
        if i not in rows:
            source.fail(
                last,
                f"state {i} has no transitions (a deadlock, or a truncated file); "
                f"give it a loop of probability 1",
            )
        reader.add(first[i], rows[i])
    if size < 1:
        source.fail(last, "a chain needs a state")
    return storm, reader


def _numeric(word: str) -> bool:
    return word[:1].isdigit() or word[:1] in "+-."


def _labels(source: Source, size: int) -> dict[str, list[int]]:
    lines = [
        (number, line.strip())
        for number, line in enumerate(source.lines(), start=1)
        if line.strip() and (not line.lstrip().startswith("#") or line.strip() == "#DECLARATION")
    ]
    if not lines:
        source.fail(1, "the file is empty")
    number, head = lines[0]
    names: dict[int, str] = {}
    if _DECLARED.sub("", head).strip():
        source.fail(number, f'expected 0="init" 1="deadlock" ..., not {show(head)}')
    for text, name in _DECLARED.findall(head):
        index = parse_integer(source, number, text, "a label's number")
        if index in names or name in names.values():
            source.fail(number, f"label {index}={show(name)} is declared twice")
        names[index] = name
    labels: dict[str, list[int]] = {name: [] for name in names.values()}
    seen: set[int] = set()
    for number, line in lines[1:]:
        state_text, colon, rest = line.partition(":")
        if not colon:
            source.fail(number, f"expected 'STATE: LABELS', not {show(line)}")
        state = _state(source, number, state_text.strip(), size)
        carried = [parse_integer(source, number, text, "a label's number") for text in rest.split()]
        for index in carried:
            if index not in names:
                source.fail(number, f"label {index} is not declared in line {lines[0][0]}")
        _carry(source, number, state, [names[index] for index in carried], labels, seen)
    return labels


def _storm_labels(source: Source, size: int) -> dict[str, list[int]]:
    lines = [
        (number, line.split())
        for number, line in enumerate(source.lines(), start=1)
        if line.strip()
    ]
    if len(lines) < 2 or lines[0][1] != ["#DECLARATION"]:
        source.fail(1, "expected #DECLARATION, the names and #END")
    end = next((k for k, (_, words) in enumerate(lines) if words == ["#END"]), None)
    if end is None:
        source.fail(lines[-1][0], "#END of the declaration is missing")
    declared = [name for _, words in lines[1:end] for name in words]
    refuse_twice(source, lines[end][0], declared, "the label")
    labels: dict[str, list[int]] = {name: [] for name in declared}
    seen: set[int] = set()
    for number, (state_text, *names) in lines[end + 1 :]:
        state = _state(source, number, state_text, size)
        for name in names:
            if name not in labels:
                source.fail(number, f"label {show(name)} is not declared")
        _carry(source, number, state, names, labels, seen)
    return labels


def _carry(
    source: Source,
    number: int,
    state: int,
    names: list[str],
    labels: dict[str, list[int]],
    seen: set[int],
) -> None:
    """Record a state's labels; neither a state nor one of its labels may come twice."""
    if state in seen:
        source.fail(number, f"the labels of state {state} are given twice")
    seen.add(state)
    refuse_twice(source, number, names, f"at state {state} the label")
    for name in names:
        labels[name].append(state)


def _state(source: Source, number: int, text: str, size: int) -> int:
    state = parse_integer(source, number, text, "the state")
    if state >= size:
        source.fail(number, f"state {state} does not exist: there are {size}")
    return state


States = dict[str, tuple[fmpq, ...]]
Moves = dict[str, dict[tuple[int, int], fmpq]]


def _all_rewards(
    stem: str, storm: bool, reader: RowReader, limit: int | None
) -> tuple[States, Moves]:
    """Read every reward beside the transitions; state and transition rewards of one number
    belong to one reward.
    """
    states: States = {}
    moves: Moves = {}
    for number in [0, *(() if storm else _numbers(stem))]:
        base = f"{stem}{number or ''}"
        files = [
            _beside(base, ending)
            for ending in ((".state.rew", ".trans.rew") if storm else (".srew", ".trew"))
        ]
        sources = [None if name is None else Source.open(name, limit) for name in files]
        given = {name for source in sources if source for name in _names(source)}
        if len(given) > 1:
            raise FileFormatError(
                f"{printable(files[0] or '')} and {printable(files[1] or '')} "
                f"name different rewards: {', '.join(map(show, sorted(given)))}"
            )
        name = next(iter(given), f"{REWARD}{number or ''}")
        for source in sources:
            if source is not None and name in states and source is sources[0]:
                source.fail(1, f"the reward name {show(name)} is given twice")
        if sources[1] is not None:
            if name in moves or (sources[0] is None and name in states):
                sources[1].fail(1, f"the reward name {show(name)} is given twice")
            moves[name] = _transition_rewards(sources[1], reader, counted=not storm)
        if sources[0] is not None:
            states[name] = _state_rewards(sources[0], reader.rows, counted=not storm)
        elif sources[1] is not None:
            states[name] = (fmpq(0),) * reader.rows
    return states, moves


def _numbers(stem: str) -> list[int]:
    """Return the numbers k of stem<k>.srew and stem<k>.trew that no stem<k>.tra claims."""
    folder, base = os.path.split(stem)
    found = set()
    for name in os.listdir(folder or "."):
        match = _NUMBERED.fullmatch(name[len(base) :]) if name.startswith(base) else None
        if match and _beside(f"{stem}{match[1]}", ".tra") is None:
            found.add(int(match[1]))
    return sorted(found)


def _names(source: Source) -> list[str]:
    """Return the reward's name from the comments, if there is one; refuse another kind."""
    names, kind = [], "transition" if ".tr" in os.path.basename(source.name)[-12:] else "state"
    for number, line in enumerate(source.lines(), start=1):
        if not line.startswith("#"):
            continue
        named, other = _NAMED.fullmatch(line), _KIND.fullmatch(line)
        if named and named[1]:
            names.append(named[1])
            if len(names) > 1:
                source.fail(number, "a second reward structure; one file holds one")
        if other and other[1].lower() != kind:
            source.fail(number, f"{other[1].lower()} rewards in a file of {kind} rewards")
    return names


def _counted(
    source: Source, content: list[tuple[int, list[str]]], size: int
) -> list[tuple[int, list[str]]]:
    """Check the first line, 'STATES REWARDS', and return the others."""
    number, head = content[0]
    if len(head) != 2 or parse_integer(source, number, head[0], "the number of states") != size:
        source.fail(number, f"expected 'STATES REWARDS' with {size} states")
    if parse_integer(source, number, head[1], "the number of rewards") != len(content) - 1:
        source.fail(
            content[-1][0],
            f"{len(content) - 1} rewards, but the first line says {head[1]} (truncated?)",
        )
    return content[1:]


def _state_rewards(source: Source, size: int, *, counted: bool) -> tuple[fmpq, ...]:
    content = _content(source, empty=not counted)
    earned: dict[int, fmpq] = {}
    for number, words in _counted(source, content, size) if counted else content:
        if len(words) != 2:
            source.fail(number, f"expected 'STATE REWARD', not {show(' '.join(words))}")
        state = _state(source, number, words[0], size)
        if state in earned:
            source.fail(number, f"state {state} has a second reward")
        earned[state] = fmpq(*parse_number(source, number, words[1], "reward"))
    zero = fmpq(0)
    return tuple(earned.get(i, zero) for i in range(size))


def _transition_rewards(
    source: Source, reader: RowReader, *, counted: bool
) -> dict[tuple[int, int], fmpq]:
    content, size = _content(source, empty=not counted), reader.rows
    known = {
        (i, j)
        for i in range(size)
        for j in reader.columns[reader.pointers[i] : reader.pointers[i + 1]]
    }
    earned: dict[tuple[int, int], fmpq] = {}
    for number, words in _counted(source, content, size) if counted else content:
        if len(words) not in (3, 4) or (len(words) == 4 and _numeric(words[3])):
            source.fail(number, f"expected 'FROM TO REWARD', not {show(' '.join(words))}")
        pair = (_state(source, number, words[0], size), _state(source, number, words[1], size))
        if pair not in known:
            source.fail(number, f"there is no transition from {pair[0]} to {pair[1]}")
        if pair in earned:
            source.fail(number, f"the transition from {pair[0]} to {pair[1]} has a second reward")
        earned[pair] = fmpq(*parse_number(source, number, words[2], "reward"))
    return earned
