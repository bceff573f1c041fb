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

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.exchange._reading import (
    ChainFile,
    RowReader,
    Source,
    assemble,
    parse_integer,
    refuse_twice,
    show,
)
from markov_lrsao.exchange._writing import check_label, double_texts
from markov_lrsao.storage import write_whole

__all__ = ["format_matrix_market", "read_matrix_market", "write_matrix_market"]

_START = re.compile(r"% start:((?: [0-9]+)*)")
_LABEL = re.compile(r'% label "([^"]+)":((?: [0-9]+)*)')


def format_matrix_market(chain: MarkovChain) -> str:
    """Return a chain as Matrix Market text."""
    lines = [
        "%%MatrixMarket matrix coordinate real general",
        "% start: " + " ".join(str(i + 1) for i in chain.start.tolist()),
    ]
    for name, states in chain.labels.items():
        check_label(name, "")
        lines.append(f'% label "{name}":' + "".join(f" {i + 1}" for i in states.tolist()))
    lines.append(f"{chain.size} {chain.size} {chain.transitions}")
    lines += [
        f"{i + 1} {j + 1} {value}"
        for i, j, value in zip(
            chain.sources.tolist(), chain.indices.tolist(), double_texts(chain), strict=True
        )
    ]
    return "\n".join([*lines, ""])


def write_matrix_market(chain: MarkovChain, path: str | Path) -> None:
    """Write a chain as Matrix Market."""
    write_whole(path, format_matrix_market(chain))


def read_matrix_market(path: str | Path, limit: int | None = None) -> ChainFile:
    """Read a square coordinate matrix with probability rows."""
    source = Source.open(path, limit)
    lines = source.lines()
    head = lines[0].lower().split() if lines else []
    if head[:1] != ["%%matrixmarket"] or head[1:] not in (
        ["matrix", "coordinate", "real", "general"],
        ["matrix", "coordinate", "integer", "general"],
    ):
        source.fail(1, "expected '%%MatrixMarket matrix coordinate real general'")
    marks, at = _marks(source, lines)
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
        source.fail(
            number,
            f"the file ends after {seen} entries, but line {at + 1} says {entries} (truncated?)",
        )
    for i in range(min(size, len(rows) + 1)):
        if i not in rows:
            source.fail(number, f"row {i + 1} is empty: state {i} is a deadlock")
        reader.add(first[i], rows[i])
    places = {
        name: [_place(source, line, text, size) for text in texts]
        for name, (line, texts) in marks.items()
    }
    return assemble(
        reader,
        places.pop(None, []),
        {name: where for name, where in places.items() if name is not None},
    )


def _marks(source: Source, lines: list[str]) -> tuple[dict[str | None, tuple[int, list[str]]], int]:
    """Return label (None: the start) -> (line, indices), and where the comments end."""
    marks: dict[str | None, tuple[int, list[str]]] = {}
    at = 1
    while at < len(lines) and (lines[at].startswith("%") or not lines[at].strip()):
        text = lines[at].rstrip()
        at += 1
        start, label = _START.fullmatch(text), _LABEL.fullmatch(text)
        if not start and not label:
            if text.startswith(("% start:", "% label ")):
                source.fail(
                    at, f"expected '% start: 1 2' or '% label \"NAME\": 3', not {show(text)}"
                )
            continue
        name = label[1] if label else None
        if name in marks:
            what = "the start" if name is None else f"the label {show(name)}"
            source.fail(at, f"{what} is given twice")
        found = label or start
        assert found is not None
        texts = found[found.re.groups].split()
        refuse_twice(source, at, texts, "the index")
        marks[name] = at, texts
    return marks, at


def _place(source: Source, number: int, text: str, size: int) -> int:
    value = parse_integer(source, number, text, "an index")
    if not 1 <= value <= size:
        source.fail(number, f"index {value} is not in 1..{size}")
    return value - 1
