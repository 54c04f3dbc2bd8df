"""A run of ``fit`` or ``roll`` that is finished: its groups, its days, and its table."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symnmf.cli.data_options import DataRequest, data_parameters, request

if TYPE_CHECKING:
    from symnmf.core.result import Result
    from symnmf.data import Panel

#: Options whose names differ from those of the parameters.
SPELLED = {"from": "start", "to": "end"}


@dataclass(frozen=True)
class PastRun:
    """What an earlier run found.

    Attributes:
        path: its folder, or the table of classes.
        groups: group of each name.
        k: number of groups.
        first, last: first and last day; None where they are not known.
        request: what it read, and how; None where that is not known.
    """

    path: Path
    groups: dict[str, str]
    k: int
    first: str | None = None
    last: str | None = None
    request: DataRequest | None = None

    def panel(self, table: Path | None = None) -> Panel:
        """The table that the run read, or another one read in the same way.

        Arguments:
            table: path of another table.

        Raises:
            InvalidFile: the table is missing.
        """
        from symnmf.errors import InvalidFile

        assert self.request is not None
        path = self.request.path
        places = [table] if table is not None else [path, self.path.parent / path]
        for place in places:
            if place is not None and place.exists():
                return replace(self.request, path=place).panel()
        raise InvalidFile(
            str(places[0]), "does not exist, so that chance is not known", "Pass --data"
        )


def read_past(path: Path) -> PastRun:
    """Read a folder of a fit or a roll, or a table of classes.

    Arguments:
        path: the folder, or the table. Of a roll the last window counts.
    """
    from symnmf.analysis.folder import load
    from symnmf.data.classes import read_classes
    from symnmf.grouping.naming import group_of
    from symnmf.grouping.rolling_folder import load_rolling
    from symnmf.storage import held
    from symnmf.storage.kinds import WINDOWS

    if not path.is_dir():
        groups = read_classes(path)
        return PastRun(path, groups, len(set(groups.values())))
    first: str | None = None
    last: str | None = None
    result: Result
    if held(path) == WINDOWS.name:
        window = load_rolling(path).windows[-1]
        result, first, last = window.result, window.first, window.last
    else:
        result = load(path)
        about = _json(path / "data.json").get("summary", {})
        if isinstance(about, dict):
            first, last = (_text(about.get(name)) for name in ("first", "last"))
    k = result.H.shape[1]
    return PastRun(path, group_of(result), k, first, last, _request(path / "config.toml"))


def _request(path: Path) -> DataRequest | None:
    """The data options of a configuration; None where there are none."""
    from symnmf.errors import SymnmfError

    try:
        written = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    given: dict[str, Any] = {p.name: p.default for p in data_parameters(matrix=True)}
    for key, value in written.items():
        name = SPELLED.get(key, key.replace("-", "_"))
        if name in given:
            given[name] = value
    try:
        return request(given)
    except (SymnmfError, TypeError):
        return None


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
