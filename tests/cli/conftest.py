from __future__ import annotations

import pytest
from commands import Command, Done

from markov_lrsao.cli import main


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command line; what was printed before is forgotten."""

    def run(*arguments: str) -> Done:
        capsys.readouterr()
        code = main(arguments)
        return Done(code, *capsys.readouterr())

    return run
