"""Figures are compared with their data: the data with the engine, the drawings with the data."""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from scipy.stats import binom

from markov_lrsao import Algorithm, Landscape, Parameters, runtime
from markov_lrsao.answers.curves import SCHEDULES, ell_of
from markov_lrsao.answers.distribution import distribution
from markov_lrsao.exact.rationals import harmonic_difference, rational, to_float
from markov_lrsao.figures import FIGURES, FigureData, Series, Settings
from markov_lrsao.figures.base import Axis
from markov_lrsao.figures.canvas import draw, pictures
from markov_lrsao.figures.laws import _LAST_RUNS, _times
from markov_lrsao.figures.layout import text_size
from markov_lrsao.model.landscape import JUMP
from markov_lrsao.progress import no_progress
from simulate.runs.runner import simulate
from simulate.runs.samples import Arithmetic
from simulate.statistics.estimates import expected_running_time

pytestmark = pytest.mark.slow  # a minute and more together

NAMES = list(FIGURES)
RUNTIMES = [n for n in NAMES if n.startswith("runtime-")]
GRAPHS = [n for n in NAMES if n.startswith(("transitions-", "site-", "right-"))]
MAPS = ["regime-map"]
CHARTS = [n for n in NAMES if n not in (*GRAPHS, *MAPS)]


@cache
def exact(n: int, ell: int) -> Any:
    return runtime(Landscape.jump(n, ell), Algorithm.lrsao(Parameters.paper(n)), field="exact")


def series(data: FigureData, name: str) -> Series:
    (found,) = [s for s in data.series if s.name.startswith(name)]
    return found


def floats(values: Any) -> Any:
    return np.array([np.nan if v is None else v for v in values or ()])


def test_every_figure_is_there() -> None:
    assert set(GRAPHS) | set(CHARTS) | set(MAPS) == set(NAMES)
    assert len(RUNTIMES) == 8
    assert {
        "objectives",
        "earl-2",
        "earl-2-log",
        "earl-half",
        "earl-half-log",
        "float64",
        "profile-steps",
        "distribution",
        "right-plateau",
        "plateaus-growth",
        "plateaus-regions",
    } <= set(NAMES)


@pytest.mark.parametrize("name", RUNTIMES)
def test_curves_pass_through_the_exact_values(made: dict[str, FigureData], name: str) -> None:
    data, schedule = made[name], name.split("-")[1]
    curve = series(data, "E[T], exact")
    simulated = [20, 60] if name.endswith("10000") else [20, 40]
    steps = {"cbrt": (26, 27), "sqrt": (24, 25, 35, 36, 48, 49)}.get(schedule, ())
    chosen = (16, 25, 40, *steps)
    assert curve.x == sorted({*simulated, *(n for n in chosen if n <= simulated[-1])})
    assert series(data, "simulated mean").x == simulated
    lower = series(data, "n H_n")
    assert [data.notes["ell"][i] for i in range(len(curve.x))] == [
        ell_of(schedule, int(n or 0)) for n in curve.x
    ]
    for n, value, bound in zip(curve.x, curve.y, lower.y, strict=True):
        size = int(n or 0)
        truth = exact(size, ell_of(schedule, size)).total.value
        assert value == pytest.approx(to_float(truth), rel=1e-12)
        assert bound == pytest.approx(to_float(size * harmonic_difference(0, size)), rel=1e-12)


def test_the_paper_s_terms_are_those_of_its_statements(made: dict[str, FigureData]) -> None:
    data = made["runtime-sqrt-1000"]
    order = series(data, "Theorem 1")
    for n, value in zip(order.x, order.y, strict=True):
        ell = ell_of("sqrt", int(n or 0))
        assert value == pytest.approx(n**2 / ell**2 + n * np.log(n), rel=1e-12)  # type: ignore
    assert "n^2/l^2 + n log n" in data.notes["statement"]
    phases = made["phase-bounds"]
    for k, text in enumerate(("E[T1], exact", "E[T2], exact", "E[T3], exact")):
        line = series(phases, text)
        truth = [
            to_float(exact(int(n or 0), ell_of("sqrt", int(n or 0))).phases[k].value)
            for n in line.x
        ]
        assert line.y == pytest.approx(truth, rel=1e-12)


def test_bars_contain_the_exact_mean_at_the_stated_rate(small: Settings) -> None:
    """240 bars at 95%: the number of hits is binomial but for the Student approximation."""
    hits = total = 0
    for seed in range(80):
        settings = replace(small, seed=seed, runs=400, small=(20, 40, 10))
        data = FIGURES["runtime-half-1000"].compute(settings, no_progress)
        mean, curve = data.series[1], series(data, "E[T], exact")
        assert mean.low is not None
        assert mean.high is not None
        truth = dict(zip(curve.x, curve.y, strict=True))
        inside = [
            low <= truth[n] <= high  # type: ignore[operator]
            for n, low, high in zip(mean.x, mean.low, mean.high, strict=True)
        ]
        hits, total = hits + sum(inside), total + len(inside)
        assert data.notes["bars_with_the_exact_mean"] == f"{sum(inside)} of {len(inside)}"
        assert f"{sum(inside)} of {len(inside)} hold E[T]" in data.caption
    law = binom(total, small.level)
    assert law.ppf(1e-4) <= hits <= law.ppf(1 - 1e-4)


def test_simulated_points_are_the_runs_of_the_seed(
    made: dict[str, FigureData], small: Settings
) -> None:
    points = series(made["runtime-2-1000"], "simulated mean")
    for n, mean in zip(points.x, points.y, strict=True):
        law = exact_law(int(n or 0), 2, Algorithm.lrsao(Parameters.paper(int(n or 0))))
        runs = simulate(law, runs=small.runs, seed=small.seed, path=(int(n or 0), 2))
        assert mean == pytest.approx(runs.times.mean(), rel=1e-12)


def exact_law(n: int, ell: int, algorithm: Algorithm) -> Any:
    from markov_lrsao import StepLaw

    return StepLaw.of(Landscape.jump(n, ell), algorithm)


def test_earl_is_counted_as_ert_at_the_stated_budget(
    made: dict[str, FigureData], small: Settings
) -> None:
    data = made["earl-2-log"]
    assert (data.notes["earl_alpha"], data.notes["earl_gamma"]) == ("4/5", "99/100")
    plain, again = (series(data, f"EA+RL, ERT, {word}") for word in ("budget", "restart"))
    for i, size in enumerate(plain.x):
        n = int(size or 0)
        limit, restart = data.notes["budget"][i], data.notes["restart_length"][i]
        assert limit == 10 * n * n
        assert restart == -(-4 * n * harmonic_difference(0, n)).floor()
        for found, every in ((plain, None), (again, restart)):
            runs = simulate(
                exact_law(n, 2, Algorithm.earl("4/5", "99/100")),
                limit=limit,
                restart=every,
                runs=small.earl_runs,
                seed=small.seed,
                path=(n, 2),
            )
            assert found.y[i] == pytest.approx(expected_running_time(runs.steps, runs.censored))
            rates = "success_rate" + ("_with_restarts" if every else "")
            assert data.notes[rates][i] == (~runs.censored).mean()
    assert min(data.notes["success_rate"]) < 1, "these runs should not all end"
    assert (data.y.scale, made["earl-2"].y.scale) == ("log", "linear")
    assert [s.y for s in made["earl-2"].series] == [
        s.y for s in data.series if s is not plain
    ]  # which a linear axis has no room for


def test_float64_is_another_algorithm(made: dict[str, FigureData], small: Settings) -> None:
    data = made["float64"]
    law = exact_law(1000, 2, Algorithm.lrsao(Parameters.paper(1000)))
    kinds: dict[str, Arithmetic] = {
        "simulated, true": "exact",
        "simulated, plain float64": "float64",
    }
    for text, arithmetic in kinds.items():
        runs = simulate(
            law, runs=small.float_runs, seed=small.seed, path=(1000, 2), arithmetic=arithmetic
        )
        assert series(data, text).y[1] == pytest.approx(runs.times.mean())
    assert series(data, "simulated, true").y != series(data, "simulated, plain float64").y
    ratio = series(made["float64-ratio"], "simulated, plain float64").y[1]
    mean = floats(series(data, "simulated, plain").y)[1]
    line = series(data, "E[T]")
    assert ratio == pytest.approx(mean / line.y[line.x.index(1000)])


def test_profiles_add_up_to_the_exact_runtime(made: dict[str, FigureData]) -> None:
    for line in made["profile-steps"].series:
        ell = int(line.name.removeprefix("l = "))
        assert line.exact is not None
        parts = [rational(text) for text in line.exact]
        assert sum(parts, fmpq(0)) == exact(20, ell).total.value
        assert line.y == [to_float(part) for part in parts]


def test_distributions_agree_with_the_other_method(made: dict[str, FigureData]) -> None:
    """At this size the figure uses powers of the joint chain; hold it against the inversion."""
    data = made["distribution"]
    for schedule in ("2", "sqrt", "half"):
        ell = ell_of(schedule, 13)
        law = distribution(
            Landscape.jump(13, ell), Algorithm.lrsao(Parameters.paper(13)), method="inversion"
        )
        lines = [s for s in data.series if s.name == f"l = {ell}, exact"]
        assert lines
        for line in lines:
            assert line.y == pytest.approx(law.cdf(np.array(line.x, np.int64)), abs=1e-7)
        notes = data.notes[f"l = {ell}"]
        assert notes["quantiles"] == {
            f"{q:g}": law.quantile(q) for q in (0.05, 0.25, 0.5, 0.75, 0.95)
        }


@pytest.mark.parametrize(("runs", "late"), [(300, 0.004), (2000, 0.006)])
def test_steps_of_the_ecdf_are_where_runs_end(runs: int, late: float) -> None:
    """Steps at evenly spaced times only would be late: the runs would look slower than the law."""
    law = distribution(Landscape.jump(60, 2))
    ended = np.sort(simulate(Landscape.jump(60, 2), runs=runs, seed=1).times)
    times = _times(law, ended)
    assert (np.diff(times) > 0).all()

    def missing(drawn: Any) -> Any:
        """How many steps the last time drawn before each end of a run leaves out."""
        inside = ended[(times[0] <= ended) & (ended <= times[-1])]
        last = drawn[np.searchsorted(drawn, inside, "right") - 1]
        return np.searchsorted(ended, inside, "right") - np.searchsorted(ended, last, "right")

    assert missing(times).max() / runs <= late
    assert missing(times)[-_LAST_RUNS:].max() == 0
    even = np.geomspace(times[0], times[-1], 160).astype(np.int64)
    assert missing(even).max() / runs > 2 * late


def test_bands_of_the_ecdf_contain_the_exact_function(small: Settings) -> None:
    """The band holds at all times at once with at least the stated probability."""
    hits = total = 0
    for seed in range(40):
        data = FIGURES["distribution"].compute(replace(small, seed=seed), no_progress)
        for ell in (2, 3, 4):
            notes = data.notes[f"l = {ell}"]
            hits, total = hits + (notes["largest_distance"] <= notes["band"]), total + 1
    assert hits >= binom(total, small.level).ppf(1e-4)


def test_quantiles_over_n(made: dict[str, FigureData]) -> None:
    data = made["quantiles"]
    median, mean = series(data, "median"), series(data, "E[T]")
    for i, size in enumerate(median.x):
        n = int(size or 0)
        law = distribution(Landscape.jump(n, 2), Algorithm.lrsao(Parameters.paper(n)))
        assert law.cdf(int(median.y[i] or 0)) >= 0.5 > law.cdf(int(median.y[i] or 0) - 1)
        assert mean.y[i] == pytest.approx(to_float(exact(n, 2).total.value), rel=1e-12)


def test_objectives_are_those_of_the_landscape(made: dict[str, FigureData]) -> None:
    n, ell = 30, 5
    jump = [p if ell < p < n - ell or p == n else 0 for p in range(n + 1)]
    left = [p if p <= ell + 1 else 0 for p in range(n + 1)]
    right = [p if p >= n - ell - 1 else 0 for p in range(n + 1)]
    assert [s.y for s in made["objectives"].series] == [left, jump, right]


def outgoing(data: FigureData) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = defaultdict(list)
    for e in data.edges:
        found[e["source"]].append(e)
    return found


@pytest.mark.parametrize("name", GRAPHS)
def test_probabilities_of_every_node_add_up_to_one(made: dict[str, FigureData], name: str) -> None:
    data = made[name]
    nodes = {n["id"]: n for n in data.nodes}
    assert len(nodes) == len(data.nodes)
    found = outgoing(data)
    assert set(found) == {i for i, n in nodes.items() if not n.get("end")}
    for edges in found.values():
        assert sum((rational(e["probability"]) for e in edges), fmpq(0)) == 1
        assert {e["target"] for e in edges} <= set(nodes)


def test_the_paper_s_diagram_at_position_one(made: dict[str, FigureData]) -> None:
    """After x+ at 0: L- stays and y- falls with 1/(2n) each, L+ or y+ climb with 2(n-1)/(2n)."""
    data, n = made["transitions-start"], 14
    labels = {node["id"]: node["label"].split("\n") for node in data.nodes}
    found = outgoing(data)
    for row, y in (("0=L=R>J", "R"), ("0=L=J>R", "J")):
        (source,) = [
            i for i, (p, shown) in ((i, x) for i, x in labels.items()) if (p, shown) == ("1", row)
        ]
        by_event = {e["label"].split("\n")[0]: e for e in found[source]}
        assert set(by_event) == {"L-", f"{y}-", "L+", f"{y}+"}
        assert rational(by_event["L-"]["probability"]) == fmpq(1, 2 * n)
        assert by_event["L-"]["target"] == source
        assert rational(by_event[f"{y}-"]["probability"]) == fmpq(1, 2 * n)
        assert labels[by_event[f"{y}-"]["target"]][0] == "0"
        up = [by_event["L+"], by_event[f"{y}+"]]
        assert sum((rational(e["probability"]) for e in up), fmpq(0)) == fmpq(n - 1, n)
        assert by_event[f"{y}+"]["label"].endswith("(n-1)/(2n)")


def test_a_learnt_plateau_is_climbed_like_the_paper_s_diagram(made: dict[str, FigureData]) -> None:
    data = made["transitions-plateau"]
    climbs = [e for e in data.edges if e["moved"] == 1]
    assert {e["moved"] for e in data.edges} == {0, 1}
    assert {e["source"] for e in climbs} == {
        "L1",
        "L2",
        "L3",
        "L4",
        "L5",
        "R26",
        "R27",
        "R28",
        "R29",
    }
    for e in climbs:
        assert rational(e["probability"]) == fmpq(30 - int(e["source"][1:]), 30)


@pytest.mark.parametrize("name", [n for n in NAMES if n.startswith("site-")])
def test_a_drawn_site_crosses_as_the_whole_automaton_does(
    made: dict[str, FigureData], name: str
) -> None:
    """From the drawn classes: the law of where the site is left the first and second time.

    It is compared with the automaton that is not merged; labels hold for n and p in general.
    """
    from markov_lrsao.figures.model import paper_automata

    data, n = made[name], 14
    p = data.notes["position"]
    automata = paper_automata(n, 2)

    def drawn_steps(state: str) -> list[tuple[fmpq, int, str]]:
        return [
            (rational(e["probability"]), e["moved"], e["target"])
            for e in data.edges
            if e["source"] == state
        ]

    def steps(pattern: int) -> list[tuple[fmpq, int, int]]:
        return [
            (automata.law.probability(share, p), moved, to)
            for (moved, to), share in automata.outcomes_at(p, pattern).items()
        ]

    assert walks(drawn_steps, "0", 6) == walks(steps, 0, 6)
    for e in data.edges:
        formula = re.sub(r"(?<=[\dnp)])(?=[np(])", "*", e["label"].split("\n")[1])  # 3n: 3*n
        value = eval(formula, {"n": fmpq(n), "p": fmpq(p)})  # written by the code under test
        assert value == rational(e["probability"]), e["label"]


def walks(steps: Any, start: Any, count: int) -> dict[tuple[int, ...], fmpq]:
    """The law of the first moves of a site, given by what it does in a state."""
    law: dict[tuple[int, ...], fmpq] = defaultdict(fmpq)
    now: dict[tuple[tuple[int, ...], Any], fmpq] = {((), start): fmpq(1)}
    for _ in range(count):
        after: dict[tuple[tuple[int, ...], Any], fmpq] = defaultdict(fmpq)
        for (moves, state), weight in now.items():
            for probability, moved, to in steps(state):
                after[(*moves, moved), to] += weight * probability
        now = after
    for (moves, _), weight in now.items():
        law[moves] += weight
    return dict(law)


def test_stages_of_row_zero_add_up_to_phase_three(made: dict[str, FigureData]) -> None:
    """Exactly: their steps to E[T3], and shares are those of the arrows that lead there."""
    data = made["right-plateau"]
    stages = data.notes["stages"]
    total = sum((rational(s["steps"]) for s in stages.values()), fmpq(0))
    assert total == exact(14, 2).phases[2].value
    reached = {name: rational(s["probability"]) for name, s in stages.items()}
    assert reached["optimum"] == 1
    starts = [n["id"] for n in data.nodes if n.get("start")]
    arrived: dict[str, fmpq] = defaultdict(fmpq)
    for e in data.edges:
        arrived[e["target"]] += reached[e["source"]] * rational(e["probability"])
    assert sum((reached[name] for name in starts), fmpq(0)) == 1
    assert all(arrived[name] == share for name, share in reached.items() if name not in starts)
    assert all(arrived[name] == 0 for name in starts)


def orders_of_row_zero(n: int, ell: int, seed: int) -> set[str]:
    """Play one run by the paper's rules; return the orders of row 0 from the first hit of n-l on.

    Written here from the paper alone. Orders in which R leads are left out.
    """
    draw = random.Random(seed)
    alpha, gamma = Fraction(4, 5), Fraction(1, n + 1)
    r = n * (1 / (alpha * (1 - gamma)) - 1)

    def value(objective: str, p: int) -> int:
        inside = {
            "L": p <= ell + 1,
            "J": ell < p < n - ell or p == n,
            "R": p >= n - ell - 1,
        }[objective]
        return p if inside else 0

    q: dict[tuple[int, str], Fraction] = defaultdict(Fraction)
    p, late, found = 0, False, set()
    while p < n:
        late = late or p == n - ell
        row = {a: q[0, a] for a in "LJR"}
        if late and [a for a in "LJR" if row[a] == max(row.values())] != ["R"]:
            levels = sorted({*row.values(), Fraction(0)}, reverse=True)
            words = [("0",) * (v == 0) + tuple(a for a in "LJR" if row[a] == v) for v in levels]
            found.add(">".join("=".join(names) for names in words))
        s = value("J", p)
        best = max(q[s, a] for a in "LJR")
        chosen = draw.choice([a for a in "LJR" if q[s, a] == best])
        to = p - 1 if draw.randrange(n) < p else p + 1
        gain = value(chosen, to) - value(chosen, p)
        reward = Fraction(0)
        if gain >= 0:
            p, reward = to, Fraction(gain) if gain else -r
        after = max(q[value("J", p), a] for a in "LJR")
        q[s, chosen] = (1 - alpha) * q[s, chosen] + alpha * (reward + gamma * after)
    return found


def test_shares_of_stages_agree_with_runs(made: dict[str, FigureData]) -> None:
    stages, runs = made["right-plateau"].notes["stages"], 600
    seen = Counter(name for k in range(runs) for name in orders_of_row_zero(14, 2, k))
    expected = {n: s for n, s in stages.items() if n not in ("optimum", "R leads")}
    assert set(seen) <= set(expected)
    for name, stage in expected.items():
        chance = binom(runs, to_float(rational(stage["probability"])))
        assert chance.ppf(1e-5) <= seen[name] <= chance.ppf(1 - 1e-5), name


def drawn(data: FigureData) -> tuple[Any, dict[str, Any]]:
    from matplotlib.figure import Figure

    canvas = Figure(layout="constrained")
    draw(data, canvas)
    return canvas, {str(a.get_gid()): a for a in canvas.findobj() if a.get_gid()}


@pytest.mark.parametrize("name", CHARTS)
def test_drawn_lines_carry_the_data(made: dict[str, FigureData], name: str) -> None:
    data = FigureData.from_dict(json.loads(made[name].to_json()))
    assert data.to_dict() == made[name].to_dict()
    canvas, artists = drawn(data)
    for k, s in enumerate(data.series):
        artist = artists[f"series-{k}"]
        if s.kind == "band":
            corners = np.concatenate([p.vertices for p in artist.get_paths()])
            for x, low, high in zip(*map(floats, (s.x, s.low, s.high)), strict=True):
                for y in (low, high):
                    assert np.isclose(corners, [x, y], rtol=1e-12).all(axis=1).any()
        else:
            np.testing.assert_array_equal(artist.get_xdata(), floats(s.x))
            np.testing.assert_array_equal(artist.get_ydata(), floats(s.y))
        assert artist.axes is canvas.axes[s.panel]
    assert canvas.axes[-1].get_xscale() == data.x.scale
    assert canvas.axes[0].get_yscale() == data.y.scale


@pytest.mark.parametrize("name", GRAPHS)
def test_drawn_graphs_carry_the_data(made: dict[str, FigureData], name: str) -> None:
    data = made[name]
    _, artists = drawn(data)
    for node in data.nodes:
        text = artists[f"node-{node['id']}"]
        assert (text.get_text(), *text.get_position()) == (node["label"], node["x"], node["y"])
    for k, e in enumerate(data.edges):
        drawn_path = artists[f"edge-{k}"].get_path().vertices
        assert drawn_path[:-1].tolist() == e["path"][:-1]


@pytest.mark.parametrize("name", GRAPHS)
def test_nothing_lies_on_anything_else(made: dict[str, FigureData], name: str) -> None:
    """Boxes of nodes and of labels are apart, and every arrow goes from node to node."""
    data = made[name]
    boxes = [(n["x"], n["y"], n["width"], n["height"]) for n in data.nodes]
    boxes += [(*e["at"], *text_size(e["label"])) for e in data.edges]
    for k, (x, y, width, height) in enumerate(boxes):
        for x2, y2, width2, height2 in boxes[:k]:
            apart_x = abs(x - x2) >= (width + width2) / 2 - 1e-6
            assert apart_x or abs(y - y2) >= (height + height2) / 2 - 1e-6
    at = {n["id"]: n for n in data.nodes}
    for e in data.edges:
        for end, point in ((at[e["source"]], e["path"][0]), (at[e["target"]], e["path"][-1])):
            assert abs(point[0] - end["x"]) <= end["width"] / 2 + 2e-3
            assert abs(point[1] - end["y"]) <= end["height"] / 2 + 2e-3


@pytest.mark.parametrize("name", CHARTS)
def test_series_differ_without_colour(made: dict[str, FigureData], name: str) -> None:
    looks = [
        (s.panel, s.kind, s.style, s.marker)
        for s in made[name].series
        if s.kind in ("line", "points")
    ]
    assert len(set(looks)) == len(looks)


@pytest.mark.parametrize("name", NAMES)
def test_csv_has_every_point(made: dict[str, FigureData], name: str) -> None:
    data = made[name]
    rows = list(csv.reader(io.StringIO(data.to_csv())))[1:]
    expected = {
        "graph": len(data.edges),
        "chart": sum(len(s.x) for s in data.series),
        "map": sum(map(len, (data.grid or {}).get("values", ()))),
    }[data.kind]
    assert len(rows) == expected > 0


def test_pictures_are_reproducible_and_labelled(made: dict[str, FigureData]) -> None:
    first, second = pictures(made["runtime-2-1000"]), pictures(made["runtime-2-1000"])
    assert first == second
    assert first["png"].startswith(b"\x89PNG")
    assert made["runtime-2-1000"].command in first["svg"].decode().replace("&#x27;", "'")


@pytest.mark.parametrize("name", NAMES)
def test_pictures_say_what_they_are_of(made: dict[str, FigureData], name: str) -> None:
    """Hyper-parameters, runs and level stand in the picture, not only in its data."""
    data = made[name]
    _, artists = drawn(data)
    below = [gid for gid in artists if re.fullmatch(r"(caption|setting|command)-\d+", gid)]
    words = {
        kind: " ".join(artists[gid].get_text() for gid in below if gid.startswith(kind))
        for kind in ("caption", "setting", "command")
    }
    assert words["caption"] == data.caption
    assert words["setting"] == data.setting
    assert words["command"].startswith(data.command)
    for symbol in ("alpha", "gamma", "r", "n", "l"):
        assert re.search(rf"\b{symbol}\b", data.setting), symbol
    assert re.search(r"n = [\d,]+", data.setting)
    sampled = [n for n in (data.notes, *data.notes.values()) if isinstance(n, dict) and "runs" in n]
    assert ("exact, no runs" in data.setting) == (not sampled) or name == "objectives"
    for notes in sampled:
        assert f"{notes['runs']:,} runs" in data.setting
        assert f"seed {notes['seed']}" in data.setting
        banded = any(s.low is not None for s in data.series)
        assert (f"bands and bars {100 * notes.get('confidence', 0):g}%" in data.setting) == banded
    if name.startswith("earl"):
        assert "EA+RL: alpha = 4/5, gamma = 99/100" in data.setting


def test_the_words_of_a_picture_fit_its_width(made: dict[str, FigureData]) -> None:
    for name in NAMES:
        canvas, artists = pictured(made[name])
        width = canvas.get_size_inches()[0] * canvas.dpi
        renderer = canvas.canvas.get_renderer()
        for gid, artist in artists.items():
            if re.fullmatch(r"(caption|setting|command)-\d+", gid):
                assert artist.get_window_extent(renderer).x1 <= width, (name, artist.get_text())
        if legend := canvas.axes[0].get_legend():
            drawn_at = legend.get_window_extent(renderer)
            assert 0 <= drawn_at.x0 < drawn_at.x1 <= width, name
        for words in canvas.axes[0].texts if name in GRAPHS else ():
            taken = words.get_window_extent(renderer)
            assert 0 <= taken.x0 < taken.x1 <= width, (name, words.get_text())


def pictured(data: FigureData) -> tuple[Any, dict[str, Any]]:
    """Draw a figure at its own size."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from markov_lrsao.figures.canvas import picture_size

    canvas = Figure(figsize=picture_size(data))
    FigureCanvasAgg(canvas)
    draw(data, canvas)
    return canvas, {str(a.get_gid()): a for a in canvas.findobj() if a.get_gid()}


def test_times_on_many_plateaus_add_up(made: dict[str, FigureData]) -> None:
    growth, regions = made["plateaus-growth"], made["plateaus-regions"]
    truth = runtime(Landscape.regions(30, (5, 5)), method="crossing").total
    for bridges in ("own", "shared"):
        curve = series(growth, f"2 plateaus, {bridges}")
        assert curve.x == list(range(30, 41))
        assert curve.exact[0] == str(truth)  # type: ignore[index]
    for count in (3, 4, 5):
        for bridges in ("own", "shared"):
            name = f"{count} plateaus, {bridges}"
            over_n, parts = series(growth, name), series(regions, name)
            assert over_n.x == [30, 40]
            assert len(parts.x) == 2 * count - 1
            assert sum(floats(parts.y)) == pytest.approx(over_n.y[1])
            path = (30, count, int(bridges == "shared"))
            again = simulate(
                Landscape.regions(30, (5,) * count, bridges), runs=60, seed=7, path=path
            )
            assert over_n.y[0] == pytest.approx(float(again.times.mean()))
            ((exponent, error),) = growth.notes[f"exponents of E[T], {name}"]
            rises = np.log(floats(over_n.y)[1] / floats(over_n.y)[0]) / np.log(4 / 3)
            assert exponent == pytest.approx(rises, abs=1e-4)
            assert error > 0


@pytest.mark.parametrize("settings", [Settings.full(), Settings.quick()])
def test_curves_have_a_hundred_values_of_n_also_in_quick_mode(settings: Settings) -> None:
    from markov_lrsao.figures.sampling import curve_sizes, grid, spaced

    for schedule, span in product(SCHEDULES, (settings.small, settings.large)):
        sizes = grid(span)
        ns = curve_sizes(settings, sizes[-1], sizes, schedule)
        assert len(ns) >= 100
        assert max(b / a for a, b in pairwise(ns)) < 1.08  # a chord of n^2 is off by 0.15% then
        assert set(sizes) <= set(ns)
        assert all(ell_of(schedule, n) in valid(n) for n in ns)
        if schedule == "half":
            continue
        # where l grows there is a step and no chord, unless it is below a tenth of n^2/l^2
        for a, b in pairwise(ns):
            ells = ell_of(schedule, a), ell_of(schedule, b)
            assert ells[0] == ells[1] or b == a + 1 or ells[0] >= 20
    assert len(spaced(settings.quantile_n)) >= 100


def valid(n: int) -> range:
    low, high = JUMP.ell_range(n) or (1, 0)
    return range(low, high + 1)


def test_a_map_names_its_hatches_and_writes_its_values() -> None:
    data = FigureData(
        name="map",
        title="",
        caption="",
        kind="map",
        grid={
            "x": [1, 2, 3],
            "y": [0, 1],
            "values": [[1.5, 1.5, None], [2.5, 2.5, 2.6]],
            "exact": [[True, True, True], [True, True, False]],
            "infinite": [[False, False, True], [False, False, False]],
            "regimes": [["1", "1", "inf"], ["2", "2", "-"]],
        },
    )
    canvas, artists = drawn(data)
    texts = [a.get_text() for gid, a in artists.items() if gid.startswith("cell-value-")]
    assert texts == ["1.5", "2.5"]
    named = [text.get_text() for text in canvas.axes[0].get_legend().get_texts()]
    assert named == ["enclosed: the colour is that of the middle", "infinite"]


def test_a_map_is_drawn_from_its_grid() -> None:
    """Missing values leave gaps; the regime map's own numbers are tested with the map."""
    values = [[1.0, 2.0, None], [3.0, 4.0, 5.0]]
    data = FigureData(
        name="map",
        title="",
        caption="",
        command="c",
        kind="map",
        settings={},
        x=Axis("x", "log"),
        y=Axis("y"),
        grid={
            "x": [1, 10, 100],
            "y": [0, 1],
            "values": values,
            "exact": [[True, False, True], [True, True, True]],
            "borders": [{"name": "b", "condition": "y = 1/2", "x": [1, 100], "y": [0.5, 0.5]}],
        },
    )
    _, artists = drawn(data)
    np.testing.assert_array_equal(  # colours are in the order of the values
        artists["grid"].get_array().filled(np.nan).reshape(2, 3),
        [[0, 0.25, np.nan], [0.5, 0.75, 1]],
    )
    assert artists["border-0"].get_ydata().tolist() == [0.5, 0.5]
    assert data.to_csv().splitlines()[2] == "10,0,2.0,False"


def test_commands_of_the_settings() -> None:
    assert Settings.full().command("float64") == "markov-lrsao figures --only float64"
    assert Settings.quick().command("float64") == "markov-lrsao figures --quick --only float64"
    assert "runs=3" in Settings(runs=3).command("float64")
