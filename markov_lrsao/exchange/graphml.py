"""GraphML: the chain as a graph for drawing and graph tools (Gephi, yEd, networkx).

A node has `label`, `position`, `start` and `labels` (separated by "|"); an edge has the exact
`probability` as text and a float `weight`.

Graphs of other tools are read too, such as networkx writes them: attributes are known by the
`attr.name` of their <key>, whatever its id; nodes may have any ids. Ids 0, 1, ... are the states'
numbers; otherwise states are numbered in the order of the file and named by their ids. A
probability of type float or double may be rounded, see `RowReader`.

Reading uses the expat parser directly, which knows line numbers; document type declarations
are refused, and with them every entity trick.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat
from xml.sax.saxutils import escape

import numpy as np

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.errors import FileFormatError, ParameterError
from markov_lrsao.exchange._reading import (
    ChainFile,
    RowReader,
    Source,
    assemble,
    parse_integer,
    refuse_twice,
    show,
)
from markov_lrsao.exchange._writing import check_label
from markov_lrsao.exchange.drn import fraction_texts
from markov_lrsao.storage import write_whole

__all__ = ["format_graphml", "read_graphml", "write_graphml"]

_NODE_KEYS = (("label", "string"), ("position", "long"), ("start", "boolean"), ("labels", "string"))
_EDGE_KEYS = (("probability", "string"), ("weight", "double"))
_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_PARENTS = {
    "graphml": ("",),
    "key": ("graphml",),
    "graph": ("graphml", "node"),
    "node": ("graph",),
    "edge": ("graph",),
    "data": ("node", "edge", "graph"),
    "default": ("key",),
    "desc": ("graphml", "key", "graph", "node", "edge"),
}
"""Where an element may stand; a graph inside a node is refused with a reason of its own."""
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")


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
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<graphml xmlns="{_NAMESPACE}">']
    for kind, keys in (("node", _NODE_KEYS), ("edge", _EDGE_KEYS)):
        lines += [
            f'  <key id="{key}" for="{kind}" attr.name="{key}" attr.type="{of}"/>'
            for key, of in keys
        ]
    lines.append('  <graph id="chain" edgedefault="directed">')
    for i, position in enumerate(chain.positions.tolist()):
        if _FORBIDDEN.search(chain.label(i)):
            raise ParameterError(
                f"the name of state {i}, {chain.label(i)!r}, has characters that "
                f"GraphML cannot hold; use json"
            )
        labels = escape("|".join(carried.get(i, ())))
        lines.append(
            f'    <node id="{i}"><data key="label">{escape(chain.label(i))}</data>'
            f'<data key="position">{position}</data>'
            f'<data key="start">{"true" if i in start else "false"}</data>'
            f'<data key="labels">{labels}</data></node>'
        )
    for i, j, text, weight in zip(
        chain.sources.tolist(),
        chain.indices.tolist(),
        fraction_texts(chain),
        chain.probabilities.tolist(),
        strict=True,
    ):
        lines.append(
            f'    <edge source="{i}" target="{j}"><data key="probability">{text}</data>'
            f'<data key="weight">{weight!r}</data></edge>'
        )
    return "\n".join([*lines, "  </graph>", "</graphml>", ""])


def write_graphml(chain: MarkovChain, path: str | Path) -> None:
    """Write a chain as GraphML."""
    write_whole(path, format_graphml(chain))


class _Handler:
    """Collects keys, nodes and edges while expat walks through the file."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.parser = expat.ParserCreate(encoding="UTF-8", namespace_separator=" ")
        self.parser.StartElementHandler = self.begin
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.text
        self.parser.StartDoctypeDeclHandler = self.doctype
        self.nodes: dict[str, tuple[int, dict[str, str]]] = {}
        self.edges: list[tuple[int, str, str, dict[str, str]]] = []
        self.rounded = False
        self._keys: dict[str, tuple[str, str]] = {}
        self._defaults: dict[tuple[str, str], str] = {}
        self._path: list[str] = []
        self._data: dict[str, str] = {}
        self._name: str | None = None

    def fail(self, message: str) -> NoReturn:
        self.source.fail(self.parser.CurrentLineNumber, message)

    def doctype(self, *_: object) -> None:
        self.fail("a document type declaration is not accepted")

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        space, _, tag = name.rpartition(" ")
        if space not in ("", _NAMESPACE):
            self.fail(f"element {show(tag)} of {show(space)} is not part of a chain")
        parent = self._path[-1] if self._path else ""
        if parent not in _PARENTS.get(tag, ()):
            self.fail(f"element {show(tag)} is not part of a chain, or in the wrong place")
        self._path.append(tag)
        if tag == "graph":
            if self._path.count("graph") > 1 or self.nodes or self.edges:
                self.fail("a second graph: a file holds one chain")
            if attributes.get("edgedefault", "directed") != "directed":
                self.fail('the graph is undirected; a chain\'s graph has edgedefault="directed"')
        elif tag == "key":
            self._key(attributes)
        elif tag == "node":
            self._node(attributes.get("id", ""))
        elif tag == "edge":
            if attributes.get("directed", "true") not in ("true", "1"):
                self.fail("an undirected edge; a chain's edges are directed")
            ends = attributes.get("source", ""), attributes.get("target", "")
            self._data = {}
            self.edges.append((self.parser.CurrentLineNumber, *ends, self._data))
        elif tag == "data":
            self._begin_data(parent, attributes.get("key", ""))

    def _key(self, attributes: dict[str, str]) -> None:
        identity, of = attributes.get("id", ""), attributes.get("for", "all")
        name = attributes.get("attr.name", identity)
        if identity in self._keys or (of, name) in self._keys.values():
            self.fail(f"the key {show(identity)} (attr.name {show(name)}) is given twice")
        self._keys[identity] = of, name
        self._name = None
        if name == "probability" and of in ("edge", "all"):
            self.rounded = attributes.get("attr.type") in ("float", "double")
        self._last = of, name

    def _node(self, identity: str) -> None:
        if not identity or identity in self.nodes:
            self.fail(f"the node {show(identity)} is given twice or has no id")
        self._data = {}
        self.nodes[identity] = self.parser.CurrentLineNumber, self._data

    def _begin_data(self, parent: str, key: str) -> None:
        if key not in self._keys:
            self.fail(f"the key {show(key)} of this data is not declared")
        of, name = self._keys[key]
        if of not in (parent, "all"):
            self.fail(f"the key {show(key)} is declared for {show(of)}, not for {parent}")
        if parent == "graph":
            return
        if name in self._data:
            self.fail(f"the key {show(name)} is given twice")
        self._name, self._data[name] = name, ""

    def end(self, _: str) -> None:
        tag = self._path.pop()
        if tag == "data":
            self._name = None
        elif tag in ("node", "edge"):
            for (of, name), text in self._defaults.items():
                if of in (tag, "all"):
                    self._data.setdefault(name, text)

    def text(self, data: str) -> None:
        place = self._path[-1] if self._path else ""
        if place == "data" and self._name is not None:
            self._data[self._name] += data
        elif place == "default":
            self._defaults[self._last] = self._defaults.get(self._last, "") + data
        elif data.strip() and place not in ("data", "desc"):
            self.fail(f"stray text {show(data.strip())}")


def read_graphml(path: str | Path, limit: int | None = None) -> ChainFile:
    """Read a chain from GraphML as `write_graphml` or networkx writes it."""
    source = Source.open(path, limit)
    source.text()
    handler = _Handler(source)
    try:
        handler.parser.Parse(source.data, True)
    except expat.ExpatError as error:
        if isinstance(error.__context__, FileFormatError):
            raise error.__context__ from None
        source.fail(error.lineno, f"not XML: {expat.errors.messages[error.code]}")
    if not handler.nodes:
        source.fail(1, "there is no node: a chain needs a state")
    number = _numbers(list(handler.nodes))
    nodes = sorted(
        ((number[name], name, *found) for name, found in handler.nodes.items()),
        key=lambda node: node[0],
    )
    reader = _rows(source, handler, number)
    labels: dict[str, list[int]] = {}
    start = []
    for i, _, line, data in nodes:
        carried = [name for name in data.get("labels", "").split("|") if name]
        refuse_twice(source, line, carried, "the label")
        for name in carried:
            labels.setdefault(name, []).append(i)
        if _truth(source, line, data.get("start", "false")):
            start.append(i)
    result = assemble(reader, start, labels)
    positions = [
        _position(source, line, data.get("position", str(i))) for i, _, line, data in nodes
    ]
    names = [data.get("label", name) for _, name, _, data in nodes]
    return replace(
        result,
        chain=replace(
            result.chain, positions=np.array(positions, np.int64), labeller=names.__getitem__
        ),
    )


def _numbers(names: list[str]) -> dict[str, int]:
    """Number the nodes: by their ids if these are 0, 1, ... in any order, else as they come."""
    digits = {str(i): i for i in range(len(names))}
    if digits.keys() == set(names):
        return digits
    return {name: i for i, name in enumerate(names)}


def _rows(source: Source, handler: _Handler, number: dict[str, int]) -> RowReader:
    reader = RowReader(source, decimals_are_rounded=handler.rounded)
    rows: list[dict[int, tuple[int, int]]] = [{} for _ in number]
    for line, tail, head, data in handler.edges:
        if tail not in number or head not in number or number[head] in rows[number[tail]]:
            source.fail(
                line,
                f"edge {show(tail)} -> {show(head)} comes twice or has an end that does not exist",
            )
        if "probability" not in data:
            source.fail(line, f"edge {show(tail)} -> {show(head)} has no probability")
        rows[number[tail]][number[head]] = reader.probability(line, data["probability"].strip())
    lines = {number[name]: line for name, (line, _) in handler.nodes.items()}
    for i, row in enumerate(rows):
        reader.add(lines[i], row)
    return reader


def _truth(source: Source, line: int, text: str) -> bool:
    if text.strip().lower() not in ("true", "1", "false", "0"):
        source.fail(line, f"start must be true or false, not {show(text)}")
    return text.strip().lower() in ("true", "1")


def _position(source: Source, line: int, text: str) -> int:
    return (
        -parse_integer(source, line, text[1:], "a position")
        if text.startswith("-")
        else (parse_integer(source, line, text, "a position"))
    )
