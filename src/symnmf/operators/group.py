"""Processes that work on one matrix: who has which rows, and how results are put together."""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor

from symnmf.errors import InvalidInput, PeerLost, SymnmfError

#: Fixed row chunks, whatever the number of processes; so many processes at most.
CHUNKS = 64
#: Seconds that a process waits for the others; and between two signs of life.
TIMEOUT, BEAT = 300.0, 1.0

T = TypeVar("T")


class Group:
    """The processes of ``torch.distributed``, each with its share of the chunks.

    Every method is collective. Sums are made over a fixed tree of the chunks, so that they are the
    same for every number of processes. Nothing is pickled.
    """

    def __init__(self) -> None:
        import torch.distributed as dist

        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self._dist = dist
        self._calls, self._beat = 0, 0.0
        self._store = dist.distributed_c10d._get_default_store()

    @property
    def device(self) -> torch.device:
        """Where this process computes: its GPU with NCCL, else the CPU."""
        gpu = self._dist.get_backend() == "nccl"
        return torch.device("cuda", torch.cuda.current_device()) if gpu else torch.device("cpu")

    def share(self, rank: int | None = None) -> range:
        """Chunks of a process; its own by default."""
        rank = self.rank if rank is None else rank
        return range(CHUNKS * rank // self.size, CHUNKS * (rank + 1) // self.size)

    def shares(self) -> list[range]:
        """Chunks of every process."""
        return [self.share(rank) for rank in range(self.size)]

    def gather(self, local: Tensor, sizes: Sequence[int]) -> Tensor:  # (sizes[rank], …) -> (Σ, …)
        """The rows of all processes, in order."""
        if self.size == 1:
            return local
        most = max(sizes)
        mine = local.contiguous()
        if len(local) < most:
            mine = local.new_zeros(most, *local.shape[1:])
            mine[: len(local)] = local
        every = mine.new_empty(self.size * most, *local.shape[1:])
        gather = getattr(self._dist, "all_gather_single", None) or self._dist.all_gather_into_tensor
        self._call(lambda: gather(every, mine))
        if min(sizes) == most:
            return every
        parts = [every[r * most : r * most + size] for r, size in enumerate(sizes)]
        return torch.cat(parts)

    def tree(self, leaf: Callable[[int], Tensor]) -> Tensor:
        """Sum over all chunks; ``leaf`` gives those of the own ones, asked for in their order.

        The order of additions is fixed, and few partial sums are held at a time.
        """
        nodes = [_nodes(share) for share in self.shares()]
        mine = torch.stack([_sum(node, leaf) for node in nodes[self.rank]])
        every = self.gather(mine, [len(part) for part in nodes])
        known = dict(zip([node for part in nodes for node in part], every, strict=True))
        return _sum(range(CHUNKS), lambda c: known[range(c, c + 1)], known)

    def disjoint(self, x: Tensor) -> Tensor:
        """Sum of tensors of which all but one are zero at every place."""
        if self.size > 1:
            self._call(lambda: self._dist.all_reduce(x))
        return x.add_(0)  # no −0 that a sum with zeros would not have

    def agree(self, *values: Any) -> tuple[Any, ...]:
        """The numbers or truth values of rank 0."""
        if self.size == 1:
            return values
        said = torch.tensor([float(v) for v in values], dtype=torch.float64, device=self.device)
        self._call(lambda: self._dist.broadcast(said, 0))
        return tuple(type(v)(x) for v, x in zip(values, said.tolist(), strict=True))

    def same(self, x: Tensor) -> bool:
        """Whether all processes hold the same tensor."""
        mark = x.contiguous().view(torch.int32).sum(dtype=torch.int64)
        marks = self.gather(mark[None], [1] * self.size)
        return bool((marks == marks[0]).all())

    def leave(self) -> None:
        """Wait for the others and end the group; to be called before the process ends."""
        self._call(self._dist.barrier)
        _end()

    def _call(self, collective: Callable[[], T]) -> T:
        """Run a collective; when the others do not answer, say who."""
        self._calls += 1
        try:
            if time.monotonic() - self._beat > BEAT:
                self._beat = time.monotonic()
                self._store.set(f"symnmf/{self.rank}", str(self._calls))
            return collective()
        except RuntimeError as broken:
            raise PeerLost(self._who(str(broken).splitlines()[0])) from broken

    def _who(self, reason: str) -> str:
        """The processes that are behind, by their last signs of life."""
        try:
            self._store.set(f"symnmf/{self.rank}", str(self._calls))
            time.sleep(2 * BEAT)  # for the others to say where they are
            keys = [f"symnmf/{rank}" for rank in range(self.size)]
            calls = [int(self._store.get(key)) if self._store.check([key]) else 0 for key in keys]
            behind = [rank for rank, count in enumerate(calls) if count < self._calls]
        except RuntimeError:  # the store went with rank 0
            behind = [0]
        names = ", ".join(map(str, behind)) or "unknown"
        return (
            f"process {names} of {self.size} did not answer ({reason}). Look at its machine and "
            "its log; start again with --resume to go on from the last checkpoint."
        )


class Sharing(Protocol):
    """A group, or an operator whose rows a group shares."""

    rank: int

    def agree(self, *values: Any) -> tuple[Any, ...]:
        """The values of rank 0."""


def first_decides(who: Sharing, act: Callable[[], object]) -> None:
    """Process 0 acts; when it refuses, the others hear of it and end as well, and nobody waits."""
    refused: Exception | None = None
    if who.rank == 0:
        try:
            act()
        except (SymnmfError, OSError) as wrong:
            refused = wrong
    (good,) = who.agree(refused is None)
    if refused is not None:
        raise refused
    if not good:
        raise InvalidInput("process 0", "refused to begin", "See what it says")


def join(timeout: float = TIMEOUT) -> Group | None:
    """The group that ``torchrun`` started this process in; None when it is alone.

    Device and backend are what is there: a GPU each with NCCL, else CPUs with gloo.
    """
    if "WORLD_SIZE" not in os.environ or "RANK" not in os.environ:
        return None
    import torch.distributed as dist

    if not dist.is_initialized():
        local = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
        gpu = dist.is_nccl_available() and torch.cuda.device_count() >= local
        if gpu:
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
            os.environ.setdefault("TORCH_NCCL_BLOCKING_WAIT", "1")  # else a hung peer is not named
        backend = "nccl" if gpu else "gloo"
        dist.init_process_group(backend, timeout=timedelta(seconds=timeout))
        atexit.register(_end)  # threads of gloo that outlive the interpreter abort it
    if dist.get_world_size() > CHUNKS:
        raise InvalidInput("processes", f"got {dist.get_world_size()}", f"Start at most {CHUNKS}")
    return Group()


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
    """Sum over a node of the tree: of its halves, down to what is known."""
    if known is not None and node in known:
        return known[node]
    if len(node) == 1:
        return leaf(node.start)
    half = len(node) // 2
    return _sum(node[:half], leaf, known) + _sum(node[half:], leaf, known)
