"""What the caller has, a table or a matrix, as an operator, with a record of what was done."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symnmf.errors import InvalidInput

if TYPE_CHECKING:
    from symnmf.data import Panel
    from symnmf.operators import SymmetricOperator


@dataclass(frozen=True)
class Source:
    """The file of a command: exactly one kind of it.

    Attributes:
        path: of the file or folder.
        kind: ``"matrix"``, ``"returns"`` or ``"prices"``.
    """

    path: Path
    kind: str

    @classmethod
    def of(cls, **given: Path | None) -> Source:
        """The one that was given, by the name of its option."""
        named = {kind: path for kind, path in given.items() if path is not None}
        if len(named) != 1:
            options = [f"--{kind}" for kind in named]
            problem = f"{' and '.join(options)} were given together" if named else "nothing given"
            every = ", ".join(f"--{kind}" for kind in given)
            raise InvalidInput("input", problem, f"Pass exactly one of {every}")
        kind, path = next(iter(named.items()))
        return cls(path, kind)


@dataclass(frozen=True)
class Loaded:
    """S, the panel it comes from, if any, and a record for ``data.json``."""

    S: SymmetricOperator
    panel: Panel | None
    record: dict[str, Any]

    @property
    def steps(self) -> list[str]:
        """What was done, in sentences."""
        return [*self.record.get("panel", ()), *self.record.get("dependence", ())]


def load_source(
    source: Source,
    dependence: str,
    q: float | None,
    tail: str,
    missing: str,
    max_missing: float,
    group: Any = None,
) -> Loaded:
    """The dependence matrix of what the caller has, shared out over a group of processes."""
    from symnmf.data import read_matrix, read_panel
    from symnmf.dependence import estimate
    from symnmf.operators import as_operator
    from symnmf.operators.store import open_matrix, shard

    path = source.path
    record: dict[str, Any] = {"source": str(path), "kind": source.kind}
    if source.kind == "matrix":
        if path.is_dir():
            S = open_matrix(path, group=group)
        else:
            S = as_operator(read_matrix(path))
            S = S if group is None else shard(S, group)
        said = f"{S.n} × {S.n} matrix read from {path.name}, {type(S).__name__}"
        return Loaded(S, None, {**record, "dependence": [said]})
    panel = read_panel(path, kind=source.kind, missing=missing, max_missing=max_missing)
    S = estimate(dependence, panel, **tail_options(dependence, tail, q))
    record |= {"panel": list(panel.summary.steps), "dependence": list(S.about.steps)}
    S = S if group is None else shard(S, group)
    return Loaded(S, panel, {**record, "summary": asdict(panel.summary)})


def tail_options(dependence: str, tail: str, q: float | None) -> dict[str, Any]:
    """Options of the estimator of a dependence."""
    return {"tail": tail, "q": q} if dependence == "tail" else {}
