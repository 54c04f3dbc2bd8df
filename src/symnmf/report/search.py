"""Names with their groups in a compact form, for the search field."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from symnmf.contract import Result
from symnmf.groups.naming import names_of
from symnmf.report.embed import embedded_size

#: Bytes that all names together may take; longer ones are cut, and that is said.
NAMES = 3_000_000
#: Beyond so many instruments there is no search.
SEARCHED = 150_000


@dataclass(frozen=True)
class Index:
    """What the search field knows, in the order of the rows.

    Attributes:
        names: as they are, or cut.
        first: group of each from 1 on; 0 for none.
        second: the next best group; 0 for none.
        margin: how far the first leads the second, in per cent.
        cut: length to which names were cut, or None.
    """

    names: list[str]
    first: list[int]
    second: list[int]
    margin: list[int]
    cut: int | None


def index(result: Result) -> Index:
    """The index of a factorization whose columns are in order."""
    names = names_of(result)
    if len(names) > SEARCHED:
        return Index([], [], [], [], None)
    size, cut = embedded_size(names), None
    if size > NAMES:
        cut = max(8, int(sum(map(len, names)) / len(names) * NAMES / size))
        names = [name[:cut] for name in names]
    labels, H = result.labels().cpu(), result.H.cpu()
    second = torch.zeros(len(H), dtype=torch.int64)
    if H.shape[1] > 1:
        norms = torch.linalg.vector_norm(H, dim=0).clamp(min=1e-30)
        top, place = (H / norms).topk(2, dim=1)
        second = torch.where((labels >= 0) & (top[:, 1] > 0), place[:, 1] + 1, 0)
    margin = (100 * result.margins().cpu()).round().to(torch.int64)
    return Index(names, (labels + 1).tolist(), second.tolist(), margin.tolist(), cut)
