"""`--max-memory`: enforced by the system, told in one line, and gone afterwards."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from markov_lrsao.errors import ParameterError
from markov_lrsao.memory import at_most

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, check=False, timeout=120
    )


SCRIPT = """
import resource
from markov_lrsao.errors import MemoryLimitError
from markov_lrsao.memory import _now, at_most

before = resource.getrlimit(resource.RLIMIT_DATA)
most = _now("VmRSS") + 100 * 2**20
with at_most(most):
    bytearray(50 * 2**20)
try:
    with at_most(most):
        bytearray(200 * 2**20)
except MemoryLimitError as error:
    print(error)
assert resource.getrlimit(resource.RLIMIT_DATA) == before
bytearray(200 * 2**20)
print("free again")
"""


def test_the_limit_is_enforced_and_lifted() -> None:
    done = run("-c", SCRIPT)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith("more memory than `max_memory` = ")
    assert second == "free again"


def test_limits_that_make_no_sense() -> None:
    with at_most(None):
        pass
    message = r"is less than the .* MB that the program itself"
    with pytest.raises(ParameterError, match=message), at_most(2**20):
        raise AssertionError


def test_the_command_line(tmp_path: Path) -> None:
    """A dense chain of 1500 states has 2.2 million transitions: more than 40 MB."""
    size = 1500
    row = "".join(f"\t\t{j} : 1/{size}\n" for j in range(size))
    states = "".join(
        f"state {i}{' init' if i == 0 else ''}\n\taction 0\n{row}" for i in range(size - 1)
    )
    path = tmp_path / "dense.drn"
    head = f"@type: DTMC\n@value_type: rational\n@nr_states\n{size}\n@nr_choices\n{size}\n@model\n"
    last = f"state {size - 1} end\n\taction 0\n\t\t{size - 1} : 1\n"
    path.write_text(head + states + last)
    command = ("-m", "markov_lrsao", "solve", str(path), "--target", "end", "--max-memory")
    few = run(*command, "130M")
    assert (few.returncode, few.stdout) == (2, "")
    assert few.stderr.strip().splitlines()[-1].startswith("markov-lrsao: more memory than --max-m")
    bad = run(*command, "lots")
    assert bad.returncode == 2
    assert "--max-memory" in bad.stderr


def test_a_library_that_ends_the_process_is_told_apart() -> None:
    """A child that ends inside the block, whatever its code, has run out of memory."""
    script = (
        "import os\n"
        "from markov_lrsao import interrupts\n"
        "def work():\n"
        "    interrupts.memory_is_limited({limited})\n"
        "    os._exit(1)\n"
        "raise SystemExit(interrupts.supervised(work))\n"
    )
    for limited, code in ((True, 2), (False, 1)):
        done = run("-c", script.format(limited=limited))
        assert done.returncode == code
        assert ("more memory than --max-memory is needed" in done.stderr) is limited
