"""GraphML: the chain as a graph for drawing and graph tools (Gephi, yEd, networkx).

A node has `label`, `position`, `start` and `labels` (separated by "|"); an edge has the exact
`probability` as text and a float `weight`.

Reading uses the expat parser directly, which knows line numbers; document type declarations
are refused, and with them every entity trick.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.parsers import expat
from xml.sax.saxutils import escape

import numpy as np

from markov_lrsao.chain import MarkovChain
from markov_lrsao.errors import FileFormatError, ParameterError
from markov_lrsao.exchange._reading import (
    ChainFile,
    RowReader,
    Source,
    assemble,
    parse_integer,
    show,
)
from markov_lrsao.exchange._writing import check_label, whole_file
from markov_lrsao.exchange.drn import fraction_texts

__all__ = ["format_graphml", "read_graphml", "write_graphml"]

_NODE_KEYS = (("label", "string"), ("position", "long"), ("start", "boolean"),
              ("labels", "string"))
_EDGE_KEYS = (("probability", "string"), ("weight", "double"))


def format_graphml(chain: MarkovChain) -> str:
    """Return a chain as GraphML text."""
    carried: dict[int, list[str]] = {}
    for name, states in chain.labels.items():
        check_label(name, "")
        if "|" in name:
            raise ParameterError(f"the label {name!r} has a '|', which separates labels here")
        for i in states.tolist():
            carried.setdefault(i, []).append(name)
    start = set(chain.start.tolist())
    lines = ['<?xml version="1.0" encoding="UTF-8"?>',
             '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    for kind, keys in (("node", _NODE_KEYS), ("edge", _EDGE_KEYS)):
        lines += [f'  <key id="{key}" for="{kind}" attr.name="{key}" attr.type="{of}"/>'
                  for key, of in keys]
    lines.append('  <graph id="chain" edgedefault="directed">')
    for i, position in enumerate(chain.positions.tolist()):
        labels = escape("|".join(carried.get(i, ())))
        lines.append(
            f'    <node id="{i}"><data key="label">{escape(chain.label(i))}</data>'
            f'<data key="position">{position}</data>'
            f'<data key="start">{"true" if i in start else "false"}</data>'
            f'<data key="labels">{labels}</data></node>')
    for i, j, text, weight in zip(
        chain.sources.tolist(), chain.indices.tolist(), fraction_texts(chain),
        chain.probabilities.tolist(), strict=True,
    ):
        lines.append(f'    <edge source="{i}" target="{j}"><data key="probability">{text}</data>'
                     f'<data key="weight">{weight!r}</data></edge>')
    return "\n".join([*lines, "  </graph>", "</graphml>", ""])


def write_graphml(chain: MarkovChain, path: str | Path) -> None:
    """Write a chain as GraphML."""
    whole_file(path, format_graphml(chain))


class _Handler:
    """Collects nodes and edges while expat walks through the file."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.parser = expat.ParserCreate(encoding="UTF-8")
        self.parser.StartElementHandler = self.begin
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.text
        self.parser.StartDoctypeDeclHandler = self.doctype
        self.nodes: list[tuple[int, dict[str, str]]] = []
        self.edges: list[tuple[int, int, int, dict[str, str]]] = []
        self._open: dict[str, str] | None = None
        self._key: str | None = None

    def fail(self, message: str) -> None:
        self.source.fail(self.parser.CurrentLineNumber, message)

    def doctype(self, *_: object) -> None:
        self.fail("a document type declaration is not accepted")

    def begin(self, tag: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        if tag == "node":
            number = parse_integer(self.source, line, attributes.get("id", ""), "a node's id")
            if number != len(self.nodes):
                self.fail(f"node {number} comes where node {len(self.nodes)} is due")
            self._open = {}
            self.nodes.append((line, self._open))
        elif tag == "edge":
            i, j = (parse_integer(self.source, line, attributes.get(end, ""), f"an edge's {end}")
                    for end in ("source", "target"))
            self._open = {}
            self.edges.append((line, i, j, self._open))
        elif tag == "data" and self._open is not None:
            self._key = attributes.get("key", "")
            self._open[self._key] = ""
        elif tag not in ("graphml", "key", "graph"):
            self.fail(f"element {show(tag)} is not part of a chain")

    def end(self, tag: str) -> None:
        if tag == "data":
            self._key = None
        elif tag in ("node", "edge"):
            self._open = None

    def text(self, data: str) -> None:
        if self._key is not None and self._open is not None:
            self._open[self._key] += data
        elif data.strip():
            self.fail(f"stray text {show(data.strip())}")


def read_graphml(path: str | Path) -> ChainFile:
    """Read a chain from GraphML as `write_graphml` writes it."""
    source = Source.open(path)
    source.text()
    handler = _Handler(source)
    try:
        handler.parser.Parse(source.data, True)
    except expat.ExpatError as error:
        if isinstance(error.__context__, FileFormatError):
            raise error.__context__ from None
        source.fail(error.lineno, f"not XML: {expat.errors.messages[error.code]}")
    nodes, size = handler.nodes, len(handler.nodes)
    if not nodes:
        source.fail(1, "there is no node: a chain needs a state")
    reader = RowReader(source, decimals_are_rounded=False)
    rows: list[dict[int, tuple[int, int]]] = [{} for _ in nodes]
    for line, i, j, data in handler.edges:
        if max(i, j) >= size or j in rows[i]:
            source.fail(line, f"edge {i} -> {j} comes twice or has an end that does not exist")
        if "probability" not in data:
            source.fail(line, f"edge {i} -> {j} has no probability")
        rows[i][j] = reader.probability(line, data["probability"])
    for (line, _), row in zip(nodes, rows, strict=True):
        reader.add(line, row)
    labels: dict[str, list[int]] = {}
    for i, (_, data) in enumerate(nodes):
        for name in filter(None, data.get("labels", "").split("|")):
            labels.setdefault(name, []).append(i)
    result = assemble(
        reader, [i for i, (_, data) in enumerate(nodes) if data.get("start") == "true"], labels)
    positions = [_position(source, line, data.get("position", str(i)))
                 for i, (line, data) in enumerate(nodes)]
    names = [data.get("label", str(i)) for i, (_, data) in enumerate(nodes)]
    return replace(result, chain=replace(
        result.chain, positions=np.array(positions, np.int64), labeller=names.__getitem__))


def _position(source: Source, line: int, text: str) -> int:
    return -parse_integer(source, line, text[1:], "a position") if text.startswith("-") else (
        parse_integer(source, line, text, "a position"))
