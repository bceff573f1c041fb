"""Exchange of chains with other tools: reading, writing, and what the formats can hold.

================  ======================  =======  ====================================
format            files                   exact    holds
================  ======================  =======  ====================================
drn               .drn (Storm)            yes      labels, start, rewards
prism             .tra .lab .srew .trew   choice   labels, start, rewards (writes one)
storm-explicit    .tra .lab .state.rew    no       labels, start, one reward
json              .json                   yes      everything, names of states as well
graphml           .graphml                yes      labels, start, names
matrix-market     .mtx                    no       labels, start (in comments)
prism-language    .prism (write only)     yes      a readable model, see `prism_language`
================  ======================  =======  ====================================

A file compressed with gzip (``walk.drn.gz``) is read like any other.

Readers are strict: see `markov_lrsao.exchange.drn` and `docs/exchange.md`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from markov_lrsao.errors import FileFormatError, ParameterError
from markov_lrsao.exchange._reading import ChainFile
from markov_lrsao.texts import printable

if TYPE_CHECKING:
    from flint import fmpq

    from markov_lrsao.chains.chain import MarkovChain

__all__ = ["FORMATS", "ChainFile", "read_chain", "write_chain"]

FORMATS = ("drn", "prism", "storm-explicit", "json", "graphml", "matrix-market")
"""The formats that any chain can be written in."""
_ONLY = {
    "json": "rational",
    "graphml": "rational",
    "matrix-market": "double",
    "storm-explicit": "double",
}


def read_chain(path: str | Path, *, max_size: int | None = None) -> ChainFile:
    """Read a chain; the ending of the name (before .gz) tells the format.

    Parameters
    ----------
    max_size : most bytes to read from a file; default: see `markov_lrsao.inputs`

    Raises
    ------
    FileFormatError
        The file is malformed; the message names the line.
    """
    name = Path(path).name.lower().removesuffix(".gz")
    suffix = Path(name).suffix
    if suffix == ".drn":
        from markov_lrsao.exchange.drn import read_drn as read
    elif name.endswith((".tra", ".lab", ".srew", ".trew", ".state.rew", ".trans.rew")):
        from markov_lrsao.exchange.prism import read_prism as read
    elif suffix == ".json":
        from markov_lrsao.exchange.json_format import read_json as read
    elif suffix == ".graphml":
        from markov_lrsao.exchange.graphml import read_graphml as read
    elif suffix == ".mtx":
        from markov_lrsao.exchange.matrix_market import read_matrix_market as read
    else:
        raise FileFormatError(
            f"{printable(str(path))}: the ending {suffix!r} is not known; files ending in .drn, "
            f".tra, .json, .graphml or .mtx are read"
        )
    return read(path, max_size)


def write_chain(
    chain: MarkovChain,
    path: str | Path,
    *,
    format: str,
    values: str | None = None,
    rewards: Mapping[str, Sequence[fmpq]] | None = None,
) -> list[Path]:
    """Write a chain and return the files written.

    Parameters
    ----------
    format : one of `FORMATS`
    values : "rational" or "double"; default: what the format's readers expect
    rewards : name -> what one step from each state earns (drn, json; one for prism)
    """
    if format not in FORMATS:
        raise ParameterError(f"format = {format!r} is not one of {', '.join(FORMATS)}")
    if values not in (None, "rational", "double"):
        raise ParameterError(f"values = {values!r} is not one of rational, double")
    if values is not None and _ONLY.get(format, values) != values:
        raise ParameterError(
            f"values = {values!r} cannot be written as {format}, "
            f"which holds {_ONLY[format]} numbers only"
        )
    if rewards and format in ("graphml", "matrix-market"):
        raise ParameterError(f"rewards cannot be written as {format}; use drn, prism or json")
    path = Path(path)
    if path.name.lower().endswith(".gz"):
        raise ParameterError(
            f"{printable(str(path))}: compressed files are read, not written; leave out .gz"
        )
    if format == "drn":
        from markov_lrsao.exchange.drn import write_drn

        write_drn(chain, path, values=values or "rational", rewards=rewards)
    elif format in ("prism", "storm-explicit"):
        from markov_lrsao.exchange.prism import write_prism

        return write_prism(
            chain,
            path,
            values=values or "double",
            rewards=rewards,
            storm=format == "storm-explicit",
        )
    elif format == "json":
        from markov_lrsao.exchange.json_format import write_json

        write_json(chain, path, rewards=rewards)
    elif format == "graphml":
        from markov_lrsao.exchange.graphml import write_graphml

        write_graphml(chain, path)
    else:
        from markov_lrsao.exchange.matrix_market import write_matrix_market

        write_matrix_market(chain, path)
    return [path]
