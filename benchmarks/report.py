"""Tables, the machine's description, and docs/benchmarks.md."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.runs import Run
from markov_lrsao.tables import table

__all__ = ["Section", "machine", "ratio", "relative_error", "save", "seconds", "show"]


@dataclass(frozen=True)
class Section:
    """A titled table with a remark below it."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    remark: str = ""


def seconds(value: float) -> str:
    """Return a time with three digits."""
    if value < 1e-3:
        return f"{value * 1e6:.0f} us"
    return f"{value * 1e3:.3g} ms" if value < 1 else f"{value:.3g} s"


def ratio(peer: float, ours: float) -> str:
    """Return how many times as long the peer takes."""
    return f"{peer / ours:.2g}x" if peer < 100 * ours else f"{peer / ours:.0f}x"


def relative_error(run: Run, truth: str) -> float:
    """Return |value / truth - 1| computed exactly from the printed values."""
    from fractions import Fraction

    exact = Fraction(truth)
    return abs(float((Fraction(run.value) - exact) / exact))


def machine() -> str:
    """Return processor, memory and versions; no names of hosts, users or folders."""
    processor = platform.processor() or platform.machine()
    memory = ""
    if Path("/proc/cpuinfo").exists():
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                processor = line.split(":", 1)[1].strip()
                break
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        memory = f", {total / 2**30:.0f} GiB"
    versions = []
    for name in ("markov-lrsao", "python-flint", "numpy", "scipy", "numba", "stormpy", "sympy"):
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"{name} absent")
    return (
        f"{processor}, {os.cpu_count()} cores{memory}, {platform.system()}, Python "
        f"{platform.python_version()}; {', '.join(versions)}"
    )


def show(section: Section) -> str:
    """Return a section as plain text."""
    right = list(range(1, len(section.header)))
    body = table(section.header, section.rows, right=right)
    return f"\n{section.title}\n\n{body}\n" + (f"\n{section.remark}\n" if section.remark else "")


def save(sections: Sequence[Section], path: Path, took: float) -> None:
    """Write docs/benchmarks.md."""
    lines = [
        "# Benchmarks",
        "",
        "Made by `python -m benchmarks` in one run. Each number is the median of 3 to 5 "
        "repetitions (one for what takes long) in a process of its own, after a warm-up, in "
        f"{'wall-clock' if os.environ.get('BENCHMARK_CLOCK') == 'wall' else 'processor'} time; "
        "all tools run single-threaded, with an allocator (glibc's) that keeps what was freed. "
        "Ratios above 1 mean that this project is faster.",
        "",
        f"- Date: {datetime.now(UTC):%Y-%m-%d}",
        f"- Machine: {machine()}",
        f"- The whole run took {took / 60:.0f} minutes.",
        "",
    ]
    for section in sections:
        lines += [
            f"## {section.title}",
            "",
            "| " + " | ".join(section.header) + " |",
            "|" + " --- |" + " ---: |" * (len(section.header) - 1),
        ]
        lines += ["| " + " | ".join(row) + " |" for row in section.rows]
        lines += ["", *([section.remark, ""] if section.remark else [])]
    path.write_text("\n".join(lines), encoding="utf-8")
