"""Layouts of graphs: nothing overlaps, arrows begin and end at boxes, ranks are kept."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise

import pytest

from markov_lrsao.figures.layout import Arrow, Layout, Point, Size, layered, text_size

Graph = tuple[dict[str, Size], list[Arrow]]


def graph(seed: int) -> Graph:
    """A random graph with loops, twins, cycles and isolated nodes."""
    draw = random.Random(seed)
    names = [f"node {k}" for k in range(draw.randint(1, 9))]
    boxes = {name: (draw.uniform(2, 12), draw.uniform(1.5, 5)) for name in names}
    arrows = [
        Arrow(draw.choice(names), draw.choice(names), (draw.uniform(1, 9), draw.uniform(1, 3)))
        for _ in range(draw.randint(0, 2 * len(names)))
    ]
    return boxes, arrows


def overlaps(boxes: dict[str, Size], arrows: list[Arrow], found: Layout) -> list[tuple[int, int]]:
    """Pairs of boxes, of nodes and of labels, that lie on each other."""
    every = [(*found.middle[name], *size) for name, size in boxes.items()]
    every += [(*c.at, *a.label) for a, c in zip(arrows, found.curves, strict=True)]
    return [
        (i, j)
        for j, (x, y, w, h) in enumerate(every)
        for i, (x2, y2, w2, h2) in enumerate(every[:j])
        if abs(x - x2) < (w + w2) / 2 - 1e-6 and abs(y - y2) < (h + h2) / 2 - 1e-6
    ]


@pytest.mark.parametrize("seed", range(25))
def test_nothing_lies_on_anything_else(seed: int) -> None:
    boxes, arrows = graph(seed)
    found = layered(boxes, arrows)
    assert overlaps(boxes, arrows, found) == []
    for arrow, curve in zip(arrows, found.curves, strict=True):
        assert len(curve.path) % 3 == 1
        for name, (x, y) in ((arrow.source, curve.path[0]), (arrow.target, curve.path[-1])):
            (mx, my), (w, h) = found.middle[name], boxes[name]
            on_side = abs(abs(x - mx) - w / 2) < 1e-6 and abs(y - my) <= h / 2
            on_top = abs(abs(y - my) - h / 2) < 1e-6 and abs(x - mx) <= w / 2
            assert on_side or (on_top and arrow.source == arrow.target)


def along(path: tuple[Point, ...]) -> Iterator[Point]:
    """Points of a path of cubic Bezier curves."""
    for k in range(0, len(path) - 1, 3):
        for t in (i / 40 for i in range(41)):
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            x, y = (
                sum(w * p[axis] for w, p in zip(weights, path[k : k + 4], strict=True))
                for axis in (0, 1)
            )
            yield x, y


def met(boxes: dict[str, Size], arrows: list[Arrow], found: Layout) -> list[tuple[int, str]]:
    """Arrows that pass through a box, or through the label of another arrow."""
    every = [(name, *found.middle[name], *size) for name, size in boxes.items()]
    every += [
        (f"label {j}", *c.at, *a.label)
        for j, (a, c) in enumerate(zip(arrows, found.curves, strict=True))
    ]
    return [
        (k, name)
        for k, (arrow, curve) in enumerate(zip(arrows, found.curves, strict=True))
        if arrow.source != arrow.target
        for name, mx, my, w, h in every
        if name != f"label {k}"
        and any(
            abs(x - mx) < w / 2 - 1e-6 and abs(y - my) < h / 2 - 1e-6 for x, y in along(curve.path)
        )
    ]


@pytest.mark.parametrize("seed", range(25))
def test_arrows_pass_neither_boxes_nor_labels_of_others(seed: int) -> None:
    boxes, arrows = graph(seed)
    assert met(boxes, arrows, layered(boxes, arrows)) == []


def test_the_test_of_overlaps_sees_one() -> None:
    boxes = {"a": (2.0, 2.0), "b": (2.0, 2.0)}
    found = Layout({"a": (0, 0), "b": (1, 1)}, ())
    assert overlaps(boxes, [], found) == [(0, 1)]


def test_arrows_lead_to_the_right_but_for_those_that_close_a_cycle() -> None:
    boxes = dict.fromkeys("abcd", (3.0, 2.0))
    arrows = [Arrow(a, b, (2.0, 1.0)) for a, b in ("ab", "bc", "cd", "da", "ad")]
    middle = layered(boxes, arrows).middle
    assert [name for name, _ in sorted(middle.items(), key=lambda pair: pair[1][0])] == list("abcd")


def test_ranks_are_as_short_as_they_can_be() -> None:
    """A node that hangs on the end of a chain stands just before it, not at the beginning."""
    boxes = dict.fromkeys("abcde", (3.0, 2.0))
    arrows = [Arrow(a, b, (2.0, 1.0)) for a, b in ("ab", "bc", "cd", "ed")]
    middle = layered(boxes, arrows).middle
    assert middle["e"][0] == middle["c"][0]


def test_given_ranks_are_columns() -> None:
    boxes = dict.fromkeys("abc", (3.0, 2.0))
    arrows = [Arrow("a", "b", (2.0, 1.0)), Arrow("b", "c", (2.0, 1.0)), Arrow("c", "a", (2.0, 1.0))]
    found = layered(boxes, arrows, {"a": 0, "b": 2, "c": 1})
    assert found.middle["a"][0] < found.middle["c"][0] < found.middle["b"][0]
    back = found.curves[1]  # from b, on the right, to c
    assert back.path[0][0] > back.path[-1][0]
    with pytest.raises(ValueError, match="within a rank"):
        layered(boxes, arrows, {"a": 0, "b": 0, "c": 1})


def test_a_graph_that_can_be_drawn_without_crossings_is() -> None:
    """A complete binary tree, its nodes given in a mixed order."""
    names = [f"{k}" for k in range(1, 16)]
    arrows = [Arrow(f"{k // 2}", f"{k}", (1.0, 1.0)) for k in range(2, 16)]
    random.Random(5).shuffle(arrows)
    middle = layered(dict.fromkeys(names, (2.0, 1.5)), arrows).middle
    for level in ((2, 3), (4, 5, 6, 7), tuple(range(8, 16))):
        heights = sorted(level, key=lambda k: middle[f"{k}"][1])
        parents = [middle[f"{k // 2}"][1] for k in heights]
        assert all(a <= b + 1e-6 for a, b in pairwise(parents))


def test_the_same_graph_has_the_same_layout() -> None:
    boxes, arrows = graph(3)
    assert layered(boxes, arrows) == layered(boxes, arrows)


def test_sizes_of_texts() -> None:
    assert text_size("ab\nabcd")[0] == text_size("abcd")[0]
    assert text_size("a\nb")[1] == 2 * text_size("a")[1]
