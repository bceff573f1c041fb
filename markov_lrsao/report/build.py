"""From nothing to the page: what is missing is computed, what is kept is reused."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markov_lrsao.errors import ParameterError
from markov_lrsao.inputs import load_json, read_text
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.release import release
from markov_lrsao.report import beyond, findings
from markov_lrsao.report.files import kept
from markov_lrsao.report.page import Content, render
from markov_lrsao.report.values import exact_values
from markov_lrsao.report.verdicts import load_verification, verification
from markov_lrsao.storage import check_writable, write_whole

if TYPE_CHECKING:
    from markov_lrsao.figures import Settings

__all__ = ["Scope", "figure_data", "make_report"]


@dataclass(frozen=True, kw_only=True)
class Scope:
    """How far the page goes.

    Attributes
    ----------
    n_max : every valid (n, l) up to this n is on the sliders
    sizes : n of the paper's schedules
    law : (n, l) whose law of T is compared with its mean
    float_sizes, float_runs : of the simulations in float64 arithmetic, l = 2
    zero, below, above : n at which r leaves (H): r = 0, just below, far above
    plateaus, plateau_runs : (n, widths, bridges) of more plateaus; runs where they are simulated
    learning : (n, l) at which learning is compared with knowing
    cutoffs, cutoff_runs : n at which the best cut-offs are found, l = 2; runs of EA+RL there
    """

    n_max: int = 40
    sizes: tuple[int, ...] = (50, 100, 200, 500, 1000, 2000, 5000, 10_000)
    law: tuple[int, int] = (1000, 2)
    float_sizes: tuple[int, ...] = (1000, 4000, 10_000)
    float_runs: int = 2000
    zero: tuple[int, ...] = (9, 10, 12, 14, 16, 18)
    below: tuple[int, ...] = (32, 64, 128, 256)
    above: tuple[int, ...] = (9, 20, 50, 100)
    plateaus: tuple[tuple[int, str, str], ...] = (
        (100, "5+5", "shared"),
        (100, "5+5+5", "shared"),
        (100, "5+5+5", "own"),
        (200, "5+5", "shared"),
        (200, "5+5+5", "shared"),
        (200, "5+5+5", "own"),
    )
    plateau_runs: int = 2000
    learning: tuple[tuple[int, int], ...] = (
        (9, 2),
        (30, 2),
        (30, 5),
        (100, 2),
        (100, 10),
        (100, 47),
    )
    cutoffs: tuple[int, ...] = (100, 200, 300, 500)
    cutoff_runs: int = 20_000

    @classmethod
    def full(cls) -> Scope:
        """Return the scope of the published page; docs/report.md has the time it takes."""
        return cls()

    @classmethod
    def quick(cls) -> Scope:
        """Return a smaller scope; docs/report.md has the time that the page takes."""
        return cls(
            n_max=20,
            sizes=(50, 100, 200, 500, 1000),
            law=(200, 2),
            float_sizes=(1000, 2000),
            float_runs=400,
            zero=(9, 10, 12, 14),
            above=(9, 20),
            plateaus=((40, "4+4", "shared"), (40, "4+4+4", "shared"), (40, "4+4+4", "own")),
            plateau_runs=400,
            cutoffs=(100, 200),
            cutoff_runs=4000,
        )


def figure_data(folder: Path, settings: Settings, progress: Progress) -> list[dict[str, Any]]:
    """Return the data of all figures; those that are missing in `folder` are made.

    A damaged file counts as missing. A figure of the full set is as good as one of the quick
    set, and is not overwritten by it.
    """
    from markov_lrsao.figures import FIGURES, Settings, build
    from markov_lrsao.figures.files import FIELDS, is_complete

    best = Settings.full().to_dict()
    missing = [name for name in FIGURES if not is_complete(folder, name, best, release())]
    if missing:
        build(missing, folder, settings, progress)
    found = []
    for name in FIGURES:
        file = folder / f"{name}.json"
        data = load_json(read_text(file), str(file))
        if not isinstance(data, dict) or not set(data) >= FIELDS:
            raise ParameterError(f"{file} is not the data of a figure; delete it and run again")
        found.append(data)
    return found


def make_report(
    out: Path,
    *,
    scope: Scope | None = None,
    settings: Settings | None = None,
    figures: Path = Path("figures"),
    verify: Path | None = None,
    workers: int | None = None,
    command: str = "markov-lrsao report",
    progress: Progress = no_progress,
) -> Path:
    """Write the page to `out` and return its path.

    Parameters
    ----------
    settings : of the figures; default `Settings.full()`
    figures : folder of the figures; what else takes long is kept in its subfolder `report`
    verify : verdicts printed by `markov-lrsao verify --json`; made if not given
    workers : processes for the exact values, all cores by default

    Raises
    ------
    ParameterError, FileFormatError
        `out` or `figures` cannot be written, `verify` is not such a file.
    """
    from markov_lrsao.figures import Settings

    scope = scope or Scope.full()
    check_writable(out)
    if verify is not None:
        load_verification(verify)  # a wrong file is refused before the long work
    keep = figures / "report"
    figure_list = figure_data(figures, settings or Settings.full(), progress)
    values = kept(
        keep / "values.json",
        {"n_max": scope.n_max, "sizes": scope.sizes},
        lambda: exact_values(scope.n_max, scope.sizes, workers=workers, progress=progress),
    )
    numbers = kept(
        keep / "findings.json",
        asdict(scope),
        lambda: {
            "constants": findings.constants(values, progress),
            "concentration": findings.concentration(*scope.law, progress),
            "float64": findings.float64_effect(scope.float_sizes, scope.float_runs, progress),
            "relaxed": beyond.relaxed(scope.zero, scope.below, scope.above, progress),
            "plateaus": beyond.more_plateaus(scope.plateaus, scope.plateau_runs, progress),
            "learning": beyond.price_of_learning(scope.learning, progress),
            "cutoffs": beyond.best_cutoffs(scope.cutoffs, scope.cutoff_runs, progress),
        },
    )
    content = Content(
        values=values,
        verification=verification(keep, verify, progress),
        numbers=numbers,
        figures=figure_list,
        version=release(),
        command=command,
    )
    write_whole(out, render(content))
    return out
