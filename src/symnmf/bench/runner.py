"""Run benchmarks: the missing runs of a study, or all rows of a measurement."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager, nullcontext
from dataclasses import fields
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any, NamedTuple

import torch

from symnmf import storage
from symnmf.bench.measurement import Choices, MeasuredRow, Measurement, published_rows
from symnmf.bench.published_table import PublishedTable, compare
from symnmf.bench.results_store import Store, is_current, new_record
from symnmf.bench.study import Run, Study
from symnmf.bench.tasks import TASKS, plain
from symnmf.errors import InvalidInput, UnknownName

#: Called after a run with the run, how many are done, and how many there are.
OnRun = Callable[[Run, int, int], None]


class Outcome(NamedTuple):
    """Findings of a run, and its number of threads."""

    found: dict[str, Any]
    threads: int


def run_study(study: Study, store: Store, on_run: OnRun | None = None, jobs: int = 1) -> int:
    """Run what is missing; every result is stored as soon as it is measured.

    The same work is not done twice: the result of another study is taken over, and so is that of
    a run with a smaller budget which ended before the budget was spent. Runs of a program that is
    not installed stay missing.

    Arguments:
        study: which runs.
        store: store of the results; runs that it holds are not repeated.
        on_run: function called after every run.
        jobs: processes that run at the same time, each with its share of the threads.

    Returns:
        The number of computed runs.
    """
    for part in study.parts:
        if part.task not in TASKS:
            choices = ", ".join(TASKS)
            raise UnknownName("task", f"unknown task {part.task!r}", f"Choose {choices}")
    if jobs < 1:
        raise InvalidInput("jobs", f"got {jobs}", "Pass 1 or more")
    with storage.lock(store.folder):
        runs, there, known = study.runs(), store.done(study.name), _by_work(store)
        left: list[Run] = []
        made = 0
        for run in runs:
            if run.key in there:
                continue
            same = next((r for r in known.get(run.work, []) if stands_for(r, run)), None)
            if same is None:
                left.append(run)
            else:
                store.append(study.name, new_record(run, same["found"], same["threads"]))
        done = len(runs) - len(left)
        for run, outcome in _results(left, jobs, store.scratch):
            if outcome is not None:
                record = new_record(run, plain(outcome.found), outcome.threads)
                store.append(study.name, record)
                made += 1
            done += 1
            if on_run is not None:
                on_run(run, done, len(runs))
    return made


def run_measurement(
    measurement: Measurement, store: Store, choices: Choices | None = None, publish: bool = False
) -> list[PublishedTable]:
    """Measure every row and compare the tables with the published ones.

    Arguments:
        measurement: what to measure.
        store: the published rows.
        choices: sizes, solvers, budget and data, where they are not the default.
        publish: whether to store the rows. Rows that name all choices are stored as soon as they
            are measured and replace the same rows; otherwise the rows replace all rows at the end
            (after an error, the same rows).

    Returns:
        The tables that have rows, each compared with its published rows.
    """
    choices = choices or Choices()
    measurement.check(choices, publish)
    if measurement.measure is None:
        raise InvalidInput(measurement.name, "is measured by the tests", "Run `make trust`")
    before = published_rows(measurement, store, any_numerics=True)
    rows: list[MeasuredRow] = []
    whole = False
    with storage.lock(store.folder) if publish else nullcontext():
        try:
            for row in measurement.measure(choices):
                rows.append(row)
                choices.note(f"{row.table}: {', '.join(map(str, row.labels.values()))}")
                if publish and measurement.named:
                    publish_rows(measurement, store, [row])
            whole = True
        finally:  # what was measured before an error is kept
            if publish and not measurement.named:
                publish_rows(measurement, store, rows, replace=whole)
    return compare(measurement, rows, before if measurement.comparable(choices) else [])


def publish_rows(
    measurement: Measurement, store: Store, rows: Sequence[MeasuredRow], *, replace: bool = False
) -> None:
    """Store measured rows, each in the place of the same row of an older run.

    Arguments:
        measurement: what they belong to.
        store: store of the rows.
        rows: the measured rows.
        replace: whether to remove published rows that are not measured any more.
    """
    records = {} if replace else {
        MeasuredRow.of(record).place: record for record in store.results(measurement.name)
    }  # fmt: skip
    for row in rows:
        records[row.place] = new_record(row, row.found, torch.get_num_threads())
    store.rewrite(measurement.name, records.values())


def stands_for(record: dict[str, Any], run: Run) -> bool:
    """Whether a stored result of the same work is what this run would find."""
    spent = record["found"].get("status") == "TIME_OUT"
    return bool(record["seconds"] == run.seconds or (record["seconds"] < run.seconds and not spent))


def attempt(run: Run, scratch: Path) -> Outcome | None:
    """What a run finds; None when its program is not installed.

    Arguments:
        run: what to do.
        scratch: folder for matrices and unfinished runs.
    """
    try:
        return Outcome(TASKS[run.task](run, scratch), torch.get_num_threads())
    except ImportError:
        return None


def _by_work(store: Store) -> dict[str, list[dict[str, Any]]]:
    """Records of all studies with the present digits, by the work that was done."""
    found: dict[str, list[dict[str, Any]]] = {}
    names = {f.name for f in fields(Run)}
    for benchmark in store.benchmarks():
        for record in store.results(benchmark):
            if is_current(record) and "task" in record:
                run = Run(**{name: record[name] for name in names})
                found.setdefault(run.work, []).append(record)
    return found


def _results(runs: Sequence[Run], jobs: int, scratch: Path) -> Iterator[tuple[Run, Outcome | None]]:
    """Every run with what it found, in the order in which the runs end."""
    if jobs == 1:
        yield from ((run, attempt(run, scratch)) for run in runs)
        return
    threads = max(1, torch.get_num_threads() // jobs)
    begin, before = (threads, os.getpid()), set(active_children())
    with ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=_begin, initargs=begin
    ) as pool:
        try:
            with _children_ignore_interrupts():
                futures = {pool.submit(attempt, run, scratch): run for run in runs}
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BaseException:  # also Ctrl-C: runs that have begun are not awaited
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in set(active_children()) - before:
                worker.terminate()
            raise


@contextmanager
def _children_ignore_interrupts() -> Iterator[None]:
    """Processes that are started here ignore Ctrl-C: the process that started them ends them."""
    mine = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if mine else None
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)


def _begin(threads: int, parent: int) -> None:
    """Set up a worker process, which ends when the process that started it has ended."""
    torch.set_num_threads(threads)

    def end_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
