"""The one place where files are written: whoever looks sees the whole file or the one before.

A content goes to a temporary file beside its place, is forced to the disk, and the temporary
file is renamed. An error, a full disk or Ctrl-C before the renaming leaves the old file as it was
and nothing beside it. A symbolic link stays one: the file it names is replaced. A new file has
the permissions that the process gives to new files, a replaced one keeps its own.

Databases (`regimes.store`, `simulate.sweeps.store`) are written by SQLite, which has its own way
to the same promise.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from markov_lrsao.errors import ParameterError
from markov_lrsao.texts import printable

__all__ = ["check_folder", "check_writable", "staged", "write_all", "write_whole"]

_ADVICE = "make room or choose another place"


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write one file, whole or not at all.

    Raises
    ------
    ParameterError
        The file cannot be written; an older one is untouched.
    """
    write_all({Path(path): content})


def write_all(contents: Mapping[Path, str | bytes]) -> None:
    """Write files so that an error or an interruption leaves all old ones or all new ones.

    Should a renaming fail, those before it are taken back. Only a process that is killed between
    two renamings leaves some of each; every file is whole even then.

    Raises
    ------
    ParameterError
        A file cannot be written; older ones are untouched.
    """
    saved: dict[Path, Path] = {}
    with staged(contents) as ready:
        try:
            if len(ready) > 1:
                for path in ready:
                    if path.exists():
                        with _explained(path):
                            saved[path] = _temporary(path, path.read_bytes())
            for path, temporary in ready.items():
                with _explained(path):
                    os.replace(temporary, path)
        except BaseException:
            for path, temporary in ready.items():
                if temporary.exists():
                    continue  # this one is still the old file, or none
                if path in saved:
                    os.replace(saved[path], path)
                else:
                    path.unlink(missing_ok=True)
            raise
        finally:
            for copy in saved.values():
                copy.unlink(missing_ok=True)


@contextmanager
def staged(
    contents: Mapping[Path, str | bytes], advice: str = _ADVICE
) -> Iterator[dict[Path, Path]]:
    """Write every content beside its place; yield place -> temporary file, ready to be renamed.

    What has not been renamed at the end is removed. An `OSError` inside, of a renaming for
    instance, becomes a `ParameterError`, too.
    """
    ready: dict[Path, Path] = {}
    try:
        for path, content in contents.items():
            with _explained(path, advice):
                place = _place(path)
                ready[place] = _temporary(place, _bytes(path, content))
        with _explained(next(iter(contents)), advice):
            yield ready
    finally:
        for temporary in ready.values():
            temporary.unlink(missing_ok=True)


def check_writable(path: Path, name: str = "out") -> None:
    """Raise ParameterError if a file of that name could not be written: before long work."""
    folder = path.resolve().parent
    if path.is_dir():
        raise ParameterError(f"`{name}` {path} is a folder; give the name of a file")
    if not folder.is_dir():
        raise ParameterError(
            f"`{name}` {path}: the folder {folder} does not exist; create it first"
        )
    check_folder(folder, name)


def check_folder(folder: Path, name: str = "out") -> None:
    """Raise ParameterError if no file could be written to a folder that exists."""
    with _explained(folder, f"choose another `{name}`"):
        _temporary(folder / "probe", b"").unlink()


@contextmanager
def _explained(path: Path, advice: str = _ADVICE) -> Iterator[None]:
    """Turn an error of the system into one line with the name of the file."""
    try:
        yield
    except OSError as error:
        raise ParameterError(
            f"cannot write {printable(str(path))}: {error.strerror or error}; {advice}"
        ) from None


def _place(path: Path) -> Path:
    """Return the file that a name stands for; refuse what renaming would destroy."""
    place = Path(os.path.realpath(path))
    if place.is_dir():
        raise ParameterError(f"{printable(str(path))} is a directory; name a file")
    if place.is_char_device() or place.is_block_device():
        raise ParameterError(f"{printable(str(path))} is a device; name a file")
    return place


def _bytes(path: Path, content: str | bytes) -> bytes:
    if isinstance(content, bytes):
        return content
    try:
        return content.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ParameterError(
            f"{printable(str(path))}: the character {content[error.start]!r} cannot be written; "
            f"rename what has it"
        ) from None


def _temporary(place: Path, data: bytes) -> Path:
    """Write data beside its place, with the permissions that the place has or a new file gets."""
    import tempfile  # not for those who only ask for help

    handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, _mode(place))
    except BaseException:
        os.unlink(name)
        raise
    return Path(name)


def _mode(place: Path) -> int:
    if place.exists():
        return stat.S_IMODE(place.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
