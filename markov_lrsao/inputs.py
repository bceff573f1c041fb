"""The one place where files that a user names are opened.

A named file may be anything: a FIFO that never delivers, a link to an endless device, a
compressed file that unfolds to terabytes. Only regular files are read (links are followed),
and never more than a limit of bytes, before and after decompression. The limit can be raised:
by an argument, or for all commands by the environment variable MARKOV_LRSAO_MAX_SIZE.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import stat
import tomllib
import zlib
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from markov_lrsao.errors import FileFormatError, ParameterError
from markov_lrsao.texts import printable

__all__ = ["DEFAULT_LIMIT", "load_json", "load_table", "parse_size", "read_input", "read_text"]

DEFAULT_LIMIT = 256 * 2**20
"""Bytes that are read from one file unless more is allowed."""
_VARIABLE = "MARKOV_LRSAO_MAX_SIZE"
_CHUNK = 2**20
_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_SIZE = re.compile(r"([0-9]{1,18})([KMGT]?)")


def parse_size(text: str, name: str) -> int:
    """Return a number of bytes; K, M, G and T stand for powers of 1024.

    >>> parse_size("2G", "max_size")
    2147483648
    """
    match = _SIZE.fullmatch(text.strip().upper())
    if not match or int(match[1]) == 0:
        raise ParameterError(f"{name} = {text!r} is not a size: write bytes, or 500M, or 2G")
    return int(match[1]) << 10 * " KMGT".index(match[2] or " ")


def _limit(limit: int | None) -> int:
    if limit is not None:
        return limit
    text = os.environ.get(_VARIABLE)
    return DEFAULT_LIMIT if not text else parse_size(text, _VARIABLE)


def read_input(path: str | Path, limit: int | None = None) -> bytes:
    """Return a file's bytes; a name that ends in .gz is decompressed.

    Parameters
    ----------
    limit : most bytes to read, compressed or not; default `DEFAULT_LIMIT`, or what the
        environment allows

    Raises
    ------
    FileFormatError
        The file cannot be read, is no regular file, or exceeds the limit.
    """
    name, most = printable(str(path)), _limit(limit)
    try:
        _check(os.stat(path), name)
        # Not blocking, and checked again: the file may have been exchanged since.
        handle = os.open(
            path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        )
        with os.fdopen(handle, "rb") as stream:
            _check(os.fstat(handle), name)
            data = _bounded(stream, most, name)
    except (OSError, ValueError) as error:
        if isinstance(error, FileFormatError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise FileFormatError(f"{name}: {printable(str(reason))}") from None
    if not str(path).lower().endswith(".gz"):
        return data
    try:
        with gzip.GzipFile(fileobj=BytesIO(data)) as unfolded:
            return _bounded(unfolded, most, name)
    except (OSError, EOFError, zlib.error) as error:
        raise FileFormatError(f"{name}: not a whole gzip file ({printable(str(error))})") from None


def _check(status: os.stat_result, name: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = next((text for test, text in _KINDS if test(status.st_mode)), "something else")
        raise FileFormatError(f"{name}: {kind}; only regular files are read")


def _bounded(stream: IO[bytes] | gzip.GzipFile, most: int, name: str) -> bytes:
    """Read to the end, in pieces: nothing is reserved for what may not be there."""
    pieces, size = list[bytes](), 0
    while piece := stream.read(_CHUNK):
        size += len(piece)
        if size > most:
            raise FileFormatError(
                f"{name}: larger than the limit of {most:,} bytes; raise it with "
                f"{_VARIABLE}=2G, or with `max_size` where there is one"
            )
        pieces.append(piece)
    return b"".join(pieces)


def read_text(path: str | Path, limit: int | None = None) -> str:
    """Return a file's text, which must be UTF-8, or raise FileFormatError."""
    data = read_input(path, limit)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileFormatError(
            f"{printable(str(path))}, line {line}: byte "
            f"0x{data[error.start]:02x} is not valid UTF-8"
        ) from None


class _Twice(ValueError):
    """A key that an object has twice."""


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _Twice(key)
            seen.add(key)
    return result


def _constant(text: str) -> None:
    raise ValueError(f"{text} is not a number")


def load_json(text: str, name: str) -> Any:
    """Parse JSON strictly: no key twice, no NaN; one line where it fails.

    >>> load_json('{"a": 1, "a": 2}', "x.json")
    Traceback (most recent call last):
    markov_lrsao.errors.FileFormatError: x.json: the key 'a' is given twice in one object
    """
    name = printable(name)
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_constant)
    except json.JSONDecodeError as error:
        raise FileFormatError(f"{name}, line {error.lineno}: not JSON: {error.msg}") from None
    except _Twice as error:
        raise FileFormatError(
            f"{name}: the key {str(error)[:40]!r} is given twice in one object"
        ) from None
    except (RecursionError, ValueError):
        raise FileFormatError(
            f"{name}, line 1: not JSON that can be read: nested too deeply, "
            f"a number too long, or no number"
        ) from None


def load_table(path: str | Path, what: str) -> Any:
    """Return what stands in a JSON or TOML file, the latter if its name ends so.

    Parameters
    ----------
    what : "landscape" or "algorithm", for the error message

    Raises
    ------
    ParameterError
    """
    try:
        text = read_text(path)
        if str(path).endswith(".toml"):
            return tomllib.loads(text)
        return load_json(text, str(path))
    except FileFormatError as error:
        raise ParameterError(f"{what} file {error}") from None
    except (ValueError, RecursionError) as error:
        raise ParameterError(
            f"{what} file {printable(str(path))}: not TOML that can be read: "
            f"{printable(str(error))}"
        ) from None
