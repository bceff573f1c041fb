"""Grids by which states of a walk on a shared row are relaxed, from loose to fine."""

from __future__ import annotations

from functools import partial

from flint import fmpq

from markov_lrsao.values.entries import Grid
from markov_lrsao.values.word_lumps import Words

__all__ = ["coarse_grid", "grids", "lumped_grids", "residual_grids", "sharp_grid"]

_QUARTER = fmpq(1, 4)


def coarse_grid(n: int, mesh: fmpq = _QUARTER) -> Grid:
    """Return a grid with one mesh for everything."""
    return Grid(mesh, mesh, min(mesh * n, _QUARTER), True, 14 * _digits(n))


def grids(n: int) -> list[Grid]:
    """Return grids from the loosest to the finest.

    All but the last forget what was told of a climb, beside the order. The first two follow no
    climbs, or hardly any.
    """
    short, long = 4 * _digits(n), 14 * _digits(n)
    one, fine = fmpq(1), fmpq(1, 1 << 16)
    return [
        Grid(one, one, one, False, short // 2),
        Grid(_QUARTER, _QUARTER, _QUARTER, False, short),
        Grid(fmpq(1, 64), _QUARTER, _QUARTER, False, short),
        Grid(fine, fmpq(1, 1 << 12), min(fine * n, _QUARTER), True, long),
    ]


def residual_grids(n: int) -> list[Grid]:
    """Return such grids on which a penalty maps intervals to intervals.

    There are more states on the loosest one, but what it knows it does not lose: with four plateaus
    and more the others leave too much open, however many states follow finer ones.
    """
    short, long = 4 * _digits(n), 14 * _digits(n)
    one, fine = fmpq(1), fmpq(1, 1 << 16)
    rounded = partial(Grid, residual=True)
    return [
        rounded(one, one, one, False, short // 2, gains=2),
        rounded(_QUARTER, _QUARTER, _QUARTER, False, short, gains=4),
        rounded(fmpq(1, 64), fmpq(1, 16), _QUARTER, False, short, gains=16),
        rounded(fmpq(1, 1 << 10), fmpq(1, 1 << 7), fmpq(1, 64), False, 2 * short, gains=64),
        rounded(fine, fmpq(1, 1 << 12), min(fine * n, _QUARTER), True, long, gains=1024),
    ]


def sharp_grid(n: int) -> Grid:
    """Return a grid that tells rewards of the target apart where others are content with octaves.

    With a bridge for each plateau the target and a bridge come to compete on the last one, and all
    that is open there is which of the two is larger.
    """
    return Grid(fmpq(1, 64), fmpq(1, 64), _QUARTER, False, 4 * _digits(n), gains=1024)


def lumped_grids(n: int) -> list[Grid]:
    """Return grids on which words of slopes are lumped, from the loosest to the finest.

    The first two know of entries little more than their depths: they have few states.
    """
    short, no_mesh = 4 * _digits(n), fmpq(1 << 20)
    rough = (no_mesh, no_mesh, no_mesh, False, short // 4)
    return [
        Grid(*rough, Words.SIDES, blunt=True, ordered=False),
        Grid(*rough, Words.ROUGHLY, ordered=False),
        Grid(*rough, Words.ROUGHLY),
        Grid(_QUARTER, _QUARTER, _QUARTER, False, short, Words.ALIKE),
        Grid(fmpq(1, 64), _QUARTER, _QUARTER, False, short, Words.ALIKE),
    ]


def _digits(n: int) -> int:
    return max(8, (5 * (n + 1)).bit_length())
