"""The server: its numbers are the engine's, strangers are refused, nothing is left behind."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import time
from pathlib import Path
from typing import Any

import pytest
from explorers import LONG, SOON, Server, alive, children, start, until

from markov_lrsao import Algorithm, Landscape, Parameters, hypothesis_h, runtime
from markov_lrsao.exact.rationals import rational
from markov_lrsao.model.landscape import FAMILIES
from markov_lrsao.model.named import NamedAlgorithm

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc"),
]

Setting = tuple[str, int, int, str | None, str | None, str | None]

INSIDE: list[Setting] = [
    *(
        ("jump", n, ell, alpha, None, None)
        for n, ell in ((16, 3), (20, 4), (25, 2), (30, 5), (31, 13), (40, 6), (60, 9))
        for alpha in ("1/2", None, "9/10")
    ),
    ("jump", 20, 1, None, None, None),
]
OUTSIDE: list[Setting] = [
    ("jump", 9, 2, None, None, "25/2"),
    ("jump", 9, 2, "4/5", "1/10", "2.3"),
    ("jump", 30, 5, None, None, "6.6"),
    ("jump", 32, 2, None, None, "59/8"),
    ("jump", 60, 5, None, None, "14"),
    ("jump-open", 9, 2, None, None, "100"),
    *(
        ("onemax", n, 0, "1/2", "1/2", r)
        for n in (2, 3, 5, 9, 12, 20)
        for r in ("0", "1/3", "4", "50")
    ),
]


def test_fifty_answers_equal_the_engines(server: Server) -> None:
    outside = 0
    for name, n, ell, alpha, gamma, r in [*INSIDE, *OUTSIDE]:
        given = {"landscape": name, "n": str(n), "alpha": alpha, "gamma": gamma, "r": r}
        given["ell"] = str(ell) if ell else None
        asked = {key: value for key, value in given.items() if value is not None}
        found = server.ask("exact", **asked)
        landscape = FAMILIES[name].at(n, ell)
        parameters = Parameters.paper(n, alpha, gamma, r)
        outside += not hypothesis_h(landscape, parameters).holds
        expected = runtime(landscape, Algorithm.lrsao(parameters), outside_h=True).to_dict()
        answer = found["answer"]
        for timed in (answer, expected):
            del timed["seconds"]
        assert {"schema": answer["schema"], **expected} == answer, asked
    assert len(INSIDE) + len(OUTSIDE) >= 50
    assert outside >= 15


NAMED: list[tuple[str, str, int, int | None]] = [
    ("xdivk:k=2", "lrsao", 12, None),
    ("xdivk:k=3", "lrsao", 15, None),
    ("hurdle:w=3", "lrsao", 12, None),
    ("cliff:d=3", "lrsao", 12, None),
    ("jump-m:m=3", "lrsao", 12, None),
    ("jump", "rls", 9, 2),
    ("onemax", "rls", 20, None),
    ("onemax", "ea", 12, None),
    ("cliff:d=3", "ea:rate=2/n", 9, None),
    ("cliff:d=3", "metropolis:base=4", 10, None),
    ("jump-m:m=3", "mahh:p=1/n", 12, None),
    ("jump-m:m=2", "mmahh:p=1/n,q=1/2", 10, None),
    ("onemax", "rls-k:k=optimal", 10, None),
]
"""Landscapes and algorithms as the page names them; finite and infinite answers."""


def test_landscapes_and_algorithms_by_name_equal_the_engines(server: Server) -> None:
    kinds = set()
    for name, algorithm, n, ell in NAMED:
        asked = {"landscape": name, "algorithm": algorithm, "n": str(n)}
        answer = server.ask("exact", **asked, **({"ell": str(ell)} if ell else {}))["answer"]
        landscape = Landscape.named(name, n=n, ell=ell)
        chosen = NamedAlgorithm.of(algorithm).on(landscape)
        expected = runtime(landscape, chosen, outside_h=True).to_dict()
        for timed in (answer, expected):
            del timed["seconds"]
        assert {"schema": answer["schema"], **expected} == answer, asked
        kinds.add(answer["kind"])
    assert kinds == {"exact", "infinite"}


def test_other_views_answer(server: Server) -> None:
    law = server.ask("law", n="9", ell="2", at="0:100:50")["answer"]
    assert [point["t"] for point in law["cdf"]] == [0, 50, 100]
    sites = server.ask("sites", n="9", ell="2")["answer"]
    assert sites["positions"][0]["steps"] == "53/51"
    row = server.ask("row", n="9", ell="2", row="3")["answer"]
    for pattern in row["patterns"]:
        assert sum(rational(t["probability"], "p") for t in pattern["transitions"]) == 1
    found = server.ask("map", n="30", ell="5", alphas="0.5:0.9@2", places="0.5")
    assert len(found["answer"]["table"]) == 2
    assert {a["name"] for a in found["answer"]["figure"]["grid"]["areas"]} >= {"k = 1", "k = 2"}
    regime = server.ask("regime", n="30", ell="5", alpha="4/5", r="35/4")["answer"]["alphas"][0]
    assert regime["points"][0]["area"] == "k = 1"
    walk = server.ask("walk", n="9", ell="2", choices="L+,L+")["answer"]
    assert walk["now"]["row"]["L"] == "0" or walk["now"]["position"] == 2


def test_errors_of_the_engine_are_shown_as_such(server: Server) -> None:
    found = server.ask("exact", n="9", ell="3")
    assert found["code"] == 2
    assert "ell = 3 is out of range for Jump at n = 9" in found["error"]
    assert (
        "alpha = 3/2 is out of range" in server.ask("exact", n="9", ell="2", alpha="1.5")["error"]
    )
    assert "has not the form" in server.ask("exact", n="nine")["error"]
    assert "not known" in server.ask("shell")["error"]


def test_only_the_page_may_call(server: Server) -> None:
    question = {"view": "exact", "settings": {"n": "9", "ell": "2"}, "run": False}
    host, token = f"127.0.0.1:{server.port}", {"X-Token": server.token}
    post = ("POST", "/api/ask", question)
    assert server.request(*post, token)[0] == 200
    assert server.request(*post, token | {"Origin": f"http://{host}"})[0] == 200
    for headers in (
        {},
        {"X-Token": "wrong"},
        token | {"Origin": "http://example.org"},
        token | {"Origin": "null"},
        token | {"Origin": f"http://127.0.0.1:{server.port + 1}"},
        token | {"Host": "example.org"},
        token | {"Host": f"attacker.example:{server.port}"},
        token | {"Sec-Fetch-Site": "cross-site"},
    ):
        assert server.request(*post, headers)[0] == 403, headers
    assert server.request("GET", "/")[0] == 403
    assert server.request("GET", f"/?token={server.token}")[0] == 200
    assert server.request("GET", f"/?token={server.token}", None, {"Host": "evil.org"})[0] == 403
    for name in ("explorer.js", "base.js", "components.css", "uPlot.min.js", "uPlot.LICENSE"):
        assert server.request("GET", f"/static/{name}")[0] == 200
    for path in ("/static/..%2fserver.py", "/static/server.py", "/static/index.html", "/docs"):
        assert server.request("GET", path)[0] == 404, path
    assert server.request("GET", "/api/ask", None, token)[0] == 405
    for body in ("{", "[]", '{"view": 1, "settings": {}}', "[" * 100_000, "1" * 300_000):
        status, text = server.request("POST", "/api/ask", body, token)
        assert (status, json.loads(text)["code"]) == (200, 2)


def test_nothing_but_the_loopback_listens(server: Server) -> None:
    wanted = f"{server.port:04X}"
    listening = [
        line.split()[1]
        for table in ("/proc/net/tcp", "/proc/net/tcp6")
        if Path(table).exists()
        for line in Path(table).read_text().splitlines()[1:]
        if line.split()[3] == "0A" and line.split()[1].endswith(f":{wanted}")
    ]
    assert listening == [f"0100007F:{wanted}"]


def waiting(server: Server) -> tuple[http.client.HTTPConnection, set[int]]:
    """Ask a long question; return the connection and the processes that came with it."""
    until(lambda: server.ask("walk", n="9", ell="2", choices="")["code"] == 0)
    before = children(server.process.pid)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    body = json.dumps({"view": "exact", "settings": LONG})
    connection.request("POST", "/api/ask", body, {"X-Token": server.token})
    until(lambda: children(server.process.pid) - before)
    time.sleep(0.5)  # it is at work
    return connection, children(server.process.pid) - before


def test_a_page_that_goes_takes_its_work_along(server: Server) -> None:
    connection, working = waiting(server)
    assert working
    time.sleep(2 * SOON)  # none would be at work still if it ended by itself before it is missed
    assert all(map(alive, working))
    connection.sock.shutdown(socket.SHUT_RDWR)
    connection.close()
    until(lambda: not any(map(alive, working)), SOON)
    assert server.ask("exact", n="16", ell="3")["answer"]["kind"] == "exact"  # and it goes on


@pytest.mark.parametrize(
    ("number", "expected"), [(signal.SIGKILL, -9), (signal.SIGINT, 130), (signal.SIGTERM, -15)]
)
def test_a_server_that_ends_leaves_nothing_behind(number: signal.Signals, expected: int) -> None:
    own = start()
    connection, working = waiting(own)
    everyone = children(own.process.pid)
    assert working <= everyone
    own.process.send_signal(number)
    code = own.process.wait(15)
    connection.close()
    assert own.process.stdout is not None
    own.process.stdout.close()
    assert code == expected
    until(lambda: not any(map(alive, everyone)), SOON)


def test_a_port_in_use_is_one_line(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    from markov_lrsao.cli import main

    assert main(["explore", "--no-browser", "--port", str(server.port)]) == 2
    said: Any = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "--port" in said
