"""Malformed, truncated and hostile files: one line with the line number, never a crash."""

from __future__ import annotations

import random
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from peer_chains import jump, reflected_walk, same

from markov_lrsao.cli import main
from markov_lrsao.errors import FileFormatError
from markov_lrsao.exchange import read_chain, write_chain
from markov_lrsao.exchange._drn_fast import read_fast
from markov_lrsao.exchange._reading import Source
from markov_lrsao.exchange.drn import format_drn, read_slow

GOOD = format_drn(reflected_walk(3))
HEAD = "@type: DTMC\n@value_type: rational\n@nr_states\n2\n@model\n"
BODY = "state 0 init\n\taction 0\n\t\t0 : 1/2\n\t\t1 : 1/2\nstate 1\n\taction 0\n\t\t1 : 1\n"

DRN = {
    "empty": ("", 1, "ends before the line @model"),
    "no header": (BODY, 1, "before @model"),
    "no type": (HEAD.replace("@type: DTMC\n", "") + BODY, 4, "@type is missing"),
    "mdp": (HEAD.replace("DTMC", "MDP") + BODY, 1, "type MDP"),
    "parameters": (HEAD.replace("@nr_states", "@parameters\np q\n@nr_states") + BODY, 4, "param"),
    "twice": (HEAD.replace("@model", "@nr_states\n2\n@model") + BODY, 5, "given twice"),
    "unknown key": (HEAD.replace("@model", "@color\n@model") + BODY, 5, "unknown key"),
    "cut in the header": (HEAD[:45], 3, "ends inside the header"),
    "no number": (HEAD.replace("\n2\n", "\ntwo\n") + BODY, 4, "natural number"),
    "negative count": (HEAD.replace("\n2\n", "\n-2\n") + BODY, 4, "natural number"),
    "zero states": (HEAD.replace("\n2\n", "\n0\n") + BODY, 5, "needs a state"),
    "huge count": (HEAD.replace("\n2\n", "\n900000000000000000\n") + BODY, 12, "truncated"),
    "absurd count": (HEAD.replace("\n2\n", f"\n{10**40}\n") + BODY, 4, "natural number"),
    "too few": (HEAD.replace("\n2\n", "\n3\n") + BODY, 12, "ends after 2 states"),
    "too many": (HEAD.replace("\n2\n", "\n1\n") + BODY, 9, "does not exist"),
    "negative": (HEAD + BODY.replace("0 : 1/2", "0 : -1/2"), 8, "between 0 and 1"),
    "above one": (HEAD + BODY.replace("0 : 1/2", "0 : 3/2"), 8, "between 0 and 1"),
    "zero denominator": (HEAD + BODY.replace("0 : 1/2", "0 : 1/0"), 8, "zero denominator"),
    "negative denominator": (HEAD + BODY.replace("0 : 1/2", "0 : 1/-2"), 8, "negative denom"),
    "no value": (HEAD + BODY.replace("0 : 1/2", "0 : half"), 8, "must be a number"),
    "nan": (HEAD + BODY.replace("0 : 1/2", "0 : nan"), 8, "must be a number"),
    "infinity": (HEAD + BODY.replace("0 : 1/2", "0 : inf"), 8, "must be a number"),
    "huge exponent": (HEAD + BODY.replace("0 : 1/2", "0 : 1e-999999999"), 8, "exponent"),
    "other digits": (HEAD + BODY.replace("0 : 1/2", "0 : ١/2"), 8, "must be a number"),
    "long number": (HEAD + BODY.replace("1/2", "1" * 20000 + "/3", 1), 8, "characters"),
    "sub-stochastic": (HEAD + BODY.replace("1 : 1/2", "1 : 1/3"), 6, "sub-stochastic.* 5/6"),
    "super-stochastic": (HEAD + BODY.replace("1 : 1/2", "1 : 2/3"), 6, "sums to 7/6, not to 1"),
    "nearly one": (HEAD + BODY.replace("1 : 1/2", "1 : 0.4999999999"), 6, "not to 1"),
    "deadlock": (HEAD + BODY.replace("\t\t1 : 1\n", ""), 10, "deadlock"),
    "same target twice": (HEAD + BODY.replace("1 : 1/2", "0 : 1/2"), 9, "two transitions"),
    "wrong order": (HEAD + BODY.replace("state 1", "state 2"), 10, "state 1 is due"),
    "second action": (HEAD + BODY + "\taction 1\n", 13, "second action"),
    "no action": (HEAD + BODY.replace("\taction 0\n", "", 1), 7, "before its 'action'"),
    "stray text": (HEAD + BODY.replace("state 1", "stat 1"), 10, "expected a state"),
    "open reward": (HEAD + BODY.replace("state 1", "state 1 [3"), 10, "no closing"),
    "unknown placeholder": (HEAD + BODY.replace("0 : 1/2", "0 : $x"), 8, "placeholder"),
    "bad label": (HEAD + BODY.replace("init", 'a "b'), 6, "labels"),
    "cut in a row": ((HEAD + BODY)[:-12], 11, "deadlock|expected"),
}


@pytest.mark.parametrize("case", DRN)
def test_bad_drn(case: str, tmp_path: Path) -> None:
    text, line, message = DRN[case]
    path = tmp_path / "bad.drn"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError, match=message) as caught:
        read_chain(path)
    assert str(caught.value).startswith(f"{path}, line {line}: ")
    assert "\n" not in str(caught.value)


PRISM = {
    "empty": ("", 1, "empty"),
    "not a chain": ("ctmc\n0 0 1\n", 1, "only Markov chains"),
    "an mdp": ("2 3 3\n0 0 1 1\n", 1, "MDP"),
    "header": ("2 x\n0 1 1\n1 1 1\n", 1, "natural number"),
    "huge": ("999999999999999999 3\n0 0 1\n", 2, "truncated"),
    "huge index": ("dtmc\n0 999999999999999999 1\n", 2, "deadlock"),
    "short": ("2 3\n0 1 1\n1 1 1\n", 3, "truncated"),
    "out of range": ("2 2\n0 5 1\n1 1 1\n", 2, "does not exist"),
    "words": ("2 2\n0 1\n1 1 1\n", 2, "expected 'FROM TO"),
    "twice": ("1 2\n0 0 0.5\n0 0 0.5\n", 3, "two transitions"),
    "sum": ("2 2\n0 1 0.7\n1 1 1\n", 2, "sub-stochastic"),
    "deadlock": ("2 1\n0 1 1\n", 2, "state 1 has no transitions"),
    "zero denominator": ("1 1\n0 0 1/0\n", 2, "zero denominator"),
}


@pytest.mark.parametrize("case", PRISM)
def test_bad_transitions(case: str, tmp_path: Path) -> None:
    text, line, message = PRISM[case]
    path = tmp_path / "bad.tra"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError, match=message) as caught:
        read_chain(path)
    assert str(caught.value).startswith(f"{path}, line {line}: ")


BESIDE = {
    "lab header": (".lab", "init goal\n", 1, "expected 0="),
    "lab twice": (".lab", '0="a" 0="b"\n', 1, "twice"),
    "lab undeclared": (".lab", '0="init"\n0: 0\n1: 4\n', 3, "not declared"),
    "lab state": (".lab", '0="init"\n7: 0\n', 2, "does not exist"),
    "lab colon": (".lab", '0="init"\n0 0\n', 2, "STATE: LABELS"),
    "srew count": (".srew", "2 2\n0 1\n", 2, "truncated"),
    "srew states": (".srew", "3 1\n0 1\n", 1, "2 states"),
    "srew twice": (".srew", "2 2\n0 1\n0 1\n", 3, "second reward"),
    "srew words": (".srew", "2 1\n0 1 1\n", 2, "STATE REWARD"),
}


@pytest.mark.parametrize("case", BESIDE)
def test_bad_files_beside_the_transitions(case: str, tmp_path: Path) -> None:
    suffix, text, line, message = BESIDE[case]
    (tmp_path / "x.tra").write_text("2 2\n0 1 1\n1 1 1\n", encoding="utf-8")
    path = tmp_path / f"x{suffix}"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError, match=message) as caught:
        read_chain(tmp_path / "x.tra")
    assert str(caught.value).startswith(f"{path}, line {line}: ")


OTHER = {
    "json syntax": ("x.json", '{"format": "markov chain",\n', 2, "not JSON"),
    "json kind": ("x.json", "[]", 1, "expected an object"),
    "json deep": ("x.json", "[" * 100_000, 1, "not JSON"),
    "json digits": ("x.json", "1" * 5000, 1, "not JSON"),
    "json rows": (
        "x.json",
        '{"format": "markov chain", "version": 1, "states": 2, "rows": [\n'
        '[[0, "1/2"]],\n[[1, "1"]]]}',
        2,
        "sub-stochastic",
    ),
    "json target": (
        "x.json",
        '{"format": "markov chain", "version": 1, "states": 2, "rows": [\n'
        '[[0, "1"]],\n[[7, "1"]]]}',
        3,
        "does not exist",
    ),
    "json float": (
        "x.json",
        '{"format": "markov chain", "version": 1, "states": 1, "rows": [\n[[0, 1.0]]]}',
        2,
        "must be a list",
    ),
    "mtx head": ("x.mtx", "1 1 1\n1 1 1\n", 1, "MatrixMarket"),
    "mtx square": ("x.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n", 2, "square"),
    "mtx huge": (
        "x.mtx",
        "%%MatrixMarket matrix coordinate real general\n900000000000 900000000000 1\n1 1 1\n",
        3,
        "empty",
    ),
    "mtx short": (
        "x.mtx",
        "%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 1\n",
        3,
        "truncated",
    ),
    "mtx index": (
        "x.mtx",
        "%%MatrixMarket matrix coordinate real general\n1 1 1\n0 1 1\n",
        3,
        "not in 1..1",
    ),
    "graphml syntax": ("x.graphml", "<graphml>\n<graph>", 2, "not XML"),
    "graphml entities": (
        "x.graphml",
        '<?xml version="1.0"?>\n<!DOCTYPE x [<!ENTITY a "b">]>\n<graphml/>',
        2,
        "document type",
    ),
    "graphml twice": (
        "x.graphml",
        '<graphml><graph>\n<node id="4"/><node id="4"/></graph></graphml>',
        2,
        "given twice",
    ),
    "graphml value": (
        "x.graphml",
        '<graphml><graph>\n<node id="0"/>\n<edge source="0" target="0"/></graph></graphml>',
        3,
        "no probability",
    ),
    "graphml empty": ("x.graphml", "<graphml/>", 1, "no node"),
}


@pytest.mark.parametrize("case", OTHER)
def test_bad_files_of_other_formats(case: str, tmp_path: Path) -> None:
    name, text, line, message = OTHER[case]
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError, match=message) as caught:
        read_chain(path)
    assert str(caught.value).startswith(f"{path}, line {line}: ")


@pytest.mark.parametrize("name", ["x.drn", "x.tra", "x.json", "x.mtx", "x.graphml"])
def test_not_utf8(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"@type: DTMC\n\n\xff\xfe\x00")
    with pytest.raises(FileFormatError, match="line 3: byte 0xff is not valid UTF-8"):
        read_chain(tmp_path / name)


def test_missing_files_and_unknown_endings(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="No such file"):
        read_chain(tmp_path / "absent.drn")
    with pytest.raises(FileFormatError, match=r"'\.xyz' is not known"):
        read_chain(tmp_path / "x.xyz")


@pytest.mark.parametrize("count", [10**9, 10**17])
def test_counts_in_the_header_allocate_nothing(count: int, tmp_path: Path) -> None:
    for name, text in (
        ("x.drn", HEAD.replace("\n2\n", f"\n{count}\n") + BODY),
        ("x.tra", f"{count} {count}\n0 1 1\n1 1 1\n"),
        ("x.mtx", f"%%MatrixMarket matrix coordinate real general\n{count} {count} {count}\n1 1 1"),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
        tracemalloc.start()
        with pytest.raises(FileFormatError, match="truncated"):
            read_chain(tmp_path / name)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
        tracemalloc.stop()


def test_the_command_prints_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.drn"
    path.write_text(HEAD + BODY.replace("1 : 1/2", "1 : 1/3"), encoding="utf-8")
    assert main(["solve", str(path), "--target", "x"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "line 6" in err


def _both_readers(data: bytes) -> None:
    """The compiled reader must agree with the strict one, or decline."""
    source = Source("x.drn", data)
    quick = read_fast(source)
    try:
        slow = read_slow(source)
    except FileFormatError:
        slow = None
    if slow is None:
        assert quick is None, "the compiled reader accepted what is wrong"
    elif quick is not None:
        same(quick.chain, slow.chain)
        assert (quick.exact, quick.notes) == (slow.exact, slow.notes)


def test_the_compiled_reader_reads_plain_files() -> None:
    for values in ("rational", "double"):
        data = format_drn(jump(9, 2), values=values).encode()
        quick = read_fast(Source("x.drn", data))
        assert quick is not None
        _both_readers(data)


def test_repeated_labels_are_refused_by_both_readers() -> None:
    data = (HEAD + BODY.replace("init", "init a b a")).encode()
    assert read_fast(Source("x.drn", data)) is None
    with pytest.raises(FileFormatError, match="line 6: the label 'a' is given twice"):
        read_slow(Source("x.drn", data))
    _both_readers(data)


def test_a_sum_that_wraps_round_in_machine_integers_is_not_one() -> None:
    """129 times 1 over 2^57 is 1 modulo 2^64."""
    count, unit = 129, 2**57
    moves = [f"\t\t{j} : {f'{unit}/{unit}' if j == 0 else 1}" for j in range(count)]
    states = [
        f"state {i}{' init' if i == 0 else ''}\n\taction 0\n"
        + ("\n".join(moves) if i == 0 else f"\t\t{i} : 1")
        for i in range(count)
    ]
    data = (HEAD.replace("\n2\n", f"\n{count}\n") + "\n".join(states) + "\n").encode()
    assert read_fast(Source("x.drn", data)) is None
    with pytest.raises(FileFormatError, match="sums to 129, not to 1"):
        read_slow(Source("x.drn", data))


@settings(max_examples=300)
@given(st.integers(0, 2**32), st.sampled_from(["cut", "byte", "line", "swap", "digit"]))
def test_damaged_files_never_crash(seed: int, how: str) -> None:
    rng = random.Random(seed)
    data = bytearray(GOOD.encode())
    at = rng.randrange(len(data))
    if how == "cut":
        del data[at:]
    elif how == "byte":
        data[at] = rng.randrange(256)
    elif how == "digit":
        data[at:at] = rng.choice([b"9", b"-", b"/", b".", b"e", b" ", b"\n", b"\t", b"\x00"])
    else:
        lines = bytes(data).split(b"\n")
        k = rng.randrange(len(lines))
        if how == "line":
            del lines[k]
        else:
            m = rng.randrange(len(lines))
            lines[k], lines[m] = lines[m], lines[k]
        data = bytearray(b"\n".join(lines))
    _both_readers(bytes(data))


@pytest.mark.parametrize("format", ["prism", "json", "graphml", "matrix-market"])
def test_other_damaged_files_never_crash(format: str, tmp_path: Path) -> None:
    name = {"prism": "x.tra", "matrix-market": "x.mtx"}.get(format, f"x.{format}")
    files = write_chain(reflected_walk(3), tmp_path / name, format=format)
    rng = random.Random(7)
    for path in files:
        whole = path.read_bytes()
        for _ in range(60):
            data = bytearray(whole)
            at = rng.randrange(len(data))
            if rng.random() < 0.4:
                del data[at:]
            else:
                data[at] = rng.randrange(256)
            path.write_bytes(data)
            try:
                read = read_chain(files[0])
            except FileFormatError as error:
                assert "line" in str(error)  # noqa: PT017
            else:
                assert read.chain.size == 4
        path.write_bytes(whole)
