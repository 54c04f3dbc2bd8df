"""Do what a study asks for and is not in the store."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from typing import Any

import torch

from symnmf import files
from symnmf.bench.store import Store
from symnmf.bench.study import Run, Study
from symnmf.bench.tasks import TASKS, plain
from symnmf.errors import InvalidInput, UnknownName

#: Told after a run what it was, how many are done, and how many there are.
Report = Callable[[Run, int, int], None]


def run_study(study: Study, store: Store, report: Report | None = None, jobs: int = 1) -> int:
    """Run what is missing; every result is kept as soon as it is there.

    The same work is not done twice: what another study has found is taken over, and so is a run
    with a smaller budget that ended before it was spent. A program that is not installed is
    left out, and its runs stay missing.

    Arguments:
        study: what to do.
        store: where results go; runs that are there are not repeated.
        report: told about progress.
        jobs: processes that work side by side, each with its share of the threads.

    Returns:
        how many runs were made.
    """
    for part in study.parts:
        if part.task not in TASKS:
            choices = ", ".join(TASKS)
            raise UnknownName("task", f"unknown task {part.task!r}", f"Choose {choices}")
    if jobs < 1:
        raise InvalidInput("jobs", f"got {jobs}", "Pass 1 or more")
    with files.lock(store.folder):
        runs, there, known = study.runs(), store.done(study.name), store.known()
        left: list[Run] = []
        made = 0
        for run in runs:
            if run.key in there:
                continue
            same = next((r for r in known.get(run.work, []) if stands_for(r, run)), None)
            if same is None:
                left.append(run)
            else:
                store.append(run, same["found"])
        done = len(runs) - len(left)
        for run, found in _results(left, jobs):
            if found is not None:
                store.append(run, plain(found))
                made += 1
            done += 1
            if report is not None:
                report(run, done, len(runs))
    return made


def stands_for(record: dict[str, Any], run: Run) -> bool:
    """Whether a result of the same work is what this run would find."""
    spent = record["found"].get("status") == "TIME_OUT"
    return bool(record["seconds"] == run.seconds or (record["seconds"] < run.seconds and not spent))


def attempt(run: Run) -> dict[str, Any] | None:
    """What a run finds; None where its program is not installed."""
    try:
        return TASKS[run.task](run)
    except ImportError:
        return None


def _results(runs: Sequence[Run], jobs: int) -> Iterator[tuple[Run, dict[str, Any] | None]]:
    """Every run with what it found, as they end."""
    if jobs == 1:
        yield from ((run, attempt(run)) for run in runs)
        return
    threads = max(1, torch.get_num_threads() // jobs)
    begin, before = (threads, os.getpid()), set(active_children())
    with ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=_begin, initargs=begin
    ) as pool:
        try:
            with _deaf_children():
                futures = {pool.submit(attempt, run): run for run in runs}
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BaseException:  # also Ctrl-C: nobody waits for the runs that are under way
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in set(active_children()) - before:
                worker.terminate()
            raise


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Processes that are started here do not hear Ctrl-C: whoever started them ends them."""
    mine = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if mine else None
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)


def _begin(threads: int, parent: int) -> None:
    """Set up a worker, which ends when the process that started it is gone."""
    torch.set_num_threads(threads)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
