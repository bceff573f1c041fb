"""Jobs over processes: results in order, errors of a job are raised, few jobs stay here."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time

import pytest

from markov_lrsao.errors import ParameterError, WorkerLostError
from markov_lrsao.interrupts import spread

JOBS = list(range(12))


def slow_first(k: int) -> tuple[int, int]:
    time.sleep(0.05 if k == 0 else 0)
    return k, os.getpid()


def parent_of(_: int) -> int:
    return os.getppid()


def refuse_seven(k: int) -> int:
    if k == 7:
        raise ParameterError("seven is refused")
    return k


@pytest.mark.parametrize("at_once", [1, 5])
def test_results_come_in_order_from_other_processes(at_once: int) -> None:
    found = list(spread(slow_first, JOBS, 2, at_once=at_once))
    assert [k for k, _ in found] == JOBS
    assert os.getpid() not in {process for _, process in found}


@pytest.mark.parametrize("method", ["forkserver", "spawn"])
def test_workers_are_forked_whatever_the_default_is(
    method: str, request: pytest.FixtureRequest
) -> None:
    """From Python 3.14 on the default is a fork server, which is not the parent to end with."""
    before = multiprocessing.get_start_method(allow_none=True)
    request.addfinalizer(lambda: multiprocessing.set_start_method(before, force=True))
    multiprocessing.set_start_method(method, force=True)
    here = os.getpid()
    assert set(spread(parent_of, JOBS, 2)) == {here}


def nobody_lives() -> bool:
    """Whether all processes are gone; two threads may reap them, and a list lag behind."""
    deadline = time.monotonic() + 10
    while multiprocessing.active_children() and time.monotonic() < deadline:
        time.sleep(0.01)
    return not multiprocessing.active_children()


@pytest.mark.parametrize(("jobs", "workers"), [(JOBS, 1), (JOBS[:3], 2)])
def test_few_jobs_or_one_worker_stay_in_this_process(jobs: list[int], workers: int) -> None:
    assert list(spread(slow_first, jobs, workers)) == [(k, os.getpid()) for k in jobs]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_a_job_is_raised_after_what_came_before(workers: int) -> None:
    found: list[int] = []
    with pytest.raises(ParameterError, match="seven is refused"):
        found.extend(spread(refuse_seven, JOBS, workers))
    assert found == JOBS[:7]
    assert nobody_lives()


def test_a_caller_that_stops_early_leaves_no_process() -> None:
    results = spread(slow_first, JOBS, 2)
    assert next(results)[0] == 0
    results.close()
    assert nobody_lives()


def die_at_seven(k: int) -> int:
    if k == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.05 if k > 7 else 0)
    return k


def test_a_worker_that_is_killed_is_named_after_what_came_before() -> None:
    found: list[int] = []
    with pytest.raises(WorkerLostError, match="run the command again") as refusal:
        found.extend(spread(die_at_seven, JOBS, 2))
    assert found == JOBS[: len(found)]
    assert len(found) <= 7
    assert refusal.value.__suppress_context__
    assert nobody_lives()


@pytest.mark.slow
def test_leaving_a_pool_early_prints_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool's thread meets dead processes and cancelled jobs, in either order.

    Without the hook of `process_pool` one round of fifteen fails.
    """
    failures: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", failures.append)
    for taken in range(40):
        results = spread(time.sleep, [0.001] * 400, 2)
        for _ in range(1 + taken % 20):
            next(results)
        results.close()
    time.sleep(0.3)
    assert failures == []
