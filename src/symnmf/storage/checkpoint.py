"""Checkpoints: save a run and resume it with the same digits."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from math import isclose
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from symnmf.defaults import SAVE_EVERY
from symnmf.errors import InvalidFile, InvalidInput, spelled
from symnmf.storage.atomic_files import writing
from symnmf.storage.checkpointable import Checkpointable, flatten, unflatten
from symnmf.storage.kinds import CHECKPOINT
from symnmf.storage.locking import lock
from symnmf.storage.manifest import (
    MANIFEST,
    check_free,
    read_manifest,
    remove_all_but,
    write_manifest,
)
from symnmf.storage.tensors import read_tensors, write_tensors

#: Prefix of the names of the files of a checkpoint.
PREFIX = "run-"
#: A run with one of these statuses can be resumed with a larger budget.
RESUMABLE = ("MAX_ITER", "TIME_OUT", "STOPPED")


@dataclass(frozen=True)
class Checkpoint:
    """Where and how often a run is saved.

    Arguments:
        folder: folder of the checkpoint, created if missing; it holds only the newest one.
        every_seconds: seconds between two saves, which happen at checks and at the end.
        overwrite: whether to replace an existing unfinished run.
        locked: whether the caller already holds a lock that covers the folder.

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
    every_seconds: float = SAVE_EVERY
    overwrite: bool = False
    locked: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", Path(self.folder))
        if not self.every_seconds >= 0:
            raise InvalidInput(
                "Checkpoint.every_seconds",
                f"got {self.every_seconds!r}",
                "Pass a number of seconds, 0 or more",
            )

    def exists(self) -> bool:
        """Whether there is a run to resume."""
        return (self.folder / MANIFEST).is_file()

    def save(self, iteration: int, run: Checkpointable, identity: Mapping[str, Any]) -> None:
        """Write the run; a process that is killed here leaves the previous checkpoint.

        Arguments:
            iteration: iterations done, for the name of the file.
            run: state of the run.
            identity: description of problem and solver, compared when the run is resumed.
        """
        tensors: dict[str, Tensor] = {}
        spec = flatten(run, tensors)
        name = f"{PREFIX}{iteration:09d}.safetensors"
        write_tensors(self.folder / name, tensors)
        over = spec["fields"].get("ended") not in (None, *RESUMABLE)
        content = {"identity": dict(identity), "spec": spec, "over": over}
        write_manifest(self.folder, CHECKPOINT.name, {"run": name}, content)
        remove_all_but(self.folder, PREFIX, {name})

    def take(self, resume: bool, stack: ExitStack) -> None:
        """Lock the folder for a run until the stack is closed.

        Arguments:
            resume: whether the run continues the saved one.
            stack: stack that releases the lock.

        Raises:
            FolderBusy: another process holds the folder.
            InvalidInput: the folder holds another unfinished run.
            InvalidFile: the folder holds a set of another kind.
        """
        if self.locked:
            with writing(self.folder):
                self.folder.mkdir(parents=True, exist_ok=True)
        else:
            stack.enter_context(lock(self.folder))
        check_free(self.folder, CHECKPOINT, force=True)  # a set of another kind is never replaced
        self.check_free(resume=resume)
        if self.overwrite and not resume:  # a restart must not find the run that this one replaces
            (self.folder / MANIFEST).unlink(missing_ok=True)

    def check_free(self, *, resume: bool) -> None:
        """Raise InvalidInput if the folder holds another unfinished run."""
        if resume or self.overwrite or not self.exists():
            return
        _, content = read_manifest(self.folder, CHECKPOINT.name)
        if not (isinstance(content, dict) and content.get("over", False)):
            raise InvalidInput(
                "checkpoint",
                f"{self.folder} holds an unfinished run",
                f"Pass {spelled('resume')} to continue it, or choose another folder",
            )

    def load(
        self, identity: Mapping[str, Any], device: torch.device, same: float
    ) -> Checkpointable:
        """Read the saved run.

        Arguments:
            identity: description of problem and solver, as passed to :meth:`save`.
            device: device of the tensors.
            same: relative tolerance for numbers of the identity.

        Raises:
            InvalidFile: the folder holds the run of another problem or solver, or is damaged.
        """
        found, content = read_manifest(self.folder, CHECKPOINT.name)
        saved = _part(self.folder, content, "identity")
        for key, ours in identity.items():
            other: Any = saved.get(key)
            close = isinstance(ours, float) and isinstance(other, float)
            if not (isclose(ours, other, rel_tol=same) if close else ours == other):
                raise InvalidFile(
                    str(self.folder),
                    f"holds another run: its {key} is {other!r}, this one's is {ours!r}",
                    "Resume with the same matrix, k, seed, start and solver, or use a new folder",
                )
        try:
            tensors = read_tensors(found["run"], str(device))
            run = unflatten(content["spec"], tensors)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as broken:
            if isinstance(broken, InvalidFile):
                raise
            raise InvalidFile(
                str(self.folder), "does not describe a run", "Delete it and start again"
            ) from broken
        if not isinstance(run, Checkpointable):
            raise InvalidFile(str(self.folder), "does not hold a run", "Delete it and start again")
        return run


def _part(folder: Path, content: Any, name: str) -> dict[str, Any]:
    """A part of an untrusted description."""
    part = content.get(name) if isinstance(content, dict) else None
    if not isinstance(part, dict):
        raise InvalidFile(str(folder), "does not describe a run", "Delete it and start again")
    return part
