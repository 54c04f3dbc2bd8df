"""Names and groups in a compact form for the search field of the report."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from symnmf.core.labels import group_numbers
from symnmf.core.result import Result
from symnmf.grouping.naming import names_of
from symnmf.report.embed import embedded_size

#: Maximum number of bytes of all names together; beyond it names are cut, and the page says so.
NAME_BYTES = 3_000_000


#: Maximum number of instruments for which the page has a search field.
MAX_SEARCHED = 150_000


@dataclass(frozen=True)
class Index:
    """Data of the search field, in the order of the rows.

    Attributes:
        names: names, cut where they are too long together.
        first: number of the group of each instrument; 0 for none.
        second: number of the second-best group; 0 for none.
        margin: lead of the first group over the second, in per cent.
        cut: length to which names were cut, or None.
    """

    names: list[str]
    first: list[int]
    second: list[int]
    margin: list[int]
    cut: int | None


def index(result: Result) -> Index:
    """The search index of a factorization."""
    names = names_of(result)
    if len(names) > MAX_SEARCHED:
        return Index([], [], [], [], None)
    size, cut = embedded_size(names), None
    if size > NAME_BYTES:
        cut = max(8, int(sum(map(len, names)) / len(names) * NAME_BYTES / size))
        names = [name[:cut] for name in names]
    labels, H = result.labels().cpu(), result.H.cpu()
    second = torch.full((len(H),), -1)
    if H.shape[1] > 1:
        norms = torch.linalg.vector_norm(H, dim=0).clamp(min=1e-30)
        top, place = (H / norms).topk(2, dim=1)
        second = torch.where((labels >= 0) & (top[:, 1] > 0), place[:, 1], -1)
    margin = (100 * result.margins().cpu()).round().to(torch.int64)
    return Index(
        names,
        group_numbers(labels).tolist(),
        group_numbers(second).tolist(),
        margin.tolist(),
        cut,
    )
