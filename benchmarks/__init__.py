"""Benchmarks against the tools that people in this field use.

``python -m benchmarks`` measures everything in one run, prints ratio tables and saves them in
docs/benchmarks.md; ``python -m benchmarks --quick`` takes seconds and saves nothing.

Every measurement is a process of its own (`worker`), so that peak memory belongs to one tool;
inside it the work is repeated and the median is taken, after a warm-up on a tiny chain that
keeps imports and compilation out. Times are processor times of single-threaded processes, so
that a busy machine does not disturb them; ``BENCHMARK_CLOCK=wall`` measures the time of day.
Tools read the same file from the same disk.
"""
