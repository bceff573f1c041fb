"""All figures by name, and the loop that makes those that are missing."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path

from markov_lrsao.cluster import on_cluster
from markov_lrsao.errors import ParameterError
from markov_lrsao.figures import chains, comparisons, laws, maps, model, plateaus, runtimes
from markov_lrsao.figures.base import Figure, FigureData, Settings
from markov_lrsao.figures.files import is_complete, prepare_folder, write_figure
from markov_lrsao.progress import Bar, Progress, no_progress
from markov_lrsao.release import release

__all__ = ["FIGURES", "build", "chosen"]

FIGURES: dict[str, Figure] = {
    figure.name: figure
    for module in (model, runtimes, comparisons, laws, chains, maps, plateaus)
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
    *,
    scheduler: str | None = None,
) -> list[Path]:
    """Make the figures that are missing in a folder; return the paths of all their JSON files.

    Parameters
    ----------
    names : which figures; None for all
    settings : default `Settings.full()`
    scheduler : address of a Dask scheduler; its workers compute whole figures, and the points of
        the regime map. Pictures are drawn and written here

    Raises
    ------
    ParameterError
        A name is unknown or a file cannot be written.
    SchedulerError
        The scheduler cannot be reached, or has no workers; finished figures are there.
    """
    settings = settings or Settings.full()
    figures = chosen(names)
    out = Path(out)
    prepare_folder(out)
    current = settings.to_dict()
    missing = [f for f in figures if not is_complete(out, f.name, current, release())]
    away = [f for f in missing if scheduler is not None and f.spread is None]
    if scheduler is not None and away:
        _build_away(away, out, settings, progress, scheduler)
    for figure in missing:
        if figure not in away:
            title = f"[{figures.index(figure) + 1}/{len(figures)}] {figure.name}"
            data = figure.compute(settings, _titled(progress, title), scheduler)
            _write(out, figure.name, data)
    return [out / f"{figure.name}.json" for figure in figures]


def _write(out: Path, name: str, data: FigureData) -> None:
    from markov_lrsao.figures.canvas import pictures

    files = {"json": data.to_json().encode(), "csv": data.to_csv().encode(), **pictures(data)}
    write_figure(out, name, files)


def compute_by_name(job: tuple[str, Settings]) -> FigureData:
    """Compute a figure, on a worker of a cluster."""
    name, settings = job
    return FIGURES[name].compute(settings, no_progress)


def _build_away(
    figures: Sequence[Figure], out: Path, settings: Settings, progress: Progress, scheduler: str
) -> None:
    """Have figures computed by a cluster, and write each when it is there."""
    jobs = [(figure.name, settings) for figure in figures]
    with (
        progress("figures", total=len(jobs)) as bar,
        closing(on_cluster(compute_by_name, jobs, scheduler)) as finished,
    ):
        for found in finished:
            if found is not None:
                _write(out, figures[found[0]].name, found[1])
            bar.advance(0 if found is None else 1)


def _titled(progress: Progress, title: str) -> Progress:
    """Put the figure's name in front of what its parts report."""

    def titled(part: str, total: int | None = None) -> AbstractContextManager[Bar]:
        return progress(f"{title}: {part}", total=total)

    return titled
