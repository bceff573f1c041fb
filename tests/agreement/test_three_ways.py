"""Crossing counts = joint chain = chain with values, or a refusal in one line.

On random landscapes with random milestones, numbers of objectives, rewards and rules; the
laws of the position are compared with full Q-tables in Fractions as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from math import sqrt

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from three_ways import Instance, compare, instances


def campaign(number: int, examples: int) -> Counter[str]:
    """Compare that many instances, drawn from the seed `number`."""
    health: Counter[str] = Counter()

    @seed(number)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=False,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(instances())
    def check(instance: Instance) -> None:
        compare(instance, health)

    check()
    return health


SHARES = {
    "compared": 0.85,
    "exact pair": 0.45,
    "infinite": 0.4,
    "values": 0.7,
    "oracle": 0.65,
    "by crossing": 0.4,
}
"""What is usual, of the instances: compared in two ways at least, with two exact answers, with
an infinite one, with a chain of all values, compared with full Q-tables, crossing counts used."""
GROUP = 6
"""Hypothesis follows an instance by up to five variants of it (a part repeated elsewhere), and
what is refused for one (its chain is larger than the limits of this test) is so for them."""


def is_healthy(health: Counter[str], examples: int) -> None:
    """Most instances are compared, in all ways, and all kinds of answers occur.

    A share of independent groups of six varies by sqrt(share (1 - share) 6 / examples); a
    share below the usual one by more than twice that has a cause that must be found.
    """
    assert health["instances"] >= examples
    for kind, share in SHARES.items():
        floor = share - 2 * sqrt(share * (1 - share) * GROUP / examples)
        assert health[kind] >= floor * examples, (kind, floor, health)


Record = Callable[[str, object], None]


def run(number: int, examples: int, record: Record) -> None:
    """Compare, write down what was counted, and see that it was enough."""
    health = campaign(number, examples)
    record("seed", number)
    for kind in ("instances", "refused", *SHARES):
        record(kind, health[kind])
    is_healthy(health, examples)


@pytest.mark.slow
def test_three_ways_agree(record_property: Record) -> None:
    run(1, 40, record_property)


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", [101, 102])
def test_three_ways_agree_on_a_tenth(number: int, record_property: Record) -> None:
    run(number, 100, record_property)


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", range(201, 221))
def test_three_ways_agree_everywhere(number: int, record_property: Record) -> None:
    run(number, 100, record_property)
