"""Files as other tools write them, and rewards on transitions."""

from __future__ import annotations

import gzip
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from flint import fmpq
from peer_chains import reflected_walk, storm

from markov_lrsao.chains.reaching import reach
from markov_lrsao.chains.sources import chain_from_rows
from markov_lrsao.cli import main
from markov_lrsao.errors import FileFormatError, ParameterError
from markov_lrsao.exchange import read_chain, write_chain

TRA = "4 6\n0 1 0.5\n0 2 0.5\n1 0 0.25\n1 3 0.75\n2 2 1\n3 3 1\n"
LAB = '0="init" 1="deadlock" 2="goal"\n0: 0\n3: 2\n'
SURE = TRA.replace("2 2 1", "2 3 1")


def put(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"m.{name.replace('_', '.')}").write_text(text, encoding="utf-8")
    return folder / "m.tra"


def refused(path: Path, message: str) -> None:
    with pytest.raises(FileFormatError, match=message) as caught:
        read_chain(path)
    assert "\n" not in str(caught.value)


def test_comments_and_reward_names(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        tra="# a chain\n" + TRA,
        lab="# Labels\n# of a chain\n" + LAB,
        srew='# Reward structure "fuel"\n# State rewards\n4 1\n0 2\n',
        trew='# Reward structure: "fuel"\n# Transition rewards\n4 2\n0 1 3\n1 0 1/2\n',
    )
    read = read_chain(path)
    assert read.chain.start.tolist() == [0]
    assert read.chain.labels["goal"].tolist() == [3]
    assert list(read.rewards) == ["fuel"]
    assert read.rewards["fuel"] == (fmpq(2), fmpq(0), fmpq(0), fmpq(0))
    assert read.transition_rewards["fuel"] == {(0, 1): fmpq(3), (1, 0): fmpq(1, 2)}


@pytest.mark.parametrize("head", ["", "# Reward structure\n# Transition rewards\n"])
def test_transition_rewards_alone(head: str, tmp_path: Path) -> None:
    read = read_chain(put(tmp_path, tra=SURE, lab=LAB, trew=f"{head}4 2\n0 1 3\n1 3 4\n"))
    assert list(read.rewards) == ["reward"]
    moving = read.transition_rewards["reward"]
    # v0 = 1/2 (3 + v1), v1 = 1/4 v0 + 3/4 4
    (r,) = reach(
        read.chain,
        read.chain.labelled("goal"),
        rewards=read.rewards["reward"],
        transition_rewards=moving,
    ).starts
    assert r.mean.value == fmpq(24, 7)


def test_several_rewards_in_numbered_files(tmp_path: Path) -> None:
    path = put(tmp_path, tra=TRA, lab=LAB)
    (tmp_path / "m1.srew").write_text('# Reward structure "a"\n4 1\n0 2\n')
    (tmp_path / "m2.trew").write_text("4 1\n0 1 5\n")
    (tmp_path / "m2.srew").write_text("4 1\n1 7\n")
    (tmp_path / "m3.srew").write_text("9 1\n0 2\n")  # belongs to another chain:
    (tmp_path / "m3.tra").write_text("1 1\n0 0 1\n")
    read = read_chain(path)
    assert set(read.rewards) == {"a", "reward2"}
    assert read.rewards["reward2"][1] == 7
    assert set(read.transition_rewards) == {"reward2"}
    (tmp_path / "m2.srew").write_text('# Reward structure "a"\n4 1\n1 7\n')
    refused(path, "the reward name 'a' is given twice")
    (tmp_path / "m2.srew").unlink()
    (tmp_path / "m2.trew").write_text('# Reward structure "a"\n4 1\n0 1 5\n')
    refused(path, "the reward name 'a' is given twice")


def test_storms_transition_rewards(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        tra="dtmc\n" + SURE.split("\n", 1)[1],
        lab="#DECLARATION\ninit goal\n#END\n0 init\n3 goal\n",
        state_rew="0 1\n",
        trans_rew="0 1 3\n1 3 4\n",
    )
    read = read_chain(path)
    assert read.transition_rewards["reward"] == {(0, 1): fmpq(3), (1, 3): fmpq(4)}
    assert read_chain(tmp_path / "m.trans.rew").chain.size == 4


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("4 2\n0 1 3\n", 2, "1 rewards, but the first line says 2"),
        ("4 1\n0 1 3\n1 3 1\n", 3, "2 rewards, but the first line says 1"),
        ("5 1\n0 1 3\n", 1, "with 4 states"),
        ("4 1 1\n0 1 3\n", 1, "expected 'STATES REWARDS'"),
        ("4 1\n0 1\n", 2, "FROM TO REWARD"),
        ("4 1\n0 3 1\n", 2, "no transition from 0 to 3"),
        ("4 1\n9 3 1\n", 2, "does not exist"),
        ("4 2\n0 1 1\n0 1 2\n", 3, "second reward"),
        ("4 1\n0 1 x\n", 2, "must be a number"),
        ("# State rewards\n4 1\n0 1 1\n", 1, "state rewards in a file of transition rewards"),
        (
            '# Reward structure "a"\n# Reward structure "b"\n4 1\n0 1 1\n',
            2,
            "second reward structure",
        ),
        ("", 1, "empty"),
    ],
)
def test_bad_transition_rewards(text: str, line: int, message: str, tmp_path: Path) -> None:
    path = put(tmp_path, tra=TRA, lab=LAB, trew=text)
    refused(path, f"m.trew, line {line}: .*{message}")


def test_names_that_disagree(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        tra=TRA,
        srew='# Reward structure "a"\n4 1\n0 2\n',
        trew='# Reward structure "b"\n4 1\n0 1 5\n',
    )
    refused(path, "name different rewards: 'a', 'b'")


def test_rewards_of_the_other_form_are_noted(tmp_path: Path) -> None:
    read = read_chain(put(tmp_path, tra=TRA, state_rew="0 1\n"))
    assert "m.state.rew was not read" in read.notes[0]
    assert not read.rewards


def brute(
    rows: list[dict[int, Fraction]],
    moving: dict[tuple[int, int], Fraction],
    states: list[Fraction],
    goal: int,
    steps: int,
) -> tuple[float, float, float]:
    """Probability, conditional mean and variance of the reward, by following all paths."""
    dist = {(0, Fraction(0)): Fraction(1)}
    ended: dict[Fraction, Fraction] = {}
    for _ in range(steps):
        following: dict[tuple[int, Fraction], Fraction] = {}
        for (i, earned), p in dist.items():
            for j, q in rows[i].items():
                total = earned + states[i] + moving.get((i, j), Fraction(0))
                if j == goal:
                    ended[total] = ended.get(total, Fraction(0)) + p * q
                else:
                    following[j, total] = following.get((j, total), Fraction(0)) + p * q
        dist = following
    chance = sum(ended.values())
    mean = sum(v * p for v, p in ended.items()) / chance
    return (
        float(chance),
        float(mean),
        float(sum((v - mean) ** 2 * p for v, p in ended.items()) / chance),
    )


@pytest.mark.parametrize("field", ["exact", "float"])
@pytest.mark.parametrize("leaks", [True, False])
def test_mean_and_variance_with_transition_rewards(field: str, leaks: bool) -> None:
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    rows = [
        {1: half, 2: half},
        {0: quarter, 3: 1 - quarter},
        {2: half, 4: half} if leaks else {3: quarter, 0: 1 - quarter},
        {3: Fraction(1)},
        {4: Fraction(1)},
    ]
    moving = {(0, 1): Fraction(3), (1, 0): half, (1, 3): Fraction(1), (2, 0): Fraction(2)}
    states = [Fraction(1), Fraction(0), Fraction(1), Fraction(50), Fraction(60)]
    chance, mean, variance = brute(rows, moving, states, 3, 40 if leaks else 110)
    exact = {pair: fmpq(v.numerator, v.denominator) for pair, v in moving.items()}
    chain = chain_from_rows(rows)
    (r,) = reach(
        chain,
        np.arange(5) == 3,
        field=field,  # type: ignore[arg-type]
        rewards=[fmpq(v.numerator, v.denominator) for v in states],
        transition_rewards=exact,
    ).starts
    assert r.conditional_mean is not None
    assert r.variance is not None
    assert float(r.probability) == pytest.approx(chance, rel=1e-9)
    assert float(r.conditional_mean) == pytest.approx(mean, rel=1e-9)
    assert float(r.variance) == pytest.approx(variance, rel=1e-9)


def test_storm_agrees_on_transition_rewards(tmp_path: Path) -> None:
    stormpy: Any = storm()
    path = put(
        tmp_path,
        tra="dtmc\n" + SURE.split("\n", 1)[1],
        lab="#DECLARATION\ninit goal\n#END\n0 init\n3 goal\n",
        state_rew="0 1\n",
        trans_rew="0 1 3\n0 2 1\n1 3 4\n1 0 2\n",
    )
    model = stormpy.build_model_from_explicit(
        str(path),
        str(tmp_path / "m.lab"),
        state_rewards=str(tmp_path / "m.state.rew"),
        transition_rewards=str(tmp_path / "m.trans.rew"),
    )
    formula = stormpy.parse_properties('R=? [F "goal"]')[0]
    truth = stormpy.model_checking(model, formula).get_value(0)
    read = read_chain(path)
    (r,) = reach(
        read.chain,
        read.chain.labelled("goal"),
        rewards=read.rewards["reward"],
        transition_rewards=read.transition_rewards["reward"],
    ).starts
    assert float(r.mean) == pytest.approx(truth, rel=1e-6)


def test_the_command_uses_transition_rewards(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = put(tmp_path, tra=SURE, lab=LAB, trew="4 2\n0 1 3\n1 3 4\n")
    assert main(["solve", str(path), "--target", "goal", "--reward", "reward", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert float(answer["starts"][0]["mean"]["decimal"]) == pytest.approx(24 / 7, rel=1e-15)
    assert main(["export", "--chain", str(path), str(tmp_path / "x.drn")]) == 2
    assert "transition rewards" in capsys.readouterr().err
    assert not (tmp_path / "x.drn").exists()


@pytest.mark.parametrize("format", ["drn", "json", "graphml", "matrix-market", "prism"])
def test_compressed_files(format: str, tmp_path: Path) -> None:
    name = {"prism": "x.tra", "matrix-market": "x.mtx"}.get(format, f"x.{format}")
    files = write_chain(reflected_walk(4), tmp_path / name, format=format)
    before = read_chain(files[0])
    for path in files:
        Path(f"{path}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    after = read_chain(f"{files[0]}.gz")
    assert after.chain.exact_rows() == before.chain.exact_rows()
    assert after.chain.labels["top"].tolist() == [4]
    whole = Path(f"{files[0]}.gz").read_bytes()
    for data, message in (
        (whole[:-9], "not a whole gzip file"),
        (b"plain", "not a whole gzip"),
        (whole[:-6] + b"\x00" + whole[-5:], "not a whole gzip file"),
    ):
        Path(f"{files[0]}.gz").write_bytes(data)
        refused(Path(f"{files[0]}.gz"), message)


def test_compressed_and_plain_labels_together(tmp_path: Path) -> None:
    path = put(tmp_path, tra=TRA, lab=LAB)
    (tmp_path / "m.lab.gz").write_bytes(gzip.compress(LAB.encode()))
    refused(path, "are both there")


def test_compressed_files_are_not_written(tmp_path: Path) -> None:
    for format in ("drn", "json", "prism", "graphml", "matrix-market", "storm-explicit"):
        with pytest.raises(ParameterError, match=r"\.gz|compressed"):
            write_chain(reflected_walk(2), tmp_path / "x.tra.gz", format=format)
    assert not list(tmp_path.iterdir())


def walk_graph() -> Any:
    graph = nx.DiGraph(name="a walk")
    graph.add_edge("home", "bar", probability=1 / 3)
    graph.add_edge("home", "road", probability=1 / 3)
    graph.add_edge("home", "home", probability=1 / 3)
    graph.add_edge("road", "bar", probability=0.5)
    graph.add_edge("road", "home", probability=0.5)
    graph.add_edge("bar", "bar", probability=1.0)
    graph.nodes["home"]["start"] = True
    graph.nodes["bar"]["labels"] = "goal"
    return graph


def test_graphs_as_networkx_writes_them(tmp_path: Path) -> None:
    nx.write_graphml(walk_graph(), tmp_path / "g.graphml")
    assert 'key="d' in (tmp_path / "g.graphml").read_text()
    read = read_chain(tmp_path / "g.graphml")
    names = [read.chain.label(i) for i in range(3)]
    assert sorted(names) == ["bar", "home", "road"]
    assert [names[i] for i in read.chain.start] == ["home"]
    # v = 1 + (v + w)/3, w = 1 + v/2
    (r,) = reach(read.chain, read.chain.labelled("goal"), field="float").starts
    assert float(r.mean) == pytest.approx(8 / 3, rel=1e-14)


def test_numbered_nodes_in_any_order(tmp_path: Path) -> None:
    graph = nx.DiGraph()
    for i, j in ((2, 0), (0, 1), (1, 1)):
        graph.add_edge(i, j, probability="1")
    nx.write_graphml(graph, tmp_path / "g.graphml")
    assert read_chain(tmp_path / "g.graphml").chain.indices.tolist() == [1, 1, 0]


def test_undirected_and_multiple_graphs(tmp_path: Path) -> None:
    path = tmp_path / "g.graphml"
    nx.write_graphml(nx.Graph(walk_graph()), path)
    refused(path, "undirected")
    nx.write_graphml(walk_graph(), path)
    text = path.read_text()
    path.write_text(text.replace('<edge source="bar"', '<edge directed="false" source="bar"'))
    refused(path, "undirected edge")
    path.write_text(text.replace("</graphml>", '<graph edgedefault="directed"/></graphml>'))
    refused(path, "second graph")
    multi = nx.MultiDiGraph(walk_graph())
    multi.add_edge("home", "bar", probability=0.0)
    nx.write_graphml(multi, path)
    refused(path, "comes twice")


KEYS = (
    '<graphml><key id="p" for="edge" attr.name="probability" attr.type="string">{}</key>'
    '<key id="l" for="node" attr.name="labels" attr.type="string"/>{}'
    '<graph edgedefault="directed"><node id="a">{}</node>'
    '<edge source="a" target="a">{}</edge></graph></graphml>'
)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (("", "", "", '<data key="q">1</data>'), "'q' of this data is not declared"),
        (
            ("", '<key id="p" for="node" attr.name="x"/>', "", '<data key="p">1</data>'),
            "given twice",
        ),
        (
            ("", '<key id="z" for="node" attr.name="labels"/>', "", '<data key="p">1</data>'),
            "twice",
        ),
        (("", "", "", '<data key="p">1</data><data key="p">1</data>'), "given twice"),
        (("", "", '<data key="p">1</data>', '<data key="p">1</data>'), "for 'edge', not for node"),
        (
            ("", "", '<data key="l">x|x</data>', '<data key="p">1</data>'),
            "label 'x' is given twice",
        ),
        (("", "", '<data key="l">x</data><port/>', '<data key="p">1</data>'), "'port' is not part"),
        (("", "", "stray", '<data key="p">1</data>'), "stray text"),
    ],
)
def test_bad_graphml(parts: tuple[str, ...], message: str, tmp_path: Path) -> None:
    (tmp_path / "g.graphml").write_text(KEYS.format(*parts))
    refused(tmp_path / "g.graphml", message)


def test_defaults_of_keys(tmp_path: Path) -> None:
    (tmp_path / "g.graphml").write_text(KEYS.format("<default>1</default>", "", "", ""))
    assert read_chain(tmp_path / "g.graphml").chain.row(0) == [(0, fmpq(1))]
    (tmp_path / "g.graphml").write_text(
        KEYS.format("<default>1/2</default>", "", "", '<data key="p">1</data>')
    )
    assert read_chain(tmp_path / "g.graphml").chain.row(0) == [(0, fmpq(1))]


JSON = '{{"format": "markov chain", "version": 1, "states": 1{}, "rows": [[[0, "1"]]]}}'
MTX = "%%MatrixMarket matrix coordinate real general\n{}1 1 1\n1 1 1\n"
DRN = "@type: DTMC\n{}@nr_states\n1\n@model\nstate 0{}\n\taction 0\n\t\t0 : 1\n"
TWICE = {
    "json key": ("x.json", JSON.format(', "states": 1')),
    "json label": ("x.json", JSON.format(', "labels": {"a": [0], "a": []}')),
    "json escaped label": ("x.json", JSON.format(', "labels": {"a": [0], "\\u0061": []}')),
    "json reward": ("x.json", JSON.format(', "rewards": {"r": ["1"], "r": ["1"]}')),
    "json start": ("x.json", JSON.format(', "start": [0, 0]')),
    "json state of a label": ("x.json", JSON.format(', "labels": {"a": [0, 0]}')),
    "mtx label": ("x.mtx", MTX.format('% label "a": 1\n% label "a":\n')),
    "mtx start": ("x.mtx", MTX.format("% start: 1\n% start: 1\n")),
    "mtx index": ("x.mtx", MTX.format("% start: 1 1\n")),
    "drn reward": ("x.drn", DRN.format("@reward_models\na b a\n", " [1, 2, 3]")),
    "drn label": ("x.drn", DRN.format("", ' a "a"')),
    "drn placeholder": ("x.drn", DRN.format("@placeholders\n$a : 1\n$a : 1\n", "")),
    "drn key": ("x.drn", DRN.format("@nr_states\n1\n", "")),
}


@pytest.mark.parametrize("case", TWICE)
def test_nothing_is_given_twice(case: str, tmp_path: Path) -> None:
    name, text = TWICE[case]
    (tmp_path / name).write_text(text)
    refused(tmp_path / name, "given twice")
    good = {
        "x.json": JSON.format(', "labels": {"a": [0]}'),
        "x.drn": DRN.format("", " a"),
        "x.mtx": MTX.format('% label "a": 1\n% start: 1\n'),
    }[name]
    (tmp_path / name).write_text(good)
    assert read_chain(tmp_path / name).chain.labels["a"].tolist() == [0]


@pytest.mark.parametrize(
    ("lab", "message"),
    [
        ('0="init" 2="goal"\n0: 0\n0: 0\n', "state 0 are given twice"),
        ('0="init" 2="goal"\n0: 0 0\n', "label 'init' is given twice"),
        ('0="init" 2="init"\n0: 0\n', "declared twice"),
        (f'{"1" * 5000}="init"\n', "natural number"),
        (f'0="init"\n0: {"1" * 5000}\n', "natural number"),
        (f'0="init"\n{"1" * 5000}: 0\n', "natural number"),
        ("#DECLARATION\ninit\n#END\n0 init\n", "expected 0="),
    ],
)
def test_bad_labels(lab: str, message: str, tmp_path: Path) -> None:
    refused(put(tmp_path, tra=TRA, lab=lab), message)


@pytest.mark.parametrize(
    ("lab", "message"),
    [
        ("#DECLARATION\ninit a a\n#END\n0 init\n", "label 'a' is given twice"),
        ("#DECLARATION\ninit a\n#END\n0 init\n0 a\n", "state 0 are given twice"),
        ("#DECLARATION\ninit a\n#END\n0 a a\n", "label 'a' is given twice"),
    ],
)
def test_bad_labels_in_storms_form(lab: str, message: str, tmp_path: Path) -> None:
    refused(put(tmp_path, tra="dtmc\n" + TRA.split("\n", 1)[1], lab=lab), message)


@pytest.mark.parametrize("text", ["% start: x\n", '% label "a" 1\n', '% label "a": 1 b\n'])
def test_marks_that_cannot_be_read_are_not_taken_for_comments(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.mtx").write_text(MTX.format(text))
    refused(tmp_path / "x.mtx", "line 2: expected '% start")
    (tmp_path / "x.mtx").write_text(MTX.format("% made by hand\n"))
    assert read_chain(tmp_path / "x.mtx").chain.size == 1


def test_rewards_of_a_drn_file_must_be_as_many_as_their_names(tmp_path: Path) -> None:
    path = tmp_path / "x.drn"
    path.write_text(DRN.format("@reward_models\na b\n", " [1]"))
    refused(path, "line 7: 1 rewards for 2 names")
    path.write_text(DRN.format("@reward_models\na b\n", " [1, 2, 3]"))
    refused(path, "more rewards than names")
    path.write_text(DRN.format("@reward_models\na b\n", ""))
    assert dict(read_chain(path).rewards) == {"a": (fmpq(0),), "b": (fmpq(0),)}
    path.write_text(DRN.format("@reward_models\na b\n", " [1, 2/3]"))
    assert dict(read_chain(path).rewards) == {"a": (fmpq(1),), "b": (fmpq(2, 3),)}
