"""Save a run and go on with it, bit for bit."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, fields
from math import isclose, isfinite
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from symnmf import files
from symnmf.contract import Check, Memory
from symnmf.errors import InvalidFile, InvalidInput

KIND, PREFIX = "symnmf checkpoint", "run-"
#: A run that ended so can go on with a larger budget.
RESUMABLE = ("MAX_ITER", "TIME_OUT", "STOPPED")
CHECK_FIELDS = tuple(f.name for f in fields(Check))


@dataclass(frozen=True)
class Checkpoint:
    """Where and how often a run is saved.

    Arguments:
        folder: made when missing; it holds one checkpoint, the newest.
        every_seconds: time between two saves; they happen at checks, and at the end.
        overwrite: replace an unfinished run that is there.

    Example:
        >>> import tempfile, warnings, numpy as np, symnmf as sn
        >>> S = np.kron(np.eye(2), np.ones((3, 3))) + 0.1
        >>> saved = Checkpoint(tempfile.mkdtemp())
        >>> with warnings.catch_warnings(action="ignore"):  # ten steps are too few
        ...     sn.factorize(S, 2, "admm", max_iter=10, checkpoint=saved).status.name
        'MAX_ITER'
        >>> sn.factorize(S, 2, "admm", checkpoint=saved, resume=True).status.name
        'CONVERGED'
    """

    folder: Path
    every_seconds: float = 60.0
    overwrite: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", Path(self.folder))
        if not self.every_seconds >= 0:
            raise InvalidInput(
                "Checkpoint.every_seconds", f"got {self.every_seconds!r}", "Pass seconds, 0 or more"
            )

    def exists(self) -> bool:
        """Whether there is a run to resume."""
        return (self.folder / files.MANIFEST).is_file()

    def save(self, iteration: int, run: Memory, identity: Mapping[str, Any]) -> None:
        """Write the run; whoever is killed here leaves the previous checkpoint."""
        tensors: dict[str, Tensor] = {}
        spec = flatten(run, tensors)
        name = f"{PREFIX}{iteration:09d}.safetensors"
        files.write_tensors(self.folder / name, tensors)
        over = spec["fields"].get("ended") not in (None, *RESUMABLE)
        content = {"identity": dict(identity), "spec": spec, "over": over}
        files.write_manifest(self.folder, KIND, {"run": name}, content)
        files.remove_all_but(self.folder, PREFIX, {name})

    def take(self, resume: bool, stack: ExitStack) -> None:
        """Hold the folder for a run until the stack ends; refuse where another is not over."""
        stack.enter_context(files.lock(self.folder))
        files.check_free(self.folder, KIND, (), force=True)  # nothing of another kind is there
        self.check_free(resume=resume)
        if self.overwrite and not resume:  # a restart must not find the run that this one replaces
            (self.folder / files.MANIFEST).unlink(missing_ok=True)

    def check_free(self, *, resume: bool) -> None:
        """Refuse to begin where another run is not over."""
        if resume or self.overwrite or not self.exists():
            return
        _, content = files.read_manifest(self.folder, KIND)
        if not (isinstance(content, dict) and content.get("over", False)):
            raise InvalidInput(
                "checkpoint",
                f"{self.folder} holds an unfinished run",
                "Pass resume=True to go on with it, or choose another folder",
            )

    def load(self, identity: Mapping[str, Any], device: torch.device, same: float) -> Memory:
        """Read the run back, refusing that of another problem or solver."""
        found, content = files.read_manifest(self.folder, KIND)
        theirs = _part(self.folder, content, "identity")
        for key, ours in identity.items():
            other: Any = theirs.get(key)
            close = isinstance(ours, float) and isinstance(other, float)
            if not (isclose(ours, other, rel_tol=same) if close else ours == other):
                raise InvalidFile(
                    str(self.folder),
                    f"holds another run: its {key} is {other!r}, this one's is {ours!r}",
                    "Resume with the same matrix, k, seed, start and solver, or use a new folder",
                )
        try:
            tensors = files.read_tensors(found["run"], str(device))
            run = unflatten(content["spec"], tensors)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as broken:
            if isinstance(broken, InvalidFile):
                raise
            raise InvalidFile(
                str(self.folder), "does not describe a run", "Delete it and start again"
            ) from broken
        if not isinstance(run, Memory):
            raise InvalidFile(str(self.folder), "does not hold a run", "Delete it and start again")
        return run


def _part(folder: Path, content: Any, name: str) -> dict[str, Any]:
    """A part of a description that may come from anyone."""
    part = content.get(name) if isinstance(content, dict) else None
    if not isinstance(part, dict):
        raise InvalidFile(str(folder), "does not describe a run", "Delete it and start again")
    return part


def flatten(value: Any, tensors: dict[str, Tensor], path: str = "run") -> Any:
    """Tensors into ``tensors`` by path; everything else as JSON. Shared tensors stay shared."""
    if isinstance(value, Tensor):
        for name, known in tensors.items():
            same = known.data_ptr() == value.data_ptr() and known.dtype == value.dtype
            if same and known.shape == value.shape and value.numel():
                return {"tensor": name}
        tensors[path] = value.contiguous()
        return {"tensor": path}
    if isinstance(value, Memory):
        parts = {
            f.name: flatten(getattr(value, f.name), tensors, f"{path}.{f.name}")
            for f in fields(value)
        }
        return {"memory": type(value).__qualname__, "fields": parts}
    if isinstance(value, tuple):
        return {"tuple": [flatten(v, tensors, f"{path}.{m}") for m, v in enumerate(value)]}
    if isinstance(value, float) and not isfinite(value):
        return {"float": str(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{path}: a Memory cannot hold a {type(value).__name__}")


def unflatten(spec: Any, tensors: Mapping[str, Tensor]) -> Any:
    """The inverse of :func:`flatten`."""
    if not isinstance(spec, dict):
        return spec
    if "tensor" in spec:
        return tensors[spec["tensor"]]
    if "tuple" in spec:
        return tuple(unflatten(part, tensors) for part in spec["tuple"])
    if "float" in spec:
        return float(spec["float"])
    parts = {name: unflatten(part, tensors) for name, part in spec["fields"].items()}
    return Memory.kinds[spec["memory"]](**parts)


def pack_history(history: list[Check]) -> Tensor:
    """(looks, fields) in float64."""
    rows = [[float(getattr(check, name)) for name in CHECK_FIELDS] for check in history]
    return torch.tensor(rows, dtype=torch.float64).reshape(len(rows), len(CHECK_FIELDS))


def unpack_history(table: Tensor) -> list[Check]:
    """The inverse of :func:`pack_history`."""
    kinds = {"iteration": int, "stagnant": bool}
    return [
        Check(
            **{
                name: kinds.get(name, float)(value)
                for name, value in zip(CHECK_FIELDS, row, strict=True)
            }
        )
        for row in table.tolist()
    ]
