"""All figures by name, and the loop that makes those that are missing."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from markov_lrsao.errors import ParameterError
from markov_lrsao.figures import chains, comparisons, laws, maps, model, runtimes
from markov_lrsao.figures.base import Figure, Settings
from markov_lrsao.figures.files import is_complete, prepare_folder, write_figure
from markov_lrsao.progress import Bar, Progress, no_progress
from markov_lrsao.release import release

__all__ = ["FIGURES", "build", "chosen"]

FIGURES: dict[str, Figure] = {
    figure.name: figure
    for module in (model, runtimes, comparisons, laws, chains, maps)
    for figure in module.FIGURES
}
"""Name -> figure, in the order of the paper."""


def chosen(names: Sequence[str] | None) -> list[Figure]:
    """Return the figures of the given names (all by default), each once, in the usual order.

    Raises
    ------
    ParameterError
        There is no such figure; the message lists those there are.
    """
    unknown = [name for name in names or () if name not in FIGURES]
    if unknown:
        raise ParameterError(f"figure {unknown[0]!r} is unknown: choose from {', '.join(FIGURES)}")
    return [figure for name, figure in FIGURES.items() if not names or name in names]


def build(
    names: Sequence[str] | None,
    out: Path,
    settings: Settings | None = None,
    progress: Progress = no_progress,
) -> list[Path]:
    """Make the figures that are missing in a folder; return the paths of all their JSON files.

    Parameters
    ----------
    names : which figures; None for all
    settings : default `Settings.full()`

    Raises
    ------
    ParameterError
        A name is unknown or a file cannot be written.
    """
    from markov_lrsao.figures.canvas import pictures

    settings = settings or Settings.full()
    figures = chosen(names)
    out = Path(out)
    prepare_folder(out)
    paths = []
    for number, figure in enumerate(figures, start=1):
        if not is_complete(out, figure.name, settings.to_dict(), release()):
            title = f"[{number}/{len(figures)}] {figure.name}"
            data = figure.compute(settings, _titled(progress, title))
            write_figure(
                out,
                figure.name,
                {"json": data.to_json().encode(), "csv": data.to_csv().encode(), **pictures(data)},
            )
        paths.append(out / f"{figure.name}.json")
    return paths


def _titled(progress: Progress, title: str) -> Progress:
    """Put the figure's name in front of what its parts report."""

    def titled(part: str, total: int | None = None) -> AbstractContextManager[Bar]:
        return progress(f"{title}: {part}", total=total)

    return titled
