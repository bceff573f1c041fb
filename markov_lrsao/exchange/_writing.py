"""What all writers share: files that are whole or absent, and what they can hold."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from flint import fmpq

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.texts import printable

__all__ = [
    "check_label",
    "check_reward_names",
    "double_text",
    "double_texts",
    "label_texts",
    "whole_file",
    "whole_files",
]

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def whole_file(path: str | Path, text: str) -> None:
    """Write one text file, whole or not at all; see `whole_files`."""
    whole_files({Path(path): text})


def whole_files(texts: Mapping[Path, str]) -> None:
    """Write text files so that a failure or an interruption leaves all old ones or all new ones.

    Every text is encoded and written to a temporary file beside its place before the first one
    is renamed. Should a renaming fail, those before it are taken back.
    """
    for path in texts:
        if path.is_dir():
            raise ParameterError(f"{printable(str(path))} is a directory; name a file")
    ready: list[tuple[Path, Path]] = []
    saved: dict[Path, Path] = {}
    try:
        for path, text in texts.items():
            ready.append((_temporary(path, text), path))
        if len(texts) > 1:
            for path in texts:
                if path.exists():
                    saved[path] = _copy(path)
        for temporary, path in ready:
            os.replace(temporary, path)
    except BaseException:
        for temporary, path in ready:
            if temporary.exists():
                continue  # this one is still the old file, or none
            if path in saved:
                os.replace(saved[path], path)
            else:
                path.unlink(missing_ok=True)
        raise
    finally:
        for leftover in (*(temporary for temporary, _ in ready), *saved.values()):
            leftover.unlink(missing_ok=True)


def _temporary(path: Path, text: str) -> Path:
    """Write a text beside its place, with the permissions that a new file gets."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        bad = text[error.start : error.start + 1]
        raise ParameterError(
            f"{printable(str(path))}: the character {bad!r} cannot be written; "
            f"rename the state or label"
        ) from None
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
    except BaseException:
        os.unlink(name)
        raise
    return Path(name)


def _copy(path: Path) -> Path:
    """Keep the old file under a second name."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    shutil.copy2(path, name)
    return Path(name)


def label_texts(chain: MarkovChain, *, start: str) -> dict[int, str]:
    """Return for each labelled state its labels, each preceded by a space, quoted if needed."""
    result = {int(i): f" {start}" for i in chain.start}
    for name, states in chain.labels.items():
        check_label(name, start)
        shown = name if _BARE.fullmatch(name) else f'"{name}"'
        for i in states.tolist():
            result[i] = f"{result.get(i, '')} {shown}"
    return result


def check_label(name: str, start: str) -> None:
    """Refuse a label that no file could carry."""
    if name == start:
        raise ParameterError(f"the label {name!r} is kept for the start states; rename it")
    if not name or '"' in name or not name.isprintable():
        raise ParameterError(
            f"the label {name!r} cannot be written: it must be printable text "
            f"without quotation marks"
        )


def check_reward_names(
    chain: MarkovChain, rewards: Mapping[str, Sequence[fmpq]], *, bare: bool
) -> None:
    """Refuse rewards of another length, and names that the format would tear apart."""
    for name, earned in rewards.items():
        if len(earned) != chain.size:
            raise ParameterError(
                f"the reward {name!r} has {len(earned)} values for {chain.size} states"
            )
        if bare and (not name.isprintable() or " " in name or (not name and len(rewards) > 1)):
            raise ParameterError(
                f"the reward name {name!r} cannot be written in this format: it "
                f"must be one printable word"
            )


def double_text(value: fmpq, what: str) -> str:
    """Return a number as a double of 17 digits, or refuse one outside their range."""
    try:
        result = to_float(value)
    except OverflowError:
        result = 0.0
    if result == 0.0 and value != 0:
        raise ParameterError(
            f"{what} is outside the range of doubles; write fractions "
            f"(--values rational, or another format)"
        )
    return repr(result)


def double_texts(chain: MarkovChain) -> list[str]:
    """Return the probabilities as doubles of 17 digits, or refuse one that would become 0."""
    values = chain.probabilities
    if values.size and values.min() == 0.0:
        raise ParameterError(
            "a probability is below the range of doubles; write fractions "
            "(--values rational, or another format)"
        )
    return list(map(repr, values.tolist()))
