"""Small random landscapes, on which the general statements (Lemmas 3, 4, 5) are tried.

The target has one largest value, somewhere above position 0; all other values are free. Ties,
plateaus and states that several positions share are frequent because values are few.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from flint import fmpq

from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.law import StepLaw
from markov_lrsao.model.parameters import Parameters

__all__ = ["random_laws"]


def random_laws(
    count: int, seed: int, algorithm: Callable[[Parameters], Algorithm] = Algorithm.lrsao
) -> Iterator[StepLaw]:
    """Yield laws of an algorithm on random landscapes, small n first."""
    generator = random.Random(seed)
    for index in range(count):
        n = 2 + (4 * index) // count
        target = [generator.randint(0, 2) for _ in range(n + 1)]
        target[generator.randint(1, n)] = 3
        objectives = {"F": target}
        for name in ("A", "B")[: generator.randint(1, 2)]:
            objectives[name] = [generator.randint(0, 3) for _ in range(n + 1)]
        parameters = Parameters(
            generator.choice([fmpq(1, 2), fmpq(4, 5), fmpq(9, 10)]),
            generator.choice([fmpq(1, 10), fmpq(1, 2), fmpq(9, 10)]),
            generator.choice([fmpq(1, 2), fmpq(1), fmpq(3), fmpq(10)]),
        )
        yield StepLaw.of(Landscape.from_arrays(objectives, "F"), algorithm(parameters))
