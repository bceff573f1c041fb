"""Clusters that are wrong on purpose are caught by `Clusters.check`.

What counts as wrong is found without the check's own code: rows are sampled from a cluster
(corners of its box that agree with its pattern) and updated in Fractions, or taken from true
runs of the algorithm.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from coupling import holds, sign
from flint import fmpq
from histories import Foreseen, biased_run
from refined import COARSE, PLAIN, Point, focused_walks, law_at, unmerged
from tiers import campaign

from markov_lrsao.errors import VerificationError
from markov_lrsao.exact.intervals import UNKNOWN, Interval
from markov_lrsao.exact.rationals import rational
from markov_lrsao.rows.patterns import Pattern
from markov_lrsao.values.clusters import Clusters, Update
from markov_lrsao.values.invariants import check_invariant
from markov_lrsao.values.tails import Level

POINTS = [
    (Point(9, 2, "19/20", "1/10", "1/1000"), COARSE),
    (Point(9, 2, "1/2", "1/5", "199/200"), COARSE),
    (Point(12, 3, "99/100", "1/4", "1/20"), PLAIN),
]
FINER = [(Point(9, 2, "1/2", "1/5", "199/200"), PLAIN)]
ids = [f"{p}-{level.mesh}" for p, level in POINTS]
finer = [f"{p}-{level.mesh}" for p, level in FINER]


def clusters_of(point: Point, level: Level) -> list[Clusters]:
    whole = unmerged(point.law, level)
    return [whole.bottom.clusters, whole.tail.clusters]


def damaged(clusters: Clusters) -> Clusters:
    """Return a copy whose lists and dictionaries can be changed."""
    result = copy(clusters)
    result.traits, result.boxes = list(clusters.traits), list(clusters.boxes)
    result.following, result.given = dict(clusters.following), set(clusters.given)
    return result


@cache
def visited(point: Point, level: Level) -> list[tuple[Clusters, int, list[Fraction]]]:
    """Return rows that true runs have, and the clusters in which the engine has them."""
    foreseen, rng = Foreseen(point.law, level), np.random.default_rng(7)
    runs = [biased_run(foreseen, rng, 100) for _ in range(15)]
    return [rows for run in runs for rows in run.seen]


def too_narrow(
    clusters: Clusters, number: int, row: list[Fraction]
) -> Iterator[tuple[int, Interval]]:
    """Yield (entry, an interval within its bounds that misses the entry's true value)."""
    for a, (value, own, cell) in enumerate(
        zip(row, clusters.boxes[number], clusters.traits[number].cells, strict=True)
    ):
        v = rational(value)
        if cell is None:
            continue
        if own.low == own.high:
            yield a, Interval.point(v + fmpq(1, 10**30))
        if own.low < v:
            yield a, Interval(own.low, v, own.low_attained, False)
        if v < own.high:
            yield a, Interval(v, own.high, False, own.high_attained)


def put(clusters: Clusters, number: int, a: int, narrow: Interval) -> Clusters:
    result = damaged(clusters)
    box = list(result.boxes[number])
    box[a] = narrow
    result.boxes[number] = tuple(box)
    return result


def test_the_clusters_themselves_pass() -> None:
    for point, level in POINTS:
        for clusters in clusters_of(point, level):
            check_invariant(clusters)


def narrow_at_random(point: Point, level: Level, times: int, seed: int) -> None:
    rows, rng = visited(point, level), np.random.default_rng(seed)
    seen = set()
    for k in rng.integers(len(rows), size=times).tolist():
        clusters, number, row = rows[k]
        for a, narrow in too_narrow(clusters, number, row):
            with pytest.raises(VerificationError):
                check_invariant(put(clusters, number, a, narrow))
            seen.add((id(clusters), number, a))
    assert len(seen) > 20


@pytest.mark.parametrize(("point", "level"), POINTS, ids=ids)
def test_bounds_that_miss_a_true_value_are_caught(point: Point, level: Level) -> None:
    narrow_at_random(point, level, times=40, seed=1)


@pytest.mark.parametrize(("point", "level"), campaign([*POINTS, *FINER]), ids=[*ids, *finer])
def test_bounds_that_miss_a_true_value_are_always_caught(point: Point, level: Level) -> None:
    narrow_at_random(point, level, times=600, seed=2)


def rows_of(pattern: Pattern, box: tuple[Interval, ...]) -> Iterator[list[Fraction]]:
    """Yield rows near the corners of a box that agree with a pattern."""
    ends = []
    for b in box:
        low, high = Fraction(int(b.low.p), int(b.low.q)), Fraction(int(b.high.p), int(b.high.q))
        inset = (high - low) / 1000
        ends.append(
            {
                low if b.low_attained else low + inset,
                (low + high) / 2,
                high if b.high_attained else high - inset,
            }
        )
    for values in product(*map(sorted, ends)):
        if all(s in (UNKNOWN, sign(v)) for s, v in zip(pattern.signs, values, strict=True)) and all(
            pattern.relation(i, j) in (UNKNOWN, sign(v - w))
            for i, v in enumerate(values)
            for j, w in enumerate(values)
        ):
            yield list(values)


def leads_out(clusters: Clusters, update: Update, target: int) -> bool:
    """Whether some sampled row is not in the target cluster after the update."""
    parameters = clusters.law.algorithm.parameters
    assert parameters is not None
    alpha, gamma = (Fraction(int(v.p), int(v.q)) for v in (parameters.alpha, parameters.gamma))
    gain = Fraction(int(update.gain.p), int(update.gain.q))
    key, box = clusters.traits[target], clusters.boxes[target]
    if isinstance(update.neighbour, Interval):
        bound = update.neighbour
        maxima = [max(r) for r in rows_of(Pattern((UNKNOWN,), ()), (bound,))]
    elif update.neighbour is not None:
        n = update.neighbour
        maxima = [max(r) for r in rows_of(clusters.traits[n].pattern, clusters.boxes[n])]
    else:
        maxima = []
    for row in rows_of(update.option.pattern, clusters.boxes[update.source]):
        for m in maxima or [max(row)]:
            new = list(row)
            new[update.action] = (1 - alpha) * row[update.action] + gain + alpha * gamma * m
            for a, value in enumerate(new):
                if key.cells[a] is not None and not holds(value, box[a]):
                    return True
                if key.pattern.signs[a] not in (UNKNOWN, sign(value)):
                    return True
                if any(
                    key.pattern.relation(a, b) not in (UNKNOWN, sign(value - other))
                    for b, other in enumerate(new)
                ):
                    return True
    return False


def misled(clusters: Clusters, seed: int) -> int:
    """Let updates lead to wrong clusters, one at a time; return how many are caught: all."""
    rng, caught = np.random.default_rng(seed), 0
    updates = list(clusters.following)
    for k in rng.integers(len(updates), size=60).tolist():
        update, wrong = updates[k], int(rng.integers(len(clusters.traits)))
        assert not leads_out(clusters, update, clusters.following[update])
        if leads_out(clusters, update, wrong):
            result = damaged(clusters)
            result.following[update] = wrong
            with pytest.raises(VerificationError):
                check_invariant(result)
            caught += 1
    return caught


@pytest.mark.parametrize(("point", "level"), POINTS, ids=ids)
def test_a_wrong_target_of_an_update_is_caught(point: Point, level: Level) -> None:
    assert all(misled(clusters, seed=2) > 20 for clusters in clusters_of(point, level))


@pytest.mark.slow
def test_a_wrong_target_is_caught_where_cells_are_divided() -> None:
    clusters = focused_walks(law_at(9, 2, "23/27", "1/5", "305/92"), 3)[-1].clusters
    assert any(map(any, clusters.halvings))
    check_invariant(clusters)
    assert misled(clusters, seed=5) > 20


@pytest.mark.parametrize(("point", "level"), POINTS, ids=ids)
def test_a_claim_that_a_true_row_contradicts_is_caught(point: Point, level: Level) -> None:
    """Claim a wrong sign or order of entries, where a right one was known and where none was."""
    rows, rng = visited(point, level), np.random.default_rng(3)
    filled = 0
    for at in rng.integers(len(rows), size=25).tolist():
        clusters, number, row = rows[at]
        key, k = clusters.traits[number], len(row)
        truth = [sign(v) for v in row] + [sign(v - w) for v, w in combinations(row, 2)]
        claims = [*key.pattern.signs, *key.pattern.order]
        for i, true in enumerate(truth):
            for claim in {-1, 0, 1} - {true}:
                relations = list(claims)
                relations[i] = claim
                result = damaged(clusters)
                result.traits[number] = replace(
                    key, pattern=Pattern(tuple(relations[:k]), tuple(relations[k:]))
                )
                with pytest.raises(VerificationError):
                    check_invariant(result)
                filled += claims[i] == UNKNOWN
    assert filled  # relations that were open have been claimed too


def test_forgetting_an_entry_that_may_be_used_again_is_caught() -> None:
    point, level = POINTS[0]
    seen = 0
    for clusters, number, _ in visited(point, level)[::5]:
        key = clusters.traits[number]
        for a in key.pattern.maximal:
            if key.cells[a] is not None and key.pattern.signs[a] == -1:
                result = damaged(clusters)
                result.traits[number] = replace(
                    key, cells=tuple(None if i == a else c for i, c in enumerate(key.cells))
                )
                with pytest.raises(VerificationError):
                    check_invariant(result)
                seen += 1
    assert seen
