"""A fit for commands that go on from one: a new one, or that of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from symnmf.cli.data_options import NO_DAYS, DataRequest
from symnmf.cli.result_folder import data_of, is_result
from symnmf.cli.shared_options import wanted_groups

if TYPE_CHECKING:
    from symnmf.analysis.loading import LoadedData
    from symnmf.core.result import Result
    from symnmf.data import Panel


def fit_of(
    data: DataRequest, k: int | str | None, folder: Path | None, seed: int
) -> tuple[DataRequest, Panel, Result]:
    """The data, the returns and the groups: of the folder of a fit, or of a table.

    Arguments:
        data: what the command was asked to read: a table, or the folder of a fit.
        k, folder, seed: as for :func:`fitted`.

    Raises:
        InvalidInput: the data are a matrix, or the fit is of other instruments.
    """
    from symnmf.analysis.folder import load
    from symnmf.errors import InvalidInput

    if folder is None and data.kind == "auto" and is_result(data.path):
        folder, data = data.path, data_of(data.path)
        return data, data.panel(), load(folder)
    loaded, made = fitted(data, k, folder, seed)
    if loaded.panel is None:
        raise InvalidInput(str(data.path), *NO_DAYS)
    return data, loaded.panel, made


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
