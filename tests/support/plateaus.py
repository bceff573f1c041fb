"""Landscapes with several plateaus, written without the engine: plain lists over 0..n."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["bridge", "plateaus_of", "regions"]


def plateaus_of(widths: Sequence[int], slopes: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and last position of plateaus with slopes between them."""
    found, at = [], 0
    for width, slope in zip(widths, [*slopes, 0], strict=True):
        found.append((at, at + width - 1))
        at += width + slope
    return found


def bridge(n: int, plateaus: Sequence[tuple[int, int]]) -> list[int]:
    """Return |x| on the given plateaus and next to them, 0 elsewhere."""
    near = {p for first, last in plateaus for p in range(first - 1, last + 2)}
    return [p if p in near else 0 for p in range(n + 1)]


def regions(n: int, widths: Sequence[int], owners: Sequence[Sequence[int]]) -> dict[str, list[int]]:
    """Return a target "T" that is 0 on plateaus of the given widths, and bridges over them.

    The first plateau begins at 0, the last ends at n-1; between them are slopes of equal length,
    longer ones first, on which the target is |x|, as at n.

    Parameters
    ----------
    owners : per bridge the numbers of its plateaus
    """
    count = len(widths) - 1
    short, longer = divmod(n - sum(widths), count)
    plateaus = plateaus_of(widths, [short + (i < longer) for i in range(count)])
    flat = {p for first, last in plateaus for p in range(first, last + 1)}
    target = [0 if p in flat else p for p in range(n + 1)]
    bridges = {f"B{k}": bridge(n, [plateaus[i] for i in own]) for k, own in enumerate(owners)}
    return {"T": target, **bridges}
