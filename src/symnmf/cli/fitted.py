"""A fit for commands that go on from one: a new one, or that of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from symnmf.cli.data_options import NO_DAYS, DataRequest
from symnmf.cli.shared_options import wanted_groups

if TYPE_CHECKING:
    from symnmf.analysis.loading import LoadedData
    from symnmf.core.result import Result
    from symnmf.data import Panel


def table_of(loaded: LoadedData, path: Path) -> Panel:
    """The returns, for commands that need them.

    Raises:
        InvalidInput: the data are a matrix.
    """
    from symnmf.errors import InvalidInput

    if loaded.panel is None:
        raise InvalidInput(str(path), *NO_DAYS)
    return loaded.panel


def fitted(
    data: DataRequest, k: int | str | None, folder: Path | None, seed: int
) -> tuple[LoadedData, Result]:
    """The data of a command and a factorization of them.

    Arguments:
        data: what the command was asked to read.
        k: number of groups; None or ``"auto"`` for the suggested one.
        folder: folder of an existing fit, which is used instead.
        seed: seed of the fit.

    Raises:
        InvalidInput: the fit in the folder is of other instruments.
    """
    from symnmf.analysis.folder import load
    from symnmf.errors import InvalidInput
    from symnmf.factorization import factorize
    from symnmf.grouping.rank_selection import suggest_rank

    loaded = data.load()
    if folder is None:
        count = wanted_groups(k)
        if count is None:
            count = suggest_rank(loaded.operator, seed=seed).k
        return loaded, factorize(loaded.operator, count, seed=seed)
    result = load(folder)
    names = loaded.operator.names
    if len(result.H) != loaded.operator.n or (names and list(result.names or names) != list(names)):
        raise InvalidInput(
            "--result",
            f"{folder} holds a fit of {len(result.H)} instruments, not of the "
            f"{loaded.operator.n} of {data.path}",
            "Pass the folder of a fit of the same data, or leave it out",
        )
    return loaded, result
