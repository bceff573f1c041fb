"""Matrix Market: the transition matrix in floats, for linear-algebra tools.

The format has no fractions, so entries are doubles of 17 digits: floats survive a round trip
bit for bit, exact rationals do not (use DRN or JSON for those). Start states and labels
travel in comment lines, which other tools skip::

    %%MatrixMarket matrix coordinate real general
    % start: 1
    % label "top": 2

States are numbered from 1, as the format does.
"""

from __future__ import annotations

import re
from pathlib import Path

from markov_lrsao.chain import MarkovChain
from markov_lrsao.exchange._reading import (
    ChainFile,
    RowReader,
    Source,
    assemble,
    parse_integer,
    show,
)
from markov_lrsao.exchange._writing import check_label, whole_file

__all__ = ["format_matrix_market", "read_matrix_market", "write_matrix_market"]

_START = re.compile(r"% start:((?: [0-9]+)*)")
_LABEL = re.compile(r'% label "([^"]+)":((?: [0-9]+)*)')


def format_matrix_market(chain: MarkovChain) -> str:
    """Return a chain as Matrix Market text."""
    lines = ["%%MatrixMarket matrix coordinate real general",
             "% start: " + " ".join(str(i + 1) for i in chain.start.tolist())]
    for name, states in chain.labels.items():
        check_label(name, "")
        lines.append(f'% label "{name}":' + "".join(f" {i + 1}" for i in states.tolist()))
    lines.append(f"{chain.size} {chain.size} {chain.transitions}")
    lines += [
        f"{i + 1} {j + 1} {value!r}"
        for i, j, value in zip(chain.sources.tolist(), chain.indices.tolist(),
                               chain.probabilities.tolist(), strict=True)
    ]
    return "\n".join([*lines, ""])


def write_matrix_market(chain: MarkovChain, path: str | Path) -> None:
    """Write a chain as Matrix Market."""
    whole_file(path, format_matrix_market(chain))


def read_matrix_market(path: str | Path) -> ChainFile:
    """Read a square coordinate matrix with probability rows."""
    source = Source.open(path)
    lines = source.lines()
    head = lines[0].lower().split() if lines else []
    if head[:1] != ["%%matrixmarket"] or head[1:] not in (
        ["matrix", "coordinate", "real", "general"], ["matrix", "coordinate", "integer", "general"]
    ):
        source.fail(1, "expected '%%MatrixMarket matrix coordinate real general'")
    start: list[str] = []
    labels: dict[str, list[str]] = {}
    at = 1
    while at < len(lines) and (lines[at].startswith("%") or not lines[at].strip()):
        marked = _START.fullmatch(lines[at].rstrip()), _LABEL.fullmatch(lines[at].rstrip())
        if marked[0]:
            start = marked[0][1].split()
        elif marked[1]:
            labels[marked[1][1]] = marked[1][2].split()
        at += 1
    counts = lines[at].split() if at < len(lines) else []
    if len(counts) != 3:
        source.fail(min(at + 1, max(len(lines), 1)), "expected 'ROWS COLUMNS ENTRIES'")
    size, width, entries = (parse_integer(source, at + 1, c, "a count") for c in counts)
    if size != width or size < 1:
        source.fail(at + 1, f"a chain's matrix is square and not empty, not {size} x {width}")
    reader = RowReader(source, decimals_are_rounded=True)
    rows: dict[int, dict[int, tuple[int, int]]] = {}
    first: dict[int, int] = {}
    seen, number = 0, at + 1
    for number, line in enumerate(lines[at + 1 :], start=at + 2):
        words = line.split()
        if not words:
            continue
        if len(words) != 3:
            source.fail(number, f"expected 'ROW COLUMN VALUE', not {show(line)}")
        i = _place(source, number, words[0], size)
        j = _place(source, number, words[1], size)
        row = rows.setdefault(i, {})
        first.setdefault(i, number)
        if j in row:
            source.fail(number, f"entry ({i + 1}, {j + 1}) comes twice")
        row[j] = reader.probability(number, words[2])
        seen += 1
    if seen != entries:
        source.fail(number, f"the file ends after {seen} entries, but line {at + 1} says "
                            f"{entries} (truncated?)")
    for i in range(min(size, len(rows) + 1)):
        if i not in rows:
            source.fail(number, f"row {i + 1} is empty: state {i} is a deadlock")
        reader.add(first[i], rows[i])
    return assemble(
        reader, [_place(source, 2, text, size) for text in start],
        {name: [_place(source, 2, text, size) for text in where]
         for name, where in labels.items()},
    )


def _place(source: Source, number: int, text: str, size: int) -> int:
    value = parse_integer(source, number, text, "an index")
    if not 1 <= value <= size:
        source.fail(number, f"index {value} is not in 1..{size}")
    return value - 1
