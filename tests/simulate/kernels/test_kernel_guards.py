"""Error bounds of the kernels: they cover the worst case, and a smaller bound is noticed.

The worst case is that of the standard model of floating point: every coefficient and every
operation is off by u = 2^-53 of its size, all in the same direction. A bound that covers only what
happens to occur is not one, so the bounds themselves are compared with the worst case, in
rationals. Beside them stand the parts of the kernels that statistics would see too late.
"""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from markov_lrsao import Algorithm, Landscape, Parameters, StepLaw
from simulate.kernels import entries as entries
from simulate.kernels import philox, updates
from simulate.runs.decide import History
from simulate.runs.encoding import EncodedLaw

U = fmpq(1, 2**53)
Entry = tuple[float, float, float]


def exactly(x: float) -> fmpq:
    return fmpq(*float(x).as_integer_ratio())


def value(entry: Entry) -> fmpq:
    return exactly(entry[0]) * fmpq(2) ** (512 * int(entry[2]))


def error(entry: Entry) -> fmpq:
    return exactly(entry[1]) * fmpq(2) ** (512 * int(entry[2]))


def contains(entry: Entry, exact: fmpq) -> bool:
    return bool(abs(exact - value(entry)) <= error(entry))


def lrsao(n: int = 9, alpha: str = "4/5", gamma: str | None = None) -> StepLaw:
    return StepLaw.of(Landscape.jump(n, 2), Algorithm.lrsao(Parameters.paper(n, alpha, gamma)))


# -- rounding errors -------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", ["4/5", "1/9", "999/1000"])
def test_decay_covers_the_worst_rounding(alpha: str) -> None:
    """Of f factors each is off by u, and so is each of the f products (the first is exact)."""
    table = EncodedLaw.of(lrsao(alpha=alpha))
    mantissas, exponents = table.numbers.lam_mantissa, table.numbers.lam_exponent
    lam = table.step_law.algorithm.keep + table.step_law.algorithm.bootstrap
    draw = random.Random(alpha)
    for digits in range(1, 10):
        count = draw.randrange(64 ** (digits - 1) + 1, 64**digits)
        for e in (0.0, 1e-9):
            found = entries.decay(0.7, e, 0.0, count, mantissas, exponents)
            share = exactly(found[1]) / exactly(found[0])  # whatever the scale
            worst = (1 + U) ** (2 * digits) - 1
            assert share >= worst + exactly(e) / exactly(0.7) * (1 - 100 * U)
            assert share <= 6 * digits * U + 2 * exactly(e)
        if count < 3000:
            assert contains(
                entries.decay(0.7, 0.0, 0.0, count, mantissas, exponents), exactly(0.7) * lam**count
            )


def test_an_uncertain_sign_decays_to_a_hull_of_zero() -> None:
    numbers = EncodedLaw.of(lrsao()).numbers
    found = entries.decay(0.5, 1.0, 0.0, 2000, numbers.lam_mantissa, numbers.lam_exponent)
    assert found[2] == 0.0
    assert contains(found, fmpq(0))
    assert error(found) >= fmpq(3, 2) * fmpq(7, 25) ** 2000
    near = entries.decay(0.5, 1.0, 0.0, 3, numbers.lam_mantissa, numbers.lam_exponent)
    for x in (-0.5, 1.5):
        assert contains(near, exactly(x) * fmpq(7, 25) ** 3)


def random_entry(draw: random.Random, scales: tuple[int, ...] = (0, 0, 0, -1, -2)) -> Entry:
    scale = draw.choice(scales)
    if scale == 0 and draw.random() < 0.2:
        return 0.0, 0.0, 0.0
    size = 2.0 ** draw.choice(
        [
            draw.uniform(-3, 3),
            draw.uniform(-255, -246),
            draw.uniform(246, 255) if scale < 0 else 0.0,
        ]
    )
    v = draw.choice([-1, 1]) * size
    return v, size * draw.choice([1e-16, 1e-12, 0.3]), float(scale)


def inside(draw: random.Random, entry: Entry) -> fmpq:
    """Return a number that an entry may stand for; often an end of its bar."""
    share = draw.choice([fmpq(-1), fmpq(1), fmpq(draw.randrange(-100, 101), 100)])
    return value(entry) + share * error(entry)


def test_updates_cover_the_worst_rounding() -> None:
    draw = random.Random(3)
    table = EncodedLaw.of(lrsao())
    numbers, algorithm = table.numbers, table.step_law.algorithm
    keep, boot = algorithm.keep, algorithm.bootstrap
    for _ in range(4000):
        g = draw.randrange(len(table.gains))
        (v, e, s), (mv, me, ms) = x, y = random_entry(draw), random_entry(draw)
        found = entries.combine(numbers.keep, v, e, s, numbers.gains[g], numbers.boot, mv, me, ms)
        for _ in range(3):
            exact = keep * inside(draw, x) + table.gains[g] + boot * inside(draw, y)
            assert contains(found, exact)
        if s == ms == found[2] == 0:
            gain = abs(table.gains[g])
            a, b = abs(keep * value(x)), abs(boot * value(y))
            first = abs(keep * value(x) + table.gains[g])
            total = abs(keep * value(x) + table.gains[g] + boot * value(y))
            worst = (keep * error(x) + boot * error(y)) * (1 - 10 * U) + U * (
                2 * a + 2 * b + gain + first + total
            ) * (1 - 10 * U)
            assert error(found) >= worst
            assert error(found) <= fmpq(301, 100) * worst + fmpq(1, 2**900)


def test_updates_lose_neither_sign_nor_precision() -> None:
    """An exact 0 adds no error, at whichever scale the other number is."""
    numbers = EncodedLaw.of(lrsao()).numbers
    for scale in (-1.0, -7.0):
        for x, y in (
            ((1.5, 1e-17, scale), (0.0, 0.0, 0.0)),
            ((0.0, 0.0, 0.0), (1.5, 1e-17, scale)),
            ((1.5, 1e-17, scale), (1.5, 1e-17, scale - 3)),
        ):
            v, e, s = entries.combine(numbers.keep, *x, 0.0, numbers.boot, *y)
            assert s == scale
            assert 0 < e < 1e-14 * v
    v, e, s = entries.combine(numbers.keep, 1.5, 1e-17, -1.0, 0.0, 0.0, 9.0, 1e-17, 0.0)
    assert (s, e < 1e-14 * v) == (-1.0, True)  # nothing is bootstrapped


def test_normal_entries() -> None:
    tiny = 2.0**-250
    assert entries._normal(1.0, 2.0, -1.0) == (0.0, tiny, 0.0)
    assert entries._normal(1.0, 1.0, -1.0) == (0.0, tiny, 0.0)
    assert entries._normal(1.0, 2.0, 0.0) == (1.0, 2.0, 0.0)
    assert entries._normal(2.0**-257, 2.0**-300, 0.0) == (2.0**255, 2.0**212, -1.0)
    assert entries._normal(2.0**256, 1.0, -2.0) == (2.0**-256, 2.0**-512, -1.0)
    assert entries._normal(2.0**256, 1.0, 0.0) == (2.0**256, 1.0, 0.0)
    assert entries._normal(-(2.0**-256), 2.0**-300, 0.0) == (-(2.0**-256), 2.0**-300, 0.0)


# -- comparisons -----------------------------------------------------------------------------


def random_row(draw: random.Random, actions: int) -> tuple[np.ndarray, list[Entry]]:
    row = np.zeros(4 * actions)
    found: list[Entry] = []
    for a in range(actions):
        entry = random_entry(draw)
        if found and draw.random() < 0.3:
            entry = found[-1]
        found.append(entry)
        row[4 * a : 4 * a + 4] = *entry, 0.0 if entry[:2] == (0.0, 0.0) else entries.NONE
    return row, found


def test_comparisons_hold_for_all_numbers_inside_the_bars() -> None:
    draw = random.Random(8)
    seen: Counter[int] = Counter()
    for _ in range(6000):
        row, found = random_row(draw, 3)
        exact = [inside(draw, entry) for entry in found]
        for a in range(3):
            for b in range(3):
                order = int(entries.compare(row, 4 * a, 4 * b))
                seen[order] += 1
                if order != entries.UNKNOWN:
                    assert order == (exact[a] > exact[b]) - (exact[a] < exact[b]) or a == b
        mask, best, certain = entries.argmax(row, 0, 3)
        largest = max(exact)
        for a in range(3):
            assert exact[a] != largest or mask >> a & 1
        assert mask >> best & 1
        hull = entries.row_max(row, 0, 3, mask, best, certain)
        assert contains(hull[:3], largest)
        assert certain or hull[3] == entries.NONE
    assert min(seen[entries.LESS], seen[entries.GREATER], seen[entries.UNKNOWN]) > 2000


def test_hulls_enclose_the_largest_of_all_candidates() -> None:
    draw = random.Random(9)
    for _ in range(4000):
        row, found = random_row(draw, 3)
        mask = draw.randrange(1, 8)
        hull = entries._hull(row, 0, 3, mask)
        chosen = [entry for a, entry in enumerate(found) if mask >> a & 1]
        assert contains(hull, max(inside(draw, entry) for entry in chosen))
        if len(chosen) == 1 and chosen[0][2] == 0:
            allowed = error(chosen[0]) + abs(value(chosen[0])) * 20 * U
            assert error(hull) <= allowed * (1 + 1000 * U) + fmpq(1, 2**900)


def test_ties_are_shared_among_the_tied_only() -> None:
    q = np.arange(24, dtype=float)
    q[[7, 11, 15, 19, 23]] = entries.NONE
    q[3] = 5.0
    before = q.copy()
    updates.share_tag(q, 0, 3, 0b101)
    assert q[8:12].tolist() == before[0:4].tolist()
    assert q[4:8].tolist() == before[4:8].tolist()
    assert q[12:].tolist() == before[12:].tolist()
    again = before.copy()
    updates.share_tag(again, 12, 3, 0b111)  # nobody has a tag
    assert (again == before).all()


@pytest.mark.parametrize("lam", ["1/5", "7/25", "99/100", "1/100000"])
def test_safe_rejections_are_safe_and_not_timid(lam: str) -> None:
    """After so many, the lower end of the maximum still lies above all upper ends."""
    draw, factor = random.Random(lam), fmpq(*map(int, lam.split("/")))
    log_lam = math.log1p(float(-(factor.q - factor.p)) / float(factor.q))
    limited = 0
    for _ in range(600):
        row = np.zeros(12)
        best = draw.randrange(3)
        highs = []
        for a in range(3):
            scale = draw.choice([0, 0, -1])
            v = draw.choice([1, 1, -1]) * 2.0 ** draw.uniform(-40, -1)
            e = abs(v) * draw.choice([1e-16, 0.3, 0.9])
            if a == best:
                v, e, scale = 2.0 ** draw.uniform(0, 40), draw.choice([1e-16, 0.4]), 0
            row[4 * a : 4 * a + 4] = v, e, scale, entries.NONE
            if a != best and v + e > 0:
                highs.append((exactly(v) + exactly(e)) * fmpq(2) ** (512 * scale))
        safe = int(entries.safe_rejections(row, 0, 3, best, log_lam))
        low = exactly(row[4 * best]) - exactly(row[4 * best + 1])
        if not highs:
            assert safe == -1
            continue
        limited += 1
        assert safe >= 1
        if safe > 1:
            assert low * factor**safe > max(highs)
        room = math.log(float(low)) - max(
            math.log(float(h.p)) - math.log(float(h.q))
            if h.q < 2**1000
            else float(arb(h).log().mid())
            for h in highs
        )
        assert safe >= room / -log_lam * (1 - 1e-6) - 4
    assert limited > 100


def test_when_rejections_are_safe_for_ever() -> None:
    def safe(*rows: tuple[float, float, float, float], lam: float = 0.2) -> int:
        q = np.array(rows).ravel()
        return int(entries.safe_rejections(q, 0, len(rows), 0, math.log(lam)))

    none = entries.NONE
    assert safe((-1.0, 1e-16, 0.0, none), (-2.0, 1e-16, 0.0, none)) == -1
    assert safe((0.0, 0.0, 0.0, 0.0), (-2.0, 1e-16, 0.0, none)) == -1
    assert safe((1.0, 1e-16, 0.0, none), (-2.0, 1e-16, 0.0, none)) == -1
    assert safe((1.0, 1e-16, 0.0, none), (0.0, 0.0, 0.0, 0.0)) == -1
    assert safe((1e-20, 1e-16, 0.0, none), (-2.0, 1e-16, 0.0, none)) == 1
    assert safe((1.0, 1e-16, 0.0, none), (-1e-20, 1e-16, 0.0, none)) == 21  # log 1e16 / log 5 - 1
    assert safe((1.0, 1e-16, 0.0, none), (0.999, 1e-16, 0.0, none)) == 1
    assert safe((1.0, 1e-16, 0.0, none), (0.5, 1e-16, 0.0, none), lam=1.0) == -1


# -- exact decisions -------------------------------------------------------------------------


def test_balls_enclose_the_rationals_of_random_histories() -> None:
    encoded = EncodedLaw.of(lrsao())
    draw, history = random.Random(2), History(EncodedLaw.of(lrsao()))
    nodes = [0]
    for _ in range(60):
        kind = draw.choice(["decay", "learn", "learn", "max"])
        if kind == "decay":
            nodes.append(history._node("decay", draw.choice(nodes), draw.randrange(1, 9)))
        elif kind == "learn":
            nodes.append(
                history._node(
                    "learn",
                    draw.choice(nodes),
                    draw.randrange(len(encoded.gains)),
                    draw.choice(nodes),
                )
            )
        else:
            nodes.append(
                history._node(
                    "max", *sorted(draw.sample(sorted(set(nodes)), min(2, len(set(nodes)))))
                )
            )
    exact = history._rationals(set(nodes))
    algorithm = encoded.step_law.algorithm
    lam = algorithm.keep + algorithm.bootstrap
    for index in set(nodes) - {0}:
        kind, parts = history._nodes[index]
        first = exact[parts[0]]
        if kind == "decay":
            assert exact[index] == first * lam ** parts[1]
        elif kind == "learn":
            learnt = encoded.gains[parts[1]] + algorithm.bootstrap * exact[parts[2]]
            assert exact[index] == algorithm.keep * first + learnt
        else:
            assert exact[index] == max(exact[i] for i in parts)
    balls = history._balls(set(nodes), 128)
    ctx.prec = 400
    try:
        for index in set(nodes):
            assert (balls[index] - arb(exact[index])).contains(0)
            assert float(balls[index].rad()) < 1e-30
    finally:
        ctx.prec = 53


# -- streams --------------------------------------------------------------------


def test_counters_carry_over() -> None:
    """After 2^64 batches the second word of the counter counts on, as NumPy's does."""
    stream = np.full(philox.WORDS, 77, dtype=np.uint64)
    philox.start(stream, np.uint64(5), np.uint64(6), np.uint64(3), np.uint64(1))
    stream[philox._COUNTER] = np.uint64(2**64 - 3)
    ours = [int(philox.raw(stream)) for _ in range(40)]
    numpys = np.random.Philox(
        key=np.array([5, 6], dtype=np.uint64),
        counter=np.array([2**64 - 3, 0, 3, 1], dtype=np.uint64),
    ).random_raw(40)
    assert ours == numpys.tolist()
