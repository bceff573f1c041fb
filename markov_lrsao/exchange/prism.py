r"""PRISM's explicit files: transitions (.tra), labels (.lab), state rewards (.srew).

PRISM's own form begins with counts ("states transitions") and numbers its labels; Storm's
begins with the word "dtmc" and declares labels by name. Both are read, told apart by the
first line. Files that share the stem belong together: ``walk.tra``, ``walk.lab``,
``walk.srew``. PRISM reads decimals by default, so doubles (17 digits) are what is written
unless fractions are asked for.

A reward in .srew is earned by each step from its state. The format has no name for it; it
is called "reward" here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from flint import fmpq

from markov_lrsao.chain import MarkovChain
from markov_lrsao.errors import ParameterError
from markov_lrsao.exchange._reading import (
    ChainFile,
    RowReader,
    Source,
    assemble,
    parse_integer,
    parse_number,
    show,
)
from markov_lrsao.exchange._writing import check_label, whole_file
from markov_lrsao.exchange.drn import fraction_texts
from markov_lrsao.rationals import rational_text

__all__ = ["format_labels", "format_transitions", "read_prism", "write_prism"]

_DECLARED = re.compile(r'([0-9]+)="([^"]+)"')
_SPLIT = re.compile(r"[ \t]+")
REWARD = "reward"


def read_prism(path: str | Path) -> ChainFile:
    """Read ``stem.tra`` together with ``stem.lab`` and ``stem.srew`` where they exist.

    Raises
    ------
    FileFormatError
        A file is malformed, truncated, or no discrete-time Markov chain.
    """
    path = Path(path)
    if path.suffix in (".lab", ".srew"):
        path = path.with_suffix(".tra")
    source = Source.open(path)
    storm, reader = _transitions(source)
    labels: dict[str, list[int]] = {}
    rewards: dict[str, tuple[fmpq, ...]] = {}
    if path.with_suffix(".lab").exists():
        beside = Source.open(path.with_suffix(".lab"))
        labels = _storm_labels(beside, reader.rows) if storm else _labels(beside, reader.rows)
    earned = path.with_suffix(".state.rew" if storm else ".srew")
    if earned.exists():
        rewards[REWARD] = _rewards(Source.open(earned), reader.rows, counted=not storm)
    start = labels.pop("init", [])
    return assemble(reader, start, labels, rewards)


def _content(source: Source) -> list[tuple[int, list[str]]]:
    """Return the numbered lines as words; blank lines and comments are skipped."""
    result = []
    for number, line in enumerate(source.lines(), start=1):
        text = line.strip(" \t")
        if text and not text.startswith("#"):
            result.append((number, _SPLIT.split(text)))
    if not result:
        source.fail(1, "the file is empty")
    return result


def _transitions(source: Source) -> tuple[bool, RowReader]:
    content = _content(source)
    number, head = content[0]
    storm = len(head) == 1
    if storm and head[0].lower() != "dtmc":
        source.fail(number, f"expected 'dtmc' or 'STATES TRANSITIONS', not {show(head[0])}; "
                            f"only Markov chains are read")
    if not storm and len(head) != 2:
        what = ("this looks like an MDP; only Markov chains are read" if len(head) == 3
                else f"not {len(head)} words")
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
        source.fail(last, f"the file ends after {sum(map(len, rows.values()))} transitions, but "
                          f"its first line says {moves} (truncated?)")
    size = largest + 1 if storm else states
    for i in range(min(size, len(rows) + 1)):
        if i not in rows:
            source.fail(last, f"state {i} has no transitions (a deadlock, or a truncated file); "
                              f"give it a loop of probability 1")
        reader.add(first[i], rows[i])
    if size < 1:
        source.fail(last, "a chain needs a state")
    return storm, reader


def _numeric(word: str) -> bool:
    return word[:1].isdigit() or word[:1] in "+-."


def _labels(source: Source, size: int) -> dict[str, list[int]]:
    lines = [(number, line.strip()) for number, line in enumerate(source.lines(), start=1)
             if line.strip()]
    if not lines:
        source.fail(1, "the file is empty")
    number, head = lines[0]
    names: dict[int, str] = {}
    if _DECLARED.sub("", head).strip():
        source.fail(number, f'expected 0="init" 1="deadlock" ..., not {show(head)}')
    for index, name in _DECLARED.findall(head):
        if int(index) in names or name in names.values():
            source.fail(number, f"label {index}={show(name)} is declared twice")
        names[int(index)] = name
    labels: dict[str, list[int]] = {name: [] for name in names.values()}
    for number, line in lines[1:]:
        state_text, colon, rest = line.partition(":")
        if not colon:
            source.fail(number, f"expected 'STATE: LABELS', not {show(line)}")
        state = _state(source, number, state_text.strip(), size)
        for text in rest.split():
            index = parse_integer(source, number, text, "a label's number")
            if index not in names:
                source.fail(number, f"label {index} is not declared in line {lines[0][0]}")
            labels[names[index]].append(state)
    return labels


def _storm_labels(source: Source, size: int) -> dict[str, list[int]]:
    lines = [(number, line.split()) for number, line in enumerate(source.lines(), start=1)
             if line.strip()]
    if len(lines) < 2 or lines[0][1] != ["#DECLARATION"]:
        source.fail(1, "expected #DECLARATION, the names and #END")
    end = next((k for k, (_, words) in enumerate(lines) if words == ["#END"]), None)
    if end is None:
        source.fail(lines[-1][0], "#END of the declaration is missing")
    labels: dict[str, list[int]] = {name: [] for _, words in lines[1:end] for name in words}
    for number, (state_text, *names) in lines[end + 1 :]:
        state = _state(source, number, state_text, size)
        for name in names:
            if name not in labels:
                source.fail(number, f"label {show(name)} is not declared")
            labels[name].append(state)
    return labels


def _state(source: Source, number: int, text: str, size: int) -> int:
    state = parse_integer(source, number, text, "the state")
    if state >= size:
        source.fail(number, f"state {state} does not exist: there are {size}")
    return state


def _rewards(source: Source, size: int, *, counted: bool) -> tuple[fmpq, ...]:
    content = _content(source)
    earned: dict[int, fmpq] = {}
    if counted:
        number, head = content[0]
        if len(head) != 2 or parse_integer(source, number, head[0], "the number of states") != size:
            source.fail(number, f"expected 'STATES REWARDS' with {size} states")
        if parse_integer(source, number, head[1], "the number of rewards") != len(content) - 1:
            source.fail(content[-1][0], f"{len(content) - 1} rewards, but the first line says "
                                        f"{head[1]} (truncated?)")
    for number, words in content[1 if counted else 0 :]:
        if len(words) != 2:
            source.fail(number, f"expected 'STATE REWARD', not {show(' '.join(words))}")
        state = _state(source, number, words[0], size)
        if state in earned:
            source.fail(number, f"state {state} has a second reward")
        earned[state] = fmpq(*parse_number(source, number, words[1], "reward"))
    zero = fmpq(0)
    return tuple(earned.get(i, zero) for i in range(size))


def format_transitions(chain: MarkovChain, *, values: str = "double", storm: bool = False) -> str:
    """Return the .tra text; `values` is "double" (17 digits) or "rational"."""
    texts = (fraction_texts(chain) if values == "rational"
             else list(map(repr, chain.probabilities.tolist())))
    head = "dtmc" if storm else f"{chain.size} {chain.transitions}"
    lines = [
        f"{i} {j} {text}"
        for i, j, text in zip(chain.sources.tolist(), chain.indices.tolist(), texts, strict=True)
    ]
    return "\n".join([head, *lines, ""])


def format_labels(chain: MarkovChain, *, storm: bool = False) -> str:
    """Return the .lab text."""
    names = ["init", "deadlock", *(name for name in chain.labels if name != "deadlock")]
    carried: dict[int, list[int]] = {int(i): [0] for i in chain.start}
    for index, name in enumerate(names):
        if index:
            check_label(name, "init")
        if storm and _SPLIT.search(name):
            raise ParameterError(f"the label {name!r} has a space, which this format cannot hold")
        for i in chain.labels.get(name, ()) if index else ():
            carried.setdefault(int(i), []).append(index)
    if storm:
        lines = ["#DECLARATION", " ".join(names), "#END"]
        lines += [f"{i} {' '.join(names[k] for k in carried[i])}" for i in sorted(carried)]
    else:
        lines = [" ".join(f'{k}="{name}"' for k, name in enumerate(names))]
        lines += [f"{i}: {' '.join(map(str, carried[i]))}" for i in sorted(carried)]
    return "\n".join([*lines, ""])


def write_prism(
    chain: MarkovChain, path: str | Path, *, values: str = "double", storm: bool = False,
    rewards: Mapping[str, Sequence[fmpq]] | None = None,
) -> list[Path]:
    """Write ``stem.tra``, ``stem.lab`` and, with one reward, ``stem.srew``; return the paths.

    Parameters
    ----------
    values : "double" or "rational"
    storm : write Storm's form instead of PRISM's
    rewards : at most one, since the format has one file for it
    """
    path = Path(path)
    if path.suffix != ".tra":
        path = path.with_name(path.name + ".tra")
    if rewards and len(rewards) > 1:
        raise ParameterError(f"{path}: these files hold one reward, not {len(rewards)}")
    whole_file(path, format_transitions(chain, values=values, storm=storm))
    whole_file(path.with_suffix(".lab"), format_labels(chain, storm=storm))
    written = [path, path.with_suffix(".lab")]
    if rewards:
        (earned,) = rewards.values()
        lines = [f"{i} {rational_text(value) if values == 'rational' else _double(value)}"
                 for i, value in enumerate(earned) if value != 0]
        head = [] if storm else [f"{chain.size} {len(lines)}"]
        suffix = ".state.rew" if storm else ".srew"
        whole_file(path.with_suffix(suffix), "\n".join([*head, *lines, ""]))
        written.append(path.with_suffix(suffix))
    return written


def _double(value: fmpq) -> str:
    from markov_lrsao.rationals import to_float

    return repr(to_float(value))
