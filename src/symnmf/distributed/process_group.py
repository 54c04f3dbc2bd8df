"""Processes that work on one matrix: the rows of each process, and collective operations."""

from __future__ import annotations

import atexit
import os
import socket
import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor

from symnmf.distributed.agreement import require_same
from symnmf.distributed.environment import (
    local_number,
    processes_on_this_machine,
    under_torchrun,
)
from symnmf.distributed.native_log import native_log, remove_native_log
from symnmf.errors import InvalidInput, PeerLost, SymnmfError
from symnmf.numerics import CHUNKS

#: Seconds that a process waits for another, and seconds between two heartbeats.
TIMEOUT, BEAT = 300.0, 0.5
#: Heartbeats during which a process finds out which one was lost, and during which the first
#: process, which keeps the heartbeats, stays for the others.
INQUIRY, COURTESY = 4, 2
#: Key that says that a process lost another.
FAILED = "symnmf/failed"


T = TypeVar("T")


class ProcessGroup:
    """The processes of ``torch.distributed``, each with its share of the row chunks.

    Every method that communicates is collective. Sums follow a fixed tree over the chunks, so that
    they are the same for every number of processes. Nothing is pickled.
    """

    def __init__(self) -> None:
        import torch.distributed as dist

        self.process_index, self.process_count = dist.get_rank(), dist.get_world_size()
        self._dist = dist
        self._calls, self._beats = 0, 0
        self._left, self._failed, self._known = (threading.Event() for _ in range(3))
        self._lost: list[int] = []
        self._store = dist.distributed_c10d._get_default_store()
        if self.process_count > 1:
            threading.Thread(target=self._beat_on, daemon=True).start()
        self.hosts: list[str] = []
        self.hosts = self.texts(socket.gethostname())

    @property
    def device(self) -> torch.device:
        """Device of this process: its GPU with NCCL, otherwise the CPU."""
        gpu = self._dist.get_backend() == "nccl"
        return torch.device("cuda", torch.cuda.current_device()) if gpu else torch.device("cpu")

    def share(self, process_index: int | None = None) -> range:
        """Chunks of a process; by default of this process."""
        process_index = self.process_index if process_index is None else process_index
        return range(
            CHUNKS * process_index // self.process_count,
            CHUNKS * (process_index + 1) // self.process_count,
        )

    def shares(self) -> list[range]:
        """Chunks of every process."""
        return [self.share(process_index) for process_index in range(self.process_count)]

    def gather(self, local: Tensor, sizes: Sequence[int]) -> Tensor:  # (sizes[p], …) -> (Σ, …)
        """Concatenate the rows of all processes, in order.

        Arguments:
            local: rows of this process.
            sizes: number of rows of each process.
        """
        if self.process_count == 1:
            return local
        most = max(sizes)
        mine = local.contiguous()
        if len(local) < most:
            mine = local.new_zeros(most, *local.shape[1:])
            mine[: len(local)] = local
        every = mine.new_empty(self.process_count * most, *local.shape[1:])
        gather = getattr(self._dist, "all_gather_single", None) or self._dist.all_gather_into_tensor
        self._call(lambda: gather(every, mine))
        if min(sizes) == most:
            return every
        parts = [every[r * most : r * most + size] for r, size in enumerate(sizes)]
        return torch.cat(parts)

    def tree(self, leaf: Callable[[int], Tensor]) -> Tensor:
        """Sum over all chunks, with a fixed order of additions and few partial sums in memory.

        Arguments:
            leaf: function that returns the summand of a chunk; called for the chunks of this
                process, in order.
        """
        nodes = [_nodes(share) for share in self.shares()]
        mine = torch.stack([_sum(node, leaf) for node in nodes[self.process_index]])
        every = self.gather(mine, [len(part) for part in nodes])
        known = dict(zip([node for part in nodes for node in part], every, strict=True))
        return _sum(range(CHUNKS), lambda c: known[range(c, c + 1)], known)

    def disjoint(self, x: Tensor) -> Tensor:
        """Sum of the tensors of all processes, at most one of which is nonzero in each entry."""
        if self.process_count > 1:
            self._call(lambda: self._dist.all_reduce(x))
        return x.add_(0)  # turns −0 into 0, as a sum with zeros does

    def agree(self, *values: Any) -> tuple[Any, ...]:
        """The numbers or truth values of process 0."""
        if self.process_count == 1:
            return values
        shared = torch.tensor([float(v) for v in values], dtype=torch.float64, device=self.device)
        self._call(lambda: self._dist.broadcast(shared, 0))
        return tuple(type(v)(x) for v, x in zip(values, shared.tolist(), strict=True))

    def largest(self, *values: int) -> tuple[int, ...]:
        """The largest value of all processes, for each of the values."""
        if self.process_count == 1:
            return values
        shared = torch.tensor(values, dtype=torch.int64, device=self.device)
        self._call(lambda: self._dist.all_reduce(shared, self._dist.ReduceOp.MAX))
        return tuple(shared.tolist())

    def same(self, x: Tensor) -> bool:
        """Whether all processes hold the same tensor."""
        mark = x.contiguous().view(torch.int32).sum(dtype=torch.int64)
        marks = self.gather(mark[None], [1] * self.process_count)
        return bool((marks == marks[0]).all())

    def texts(self, text: str) -> list[str]:
        """The texts of all processes, in order."""
        content = bytearray(text, "utf-8")
        size = torch.tensor([len(content)], device=self.device)
        sizes = self.gather(size, [1] * self.process_count).tolist()
        if not any(sizes):
            return [""] * self.process_count
        mine = torch.tensor(list(content), dtype=torch.uint8, device=self.device)
        every = bytes(self.gather(mine, sizes).tolist())
        ends = [sum(sizes[: p + 1]) for p in range(self.process_count)]
        return [every[e - n : e].decode("utf-8") for n, e in zip(sizes, ends, strict=True)]

    def name(self, process_index: int) -> str:
        """A process in words, with its host."""
        host = f" (host {self.hosts[process_index]})" if self.hosts else ""
        return f"process {process_index} of {self.process_count}{host}"

    def leave(self) -> None:
        """Wait for the other processes and end the group; to be called before the process ends."""
        self._call(self._dist.barrier)
        self._left.set()
        _end()
        remove_native_log()

    def _call(self, collective: Callable[[], T]) -> T:
        """Run a collective operation; if it fails, PeerLost names the lost processes."""
        self._calls += 1
        try:
            return collective()
        except RuntimeError as broken:
            raise self._failure(str(broken).splitlines()[0]) from broken

    def _failure(self, reason: str) -> PeerLost:
        """Error that names the processes that are dead or behind.

        The first process of a host that is not behind tells a person.
        """
        self._failed.set()
        # The store may be on the host that was lost; then nobody answers.
        known = self._known.wait((INQUIRY + 2) * BEAT)
        behind = self._lost if known else [0]
        if self.process_index == 0:
            time.sleep(COURTESY * BEAT)
        names = ", ".join(self.name(p) for p in behind) or f"a process of {self.process_count}"
        log = native_log()
        details = reason if log is None else f"details are in {log}"
        if log is not None:
            os.write(2, f"{reason}\n".encode())
        here = [p for p, host in enumerate(self.hosts) if host == self.hosts[self.process_index]]
        speaker = next((p for p in here if p not in behind), self.process_index)
        return PeerLost(
            f"{names} did not respond ({details}). Check its machine; run again with --resume to "
            "resume from the last checkpoint.",
            spoken=speaker == self.process_index,
        )

    def _beat_on(self) -> None:
        """Tell the others how far this process is, also while it waits for them; in a thread.

        When one process has lost another, all of them find out at the same time which one it was,
        before the first of them ends.
        """
        try:
            while not self._left.is_set():
                self._beat()
                if self._failed.is_set():
                    self._store.set(FAILED, "1")
                if self._store.check([FAILED]) and not self._known.is_set():
                    self._lost = self._inquire()
                    self._known.set()
                (self._left if self._known.is_set() else self._failed).wait(BEAT)
        except RuntimeError:  # the store ended with process 0
            if not self._known.is_set():
                self._lost = [0]
                self._known.set()

    def _beat(self) -> None:
        self._beats += 1
        self._store.set(f"symnmf/{self.process_index}", f"{self._calls} {self._beats}")

    def _inquire(self) -> list[int]:
        """Processes whose heart does not beat; if there are none, those that are behind."""
        before = self._heard()
        for _ in range(INQUIRY):
            time.sleep(BEAT)
            self._beat()
        now = self._heard()
        others = [p for p in range(self.process_count) if p != self.process_index]
        dead = [p for p in others if now[p] == before[p]]
        return dead or [p for p in others if now[p][0] < self._calls]

    def _heard(self) -> list[tuple[int, int]]:
        """Calls and heartbeats of every process."""
        keys = [f"symnmf/{process_index}" for process_index in range(self.process_count)]
        texts = [self._store.get(key).split() if self._store.check([key]) else () for key in keys]
        return [(int(text[0]), int(text[1])) if text else (0, 0) for text in texts]


class Sharing(Protocol):
    """A process group, or an operator whose rows are shared by one."""

    process_index: int

    def agree(self, *values: Any) -> tuple[Any, ...]:
        """The values of process 0."""


def first_decides(shared: Sharing, act: Callable[[], object]) -> None:
    """Run an action in process 0; if it raises an error, every process raises one.

    Arguments:
        shared: the process group, or an operator.
        act: the action.

    Raises:
        InvalidInput: in the other processes, if the action failed in process 0.
    """
    failure: Exception | None = None
    if shared.process_index == 0:
        try:
            act()
        except (SymnmfError, OSError) as error:
            failure = error
    (good,) = shared.agree(failure is None)
    if failure is not None:
        raise failure
    if not good:
        raise InvalidInput("process 0", "failed to begin", "See its error message")


def join(timeout: float = TIMEOUT, device: str | None = None) -> ProcessGroup | None:
    """The group of processes that ``torchrun`` started; None without torchrun.

    Each process uses a GPU with NCCL if there are enough, otherwise the CPU with gloo.

    Arguments:
        timeout: seconds that a process waits for another.
        device: ``"cpu"`` for the CPU even where there are GPUs, ``"cuda"`` for an error where
            there are not enough of them.

    Raises:
        InvalidInput: there are more processes than row chunks.
    """
    if not under_torchrun():
        return None
    import torch.distributed as dist

    if not dist.is_initialized():
        local = processes_on_this_machine()
        gpu = dist.is_nccl_available() and torch.cuda.device_count() >= local and device != "cpu"
        if device == "cuda" and not gpu:
            count = torch.cuda.device_count()
            raise InvalidInput("device", f"{local} processes and {count} GPUs are on this machine",
                               "Start one process for each GPU, or choose cpu")  # fmt: skip
        if gpu:
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
            os.environ.setdefault(
                "TORCH_NCCL_BLOCKING_WAIT", "1"
            )  # otherwise a hung process is not reported
        backend = "nccl" if gpu else "gloo"
        try:
            dist.init_process_group(backend, timeout=timedelta(seconds=timeout))
        except RuntimeError as broken:
            raise PeerLost(_unmet(timeout), spoken=local_number() == 0) from broken
        atexit.register(_end)  # gloo threads that outlive the interpreter abort it
    if dist.get_world_size() > CHUNKS:
        raise InvalidInput(
            "processes", f"got {dist.get_world_size()}", f"Start at most {CHUNKS} processes"
        )
    group = ProcessGroup()
    _require_same_program(group)
    return group


def _require_same_program(group: ProcessGroup) -> None:
    """Raise an error, in every process, if digits would depend on the process."""
    from symnmf import NUMERICS, __version__

    require_same(
        group,
        "the program",
        {
            "symnmf": f"{__version__}, numerics {NUMERICS}",
            "torch": torch.__version__,
            "threads": str(torch.get_num_threads()),
        },
        "Install the same versions on every host, and set OMP_NUM_THREADS to the same number",
    )


def _unmet(timeout: float) -> str:
    """Message of a process that did not meet the others."""
    at = ":".join(os.environ.get(name, "?") for name in ("MASTER_ADDR", "MASTER_PORT"))
    who = f"process {os.environ['RANK']} (host {socket.gethostname()})"
    return (
        f"{who} did not meet the {os.environ['WORLD_SIZE']} processes of the run at {at} within "
        f"{timeout:g} s. Check that every host runs and reaches this address."
    )


def _end() -> None:
    import torch.distributed as dist

    if dist.is_initialized():
        dist.destroy_process_group()


def _nodes(share: range) -> list[range]:
    """The largest nodes of the tree over the chunks that cover a share.

    Example:
        >>> _nodes(range(0, 21))
        [range(0, 16), range(16, 20), range(20, 21)]
    """
    found = []
    begin = share.start
    while begin < share.stop:
        width = begin & -begin or CHUNKS
        while begin + width > share.stop:
            width //= 2
        found.append(range(begin, begin + width))
        begin += width
    return found


def _sum(
    node: range, leaf: Callable[[int], Tensor], known: dict[range, Tensor] | None = None
) -> Tensor:
    """Sum over a node of the tree: the sum of its halves, down to leaves and known nodes."""
    if known is not None and node in known:
        return known[node]
    if len(node) == 1:
        return leaf(node.start)
    half = len(node) // 2
    return _sum(node[:half], leaf, known) + _sum(node[half:], leaf, known)
