"""Counts, tolerances and sums of the exchange formats, at their borders and one beyond."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from flint import fmpq
from peer_chains import jump, jump_law, reflected_walk

from markov_lrsao.chains.hitting import hitting_times
from markov_lrsao.chains.sources import (
    FLOAT_ROW_TOLERANCE,
    birth_death_chain,
    chain_from_matrix,
    chain_from_networkx,
    chain_from_rows,
    plateau_time,
    plateau_walk,
)
from markov_lrsao.errors import FileFormatError, ParameterError
from markov_lrsao.exchange import ChainFile, read_chain, write_chain
from markov_lrsao.exchange._drn_fast import read_fast
from markov_lrsao.exchange._reading import RowReader, Source, parse_integer, parse_number, show
from markov_lrsao.exchange.drn import format_drn, read_slow
from markov_lrsao.exchange.models import model_chain, step_rewards

SOURCE = Source("x", b"")


def drn(body: str, states: int = 2, kind: str = "double", rewards: str = "") -> bytes:
    return (
        f"@type: DTMC\n@value_type: {kind}\n{rewards}@nr_states\n{states}\n@model\n{body}"
    ).encode()


def both(data: bytes) -> tuple[ChainFile | None, ChainFile | str]:
    """The compiled reader's view (None: it declines), and the strict reader's view or refusal."""
    source = Source("x.drn", data)
    try:
        return read_fast(source), read_slow(source)
    except FileFormatError as error:
        return read_fast(source), str(error)


@pytest.mark.parametrize(
    ("first", "good"),
    [
        ("0.500001", True),
        ("0.499999", True),
        ("0.5000010000001", False),
        ("0.4999989999999", False),
        ("0.5", True),
    ],
)
def test_a_row_of_decimals_may_be_off_by_a_millionth(first: str, good: bool) -> None:
    body = (
        f"state 0 init\n\taction 0\n\t\t0 : {first}\n\t\t1 : 0.5\nstate 1\n\taction 0\n\t\t1 : 1\n"
    )
    quick, slow = both(drn(body))
    if not good:
        assert quick is None
        assert isinstance(slow, str)
        assert "line 6: the row of state 0" in slow
        assert ("sub-stochastic" in slow) == (first < "0.5")
        return
    assert quick is not None
    assert not isinstance(slow, str)
    p = Fraction(first)
    for read in (quick, slow):
        assert read.chain.row(0)[0] == (0, fmpq(*(p / (p + Fraction(1, 2))).as_integer_ratio()))
        assert read.exact == (first == "0.5")
        assert read.notes == (
            ()
            if read.exact
            else (
                "1 rows of rounded decimals sum to 1 only within 1e-06 (first: line 6); "
                "each was divided by its sum",
            )
        )
    quick, exact = both(drn(body, kind="rational"))
    assert isinstance(exact, str) == (first != "0.5")
    assert (quick is None) == isinstance(exact, str)


def test_notes_count_rows_and_name_the_first_and_the_worst() -> None:
    off = "\taction 0\n\t\t0 : {}\n\t\t3 : 0.5\n"
    body = (
        "state 0 init\n\taction 0\n\t\t0 : 0.5\n\t\t3 : 0.5\n"
        "state 1\n"
        + off.format("0.4999999")
        + "state 2\n"
        + off.format("0.5000005")
        + "state 3\n\taction 0\n\t\t3 : 1\n"
    )
    quick, slow = both(drn(body, 4))
    assert quick is not None
    assert not isinstance(slow, str)
    note = (
        "2 rows of rounded decimals sum to 1 only within 5e-07 (first: line 10); "
        "each was divided by its sum",
    )
    assert quick.notes == slow.notes == note


def test_equal_rows_are_counted_each_time() -> None:
    rows = "".join(f"state {i}\n\taction 0\n\t\t0 : 0.4999999\n\t\t1 : 0.5\n" for i in range(3))
    _, slow = both(drn(rows, 3))
    assert not isinstance(slow, str)
    assert slow.notes[0].startswith("3 rows")


def test_zeros_are_left_out_and_counted(tmp_path: Path) -> None:
    (tmp_path / "x.tra").write_text(
        "2 5\n0 0 0\n0 1 1\n1 0 0.0\n1 1 1\n1 2 0\n".replace("1 2 0\n", "").replace("2 5", "2 4")
    )
    read = read_chain(tmp_path / "x.tra")
    assert read.chain.transitions == 2
    assert read.notes == ("2 transitions of probability 0 were left out",)
    assert read.exact


@pytest.mark.parametrize("offset", [-1, 1])
def test_headers_that_lie_by_one(offset: int, tmp_path: Path) -> None:
    for format, name in (
        ("drn", "x.drn"),
        ("prism", "x.tra"),
        ("matrix-market", "x.mtx"),
        ("json", "x.json"),
    ):
        write_chain(
            reflected_walk(3),
            tmp_path / name,
            format=format,
            rewards=None if format == "matrix-market" else {"r": [fmpq(1)] * 4},
        )
    lies = {
        "x.drn": [
            ("@nr_states\n4", f"@nr_states\n{4 + offset}"),
            ("@nr_choices\n4", f"@nr_choices\n{4 + offset}"),
        ],
        "x.tra": [("4 6\n", f"{4 + offset} 6\n"), ("4 6\n", f"4 {6 + offset}\n")],
        "x.srew": [("4 4\n", f"{4 + offset} 4\n"), ("4 4\n", f"4 {4 + offset}\n")],
        "x.mtx": [
            ("4 4 6", f"{4 + offset} 4 6"),
            ("4 4 6", f"4 {4 + offset} 6"),
            ("4 4 6", f"{4 + offset} {4 + offset} 6"),
            ("4 4 6", f"4 4 {6 + offset}"),
        ],
        "x.json": [('"states": 4', f'"states": {4 + offset}')],
    }
    for name, changes in lies.items():
        path = tmp_path / name
        whole = path.read_text()
        assert read_chain(path).chain.size == 4
        for old, new in changes:
            assert whole.count(old) == 1
            path.write_text(whole.replace(old, new))
            with pytest.raises(FileFormatError):
                read_chain(path)
            if name == "x.drn":
                assert read_fast(Source("x", path.read_bytes())) is None
        path.write_text(whole)


def test_the_declared_length_of_json_lists(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write_chain(reflected_walk(2), path, format="json", rewards={"r": [fmpq(1)] * 3})
    whole = path.read_text()
    for old, new, message in [
        ('"positions": [0, 1, 2]', '"positions": [0, 1]', "must be 3 integers"),
        ('"positions": [0, 1, 2]', '"positions": [0, 1, 2.0]', "must be 3 integers"),
        ('"positions": [0, 1, 2]', f'"positions": [0, 1, {2**62}]', "must be 3 integers"),
        ('"names": ["0", "1", "2"]', '"names": ["0", "1"]', "must be 3 texts"),
        ('"names": ["0", "1", "2"]', '"names": ["0", "1", 2]', "must be 3 texts"),
        ('"r": ["1", "1", "1"]', '"r": ["1", "1"]', "must be 3 texts"),
        ('"r": ["1", "1", "1"]', '"r": ["1", "1", 1]', "must be 3 texts"),
        ('"start": [0]', '"start": [3]', "states below 3"),
        ('"start": [0]', '"start": [-1]', "states below 3"),
        ('"start": [0]', '"start": [true]', "states below 3"),
        ('"version": 1', '"version": 2', "version 1 is read"),
        ('"version": 1', '"version": 1, "more": 1', "unknown keys"),
        ('"top": [2]', '"top": 2', "states below 3"),
        ('"labels": {"top": [2]}', '"labels": [2]', "must map names"),
        ('"rewards": {"r": ["1", "1", "1"]}', '"rewards": []', "must map names"),
    ]:
        assert whole.count(old) == 1, old
        path.write_text(whole.replace(old, new))
        with pytest.raises(FileFormatError, match=message):
            read_chain(path)
    path.write_text(whole.replace('"positions": [0, 1, 2]', f'"positions": [0, 1, {2**62 - 1}]'))
    assert int(read_chain(path).chain.positions[2]) == 2**62 - 1


def test_pieces_of_a_file_in_messages_are_short() -> None:
    assert show("a" * 40) == repr("a" * 40)
    assert show("a" * 41) == repr("a" * 37 + "...")
    assert show("a\x1b\n") == r"'a\x1b\n'"


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("walk", ["walk.lab", "walk.tra"]),
        ("walk.tra", ["walk.lab", "walk.tra"]),
        ("walk.v2", ["walk.v2.lab", "walk.v2.tra"]),
    ],
)
def test_names_of_explicit_files(given: str, written: list[str], tmp_path: Path) -> None:
    files = write_chain(reflected_walk(2), tmp_path / given, format="prism")
    assert sorted(path.name for path in tmp_path.iterdir()) == written
    assert files[0].name == written[1]
    assert read_chain(files[0]).chain.labels["top"].tolist() == [2]


def test_lengths_of_numbers() -> None:
    assert parse_integer(SOURCE, 1, "9" * 18, "it") == 10**18 - 1
    for text in ("9" * 19, "", "-1", "+1", "1.0", "٣"):
        with pytest.raises(FileFormatError, match="natural number below"):
            parse_integer(SOURCE, 1, text, "it")
    assert parse_number(SOURCE, 1, "1" * 10_000, "it")[1] == 1
    with pytest.raises(FileFormatError, match="10,001 characters; at most 10,000"):
        parse_number(SOURCE, 1, "1" * 10_001, "it")
    assert parse_number(SOURCE, 1, "1e400", "it") == (10**400, 1)
    assert parse_number(SOURCE, 1, "1E-400", "it") == (1, 10**400)
    for text in ("1e401", "1e-401"):
        with pytest.raises(FileFormatError, match="exponent beyond 400"):
            parse_number(SOURCE, 1, text, "it")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", (3, 1)),
        ("-3", (-3, 1)),
        ("+3", (3, 1)),
        ("6/4", (6, 4)),
        ("-1/2", (-1, 2)),
        ("0.25", (1, 4)),
        (".5", (1, 2)),
        ("5.", (5, 1)),
        ("-2.50e1", (-25, 1)),
        ("1e-3", (1, 1000)),
        ("0", (0, 1)),
        ("0.0", (0, 1)),
        ("12.5e-1", (5, 4)),
        ("1e2", (100, 1)),
        ("2.50e+3", (2500, 1)),
    ],
)
def test_numbers(text: str, value: tuple[int, int]) -> None:
    above, below = parse_number(SOURCE, 1, text, "it")
    assert below > 0
    assert Fraction(above, below) == Fraction(*value)


def test_probabilities_from_zero_to_one() -> None:
    reader = RowReader(SOURCE, decimals_are_rounded=False)
    assert reader.probability(1, "0") == (0, 1)
    assert reader.probability(1, "1") == (1, 1)
    assert reader.probability(1, "5/5") == (5, 5)
    for text in ("-1/9", "10/9", "1.0000000001", "-1e-9"):
        with pytest.raises(FileFormatError, match="not between 0 and 1"):
            reader.probability(1, text)


@pytest.mark.parametrize("bits", [56, 57, 61, 62, 63, 70])
def test_denominators_of_all_sizes(bits: int) -> None:
    """Machine integers up to their end, Python's beyond; the compiled reader declines in time."""
    body = (
        f"state 0 init\n\taction 0\n\t\t0 : {2**bits - 1}/{2**bits}\n\t\t1 : 1/{2**bits}\n"
        "state 1\n\taction 0\n\t\t1 : 1\n"
    )
    quick, slow = both(drn(body, kind="rational"))
    assert not isinstance(slow, str)
    assert slow.chain.row(0) == [(0, fmpq(2**bits - 1, 2**bits)), (1, fmpq(1, 2**bits))]
    assert (slow.chain.denominators.dtype == object) == (bits >= 62)
    assert (quick is not None) == (bits <= 57)
    if quick is not None:
        assert quick.chain.row(0) == slow.chain.row(0)


def test_rewards_of_a_state_and_its_action_add_up() -> None:
    body = (
        "state 0 [1/2, 3] init\n\taction 0 [1/3, 4]\n\t\t1 : 1\n"
        "state 1 [0, -2]\n\taction go [5, 2]\n\t\t1 : 1\n"
    )
    read = read_slow(Source("x", drn(body, rewards="@reward_models\na b\n")))
    assert dict(read.rewards) == {"a": (fmpq(5, 6), fmpq(5)), "b": (fmpq(7), fmpq(0))}
    assert read_fast(Source("x", drn(body, rewards="@reward_models\na b\n"))) is None
    unnamed = "state 0 [2] init\n\taction 0 [3]\n\t\t0 : 1\n"
    assert dict(read_slow(Source("x", drn(unnamed, 1))).rewards) == {"": (fmpq(5),)}
    with pytest.raises(FileFormatError, match="more rewards than names"):
        read_slow(Source("x", drn(unnamed.replace("[2]", "[2, 2]"), 1)))


@pytest.mark.parametrize(
    ("state", "action", "read"),
    [
        (" [2]", "", True),
        (" [1/2]", " [3/4]", True),
        ("", " [0.25]", True),
        (" [0]", " [0]", True),
        (" [1] done", " [1]", True),
        (" [1/0]", "", False),
        (" [-1]", "", False),
        (" [1, 2]", "", False),
        (" [1", "", False),
        (" [1]done", "", False),
        (" [1] [2]", "", False),
        ("", " [x]", False),
        (" []", "", False),
    ],
)
@pytest.mark.parametrize("name", ["", "@reward_models\ncost\n"])
def test_one_reward_is_read_by_compiled_code(
    state: str, action: str, read: bool, name: str
) -> None:
    body = f"state 0{state}\n\taction 0{action}\n\t\t1 : 1\nstate 1 init\n\taction 0\n\t\t1 : 1\n"
    quick, slow = both(drn(body, rewards=name))
    assert (quick is not None) == read
    if quick is not None:
        assert not isinstance(slow, str)
        assert dict(quick.rewards) == dict(slow.rewards)
        assert quick.chain.exact_rows() == slow.chain.exact_rows()
        assert {k: v.tolist() for k, v in quick.chain.labels.items()} == {
            k: v.tolist() for k, v in slow.chain.labels.items()
        }


def test_placeholders_stand_for_numbers() -> None:
    body = "state 0 [$r] init\n\taction 0\n\t\t0 : $p\n\t\t1 : $p\nstate 1\n\taction 0\n\t\t1 : 1\n"
    held = "@reward_models\nr\n@placeholders\n$p : 1/2\n$r : 7\n"
    read = read_slow(Source("x", drn(body, kind="rational", rewards=held)))
    assert read.chain.row(0) == [(0, fmpq(1, 2)), (1, fmpq(1, 2))]
    assert read.rewards["r"] == (fmpq(7), fmpq(0))
    assert read_fast(Source("x", drn(body, kind="rational", rewards=held))) is None


def test_written_rewards_come_back_by_state(tmp_path: Path) -> None:
    rewards = {"r": [fmpq(k, 3) for k in range(4)]}
    for format, values in (("prism", "rational"), ("drn", "rational"), ("json", "rational")):
        files = write_chain(
            reflected_walk(3),
            tmp_path / f"{format}.tra" if format == "prism" else tmp_path / f"x.{format}",
            format=format,
            values=values,
            rewards=rewards,
        )
        read = read_chain(files[0])
        assert list(read.rewards.values()) == [tuple(rewards["r"])]
        assert list(read.rewards) == (["reward"] if format == "prism" else ["r"])
    assert (tmp_path / "prism.srew").read_text() == "4 3\n1 1/3\n2 2/3\n3 1\n"


def test_step_rewards_count_the_steps_before_the_target() -> None:
    chain = jump(9, 2)
    ((name, earned),) = step_rewards(chain).items()
    target = chain.labelled("target")
    assert name == "steps"
    assert [value == 0 for value in earned] == target.tolist()
    assert {str(value) for value in earned} == {"0", "1"}
    # The labels say where the walk is.
    assert np.array_equal(target, chain.positions == 9)
    assert np.array_equal(chain.labelled("milestone1"), chain.positions >= 3)
    assert np.array_equal(chain.labelled("milestone2"), chain.positions >= 7)
    left = model_chain(jump_law(9, 2), "left")
    assert np.array_equal(left.labelled("target"), left.positions >= 3)
    right = model_chain(jump_law(9, 2), "right")
    assert np.array_equal(right.labelled("target"), right.positions >= 9)


def test_the_tolerance_for_rows_of_floats() -> None:
    for off, good in (
        (FLOAT_ROW_TOLERANCE * 0.99, True),
        (FLOAT_ROW_TOLERANCE * 1.01, False),
        (-FLOAT_ROW_TOLERANCE * 0.99, True),
        (-FLOAT_ROW_TOLERANCE * 1.01, False),
    ):
        for tiny in (0.0, 1e-30):  # with it the quick way declines
            matrix = np.array([[0.5 + off, 0.5 - tiny, tiny], [0, 1.0, 0], [0, 0, 1.0]])
            if good:
                chain = chain_from_matrix(matrix)
                assert sum((p for _, p in chain.row(0)), fmpq(0)) == 1
                np.testing.assert_allclose(
                    chain.to_scipy().toarray(),
                    matrix / matrix.sum(axis=1, keepdims=True),
                    rtol=1e-15,
                )
            else:
                with pytest.raises(ParameterError, match="row 0 sums to"):
                    chain_from_matrix(matrix)
    wide = np.array([[0.5, 0.4], [0.0, 1.0]])
    assert chain_from_matrix(wide, tolerance=0.2).row(0) == [
        (
            0,
            fmpq(*Fraction(0.5).as_integer_ratio())
            / (fmpq(1, 2) + fmpq(*Fraction(0.4).as_integer_ratio())),
        ),
        (
            1,
            fmpq(*Fraction(0.4).as_integer_ratio())
            / (fmpq(1, 2) + fmpq(*Fraction(0.4).as_integer_ratio())),
        ),
    ]


def test_exact_rows_have_no_tolerance() -> None:
    with pytest.raises(ParameterError, match="row 1 sums to 999999999999/1000000000000, not to 1"):
        chain_from_rows([{0: 1}, {0: Fraction(999_999_999_999, 10**12)}])
    with pytest.raises(ParameterError, match="row 0 sums to"):
        chain_from_rows([{}])
    with pytest.raises(ParameterError, match="successor that does not exist"):
        chain_from_rows([{1: 1}])
    with pytest.raises(ParameterError, match="successor that does not exist"):
        chain_from_rows([{-1: 1}])
    with pytest.raises(ParameterError, match="negative entry"):
        chain_from_rows([{0: 2, 1: -1}, {1: 1}])
    with pytest.raises(ParameterError, match=r"start = \[1\] must lie in 0\.\.0"):
        chain_from_rows([{0: 1}], start=[1])
    with pytest.raises(ParameterError, match="start"):
        chain_from_rows([{0: 1}], start=[-1])


def test_graphs_mix_exact_and_rounded_rows() -> None:
    import networkx as nx

    graph = nx.DiGraph()
    graph.add_edge("a", "b", probability=0.1)
    graph.add_edge("a", "a", probability=0.9 + 1e-12)
    graph.add_edge("b", "a", probability="1/3")
    graph.add_edge("b", "b", probability=Fraction(2, 3))
    chain = chain_from_networkx(graph, start=["a", "b"])
    assert chain.row(1) == [(0, fmpq(1, 3)), (1, fmpq(2, 3))]
    assert chain.start.tolist() == [0, 1]
    graph.edges["b", "b"]["probability"] = Fraction(2, 3) + Fraction(1, 10**12)
    with pytest.raises(ParameterError, match="row 1 sums to"):
        chain_from_networkx(graph, start="a")
    graph.edges["b", "b"]["probability"] = Fraction(2, 3)
    with pytest.raises(ParameterError, match="'z', which is not a node"):
        chain_from_networkx(graph, start="a", labels={"x": ["z"]})
    pairs = nx.DiGraph()
    pairs.add_edge((0, 1), (0, 1), probability=1)
    assert chain_from_networkx(pairs, start=(0, 1)).size == 1
    pairs.edges[(0, 1), (0, 1)]["probability"] = float("inf")
    with pytest.raises(ParameterError, match="not a probability"):
        chain_from_networkx(pairs, start=(0, 1))


def test_large_and_small_floats_take_the_same_values() -> None:
    """The quick way through arrays, and the careful one, on rows of very different floats."""
    rng = np.random.default_rng(5)
    for exponents in ((0, 5), (0, 30), (0, 60)):
        matrix = rng.random((6, 6)) * 2.0 ** -rng.integers(*exponents, (6, 6))
        matrix /= matrix.sum(axis=1, keepdims=True)
        chain = chain_from_matrix(matrix)
        for i in range(6):
            total = sum((Fraction(v) for v in matrix[i]), Fraction(0))
            assert [Fraction(int(p.p), int(p.q)) for _, p in chain.row(i)] == [
                Fraction(v) / total for v in matrix[i]
            ]


def test_walks_with_known_answers() -> None:
    chain = birth_death_chain(["1/3", "1/4"])
    assert chain.row(0) == [(0, fmpq(2, 3)), (1, fmpq(1, 3))]
    assert chain.row(1) == [(0, fmpq(3, 4)), (2, fmpq(1, 4))]
    assert chain.row(2) == [(2, fmpq(1))]
    for n, k, b in ((9, 1, 2), (9, 0, 0), (20, 3, 11), (12, 0, 11)):
        walk = plateau_walk(n, k, b)
        assert walk.positions.tolist() == list(range(k, b + 2))
        assert hitting_times(walk, walk.at_positions([b + 1]))[0] == plateau_time(n, k, b)
        assert plateau_time(n, k, b) == sum((fmpq(n, n - m) for m in range(k, b + 1)), fmpq(0))
    for bad in ((9, -1, 2), (9, 3, 2), (9, 2, 9)):
        with pytest.raises(ParameterError, match="must lie in"):
            plateau_walk(*bad)


def test_positions_of_a_graph_may_be_negative(tmp_path: Path) -> None:
    chain = chain_from_rows([{1: 1}, {1: 1}], positions=[-7, 3], labels=["<a>", "b&c"])
    write_chain(chain, tmp_path / "g.graphml", format="graphml")
    read = read_chain(tmp_path / "g.graphml").chain
    assert read.positions.tolist() == [-7, 3]
    assert [read.label(i) for i in range(2)] == ["<a>", "b&c"]
    text = (tmp_path / "g.graphml").read_text()
    for bad in ("--7", "- 7", "x", ""):
        (tmp_path / "g.graphml").write_text(text.replace(">-7<", f">{bad}<"))
        with pytest.raises(FileFormatError, match="a position must be"):
            read_chain(tmp_path / "g.graphml")


def test_the_compiled_reader_takes_large_files_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large ones, or smaller ones where the compiler is there already; both read the same."""
    import sys

    from markov_lrsao.exchange import _drn_fast
    from markov_lrsao.exchange import drn as module

    calls = []
    monkeypatch.setattr(_drn_fast, "read_fast", lambda source: calls.append(len(source.data)))
    path = tmp_path / "x.drn"
    path.write_text(format_drn(reflected_walk(3)))
    size = path.stat().st_size
    for name, compiler in (("_COMPILED", True), ("_LARGE", False)):
        if compiler:
            monkeypatch.setitem(sys.modules, "numba", sys)
        else:
            monkeypatch.delitem(sys.modules, "numba", raising=False)
        for limit, used in ((size, True), (size + 1, False)):
            calls.clear()
            monkeypatch.setattr(module, name, limit)
            assert read_chain(path).chain.size == 4
            assert bool(calls) is used
