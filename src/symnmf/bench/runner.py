"""Do what a study asks for and is not in the store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symnmf import files
from symnmf.bench.store import Store
from symnmf.bench.study import Run, Study
from symnmf.bench.tasks import TASKS, plain
from symnmf.errors import UnknownName

#: Told before a run what it is, how many are done, and how many there are.
Report = Callable[[Run, int, int], None]


def run_study(study: Study, store: Store, report: Report | None = None) -> int:
    """Run what is missing; every result is kept as soon as it is there.

    Arguments:
        study: what to do.
        store: where results go; runs that are there are not repeated.
        report: told about progress.

    Returns:
        how many runs were made.
    """
    if study.task not in TASKS:
        raise UnknownName("task", f"unknown task {study.task!r}", f"Choose {', '.join(TASKS)}")
    with files.lock(store.folder):
        runs = list({run.key: run for run in study.runs()}.values())
        known = store.done(study.name)
        made = 0
        for at, run in enumerate(runs):
            if run.key in known:
                continue
            if report is not None:
                report(run, at, len(runs))
            found: dict[str, Any] = TASKS[run.task](run)
            store.append(run, plain(found))
            made += 1
    return made
