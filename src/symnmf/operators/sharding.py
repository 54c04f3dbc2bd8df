"""Distribution of the rows of an operator over processes."""

from __future__ import annotations

import torch
from torch import Tensor

from symnmf.distributed.agreement import require_same, row_digests
from symnmf.distributed.process_group import ProcessGroup
from symnmf.errors import InvalidFile
from symnmf.numerics import chunk_edges
from symnmf.operators.base import SymmetricOperator
from symnmf.operators.dense import DenseOperator
from symnmf.operators.gram import GramOperator
from symnmf.operators.rows import SAME_COPY, Rows


def shard(S: SymmetricOperator, process_group: ProcessGroup) -> SymmetricOperator:
    """An operator that holds only the rows of this process.

    Arguments:
        S: dense or Gram operator in memory, the same in every process.
        process_group: the processes that share the rows.

    Raises:
        InvalidFile: the operator is neither dense nor Gram, or the processes hold different
            copies of it: all of them compare the checksums of all rows and raise the error.
    """
    if not isinstance(S, DenseOperator | GramOperator):
        raise InvalidFile(
            "S", f"{type(S).__name__} cannot be distributed", "Use a dense or Gram matrix"
        )
    copy = row_digests(S.rows.whole) if process_group.process_count > 1 else {}
    require_same(process_group, "S", copy, SAME_COPY)
    edges, share = chunk_edges(S.n), process_group.share()
    mine = S.rows.whole[edges[share.start] : edges[share.stop]]
    data = own_rows(S.n, mine.shape[1], mine.dtype, process_group, process_group.device)
    data.copy_(mine)
    rows = Rows.shared_out(data, S.n, process_group, device=process_group.device)
    if isinstance(S, DenseOperator):
        return DenseOperator.of(rows, S.frob_sq(), S.mean() * S.n**2, S.names, S.provenance)
    d = None if S.d is None else S.d.to(process_group.device)
    return GramOperator(rows, d, S.names, S.provenance)


def own_rows(
    n: int, width: int, dtype: torch.dtype, process_group: ProcessGroup, device: torch.device
) -> Tensor:  # (own rows, width)
    """Memory for the rows of this process.

    The rows keep the alignment that they have in the whole array: digits may depend on it.

    Arguments:
        n, width: shape of the whole array.
        dtype: type of the array.
        process_group: the processes that share the rows.
        device: where the memory is.
    """
    edges, share = chunk_edges(n), process_group.share()
    begin, count = edges[share.start], edges[share.stop] - edges[share.start]
    pad = begin * width % 64
    return torch.empty(pad + count * width, dtype=dtype, device=device)[pad:].view(count, width)
