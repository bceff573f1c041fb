"""Ctrl-C: exit code 130, one line, no process left, whatever is running at that moment.

The limits are generous, since machines are noisy; a swallowed signal still fails the test, as
all of this work would go on for minutes.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="counts processes in /proc")

PATIENCE = 40.0
LINE = "interrupted\n"


def members(session: int) -> list[int]:
    """Return the living processes of a session."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it ended while we looked
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def until(true: Callable[[], object], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, "nothing happened"
        assert process.poll() is None, f"ended too early: {process.communicate()}"
        time.sleep(0.02)


@contextmanager
def started(arguments: list[str], cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """Start Python in a session of its own, as a terminal would."""
    # A shell that starts the tests in the background has them ignore Ctrl-C: undo that.
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        start_new_session=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        yield process
    finally:
        for pid in members(process.pid):
            os.kill(pid, signal.SIGKILL)
        process.communicate()


def ctrl_c(process: subprocess.Popen[str], way: str) -> None:
    """Send the signal: to all, as a terminal does, or to one, as `kill` and schedulers do."""
    (os.killpg if way == "terminal" else os.kill)(process.pid, signal.SIGINT)


def ended(process: subprocess.Popen[str]) -> str:
    """Return what an interrupted process printed on stdout."""
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (130, LINE)
    assert members(process.pid) == []
    return out


# -- verify, inside a solver call ----------------------------------------------------------

HARD = """
import sys
from proofs_check.verification import checking
from proofs_check.logic.smt import Prover

NAMES = "abcdefg"
CYCLE = [f"{x}*{x}*{x} + {y}*{y}*{z} - {x}*{z} = {i}" for i, (x, y, z) in enumerate(
    zip(NAMES, NAMES[1:] + NAMES[:1], NAMES[2:] + NAMES[:2]), 1)]

def ask(*_):
    print("asking", flush=True)
    answer = Prover(seconds=600).prove(CYCLE, "a*b*c < d*e*f*g")
    print("answered", answer, flush=True)
    raise SystemExit(0)
"""
IN_VERIFY = (
    HARD
    + """
checking._Verification.result = ask
sys.argv = ["markov-lrsao", "verify", "Lemma 2"]
from markov_lrsao.cli import entry_point
entry_point()
"""
)
IN_A_NOTEBOOK = (
    HARD
    + """
try:
    ask()
except KeyboardInterrupt:
    raise SystemExit(77)
"""
)


def inside_a_query(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "asking\n"
    time.sleep(1.0)  # the query goes on for minutes


@pytest.mark.parametrize("way", ["terminal", pytest.param("kill", marks=pytest.mark.slow)])
def test_verify_inside_a_solver_call(way: str, tmp_path: Path) -> None:
    with started(["-c", IN_VERIFY], tmp_path) as process:
        inside_a_query(process)
        ctrl_c(process, way)
        assert ended(process) == ""


@pytest.mark.slow
def test_a_query_without_the_command_line_raises_the_interrupt(tmp_path: Path) -> None:
    with started(["-c", IN_A_NOTEBOOK], tmp_path) as process:
        inside_a_query(process)
        ctrl_c(process, "kill")
        assert process.communicate(timeout=PATIENCE) == ("", "")
        assert process.returncode == 77


# -- the shared place ----------------------------------------------------------------------

SUPERVISED = """
import os, sys, time
from flint import fmpz
import markov_lrsao.interrupts as interrupts
from markov_lrsao.interrupts import process_pool, supervised

def deaf():  # native code that holds the interpreter's lock, for an hour
    (fmpz(2) ** 756_839 - 1).is_prime()

{work}

def main():
    from markov_lrsao.cli import main
    import markov_lrsao.cli as cli
    cli._run = lambda arguments: work()
    return main()

sys.exit(supervised(main))
"""
DEAF = """
def work():
    print("working", flush=True)
    deaf()
    return 0
"""
SWALLOWING = """
def work():
    print("working", flush=True)
    for _ in range(10_000):
        try:
            time.sleep(0.1)
        except KeyboardInterrupt:
            print("swallowed", flush=True)
    return 0
"""
SWALLOWED_AT_THE_END = """
def work():
    print("working", flush=True)
    try:
        time.sleep(600)
    except KeyboardInterrupt:
        return 0
"""
FINALISED = """
interrupts.GRACE_SECONDS = 600  # raised again, not killed

class Slow:
    def __del__(self):
        time.sleep(0.05)

def work():
    print("working", flush=True)
    for _ in range(10_000):
        Slow()
        time.sleep(0.02)
    return 0
"""
HALF_MADE = """
class Half:
    def __init__(self):
        time.sleep(600)
        self.context = 1
    def __del__(self):
        self.context

def work():
    print("working", flush=True)
    Half()
"""
FAILING = """
def work():
    print("working", flush=True)
    try:
        time.sleep(600)
    except KeyboardInterrupt:
        raise SystemError("a library that makes something else of it")
"""
POOL = """
def job(_):
    deaf()

def work():
    with process_pool(2) as pool:
        jobs = [pool.submit(job, k) for k in range(8)]
        print("working", flush=True)
        jobs[0].result()
    return 0
"""
IDLE_POOL = POOL.replace("    deaf()\n", "    time.sleep(600)\n")
SLOW_POOL = pytest.param(POOL, marks=pytest.mark.slow, id="pool")


@pytest.mark.parametrize("way", ["terminal", pytest.param("kill", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "work",
    [
        pytest.param(DEAF, id="deaf"),
        pytest.param(SWALLOWING, id="swallowing"),
        pytest.param(SWALLOWED_AT_THE_END, id="swallowed at the end"),
        pytest.param(FINALISED, id="finaliser"),
        pytest.param(HALF_MADE, id="half made"),
        pytest.param(FAILING, id="another error"),
        pytest.param(IDLE_POOL, id="idle pool"),
        SLOW_POOL,
    ],
)
def test_any_work_ends(work: str, way: str, tmp_path: Path) -> None:
    with started(["-c", SUPERVISED.format(work=work)], tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        if work in (POOL, IDLE_POOL):
            until(lambda: len(members(process.pid)) == 4, process)
        time.sleep(0.3)
        ctrl_c(process, way)
        ended(process)


def test_a_second_ctrl_c_does_not_wait(tmp_path: Path) -> None:
    """With the patience of the first one set to minutes."""
    patient = "interrupts.GRACE_SECONDS = 600\n" + SWALLOWING
    with started(["-c", SUPERVISED.format(work=patient)], tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        time.sleep(0.3)
        ctrl_c(process, "terminal")
        time.sleep(2.5)
        assert process.poll() is None
        ctrl_c(process, "terminal")
        ended(process)


@pytest.mark.parametrize("work", [pytest.param(DEAF, id="deaf"), SLOW_POOL])
def test_nothing_outlives_a_killed_command(work: str, tmp_path: Path) -> None:
    with started(["-c", SUPERVISED.format(work=work)], tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        until(lambda: len(members(process.pid)) == (4 if work is POOL else 2), process)
        process.kill()
        process.wait(timeout=PATIENCE)
        deadline = time.monotonic() + PATIENCE
        while members(process.pid) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert members(process.pid) == []


@pytest.mark.parametrize(
    ("code", "expected", "line"),
    [
        ("return 3", 3, ""),
        ("os.kill(os.getpid(), 11)", 139, "markov-lrsao: ended by SIGSEGV\n"),
        (
            "os.kill(os.getpid(), 9)",
            137,
            "markov-lrsao: ended by SIGKILL (is there enough memory?)\n",
        ),
    ],
)
def test_exit_codes_come_through(code: str, expected: int, line: str, tmp_path: Path) -> None:
    work = f"def work():\n    {code}\n"
    with started(["-c", SUPERVISED.format(work=work)], tmp_path) as process:
        _, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, err) == (expected, line)


def test_a_job_in_the_background_is_not_interrupted(tmp_path: Path) -> None:
    """Where a shell has the signal ignored, it stays ignored."""
    code = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "os.execv(sys.executable, [sys.executable, '-m', 'markov_lrsao', 'formula', 'phase1'])"
    )
    with started(["-c", code], tmp_path) as process:
        words = Path(f"/proc/{process.pid}/cmdline")
        until(lambda: words.read_bytes().endswith(b"\0formula\0phase1\0"), process)
        ctrl_c(process, "terminal")
        out, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, err) == (0, "")
        assert "E[T1]" in out


# -- every long command ----------------------------------------------------------------------


def write_chain(path: Path, size: int = 900, seed: int = 5) -> None:
    """Write a chain that takes minutes to solve exactly: no two states have one future."""
    draw = random.Random(seed)
    lines = ["@type: DTMC", "@nr_states", str(size), "@model"]
    for state in range(size):
        lines.append(
            f"state {state}" + (" init" if state == 0 else " target" if state == size - 1 else "")
        )
        lines.append("\taction 0")
        weights = {(state + 1) % size: draw.randint(1, 10**6)}
        weights |= {draw.randrange(size): draw.randint(1, 10**6) for _ in range(12)}
        if state == size - 1:
            weights = {state: 1}
        total = sum(weights.values())
        lines += [f"\t\t{k} : {w}/{total}" for k, w in sorted(weights.items())]
    path.write_text("\n".join(lines) + "\n")


COMMANDS = {
    "exact": "exact --n 200001 --ell 30",
    "exact, outside (H)": "exact --n 40 --ell 2 --r 1/10 --outside-h --max-states 3000000",
    "distribution": "distribution --n 100001 --ell 20",
    "sites": "sites --n 1000001 --ell 300",
    "curve": "curve --ell sqrt --n 50:10000:50 --workers 2",
    "map": "map --n 30 --ell 5 --alpha 0.01:0.99@99 --r-relative 0.005:0.995@100 --workers 2 "
    "--out map.csv",
    "relax": "relax --n 9:40 --ell 2 --runs 100000",
    "verify": "verify --level full",
    "solve": "solve chain.drn --target target --exact",
    "figures": "figures --out figures",
    "report": "report --out report.html",
    "simulate": "simulate --n 20001 --ell 2 --runs 1000000",
    "sweep": "sweep --n 2000:3000:100 --ell 2 --runs 100000 --out sweep.sqlite",
    "cross-validate": "cross-validate --n-max 30 --runs 1000000",
    "reference": "reference --out reference.csv",
    "formula": "formula total",
}
MOMENTS = {
    "formula": [0.2, 0.5],
    "reference": [0.2, 1.0],
    "verify": [0.2, 1.0, 3.0, 7.0],
    "map": [0.2, 1.0, 3.0, 7.0],
    "figures": [0.2, 3.0, 7.0],
}
WAYS = {0.2: "terminal", 0.5: "kill", 1.0: "kill", 3.0: "terminal", 7.0: "kill"}


def whole(folder: Path) -> None:
    """Check that no half of a file is there, and that stores can be opened."""
    for path in folder.rglob("*"):
        assert not path.name.endswith((".partial", ".tmp")), path
        if path.suffix == ".sqlite":
            with closing(sqlite3.connect(path)) as store:
                assert store.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        elif path.is_file() and path.suffix in (".csv", ".json", ".html"):
            assert path.stat().st_size > 0, path


def interrupt_command(name: str, moment: float, folder: Path) -> None:
    if name == "solve":
        write_chain(folder / "chain.drn")
    with started(["-m", "markov_lrsao", *COMMANDS[name].split()], folder) as process:
        until(lambda: len(members(process.pid)) >= 2, process)
        time.sleep(moment)
        assert process.poll() is None, f"ended too early: {process.communicate()}"
        ctrl_c(process, WAYS[moment])
        ended(process)
    whole(folder)


@pytest.mark.parametrize(
    ("name", "moment"),
    [
        pytest.param(name, moment, marks=pytest.mark.exhaustive if moment > 5 else pytest.mark.slow)
        for name in COMMANDS
        for moment in MOMENTS.get(name, [0.2, 1.0, 3.0])
    ],
)
def test_every_long_command(name: str, moment: float, tmp_path: Path) -> None:
    interrupt_command(name, moment, tmp_path)


@pytest.mark.parametrize(("name", "moment"), [("curve", 0.2), ("verify", 0.2)])
def test_some_long_commands(name: str, moment: float, tmp_path: Path) -> None:
    interrupt_command(name, moment, tmp_path)
