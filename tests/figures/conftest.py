"""Small settings, and the data of all figures made with them once."""

from __future__ import annotations

import pytest

from markov_lrsao.figures import FIGURES, FigureData, Settings
from markov_lrsao.progress import no_progress

SMALL = Settings(
    seed=7,
    runs=60,
    small=(20, 40, 20),
    large=(20, 60, 40),
    curve_n=(16, 40, 3),
    earl_n=(20, 40, 20),
    earl_runs=60,
    float_n=(500, 1000, 500),
    float_runs=40,
    law_n=13,
    law_runs=200,
    quantile_n=(16, 20, 2),
    profile_n=20,
    plateaus_n=(30, 40, 2),
    plateaus_runs=60,
    map_at=(9, 2),
    map_alpha=("0.5", "0.97"),
    map_grid=(3, 2),
)


@pytest.fixture(scope="session")
def small() -> Settings:
    return SMALL


@pytest.fixture(scope="session")
def made() -> dict[str, FigureData]:
    return {name: figure.compute(SMALL, no_progress) for name, figure in FIGURES.items()}
