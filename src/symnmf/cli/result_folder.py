"""The data of a fit, from the configuration in its folder."""

from __future__ import annotations

from pathlib import Path

from symnmf.cli.config_file import read_options
from symnmf.cli.data_options import DataRequest, data_parameters, request
from symnmf.errors import InvalidInput


def is_result(path: Path) -> bool:
    """Whether a path is the folder of a fit."""
    from symnmf import storage
    from symnmf.storage.kinds import RESULT

    return path.is_dir() and storage.held(path) == RESULT.name


def data_of(folder: Path) -> DataRequest:
    """What ``symnmf fit`` read for the result in a folder.

    Arguments:
        folder: folder of a result of ``symnmf fit``.

    Raises:
        InvalidInput: the folder has no configuration, or its data are a matrix or have moved.
    """
    path = folder / "config.toml"
    if not path.is_file():
        raise InvalidInput(
            str(folder),
            "has no config.toml, which names the data of the fit",
            f"Pass the data and --result {folder}",
        )
    known = read_options(path)
    given = {}
    for parameter in data_parameters(matrix=True):
        flags = parameter.annotation.__metadata__[0].param_decls
        name = str(flags[0]).lstrip("-") if flags else parameter.name
        given[parameter.name] = known.get(name, parameter.default)
    found = request(given)
    if found.kind == "matrix":
        raise InvalidInput(
            str(folder), "holds a fit of a matrix", "Pass a fit of a table of prices or returns"
        )
    if not found.path.exists():
        raise InvalidInput(
            str(folder),
            f"holds a fit of {found.path}, which is not there",
            f"Go to the folder from which the fit was made, or pass the data and --result {folder}",
        )
    return found
