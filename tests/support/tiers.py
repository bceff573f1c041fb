"""Campaigns in two tiers: the whole in the third, a seeded tenth of it in the second."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import pytest

__all__ = ["campaign"]


def campaign(instances: Iterable[Any], *, share: int = 10, seed: int = 1) -> list[Any]:
    """Return the instances of a campaign as parameters: all exhaustive, a part also slow.

    Parameters
    ----------
    share : one of so many, and at least one, is in the second tier too

    >>> [len(p.marks) for p in campaign(range(12), share=4)].count(2)
    3
    """
    every = list(instances)
    chosen = set(random.Random(seed).sample(range(len(every)), max(len(every) // share, 1)))
    both = [pytest.mark.exhaustive, pytest.mark.slow]
    return [
        pytest.param(*(x if isinstance(x, tuple) else (x,)), marks=both[: 1 + (k in chosen)])
        for k, x in enumerate(every)
    ]
