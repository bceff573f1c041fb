"""``python -m benchmarks [--quick] [--output FILE]`` or ``python -m benchmarks compare TREE``."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import compare, sections
from benchmarks.report import machine, save, show

_DEFAULT = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"


def main(arguments: list[str] | None = None) -> int:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="seconds instead of minutes")
    parser.add_argument("--output", type=Path, help="Markdown file (default: docs/benchmarks.md)")
    parser.add_argument(
        "--only", nargs="*", help="names of sections", default=None, choices=list(sections.SECTIONS)
    )
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == ["compare"]:
        return compare.main(given[1:])
    options = parser.parse_args(given)
    begun = time.perf_counter()
    done = []
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        for name, measure in sections.SECTIONS.items():
            if options.only is not None and name not in options.only:
                continue
            for section in measure(Path(folder), options.quick):
                print(show(section), flush=True)
                done.append(section)
    target = options.output or (None if options.quick or options.only is not None else _DEFAULT)
    if target is not None:
        save(done, target, time.perf_counter() - begun)
        print(f"saved {target.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
