"""From a table or a matrix of the caller to an operator, with a record of every step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from symnmf.data import Panel, read_matrix, read_panel
from symnmf.dependence import estimate
from symnmf.distributed import ProcessGroup
from symnmf.errors import speaking
from symnmf.operators import SymmetricOperator, as_operator
from symnmf.operators.sharding import shard
from symnmf.operators.stored import open_matrix
from symnmf.options import choice

#: Kinds of data.
KINDS = ("prices", "returns", "matrix")


@dataclass(frozen=True)
class LoadedData:
    """A dependence matrix and its origin.

    Attributes:
        operator: the dependence matrix S.
        panel: table that S was estimated from, if any.
        steps: sentences about what was done to the data.
        record: the steps with further details, for ``data.json``.
    """

    operator: SymmetricOperator
    panel: Panel | None
    steps: tuple[str, ...]
    record: dict[str, Any]


def load_data(
    data: Any,
    kind: str,
    dependence: str,
    dependence_options: Mapping[str, Any],
    missing: str,
    max_missing: float,
    process_group: ProcessGroup | None = None,
) -> LoadedData:
    """The dependence matrix of a table, or a given matrix, distributed over processes.

    Arguments:
        data: a path, a table, a :class:`Panel`, a matrix or an operator.
        kind: ``"prices"``, ``"returns"`` or ``"matrix"``; a panel always holds returns.
        dependence, dependence_options: estimator for a table, and its further arguments.
        missing, max_missing: policy for missing numbers of a table; see
            :func:`symnmf.read_panel`.
        process_group: processes that share the rows; None for one process.
    """
    choice("kind", kind, KINDS)
    path = Path(data) if isinstance(data, str | Path) else None
    record: dict[str, Any] = {"source": str(path or type(data).__name__), "kind": kind}
    named = {} if path is None else dict.fromkeys(("table", "returns", "S"), str(path))
    with speaking(named):
        if kind == "matrix":
            return _matrix(data, path, record, process_group)
        panel = data
        if not isinstance(data, Panel):
            panel = read_panel(data, kind=kind, missing=missing, max_missing=max_missing)
        S = estimate(dependence, panel, **dependence_options)
    done = () if S.provenance is None else tuple(S.provenance.steps)
    record |= {"panel": list(panel.summary.steps), "dependence": list(done)}
    record["summary"] = asdict(panel.summary)
    S = S if process_group is None else shard(S, process_group)
    return LoadedData(S, panel, (*panel.summary.steps, *done), record)


def _matrix(
    data: Any, path: Path | None, record: dict[str, Any], process_group: ProcessGroup | None
) -> LoadedData:
    """The operator of a matrix that is given as an object, in a file, or in a folder."""
    if path is not None and path.is_dir():
        S = open_matrix(path, process_group=process_group)
    else:
        S = as_operator(data if path is None else read_matrix(path))
        S = S if process_group is None else shard(S, process_group)
    source = "" if path is None else f" read from {path.name}"
    step = f"{S.n} × {S.n} matrix{source}, {type(S).__name__}"
    return LoadedData(S, None, (step,), {**record, "dependence": [step]})
