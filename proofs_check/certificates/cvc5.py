"""cvc5 as a command: `python -m proofs_check.certificates.cvc5 FILE` answers an SMT-LIB file.

The package `cvc5` has no command of its own. This one prints an answer per (check-sat), so that
it can be given to the checker as a solver. Each query runs from (set-logic ..) to (reset).
"""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["answers", "main"]

_SECONDS = 10


def answers(text: str, seconds: float = _SECONDS) -> list[str]:
    """Return cvc5's answer to each query of a script: sat, unsat or unknown.

    >>> answers("(set-logic QF_NRA)(declare-const x Real)(assert (< (* x x) 0))(check-sat)(reset)")
    ['unsat']
    """
    import cvc5

    found = []
    for query in text.split("(reset)")[:-1]:
        solver = cvc5.Solver()
        solver.setOption("tlimit-per", str(int(1000 * seconds)))
        parser = cvc5.InputParser(solver)
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, query, "query")
        symbols = parser.getSymbolManager()
        while not (command := parser.nextCommand()).isNull():
            answer = str(command.invoke(solver, symbols)).strip()
            if answer in ("sat", "unsat", "unknown"):
                found.append(answer)
    return found


def main() -> int:
    """Print the answers to the file that is named."""
    for answer in answers(Path(sys.argv[1]).read_text(encoding="utf-8")):
        print(answer, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
