"""Crossing counts = joint chain = chain with values, or a refusal in one line.

On random landscapes with random milestones, numbers of objectives, rewards and rules; the
laws of the position are compared with full Q-tables in Fractions as well.
"""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from three_ways import Instance, compare, instances


def campaign(number: int, examples: int) -> Counter[str]:
    """Compare that many instances, drawn from the seed `number`."""
    health: Counter[str] = Counter()

    @seed(number)
    @settings(max_examples=examples, database=None, deadline=None, derandomize=False,
              suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    @given(instances())
    def check(instance: Instance) -> None:
        compare(instance, health)

    check()
    return health


def is_healthy(health: Counter[str]) -> None:
    """Most instances are compared, in all ways, and all kinds of answers occur."""
    count = health["instances"]
    assert health["compared"] >= 0.7 * count, health
    assert health["exact pairs"] >= 0.5 * count, health
    assert health["infinite"] >= 0.1 * count, health
    assert health["values"] >= 0.5 * count, health
    assert health["oracle"] >= 0.3 * count, health
    assert health["by crossing"] >= 0.1 * count, health


def test_three_ways_agree() -> None:
    health = campaign(2, 40)
    assert health["instances"] >= 40
    is_healthy(health)


@pytest.mark.slow
@pytest.mark.parametrize("number", [101, 102])
def test_three_ways_agree_on_a_tenth(number: int) -> None:
    health = campaign(number, 100)
    assert health["instances"] >= 100
    is_healthy(health)


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", range(201, 221))
def test_three_ways_agree_everywhere(number: int) -> None:
    health = campaign(number, 100)
    assert health["instances"] >= 100
    is_healthy(health)
