"""From a table or a matrix of the caller to an operator, with a record of every step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from symnmf.analysis.shared_columns import load_in_shares, shareable
from symnmf.data import IsMatrix, Panel, read_matrix, read_panel, sensible_matrix
from symnmf.data.panel import PanelSummary
from symnmf.dependence import estimate
from symnmf.distributed import ProcessGroup
from symnmf.distributed.agreement import all_or_none, digest_of, require_same, row_digests
from symnmf.errors import speaking
from symnmf.operators import SymmetricOperator, as_operator
from symnmf.operators.rows import SAME_COPY
from symnmf.operators.sharding import shard
from symnmf.operators.stored import open_matrix
from symnmf.options import choice

#: Kinds of data; ``"auto"`` is found from the data.
KINDS = ("auto", "prices", "returns", "values", "matrix")


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
    reading: Mapping[str, Any],
    process_group: ProcessGroup | None = None,
) -> LoadedData:
    """The dependence matrix of a table, or a given matrix, distributed over processes.

    Arguments:
        data: a path, a table, a :class:`Panel`, a matrix or an operator.
        kind: ``"prices"``, ``"returns"``, ``"values"``, ``"matrix"`` or ``"auto"``; a panel
            always holds returns.
        dependence, dependence_options: estimator for a table, and its further arguments.
        missing, max_missing: policy for missing numbers of a table; see
            :func:`symnmf.read_panel`.
        reading: further arguments of :func:`symnmf.read_panel`; ``diagonal`` is for a matrix.
        process_group: processes that share the rows; None for one process.
    """
    choice("kind", kind, KINDS)
    path = Path(data) if isinstance(data, str | Path) else None
    record: dict[str, Any] = {"source": str(path or type(data).__name__), "kind": kind}
    named = {} if path is None else dict.fromkeys(("table", "returns", "S"), str(path))
    options = dict(reading)
    diagonal = options.pop("diagonal", None)
    with speaking(named):
        if kind == "matrix" or (kind == "auto" and _is_matrix(data, path)):
            return _matrix(data, path, {**record, "kind": "matrix"}, diagonal, process_group)

        if shareable(path, kind, dependence, dependence_options, options, process_group):
            assert path is not None
            assert process_group is not None
            shared = load_in_shares(
                path, kind, dependence, dependence_options, options, process_group
            )
            if shared is not None:
                return _shared(*shared, record)

        def read() -> Panel | None:
            """The table; None if it is a matrix after all."""
            if isinstance(data, Panel):
                return data
            try:
                return read_panel(
                    data, kind=kind, missing=missing, max_missing=max_missing, **options
                )
            except IsMatrix:
                if kind != "auto":
                    raise
                return None

        panel = all_or_none(process_group, read)
        _require_same_table(panel, named.get("table", "the table"), process_group)
        if panel is None:
            return _matrix(data, path, {**record, "kind": "matrix"}, diagonal, process_group)
        if not isinstance(data, Panel):
            record["kind"] = panel.summary.kind
        S = all_or_none(process_group, lambda: estimate(dependence, panel, **dependence_options))
    done = () if S.provenance is None else tuple(S.provenance.steps)
    record |= {"panel": list(panel.summary.steps), "dependence": list(done)}
    record["summary"] = asdict(panel.summary)
    S = S if process_group is None else shard(S, process_group)
    return LoadedData(S, panel, (*panel.summary.steps, *done), record)


def _shared(S: SymmetricOperator, summary: PanelSummary, record: dict[str, Any]) -> LoadedData:
    """What was read and estimated in shares: no process has the table."""
    done = () if S.provenance is None else tuple(S.provenance.steps)
    record |= {"panel": list(summary.steps), "dependence": list(done), "summary": asdict(summary)}
    return LoadedData(S, None, (*summary.steps, *done), record)


def _require_same_table(panel: Panel | None, what: str, group: ProcessGroup | None) -> None:
    """Raise InvalidFile, in every process, if the processes read different tables."""
    if group is None:
        return
    marks = {"its kind": "a matrix"}
    if panel is not None:
        T, n = panel.values.shape
        marks = {
            "its kind": panel.summary.kind,
            "its shape": f"{T} × {n}",
            "its names": digest_of(list(panel.names)),
            "its dates": digest_of([panel.summary.first, panel.summary.last]),
            **row_digests(torch.from_numpy(np.ascontiguousarray(panel.values))),
        }
    require_same(group, what, marks, SAME_COPY)


def _is_matrix(data: Any, path: Path | None) -> bool:
    """Whether data of unknown kind can only be a matrix."""
    if path is not None:
        return path.is_dir() or path.suffix.lower() in (".npy", ".npz")
    if isinstance(data, SymmetricOperator) or hasattr(data, "tocsr"):
        return True
    if not isinstance(data, np.ndarray) or data.ndim != 2 or data.shape[0] != data.shape[1]:
        return False
    return bool(np.allclose(data, data.T, rtol=1e-5, atol=0))


def _matrix(
    data: Any,
    path: Path | None,
    record: dict[str, Any],
    diagonal: str | None,
    process_group: ProcessGroup | None,
) -> LoadedData:
    """The operator of a matrix that is given as an object, in a file, or in a folder."""
    notes: list[str] = []
    if path is not None and path.is_dir():
        S = open_matrix(path, process_group=process_group)
    else:

        def read() -> tuple[SymmetricOperator, list[str]]:
            checked, said = sensible_matrix(data if path is None else read_matrix(path), diagonal)
            return as_operator(checked), said

        S, notes = all_or_none(process_group, read)
        S = S if process_group is None else shard(S, process_group)
    source = "" if path is None else f" read from {path.name}"
    step = f"{S.n} × {S.n} matrix{source}, {type(S).__name__}"
    return LoadedData(S, None, (step, *notes), {**record, "dependence": [step, *notes]})
