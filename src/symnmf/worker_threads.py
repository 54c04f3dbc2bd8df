"""Work on several threads: independent jobs in order, one item ahead, and jobs meanwhile."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from itertools import islice
from types import TracebackType
from typing import TypeVar

import torch

T = TypeVar("T")
#: Jobs that are begun or waiting, for each thread: the matrices of more are not made yet.
AHEAD = 2


def in_order(jobs: Iterable[Callable[[], T]], threads: int | None = None) -> Iterator[T]:
    """The results of jobs that do not depend on each other, in their order.

    Each job has one thread of torch, so that its digits do not depend on the number of threads.
    The jobs are taken from the iterable as they are needed, in the thread of the caller, which has
    one thread of torch as well until the last result: more would wait, each with a core to itself,
    for the cores that the jobs use. A job must not change the filters of warnings, which all
    threads share.

    Arguments:
        jobs: functions without arguments.
        threads: jobs at the same time; by default the number of threads of torch.

    Example:
        >>> list(in_order([lambda: 1, lambda: 2], threads=2))
        [1, 2]
    """
    before = torch.get_num_threads()
    threads = before if threads is None else threads
    if threads <= 1:
        for job in jobs:
            yield job()
        return
    waiting: deque[Future[T]] = deque()
    with ThreadPoolExecutor(threads, "symnmf", torch.set_num_threads, (1,)) as pool:
        try:
            torch.set_num_threads(1)
            for job in jobs:
                waiting.append(pool.submit(copy_context().run, job))
                if len(waiting) >= AHEAD * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
            pool.shutdown()
            torch.set_num_threads(before)  # the libraries below torch have one number for all


def one_ahead(items: Iterator[T]) -> Iterator[T]:
    """The items of an iterator; the next is made on another thread while the caller uses one.

    One thread of torch makes the items, and the caller has the others until the last item: more
    would wait for each other. With one thread there is nothing to gain, and items are made as they
    are needed.

    Arguments:
        items: the iterator. One thread at a time uses it, so that it may keep a state.

    Example:
        >>> list(one_ahead(iter("abc")))
        ['a', 'b', 'c']
    """
    before = torch.get_num_threads()
    if before <= 1:
        yield from items
        return

    def following() -> list[T]:
        return list(islice(items, 1))

    with ThreadPoolExecutor(1, "symnmf", torch.set_num_threads, (1,)) as pool:
        try:
            coming = pool.submit(copy_context().run, following)
            torch.set_num_threads(before - 1)
            while item := coming.result():
                coming = pool.submit(copy_context().run, following)
                yield item[0]
        finally:
            torch.set_num_threads(before)


class Meanwhile:
    """Jobs that run one after another on a thread of their own while the caller goes on.

    They have one thread of torch. Where the caller has no more, a job runs when its result is asked
    for. A job must not change the filters of warnings, which all threads share. Leaving the block
    by an error cancels the jobs that have not begun.

    Example:
        >>> with Meanwhile() as meanwhile:
        ...     result = meanwhile.begin(lambda: 1 + 1)
        ...     result()
        2
    """

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        if torch.get_num_threads() > 1:
            self._pool = ThreadPoolExecutor(1, "symnmf", torch.set_num_threads, (1,))
            self._threads = torch.get_num_threads()

    def begin(self, job: Callable[[], T]) -> Callable[[], T]:
        """Add a job; the function that is returned waits for its result."""
        if self._pool is None:
            return cache(job)
        future = self._pool.submit(copy_context().run, job)
        return future.result

    def __enter__(self) -> Meanwhile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=kind is None, cancel_futures=kind is not None)
            torch.set_num_threads(self._threads)  # the libraries below torch have one for all
